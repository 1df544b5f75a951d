// SPDX-License-Identifier: MIT
// Functions that call each other through registers, with prototypes and lists of targets, and by
// name: results of random programs, and the size of the programs.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "module.h"
#include "program.h"
#include "run_text.h"

enum { LANES = 32, FUNCTIONS_MOST = 512, TEXT_B = 1 << 19, DEPTH = 5 };

// How a function calls one of two others.
enum how { BY_PROTOTYPE, BY_LIST, BY_NAME };

struct function {
    enum how how;
    unsigned callee[2], factor;
};

struct program {
    struct function f[FUNCTIONS_MOST];
    unsigned count;
};

static char text[TEXT_B];
static size_t used;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, list);
    va_end(list);
}

static unsigned below(uint64_t *state, unsigned limit)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((*state >> 33) % limit);
}

static struct program draw(uint64_t seed, unsigned count, bool prototypes_only)
{
    struct program p = {.count = count};
    for (unsigned i = 0; i < count; i++)
        p.f[i] = (struct function){
            .how = prototypes_only ? BY_PROTOTYPE : (enum how)below(&seed, 3),
            .callee = {below(&seed, count), below(&seed, count)},
            .factor = 1 + below(&seed, 100),
        };
    return p;
}

// The function of a and depth: after the call it uses a again.
static uint32_t expected(const struct program *p, unsigned i, uint32_t a, uint32_t depth)
{
    const struct function *f = &p->f[i];
    if (!depth)
        return a * f->factor + i;
    const unsigned callee = f->callee[f->how == BY_NAME ? 0 : (a >> depth) & 1];
    return expected(p, callee, a + f->factor, depth - 1) * 3 ^ (a + i);
}

// A call of %f with %a and %d; the result is %r. `i`: whose labels are unique.
static void call(const struct function *f, unsigned i)
{
    if (f->how == BY_PROTOTYPE)
        say("P%u: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n", i);
    if (f->how == BY_LIST)
        say("T%u: .calltargets f%u, f%u;\n", i, f->callee[0], f->callee[1]);
    say("{\n.param .b32 pa, pd, pr;\nst.param.b32 [pa], %%b;\nst.param.b32 [pd], %%e;\n");
    if (f->how == BY_NAME)
        say("call (pr), f%u, (pa, pd);\n", f->callee[0]);
    else
        say("call (pr), %%f, (pa, pd), %c%u;\n", f->how == BY_LIST ? 'T' : 'P', i);
    say("ld.param.b32 %%r, [pr];\n}\n");
}

static void write_text(const struct program *p)
{
    used = 0;
    say(".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 out);\n");
    for (unsigned i = 0; i < p->count; i++)
        say(".func (.param .b32 o) f%u(.param .b32 ia, .param .b32 id);\n", i);
    for (unsigned i = 0; i < p->count; i++) {
        const struct function *f = &p->f[i];
        say(".func (.param .b32 o) f%u(.param .b32 ia, .param .b32 id)\n{\n"
            ".reg .pred %%p, %%q;\n.reg .b32 %%a, %%b, %%d, %%e, %%r, %%s;\n"
            ".reg .b64 %%f, %%x, %%y;\nld.param.b32 %%a, [ia];\nld.param.b32 %%d, [id];\n"
            "setp.eq.u32 %%p, %%d, 0;\n@%%p bra LEAF;\n"
            "mov.u64 %%x, f%u;\nmov.u64 %%y, f%u;\nshr.u32 %%s, %%a, %%d;\nand.b32 %%s, %%s, 1;\n"
            "setp.eq.u32 %%q, %%s, 0;\nselp.b64 %%f, %%x, %%y, %%q;\n"
            "add.u32 %%b, %%a, %u;\nsub.u32 %%e, %%d, 1;\n",
            i, f->callee[0], f->callee[1], f->factor);
        call(f, i);
        say("mul.lo.u32 %%r, %%r, 3;\nadd.u32 %%s, %%a, %u;\nxor.b32 %%r, %%r, %%s;\n"
            "st.param.b32 [o], %%r;\nret;\n"
            "LEAF:\nmad.lo.u32 %%r, %%a, %u, %u;\nst.param.b32 [o], %%r;\nret;\n}\n",
            i, f->factor, i);
    }
    say(".visible .entry k(.param .u64 out)\n{\n.reg .b32 %%b, %%e, %%r, %%t;\n"
        ".reg .b64 %%f, %%o;\nld.param.u64 %%o, [out];\nmov.u32 %%t, %%tid.x;\n"
        "mul.lo.u32 %%b, %%t, 77;\nmov.u32 %%e, %d;\nmov.u64 %%f, f0;\n",
        DEPTH);
    call(&(const struct function){.how = BY_PROTOTYPE}, p->count);
    say("mad.wide.u32 %%o, %%t, 4, %%o;\nst.global.u32 [%%o], %%r;\nret;\n}\n");
}

static bool good = true;

static void results(uint64_t seed)
{
    uint32_t got[LANES] = {0};
    const struct program p = draw(seed, 2 + (unsigned)seed % 8, false);
    write_text(&p);
    if (run_text(text, LANES, got, sizeof got)) {
        fprintf(stderr, "program %llu does not run:\n%s", (unsigned long long)seed, text);
        exit(1);
    }
    for (uint32_t i = 0; i < LANES; i++)
        if (got[i] != expected(&p, 0, i * 77, DEPTH)) {
            fprintf(stderr, "program %llu, lane %u: %#x, expected %#x\n", (unsigned long long)seed,
                    i, got[i], expected(&p, 0, i * 77, DEPTH));
            good = false;
            return;
        }
}

// The operations and targets of branches of a program with so many functions and calls.
static size_t size_of(unsigned count)
{
    const struct program p = draw(1, count, true);
    struct px_report report;
    struct px_module *m;
    const struct px_program *program;
    unsigned kernel = 0;
    size_t size = 0;
    write_text(&p);
    if (px_module_load(text, used, &m, &report))
        exit(2);
    while (!m->functions[kernel].is_kernel)
        kernel++;
    if (px_program_get(m, kernel, &program, &report)) {
        fprintf(stderr, "%s\n", report.text);
        exit(3);
    }
    for (uint32_t i = 0; i < program->op_count; i++)
        size += 1 + program->ops[i].target_count;
    px_module_free(m);
    return size;
}

int main(void)
{
    dm_guard_init();
    for (uint64_t seed = 0; seed < 200; seed++)
        results(seed);
    // Each call may reach all functions, and costs the same for any number of them.
    const size_t few = size_of(FUNCTIONS_MOST / 8), many = size_of(FUNCTIONS_MOST);
    if (many > 8 * few + few) {
        fprintf(stderr, "%d functions: %zu operations and targets; an eighth of them: %zu\n",
                FUNCTIONS_MOST, many, few);
        good = false;
    }
    return good ? 0 : 1;
}
