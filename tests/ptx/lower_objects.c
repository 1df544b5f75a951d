// SPDX-License-Identifier: MIT
// Lowering of instructions about textures and surfaces: the forms of each statement, the sentences
// that refuse wrong ones, and the arguments and references that a program uses.
#include <errno.h>
#include <string.h>

#include "expect.h"
#include "kn_lanes.h"
#include "kn_surface.h"
#include "module.h"
#include "program.h"

static const char head[] =
    ".version 8.5\n.target sm_90\n.address_size 64\n"
    ".global .texref tex_a;\n.global .surfref surf_a;\n.global .u32 word;\n"
    ".visible .entry k(.param .u64 t, .param .u64 s, .param .texref direct)\n{\n"
    ".reg .pred %p<6>;\n.reg .b16 %h<6>;\n.reg .b32 %r<9>;\n.reg .f32 %f<9>;\n"
    ".reg .b64 %t, %s, %x<6>;\nld.param.u64 %t, [t];\nld.param.u64 %s, [s];\n";
enum { LINE = 16 }; // of the first statement

static int lower(const char *statements, struct px_module **module,
                 const struct px_program **program, struct px_report *report)
{
    char text[4096];
    const int length = snprintf(text, sizeof text, "%s%s\nret;\n}\n", head, statements);
    const int error = px_module_load(text, (size_t)length, module, report);
    return error ? error : px_program_get(*module, 0, program, report);
}

// The names of a program's forms after the loads of the parameters.
static void forms_of(const struct px_program *program, char *out, size_t size)
{
    unsigned count, skip = 2;
    const struct kn_form *forms = kn_forms(&count);
    *out = 0;
    for (uint32_t i = 0; i < program->op_count; i++) {
        if (program->ops[i].code != PX_FORM)
            continue;
        if (skip && skip--)
            continue;
        snprintf(out + strlen(out), size - strlen(out), "%s ", forms[program->ops[i].form].name);
    }
}

static void gives(const char *statements, const char *expected)
{
    struct px_module *module = NULL;
    const struct px_program *program = NULL;
    struct px_report report = {0};
    char names[512] = "";
    const int rc = lower(statements, &module, &program, &report);
    if (!rc)
        forms_of(program, names, sizeof names);
    if (rc || strcmp(names, expected)) {
        fprintf(stderr, "%s: %d \"%s\", got \"%s\", expected \"%s\"\n", statements, rc, report.text,
                names, expected);
        abort();
    }
    px_module_free(module);
}

static void refused(const char *statement, int code, const char *words)
{
    struct px_module *module = NULL;
    const struct px_program *program = NULL;
    struct px_report report = {0};
    const int rc = lower(statement, &module, &program, &report);
    if (rc != code || !strstr(report.text, words) || report.line != LINE) {
        fprintf(stderr, "%s: %d \"%s\" in line %u, expected %d \"%s\" in line %d\n", statement, rc,
                report.text, report.line, code, words, LINE);
        abort();
    }
    px_module_free(module);
}

#define FOUR "{%f1, %f2, %f3, %f4}, "

static void textures(void)
{
    gives("tex.1d.v4.f32.f32 " FOUR "[%t, {%f5}];", "tex ");
    gives("tex.1d.v4.f32.f32 " FOUR "[%t, %f5];", "tex ");
    gives("tex.2d.v4.f32.s32 " FOUR "[%t, {%r5, %r6}];", "tex ");
    gives("tex.base.3d.v4.f32.f32 " FOUR "[%t, {%f5, %f6, %f7, %f7}];", "tex ");
    gives("tex.a2d.v4.u32.f32 {%r1, _, %r3, %r4}, [%t, {%r5, %f5, %f6, %f6}];", "tex ");
    gives("tex.level.2d.v4.f32.f32 " FOUR "[%t, {%f5, %f6}], 0f3f800000;", "tex.level ");
    gives("tex.grad.2d.v4.f32.f32 " FOUR "[%t, {%f5, %f6}], {%f5, %f6}, {%f6, %f5};", "tex.grad ");
    gives("tex.2d.v4.f32.f32 " FOUR "[%t, {%f5, %f6}], {1, %r2};", "tex.offset ");
    gives("tex.level.1d.v4.f32.f32 " FOUR "[%t, {%f5}], %f6, {%r2};", "tex.level.offset ");
    gives("tex.2d.v4.f32.f32 " FOUR "[%t, {%f5, %f6}], %f7;", "tex "); // depth compare
    gives("tex.2d.v2.f16x2.f32 {%r1, %r2}, [%t, {%f5, %f6}];",
          "tex cvt.rn.f16x2.f32 cvt.rn.f16x2.f32 ");
    gives("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%t, {%f5, %f6}];", "tex mov.pred ");
    gives("tld4.g.2d.v4.f32.f32 " FOUR "[%t, {%f5, %f6}];", "tld4 ");
    gives("txq.width.b32 %r1, [%t];", "txq ");
    gives("txq.level.height.b32 %r1, [%t], 1;", "txq ");
    gives("tex.1d.v4.f32.f32 " FOUR "[tex_a, {%f5}];", "tex ");
    gives("tex.1d.v4.f32.f32 " FOUR "[direct, {%f5}];", "tex ");
    gives("istypep.texref %p1, %t;", "mov.pred ");
}

static void refused_textures(void)
{
    refused("tex.2d.v4.f32.f32 " FOUR "[%t, {%f5}];", -EINVAL, "there are 1 coordinates");
    refused("tex.3d.v4.f32.f32 " FOUR "[%t, {%f5, %f6, %f7}];", -EINVAL, "a vector of 3 elements");
    refused("tex.2d.v4.f32.f32 " FOUR "[%t];", -EINVAL, "no coordinates");
    refused("tex.2d.v4.f32.f32 {%f1, %f2}, [%t, {%f5, %f6}];", -EINVAL, "2 elements instead of 4");
    refused("tex.2d.v2.f32.f32 {%f1, %f2}, [%t, {%f5, %f6}];", -EINVAL, ".v2 goes with .f16x2");
    refused("tex.2d.v4.f32.f32 {%h1, %h2, %h3, %h4}, [%t, {%f5, %f6}];", -EINVAL, "%h1");
    refused("tex.2d.v4.f32.f32 " FOUR "[%r1, {%f5, %f6}];", -EINVAL, "%r1");
    refused("tex.2d.v4.f32.f32 " FOUR "[word, {%f5, %f6}];", -EINVAL, "not a reference");
    refused("tex.2d.v4.f32.f32 " FOUR "[surf_a, {%f5, %f6}];", -EINVAL, "not a reference");
    refused("tex.cube.v4.f32.s32 " FOUR "[%t, {%r5, %r6, %r7, %r7}];", -EINVAL, ".f32");
    refused("tex.2d.v4.f32.f32 " FOUR "[%t, %s, {%f5, %f6}];", -EINVAL,
            "a sampler apart from the texture");
    refused("txq.num_samples.b32 %r1, [%t];", -ENOENT, "leaves out");
    refused("tld4.g.1d.v4.f32.f32 " FOUR "[%t, {%f5}];", -ENOEXEC, ".1d is not possible");
}

static void surfaces(void)
{
    gives("suld.b.1d.b32.trap %r1, [%s, {%r2}];", "suld.b32 ");
    gives("suld.b.2d.v4.b32.clamp {%r1, %r2, %r3, %r4}, [%s, {%r5, %r6}];", "suld.b32 ");
    gives("suld.b.a2d.v2.b64.zero {%x1, %x2}, [%s, {%r5, %r6, %r7, %r7}];", "suld.b64 ");
    gives("suld.b.2d.ca.b8.zero %r1, [%s, {%r5, %r6}];", "suld.b8 cvt.u32.u16 ");
    gives("sust.b.3d.b16.zero [%s, {%r5, %r6, %r7, %r7}], %h1;", "sust.b16 ");
    gives("sust.p.2d.v2.b32.trap [%s, {%r5, %r6}], {%r1, 5};", "sust.p.b32 ");
    gives("sured.b.add.2d.s32.trap [%s, {%r5, %r6}], %r1;", "fence.light sured.b.add.32 ");
    gives("sured.b.min.2d.s64.trap [%s, {%r5, %r6}], %x1;", "fence.light sured.b.min.s64 ");
    gives("sured.p.max.2d.b32.trap [%s, {%r5, %r6}], %r1;", "fence.light sured.p.max.b32 ");
    gives("suq.depth.b32 %r1, [%s];", "suq ");
    gives("suld.b.1d.b32.trap %r1, [surf_a, {%r2}];", "suld.b32 ");
}

static void refused_surfaces(void)
{
    refused("suld.b.1d.b32 %r1, [%s, {%r2}];", -ENOEXEC, "a modifier is missing");
    refused("suld.b.2d.v4.b64.zero {%x1, %x2, %x3, %x4}, [%s, {%r5, %r6}];", -EINVAL, "128 bits");
    refused("suld.b.2d.v2.b32.zero %r1, [%s, {%r5, %r6}];", -EINVAL, "1 elements instead of 2");
    refused("suld.b.a1d.b32.zero %r1, [%s, {%r5}];", -EINVAL, "there are 1 coordinates");
    refused("suld.b.2d.b32.zero %r1, [tex_a, {%r5, %r6}];", -EINVAL, "not a reference");
    refused("sured.b.add.2d.b32.zero [%s, {%r5, %r6}], %r1;", -ENOEXEC, ".b32 is not possible");
    refused("suld.b.cube.b32.zero %r1, [%s, {%r5, %r6}];", -ENOEXEC, ".cube is not possible");
    refused("suq.array_size.b32 %r1, [%s];", -ENOSYS, "refuses texts");
}

// ---- uses ----

struct use {
    enum kn_object_kind kind;
    bool writes;
    uint32_t argument_B; // PX_NONE: a reference
};

static void uses(const char *statements, unsigned count, const struct use *expected, bool other,
                 bool other_writes)
{
    struct px_module *module = NULL;
    const struct px_program *program = NULL;
    struct px_report report = {0};
    EXPECT_EQ(lower(statements, &module, &program, &report), 0);
    const struct px_object_uses *got = &program->objects;
    EXPECT_EQ(got->count, count);
    EXPECT_EQ(got->other, other);
    EXPECT_EQ(got->other_writes, other_writes);
    for (unsigned i = 0; i < count; i++) {
        EXPECT_EQ(got->list[i].kind, expected[i].kind);
        EXPECT_EQ(got->list[i].writes, expected[i].writes);
        EXPECT_EQ(got->list[i].argument_B, expected[i].argument_B);
        EXPECT_EQ(got->list[i].variable == PX_NONE, expected[i].argument_B != PX_NONE);
    }
    px_module_free(module);
}

static void uses_of_arguments(void)
{
    static const struct use texture = {KN_OBJECT_TEXTURE, false, 0},
                            read = {KN_OBJECT_SURFACE, false, 8},
                            written = {KN_OBJECT_SURFACE, true, 8};
    uses("", 0, NULL, false, false);
    uses("mov.u64 %x1, %t;", 0, NULL, false, false); // a copy is no use
    uses("tex.1d.v4.f32.f32 " FOUR "[%t, {%f5}];\ntxq.width.b32 %r1, [%t];", 1, &texture, false,
         false);
    uses("suld.b.1d.b32.trap %r1, [%s, {%r2}];", 1, &read, false, false);
    uses("suld.b.1d.b32.trap %r1, [%s, {%r2}];\nsust.b.1d.b32.trap [%s, {%r2}], %r1;", 1, &written,
         false, false);
    uses("mov.u64 %x1, %s;\nmov.u64 %x2, %x1;\nsust.b.1d.b32.trap [%x2, {%r2}], %r1;", 1, &written,
         false, false);
}

static void uses_from_elsewhere(void)
{
    static const struct use both[] = {{KN_OBJECT_TEXTURE, false, 0}, {KN_OBJECT_TEXTURE, false, 8}},
                            reference = {KN_OBJECT_TEXTURE, false, PX_NONE};
    uses("selp.b64 %x1, %t, %s, %p1;\ntex.1d.v4.f32.f32 " FOUR "[%x1, {%f5}];", 2, both, false,
         false);
    uses("tex.1d.v4.f32.f32 " FOUR "[tex_a, {%f5}];", 1, &reference, false, false);
    uses("ld.global.u64 %x1, [%t];\ntex.1d.v4.f32.f32 " FOUR "[%x1, {%f5}];", 0, NULL, true, false);
    uses("ld.global.u64 %x1, [%t];\nsust.b.1d.b32.trap [%x1, {%r2}], %r1;", 0, NULL, true, true);
}

int main(void)
{
    textures();
    refused_textures();
    surfaces();
    refused_surfaces();
    uses_of_arguments();
    uses_from_elsewhere();
    return 0;
}
