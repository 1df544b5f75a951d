// SPDX-License-Identifier: MIT
// Formats the output of kernels as CUDA's printf does.
#include "print.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "fault.h"
#include "lanes/address.inc.h"

enum {
    FLAGS_MOST = 8,
    SLOTS_MOST = 32,      // "the number of arguments … up to 32"
    WIDTH_MOST = 1 << 20, // of one value; a wider one is not printed
    RECORD_UNIT_B = 256,  // of the buffer (recorded on an H200: 524288 bytes keep 2048 calls)
};
#define FLOATS "fFeEgGaA"
#define LETTERS "cdiouxXps" FLOATS
#define GLIBC_SIZES "hlqjzZtL"

// One conversion: %[flags][width][.precision][size]letter
struct conversion {
    char flags[FLAGS_MOST + 1]; // each once
    long width, precision;      // -1: absent
    bool star;                  // the width is an argument
    int size;                   // h: -1, hh: -2, l: 1, ll: 2
    char letter;
};

// The values of the arguments that the device takes, 8 bytes each, followed by the format. The host
// reads one slot after the other, and so prints bytes of the format if there are more conversions
// than the device knows (recorded: printf/ld-and-next).
struct slots {
    uint64_t values[SLOTS_MOST];
    unsigned count, next;
};

// ---- memory ----

bool px_byte_read(const struct px_bytes *from, uint64_t address, char *out)
{
    struct kn_warp *w = &from->warp->w;
    w->at = from->at;
    const uint64_t host = kn_translate(w, from->lane, address, 1, false);
    if (!host) {
        kn_fault(w, KN_FAULT_ADDRESS, UINT32_C(1) << from->lane, address, 1, false);
        return false;
    }
    *out = *(const volatile char *)(uintptr_t)host;
    return true;
}

static bool value_read(const struct px_bytes *from, uint64_t address, void *out, unsigned size_B)
{
    for (unsigned i = 0; i < size_B; i++)
        if (!px_byte_read(from, address + i, (char *)out + i))
            return false;
    return true;
}

bool px_lines_add(const struct px_bytes *from, const char *text, size_t size_B)
{
    struct px_lines *lines = &from->warp->block->grid->lines;
    if (lines->capacity - lines->used < size_B) {
        const size_t more = 2 * lines->capacity + size_B + 256;
        char *grown = dm_realloc(lines->bytes, more);
        if (!grown) {
            px_fail(from->warp, PX_FAILED_MEMORY, UINT32_C(1) << from->lane, from->at,
                    "out of host memory for the output of a kernel");
            return false;
        }
        lines->bytes = grown;
        lines->capacity = more;
    }
    if (size_B)
        memcpy(lines->bytes + lines->used, text, size_B);
    lines->used += size_B;
    return true;
}

bool px_string_read(const struct px_bytes *from, uint64_t address, uint64_t most)
{
    char part[64];
    size_t used = 0;
    for (uint64_t i = 0; i < most; i++) {
        if (!px_byte_read(from, address + i, &part[used]))
            return false;
        if (!part[used])
            break;
        if (++used == sizeof part) {
            if (!px_lines_add(from, part, used))
                return false;
            used = 0;
        }
    }
    return px_lines_add(from, part, used);
}

// ---- formats ----

static bool is_one_of(char c, const char *list)
{
    return c && strchr(list, c);
}

// A number, or -1 if there is no digit. One above WIDTH_MOST becomes WIDTH_MOST + 1.
static long number(const char **at)
{
    long value = -1;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        value = (value < 0 ? 0 : value) * 10 + (**at - '0');
        value = value > WIDTH_MOST ? WIDTH_MOST + 1 : value;
    }
    return value;
}

// Reads flags, width and precision, after the %.
static const char *parse_start(const char *at, struct conversion *c)
{
    unsigned flags = 0;
    *c = (struct conversion){.width = -1, .precision = -1};
    for (; is_one_of(*at, "-+ #0"); at++)
        if (flags < FLAGS_MOST && !strchr(c->flags, *at))
            c->flags[flags++] = *at;
    c->star = *at == '*';
    if (c->star)
        at++;
    else
        c->width = number(&at);
    if (*at == '.') {
        at++;
        c->precision = number(&at);
        c->precision = c->precision < 0 ? 0 : c->precision;
    }
    return at;
}

// Reads a conversion after its %. Returns the end, or NULL if it is not one. The device does not
// know the size hh, but the host does.
static const char *parse(const char *at, struct conversion *c, bool host)
{
    at = parse_start(at, c);
    if (*at == 'h') {
        c->size = host && at[1] == 'h' ? -2 : -1;
        at -= c->size;
    }
    for (; *at == 'l' && c->size >= 0 && c->size < 2; at++)
        c->size++;
    c->letter = *at;
    return is_one_of(*at, LETTERS) ? at + 1 : NULL;
}

// ---- the device: arguments ----

static bool take(const struct px_bytes *from, uint64_t *at, unsigned size_B, struct slots *slots)
{
    uint64_t value = 0;
    if (slots->count == SLOTS_MOST)
        return true;
    *at = (*at + size_B - 1) / size_B * size_B;
    if (!value_read(from, *at, &value, size_B))
        return false;
    *at += size_B;
    slots->values[slots->count++] = value;
    return true;
}

static bool take_all(const struct px_bytes *from, size_t format, uint64_t at, struct slots *slots)
{
    const char *text = from->warp->block->grid->lines.bytes + format;
    while (*text) {
        struct conversion c;
        const char *end = *text == '%' && text[1] != '%' ? parse(text + 1, &c, false) : NULL;
        if (!end) {
            text += 1 + (text[0] == '%' && text[1] == '%');
            continue;
        }
        if (c.star && !take(from, &at, sizeof(int32_t), slots))
            return false;
        if (!take(from, &at, is_one_of(c.letter, FLOATS "sp") || c.size > 0 ? 8 : 4, slots))
            return false;
        text = end;
    }
    return true;
}

// ---- the host: text ----

static uint64_t next_slot(const struct px_bytes *from, size_t format, struct slots *slots)
{
    const char *text = from->warp->block->grid->lines.bytes + format;
    const unsigned n = slots->next++;
    uint64_t value = 0;
    if (n < slots->count)
        return slots->values[n];
    const uint64_t at = (n - slots->count) * sizeof value;
    const size_t length = strlen(text);
    if (at < length)
        memcpy(&value, text + at, length - at < sizeof value ? length - at : sizeof value);
    return value;
}

// Text with a width, to the left or right.
static bool put_padded(const struct px_bytes *from, const struct conversion *c, size_t start)
{
    struct px_lines *lines = &from->warp->block->grid->lines;
    const size_t length = lines->used - start;
    const size_t pad = c->width > 0 && (size_t)c->width > length ? (size_t)c->width - length : 0;
    for (size_t i = 0; i < pad; i++)
        if (!px_lines_add(from, " ", 1))
            return false;
    if (!strchr(c->flags, '-')) {
        memmove(lines->bytes + start + pad, lines->bytes + start, length);
        memset(lines->bytes + start, ' ', pad);
    }
    return true;
}

static bool put_string(const struct px_bytes *from, const struct conversion *c, uint64_t address)
{
    const size_t start = from->warp->block->grid->lines.used;
    const uint64_t most = c->precision < 0 ? UINT64_MAX : (uint64_t)c->precision;
    // glibc's text, as on a card.
    static const char null[] = "(null)";
    const bool read = address ? px_string_read(from, address, most)
                              : px_lines_add(from, null, most < strlen(null) ? 0 : strlen(null));
    return read && put_padded(from, c, start);
}

static bool put_char(const struct px_bytes *from, const struct conversion *c, int value)
{
    const size_t start = from->warp->block->grid->lines.used;
    const char byte = (char)value;
    return px_lines_add(from, &byte, 1) && put_padded(from, c, start);
}

// The host's printf formats numbers. A precision of -1 is ignored.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static int host_format(const struct conversion *c, uint64_t bits, char *to, size_t room)
{
    const int width = c->width < 0 ? 0 : (int)c->width, precision = (int)c->precision;
    char format[FLAGS_MOST + 16];
    double value;
    if (c->letter == 'p') {
        snprintf(format, sizeof format, "%%%s*.*p", c->flags);
        return snprintf(to, room, format, width, precision, (void *)(uintptr_t)bits);
    }
    if (is_one_of(c->letter, FLOATS)) {
        memcpy(&value, &bits, sizeof value);
        snprintf(format, sizeof format, "%%%s*.*%c", c->flags, c->letter);
        return snprintf(to, room, format, width, precision, value);
    }
    snprintf(format, sizeof format, "%%%s*.*ll%c", c->flags, c->letter);
    return snprintf(to, room, format, width, precision, (long long)bits);
}
#pragma GCC diagnostic pop

static bool put_number(const struct px_bytes *from, const struct conversion *c, uint64_t bits)
{
    struct px_lines *lines = &from->warp->block->grid->lines;
    const int length = host_format(c, bits, NULL, 0);
    const size_t used = lines->used;
    // One more, because the host ends its text with a 0.
    for (int i = 0; i <= length; i++)
        if (!px_lines_add(from, "", 1))
            return false;
    if (length > 0)
        host_format(c, bits, lines->bytes + used, (size_t)length + 1);
    lines->used = used + (length > 0 ? (size_t)length : 0);
    return true;
}

// An integer as its size says, extended to 64 bits.
static uint64_t extend(const struct conversion *c, uint64_t bits)
{
    const bool is_signed = is_one_of(c->letter, "di");
    switch (c->size) {
    case -2:
        return is_signed ? (uint64_t)(int64_t)(int8_t)bits : (uint8_t)bits;
    case -1:
        return is_signed ? (uint64_t)(int64_t)(int16_t)bits : (uint16_t)bits;
    case 0:
        return is_signed ? (uint64_t)(int64_t)(int32_t)bits : (uint32_t)bits;
    default:
        return bits;
    }
}

// A negative width is the flag -.
static void set_width(struct conversion *c, int32_t width)
{
    c->width = width < 0 ? -(long)width : width;
    if (width < 0 && !strchr(c->flags, '-'))
        strcat(c->flags, "-");
}

static bool put(const struct px_bytes *from, size_t format, struct conversion *c,
                struct slots *slots)
{
    if (c->star)
        set_width(c, (int32_t)next_slot(from, format, slots));
    const uint64_t bits = next_slot(from, format, slots);
    if (c->width > WIDTH_MOST || c->precision > WIDTH_MOST)
        return true;
    if (c->letter == 's')
        return put_string(from, c, bits);
    if (c->letter == 'c')
        return put_char(from, c, (int)bits);
    return put_number(from, c, is_one_of(c->letter, "diouxX") ? extend(c, bits) : bits);
}

// A conversion that CUDA does not have, before one that it has: glibc prints it without the size
// (recorded: printf/unknown-conversion-and-next, and more on an H200). If glibc itself has it, a
// card prints a value that is not defined; here the text stays as it is. Returns its end.
static const char *put_unknown(const struct px_bytes *from, const char *text, bool *good)
{
    struct conversion c;
    char head[64];
    const char *at = parse_start(text + 1, &c);
    if (is_one_of(*at, GLIBC_SIZES))
        at += is_one_of(*at, "hl") && at[1] == at[0] ? 2 : 1;
    if (is_one_of(*at, LETTERS "n")) {
        const size_t length = (size_t)(at + 1 - text);
        memcpy(head, text, length < sizeof head ? length : sizeof head);
        *good = px_lines_add(from, head, length < sizeof head ? length : sizeof head);
        return at + 1;
    }
    if (*at == '%') {
        *good = px_lines_add(from, "%", 1);
        return at + 1;
    }
    size_t length = (size_t)snprintf(head, sizeof head, "%%%s", c.flags);
    if (c.width >= 0)
        length += (size_t)snprintf(head + length, sizeof head - length, "%ld", c.width);
    if (c.precision >= 0)
        length += (size_t)snprintf(head + length, sizeof head - length, ".%ld", c.precision);
    *good = px_lines_add(from, head, length);
    return at;
}

// The text up to a conversion, or to the end. After the last conversion, only %% is special.
static bool put_plain(const struct px_bytes *from, size_t at, size_t end, bool last)
{
    struct px_lines *lines = &from->warp->block->grid->lines;
    bool good = true;
    while (at < end && good) {
        const char byte = lines->bytes[at];
        if (byte == '%' && lines->bytes[at + 1] == '%') {
            at += 2;
            good = px_lines_add(from, "%", 1);
        } else if (byte == '%' && !last) {
            const char *text = lines->bytes + at;
            const size_t past = (size_t)(put_unknown(from, text, &good) - text);
            at += past;
        } else {
            at++;
            good = px_lines_add(from, &byte, 1);
        }
    }
    return good;
}

// The format is in the lines already, from `format` on, because kernels may change it meanwhile.
static bool print_format(const struct px_bytes *from, size_t format, struct slots *slots)
{
    struct px_lines *lines = &from->warp->block->grid->lines;
    size_t at = format, plain = format;
    while (lines->bytes[at]) {
        const char *text = lines->bytes + at;
        struct conversion c;
        const char *end = *text == '%' && text[1] != '%' ? parse(text + 1, &c, true) : NULL;
        if (!end) {
            at += 1 + (text[0] == '%' && text[1] == '%');
            continue;
        }
        const size_t past = at + (size_t)(end - text);
        if (!put_plain(from, plain, at, false) || !put(from, format, &c, slots))
            return false;
        at = plain = past;
    }
    return put_plain(from, plain, at, true);
}

bool px_print(const struct px_bytes *from, uint64_t format, uint64_t arguments, int *count,
              uint64_t *record_B)
{
    struct px_lines *lines = &from->warp->block->grid->lines;
    struct slots slots = {.count = 0};
    const size_t at = lines->used;
    if (!px_string_read(from, format, UINT64_MAX) || !px_lines_add(from, "", 1))
        return false;
    lines->text = lines->used;
    if (!take_all(from, at, arguments, &slots))
        return false;
    const bool good = print_format(from, at, &slots);
    *count = (int)slots.count;
    *record_B = lines->text - at + slots.count * sizeof *slots.values;
    *record_B = (*record_B + RECORD_UNIT_B - 1) / RECORD_UNIT_B * RECORD_UNIT_B;
    return good;
}
