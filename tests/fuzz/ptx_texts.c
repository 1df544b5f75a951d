// SPDX-License-Identifier: MIT
// The first texts of the mutator of PTX, beside kernels of random statements: one of each part of
// PTX.
#include "ptx_mutate.h"

#define HEAD ".version 8.5\n.target sm_90\n.address_size 64\n"
#define ENTRY ".visible .entry k(.param .u64 p, .param .u64 t, .param .u64 u, .param .u32 n)"
#define BEGIN                                                                                      \
    ENTRY "\n{\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<8>;\n.reg .b64 %d<8>;\n"         \
          ".reg .f32 %f<8>;\nld.param.u64 %d0, [p];\nld.param.u64 %d6, [t];\n"                     \
          "ld.param.u64 %d7, [u];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\n"                 \
          "mad.wide.u32 %d1, %r1, 4, %d0;\n"

const char *const fuzz_ptx_texts[] = {
    // A loop, a barrier, shared memory.
    HEAD ".shared .align 4 .b32 s[64];\n" BEGIN
         "mov.u32 %r2, s;\nmad.lo.u32 %r2, %r1, 4, %r2;\nld.global.u32 %r3, [%d1];\n"
         "st.shared.u32 [%r2], %r3;\nbar.sync 0;\nmov.u32 %r4, 0;\n"
         "$L: ld.shared.u32 %r5, [%r2];\nadd.u32 %r4, %r4, %r5;\nadd.u32 %r0, %r0, -1;\n"
         "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra $L;\nst.global.u32 [%d1], %r4;\nret;\n}\n",
    // Functions, calls, prototypes, recursion, tables of branches.
    HEAD ".func (.param .b32 r) f(.param .b32 n);\n"
         ".func (.param .b32 r) f(.param .b32 n)\n{\n.reg .b32 %x<4>;\n.reg .pred %q;\n"
         "ld.param.b32 %x0, [n];\nsetp.le.s32 %q, %x0, 1;\n@%q bra D;\nadd.s32 %x1, %x0, -1;\n"
         "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %x1; call.uni (b), f, (a);\n"
         "ld.param.b32 %x2, [b]; }\nadd.s32 %x0, %x0, %x2;\nD: st.param.b32 [r], %x0;\nret;\n}\n"
         ".func (.reg .b32 o) h(.reg .b32 i) { add.u32 o, i, 1; ret; }\n"
         ".global .u64 table[] = {f, 0};\n" BEGIN
         "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; mov.u64 %d2, f;\n"
         "P: .callprototype (.param .b32 _) _ (.param .b32 _);\ncall (b), %d2, (a), P;\n"
         "ld.param.b32 %r2, [b]; }\ncall (%r3), h, (%r2);\nC: .calltargets f;\n"
         "and.b32 %r4, %r1, 1;\nT: .branchtargets A, B;\nbrx.idx %r4, T;\n"
         "A: add.u32 %r3, %r3, 5;\nB: st.global.u32 [%d1], %r3;\nret;\n}\n",
    // Variables of all kinds.
    HEAD ".visible .global .align 8 .u32 g[2][3] = {{1, 2, 3}, {4, 5, -6}};\n"
         ".const .align 16 .f32 c[4] = {1.5, 0f3F800000, -2.0, 1e-3};\n.weak .global .b8 w;\n"
         ".common .global .b32 m[4];\n.extern .shared .align 16 .b8 dyn[];\n"
         ".global .attribute(.managed) .u32 managed = 7;\n.global .u64 at[] = {g, g + 8, "
         "generic(g), 0xff(g) };\n.global .v4 .f32 v4 = {1.0, 2.0, 3.0, 4.0};\n"
         ".global .s16 e[] = {-1, 3 < 5 ? 10 : 20, ~0, (2 + 3) * 4 % 7, 1 << 4 | 2};\n" BEGIN
         ".local .align 8 .b8 l[64];\n.shared .align 8 .b64 s;\nmov.u64 %d2, g;\n"
         "ld.global.v2.u32 {%r2, %r3}, [%d2+8];\nld.const.f32 %f0, [c+4];\nmov.u64 %d3, l;\n"
         "st.local.f32 [l+4], %f0;\nmov.u32 %r4, dyn;\nst.shared.u32 [%r4], %r2;\n"
         "cvta.local.u64 %d4, %d3;\nld.u32 %r5, [%d4+4];\nld.global.u32 %r6, [managed];\n"
         "add.u32 %r5, %r5, %r6;\nst.global.u32 [%d1], %r5;\natom.shared.add.u64 %d5, [s], 1;\n"
         "ret;\n}\n",
    // Textures and surfaces, by object and by reference.
    HEAD
    ".global .texref tr = { addr_mode_0 = wrap, filter_mode = nearest };\n"
    ".global .surfref ur;\n" BEGIN "cvt.rn.f32.u32 %f0, %r1;\nmov.f32 %f1, 0f3F000000;\n"
    "tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d6, {%f0, %f1}];\n"
    "tex.2d.v4.u32.s32 {%r2, %r3, _, %r4}, [%d6, {%r1, %r0}];\n"
    "tld4.r.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d6, {%f0, %f1}];\ntxq.width.b32 %r5, [%d6];\n"
    "shl.b32 %r3, %r1, 2;\nsuld.b.2d.b32.clamp %r6, [%d7, {%r3, %r0}];\nsust.p.2d.b32.zero [%d7, "
    "{%r0, %r1}], "
    "%r6;\nsured.b.add.2d.u32.clamp [%d7, {%r3, %r1}], %r2;\nst.global.f32 [%d1], %f2;\n"
    "@%p0 tex.1d.v4.f32.s32 {%f2, %f3, %f4, %f5}, [tr, {%r1}];\nret;\n}\n",
    // Samplers apart from textures.
    ".version 8.5\n.target sm_90, texmode_independent\n.address_size 64\n"
    ".global .texref tr;\n.global .samplerref sr = { addr_mode_0 = wrap, filter_mode = "
    "linear };\n" BEGIN "tex.1d.v4.f32.s32 {%f2, %f3, %f4, %f5}, [tr, sr, {%r1}];\nret;\n}\n",
    // Lanes that diverge and wait for each other; asynchronous copies; printf.
    HEAD
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .b8 text[8] = {37, 100, 32, 37, 115, 10, 0};\n.shared .align 128 .b8 s[1024];\n" BEGIN
    ".local .align 8 .b8 arguments[16];\n.shared .align 8 .b64 bar;\n"
    "and.b32 %r2, %r1, 3;\nsetp.eq.u32 %p0, %r2, 0;\n@%p0 bra X;\n"
    "shfl.sync.bfly.b32 %r3|%p1, %r1, 1, 31, 0xeeeeeeee;\nvote.sync.ballot.b32 %r4, %p1, "
    "0xeeeeeeee;\nX: bar.warp.sync -1;\nmatch.any.sync.b32 %r5, %r2, -1;\nredux.sync.add.u32 "
    "%r6, %r1, -1;\nsetp.eq.u32 %p2, %r1, 0;\n@%p2 mbarrier.init.shared.b64 [bar], 1;\n"
    "bar.sync 0;\n@%p2 mbarrier.arrive.expect_tx.shared.b64 %d2, [bar], 64;\n@%p2 "
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 64, "
    "[bar];\nW: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra W;\n"
    "cp.async.ca.shared.global [s+64], [%d0], 16;\ncp.async.wait_all;\nmov.u64 %d3, text;\n"
    "cvta.global.u64 %d3, %d3;\nmov.u64 %d4, arguments;\ncvta.local.u64 %d4, %d4;\n"
    "st.u32 [%d4], %r6;\nst.u64 [%d4+8], %d3;\n{ .param .b64 a; .param .b64 b; .param .b32 "
    "c; st.param.b64 [a], %d3; st.param.b64 [b], %d4; call (c), vprintf, (a, b); }\n"
    "mbarrier.inval.shared.b64 [bar];\nret;\n}\n",
    // Directives of debuggers and of performance; two kernels; old spellings.
    ".version 6.0 // old\n.target sm_30, texmode_unified\n.address_size 64\n"
    "/* comment */ .file 1 \"/a/b.cu\", 123, 456\n.section .debug_info { .b8 1, 2 .b32 5 }\n" ENTRY
    " .maxntid 64, 1, 1 .minnctapersm 1\n{ .loc 1 2 3\n.pragma \"nounroll\";\n.reg .u32 a, b<3>;\n"
    ".reg .v2 .f32 v;\nmov.u32 a, %ntid.x; { .reg .u32 a; mov.u32 a, WARP_SZ; }\n"
    "mov.u32 b0, %clock; vote.any.pred _, 1; exit; }\n"
    ".entry second ( ) .reqntid 32 { trap; }\n",
    // Parts that are linked.
    HEAD
    ".extern .global .u32 shared_word;\n.extern .func (.param .b32 r) twice(.param .b32 n);\n" BEGIN
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), twice, (a);\n"
    "ld.param.b32 %r2, [b]; }\nst.global.u32 [%d1], %r2;\nret;\n}\n//====\n" HEAD
    ".visible .global .u32 shared_word = 5;\n"
    ".visible .func (.param .b32 r) twice(.param .b32 n)\n{\n.reg .b32 %x<2>;\n"
    "ld.param.b32 %x0, [n];\nadd.u32 %x0, %x0, %x0;\nst.param.b32 [r], %x0;\nret;\n}\n",
};
const unsigned fuzz_ptx_text_count = sizeof fuzz_ptx_texts / sizeof *fuzz_ptx_texts;
