// SPDX-License-Identifier: MIT
// PTX text: modules, statements, constants, calls, refusals, failed allocations, and mutations of
// texts, which must never do worse than a refusal with a sentence.
#include <errno.h>
#include <locale.h>
#include <string.h>

#include "alloc.h"
#include "expect.h"
#include "kn_lanes.h"
#include "module.h"
#include "program.h"

#define HEAD ".version 8.5\n.target sm_90\n.address_size 64\n"
#define KERNEL(body) HEAD ".visible .entry k(.param .u64 p)\n{\n" body "\n}\n"

static struct px_module *load(const char *text)
{
    struct px_module *m = NULL;
    struct px_report report;
    const int rc = px_module_load(text, strlen(text), &m, &report);
    if (rc)
        fprintf(stderr, "%s\n", report.text);
    EXPECT_EQ(rc, 0);
    return m;
}

// The kernel `k` of a module.
static int program_of(struct px_module *m, const struct px_program **out, struct px_report *report)
{
    for (unsigned i = 0; i < m->function_count; i++)
        if (!strcmp(m->functions[i].name, "k"))
            return px_program_get(m, i, out, report);
    return -ENOENT;
}

// Both steps; the code of the first that fails.
static int try(const char *text, struct px_report *report)
{
    struct px_module *m = NULL;
    const struct px_program *program;
    int rc = px_module_load(text, strlen(text), &m, report);
    if (!rc)
        rc = program_of(m, &program, report);
    px_module_free(m);
    return rc;
}

static void expect_refused(const char *text, int code, const char *part)
{
    struct px_report report = {0};
    const int rc = try(text, &report);
    if (rc != code || !strstr(report.text, part)) {
        fprintf(stderr, "%d: \"%s\", expected %d: \"…%s…\" for:\n%s\n", rc, report.text, code, part,
                text);
        abort();
    }
}

static void expect_good(const char *text)
{
    struct px_report report = {0};
    const int rc = try(text, &report);
    if (rc) {
        fprintf(stderr, "%d: \"%s\" for:\n%s\n", rc, report.text, text);
        abort();
    }
}

static const char *form_of(const struct px_program *p, uint32_t op)
{
    unsigned count;
    const struct kn_form *forms = kn_forms(&count);
    return op < p->op_count && p->ops[op].code == PX_FORM ? forms[p->ops[op].form].name : "";
}

// ---- declarations ----

static void heads(void)
{
    struct px_module *m = load(HEAD);
    EXPECT_EQ(m->version, 85);
    EXPECT_EQ(m->target, 90);
    EXPECT(!m->target_specific);
    px_module_free(m);
    m = load("/* c */ .version\t8.1 // d\r\n.target sm_90a , texmode_independent .address_size 64");
    EXPECT_EQ(m->version, 81);
    EXPECT(m->target_specific);
    px_module_free(m);
    expect_refused("", -EINVAL, "the text ends before \".version\"");
    expect_refused(".version 9.9\n.target sm_90", -EPROTONOSUPPORT, "PTX version 9.9 is newer");
    expect_refused(".version 8\n.target sm_90", -EINVAL, "\"8\" is not a version of PTX");
    expect_refused(".version 8.0\n.target hopper", -EINVAL, "\"hopper\" is not a target");
    expect_refused(".version 8.0\n.target sm_90\n.address_size 32", -EINVAL, "must be 64");
    expect_refused(".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n"
                   ".reg .b32 %r; .shared .b32 a[4]; mov.u32 %r, a[1.5]; }",
                   -EINVAL, "the number of an element cannot be a float");
    char deep[4096] = ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {\n"
                      ".reg .b64 %r; mov.u64 %r, ";
    for (int i = 0; i < 300; i++)
        strcat(deep, "generic(");
    strcat(deep, "; }");
    expect_refused(deep, -EINVAL, "the operand is nested too deeply");
    expect_refused(".version 8.0\n.target sm_90\nfoo", -EINVAL,
                   "line 3: \"foo\" does not begin a declaration");
    expect_refused(".version 8.0\n.target sm_90\n/* no end", -EINVAL, "line 3");
}

static const struct px_variable *variable(const struct px_module *m, const char *name)
{
    for (unsigned i = 0; i < m->variable_count; i++)
        if (!strcmp(m->variables[i].name, name))
            return &m->variables[i];
    return NULL;
}

// The initial value takes as much memory as the text gives a reason for.
static void large_variables(void)
{
    struct px_module *m = load(HEAD ".global .b8 a[4294967296] = {1, 2};");
    EXPECT_EQ(variable(m, "a")->size_B, UINT64_C(1) << 32);
    EXPECT(variable(m, "a")->initial_B >= 2 && variable(m, "a")->initial_B <= 4096);
    EXPECT(!memcmp(variable(m, "a")->initial, "\1\2", 3));
    px_module_free(m);
}

static void variables(void)
{
    struct px_module *m =
        load(HEAD ".global .u32 a[2][3] = {{1, 2, 3}, {4, 5, 6}};\n"
                  ".visible .const .align 16 .f32 c = 0f3F800000;\n"
                  ".global .u64 t[] = {a, a + 8, generic(a), 7};\n"
                  ".global .u8 m[2] = {0xff(a), 0xff00(a)};\n"
                  ".global .s16 e[] = {-1, 3 < 5 ? 10 : 20, ~0, (2 + 3) * 4 % 7, 1 << 4 | 2};\n"
                  ".extern .shared .align 16 .b8 dynamic[];\n"
                  ".global .f64 d = 1.5;\n"
                  ".global .attribute(.managed) .u32 g;\n"
                  ".global .texref tex; .global .v4 .f32 v;\n");
    const struct px_variable *v = variable(m, "a");
    static const uint32_t a[6] = {1, 2, 3, 4, 5, 6};
    EXPECT_EQ(v->size_B, 24);
    EXPECT(!memcmp(v->initial, a, sizeof a));
    v = variable(m, "c");
    EXPECT_EQ(v->alignment_B, 16);
    EXPECT_EQ(v->space, PX_CONSTANT);
    EXPECT_EQ(*(const uint32_t *)v->initial, 0x3f800000);
    v = variable(m, "t");
    EXPECT_EQ(v->size_B, 32);
    EXPECT_EQ(v->relocation_count, 3);
    EXPECT_EQ(v->relocations[1].at_B, 8);
    EXPECT_EQ(v->relocations[1].offset, 8);
    EXPECT(v->relocations[2].generic);
    v = variable(m, "m");
    EXPECT_EQ(v->relocations[1].shift, 8);
    EXPECT_EQ(v->relocations[1].size_B, 1);
    static const int16_t e[5] = {-1, 10, -1, 6, 18};
    v = variable(m, "e");
    EXPECT_EQ(v->size_B, 10);
    EXPECT(!memcmp(v->initial, e, sizeof e));
    v = variable(m, "dynamic");
    EXPECT_EQ(v->size_B, 0);
    EXPECT_EQ(v->space, PX_SHARED);
    double d;
    memcpy(&d, variable(m, "d")->initial, sizeof d);
    EXPECT(d == 1.5);
    EXPECT(variable(m, "g")->managed);
    EXPECT_EQ(variable(m, "tex")->space, PX_TEXTURE_REFERENCE);
    EXPECT_EQ(variable(m, "v")->size_B, 16);
    EXPECT_EQ(variable(m, "v")->alignment_B, 16);
    px_module_free(m);
    expect_refused(HEAD ".global .u32 a[2] = {1, 2, 3};", -EINVAL, "more initial values");
    expect_refused(HEAD ".global .u32 a[1] = {{1}};", -EINVAL, "more braces than dimensions");
    expect_refused(HEAD ".global .u32 a = 1 / 0;", -EINVAL, "divides by 0");
    expect_refused(HEAD ".global .u32 a = 1.5;", -EINVAL, "a float cannot be");
    expect_refused(HEAD ".global .u32 a = b;", -EINVAL, "\"b\" is not declared");
    expect_refused(HEAD ".global .u32 a[];", -EINVAL, "the array has no size");
    expect_refused(HEAD ".global .align 3 .u32 a;", -EINVAL, "power of two");
    expect_refused(HEAD ".global .u32 a[1099511627776][1099511627776];", -EINVAL, "larger than");
    expect_refused(HEAD ".global .u32 a; .global .u32 a;", -EINVAL, "");
    expect_refused(HEAD ".shared .u32 a = 1;", -EINVAL, "has no initial value");
}

// A program may have a locale whose numbers have a comma. Not every machine has one.
static void locales(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (!setlocale(LC_NUMERIC, names[i]))
            continue;
        struct px_module *m = load(HEAD ".global .f64 a = 1.5; .global .f64 b = 122.5e-1;");
        double value;
        memcpy(&value, variable(m, "a")->initial, sizeof value);
        EXPECT(value == 1.5);
        memcpy(&value, variable(m, "b")->initial, sizeof value);
        EXPECT(value == 12.25);
        px_module_free(m);
        setlocale(LC_NUMERIC, "C");
        return;
    }
}

static void kernels(void)
{
    struct px_module *m = load(HEAD ".visible .entry k(.param .u8 a, .param .u64 .ptr .global "
                                    ".align 16 b, .param .align 16 .b8 s[20])\n"
                                    ".maxntid 128, 2\n.minnctapersm 4\n{ ret; }\n"
                                    ".entry j() .reqntid 32 { ret; }");
    const struct px_function *k = &m->functions[0];
    EXPECT_EQ(m->function_count, 2);
    EXPECT_EQ(k->parameter_count, 3);
    EXPECT_EQ(k->parameters[1].offset_B, 8);
    EXPECT(k->parameters[1].is_pointer);
    EXPECT_EQ(k->parameters[1].pointer_space, PX_GLOBAL);
    EXPECT_EQ(k->parameters[2].offset_B, 16);
    EXPECT_EQ(k->parameters_B, 36);
    EXPECT_EQ(k->limits.most_threads[0], 128);
    EXPECT_EQ(k->limits.most_threads[1], 2);
    EXPECT_EQ(k->limits.most_threads[2], 1);
    EXPECT_EQ(k->limits.least_blocks, 4);
    EXPECT(k->visible && !m->functions[1].visible);
    px_module_free(m);
    expect_refused(HEAD ".entry k(.param .b8 s[40000]) { ret; }", -EINVAL, "exceed 32764 bytes");
    // A sparse selector that is far out of its range.
    expect_refused(HEAD ".entry k() { .reg .b32 %r<8>;\nmma.sp.sync.aligned.m16n8k16.row.col.f16."
                        "f16.f16.f16 {%r0, %r1}, {%r2, %r3}, {%r4, %r5}, {%r6, %r7}, %r0, "
                        "0x7fffffffffffffff; }",
                   -EINVAL, "must be from 0 to");
    expect_refused(HEAD ".entry k() { ret;", -EINVAL, "has no }");
    expect_good(HEAD
                ".visible .entry k(.param .u32 a)\n;\n.visible .entry k(.param .u32 a) { ret; }");
    expect_refused(HEAD ".entry k(.param .u32 a); .entry k(.param .u64 a) { ret; }", -EINVAL,
                   "declared with other parameters");
    expect_refused(HEAD ".entry k();", -EINVAL, "is not a kernel of the module");
    expect_refused(HEAD ".entry k() { ret; } .entry k() { ret; }", -EINVAL, "defined twice");
}

// ---- statements ----

static void statements(void)
{
    struct px_module *m = load(KERNEL(".reg .b32 %r<4>; .reg .pred %p;\n"
                                      "mov.u32 %r1, 0x10U;\n"
                                      "add.s32 %r2, %r1, -1;\n"
                                      "{ .reg .b64 %r1; mov.b64 %r1, 5; }\n"
                                      "@%p add.u32 %r2, %r1, %r2;"));
    const struct px_program *p;
    struct px_report report;
    EXPECT_EQ(program_of(m, &p, &report), 0);
    EXPECT(!strcmp(form_of(p, 0), "mov.32"));
    EXPECT(!strcmp(form_of(p, 1), "add.32"));
    EXPECT(!strcmp(form_of(p, 2), "mov.64"));
    EXPECT_EQ(p->registers[p->ops[1].operands[2]].value, UINT32_MAX);
    EXPECT_EQ(p->ops[3].guard != PX_NONE, true);
    EXPECT_EQ(p->ops[0].line, 7);
    EXPECT_EQ(p->ops[4].code, PX_EXIT);
    px_module_free(m);
    expect_refused(KERNEL("foo.b32 %r1;"), -ENOEXEC, "line 6: foo.b32: ");
    expect_refused(KERNEL(".reg .f32 %f; add.u32 %f, %f, %f;"), -EINVAL, "does not suit .u32");
    expect_refused(KERNEL(".reg .b32 %r; add.b32 %r, %r, %r;"), -ENOEXEC,
                   "line 6: add.b32: .b32 is not possible here; expected: ");
    expect_refused(KERNEL(".reg .b32 %r; add.u32 %r, %r;"), -EINVAL, "operand 3 is missing");
    expect_refused(KERNEL(".reg .b32 %r; add.u32 %r, %r, %r, %r;"), -EINVAL, "4 operands");
    expect_refused(KERNEL(".reg .b32 %r; add.u32 %r, %r, %x;"), -EINVAL, "\"%x\" is not declared");
    expect_refused(KERNEL(".reg .b32 %r; add.u32 5, %r, %r;"), -EINVAL, "must be a register");
    expect_refused(KERNEL(".reg .b32 %r; @%r add.u32 %r, %r, %r;"), -EINVAL, "guard");
    expect_refused(KERNEL(".reg .b32 %r<5>; add.u32 %r5, %r1, %r1;"), -EINVAL, "\"%r5\"");
    expect_refused(KERNEL(".reg .b32 %r; .reg .b32 %r;"), -EINVAL, "declared twice");
    expect_refused(KERNEL(".reg .b32 %r<2>; .reg .b32 %r<3>;"), -EINVAL, "declared twice");
    expect_good(KERNEL(".reg .b32 %r<2>; .reg .b64 %r; mov.b32 %r0, 1; mov.b64 %r, 2;"));
    expect_refused(KERNEL(".reg .b32 %r<2147483648>;"), -EINVAL, "number of registers");
    expect_good(KERNEL(".reg .b32 %r<2147483647>; add.u32 %r2147483646, %r0, %r5;"));
    expect_refused(".version 3.0\n.target sm_20\n.entry k() { .reg .u32 %r; ts: .branchtargets "
                   "A; A: brx.idx %r, ts; }",
                   -EINVAL, "needs .version 6.0");
}

// "vote, shfl without .sync are not supported from PTX 6.4 and sm_70 on."
static void old_statements(void)
{
#define OLD(version, target, body)                                                                 \
    ".version " version "\n.target " target                                                        \
    "\n.entry k() { .reg .b32 %r<9>; .reg .pred %p<9>; " body " }"
    expect_good(OLD("6.3", "sm_70", "vote.any.pred %p1, %p2;"));
    expect_good(OLD("8.5", "sm_52", "vote.ballot.b32 %r1, !%p2;"));
    expect_good(OLD("8.5", "sm_52", "shfl.up.b32 %r1|%p1, %r2, 1, 0;"));
    expect_refused(OLD("6.4", "sm_70", "vote.any.pred %p1, %p2;"), -EINVAL,
                   "is not supported from .version 6.4 and .target sm_70 on");
    expect_refused(OLD("8.5", "sm_90", "vote.ballot.b32 %r1, %p2;"), -EINVAL,
                   "use the form with .sync");
    expect_refused(OLD("8.5", "sm_90", "shfl.idx.b32 %r1, %r2, 1, 31;"), -EINVAL,
                   "use the form with .sync");
    expect_good(OLD("1.4", "sm_13", "pmevent 7;"));
    expect_refused(OLD("1.4", "sm_13", "pmevent.mask 7;"), -EINVAL, "needs .version 3.0");
#undef OLD
}

static void flow(void)
{
    struct px_module *m = load(KERNEL(".reg .b32 %r; .reg .pred %p;\n"
                                      "L: add.u32 %r, %r, 1;\n"
                                      "@%p bra E;\n"
                                      "add.u32 %r, %r, 2;\n"
                                      "bra L;\n"
                                      "E: add.u32 %r, %r, 3;"));
    const struct px_program *p;
    struct px_report report;
    EXPECT_EQ(program_of(m, &p, &report), 0);
    EXPECT_EQ(p->ops[1].code, PX_BRANCH);
    EXPECT_EQ(p->ops[1].target, 4); // the loop is contiguous, and what follows it comes after it
    EXPECT_EQ(p->ops[3].target, 0);
    EXPECT(p->meets[0] && p->meets[4] && !p->meets[3]);
    px_module_free(m);
    expect_refused(KERNEL("bra L;"), -EINVAL, "line 6: the label \"L\" is not defined");
    expect_refused(KERNEL("L: L: ret;"), -EINVAL, "defined twice");
    expect_refused(KERNEL("{ L: ret; } bra L;"), -EINVAL, "not defined");
    expect_good(KERNEL("{ bra L; L: } { bra L; L: } { { bra M; } M: }"));
}

static void calls(void)
{
#define F ".func (.param .b32 r) f(.param .b32 a)\n{ .reg .b32 %q<3>; ld.param.b32 %q0, [a];\n"
#define CALL                                                                                       \
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r; call (y), f, (x); "                     \
    "ld.param.b32 %r, [y]; }"
    expect_good(HEAD F "add.u32 %q1, %q0, 1; st.param.b32 [r], %q1; ret; }\n"
                       ".entry k() { .reg .b32 %r; " CALL " }");
    expect_refused(HEAD ".entry k() { call f; }", -EINVAL, "not a function that is declared");
    expect_refused(HEAD ".func f(); .entry k() { call f; }", -EINVAL, "is not defined");
    expect_refused(HEAD F "ret; } .entry k() { call f; }", -EINVAL, "returns 1 values");
    expect_refused(HEAD ".entry j() { ret; } .entry k() { call j; }", -EINVAL, "kernel");
#undef F
#undef CALL
}

static int join(const char *a, const char *b, enum px_link link, struct px_module **out,
                struct px_report *report)
{
    const struct px_source sources[] = {{.name = "a", .text = a, .size_B = strlen(a)},
                                        {.name = "b", .text = b, .size_B = strlen(b)}};
    return px_module_link(sources, 2, link, out, report);
}

static void links(void)
{
    static const char a[] = HEAD ".extern .global .u32 g; .extern .func f(); .global .u32 own;\n"
                                 ".visible .entry k() { call f; }";
    static const char b[] = HEAD ".visible .global .u32 g = 7; .global .u32 own;\n"
                                 ".visible .func f() { ret; }";
    struct px_module *linked = NULL;
    struct px_report report;
    const struct px_program *p;
    EXPECT_EQ(join(a, HEAD, PX_LINK_COMPLETE, &linked, &report), -ESRCH);
    EXPECT(strstr(report.text, "\"f\" is not defined"));
    EXPECT_EQ(join(a, HEAD, PX_LINK_PARTIAL, &linked, &report), 0);
    EXPECT_EQ(program_of(linked, &p, &report), 0);
    px_module_free(linked);
    EXPECT_EQ(join(b, b, PX_LINK_PARTIAL, &linked, &report), -EEXIST);
    EXPECT(strstr(report.text, "b, line 4: ") && strstr(report.text, "defined twice"));
    EXPECT_EQ(join(HEAD, HEAD "garbage", PX_LINK_PARTIAL, &linked, &report), -EINVAL);
    EXPECT(strstr(report.text, "b, line 4: "));
    EXPECT_EQ(join(a, b, PX_LINK_COMPLETE, &linked, &report), 0);
    EXPECT_EQ(linked->variable_count, 3);
    EXPECT_EQ(*(const uint32_t *)variable(linked, "g")->initial, 7);
    EXPECT_EQ(program_of(linked, &p, &report), 0);
    px_module_free(linked);
    EXPECT_EQ(join(HEAD ".visible .entry k();", HEAD, PX_LINK_COMPLETE, &linked, &report), -ESRCH);
    EXPECT(strstr(report.text, "\"k\" is not defined"));
    EXPECT_EQ(px_module_link(NULL, 0, PX_LINK_COMPLETE, &linked, &report), 0);
    EXPECT_EQ(linked->function_count, 0);
    px_module_free(linked);
}

static void source_lines(void)
{
    struct px_module *m = load(HEAD ".file 1 \"/home/vec.cu\"\n.entry k()\n{\n.loc 1 17 3\n"
                                    ".reg .b32 %r;\nadd.u32 %r, %r, 1;\n}\n");
    const struct px_program *p;
    struct px_report report;
    char text[64];
    EXPECT_EQ(program_of(m, &p, &report), 0);
    EXPECT(px_source_line(m, p, p->ops[0].line, text, sizeof text));
    EXPECT(!strcmp(text, "vec.cu:17"));
    EXPECT(!px_source_line(m, p, 6, text, sizeof text));
    px_module_free(m);
}

// ---- everything at once ----

static const char sample[] =
    HEAD ".global .align 8 .u32 g[4] = {1, 2, 0x3, -4}; .const .f32 c = 1.5;\n"
         ".global .surfref sf; .shared .b32 s[8]; .global .u64 t[] = {g + 4, generic(g)};\n"
         ".func (.param .b32 r) f(.param .align 4 .b8 a[8], .param .b32 n)\n"
         "{ .reg .b32 %q<9>; .reg .pred %z; ld.param.b32 %q0, [n]; setp.eq.s32 %z, %q0, 0;\n"
         "@%z ret; st.param.b32 [r], %q0; ret; }\n"
         ".visible .entry k(.param .u64 p, .param .u32 n) .maxntid 32, 2, 1\n{\n"
         ".reg .b32 %r<10>; .reg .b64 %d<4>; .reg .pred %p<3>; .local .b32 l[4];\n"
         ".loc 1 2 3\nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u64 %d2, g;\n"
         "tex.2d.v4.f32.s32 {%r3, %r4, _, %r5}, [%d1, {%r1, %r2}]; suld.b.a1d.v2.b16.trap {%r3, "
         "%r4}, [sf, {%r1, %r2}]; sust.p.1d.b32.zero [%d1, {%r1}], 5;\n"
         "L: add.u32 %r2, %r1, (3 + 4) * 2; setp.lt.u32 %p1, %r2, 5;\n"
         "@!%p1 bra E; ts: .branchtargets L, E; brx.idx %r2, ts; { .param .b32 x; .param .align 4 "
         ".b8 v[8]; .param .b32 y;\nst.param.b32 [x], 5; call (y), f, (v, x); ld.param.b32 %r3, "
         "[y]; }\nE: ret;\n}\n";

static void allocations(void)
{
    for (uint64_t n = 1; n < 10000; n++) {
        struct px_report report;
        dm_alloc_fail_after(n);
        const int rc = try(sample, &report);
        if (!dm_alloc_failed()) {
            EXPECT_EQ(rc, 0);
            return;
        }
        EXPECT_EQ(rc, -ENOMEM);
        EXPECT(strstr(report.text, "memory"));
    }
    EXPECT(!"it never succeeds");
}

// One mutation: a byte changes, or a piece of the text is removed, repeated, or put elsewhere.
static void mutate(char *text, size_t *length, size_t most, uint64_t *state)
{
    static const char bytes[] = "{}()[];,.%@!|:<>-+*/\"_$ \n0189abxfLrU\0";
    const size_t at = draw(state) % *length;
    size_t size = 1 + draw(state) % 40;
    if (size > *length - at)
        size = *length - at;
    switch (draw(state) % 4) {
    case 0:
        text[at] = bytes[draw(state) % sizeof bytes];
        break;
    case 1:
        memmove(text + at, text + at + size, *length - at - size);
        *length -= size;
        break;
    case 2:
        if (*length + size < most) {
            memmove(text + at + size, text + at, *length - at);
            *length += size;
        }
        break;
    default:
        memmove(text + at, text + draw(state) % (*length - size + 1), size);
        break;
    }
    if (!*length)
        text[(*length)++] = ';';
}

static void mutations(unsigned runs)
{
    enum { MOST = 2 * sizeof sample };
    static char text[MOST];
    uint64_t state = 1;
    for (unsigned i = 0; i < runs; i++) {
        size_t length = sizeof sample - 1;
        memcpy(text, sample, length);
        for (uint64_t n = 1 + draw(&state) % 4; n; n--)
            mutate(text, &length, MOST, &state);
        struct px_module *m = NULL;
        const struct px_program *program;
        struct px_report report = {0};
        int rc = px_module_load(text, length, &m, &report);
        for (unsigned k = 0; !rc && k < m->function_count; k++)
            if (m->functions[k].is_kernel && m->functions[k].defined)
                rc = px_program_get(m, k, &program, &report);
        EXPECT(rc == 0 || rc == -EINVAL || rc == -ENOTSUP || rc == -ENOMEM || rc == -ENOENT ||
               rc == -ENOSYS || rc == -ENOEXEC || rc == -EPROTONOSUPPORT);
        EXPECT(!rc || *report.text);
        px_module_free(m);
    }
}

int main(int count, char **arguments)
{
    heads();
    variables();
    large_variables();
    locales();
    kernels();
    statements();
    old_statements();
    flow();
    calls();
    links();
    source_lines();
    expect_good(sample);
    allocations();
    mutations(count > 1 ? (unsigned)strtoul(arguments[1], NULL, 0) : 5000);
    return 0;
}
