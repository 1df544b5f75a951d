// SPDX-License-Identifier: MIT
// Prints values of the program, as the descriptions of their types say.
#include "describe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"

enum {
    STRING_MAX_B = 80,    // of a string of the program
    ELEMENTS_MAX = 24,    // of an array
    VALUE_MAX_B = 1024,   // of a struct that a pointer leads to
    POINTER_DEPTH_MAX = 6 // limited because a list may contain itself
};

// ---- text

// The end of a line that was cut, for which every text keeps END_B bytes free.
static const char cut_mark[] = "…";
enum { END_B = sizeof cut_mark + 1 };

// Grows the text so that `more` bytes and the end of a line fit.
static bool grow(struct em_text *text, size_t more)
{
    while (text->used + more + END_B > text->size && !text->cut) {
        size_t size = text->size ? text->size * 2 : 1024;
        char *bytes = size > EM_TEXT_MAX_B ? NULL : dm_realloc(text->bytes, size);
        text->cut = !bytes;
        if (bytes) {
            text->bytes = bytes;
            text->size = size;
        }
    }
    return !text->cut;
}

static void append(struct em_text *text, const char *bytes, size_t size)
{
    if (!grow(text, size))
        return;
    memcpy(text->bytes + text->used, bytes, size);
    text->used += size;
}

void em_text_put(struct em_text *text, const char *format, ...)
{
    char piece[512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    append(text, piece, n < 0 ? 0 : (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1);
}

void em_text_append(struct em_text *text, const struct em_text *more)
{
    append(text, more->bytes, more->used);
    text->cut |= more->cut;
}

void em_text_end_line(struct em_text *text)
{
    if (!text->bytes)
        return;
    if (text->cut) {
        memcpy(text->bytes + text->used, cut_mark, sizeof cut_mark - 1);
        text->used += sizeof cut_mark - 1;
    }
    text->bytes[text->used++] = '\n';
}

void em_text_finish(struct em_text *text)
{
    dm_free(text->bytes);
    *text = (struct em_text){.bytes = NULL};
}

// ---- the program's memory

static size_t read_own(uint64_t address, void *out, size_t size)
{
    struct iovec to = {out, size}, from = {(void *)(uintptr_t)address, size};
    const ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return got > 0 ? (size_t)got : 0;
}

static bool read_program(const struct em_arguments *a, uint64_t address, void *out, size_t size)
{
    if (!address)
        return false;
    return (a->read ? a->read(a->source, address, out, size) : read_own(address, out, size)) ==
           size;
}

// Reads up to `size` bytes of a string, in two pieces, because it may end just before an unmapped
// page.
static size_t read_string(const struct em_arguments *a, uint64_t address, char *out, size_t size)
{
    if (a->read)
        return a->read(a->source, address, out, size);
    size_t page = (size_t)sysconf(_SC_PAGESIZE), first = page - address % page;
    first = first < size ? first : size;
    const size_t got = read_own(address, out, first);
    return got < first ? got : got + read_own(address + first, out + first, size - first);
}

// Prints a string in quotes.
static void put_string(struct em_text *text, const struct em_arguments *a, uint64_t address)
{
    char copy[STRING_MAX_B + 1];
    const size_t got = address ? read_string(a, address, copy, STRING_MAX_B) : 0;
    if (!got) {
        em_text_put(text, "0x%llx", (unsigned long long)address);
        return;
    }
    copy[got] = 0;
    em_text_put(text, "\"");
    for (const char *c = copy; *c; c++) {
        if (*c == '"' || *c == '\\')
            em_text_put(text, "\\%c", *c);
        else
            em_text_put(text, *c >= ' ' && *c < 127 ? "%c" : "\\x%02x", (unsigned char)*c);
    }
    em_text_put(text, "\"%s", strlen(copy) == STRING_MAX_B ? "…" : "");
}

// ---- values

// The surroundings of a value. The bytes of the value itself are a copy in the driver's memory.
struct place {
    const cardlessTypes *d;
    const uint8_t *siblings; // the struct or argument list that contains the value
    uint32_t first;          // the first member of it
    unsigned depth;          // the number of pointers that were followed
    const struct em_arguments *arguments;
};

static uint64_t load(const uint8_t *bytes, uint32_t size)
{
    uint64_t value = 0;
    memcpy(&value, bytes, size < sizeof value ? size : sizeof value);
    return value;
}

static int64_t load_signed(const uint8_t *bytes, uint32_t size)
{
    uint64_t value = load(bytes, size);
    unsigned unused = size < 8 ? 64 - 8 * size : 0;
    return (int64_t)(value << unused) >> unused;
}

static double load_float(const uint8_t *bytes, uint32_t size)
{
    float single;
    double number;
    if (size == sizeof number) {
        memcpy(&number, bytes, sizeof number);
        return number;
    }
    memcpy(&single, bytes, sizeof single);
    return (double)single;
}

static const cardlessShape *shape_of(const struct place *at, const cardlessMember *m)
{
    return &at->d->shapes[m->shape];
}

// Returns the number in a sibling, which is a count or the discriminator of a union.
static int64_t sibling_value(const struct place *at, unsigned sibling, bool follow)
{
    const cardlessMember *m = &at->d->members[at->first + sibling];
    const cardlessShape *s = shape_of(at, m);
    const uint8_t *bytes = at->siblings + m->offset;
    uint64_t value;
    if (!follow)
        return load_signed(bytes, s->size_B);
    uint32_t size = at->d->shapes[s->target].size_B;
    uint8_t copy[8] = {0};
    value = load(bytes, 8);
    return size <= sizeof copy && read_program(at->arguments, value, copy, size)
               ? load_signed(copy, size)
               : 0;
}

static void put_value(struct em_text *text, const struct place *at, const cardlessMember *m,
                      const cardlessShape *s, const uint8_t *bytes);

static void put_constant(struct em_text *text, const cardlessTypes *d, const cardlessShape *s,
                         int64_t value)
{
    for (uint32_t i = s->first; i < s->first + s->count; i++) {
        if (d->constants[i].value == value) {
            em_text_put(text, "%s", d->names + d->constants[i].name);
            return;
        }
    }
    em_text_put(text, "%lld", (long long)value);
}

// Prints one constant if it equals the value. Otherwise prints "A | B | 0x40": the constants whose
// bits are all set, and then the remaining bits.
static void put_flags(struct em_text *text, const cardlessTypes *d, const cardlessShape *s,
                      uint64_t value)
{
    const cardlessConstant *c = d->constants + s->first, *end = c + s->count;
    uint64_t rest = value;
    const char *bar = "";
    for (const cardlessConstant *i = c; i < end; i++) {
        if ((uint64_t)i->value == value) {
            em_text_put(text, "%s", d->names + i->name);
            return;
        }
    }
    for (const cardlessConstant *i = c; i < end; i++) {
        uint64_t bits = (uint64_t)i->value;
        if (bits && (rest & bits) == bits) {
            em_text_put(text, "%s%s", bar, d->names + i->name);
            rest &= ~bits;
            bar = " | ";
        }
    }
    if (rest || !value)
        em_text_put(text, rest ? "%s0x%llx" : "%s%llu", bar, (unsigned long long)rest);
}

static void put_handle(struct em_text *text, const cardlessTypes *d, const cardlessShape *s,
                       uint64_t value)
{
    char handle[96];
    if (!value)
        em_text_put(text, "NULL");
    else if (d->handle_text && d->handle_text(s->target, value, handle, sizeof handle))
        em_text_put(text, "%s", handle);
    else
        em_text_put(text, "0x%llx", (unsigned long long)value);
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

// Prints the elements of an array. The array is in the program's memory at `address` if `bytes` is
// NULL.
static void put_elements(struct em_text *text, const struct place *at, const cardlessMember *m,
                         const cardlessShape *s, const uint8_t *bytes, uint64_t address,
                         uint64_t count)
{
    uint8_t copy[VALUE_MAX_B];
    em_text_put(text, "[");
    for (uint64_t i = 0; i < count; i++) {
        em_text_put(text, "%s", i ? ", " : "");
        if (i == ELEMENTS_MAX) {
            em_text_put(text, "… %llu in all", (unsigned long long)count);
            break;
        }
        if (bytes) {
            put_value(text, at, m, s, bytes + i * s->size_B);
        } else if (s->size_B <= sizeof copy &&
                   read_program(at->arguments, address + i * s->size_B, copy, s->size_B)) {
            put_value(text, at, m, s, copy);
        } else {
            em_text_put(text, "unreadable");
            break;
        }
    }
    em_text_put(text, "]");
}

static void put_member(struct em_text *text, const struct place *at, const cardlessMember *m)
{
    const cardlessShape *s = shape_of(at, m);
    const uint8_t *bytes = at->siblings + m->offset;
    if (m->elements)
        put_elements(text, at, m, s, bytes, 0, m->elements);
    else
        put_value(text, at, m, s, bytes);
}

static void put_named(struct em_text *text, const struct place *at, const cardlessMember *m)
{
    const char *name = at->d->names + m->name;
    if (*name)
        em_text_put(text, "%s=", name);
    put_member(text, at, m);
}

static void put_struct(struct em_text *text, const struct place *outer, const cardlessShape *s,
                       const uint8_t *bytes)
{
    struct place at = {outer->d, bytes, s->first, outer->depth, outer->arguments};
    const char *comma = "";
    em_text_put(text, "{");
    for (uint32_t i = s->first; i < s->first + s->count; i++) {
        const cardlessMember *m = &at.d->members[i];
        size_t size = (size_t)shape_of(&at, m)->size_B * (m->elements ? m->elements : 1);
        if ((m->flags & CARDLESS_MEMBER_QUIET) && all_zero(bytes + m->offset, size))
            continue;
        em_text_put(text, "%s", comma);
        put_named(text, &at, m);
        comma = ", ";
    }
    em_text_put(text, "}");
}

static bool has_case(const cardlessTypes *d, const cardlessMember *m, int64_t value)
{
    for (uint32_t i = 0; i < m->case_count; i++)
        if (d->cases[m->cases + i] == value)
            return true;
    return false;
}

// Prints the selected member of a union. `user` is the member whose type is the union.
static void put_union(struct em_text *text, const struct place *outer, const cardlessMember *user,
                      const cardlessShape *s, const uint8_t *bytes)
{
    struct place at = {outer->d, bytes, s->first, outer->depth, outer->arguments};
    int64_t value = 0;
    if (s->target) // the union contains its own discriminator
        value = sibling_value(&at, s->target - 1u, false);
    else if (user->selector != CARDLESS_NO_SIBLING)
        value = sibling_value(outer, user->selector, false);
    const cardlessMember *chosen = NULL;
    for (uint32_t i = s->first; i < s->first + s->count; i++) {
        const cardlessMember *m = &at.d->members[i];
        if (has_case(at.d, m, value))
            chosen = m;
        else if (m->any_case && !chosen)
            chosen = m;
    }
    bool unnamed = !at.d->names[user->name]; // its members belong to the enclosing struct
    if (!chosen) {
        em_text_put(text, unnamed ? "…" : "{…}");
        return;
    }
    bool bare = unnamed || !at.d->names[chosen->name];
    em_text_put(text, bare ? "" : "{");
    put_named(text, &at, chosen);
    em_text_put(text, bare ? "" : "}");
}

static void put_target(struct em_text *text, const struct place *outer, const cardlessMember *m,
                       const cardlessShape *s, uint64_t address)
{
    struct place at = *outer;
    const cardlessShape *target = &at.d->shapes[s->target];
    uint8_t copy[VALUE_MAX_B];
    if (!address) {
        em_text_put(text, "NULL");
        return;
    }
    bool list = m->flags & CARDLESS_MEMBER_LIST;
    if (++at.depth > POINTER_DEPTH_MAX) {
        em_text_put(text, "0x%llx", (unsigned long long)address);
    } else if (list) {
        int64_t count = sibling_value(outer, m->count, m->flags & CARDLESS_MEMBER_COUNT_OUT);
        put_elements(text, &at, m, target, NULL, address, count > 0 ? (uint64_t)count : 0);
    } else if (target->size_B <= sizeof copy &&
               read_program(outer->arguments, address, copy, target->size_B)) {
        put_value(text, &at, m, target, copy);
    } else {
        em_text_put(text, "0x%llx (unreadable)", (unsigned long long)address);
    }
}

static void put_value(struct em_text *text, const struct place *at, const cardlessMember *m,
                      const cardlessShape *s, const uint8_t *bytes)
{
    uint64_t value = s->size_B <= 8 ? load(bytes, s->size_B) : 0;
    if (text->cut)
        return;
    switch ((cardlessShapeKind)s->kind) {
    case CARDLESS_SHAPE_SIGNED:
        em_text_put(text, "%lld", (long long)load_signed(bytes, s->size_B));
        break;
    case CARDLESS_SHAPE_UNSIGNED:
        em_text_put(text, "%llu", (unsigned long long)value);
        break;
    case CARDLESS_SHAPE_HEX:
    case CARDLESS_SHAPE_OPAQUE:
        if (value || s->kind == CARDLESS_SHAPE_HEX)
            em_text_put(text, "0x%llx", (unsigned long long)value);
        else
            em_text_put(text, "NULL");
        break;
    case CARDLESS_SHAPE_FLOAT:
        em_text_put(text, "%g", load_float(bytes, s->size_B));
        break;
    case CARDLESS_SHAPE_ENUM:
        put_constant(text, at->d, s, load_signed(bytes, s->size_B));
        break;
    case CARDLESS_SHAPE_FLAGS:
        put_flags(text, at->d, s, value);
        break;
    case CARDLESS_SHAPE_HANDLE:
        put_handle(text, at->d, s, value);
        break;
    case CARDLESS_SHAPE_STRING:
        if (value)
            put_string(text, at->arguments, value);
        else
            em_text_put(text, "NULL");
        break;
    case CARDLESS_SHAPE_POINTER:
        put_target(text, at, m, s, value);
        break;
    case CARDLESS_SHAPE_STRUCT:
        put_struct(text, at, s, bytes);
        break;
    case CARDLESS_SHAPE_UNION:
        put_union(text, at, m, s, bytes);
        break;
    case CARDLESS_SHAPE_BYTES:
        for (uint32_t i = 0; i < s->size_B; i++)
            em_text_put(text, "%02x", bytes[i]);
        break;
    }
}

// ---- arguments

// Prints a struct that was passed by value.
static void put_indirect(struct em_text *text, const struct place *at, const cardlessMember *m,
                         const cardlessShape *s, uint64_t address)
{
    uint8_t copy[VALUE_MAX_B];
    if (s->size_B <= sizeof copy && read_program(at->arguments, address, copy, s->size_B))
        put_value(text, at, m, s, copy);
    else
        em_text_put(text, "{…}");
}

void em_describe_arguments(struct em_text *text, const struct em_arguments *a)
{
    struct place at = {a->description, (const uint8_t *)a->values, a->first, 0, a};
    for (uint32_t i = 0; i < a->count; i++) {
        const cardlessMember *m = &at.d->members[a->first + i];
        const cardlessShape *s = shape_of(&at, m);
        em_text_put(text, "%s%s=", i ? ", " : "", at.d->names + m->name);
        if (m->flags & CARDLESS_MEMBER_INDIRECT)
            put_indirect(text, &at, m, s, a->values[i]);
        else if (!(m->flags & CARDLESS_MEMBER_OUTPUT) || (m->flags & CARDLESS_MEMBER_INPUT))
            put_member(text, &at, m);
        else if (a->values[i])
            em_text_put(text, "0x%llx", (unsigned long long)a->values[i]);
        else
            em_text_put(text, "NULL");
    }
}

void em_describe_outputs(struct em_text *text, const struct em_arguments *a, bool failed)
{
    struct place at = {a->description, (const uint8_t *)a->values, a->first, 0, a};
    const char *before = "; ";
    for (uint32_t i = 0; i < a->count; i++) {
        const cardlessMember *m = &at.d->members[a->first + i];
        unsigned wanted = failed ? CARDLESS_MEMBER_ALWAYS : CARDLESS_MEMBER_OUTPUT;
        if (!(m->flags & wanted) || !a->values[i])
            continue;
        em_text_put(text, "%s*%s=", before, at.d->names + m->name);
        put_member(text, &at, m);
        before = ", ";
    }
}

void em_describe_result(struct em_text *text, const cardlessTypes *d, int64_t result)
{
    put_constant(text, d, &d->shapes[d->result], result);
}

const char *em_describe_handle_name(const struct em_entry *entry, unsigned type)
{
    const cardlessTypes *d = entry->description;
    const char *name = NULL;
    for (uint32_t i = 0; d && i < entry->arguments; i++) {
        const cardlessMember *argument = &d->members[entry->first_argument + i];
        const cardlessShape *shape = &d->shapes[argument->shape];
        if (shape->kind != CARDLESS_SHAPE_HANDLE || shape->target != type)
            continue;
        if (name)
            return NULL;
        name = d->names + argument->name;
    }
    return name;
}
