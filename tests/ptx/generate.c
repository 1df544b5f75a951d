// SPDX-License-Identifier: MIT
// Writes random statements: modifiers from the groups of a row, operands from its classes.
#include "generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "module.h"

enum { EACH = 8, CHOSEN_MOST = 24 };

unsigned generate_below(uint64_t *state, unsigned limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((*state >> 33) % limit);
}

uint64_t generate_bits(uint64_t *state)
{
    static const uint64_t edges[] = {0,
                                     1,
                                     2,
                                     31,
                                     32,
                                     63,
                                     64,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     65535,
                                     65536,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x3f800000,
                                     0x3c00,
                                     0x7e00,
                                     0x7f800000,
                                     UINT64_C(1) << 32,
                                     UINT64_C(0x3ff0000000000000),
                                     UINT64_C(1) << 63,
                                     UINT64_MAX};
    if (generate_below(state, 2))
        return edges[generate_below(state, sizeof edges / sizeof *edges)];
    const uint64_t high = generate_below(state, 1u << 31);
    return high << 33 ^ (uint64_t)generate_below(state, 1u << 31) << 11 ^ high >> 17;
}

void generate_text(struct generated *g, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(g->at + g->used, g->size_B - g->used, format, list);
    va_end(list);
    if (length < 0 || g->used + (size_t)length >= g->size_B) {
        g->full = true;
        g->at[g->used] = 0;
        return;
    }
    g->used += (size_t)length;
}

// ---- the kernel ----

void generate_head(struct generated *g)
{
    generate_text(
        g,
        ".version 8.6\n.target sm_90a\n.address_size 64\n"
        ".global .align 16 .b8 g[256];\n.const .align 16 .b8 c[256] = {1, 2, 0xff};\n"
        ".global .texref tr;\n.global .surfref ur;\n"
        ".visible .entry k(.param .u64 m, .param .u64 t, .param .u64 u, .param .u32 n)\n{\n"
        ".reg .pred %%p<%d>;\n.reg .b16 %%h<%d>;\n.reg .b32 %%r<%d>, %%i, %%s;\n"
        ".reg .b64 %%d<%d>, %%m, %%z, %%t, %%u, %%v;\n.reg .b128 %%x<4>;\n"
        ".shared .align 128 .b8 s[1024];\n.local .align 16 .b8 l[256];\n"
        "ld.param.u64 %%m, [m];\nld.param.u64 %%t, [t];\nld.param.u64 %%u, [u];\n"
        "mov.u32 %%i, %%tid.x;\nmad.wide.u32 %%z, %%i, %d, %%m;\nadd.u64 %%m, %%m, %d;\n"
        "mov.u32 %%s, s;\n",
        EACH, EACH, EACH, EACH, GENERATE_OWN_B, GENERATE_OWN_B * GENERATE_THREADS_MOST);
    for (int i = 0; i < EACH; i++)
        generate_text(g,
                      "ld.global.b64 %%d%d, [%%z+%d];\nld.global.b32 %%r%d, [%%z+%d];\n"
                      "ld.global.b16 %%h%d, [%%z+%d];\nsetp.lt.s32 %%p%d, %%r%d, 0;\n",
                      i, 8 * i, i, 64 + 4 * i, i, 96 + 2 * i, i, i);
    generate_text(g, "mov.u64 %%v, s;\ncvta.shared.u64 %%v, %%v;\n$T: .branchtargets $E, $E;\n");
    for (int i = 0; i < GENERATE_OWN_B; i += 8) // it is not initialised otherwise
        generate_text(g, "st.local.b64 [l+%d], %%d%d;\n", i, i / 8 % EACH);
    for (int i = 0; i < 4; i++)
        generate_text(g, "mov.b128 %%x%d, {%%d%d, %%d%d};\n", i, i, i + 4);
}

void generate_tail(struct generated *g)
{
    generate_text(g, "$E:\n");
    for (int i = 0; i < EACH; i++)
        generate_text(g,
                      "st.global.b64 [%%z+%d], %%d%d;\nst.global.b32 [%%z+%d], %%r%d;\n"
                      "st.global.b16 [%%z+%d], %%h%d;\nselp.b32 %%i, 1, 0, %%p%d;\n"
                      "st.global.b32 [%%z+%d], %%i;\n",
                      8 * i, i, 64 + 4 * i, i, 96 + 2 * i, i, i, 112 + 4 * i);
    for (int i = 0; i < 4; i++)
        generate_text(g,
                      "mov.b128 {%%d0, %%d1}, %%x%d;\nxor.b64 %%d2, %%d0, %%d1;\n"
                      "st.global.b64 [%%z+%d], %%d2;\n",
                      i, 144 + 8 * i);
    generate_text(g, "ret;\n}\n");
}

// ---- modifiers ----

struct choice {
    const char *names[CHOSEN_MOST];
    unsigned count;
    uint16_t types[PX_TYPES_MOST];
    unsigned type_count;
};

static void choose(struct choice *c, unsigned modifier)
{
    if (c->count < CHOSEN_MOST)
        c->names[c->count++] = px_modifier_name(modifier);
    if (px_type_bits(modifier) && c->type_count < PX_TYPES_MOST)
        c->types[c->type_count++] = (uint16_t)modifier;
}

static void choose_all(struct choice *c, const struct px_row *row, uint64_t *state)
{
    for (const uint16_t *at = row->groups; at && *at; at++) {
        const unsigned kind = *at++;
        unsigned count = 0;
        while (at[count])
            count++;
        if (count && (kind != PX_GROUP_MAYBE || generate_below(state, 3) == 0))
            choose(c, at[generate_below(state, count)]);
        at += count;
    }
}

static bool has(const struct choice *c, const char *name)
{
    for (unsigned i = 0; i < c->count; i++)
        if (!strcmp(c->names[i], name))
            return true;
    return false;
}

// The n-th state space of the modifiers, or the last one; NULL: generic.
static const char *space(const struct choice *c, unsigned n)
{
    static const char *const spaces[] = {"global", "shared", "shared::cta", "shared::cluster",
                                         "local",  "const",  "param",       "param::entry"};
    const char *found = NULL;
    unsigned seen = 0;
    for (unsigned i = 0; i < c->count; i++) {
        for (unsigned k = 0; k < sizeof spaces / sizeof *spaces; k++) {
            if (strcmp(c->names[i], spaces[k]) || (found && seen > n))
                continue;
            found = spaces[k];
            seen++;
        }
    }
    return n > 1 ? "shared" : found; // the third address of a copy is that of an mbarrier object
}

// ---- operands ----

static char letter_of(unsigned bits)
{
    return bits == 1 ? 'p' : bits <= 16 ? 'h' : bits == 32 ? 'r' : bits == 64 ? 'd' : 'x';
}

static void add_register(struct generated *g, unsigned bits, uint64_t *state)
{
    generate_text(g, "%%%c%u", letter_of(bits), generate_below(state, bits == 128 ? 4 : EACH));
}

static void add_constant(struct generated *g, unsigned type, uint64_t *state)
{
    const unsigned long long bits = generate_bits(state);
    if (px_type_kind(type) == 'f' && px_type_bits(type) == 64)
        generate_text(g, "0d%016llX", bits);
    else if (px_type_kind(type) == 'f')
        generate_text(g, "0f%08llX", bits & 0xffffffff);
    else if (bits & 1)
        generate_text(g, "0x%llx", px_type_bits(type) < 64 ? bits & 0xffffffff : bits);
    else
        generate_text(g, "%lld", (long long)bits >> 40);
}

static void add_value(struct generated *g, unsigned type, bool source, uint64_t *state)
{
    const unsigned bits = px_type_bits(type);
    if (source && bits > 1 && bits < 128 && generate_below(state, 6) == 0)
        add_constant(g, type, state);
    else
        add_register(g, bits, state);
}

static void add_vector(struct generated *g, const struct choice *c, unsigned bits, bool source,
                       uint64_t *state)
{
    const unsigned counts[] = {1, 2, 4, 8};
    unsigned count = has(c, "v2") || has(c, "x2")   ? 2
                     : has(c, "v4") || has(c, "x4") ? 4
                                                    : counts[generate_below(state, 4)];
    const unsigned first = generate_below(state, EACH);
    generate_text(g, "{");
    for (unsigned i = 0; i < count; i++) {
        if (!source && generate_below(state, 30) == 0)
            generate_text(g, "%s_", i ? ", " : "");
        else // different ones, because they may be destinations
            generate_text(g, "%s%%%c%u", i ? ", " : "", letter_of(bits), (first + i) % EACH);
    }
    generate_text(g, "}");
}

static unsigned coordinates_of(const struct choice *c)
{
    return has(c, "1d")                    ? 1
           : has(c, "2d") || has(c, "a1d") ? 2
           : !has(c, "tensor")             ? 4
           : has(c, "3d")                  ? 3
           : has(c, "4d")                  ? 4
                                           : 5;
}

// [object, {coordinates}], as a register or a reference of the module.
static void add_object(struct generated *g, const struct choice *c, bool surface, uint64_t *state)
{
    const char *const textures[] = {"%t", "%t", "tr"};
    const char *const surfaces[] = {"%u", "ur"};
    const char *name =
        surface ? surfaces[generate_below(state, 2)] : textures[generate_below(state, 3)];
    const unsigned count = coordinates_of(c);
    generate_text(g, "[%s, ", name);
    generate_text(g, "{");
    for (unsigned i = 0; i < count; i++)
        generate_text(g, "%s%%r%u", i ? ", " : "", generate_below(state, EACH));
    generate_text(g, "}]");
}

static void add_address(struct generated *g, const struct px_row *row, const struct choice *c,
                        unsigned n, uint64_t *state)
{
    const char *const s = space(c, n);
    static const char *const generic[] = {"%z", "%m", "%v"}, *const global[] = {"%z", "%m", "g"},
                             *const shared[] = {"%s", "s"};
    const char *base = generic[generate_below(state, 3)];
    const bool query = !strcmp(row->root, "txq") || !strcmp(row->root, "suq");
    static const char *const queried[] = {"%t", "tr", "%u", "ur"};
    unsigned first_B = 0, size_B = GENERATE_OWN_B;
    if (!strncmp(row->root, "tex", 3) || !strncmp(row->root, "tld4", 4) ||
        !strncmp(row->root, "su", 2) || query) {
        const bool surface = row->root[0] == 's';
        if (query)
            generate_text(g, "[%s]", queried[2 * surface + generate_below(state, 2)]);
        else
            add_object(g, c, surface, state);
        return;
    }
    if (s && !strcmp(s, "global"))
        base = global[generate_below(state, 3)];
    else if (s && !strncmp(s, "shared", 6))
        base = shared[generate_below(state, 2)];
    else if (s)
        base = !strcmp(s, "local") ? "l" : !strcmp(s, "const") ? "c" : "m";
    if (!strcmp(base, "%z"))
        first_B = GENERATE_REGISTERS_B;
    else if (s && !strncmp(s, "param", 5))
        size_B = 32;
    const unsigned offset = first_B + generate_below(state, (size_B - first_B) / 16) * 16 +
                            (generate_below(state, 200) == 0);
    generate_text(g, offset || generate_below(state, 2) ? "[%s+%u]" : "[%s]", base, offset);
}

static void add_anything(struct generated *g, const struct px_row *row, const struct choice *c,
                         uint64_t *state)
{
    const unsigned widths[] = {1, 16, 32, 64, 128};
    if ((has(c, "v2") || has(c, "v4")) && c->type_count && generate_below(state, 4)) {
        add_vector(g, c, px_type_bits(c->types[0]), false, state);
        return;
    }
    if (has(c, "tensor") && generate_below(state, 2)) {
        add_object(g, c, false, state);
        return;
    }
    switch (generate_below(state, 9)) {
    case 0:
        add_constant(g, PX_U32, state);
        break;
    case 1:
        add_address(g, row, c, 0, state);
        break;
    case 2:
        add_vector(g, c, widths[1 + generate_below(state, 3)], true, state);
        break;
    case 3:
        generate_text(g, "%s", generate_below(state, 2) ? "s" : "g");
        break;
    case 4:
        add_register(g, 1, state);
        break;
    default:
        add_register(g,
                     c->type_count && generate_below(state, 4) ? px_type_bits(c->types[0])
                                                               : widths[generate_below(state, 5)],
                     state);
    }
}

static unsigned type_of(const struct px_class *class, const struct choice *c)
{
    unsigned type = class->type;
    if (class->type_index != 255)
        type = c->type_count ? c->types[class->type_index < c->type_count ? class->type_index
                                                                          : c->type_count - 1]
                             : PX_B32;
    if (class->times == 2)
        type = px_type_bits(type) == 16 ? PX_B32 : PX_B64;
    return type;
}

static void add_operand(struct generated *g, const struct px_row *row, const struct choice *c,
                        const struct px_class *class, bool source, unsigned *addresses,
                        uint64_t *state)
{
    const unsigned type = type_of(class, c);
    if (class->negates && generate_below(state, 3) == 0)
        generate_text(g, "!");
    switch ((enum px_class_kind) class->kind) {
    case PX_CLASS_ADDRESS:
        add_address(g, row, c, (*addresses)++, state);
        return;
    case PX_CLASS_CONSTANT:
        generate_text(g, "%u",
                      generate_below(state, 2) ? generate_below(state, 4)
                                               : 4u << generate_below(state, 5));
        return;
    case PX_CLASS_LABEL:
        generate_text(g, strcmp(row->root, "brx") ? "$E" : "$T");
        return;
    case PX_CLASS_ANY:
        add_anything(g, row, c, state);
        return;
    case PX_CLASS_VALUE:
        break;
    }
    if (class->vector &&
        (has(c, "v2") || has(c, "v4") || has(c, "aligned") || generate_below(state, 2)))
        add_vector(g, c, px_type_bits(type), source, state);
    else
        add_value(g, type, source, state);
}

// Destinations or sources.
static void add_operands(struct generated *g, const struct px_row *row, const struct choice *c,
                         bool source, bool *first, unsigned *addresses, uint64_t *state)
{
    const struct px_class *list = source ? row->a : row->d;
    const unsigned count = source ? row->sources : row->destinations;
    for (unsigned i = 0; i < count; i++) {
        if (list[i].optional && generate_below(state, 2))
            return;
        if (list[i].paired && generate_below(state, 2))
            continue;
        generate_text(g, *first ? " " : list[i].paired ? "|" : ", ");
        *first = false;
        add_operand(g, row, c, &list[i], source, addresses, state);
    }
}

void generate_any(struct generated *g, const struct px_row *row, uint64_t *state)
{
    struct choice c = {.count = 0};
    bool first = true;
    unsigned addresses = 0;
    choose_all(&c, row, state);
    if (generate_below(state, 5) == 0)
        generate_text(g, generate_below(state, 2) ? "@%%p%u " : "@!%%p%u ",
                      generate_below(state, EACH));
    generate_text(g, "%s", row->root);
    for (unsigned i = 0; i < c.count; i++)
        generate_text(g, ".%s", c.names[i]);
    add_operands(g, row, &c, false, &first, &addresses, state);
    add_operands(g, row, &c, true, &first, &addresses, state);
    generate_text(g, ";\n");
}

// Whether the kernel's text lowers.
static bool is_valid(const char *text)
{
    struct px_module *module = NULL;
    const struct px_program *program;
    struct px_report report;
    const bool valid = !px_module_load(text, strlen(text), &module, &report) &&
                       !px_program_get(module, 0, &program, &report);
    px_module_free(module);
    return valid;
}

bool generate_valid(struct generated *g, const struct px_row *row, uint64_t *state,
                    unsigned attempts)
{
    static _Thread_local char kernel[16384];
    for (; attempts; attempts--) {
        struct generated trial = {.at = kernel, .size_B = sizeof kernel};
        generate_head(&trial);
        const size_t from = trial.used;
        generate_any(&trial, row, state);
        const size_t length = trial.used - from;
        generate_tail(&trial);
        if (trial.full || !is_valid(kernel))
            continue;
        generate_text(g, "%.*s", (int)length, kernel + from);
        return !g->full;
    }
    return false;
}
