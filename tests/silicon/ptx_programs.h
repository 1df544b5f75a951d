// SPDX-License-Identifier: MIT
// Writes random programs in PTX. Draws must not change.
#pragma once
#include "ptx_pieces.h"

// ---- statements ----

// Two different registers.
static void pick_two(char class, const char **a, const char **b)
{
    *a = pick(class);
    do
        *b = pick(class);
    while (!strcmp(*a, *b));
}

static void block(int depth, int statements, bool together);

static void branch(int depth)
{
    const int label = labels;
    labels += 2;
    add("@%s%s bra L%d;\n", draw(2) ? "!" : "", pick('p'), label);
    block(depth + 1, 1 + draw(4), false);
    if (draw(2)) {
        add("bra L%d;\nL%d:\n", label + 1, label);
        block(depth + 1, 1 + draw(4), false);
        add("L%d:\n", label + 1);
    } else
        add("L%d:\n", label);
}

static void loop(int depth, bool together)
{
    const int label = labels++, counter = loops++;
    const bool same = draw(2);
    if (same)
        add("mov.u32 %%c%d, %d;\n", counter, 1 + draw(4));
    else
        add("and.b32 %%c%d, %s, 3;\nadd.u32 %%c%d, %%c%d, 1;\n", counter, pick('w'), counter,
            counter);
    add("L%d:\n", label);
    block(depth + 1, 1 + draw(5), together && same);
    add("sub.u32 %%c%d, %%c%d, 1;\nsetp.ne.u32 %%pc%d, %%c%d, 0;\n@%%pc%d bra L%d;\n", counter,
        counter, counter, counter, counter, label);
}

static void load(const char *space, const char *address, int at)
{
    static const struct {
        const char *type;
        char class;
        int parts, size;
    } types[] = {{"u8", 'w', 1, 1},     {"s8", 'h', 1, 1},      {"u16", 'h', 1, 2},
                 {"s16", 'l', 1, 2},    {"u32", 'w', 1, 4},     {"s32", 'l', 1, 4},
                 {"b64", 'l', 1, 8},    {"f32", 'F', 1, 4},     {"f64", 'D', 1, 8},
                 {"v2.u32", 'w', 2, 8}, {"v4.f32", 'F', 4, 16}, {"v2.b64", 'l', 2, 16},
                 {"v4.u8", 'h', 4, 4},  {"v2.s16", 'w', 2, 4},  {"v4.b16", 'H', 4, 8},
                 {"b8", 'h', 1, 1},     {"v2.f64", 'D', 2, 16}, {"b32", 'P', 1, 4}};
    const int t = draw(sizeof types / sizeof *types);
    const int offset = at + draw(16) / types[t].size * types[t].size;
    add("ld%s.%s ", space, types[t].type);
    if (types[t].parts == 1)
        add("%s", pick(types[t].class));
    else {
        const int first = draw(2);
        add("{");
        for (int i = 0; i < types[t].parts; i++)
            add("%s%%%c%d", i ? ", " : "", types[t].class, first + i);
        add("}");
    }
    add(", [%s+%d];\n", address, offset);
}

static void store(const char *space, const char *address, int at)
{
    static const struct {
        const char *type;
        char class;
        int parts, size;
    } types[] = {{"u8", 'w', 1, 1},     {"b16", 'h', 1, 2},     {"u32", 'w', 1, 4},
                 {"b64", 'l', 1, 8},    {"f32", 'F', 1, 4},     {"f64", 'D', 1, 8},
                 {"v2.u32", 'w', 2, 8}, {"v4.f32", 'F', 4, 16}, {"v2.b64", 'l', 2, 16},
                 {"v4.b8", 'h', 4, 4},  {"s16", 'l', 1, 2},     {"v2.b32", 'Q', 2, 8}};
    const int t = draw(sizeof types / sizeof *types);
    const int offset = at + draw(16) / types[t].size * types[t].size;
    add("st%s.%s [%s+%d], ", space, types[t].type, address, offset);
    if (types[t].parts > 1)
        add("{");
    for (int i = 0; i < types[t].parts; i++)
        add("%s%s", i ? ", " : "", pick(types[t].class));
    add(types[t].parts > 1 ? "};\n" : ";\n");
}

static void own_memory(void)
{
    static const char *const spaces[] = {".shared", ".global",          "",
                                         "",        ".volatile.shared", ".relaxed.gpu.global"};
    static const char *const addresses[] = {"%sh", "%gl", "%gsh", "%gl", "%sh", "%gl"};
    const int i = draw(6);
    const char *space = spaces[i], *address = addresses[i];
    if (i >= 4) { // scalars only
        add("st%s.b64 [%s+%d], %s;\n", space, address, draw(4) * 8, pick('l'));
        add("ld%s.u16 %s, [%s+%d];\n", space, pick('w'), address, draw(16) * 2);
        return;
    }
    store(space, address, draw(2) * 16);
    load(space, address, draw(2) * 16);
}

static void local_memory(void)
{
    add("and.b32 %%t0, %s, 0x70;\nadd.u32 %%t0, %%lo, %%t0;\n", pick('w'));
    store(".local", "%t0", 0);
    add("and.b32 %%t0, %s, 0x70;\nadd.u32 %%t0, %%lo, %%t0;\n", pick('w'));
    load(".local", "%t0", 0);
}

static void input_memory(void)
{
    static const char *const spaces[] = {".global", ".global.nc", ".global.ca",
                                         "",        ".global.cg", ".global.cs"};
    add("and.b32 %%t0, %s, 0x7f0;\ncvt.u64.u32 %%x0, %%t0;\nadd.u64 %%x0, %%x0, %%in;\n",
        pick('w'));
    load(spaces[draw(6)], "%x0", 0);
}

static void exchange(void)
{
    add("bar.sync 0;\n");
    store(".shared", "%sh", draw(2) * 16);
    add("bar.sync 0;\nxor.b32 %%t0, %%t1, %d;\nmad.lo.u32 %%t0, %%t0, %d, %%sh0;\n", draw(BLOCK),
        OWN_B);
    load(".shared", "%t0", draw(2) * 16);
    add("bar.sync 0;\n");
}

static void own_atomic(void)
{
    static const char *const forms[] = {
        "add.u32 w",          "add.s32 w",      "add.u64 l", "min.s32 w", "max.u32 w",
        "min.u64 l",          "max.s64 l",      "and.b32 w", "or.b64 l",  "xor.b32 w",
        "exch.b32 w",         "exch.b64 l",     "inc.u32 w", "dec.u32 w", "add.f32 F",
        "add.f64 D",          "cas.b32 w",      "cas.b64 l", "cas.b16 h", "add.noftz.f16x2 P",
        "add.noftz.bf16x2 Q", "add.noftz.f16 H"};
    const char *form = forms[draw(sizeof forms / sizeof *forms)];
    const int name = (int)strlen(form) - 2, kind = draw(3);
    const char class = form[name + 1];
    add("atom%s.%.*s %s, [%s+%d], %s",
        kind == 0   ? ".shared"
        : kind == 1 ? ".global"
                    : "",
        name, form, pick(class),
        kind == 0   ? "%sh"
        : kind == 1 ? "%gl"
                    : "%gsh",
        draw(4) * 8, pick(class));
    if (*form == 'c')
        add(", %s", pick(class));
    add(";\n");
}

static void common_atomic(void)
{
    static const char *const forms[] = {"add.u32 w", "min.s32 w", "max.u32 w", "and.b32 w",
                                        "or.b32 w",  "xor.b32 w", "add.u64 l", "max.s64 l"};
    const int i = draw(8), name = (int)strlen(forms[i]) - 2;
    const bool shared = draw(2);
    add("red.%s.%.*s [%s+%d], %s;\n", shared ? "shared" : "global", name, forms[i],
        shared ? "common" : "%co", i * 8, pick(forms[i][name + 1]));
}

static void call(void)
{
    const char *a, *b;
    pick_two('w', &a, &b);
    add("{\n.param .b32 t0;\n.param .b64 t1;\n.param .b32 t2;\n.param .align 8 .b8 "
        "u[16];\nst.param.b32 [t0], %s;\n"
        "st.param.b64 [t1], %s;\nst.param.b32 [t2], %s;\ncall (u), f%d, (t0, t1, t2);\n"
        "ld.param.b32 %s, [u];\nld.param.b64 %s, [u+8];\n}\n",
        a, pick('l'), b, draw(2), pick('w'), pick('l'));
}

static void other(bool together)
{
    static const char *const names[] = {"tid.x",       "ntid.x",      "ctaid.x",     "nctaid.x",
                                        "laneid",      "lanemask_eq", "lanemask_le", "lanemask_lt",
                                        "lanemask_ge", "lanemask_gt", "tid.y",       "ntid.z"};
    static const char *const spaces[] = {"global", "shared", "local", "const"};
    switch (draw(together ? 8 : 4)) {
    case 0:
        add("mov.u32 %s, %%%s;\n", pick('w'), names[draw(12)]);
        break;
    case 1:
        add("isspacep.%s %s, %s;\n", spaces[draw(4)], pick('p'), draw(2) ? "%gsh" : "%gl");
        break;
    case 2: {
        const int size = 4 << draw(3);
        add("and.b32 %%t0, %s, 0x7f0;\ncvt.u64.u32 %%x0, %%t0;\nadd.u64 %%x0, %%x0, %%in;\n"
            "cp.async.ca.shared.global [%%sh], [%%x0], %d",
            pick('w'), size);
        if (draw(2))
            add(", %d", draw(size + 1));
        add(";\ncp.async.commit_group;\ncp.async.wait_group 0;\n");
        load(".shared", "%sh", 0);
        break;
    }
    case 3:
        add("cvta.to.shared.u64 %%x0, %%gsh;\n");
        load(".shared", "%x0", 16);
        break;
    case 4:
        add("bar.red.popc.u32 %s, 0, %s;\n", pick('w'), pick('p'));
        break;
    case 5:
        add("bar.red.%s.pred %s, 0, %s;\n", draw(2) ? "and" : "or", pick('p'), pick('p'));
        break;
    case 6: {
        const int label = labels++;
        add("mbarrier.arrive.shared.b64 %%x1, [mb];\nL%d:\n"
            "mbarrier.test_wait.shared.b64 %%pt, [mb], %%x1;\n@!%%pt bra L%d;\n",
            label, label);
        break;
    }
    default:
        add("barrier.sync 1, %d;\n", BLOCK);
        break;
    }
}

static void statement(int depth, bool together)
{
    budget--;
    switch (draw(26)) {
    case 0:
    case 1:
        if (depth < DEEPEST)
            branch(depth);
        break;
    case 2:
        if (depth < DEEPEST)
            loop(depth, together);
        break;
    case 3:
        own_memory();
        break;
    case 4:
        local_memory();
        break;
    case 5:
        input_memory();
        break;
    case 6:
        if (together)
            exchange();
        break;
    case 7:
        own_atomic();
        break;
    case 8:
        common_atomic();
        break;
    case 9:
        call();
        break;
    case 10:
        other(together);
        break;
    default:
        instruction(together);
        instruction(together);
    }
}

static void block(int depth, int statements, bool together)
{
    for (int i = 0; i < statements && budget > 0; i++)
        statement(depth, together);
}

// ---- programs ----

static void function(int number)
{
    add(".func (.param .align 8 .b8 r[16]) f%d (.param .b32 a0, .param .b64 a1, "
        ".param .b32 a2)\n{\n",
        number);
    declare();
    add(".reg .b32 %%a, %%b;\n.reg .b64 %%c;\nld.param.b32 %%a, [a0];\nld.param.b64 %%c, [a1];\n"
        "ld.param.b32 %%b, [a2];\n");
    for (int i = 0; i < POOLS; i++)
        for (int j = 0; j < pools[i].count; j++) {
            const size_t size = form_size(pools[i].class);
            const char *from = draw(2) ? "%a" : "%b";
            if (size == 8)
                add("xor.b64 %%%c%d, %%c, 0x%" PRIx32 ";\n", pools[i].class, j, form_draw());
            else if (size == 4)
                add("xor.b32 %%%c%d, %s, 0x%" PRIx32 ";\n", pools[i].class, j, from, form_draw());
            else
                add("cvt.u16.u32 %%%c%d, %s;\n", pools[i].class, j, from);
        }
    for (int i = 0; i < PREDICATES; i++)
        add("setp.lt.s32 %%p%d, %%w%d, %%w%d;\n", i, i, i + 1);
    const int count = 3 + draw(8);
    for (int i = 0; i < count; i++)
        instruction(false);
    add("st.param.b32 [r], %s;\nst.param.b64 [r+8], %s;\nret;\n}\n", pick(draw(2) ? 'w' : 'F'),
        pick(draw(2) ? 'l' : 'D'));
}

static int registers(void)
{
    int all = PREDICATES;
    for (int i = 0; i < POOLS; i++)
        all += pools[i].count;
    return all;
}

static void loads(void)
{
    int n = 0;
    for (int i = 0; i < POOLS; i++)
        for (int j = 0; j < pools[i].count; j++, n++)
            add("ld.global.b%d %%%c%d, [%%x0+%d];\n", (int)form_size(pools[i].class) * 8,
                pools[i].class, j, n * LANES * 8);
    for (int i = 0; i < PREDICATES; i++)
        add("setp.lt.s32 %%p%d, %%w%d, %%w%d;\n", i, i, i + 1);
}

static void stores(void)
{
    int n = 0;
    const int leaves = draw(40);
    for (int i = 0; i < POOLS; i++)
        for (int j = 0; j < pools[i].count; j++, n++) {
            if (n == leaves)
                add("@%s ret;\n", pick('p'));
            add("st.global.b%d [%%o+%d], %%%c%d;\n", (int)form_size(pools[i].class) * 8,
                n * LANES * 8, pools[i].class, j);
        }
    for (int i = 0; i < PREDICATES; i++, n++)
        add("selp.u32 %%t0, 1, 0, %%p%d;\nst.global.u32 [%%o+%d], %%t0;\n", i, n * LANES * 8);
}

static inline void write_program(int number)
{
    form_state = (uint64_t)number * 7919 + 12345 + SEED;
    length = 0;
    labels = loops = 0;
    add(".version 8.8\n.target sm_90\n.address_size 64\n");
    function(0);
    function(1);
    add(".visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u64 p_own, "
        ".param .u64 p_common)\n"
        "{\n");
    declare();
    add(".reg .pred %%pc<80>, %%pt;\n.reg .b32 %%c<80>, %%t<4>, %%sh, %%sh0, %%lo;\n"
        ".reg .b64 %%x<4>, %%in, %%o, %%gl, %%gsh, %%co;\n"
        ".shared .align 16 .b8 own_shared[%d];\n.shared .align 8 .b8 common[%d];\n"
        ".shared .align 8 .b64 mb;\n.local .align 16 .b8 lo[%d];\n",
        BLOCK * OWN_B, COMMON_B, LOCAL_B);
    add("mov.u32 %%t1, %%tid.x;\nmov.u32 %%t2, %%ctaid.x;\nmad.lo.u32 %%t2, %%t2, %d, %%t1;\n"
        "mov.u32 %%sh0, own_shared;\nmad.lo.u32 %%sh, %%t1, %d, %%sh0;\nmov.u32 %%lo, lo;\n"
        "cvt.u64.u32 %%x0, %%sh;\ncvta.shared.u64 %%gsh, %%x0;\nld.param.u64 %%gl, [p_own];\n"
        "mad.wide.u32 %%gl, %%t2, %d, %%gl;\nld.param.u64 %%co, [p_common];\n"
        "ld.param.u64 %%in, [p_in];\nmad.wide.u32 %%x0, %%t2, 8, %%in;\nld.param.u64 %%o, "
        "[p_out];\n"
        "mad.wide.u32 %%o, %%t2, 8, %%o;\n",
        BLOCK, OWN_B, OWN_B);
    loads();
    for (int i = 0; i < OWN_B / 16; i++)
        add("st.shared.v4.b32 [%%sh+%d], {%%w0, %%w1, %%w2, %%w%d};\n", i * 16, 3 + i);
    for (int i = 0; i < LOCAL_B / 16; i++)
        add("st.local.v4.b32 [lo+%d], {%%F0, %%w1, %%F2, %%w%d};\n", i * 16, i);
    add("setp.ne.u32 %%pt, %%t1, 0;\n@%%pt bra READY;\n");
    for (int i = 0; i < COMMON_B / 8; i++)
        add("st.shared.b64 [common+%d], 0x%x%08x;\n", i * 8, 0x12345678, 0x87654321);
    add("mbarrier.init.shared.b64 [mb], %d;\nREADY:\nbar.sync 0;\n", BLOCK);
    for (budget = 20 + draw(40); budget > 0;)
        statement(0, true);
    // Thread 0 adds the block's common memory to what is stored for the thread.
    add("bar.sync 0;\nsetp.ne.u32 %%pt, %%t1, 0;\n@%%pt bra DONE;\n");
    for (int i = 0; i < COMMON_B / 8; i++)
        add("ld.shared.b64 %%x1, [common+%d];\nst.global.b64 [%%o+%d], %%x1;\n", i * 8,
            (registers() + i) * LANES * 8);
    add("DONE:\nld.shared.v2.b64 {%%x1, %%x2}, [%%sh];\nst.global.b64 [%%o+%d], %%x1;\n"
        "st.global.b64 [%%o+%d], %%x2;\nld.local.v2.b64 {%%x1, %%x2}, [lo+%d];\n"
        "xor.b64 %%x1, %%x1, %%x2;\nst.global.b64 [%%o+%d], %%x1;\n",
        (registers() + 8) * LANES * 8, (registers() + 9) * LANES * 8, draw(LOCAL_B / 16) * 16,
        (registers() + 10) * LANES * 8);
    stores();
    add("ret;\n}\n");
}
