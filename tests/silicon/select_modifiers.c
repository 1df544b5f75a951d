// SPDX-License-Identifier: MIT
// Negatives and absolute values that a select reads. NVIDIA's compiler may let the select change
// the sign, which shows in NaNs and subnormal numbers. A line has a hash of the results of 256
// threads, and some of them.
#include "draw.h"
#include "record.h"

enum { THREADS = 256, INPUTS = 3, OUTPUTS = 2, SHOWN = 12 };

// %n is the changed value of %a; %b is another input, %i an integer and %q a predicate.
static const char *const changes[] = {
    "neg.f32 %n,%a;",
    "abs.f32 %n,%a;",
    "neg.ftz.f32 %n,%a;",
    "abs.ftz.f32 %n,%a;",
    "abs.f32 %n,%a; neg.f32 %n,%n;",
    "neg.f32 %n,%a; abs.f32 %n,%n;",
    "neg.f32 %n,%a; neg.f32 %n,%n;",
    "abs.ftz.f32 %n,%a; neg.f32 %n,%n;",
    "abs.f32 %n,%a; neg.ftz.f32 %n,%n;",
    "mov.f32 %c,%a; neg.f32 %n,%c;",
    "neg.f32 %c,%a; mov.f32 %n,%c;",
    "neg.f32 %n,%a; mov.f32 %a,%b;",
    "abs.f32 %n,%a; add.f32 %a,%b,%b;",
    "sub.f32 %n,0f00000000,%a;",
    "mul.f32 %n,%a,0fBF800000;",
};
// Readers of it, which write %d. %e is stored too.
static const char *const readers[] = {
    "mov.f32 %d,%n;",
    "selp.f32 %d,%n,%b,%q;",
    "selp.f32 %d,%b,%n,%q;",
    "selp.f32 %d,%n,%n,%q;",
    "selp.f32 %d,%n,%a,%q;",
    "selp.f32 %d,%n,%b,%q; mov.f32 %e,%n;",
    "selp.f32 %d,%n,%b,%q; add.f32 %e,%n,%b;",
    "selp.f32 %d,%n,%b,%q; selp.f32 %e,%a,%n,%q;",
    "selp.b32 %d,%n,%b,%q;",
    "selp.f32 %d,%n,0f3F800000,%q;",
    "slct.f32.s32 %d,%n,%b,%i;",
    "slct.f32.s32 %d,%b,%n,%i;",
    "slct.f32.f32 %d,%n,%b,%b;",
    "slct.f32.f32 %d,%b,%n,%b;",
    "slct.f32.f32 %d,%a,%b,%n;",
    "slct.ftz.f32.f32 %d,%n,%b,%b;",
    "slct.f32.s32 %d,%n,%b,%i; mov.f32 %e,%n;",
    "mov.f32 %d,%b; @%q mov.f32 %d,%n;",
    "mov.f32 %d,%n; @%q mov.f32 %d,%b;",
    "mov.f32 %d,%b; @%q neg.f32 %d,%n;",
    "mov.f32 %d,%b; @%q abs.f32 %d,%n;",
    "mov.f32 %d,%b; @%q abs.ftz.f32 %d,%n;",
    "bra L; L: selp.f32 %d,%n,%b,%q;",
    "@%q bra L; mov.f32 %b,%a; L: selp.f32 %d,%n,%b,%q;",
    "@%q bra L; mov.f32 %e,%a; L: slct.f32.s32 %d,%n,%b,%i;",
    "selp.f32 %d,%n,%b,%q; neg.f32 %d,%d;",
    "selp.f32 %d,%n,%b,%q; selp.f32 %d,%d,%a,%q;",
    "copysign.f32 %d,%n,%b;",
    "copysign.f32 %d,%b,%n;",
    "min.f32 %d,%n,%n;",
    "mov.b32 %d,%n; xor.b32 %d,%d,1;",
};

// Loops: 1 to 4 times, which differs between threads, and twice.
#define LOOP(start, body, after)                                                                   \
    "{.reg .pred %r,%s; " start " K: " body                                                        \
    " sub.u32 %t,%t,1; setp.ne.u32 %r,%t,0; @%r bra K;" after "}"
#define VARIED(body, after) LOOP("and.b32 %t,%i,3; add.u32 %t,%t,1;", body, after)
#define FIXED(body, after) LOOP("mov.u32 %t,2;", body, after)
// With another predicate, %s.
#define WITH_S(text) "{.reg .pred %r,%s; setp.lt.u32 %s,%a,%b; " text "}"
// Where a select reads it: loops, branches, guards; and which other changes count as one.
static const char *const places[] = {
    VARIED("selp.f32 %d,%n,%b,%q;", ""),
    VARIED("setp.gt.u32 %q,%t,1; selp.f32 %d,%n,%b,%q;", ""),
    VARIED("neg.f32 %n,%a; selp.f32 %d,%n,%b,%q;", ""),
    VARIED("neg.f32 %n,%a;", " selp.f32 %d,%n,%b,%q;"),
    VARIED("add.f32 %e,%e,%b;", " selp.f32 %d,%n,%b,%q;"),
    VARIED("neg.f32 %n,%n;", " selp.f32 %d,%n,%b,%q;"),
    VARIED("selp.f32 %e,%n,%b,%q;", " selp.f32 %d,%n,%b,%q;"),
    FIXED("selp.f32 %d,%n,%b,%q;", ""),
    FIXED("neg.f32 %n,%a;", " selp.f32 %d,%n,%b,%q;"),
    FIXED("neg.f32 %n,%n;", " selp.f32 %d,%n,%b,%q;"),
    FIXED("add.f32 %e,%e,%b;", " selp.f32 %d,%n,%b,%q;"),
    VARIED("@%q mov.f32 %e,%n;", " mov.f32 %d,%n;"),
    VARIED("neg.f32 %n,%a; selp.f32 %d,%n,%b,%q; add.f32 %a,%a,%b;", ""),
    VARIED("neg.f32 %n,%b; add.f32 %b,%b,%a;", " selp.f32 %d,%n,%a,%q;"),
    VARIED("selp.f32 %d,%n,%b,%q;", " mov.f32 %e,%n;"),
    VARIED("bar.warp.sync -1;", " selp.f32 %d,%n,%b,%q;"),
    "@%q bra L; add.f32 %b,%b,%b; L: selp.f32 %d,%n,%b,%q; mov.f32 %e,%n;",
    WITH_S("@%q bra L; selp.f32 %n,%n,%b,%s; L: mov.f32 %d,%n;"),
    VARIED("add.f32 %e,%e,%b;",
           " setp.lt.u32 %s,%a,%b; @%q bra L; selp.f32 %n,%n,%b,%s; L: mov.f32 %d,%n;"),
    WITH_S("@%q bra L; selp.f32 %d,%n,%b,%s; bra M; L: mov.f32 %d,%n; M: mov.f32 %e,%n;"),
    VARIED("mul.f32 %b,%b,%b;",
           " setp.lt.u32 %s,%a,%b; @%q bra L; selp.f32 %d,%n,%b,%s; bra M; L: mov.f32 %d,%n; M:"),
    "mov.f32 %d,%b; @%q bra L; mov.f32 %d,%n; L: mov.f32 %e,%b;",
    "mov.f32 %d,%b; @%q bra L; neg.f32 %d,%a; L: mov.f32 %e,%b;",
    "@%q bra L; neg.f32 %d,%a; bra M; L: abs.f32 %d,%b; M: mov.f32 %e,%b;",
    WITH_S("mov.f32 %d,%n; @%q add.f32 %d,%b,%b;"),
    WITH_S("mov.f32 %d,%n; @%q mul.f32 %d,%b,%b;"),
    WITH_S("mov.f32 %d,%n; @%q fma.rn.f32 %d,%b,%a,%b;"),
    WITH_S("mov.f32 %d,%n; @%q mov.b32 %d,%b;"),
    WITH_S("mov.f32 %d,%n; @%q mov.u32 %d,%i;"),
    WITH_S("mov.f32 %d,%n; @%q selp.f32 %d,%b,%a,%s;"),
    WITH_S("mov.f32 %d,%n; @%q selp.b32 %d,%b,%a,%s;"),
    WITH_S("mov.f32 %d,%n; @%q slct.f32.s32 %d,%b,%a,%i;"),
    WITH_S("mov.f32 %d,%n; @%q abs.ftz.f32 %d,%b;"),
    WITH_S("mov.f32 %d,%n; @%q neg.ftz.f32 %d,%d;"),
    WITH_S("mov.f32 %d,%n; @%q cvt.rn.f32.s32 %d,%i;"),
    WITH_S("mov.f32 %d,%n; @%q min.f32 %d,%b,%a;"),
    WITH_S("mov.f32 %d,%n; @%q set.gt.f32.f32 %d,%b,%a;"),
    WITH_S("mov.f32 %d,%n; @%q ex2.approx.ftz.f32 %d,%b;"),
    WITH_S("mov.f32 %d,%n; @%q copysign.f32 %d,%b,%a;"),
    WITH_S("mov.f32 %d,%n; @%q xor.b32 %d,%b,%a;"),
    WITH_S("mov.f32 %d,%n; @%q add.u32 %d,%b,%i;"),
    WITH_S("mov.f32 %d,%n; @%q add.ftz.f32 %d,%b,%b;"),
    WITH_S("mov.f32 %d,%n; @%q cvt.rni.f32.f32 %d,%b;"),
    WITH_S("mov.f32 %d,%n; @%q add.f32 %d,%d,%b;"),
    WITH_S("mov.f32 %d,%n; @%q mul.f32 %d,%b,0fBF800000;"),
    WITH_S("mov.f32 %d,%b; @%q mov.b32 %d,%n;"),
    WITH_S("mov.f32 %d,%b; @%q selp.f32 %d,%n,%n,%s;"),
    WITH_S("mov.f32 %d,%b; @%q selp.f32 %d,%n,%a,%s;"),
    WITH_S("mov.f32 %d,%b; @%q neg.ftz.f32 %d,%n;"),
    WITH_S("mov.f32 %d,%b; @%q slct.f32.f32 %d,%n,%n,%b;"),
    WITH_S("mov.f32 %d,%b; @%q mul.f32 %d,%n,0fBF800000;"),
    "mul.f32 %n,%a,0fBF800000; neg.f32 %n,%n; selp.f32 %d,%n,%b,%q;",
    "mul.f32 %n,%a,0fBF800000; neg.f32 %n,%n; mov.f32 %d,%n;",
    "mul.f32 %n,%n,0fBF800000; selp.f32 %d,%n,%b,%q;",
    "mul.f32 %n,%n,0fBF800000; mov.f32 %d,%n;",
    "mul.f32 %n,%a,0fBF800000; mul.f32 %n,%n,0fBF800000; selp.f32 %d,%n,%b,%q;",
    "mul.f32 %n,%a,0fBF800000; mul.f32 %n,%n,0fBF800000; mov.f32 %d,%n;",
    "neg.f32 %n,%n; neg.f32 %n,%n; selp.f32 %d,%n,%b,%q;",
    "neg.f32 %n,%n; neg.f32 %n,%n; mov.f32 %d,%n;",
    "abs.f32 %n,%n; selp.f32 %d,%n,%b,%q;",
    "abs.f32 %n,%n; mov.f32 %d,%n;",
    "neg.f32 %n,%n; selp.f32 %d,%n,%b,%q;",
    "neg.f32 %n,%n; mov.f32 %d,%n;",
    "neg.ftz.f32 %n,%n; selp.f32 %d,%n,%b,%q;",
    "neg.ftz.f32 %n,%n; mov.f32 %d,%n;",
    "neg.ftz.f32 %n,%a; neg.f32 %n,%n; selp.f32 %d,%n,%b,%q;",
    "neg.ftz.f32 %n,%a; neg.f32 %n,%n; mov.f32 %d,%n;",
    "neg.f32 %c,%n; mov.f32 %a,%b; neg.f32 %n,%c; selp.f32 %d,%n,%b,%q;",
    "neg.f32 %c,%n; mov.f32 %a,%b; neg.f32 %n,%c; mov.f32 %d,%n;",
    "mul.rn.f32 %n,%a,0fBF800000; selp.f32 %d,%n,%b,%q;",
    "mul.f32 %n,0fBF800000,%a; selp.f32 %d,%n,%b,%q;",
    "mov.f32 %c,0fBF800000; mul.f32 %n,%a,%c; selp.f32 %d,%n,%b,%q;",
    "mul.ftz.f32 %n,%a,0fBF800000; selp.f32 %d,%n,%b,%q;",
    "fma.rn.f32 %n,%a,0fBF800000,0f80000000; selp.f32 %d,%n,%b,%q;",
    "sub.f32 %n,0f80000000,%a; selp.f32 %d,%n,%b,%q;",
    "mul.rz.f32 %n,%a,0fBF800000; selp.f32 %d,%n,%b,%q;",
    "div.rn.f32 %n,%a,0fBF800000; selp.f32 %d,%n,%b,%q;",
    "mul.sat.f32 %n,%a,0fBF800000; selp.f32 %d,%n,%b,%q;",
    "mov.b32 %c,%n; mov.b32 %n,%c; selp.f32 %d,%n,%b,%q;",
};

static CUdeviceptr memory;
static uint32_t in[INPUTS * THREADS], out[OUTPUTS * THREADS];

static void draw_inputs(void)
{
    static const uint32_t special[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0xffc00000, 0x7fffffff, 0xffffffff, 0x7f800001, 0xff812345,
                                       1,          0x80000001, 0x007fffff, 0x807fffff, 0x3f800000};
    draw_seed(360000);
    for (int i = 0; i < INPUTS * THREADS; i++)
        in[i] = chance(70) ? PICK(special) : (uint32_t)draw();
}

static void say_results(const char *text)
{
    CUmodule module;
    CUfunction function;
    void *arguments[] = {&memory};
    CUresult r = cuModuleLoadData(&module, text);
    if (r) {
        SAY("%s", record_name(r));
        return;
    }
    NEED(cuModuleGetFunction(&function, module, "k"));
    NEED(cuMemcpyHtoD(memory, in, sizeof in));
    NEED(cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, arguments, NULL));
    NEED(cuMemcpyDtoH(out, memory, sizeof out));
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < OUTPUTS * THREADS; i++)
        sum = (sum ^ out[i]) * UINT64_C(0x100000001b3);
    SAY("%016llx", (unsigned long long)sum);
    for (int i = 0; i < SHOWN; i++)
        SAY(" %x", out[i]);
    cuModuleUnload(module);
}

static void say_case(const char *change, const char *reader)
{
    char text[4096];
    if (!CASE("%s %s", change, reader))
        return;
    snprintf(text, sizeof text,
             ".version 8.8\n.target sm_90\n.address_size 64\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%p;\n"
             ".reg .b32 %%t, %%a, %%b, %%c, %%d, %%e, %%n, %%i;\n.reg .pred %%q;\n"
             "ld.param.u64 %%p, [p];\nmov.u32 %%t, %%tid.x;\n"
             "mad.wide.u32 %%p, %%t, 4, %%p;\nld.global.b32 %%a, [%%p];\n"
             "ld.global.b32 %%b, [%%p+%u];\nld.global.b32 %%i, [%%p+%u];\n"
             "setp.gt.u32 %%q, %%i, 0x7fffffff;\nmov.b32 %%e, 0;\nbar.sync 0;\n%s\n%s\n"
             "st.global.b32 [%%p], %%d;\nst.global.b32 [%%p+%u], %%e;\nret;\n}\n",
             THREADS * 4, THREADS * 8, change, reader, THREADS * 4);
    say_results(text);
}

static void prepare(void)
{
    record_context();
    NEED(cuMemAlloc(&memory, sizeof in));
    draw_inputs();
}

GROUP(selects)
{
    prepare();
    for (unsigned c = 0; c < sizeof changes / sizeof *changes; c++)
        for (unsigned r = 0; r < sizeof readers / sizeof *readers; r++)
            say_case(changes[c], readers[r]);
}

GROUP(places)
{
    prepare();
    for (unsigned c = 0; c < 2; c++) // neg and abs
        for (unsigned r = 0; r < sizeof places / sizeof *places; r++)
            say_case(changes[c], places[r]);
}

int main(int argc, char **argv)
{
    RUN(selects);
    RUN(places);
    return 0;
}
