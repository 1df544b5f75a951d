// SPDX-License-Identifier: MIT
// Reads device profiles.
#include "profile.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_B = 511 };

static const char *const attribute_names[DM_ATTRIBUTE_END] = {
#define DM_ATTRIBUTE(number, name) [number] = #name,
#include "attributes.def"
#include "startup.h"
#undef DM_ATTRIBUTE
};

static const char *const limit_names[DM_LIMIT_COUNT] = {
#define X(name) #name,
    DM_LIMITS(X)
#undef X
};

const char *dm_limit_name(int limit)
{
    return limit >= 0 && limit < DM_LIMIT_COUNT ? limit_names[limit] : NULL;
}

static const struct dm_device_profile *find_compiled_in(const char *id)
{
    for (const struct dm_device_profile *p = dm_device_profiles; *p->id; p++)
        if (!strcmp(p->id, id))
            return p;
    return NULL;
}

struct reader {
    struct dm_device_profile *out;
    const char *id;
    unsigned line;
    bool has_keys;      // a key other than base was read
    int next_attribute; // the one after the last that was read
    char *error;
    size_t error_size;
};

static int profile_error(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int profile_error(struct reader *r, const char *format, ...)
{
    va_list values;
    int n = snprintf(r->error, r->error_size, "device profile %s, line %u: ", r->id, r->line);
    if (n > 0 && (size_t)n < r->error_size) {
        va_start(values, format);
        vsnprintf(r->error + n, r->error_size - (size_t)n, format, values);
        va_end(values);
    }
    return -EINVAL;
}

static bool parse_u64(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    return !errno && end != text && !*end && *text != '-';
}

static bool parse_int(const char *text, int *out)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 0);
    *out = (int)v;
    return !errno && end != text && !*end && v >= INT_MIN && v <= INT_MAX;
}

// Returns the index of a name of `length` bytes among `count`, or -1. The search begins at index
// `first`, where a profile in the order of the names finds each at once.
static int find_name(const char *const *names, int count, int first, const char *name,
                     size_t length)
{
    for (int i = 0; i < count; i++) {
        int at = (first + i) % count;
        if (names[at] && !strncmp(names[at], name, length) && !names[at][length])
            return at;
    }
    return -1;
}

static void set_id(struct dm_device_profile *profile, const char *id)
{
    memset(profile->id, 0, sizeof profile->id);
    snprintf(profile->id, sizeof profile->id, "%s", id);
}

static uint64_t *limit_field(struct dm_limit *limit, const char *field)
{
    if (!strcmp(field, "initial"))
        return &limit->initial;
    if (!strcmp(field, "minimum"))
        return &limit->minimum;
    if (!strcmp(field, "granule"))
        return &limit->granule;
    if (!strcmp(field, "maximum"))
        return &limit->maximum;
    return NULL;
}

// Reads limit.NAME.FIELD. `key` begins at NAME.
static int read_limit(struct reader *r, const char *key, const char *value)
{
    const char *dot = strrchr(key, '.');
    int limit = dot ? find_name(limit_names, DM_LIMIT_COUNT, 0, key, (size_t)(dot - key)) : -1;
    if (limit < 0)
        return profile_error(r,
                             "limit.%s is not a limit; write limit.NAME.FIELD, such as "
                             "limit.stack_size.initial",
                             key);
    uint64_t *field = limit_field(&r->out->limit[limit], dot + 1);
    if (!field)
        return profile_error(r,
                             "limit.%s: a limit has no field \"%s\"; use initial, minimum, "
                             "granule or maximum",
                             key, dot + 1);
    bool is_granule = field == &r->out->limit[limit].granule;
    if (!parse_u64(value, field) || (is_granule && !*field))
        return profile_error(r, "limit.%s (%s) must be a number from %d to 2^64 - 1", key, value,
                             is_granule);
    return 0;
}

// The range that the driver relies on: it divides by some attributes, counts with others, and
// gives each device an address of its own on the PCI bus.
static struct range {
    int minimum, maximum;
} attribute_range(int attribute)
{
    switch (attribute) {
    case DM_ATTRIBUTE_compute_capability_major:
    case DM_ATTRIBUTE_multiprocessor_count:
    case DM_ATTRIBUTE_warp_size:
    case DM_ATTRIBUTE_texture_alignment:
    case DM_ATTRIBUTE_texture_pitch_alignment:
        return (struct range){1, INT_MAX};
    case DM_ATTRIBUTE_numa_id: // -1: the memory is not a NUMA node
    case DM_ATTRIBUTE_host_numa_id:
        return (struct range){-1, INT_MAX};
    case DM_ATTRIBUTE_pci_bus_id:
        return (struct range){0, 255};
    case DM_ATTRIBUTE_pci_device_id:
        return (struct range){0, 31};
    default:
        return (struct range){0, INT_MAX};
    }
}

static int read_attribute(struct reader *r, const char *key, const char *value)
{
    int attribute =
        find_name(attribute_names, DM_ATTRIBUTE_END, r->next_attribute, key, strlen(key));
    if (attribute < 0)
        return profile_error(r,
                             "attribute.%s is not an attribute; use the name of a "
                             "CU_DEVICE_ATTRIBUTE in lower case",
                             key);
    r->next_attribute = attribute + 1;
    struct range range = attribute_range(attribute);
    int *out = &r->out->attribute[attribute];
    if (!parse_int(value, out) || *out < range.minimum || *out > range.maximum)
        return profile_error(r, "attribute.%s (%s) must be a number from %d to %d", key, value,
                             range.minimum, range.maximum);
    return 0;
}

static int read_base(struct reader *r, const char *id)
{
    const struct dm_device_profile *base = find_compiled_in(id);
    if (!base)
        return profile_error(r,
                             "base (%s) is not a compiled-in profile; use generic, or a device "
                             "that CARDLESS_DEVICES can name",
                             id);
    if (r->has_keys)
        return profile_error(r, "base (%s) must be the first key; move it to the top", id);
    *r->out = *base;
    set_id(r->out, r->id);
    return 0;
}

static int read_name(struct reader *r, const char *value)
{
    if (strlen(value) >= sizeof r->out->name)
        return profile_error(r, "name (%zu bytes long) must have at most %d bytes", strlen(value),
                             DM_NAME_SIZE - 1);
    strcpy(r->out->name, value);
    return 0;
}

static int read_total_memory(struct reader *r, const char *value)
{
    uint64_t *total = &r->out->total_memory;
    if (!parse_u64(value, total) || *total < DM_TOTAL_MEMORY_MIN_B ||
        *total > DM_TOTAL_MEMORY_MAX_B)
        return profile_error(r, "total_memory (%s) must be a number of bytes from %llu to %llu",
                             value, (unsigned long long)DM_TOTAL_MEMORY_MIN_B,
                             (unsigned long long)DM_TOTAL_MEMORY_MAX_B);
    return 0;
}

static int read_priority(struct reader *r, const char *key, const char *value, int *out)
{
    return parse_int(value, out) ? 0
                                 : profile_error(r, "%s (%s) must be a 32-bit integer", key, value);
}

static int read_key(struct reader *r, const char *key, const char *value)
{
    struct dm_device_profile *p = r->out;
    if (!*value)
        return profile_error(r, "the key \"%s\" has no value; write `%s = VALUE`", key, key);
    if (!strcmp(key, "base"))
        return read_base(r, value);
    r->has_keys = true;
    if (!strcmp(key, "name"))
        return read_name(r, value);
    if (!strcmp(key, "total_memory"))
        return read_total_memory(r, value);
    if (!strcmp(key, "stream_priority.least"))
        return read_priority(r, key, value, &p->priority_least);
    if (!strcmp(key, "stream_priority.greatest"))
        return read_priority(r, key, value, &p->priority_greatest);
    if (!strncmp(key, "limit.", 6))
        return read_limit(r, key + 6, value);
    if (!strncmp(key, "attribute.", 10))
        return read_attribute(r, key + 10, value);
    return profile_error(r,
                         "the key \"%s\" is unknown; use base, name, total_memory, "
                         "stream_priority.*, limit.* or attribute.*",
                         key);
}

static char *trim_spaces(char *s)
{
    s += strspn(s, " \t\r");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        s[--n] = 0;
    return s;
}

static int read_profile_line(struct reader *r, const char *text, size_t length)
{
    char line[LINE_MAX_B + 1];
    if (length > LINE_MAX_B)
        return profile_error(r, "the line (%zu bytes) must have at most %d bytes", length,
                             LINE_MAX_B);
    if (memchr(text, 0, length))
        return profile_error(r, "the line contains a zero byte; a profile must be a text file");
    memcpy(line, text, length);
    line[length] = 0;
    char *comment = strchr(line, '#');
    if (comment)
        *comment = 0;
    char *key = trim_spaces(line);
    if (!*key)
        return 0;
    char *equals = strchr(key, '=');
    if (!equals)
        return profile_error(r, "\"%s\" has no `=`; write `key = value`", key);
    *equals = 0;
    return read_key(r, trim_spaces(key), trim_spaces(equals + 1));
}

static int read_profile_text(struct reader *r, const char *text, size_t size)
{
    int e = 0;
    while (!e && size) {
        const char *end = memchr(text, '\n', size);
        size_t length = end ? (size_t)(end - text) : size;
        size_t with_end = length + (end != NULL);
        r->line++;
        e = read_profile_line(r, text, length);
        text += with_end;
        size -= with_end;
    }
    return e;
}

static int missing_key(struct reader *r, const char *prefix, const char *key)
{
    snprintf(r->error, r->error_size,
             "device profile %s: the key \"%s%s\" is missing; add it, or begin with `base = h100`",
             r->id, prefix, key);
    return -EINVAL;
}

// Checks that no key is missing, and the values that depend on each other. The readers have checked
// each value.
static int finish_profile(struct reader *r)
{
    struct dm_device_profile *p = r->out;
    if (!*p->name)
        return missing_key(r, "", "name");
    if (!p->total_memory)
        return missing_key(r, "", "total_memory");
    for (int i = 0; i < DM_ATTRIBUTE_END; i++)
        if (attribute_names[i] && p->attribute[i] < attribute_range(i).minimum)
            return missing_key(r, "attribute.", attribute_names[i]);
    if (p->priority_least < p->priority_greatest) {
        snprintf(r->error, r->error_size,
                 "device profile %s: stream_priority.least (%d) must not be less than "
                 "stream_priority.greatest (%d), because a smaller number is a higher priority",
                 r->id, p->priority_least, p->priority_greatest);
        return -EINVAL;
    }
    for (int i = 0; i < DM_LIMIT_COUNT; i++)
        if (!p->limit[i].granule)
            p->limit[i].granule = 1;
    return 0;
}

int dm_device_parse(const char *id, const char *text, size_t size, struct dm_device_profile *out,
                    char *error, size_t error_size)
{
    struct reader r = {.out = out, .id = id, .error = error, .error_size = error_size};
    memset(out, 0, sizeof *out);
    set_id(out, id);
    int e = read_profile_text(&r, text, size);
    return e ? e : finish_profile(&r);
}

DM_STARTUP int dm_device_find(const char *id, struct dm_device_profile *out, char *error,
                              size_t error_size)
{
    struct reader r = {.out = out, .id = id, .error = error, .error_size = error_size};
    const struct dm_device_profile *found = find_compiled_in(id);
    if (!found)
        return -ENOENT;
    *out = *found;
    return finish_profile(&r);
}
