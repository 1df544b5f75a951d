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
    WIDTH_MOST = 1 << 16, // of one value; wider ones are cut to it
    NUMBER_DIGITS = 9,
};
#define FLOATS "fFeEgGaA"

// One conversion: %[flags][width][.precision][length]letter
struct conversion {
    char flags[FLAGS_MOST + 1]; // each once
    int width, precision;       // -1: absent
    int length;                 // h: -1, hh: -2, l: 1, ll: 2
    char letter;
};

// Where the next argument is.
struct arguments {
    uint64_t at;
    int count;
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

// ---- arguments ----

static bool argument(const struct px_bytes *from, struct arguments *list, void *out,
                     unsigned size_B)
{
    list->at = (list->at + size_B - 1) / size_B * size_B;
    if (!value_read(from, list->at, out, size_B))
        return false;
    list->at += size_B;
    list->count++;
    return true;
}

// ---- formats ----

static bool is_one_of(char c, const char *list)
{
    return c && strchr(list, c);
}

// A number, or -1 if there is none. Long ones are cut off.
static int number(const char **at)
{
    int value = -1, digits = 0;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (digits++ < NUMBER_DIGITS)
            value = (value < 0 ? 0 : value) * 10 + (**at - '0');
    return value;
}

// Reads a conversion after its %. Returns the end, or NULL if it is not one that CUDA has: then the
// format's text is printed as it is, and no argument is taken (recorded: printf/ld-and-next,
// unknown-conversion-and-next). `stars` says which of width and precision are arguments.
static const char *parse(const char *at, struct conversion *c, bool stars[2])
{
    unsigned flags = 0;
    *c = (struct conversion){.width = -1, .precision = -1};
    for (; is_one_of(*at, "-+ #0"); at++)
        if (flags < FLAGS_MOST && !strchr(c->flags, *at))
            c->flags[flags++] = *at;
    stars[0] = *at == '*';
    if (stars[0])
        at++;
    else
        c->width = number(&at);
    if (*at == '.') {
        at++;
        stars[1] = *at == '*';
        if (stars[1])
            at++;
        else
            c->precision = number(&at);
        if (!stars[1] && c->precision < 0)
            c->precision = 0;
    }
    for (; *at == 'h' && c->length > -2; at++)
        c->length--;
    for (; *at == 'l' && c->length >= 0 && c->length < 2; at++)
        c->length++;
    c->letter = *at;
    return is_one_of(*at, "diouxXcsfFeEgGaAp") ? at + 1 : NULL;
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
    const bool read = address ? px_string_read(from, address, most)
                              : px_lines_add(from, "(null)", 6); // (recorded: printf/null-string)
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
    const int width = c->width < 0 ? 0 : c->width;
    char format[FLAGS_MOST + 16];
    double value;
    if (c->letter == 'p') {
        snprintf(format, sizeof format, "%%%s*p", c->flags);
        return snprintf(to, room, format, width, (void *)(uintptr_t)bits);
    }
    if (is_one_of(c->letter, FLOATS)) {
        memcpy(&value, &bits, sizeof value);
        snprintf(format, sizeof format, "%%%s*.*%c", c->flags, c->letter);
        return snprintf(to, room, format, width, c->precision, value);
    }
    snprintf(format, sizeof format, "%%%s*.*ll%c", c->flags, c->letter);
    return snprintf(to, room, format, width, c->precision, (long long)bits);
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

// An integer as its length says, extended to 64 bits.
static uint64_t extend(const struct conversion *c, uint64_t bits)
{
    const bool is_signed = is_one_of(c->letter, "di");
    switch (c->length) {
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

static bool put(const struct px_bytes *from, const struct conversion *c, struct arguments *list)
{
    const bool wide = is_one_of(c->letter, FLOATS "sp") || (c->length > 0 && c->letter != 'c');
    uint64_t bits = 0;
    if (!argument(from, list, &bits, wide ? 8 : 4))
        return false;
    if (c->letter == 's')
        return put_string(from, c, bits);
    if (c->letter == 'c')
        return put_char(from, c, (int)bits);
    return put_number(from, c, is_one_of(c->letter, "diouxX") ? extend(c, bits) : bits);
}

// Width and precision that are arguments. A negative width is the flag -, and a negative precision
// is ignored.
static bool read_stars(const struct px_bytes *from, struct conversion *c, const bool stars[2],
                       struct arguments *list)
{
    if (stars[0] && !argument(from, list, &c->width, sizeof c->width))
        return false;
    if (stars[1] && !argument(from, list, &c->precision, sizeof c->precision))
        return false;
    if (stars[0] && c->width < 0) {
        c->width = c->width == INT32_MIN ? WIDTH_MOST : -c->width;
        if (!strchr(c->flags, '-'))
            strcat(c->flags, "-");
    }
    if (c->width > WIDTH_MOST)
        c->width = WIDTH_MOST;
    if (c->precision > WIDTH_MOST)
        c->precision = WIDTH_MOST;
    return true;
}

// The format is in the lines already, because kernels may change it meanwhile: its bytes are at
// `at`, as an offset, because lines may move.
static bool print_format(const struct px_bytes *from, size_t at, struct arguments *list)
{
    struct px_lines *lines = &from->warp->block->grid->lines;
    for (;;) {
        const char *text = lines->bytes + at;
        const size_t plain = strcspn(text, "%");
        struct conversion c;
        bool stars[2] = {false, false};
        char head[64];
        if (plain) {
            for (size_t i = 0; i < plain; i += sizeof head) {
                const size_t part = plain - i < sizeof head ? plain - i : sizeof head;
                memcpy(head, lines->bytes + at + i, part);
                if (!px_lines_add(from, head, part))
                    return false;
            }
            at += plain;
            continue;
        }
        if (!*text)
            return true;
        const char *end = parse(text + 1, &c, stars);
        if (!end) { // %% is one %
            at += text[1] == '%' ? 2 : 1;
            if (!px_lines_add(from, "%", 1))
                return false;
            continue;
        }
        at += (size_t)(end - text);
        if (!read_stars(from, &c, stars, list) || !put(from, &c, list))
            return false;
    }
}

bool px_print(const struct px_bytes *from, uint64_t format, uint64_t arguments, int *count)
{
    struct px_lines *lines = &from->warp->block->grid->lines;
    struct arguments list = {.at = arguments};
    const size_t at = lines->used;
    if (!px_string_read(from, format, UINT64_MAX) || !px_lines_add(from, "", 1))
        return false;
    lines->text = lines->used;
    const bool good = print_format(from, at, &list);
    *count = list.count;
    return good;
}
