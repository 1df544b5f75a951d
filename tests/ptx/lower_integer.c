// SPDX-License-Identifier: MIT
// Lowering of integer, comparison, bit and video instructions: the forms of each statement, and the
// sentences that refuse wrong ones.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kn_lanes.h"
#include "kn_video.h"
#include "module.h"
#include "program.h"

static unsigned failures;

static const char head[] = ".version 8.5\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n"
                           ".reg .pred %p<6>;\n.reg .b16 %h<6>;\n.reg .b32 %r<6>;\n"
                           ".reg .b64 %x<6>;\n.reg .b128 %w<3>;\n";
static const char tail[] = "\nret;\n}\n";

static int lower(const char *statements, struct px_module **module,
                 const struct px_program **program, struct px_report *report)
{
    char text[4096];
    const int length = snprintf(text, sizeof(text), "%s%s%s", head, statements, tail);
    int error = px_module_load(text, (size_t)length, module, report);

    if (!error)
        error = px_program_get(*module, 0, program, report);
    return error;
}

// The names of a program's forms, with a space after each.
static void forms_of(const struct px_program *program, char *out, size_t size)
{
    unsigned count;
    const struct kn_form *forms = kn_forms(&count);

    *out = 0;
    for (uint32_t i = 0; i < program->op_count; i++)
        if (program->ops[i].code == PX_FORM)
            snprintf(out + strlen(out), size - strlen(out), "%s ",
                     forms[program->ops[i].form].name);
}

// The statements become these forms.
static void gives(const char *statements, const char *expected)
{
    struct px_module *module = NULL;
    const struct px_program *program = NULL;
    struct px_report report = {0};
    char names[512] = "";

    if (lower(statements, &module, &program, &report)) {
        failures++;
        fprintf(stderr, "FAIL %s: refused: %s\n", statements, report.text);
    } else {
        forms_of(program, names, sizeof(names));
        if (strcmp(names, expected) != 0) {
            failures++;
            fprintf(stderr, "FAIL %s: got \"%s\", expected \"%s\"\n", statements, names, expected);
        }
    }
    px_module_free(module);
}

// The statement, which is in line 11 of the text, is refused by a sentence that contains `words`.
static void refused(const char *statement, const char *words)
{
    struct px_module *module = NULL;
    const struct px_program *program = NULL;
    struct px_report report = {0};

    if (!lower(statement, &module, &program, &report)) {
        failures++;
        fprintf(stderr, "FAIL %s: is not refused\n", statement);
    } else if (!strstr(report.text, words) || report.line != 11) {
        failures++;
        fprintf(stderr, "FAIL %s: refused by \"%s\" in line %u; expected \"%s\" in line 11\n",
                statement, report.text, report.line, words);
    }
    px_module_free(module);
}

static void arithmetic(void)
{
    gives("add.s32 %r0, %r1, -5;", "add.32 ");
    gives("mad.wide.u32 %x0, %r0, 4, %x1;", "mad.wide.u32 ");
    gives("add.cc.u32 %r0, %r1, %r2; addc.u32 %r3, %r1, 0;", "add.cc.32 addc.32 ");
    gives("madc.hi.cc.s64 %x0, %x1, %x2, %x3;", "madc.hi.cc.s64 ");
    gives("min.relu.s16x2 %r0, %r1, %r2;", "min.relu.s16x2 ");
    gives("bfi.b64 %x0, %x1, %x2, 3, %r0;", "bfi.64 ");
    gives("shr.b16 %h0, %h1, %r0;", "shr.u16 ");
    refused("add.cc.u16 %h0, %h1, %h2;", ".u16");
    refused("add.s32 %r0, %r1, -%r2;", "cannot be negated");
    refused("add.u32 %r0, %x1, %r2;", "%x1");
}

static void comparisons(void)
{
    gives("setp.gt.s32 %p0, %r0, %r1;", "setp.lt.s32 ");
    gives("setp.lo.u64 %p0|%p1, %x0, %x1;", "setp.lt.u64 not.pred ");
    gives("setp.ne.or.b16 %p0, %h0, 3, %p0;", "setp.ne.16 or.pred ");
    gives("set.le.f32.u32 %r0, %r1, %r2;", "setp.le.u32 selp.32 ");
    gives("lop3.or.b32 _|%p0, %r0, %r1, %r2, 0x80, %p1;", "lop3.32 setp.ne.32 or.pred ");
    refused("setp.lt.b32 %p0, %r0, %r1;", ".eq and .ne only");
    refused("setp.hi.s32 %p0, %r0, %r1;", "is signed");
    refused("lop3.b32 %r0, %r1, %r2, %r3, 256;", "not in the range 0 to 255");
}

static void vectors(void)
{
    gives("mov.b64 {%r0, _}, %x0;", "unpack.64.32x2 ");
    gives("mov.b32 %r0, {%h0, %h1};", "pack.32.16x2 ");
    gives("mov.b128 %w0, {%x0, %x1};", "pack.128.64x2 ");
    gives("mov.b64 %x0, {%h0, %h1, %h2, %h3};", "pack.64.16x4 ");
    refused("mov.b64 {%r0, %r1, %r2}, %x0;", "does not have 3 elements");
    refused("mov.u32 %r0, {%h0, %h1};", "needs a type .b16 to .b128");
}

// The immediate of the only form of a statement.
static struct kn_video video_of(const char *statement)
{
    struct px_module *module = NULL;
    const struct px_program *program = NULL;
    struct px_report report = {0};
    struct kn_video v = {0};

    if (lower(statement, &module, &program, &report)) {
        failures++;
        fprintf(stderr, "FAIL %s: refused: %s\n", statement, report.text);
    } else {
        v = kn_video_unpack(program->ops[0].immediate);
    }
    px_module_free(module);
    return v;
}

static void video(void)
{
    struct kn_video v = video_of("vadd.s32.u32.s32.sat %r0.b1, %r1.h1, %r2.b3, %r3;");

    if (v.write != KN_VIDEO_B0 + 1 || v.a != KN_VIDEO_H0 + 1 || v.b != KN_VIDEO_B0 + 3 ||
        v.flags != (KN_VIDEO_SIGNED_D | KN_VIDEO_SIGNED_B | KN_VIDEO_SATURATE)) {
        failures++;
        fprintf(stderr, "FAIL vadd: part %u, of a %u, of b %u, flags %x\n", v.write, v.a, v.b,
                v.flags);
    }
    v = video_of("vsub4.u32.u32.u32 %r0.b20, %r1.b7531, %r2, %r3;");
    if (v.write != 5 || v.a != 0x7531 || v.b != 0x7654 || v.operation != KN_VIDEO_SUB) {
        failures++;
        fprintf(stderr, "FAIL vsub4: mask %x, of a %x, of b %x, operation %u\n", v.write, v.a, v.b,
                v.operation);
    }
    v = video_of("vmad.s32.s32.s32.shr15 %r0, %r1.h0, -%r2.h1, %r3;");
    if (v.write != 15 || !(v.flags & KN_VIDEO_MINUS_AB)) {
        failures++;
        fprintf(stderr, "FAIL vmad: shift %u, flags %x\n", v.write, v.flags);
    }
    refused("vadd.u32.u32.u32 %r0, %r1.b4, %r2;", "selector .b4");
    refused("vadd.u32.u32.u32.max %r0, %r1, %r2;", "third source is missing");
    v = video_of("vadd.u32.u32.u32 %r0, %r1, %r2, %r3;");
    if (v.second) {
        failures++;
        fprintf(stderr, "FAIL vadd: a third source makes a secondary operation\n");
    }
    refused("vadd2.u32.u32.u32 %r0.h01, %r1, %r2, %r3;", "falling order");
    refused("vmad.u32.u32.u32.po %r0, %r1, %r2, -%r3;", "negated");
}

int main(void)
{
    arithmetic();
    comparisons();
    vectors();
    video();
    return failures != 0;
}
