// SPDX-License-Identifier: MIT
// Rules of PTX texts, in pairs: a text that is right, and one that breaks the rule. A card answered
// whether each of them is right.
#include <errno.h>
#include <string.h>

#include "expect.h"
#include "module.h"
#include "program.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define KERNEL(directives, body) HEAD ".visible .entry k() " directives "\n{\n" body "\n}\n"
#define BODY(text) KERNEL("", text)
#define TOP(text) HEAD text "\n.visible .entry k() { ret; }\n"

struct pair {
    const char *good, *bad;
    int error;
    const char *sentence;
};

// Loads a text and makes all its kernels.
static int read_text(const char *text, struct px_report *report)
{
    struct px_module *m = NULL;
    const struct px_program *program;
    int rc = px_module_load(text, strlen(text), &m, report);
    for (unsigned i = 0; !rc && i < m->function_count; i++)
        if (m->functions[i].is_kernel && m->functions[i].defined)
            rc = px_program_get(m, i, &program, report);
    px_module_free(m);
    return rc;
}

static void check(const struct pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct px_report good = {0}, bad = {0};
        const int right = read_text(pairs[i].good, &good);
        const int wrong = read_text(pairs[i].bad, &bad);
        if (!right && wrong == pairs[i].error && strstr(bad.text, pairs[i].sentence))
            continue;
        fprintf(stderr, "%d \"%s\" for:\n%s\n%d \"%s\", expected %d \"…%s…\" for:\n%s\n", right,
                good.text, pairs[i].good, wrong, bad.text, pairs[i].error, pairs[i].sentence,
                pairs[i].bad);
        abort();
    }
}
#define CHECK(pairs) check(pairs, sizeof(pairs) / sizeof(*(pairs)))

static void versions(void)
{
    static const struct pair pairs[] = {
        {".version 9.0\n.target sm_90", ".version 9.1\n.target sm_90", -EPROTONOSUPPORT,
         "PTX version 9.1 is newer than 9.0"},
        {".version 8.8\n.target sm_90", ".version 8.9\n.target sm_90", -EPROTONOSUPPORT,
         "there is no version 8.9"},
        {".version 1.5\n.target sm_10", ".version 1.6\n.target sm_10", -EPROTONOSUPPORT, "1.6"},
        {".version 2.3\n.target sm_20", ".version 0.9\n.target sm_20", -EPROTONOSUPPORT, "0.9"},
        {".version 8.10\n.target sm_90", ".version x\n.target sm_90", -EINVAL, "is not a version"},
        {".version 7.8\n.target sm_90", ".version 7.7\n.target sm_90", -EINVAL,
         ".target sm_90 needs .version 7.8, but the text has 7.7"},
        {".version 8.0\n.target sm_90a", ".version 8.0\n.target sm_80a", -EINVAL, "not a target"},
        {".version 8.8\n.target sm_100f", ".version 8.8\n.target sm_90f", -EINVAL, "not a target"},
        {".version 8.0\n.target compute_90", ".version 8.0\n.target lto_90", -EINVAL,
         "not a target"},
        {".version 8.0\n.target sm_52, sm_90", ".version 8.0\n.target sm_52, sm_91", -EINVAL,
         "not a target"},
        {".version 8.0\n.target sm_52\n.target sm_90", ".version 2.0\n.target sm_13\n.target sm_90",
         -EINVAL, "needs .version 7.8"},
        {".version 2.0\n.target sm_12, map_f64_to_f32",
         ".version 2.0\n.target sm_13, map_f64_to_f32", -EINVAL, "which has f64"},
        {".version 8.0\n.target sm_90, debug\n.section .debug_str { .b8 0 }",
         ".version 8.0\n.target sm_90, debug", -EINVAL, "line 2: .target has \"debug\""},
        {HEAD "// ascii", HEAD "// \xc3\xa4", -EINVAL, "line 4: the byte 0xc3 is not ASCII"},
    };
    CHECK(pairs);
}

static void kernels(void)
{
    static const struct pair pairs[] = {
        {KERNEL(".maxntid 1,1,1", "ret;"), KERNEL(".maxntid 0", "ret;"), -EINVAL, "must not be 0"},
        {KERNEL(".reqntid 32", "ret;"), KERNEL(".reqntid 1,0,1", "ret;"), -EINVAL, "must not be 0"},
        {KERNEL(".maxntid 128 .minnctapersm 2", "ret;"), KERNEL(".minnctapersm 0", "ret;"), -EINVAL,
         "must not be 0"},
        {KERNEL(".maxnreg 16", "ret;"), KERNEL(".maxnreg 0", "ret;"), -EINVAL, "must not be 0"},
        {KERNEL(".reqnctapercluster 0", "ret;"), KERNEL(".maxntid 64 .reqntid 64", "ret;"), -EINVAL,
         "exclude each other"},
        {KERNEL(".explicitcluster .maxclusterrank 8", "ret;"),
         KERNEL(".maxclusterrank 8 .reqnctapercluster 2", "ret;"), -EINVAL, "exclude each other"},
        {KERNEL(".maxntid 64 .maxnctapersm 2", "ret;"), KERNEL(".maxnctapersm 2", "ret;"), -EINVAL,
         "needs .maxntid"},
        {TOP(".func f() .noreturn { trap; }"), KERNEL(".noreturn", "ret;"), -EINVAL,
         "for functions"},
        {TOP(".func (.reg .b32 r) f() { ret; }"), HEAD ".entry (.reg .b32 r) k() { ret; }", -EINVAL,
         "returns no values"},
        {TOP(".entry e(); .entry e() { ret; }"), TOP(".entry e() ret;"), -EINVAL,
         "in the place of \";\""},
        {TOP(".func f(); .func f() { ret; }"), TOP(".func f(); .func f();"), -EINVAL,
         "declared twice"},
        {".version 8.1\n.target sm_90\n.entry k(.param .b8 a[32764]) { ret; }",
         ".version 8.1\n.target sm_90\n.entry k(.param .b8 a[32765]) { ret; }", -EINVAL,
         "exceed 32764 bytes"},
        {".version 8.0\n.target sm_90\n.entry k(.param .b8 a[4352]) { ret; }",
         ".version 8.0\n.target sm_90\n.entry k(.param .b8 a[4353]) { ret; }", -EINVAL,
         "exceed 4352 bytes, the limit before .version 8.1"},
    };
    CHECK(pairs);
}

static void variables(void)
{
    static const struct pair pairs[] = {
        {TOP(".global .u32 g=1;"), TOP(".global .u32 g={1};"), -EINVAL, "no braces"},
        {TOP(".global .u32 g[2][2]={{1},{2,3}};"), TOP(".global .u32 g[2][2]={1,2,3,4};"), -EINVAL,
         "each row"},
        {TOP(".global .u32 g[2][2]={{1,2},{3}};"), TOP(".global .u32 g[2][2]={{1,2,3}};"), -EINVAL,
         "more initial values"},
        {TOP(".global .f32 g=1.0;"), TOP(".global .f32 g=1;"), -EINVAL, "an integer cannot"},
        {TOP(".global .b32 g=0f3f800000;"), TOP(".global .u32 g=0f3f800000;"), -EINVAL,
         "a float cannot"},
        {TOP(".const .u32 h; .global .u64 g=generic(h);"), TOP(".shared .u32 h; .global .u64 g=h;"),
         -EINVAL, "not that of a global variable"},
        {TOP(".func f() { ret; } .global .u64 g=f;"),
         TOP(".func f() { ret; } .global .u64 g=generic(f);"), -EINVAL, "for variables"},
        {TOP(".global .v2 .f64 g;"), TOP(".global .v4 .f64 g;"), -EINVAL, "128 bits"},
        {".version 8.3\n.target sm_90\n.global .b128 g;", TOP(".global .b128 g;"), -EINVAL,
         "needs .version 8.3"},
        {TOP(".extern .global .u32 g;"), TOP(".extern .global .u32 g=1;"), -EINVAL,
         "extern variable has no initial value"},
        {TOP(".visible .global .u32 g;"), TOP(".visible .extern .global .u32 g;"), -EINVAL,
         "excludes"},
        {TOP(".global .u32 _g;"), TOP(".global .u32 _;"), -EINVAL, "not a variable's name"},
        {".version 2.1\n.target sm_20\n.const[2] .u32 c;", TOP(".const[2] .u32 c;"), -EINVAL,
         "ended with PTX version 2.2"},
        {TOP(".global .attribute(.managed) .u32 m;"), TOP(".const .attribute(.managed) .u32 m;"),
         -EINVAL, "only variables in .global"},
        {TOP(".global .attribute(.managed) .u32 m;"), TOP(".shared .attribute(.managed) .u32 m;"),
         -EINVAL, "only variables in .global"},
        {TOP(".global .attribute(.managed) .u32 m;"), TOP(".global .attribute(.wild) .u32 m;"),
         -EINVAL, "not an attribute"},
        {".version 4.0\n.target sm_30\n.global .attribute(.managed) .u32 m;",
         ".version 4.0\n.target sm_20\n.global .attribute(.managed) .u32 m;", -EINVAL,
         "but the text has 4.0 and sm_20"},
    };
    CHECK(pairs);
}

static void bodies(void)
{
    static const struct pair pairs[] = {
        {BODY(".global .u32 g=5; st.global.u32 [g], 1;"), BODY(".extern .global .u32 g;"), -EINVAL,
         "extern or without size"},
        {BODY(".shared .b8 s[4];"), BODY(".shared .b8 s[];"), -EINVAL, "has no size"},
        {BODY("{ .const .u32 c=5; } { .const .u32 c=6; }"),
         BODY("{ .const .u32 c=5; .const .u32 c=6; }"), -EINVAL, "declared twice"},
        {BODY(".reg .b32 %r<0>;"), BODY(".reg .b32 %r<-1>;"), -EINVAL, "must be from 0"},
        {BODY(".reg .f32 %f; mov.f32 %f, 1.0;"), BODY(".reg .f32 %f; mov.f32 %f, 1;"), -EINVAL,
         "an integer cannot be a value of type .f32"},
        {BODY(".loc 1 2 3"), BODY(".file 1 \"x\""), -EINVAL, "inside a function"},
        {BODY(".local .b8 l[1073741824];"), BODY(".local .b8 l[4294967296];"), -EINVAL,
         "exceeds 2 GiB"},
        {BODY(".global .u32 g; .reg .b32 %r; ld.global.b32 %r, [g];"),
         BODY(".reg .b32 %r; ld.global.b32 %r, [k];"), -EINVAL, "cannot be accessed"},
        {BODY(".loc 1 5 3\n.global .u32 g; .reg .b32 %r; ld.global.b32 %r, [g];"),
         BODY(".loc 1 5 3\n.global .u32 g; .global .u32 g;"), -EINVAL, "declared twice"},
        {BODY(".pragma \"nounroll\";/* c */.const .u32 c=5; .reg .b32 %r; ld.const.b32 %r, [c];"),
         BODY("/* c */.global .u32 g={1};"), -EINVAL, "no braces"},
        {BODY("ret;"), BODY("nop;"), -ENOEXEC, "line 6: nop: this instruction is not known"},
        {BODY(".reg .b32 %r; add.s32 %r, %r, 1;"), BODY(".reg .b32 %r; add.quick.s32 %r, %r, 1;"),
         -ENOEXEC, "the modifier .quick is not known"},
        {BODY("bar.sync 0;"), BODY("bar.sync.release 0;"), -ENOEXEC, ".release is not possible"},
        {BODY(".reg .b32 %r; add.u32 %r, %r, 1;"), BODY(".reg .b32 %r; add.sat.u32 %r, %r, 1;"),
         -ENOEXEC, ".u32 is not possible here; expected: .s32, .f32, .f16, .f16x2"},
        {BODY("ret;"), BODY("tcgen05.fence::before_thread_sync;"), -ENOTSUP,
         "line 6: tcgen05.fence::before_thread_sync is not supported"},
    };
    CHECK(pairs);
}

// Samplers apart from textures (NVIDIA's compiler answers the same; the last one is the driver's).
static void samplers(void)
{
#define MODE(word, declarations, address)                                                          \
    ".version 8.0\n.target sm_90" word "\n.address_size 64\n.global .texref t;\n" declarations     \
    ".visible .entry k() {\n.reg .f32 %f<4>; .reg .s32 %i; .reg .b64 %x;\n"                        \
    "tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, " address ";\nret; }\n"
#define SAMPLER ".global .samplerref s = {addr_mode_0 = wrap, filter_mode = linear};\n"
#define ALONE(word) ".version 8.0\n.target sm_90" word "\n.address_size 64\n" SAMPLER
    static const struct pair pairs[] = {
        {ALONE(", texmode_independent"), ALONE(""), -EINVAL,
         "line 4: .samplerref needs .target texmode_independent"},
        {ALONE(", texmode_independent"), ALONE(", texmode_unified"), -EINVAL, ".samplerref needs"},
        {MODE("", "", "[t, {%i}]"), MODE("", "", "[t, %x, {%i}]"), -EINVAL,
         "a sampler apart from the texture needs .target texmode_independent"},
        {MODE(", texmode_unified", "", "[t, {%i}]"), MODE(", texmode_independent", "", "[t, {%i}]"),
         -EINVAL, "needs a sampler after the texture"},
        {MODE("", "", "[%x, {%i}]"), MODE(", texmode_independent", SAMPLER, "[t, s, {%i}]"),
         -ENODEV, "NVIDIA's driver does not load such a text"},
    };
    CHECK(pairs);
}

static const struct px_variable *variable_of(const struct px_module *m, const char *name)
{
    for (unsigned i = 0; i < m->variable_count; i++)
        if (!strcmp(m->variables[i].name, name))
            return &m->variables[i];
    return NULL;
}

// Variables of bodies belong to the module, and shared ones of the module only to the kernels that
// use them.
static void places(void)
{
    static const char text[] =
        HEAD ".shared .align 8 .b8 used[8];\n.shared .b8 other[64];\n"
             ".visible .entry k() {\n.global .u32 inner = 7; .shared .align 4 .b8 own[4];\n"
             ".reg .b32 %r; mov.u32 %r, used; st.shared.u32 [%r], %r; }\n"
             ".visible .entry none() { ret; }\n";
    struct px_module *m = NULL;
    struct px_report report;
    const struct px_program *p, *none;
    EXPECT_EQ(px_module_load(text, strlen(text), &m, &report), 0);
    EXPECT_EQ(px_program_get(m, 0, &p, &report), 0);
    EXPECT_EQ(px_program_get(m, 1, &none, &report), 0);
    EXPECT_EQ(p->static_shared_B, 16);
    EXPECT_EQ(p->shared_at[variable_of(m, "used") - m->variables], 8);
    EXPECT_EQ(none->static_shared_B, 0);
    const struct px_variable *inner = variable_of(m, "inner");
    EXPECT(inner && inner->declared_at);
    EXPECT_EQ(*(const uint32_t *)inner->initial, 7);
    EXPECT(!variable_of(m, "used")->declared_at);
    px_module_free(m);
}

static void types(void)
{
#define REGISTERS ".reg .b16 %h; .reg .u16 %u; .reg .b32 %w; .reg .s64 %l; .reg .f32 %f; "
    static const struct pair pairs[] = {
        {BODY(REGISTERS "add.f16 %h, %h, %h;"), BODY(REGISTERS "add.f16 %h, %u, %h;"), -EINVAL,
         "does not suit .f16"},
        {BODY(REGISTERS "add.f16x2 %w, %w, %w;"), BODY(REGISTERS "add.f16x2 %w, %w, 1;"), -EINVAL,
         "a constant cannot be a value of type .f16x2"},
        {BODY(REGISTERS "add.bf16x2 %w, %w, %w;"), BODY(REGISTERS "add.bf16x2 %f, %w, %w;"),
         -EINVAL, "does not suit .bf16x2"},
        {BODY(REGISTERS "mov.b32 %w, 0f3f800000;"), BODY(REGISTERS "mov.b32 %w, 1.5;"), -EINVAL,
         "a constant of type .f64 cannot be a value of type .b32"},
        {BODY(REGISTERS "vadd2.s32.s32.s32 %w, %w, %w, %w;"),
         BODY(REGISTERS "vadd2.s32.s32.s32 %w, %w, 1, %w;"), -EINVAL, "must be registers"},
        {BODY(REGISTERS "cvt.rn.f32.s16 %f, %l;"), BODY(REGISTERS "cvt.rn.bf16.s16 %h, %l;"),
         -EINVAL, "does not suit .s16"},
        {BODY(REGISTERS "cvt.rzi.s32.f32 %w, %w;"), BODY(REGISTERS "cvt.rzi.s32.f32 %w, %l;"),
         -EINVAL, "does not suit .f32"},
        {BODY(REGISTERS "cvt.sat.u16.s32 %u, %w;"), BODY(REGISTERS "cvt.sat.s32.u16 %w, %u;"),
         -EINVAL, "cannot saturate"},
    };
    CHECK(pairs);
}

static void operands(void)
{
    static const struct pair pairs[] = {
        {BODY(REGISTERS ".shared .b32 s; mov.b32 %w, s;"),
         BODY(REGISTERS ".shared .b32 s; add.u32 %w, s, 4;"), -EINVAL,
         "mov reads the address of a variable"},
        {BODY(REGISTERS "mov.b32 %w, %tid.x;"), BODY(REGISTERS "add.u32 %w, %tid.x, 4;"), -EINVAL,
         "mov reads a special register"},
        {BODY(REGISTERS "cvt.s64.u32 %l, %tid.x;"), BODY(REGISTERS "cvt.rn.f32.u32 %f, %tid.x;"),
         -EINVAL, "mov reads a special register"},
        {BODY(REGISTERS ".shared .b32 s; add.u32 %w, %w, s+4;"),
         BODY(REGISTERS ".shared .b32 s; add.u32 %w, %w, s;"), -EINVAL,
         "mov reads the address of a variable"},
        {BODY(REGISTERS "cvt.u64.u64 %l, %globaltimer; cvt.u32.u64 %w, %clock64;"),
         BODY(REGISTERS "cvt.u64.u64 %l, %pm;"), -EINVAL, "not declared"},
        {BODY(REGISTERS "mov.u64 %l, %clock64;"), BODY(REGISTERS "mov.u64 %l, %tid.x;"), -EINVAL,
         "the special register %tid.x has 32 bits"},
        {BODY(REGISTERS ".shared .b32 s; atom.shared.add.u32 _, [s], %w;"),
         BODY(REGISTERS ".shared .b32 s; ld.shared.u32 _, [s];"), -EINVAL, "cannot be _"},
        {BODY(REGISTERS "mov.b64 {%w, _}, %l;"), BODY(REGISTERS "mov.b64 {_, _}, %l;"), -EINVAL,
         "one element of the vector"},
        {BODY(REGISTERS ".reg .pred %p; setp.eq.u32 _|%p, %w, 1;"),
         BODY(REGISTERS "setp.eq.u32 _|_, %w, 1;"), -EINVAL, "one of the two results"},
        {BODY(REGISTERS ".reg .pred %p; elect.sync _|%p, -1;"),
         BODY(REGISTERS "elect.sync %w|_, -1;"), -EINVAL, "the second result"},
        {BODY(REGISTERS "bfe.u32 %w, %w, 255, 1;"), BODY(REGISTERS "bfe.u32 %w, %w, 256, 1;"),
         -EINVAL, "not in the range 0 to 255"},
        {BODY(REGISTERS "mad.rn.f32 %f, %f, %f, %f;"), BODY(REGISTERS "mad.f32 %f, %f, %f, %f;"),
         -EINVAL, "use the form with a rounding mode"},
        {".version 1.4\n.target sm_13\n.entry k() { .reg .f32 %f; mad.f32 %f, %f, %f, %f; }",
         ".version 2.0\n.target sm_20\n.entry k() { .reg .f32 %f; mad.f32 %f, %f, %f, %f; }",
         -EINVAL, "use the form with a rounding mode"},
        {BODY(REGISTERS "redux.sync.or.b32 %w, %w, -1;"),
         BODY(REGISTERS "redux.sync.or.b32 %w, %f, -1;"), -EINVAL, "does not suit"},
        {BODY(REGISTERS "cvt.pack.sat.u16.s32 %l, %w, %l;"),
         BODY(REGISTERS "cvt.pack.sat.u16.s32 %f, %w, %w;"), -EINVAL, "does not suit"},
        {BODY(REGISTERS "mov.b64 %l, 0d3ff0000000000000;"),
         BODY(REGISTERS "mov.b16 %h, 0d3ff0000000000000;"), -EINVAL,
         "a constant of type .f64 cannot be a value of type .b16"},
        {BODY(REGISTERS ".reg .b8 %b; mov.b16 %h, {%b, %b};"),
         BODY(REGISTERS ".reg .b8 %b; mov.b16 %h, %b;"), -EINVAL, "does not suit .b16"},
        {BODY(REGISTERS "set.eq.u16.f16 %h, %h, %h;"), BODY(REGISTERS "set.eq.u16.f32 %h, %f, %f;"),
         -ENOEXEC, "not possible here"},
    };
    CHECK(pairs);
}

static void names(void)
{
    static const struct pair pairs[] = {
        {TOP(".shared .b32 a; .entry e(.param .b32 a) { ret; }"),
         TOP(".entry e(.param .b32 a) { .shared .b32 a; ret; }"), -EINVAL, "declared twice"},
        {TOP(".entry e(.param .b32 a) { { .reg .b32 a; } ret; }"),
         TOP(".entry e(.param .b32 a) { .reg .b32 a; ret; }"), -EINVAL, "declared twice"},
        {TOP(".entry e(.param .b32 a) { { a: } ret; }"), TOP(".entry e(.param .b32 a) { a: ret; }"),
         -EINVAL, "defined twice"},
        {BODY(".reg .f16x2 a;"), BODY(".reg .bf16x2 a;"), -EINVAL, "not a type of registers"},
        {TOP(".global .f16 g;"), TOP(".global .bf16 g;"), -EINVAL, "not a type of variables"},
        {TOP(".func (.reg .b32 a, .reg .b32 b) f() { ret; }"),
         TOP(".func (.param .b32 a, .param .b32 b) f() { ret; }"), -EINVAL, "returns .reg"},
    };
    CHECK(pairs);
}

int main(void)
{
    types();
    operands();
    names();
    versions();
    kernels();
    variables();
    bodies();
    samplers();
    places();
    return 0;
}
