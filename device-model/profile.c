// SPDX-License-Identifier: MIT
// Reads device profiles.
#include "profile.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Profiles that are based on each other more deeply than this form a circle.
enum { DEEPEST = 8 };

static const char *const attribute_names[DM_ATTRIBUTE_END] = {
#define DM_ATTRIBUTE(number, name) [number] = #name,
#include "attributes.def"
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

const char *dm_device_text(const char *id)
{
    for (const struct dm_device_text *t = dm_device_texts; t->id; t++)
        if (!strcmp(t->id, id))
            return t->text;
    return NULL;
}

struct reader {
    struct dm_device_profile *out;
    const char *id;
    unsigned line;
    int depth;
    bool any; // a key other than base was read
    char *error;
    size_t error_size;
};

static int profile_error(struct reader *r, const char *what, const char *value)
{
    snprintf(r->error, r->error_size, "device profile %s, line %u: %s \"%s\"", r->id, r->line, what,
             value);
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

// Returns the index of a name of `length` bytes among `count`, or -1.
static int find_name(const char *const *names, int count, const char *name, size_t length)
{
    for (int i = 0; i < count; i++)
        if (names[i] && strlen(names[i]) == length && !memcmp(names[i], name, length))
            return i;
    return -1;
}

// limit.NAME.FIELD
static int read_limit(struct reader *r, const char *key, const char *value)
{
    const char *dot = strrchr(key, '.');
    int limit = dot ? find_name(limit_names, DM_LIMIT_COUNT, key, (size_t)(dot - key)) : -1;
    if (limit < 0)
        return profile_error(r, "unknown limit", key);
    struct dm_limit *l = &r->out->limit[limit];
    uint64_t *field = !strcmp(dot, ".initial")   ? &l->initial
                      : !strcmp(dot, ".minimum") ? &l->minimum
                      : !strcmp(dot, ".granule") ? &l->granule
                      : !strcmp(dot, ".maximum") ? &l->maximum
                                                 : NULL;
    if (!field)
        return profile_error(
            r, "a limit has the fields initial, minimum, granule and maximum, and not", dot + 1);
    if (!parse_u64(value, field) || (field == &l->granule && !*field))
        return profile_error(r, "invalid number", value);
    return 0;
}

static int read_attribute(struct reader *r, const char *key, const char *value)
{
    int number = find_name(attribute_names, DM_ATTRIBUTE_END, key, strlen(key));
    if (number < 0)
        return profile_error(r, "unknown attribute", key);
    if (!parse_int(value, &r->out->attribute[number]))
        return profile_error(r, "not a 32-bit integer:", value);
    return 0;
}

static int read_text(struct reader *r, const char *text);

static int read_base(struct reader *r, const char *id)
{
    const char *text = dm_device_text(id);
    if (!text)
        return profile_error(r, "unknown compiled-in profile", id);
    if (r->any)
        return profile_error(r, "base must be the first key, but other keys precede base =", id);
    if (r->depth == DEEPEST)
        return profile_error(r, "profiles are based on each other in a circle through", id);
    struct reader base = {.out = r->out,
                          .id = id,
                          .depth = r->depth + 1,
                          .error = r->error,
                          .error_size = r->error_size};
    return read_text(&base, text);
}

static int read_key(struct reader *r, const char *key, const char *value)
{
    struct dm_device_profile *p = r->out;
    if (!*value)
        return profile_error(r, "missing value of key", key);
    if (!strcmp(key, "base"))
        return read_base(r, value);
    r->any = true;
    if (!strcmp(key, "name")) {
        if (strlen(value) >= sizeof p->name)
            return profile_error(r, "the name is too long:", value);
        strcpy(p->name, value);
        return 0;
    }
    if (!strcmp(key, "total_memory"))
        return parse_u64(value, &p->total_memory) && p->total_memory
                   ? 0
                   : profile_error(r, "total_memory must be a positive number of bytes, not",
                                   value);
    if (!strcmp(key, "stream_priority.least"))
        return parse_int(value, &p->priority_least) ? 0
                                                    : profile_error(r, "not an integer:", value);
    if (!strcmp(key, "stream_priority.greatest"))
        return parse_int(value, &p->priority_greatest) ? 0
                                                       : profile_error(r, "not an integer:", value);
    if (!strncmp(key, "limit.", 6))
        return read_limit(r, key + 6, value);
    if (!strncmp(key, "attribute.", 10))
        return read_attribute(r, key + 10, value);
    return profile_error(r, "unknown key", key);
}

static char *trim_spaces(char *s)
{
    s += strspn(s, " \t\r");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        s[--n] = 0;
    return s;
}

static int read_line(struct reader *r, const char *text, size_t length)
{
    char line[512];
    if (length >= sizeof line)
        return profile_error(r, "the line is longer than", "511 bytes");
    memcpy(line, text, length);
    line[length] = 0;
    if (strlen(line) != length)
        return profile_error(r, "the line has a zero byte after", line);
    char *comment = strchr(line, '#');
    if (comment)
        *comment = 0;
    char *key = trim_spaces(line);
    if (!*key)
        return 0;
    char *equals = strchr(key, '=');
    if (!equals)
        return profile_error(r, "not `key = value`:", key);
    *equals = 0;
    return read_key(r, trim_spaces(key), trim_spaces(equals + 1));
}

static int read_text(struct reader *r, const char *text)
{
    int e = 0;
    while (!e && *text) {
        size_t length = strcspn(text, "\n");
        r->line++;
        e = read_line(r, text, length);
        text += length + (text[length] == '\n');
    }
    return e;
}

// Checks the values that the rest of the driver relies on.
static int check_profile(struct reader *r)
{
    struct dm_device_profile *p = r->out;
    const char *missing = !*p->name          ? "name"
                          : !p->total_memory ? "total_memory"
                          : !p->attribute[DM_ATTRIBUTE_compute_capability_major]
                              ? "attribute.compute_capability_major"
                          : !p->attribute[DM_ATTRIBUTE_multiprocessor_count]
                              ? "attribute.multiprocessor_count"
                          : p->attribute[DM_ATTRIBUTE_warp_size] <= 0 ? "attribute.warp_size"
                                                                      : NULL;
    if (missing)
        return profile_error(r, "missing key", missing);
    if (p->priority_least < p->priority_greatest)
        return profile_error(r, "stream_priority.least must not be a smaller number than",
                             "stream_priority.greatest");
    for (int i = 0; i < DM_LIMIT_COUNT; i++)
        if (!p->limit[i].granule)
            p->limit[i].granule = 1;
    return 0;
}

int dm_device_parse(const char *id, const char *text, struct dm_device_profile *out, char *error,
                    size_t error_size)
{
    struct reader r = {.out = out, .id = id, .error = error, .error_size = error_size};
    memset(out, 0, sizeof *out);
    snprintf(out->id, sizeof out->id, "%s", id);
    int e = read_text(&r, text);
    return e ? e : check_profile(&r);
}
