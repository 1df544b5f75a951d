// SPDX-License-Identifier: MIT
// Writes accesses to memory for random kernels (kernel_programs.h): atomics of all types and
// scopes, loads and stores with all qualifiers. Draws must not change.
#pragma once
#include "ptx_pieces.h"

enum { SLOTS = 12 }; // of common memory

static inline const char *one_of(const char *const *list, int count)
{
    return list[draw(count)];
}
#define ONE_OF(...)                                                                                \
    one_of((const char *const[]){__VA_ARGS__},                                                     \
           sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

// ---- memory ----

static const struct place {
    const char *space, *own, *common;
} places[] = {{".global", "%gl", "%co"},
              {".shared", "%sh", "common"},
              {"", "%gl", "%co"},
              {"", "%gsh", "%gcs"},
              {".shared::cta", "%sh", "common"}};

static inline const char *scope(void)
{
    return ONE_OF(".cta", ".cluster", ".gpu", ".sys");
}

static inline void own_atomic(void)
{
    static const char *const forms[] = {
        "add.u32 w",          "add.s32 w",       "add.u64 l",         "add.f32 F",
        "add.f64 D",          "add.noftz.f16 H", "add.noftz.f16x2 P", "add.noftz.bf16 B",
        "add.noftz.bf16x2 Q", "min.u32 w",       "min.s32 w",         "min.u64 l",
        "min.s64 l",          "max.u32 w",       "max.s32 w",         "max.u64 l",
        "max.s64 l",          "and.b32 w",       "and.b64 l",         "or.b32 w",
        "or.b64 l",           "xor.b32 w",       "xor.b64 l",         "inc.u32 w",
        "dec.u32 w",          "exch.b32 w",      "exch.b64 l",        "cas.b16 h",
        "cas.b32 w",          "cas.b64 l"};
    const struct place *at = &places[draw(5)];
    const char *form = forms[draw(sizeof forms / sizeof *forms)];
    const int name = (int)strlen(form) - 2;
    const char class = form[name + 1];
    const bool cas = *form == 'c', exchange = *form == 'e', returns = cas || exchange || draw(2);
    const char *sem = returns ? ONE_OF("", ".relaxed", ".acquire", ".release", ".acq_rel")
                              : ONE_OF("", ".relaxed", ".release");
    add("%s%s%s%s.%.*s ", returns ? "atom" : "red", sem, *sem || draw(2) ? scope() : "", at->space,
        name, form);
    if (returns)
        add("%s, ", draw(6) ? pick(class) : "_");
    add("[%s+%d], ", at->own, draw(4) * 8 + (strchr("hHB", class) && draw(2) ? 2 : 0));
    if (cas)
        add("%s, ", pick(class));
    add("%s;\n", pick(class));
}

static inline void wide_atomic(void)
{
    static const struct {
        const char *form;
        char class;
        int parts;
    } vectors[] = {{"add.v2.f32", 'F', 2},          {"add.v4.f32", 'F', 4},
                   {"add.noftz.v2.f16", 'H', 2},    {"add.noftz.v4.f16", 'H', 4},
                   {"min.noftz.v4.f16", 'H', 4},    {"max.noftz.v2.f16", 'H', 2},
                   {"add.noftz.v2.bf16", 'B', 2},   {"max.noftz.v4.bf16", 'B', 4},
                   {"add.noftz.v2.f16x2", 'P', 2},  {"min.noftz.v4.f16x2", 'P', 4},
                   {"max.noftz.v2.bf16x2", 'Q', 2}, {"add.noftz.v4.bf16x2", 'Q', 4}};
    if (!draw(3)) {
        const struct place *at = &places[draw(4)];
        add("mov.b128 %%y0, {%s, %s};\nmov.b128 %%y1, {%s, %s};\n", pick('l'), pick('l'), pick('l'),
            pick('l'));
        if (draw(2))
            add("atom%s.exch.b128 %%y2, [%s+%d], %%y0;\n", at->space, at->own, draw(2) * 16);
        else
            add("atom%s.cas.b128 %%y2, [%s+%d], %%y0, %%y1;\n", at->space, at->own, draw(2) * 16);
        add("mov.b128 {%%l1, %%l3}, %%y2;\n");
        return;
    }
    const int v = draw(sizeof vectors / sizeof *vectors), returns = draw(2);
    add("%s%s.global.%s ", returns ? "atom" : "red", draw(2) ? "" : ".relaxed.gpu",
        vectors[v].form);
    for (int i = 0; i < vectors[v].parts && returns; i++)
        add("%s%%%c%d", i ? ", " : "{", vectors[v].class, i % 4);
    add("%s[%%gl+%d], ", returns ? "}, " : "", draw(2) * 16);
    for (int i = 0; i < vectors[v].parts; i++)
        add("%s%s", i ? ", " : "{", pick(vectors[v].class));
    add("};\n");
}

// Those whose result does not depend on the order of threads.
static inline void common_atomic(void)
{
    static const char *const forms[] = {"add.u32 w", "min.s32 w", "max.u32 w", "and.b32 w",
                                        "or.b32 w",  "xor.b32 w", "add.u64 l", "max.s64 l",
                                        "min.u64 l", "xor.b64 l", "and.b64 l", "min.s64 l"};
    const struct place *at = &places[draw(5)];
    const int i = draw(SLOTS), name = (int)strlen(forms[i]) - 2;
    add("red%s%s.%.*s [%s+%d], %s;\n", draw(2) ? scope() : "", at->space, name, forms[i],
        at->common, i * 8, pick(forms[i][name + 1]));
}

struct moved {
    const char *type;
    char class;
    int parts, size;
};

static const struct moved moved[] = {
    {"u8", 'w', 1, 1},      {"s8", 'l', 1, 1},      {"b16", 'h', 1, 2},     {"s16", 'w', 1, 2},
    {"u32", 'l', 1, 4},     {"b32", 'w', 1, 4},     {"b64", 'l', 1, 8},     {"f32", 'F', 1, 4},
    {"f64", 'D', 1, 8},     {"b16", 'H', 1, 2},     {"b32", 'Q', 1, 4},     {"v2.b8", 'h', 2, 2},
    {"v4.s8", 'w', 4, 4},   {"v2.u16", 'w', 2, 4},  {"v4.b16", 'h', 4, 8},  {"v2.b32", 'P', 2, 8},
    {"v4.u32", 'w', 4, 16}, {"v2.u64", 'l', 2, 16}, {"v2.f64", 'D', 2, 16}, {"v4.f32", 'F', 4, 16}};

static inline void move(const char *operation, const char *address, const struct moved *t,
                        bool loads, int span, const char *hint)
{
    char value[120] = "", *to = value;
    for (int i = 0; i < t->parts; i++)
        to += loads && t->parts > 1 ? sprintf(to, "%s%%%c%d", i ? ", " : "{", t->class, i)
                                    : sprintf(to, "%s%s",
                                              t->parts == 1 ? ""
                                              : i           ? ", "
                                                            : "{",
                                              pick(t->class));
    sprintf(to, t->parts > 1 ? "}" : "");
    const int offset = draw(span / t->size) * t->size;
    if (loads)
        add("%s.%s %s, [%s+%d]%s;\n", operation, t->type, value, address, offset, hint);
    else
        add("%s.%s [%s+%d], %s%s;\n", operation, t->type, address, offset, value, hint);
}

static inline void qualified(void)
{
    static const char *const loads[] = {"ld.global.ca",
                                        "ld.global.cg",
                                        "ld.global.cs",
                                        "ld.global.lu",
                                        "ld.global.cv",
                                        "ld.volatile.global",
                                        "ld.relaxed.cta.global",
                                        "ld.relaxed.sys.global",
                                        "ld.acquire.gpu.global",
                                        "ld.acquire.cluster.global",
                                        "ld.weak.global",
                                        "ld.global.L1::evict_last",
                                        "ld.global.L1::no_allocate",
                                        "ld.global.L2::128B",
                                        "ld.global.L1::evict_first.L2::256B"};
    static const char *const stores[] = {"st.global.wb",
                                         "st.global.cg",
                                         "st.global.cs",
                                         "st.global.wt",
                                         "st.volatile.global",
                                         "st.relaxed.gpu.global",
                                         "st.release.sys.global",
                                         "st.release.cta.global",
                                         "st.weak.global",
                                         "st.global.L1::evict_last",
                                         "st.global.L1::no_allocate"};
    static const char *const shared[] = {"ld.shared",
                                         "ld.volatile.shared",
                                         "ld.relaxed.cta.shared",
                                         "ld.acquire.cta.shared",
                                         "ld.weak.shared::cta",
                                         "st.shared",
                                         "st.volatile.shared",
                                         "st.relaxed.cta.shared",
                                         "st.release.cta.shared",
                                         "st.weak.shared::cta"};
    const int scalars = 11, all = sizeof moved / sizeof *moved;
    int kind;
    switch (draw(6)) {
    case 0:
    case 1:
        move(one_of(loads, 15), "%gl", &moved[draw(all)], true, 32, "");
        break;
    case 2:
        move(one_of(stores, 11), "%gl", &moved[draw(all)], false, 32, "");
        break;
    case 3:
    case 4:
        kind = draw(10);
        move(shared[kind], "%sh", &moved[draw(draw(2) ? all : scalars)], kind < 5, 32, "");
        break;
    default:
        add("createpolicy.fractional.L2::evict_last.b64 %%x1, 0.5;\n");
        kind = draw(2);
        move(kind ? "ld.global.L2::cache_hint" : "st.global.L2::cache_hint", "%gl",
             &moved[draw(all)], kind, 32, ", %x1");
    }
}

static inline void read_only(void)
{
    static const char *const loads[] = {"ld.global.nc",    "ld.global.nc.L1::no_allocate",
                                        "ld.global.ca.nc", "ld.global.cg.nc",
                                        "ldu.global",      "ld.global.nc.L1::evict_last.L2::128B"};
    const int all = sizeof moved / sizeof *moved;
    add("and.b32 %%t0, %s, 0xf0;\n", pick('w'));
    switch (draw(3)) {
    case 0:
        add("mov.u32 %%t3, table;\nadd.u32 %%t0, %%t0, %%t3;\n");
        move("ld.const", "%t0", &moved[draw(all)], true, 16, "");
        break;
    case 1:
        add("cvt.u64.u32 %%x0, %%t0;\nmov.u64 %%x1, table;\ncvta.const.u64 %%x1, %%x1;\n"
            "add.u64 %%x0, %%x0, %%x1;\n");
        move("ld", "%x0", &moved[draw(all)], true, 16, "");
        break;
    default:
        add("cvt.u64.u32 %%x0, %%t0;\nadd.u64 %%x0, %%x0, %%in;\n");
        move(one_of(loads, 6), "%x0", &moved[draw(all)], true, 16, "");
    }
}

static inline void fence(void)
{
    add("%s;\n", ONE_OF("membar.cta", "membar.gl", "membar.sys", "fence.sc.gpu",
                        "fence.acq_rel.cta", "fence.acq_rel.sys", "fence.sc.cluster"));
}
