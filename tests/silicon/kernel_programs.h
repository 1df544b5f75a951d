// SPDX-License-Identifier: MIT
// Writes random kernels whose lanes are in parts of a warp that the generator knows: instructions
// of warps with partial masks, atomics of all types and scopes, memory with all qualifiers,
// indirect branches and calls, matrices that are loaded and stored. Draws must not change.
#pragma once
#include "kernel_memory.h"

enum { CONSTANTS = 64, ROWS_B = 1024 };

// The lanes that run a piece of code: those with (lane & bits) == value.
struct part {
    unsigned bits, value;
};

static unsigned part_mask(struct part p)
{
    unsigned mask = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        mask |= (unsigned)((lane & p.bits) == p.value) << lane;
    return mask;
}

static void statements(int depth, int count, struct part p);

// ---- exchange between lanes of a warp ----

// A mask as a constant or in a register.
static const char *mask_text(unsigned mask)
{
    static char constant[16];
    if (draw(2)) {
        sprintf(constant, "0x%x", mask);
        return constant;
    }
    add("mov.u32 %%t3, 0x%x;\n", mask);
    return "%t3";
}

// Lanes read only lanes of the same part.
static void shuffle(struct part p)
{
    const char *mask = mask_text(part_mask(p));
    char result[60];
    strcpy(result, pick('w'));
    if (draw(2))
        sprintf(result + strlen(result), "|%s", pick('p'));
    switch (draw(4)) {
    case 0:
        add("and.b32 %%t0, %s, %u;\nor.b32 %%t0, %%t0, %u;\n", pick('w'), 31 & ~p.bits, p.value);
        add("shfl.sync.idx.b32 %s, %s, %%t0, 31, %s;\n", result, pick('w'), mask);
        break;
    case 1:
        add("and.b32 %%t0, %s, %u;\n", pick('w'), 31 & ~p.bits);
        add("shfl.sync.bfly.b32 %s, %s, %%t0, %u, %s;\n", result, pick(draw(2) ? 'w' : 'F'),
            p.bits << 8 | 31, mask);
        break;
    case 2: { // in segments of a part of upper bits
        const unsigned bits = 31u << draw(6) & 31;
        if (p.bits & ~bits)
            return;
        if (draw(3))
            add("shfl.sync.down.b32 %s, %s, %d, %u, %s;\n", result, pick('w'), draw(40),
                (bits | p.bits) << 8 | 31, mask);
        else
            add("shfl.sync.up.b32 %s, %s, %d, %u, %s;\n", result, pick('w'), draw(40),
                (bits | p.bits) << 8, mask);
        break;
    }
    default:
        if (p.bits)
            return;
        add("shfl.sync.%s.b32 %s, %s, %s, %s, 0xffffffff;\n", ONE_OF("up", "down", "bfly", "idx"),
            result, pick('w'), pick('w'), pick('w'));
    }
}

// With a mask, or with the register in which lanes have it.
static void vote(const char *mask)
{
    switch (draw(8)) {
    case 0:
        add("vote.sync.%s.pred %s, %s%s, %s;\n", ONE_OF("all", "any", "uni"), pick('p'),
            draw(2) ? "!" : "", pick('p'), mask);
        break;
    case 1:
        add("vote.sync.ballot.b32 %s, %s%s, %s;\n", pick('w'), draw(2) ? "!" : "", pick('p'), mask);
        break;
    case 2:
        add("and.b32 %%t0, %s, %d;\nmatch.any.sync.b32 %s, %%t0, %s;\n", pick('w'), draw(8),
            pick('w'), mask);
        break;
    case 3:
        add("and.b64 %%x0, %s, %d;\nmatch.%s, %%x0, %s;\n", pick('l'), draw(4),
            draw(2) ? "any.sync.b64 %w0" : "all.sync.b64 %w1|%p1", mask);
        break;
    case 4:
        add("redux.sync.%s %s, %s, %s;\n",
            ONE_OF("add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32",
                   "or.b32", "xor.b32"),
            pick('w'), pick('w'), mask);
        break;
    case 5:
        add("elect.sync %s|%s, %s;\n", pick('w'), pick('p'), mask);
        break;
    case 6:
        add("bar.warp.sync %s;\n", mask);
        break;
    default: // the value of the first lane of the mask
        add("brev.b32 %%t0, %s;\nbfind.shiftamt.u32 %%t0, %%t0;\n"
            "shfl.sync.idx.b32 %s, %s, %%t0, 31, %s;\n",
            mask, pick('w'), pick('w'), mask);
    }
}

static void rows(void)
{
    const int log_count = draw(3);
    static const char *const lists[] = {"{%w0}", "{%w0, %w2}", "{%w1, %w3, %w5, %w7}"};
    const char *transposed = draw(2) ? ".trans" : "";
    if (draw(2)) {
        add("and.b32 %%t0, %s, 0x3f0;\nmov.u32 %%t3, rows;\nadd.u32 %%t0, %%t0, %%t3;\n"
            "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%t0];\n",
            pick('w'), 1 << log_count, transposed, lists[log_count]);
        return;
    }
    add("shl.b32 %%t0, %%t1, 4;\nmov.u32 %%t3, stored;\nadd.u32 %%t0, %%t0, %%t3;\n"
        "bar.warp.sync 0xffffffff;\nstmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%t0], %s;\n"
        "bar.warp.sync 0xffffffff;\nld.shared.v2.b32 {%%w4, %%w6}, [%%t0+%d];\n"
        "bar.warp.sync 0xffffffff;\n",
        1 << log_count, transposed, lists[log_count], draw(2) * 8);
}

static void in_warp(struct part p)
{
    switch (draw(5)) {
    case 0:
    case 1:
        shuffle(p);
        break;
    case 2:
        if (!p.bits)
            rows();
        break;
    default:
        vote(mask_text(part_mask(p)));
    }
}

// ---- control flow ----

static void divide(int depth, struct part p)
{
    const unsigned bit = 1u << draw(5);
    const int label = labels;
    if (p.bits & bit)
        return;
    labels += 2;
    add("and.b32 %%t0, %%lane, %u;\nsetp.eq.u32 %%pt, %%t0, 0;\n@%%pt bra L%d;\n", bit, label);
    statements(depth + 1, 1 + draw(4), (struct part){p.bits | bit, p.value | bit});
    if (draw(2))
        add("bra.uni L%d;\nL%d:\n", label + 1, label);
    else
        add("bra L%d;\nL%d:\n", label + 1, label);
    statements(depth + 1, 1 + draw(4), (struct part){p.bits | bit, p.value});
    add("L%d:\n", label + 1);
}

// Lanes with a predicate, whose mask is in a register.
static void some(struct part p)
{
    const int label = labels++;
    const char *predicate = pick('p');
    add("vote.sync.ballot.b32 %%m%d, %s, 0x%x;\n@!%s bra L%d;\n", loops % 8, predicate,
        part_mask(p), predicate, label);
    for (int i = 1 + draw(4); i; i--) {
        char mask[8];
        sprintf(mask, "%%m%d", loops % 8);
        if (draw(2))
            vote(mask);
        else
            instruction(false);
    }
    loops++;
    add("L%d:\n", label);
}

static void repeat(int depth, struct part p)
{
    const int label = labels++, counter = loops++;
    add("mov.u32 %%c%d, %d;\nL%d:\n", counter, 1 + draw(3), label);
    statements(depth + 1, 1 + draw(4), p);
    add("sub.u32 %%c%d, %%c%d, 1;\nsetp.ne.u32 %%pc%d, %%c%d, 0;\n@%%pc%d bra L%d;\n", counter,
        counter, counter, counter, counter, label);
}

static void choose(void)
{
    const int label = labels, count = 2 + draw(4);
    labels += count + 2;
    add("rem.u32 %%t0, %s, %d;\nT%d: .branchtargets ", pick('w'), count, label);
    for (int i = 0; i < count; i++)
        add("%sL%d", i ? ", " : "", label + (draw(5) ? i : 0));
    add(";\nbrx.idx %%t0, T%d;\n", label);
    for (int i = 0; i < count; i++) {
        add("L%d:\n", label + i);
        for (int k = draw(3); k >= 0; k--)
            instruction(false);
        if (i + 1 < count && draw(4)) // others go on in the next one
            add("bra L%d;\n", label + count);
    }
    add("L%d:\n", label + count);
}

static void call(void)
{
    const int label = labels++;
    switch (draw(3)) {
    case 0: // functions that lanes choose
        add("{\n.param .b32 a0;\n.param .b64 a1;\n.param .b64 r0;\nst.param.b32 [a0], %s;\n"
            "st.param.b64 [a1], %s;\nmov.u64 %%x0, f0;\nmov.u64 %%x1, f1;\n"
            "selp.b64 %%x0, %%x0, %%x1, %s;\nP%d: .callprototype (.param .b64 _) _ (.param .b32 _, "
            ".param .b64 _);\ncall (r0), %%x0, (a0, a1), P%d;\nld.param.b64 %s, [r0];\n}\n",
            pick('w'), pick('l'), pick('p'), label, label, pick('l'));
        break;
    case 1: // functions of a table
        add("{\n.param .b32 a0;\n.param .b64 a1;\n.param .b64 r0;\nst.param.b32 [a0], %s;\n"
            "st.param.b64 [a1], %s;\nand.b32 %%t0, %s, 1;\nmul.wide.u32 %%x0, %%t0, 8;\n"
            "mov.u64 %%x1, functions;\nadd.u64 %%x0, %%x0, %%x1;\nld.global.u64 %%x0, [%%x0];\n"
            "P%d: .callprototype (.param .b64 _) _ (.param .b32 _, .param .b64 _);\n"
            "call (r0), %%x0, (a0, a1), P%d;\nld.param.b64 %s, [r0];\n}\n",
            pick('w'), pick('l'), pick('w'), label, label, pick('l'));
        break;
    default: // a function that calls itself
        add("{\n.param .b32 a0;\n.param .b32 r0;\nand.b32 %%t0, %s, 7;\nst.param.b32 [a0], %%t0;\n"
            "call (r0), deeper, (a0);\nld.param.b32 %s, [r0];\n}\n",
            pick('w'), pick('w'));
    }
}

static void together(void)
{
    switch (draw(5)) {
    case 0: // the first warp writes, the second one reads
        add("setp.ge.u32 %%pt, %%t1, 32;\nshl.b32 %%t0, %%lane, 2;\nmov.u32 %%t3, passed;\n"
            "add.u32 %%t0, %%t0, %%t3;\n@%%pt bra L%d;\nst.shared.b32 [%%t0], %s;\n"
            "bar.arrive 2, %d;\nbra L%d;\nL%d:\nbar.sync 2, %d;\nld.shared.b32 %s, [%%t0];\n"
            "L%d:\nbar.sync 0;\n",
            labels, pick('w'), BLOCK, labels + 1, labels, BLOCK, pick('w'), labels + 1);
        labels += 2;
        break;
    case 1:
        add("barrier.cta.red.popc.u32 %s, 1, %d, %s%s;\n", pick('w'), BLOCK, draw(2) ? "!" : "",
            pick('p'));
        break;
    case 2:
        add("barrier.cta.red.%s.pred %s, 3, %s;\n", ONE_OF("and", "or"), pick('p'), pick('p'));
        break;
    case 3: // a barrier for each warp
        add("shr.u32 %%t0, %%t1, 5;\nadd.u32 %%t0, %%t0, 4;\nbarrier.cta.sync %%t0, 32;\n");
        break;
    default:
        add("bar.sync 0;\nst.shared.b64 [%%sh], %s;\nbar.sync 0;\nxor.b32 %%t0, %%t1, %d;\n"
            "mad.lo.u32 %%t0, %%t0, %d, %%sh0;\nld.shared.b64 %s, [%%t0];\nbar.sync 0;\n",
            pick('l'), draw(BLOCK), OWN_B, pick('l'));
    }
}

static void statement(int depth, struct part p)
{
    budget--;
    switch (draw(24)) {
    case 0:
    case 1:
    case 2:
        if (depth < DEEPEST + 1)
            divide(depth, p);
        break;
    case 3:
        if (depth < DEEPEST)
            repeat(depth, p);
        break;
    case 4:
        some(p);
        break;
    case 5:
        choose();
        break;
    case 6:
        call();
        break;
    case 7:
    case 8:
        own_atomic();
        break;
    case 9:
        wide_atomic();
        break;
    case 10:
        common_atomic();
        break;
    case 11:
    case 12:
    case 13:
        qualified();
        break;
    case 14:
        read_only();
        break;
    case 15:
        fence();
        break;
    case 16:
        if (!depth)
            together();
        break;
    case 17:
    case 18:
    case 19:
    case 20:
        in_warp(p);
        break;
    default:
        instruction(!p.bits);
    }
}

static void statements(int depth, int count, struct part p)
{
    for (int i = 0; i < count && budget > 0; i++)
        statement(depth, p);
}

// ---- kernels ----

static void functions(void)
{
    for (int n = 0; n < 2; n++) {
        add(".func (.param .b64 r) f%d (.param .b32 a, .param .b64 b)\n{\n.reg .b32 %%x<3>;\n"
            ".reg .b64 %%y<3>;\nld.param.b32 %%x0, [a];\nld.param.b64 %%y0, [b];\n",
            n);
        add(n ? "mul.wide.u32 %%y1, %%x0, %u;\nxor.b64 %%y1, %%y1, %%y0;\n"
              : "popc.b32 %%x1, %%x0;\nadd.u32 %%x1, %%x1, %u;\ncvt.u64.u32 %%y1, %%x1;\n"
                "mad.lo.u64 %%y1, %%y1, %%y0, %%y0;\n",
            form_draw() & 0xffff);
        add("st.param.b64 [r], %%y1;\nret;\n}\n");
    }
    add(".func (.param .b32 r) deeper (.param .b32 a);\n"
        ".func (.param .b32 r) deeper (.param .b32 a)\n{\n.reg .b32 %%x<4>;\n.reg .pred %%p;\n"
        "ld.param.b32 %%x0, [a];\nmov.u32 %%x1, 1;\nsetp.eq.u32 %%p, %%x0, 0;\n@%%p bra END;\n"
        "sub.u32 %%x2, %%x0, 1;\n{\n.param .b32 a0;\n.param .b32 r0;\nst.param.b32 [a0], %%x2;\n"
        "call (r0), deeper, (a0);\nld.param.b32 %%x3, [r0];\n}\nmad.lo.u32 %%x1, %%x3, %d, %%x0;\n"
        "END:\nst.param.b32 [r], %%x1;\nret;\n}\n",
        draw(100));
    add(".global .align 8 .u64 functions[2] = {f0, f1};\n.const .align 16 .b32 table[%d] = {",
        CONSTANTS + 4);
    for (int i = 0; i < CONSTANTS + 4; i++)
        add("%s%u", i ? ", " : "", form_draw());
    add("};\n");
}

static int registers(void)
{
    int all = PREDICATES;
    for (int i = 0; i < POOLS; i++)
        all += pools[i].count;
    return all;
}

static inline void write_kernel(int number)
{
    form_state = (uint64_t)number * 6007 + 777 + SEED;
    length = 0;
    labels = loops = 0;
    add(".version 8.8\n.target sm_90\n.address_size 64\n");
    functions();
    add(".visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u64 p_own, "
        ".param .u64 p_common)\n{\n");
    declare();
    add(".reg .pred %%pc<120>, %%pt;\n.reg .b32 %%c<120>, %%m<8>, %%t<4>, %%sh, %%sh0, %%lane;\n"
        ".reg .b64 %%x<4>, %%in, %%o, %%gl, %%gsh, %%gcs, %%co;\n.reg .b128 %%y<3>;\n"
        ".shared .align 16 .b8 own_shared[%d];\n.shared .align 8 .b8 common[%d];\n"
        ".shared .align 16 .b8 rows[%d];\n.shared .align 16 .b8 stored[%d];\n"
        ".shared .align 4 .b8 passed[128];\n",
        BLOCK * OWN_B, SLOTS * 8, ROWS_B, BLOCK * 16);
    add("mov.u32 %%t1, %%tid.x;\nmov.u32 %%t2, %%ctaid.x;\nmov.u32 %%lane, %%laneid;\n"
        "mad.lo.u32 %%t2, %%t2, %d, %%t1;\n"
        "mov.u32 %%sh0, own_shared;\nmad.lo.u32 %%sh, %%t1, %d, %%sh0;\n"
        "cvt.u64.u32 %%x0, %%sh;\ncvta.shared.u64 %%gsh, %%x0;\nmov.u64 %%x0, common;\n"
        "cvta.shared.u64 %%gcs, %%x0;\nld.param.u64 %%gl, [p_own];\n"
        "mad.wide.u32 %%gl, %%t2, %d, %%gl;\nld.param.u64 %%co, [p_common];\n"
        "ld.param.u64 %%in, [p_in];\nmad.wide.u32 %%x0, %%t2, 8, %%in;\n"
        "ld.param.u64 %%o, [p_out];\nmad.wide.u32 %%o, %%t2, 8, %%o;\n",
        BLOCK, OWN_B, OWN_B);
    int n = 0;
    for (int i = 0; i < POOLS; i++)
        for (int j = 0; j < pools[i].count; j++, n++)
            add("ld.global.b%d %%%c%d, [%%x0+%d];\n", (int)form_size(pools[i].class) * 8,
                pools[i].class, j, n * LANES * 8);
    for (int i = 0; i < PREDICATES; i++)
        add("setp.lt.s32 %%p%d, %%w%d, %%w%d;\n", i, i, i + 1);
    for (int i = 0; i < OWN_B / 16; i++)
        add("st.shared.v4.b32 [%%sh+%d], {%%w0, %%w1, %%w2, %%w%d};\n", i * 16, 3 + i);
    add("mul.lo.u32 %%t0, %%t1, 8;\nmov.u32 %%t3, rows;\nadd.u32 %%t3, %%t3, %%t0;\n"
        "mul.lo.u32 %%t0, %%t1, 0x10001;\nst.shared.v2.b32 [%%t3], {%%t0, %%w%d};\n"
        "mul.lo.u32 %%t0, %%t1, 16;\nmov.u32 %%t3, stored;\nadd.u32 %%t3, %%t3, %%t0;\n"
        "st.shared.v4.b32 [%%t3], {%%t0, %%t0, %%t0, %%t0};\n"
        "setp.ne.u32 %%pt, %%t1, 0;\n@%%pt bra READY;\n",
        draw(4));
    for (int i = 0; i < SLOTS; i++)
        add("st.shared.b64 [common+%d], 0x%x%08x;\n", i * 8, 0x12345678, 0x87654321);
    for (int i = 0; i < 32; i++)
        add("st.shared.b32 [passed+%d], %d;\n", i * 4, i);
    add("READY:\nbar.sync 0;\n");
    for (int i = 0; i < 8; i++)
        add("mov.u32 %%m%d, 0;\n", i);
    for (budget = 25 + draw(45); budget > 0;)
        statement(0, (struct part){0, 0});
    // Thread 0 adds the block's common memory to what is stored for the thread.
    add("bar.sync 0;\nsetp.ne.u32 %%pt, %%t1, 0;\n@%%pt bra DONE;\n");
    for (int i = 0; i < SLOTS; i++)
        add("ld.shared.b64 %%x1, [common+%d];\nst.global.b64 [%%o+%d], %%x1;\n", i * 8,
            (registers() + i) * LANES * 8);
    add("DONE:\nld.shared.v2.b64 {%%x1, %%x2}, [%%sh];\nst.global.b64 [%%o+%d], %%x1;\n"
        "st.global.b64 [%%o+%d], %%x2;\n",
        (registers() + SLOTS) * LANES * 8, (registers() + SLOTS + 1) * LANES * 8);
    n = 0;
    for (int i = 0; i < POOLS; i++)
        for (int j = 0; j < pools[i].count; j++, n++)
            add("st.global.b%d [%%o+%d], %%%c%d;\n", (int)form_size(pools[i].class) * 8,
                n * LANES * 8, pools[i].class, j);
    for (int i = 0; i < PREDICATES; i++, n++)
        add("selp.u32 %%t0, 1, 0, %%p%d;\nst.global.u32 [%%o+%d], %%t0;\n", i, n * LANES * 8);
    add("ret;\n}\n");
}
