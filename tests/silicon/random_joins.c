// SPDX-License-Identifier: MIT
// Two decisions of NVIDIA's compiler. Groups nans_…: which NaN an operation of .f64 returns if
// several operands are NaNs, by the way in which they came into their registers; all inputs are
// different NaNs. Groups joined_…: which products and sums without a rounding modifier become one
// fma. Each line has a sum of all registers, and the bytes or words of some lanes.
#include <inttypes.h>

#include "form_inputs.h"
#include "record.h"

#ifndef SEED
#define SEED 0
#endif

enum { LANES = 32, REGISTERS = 8, TEXT_B = 1 << 15, CASES = 200, SHOWN = 4, DEEPEST = 2 };

// Properties that programs of a group may have.
enum {
    MINMAX = 1 << 0,
    MOVES = 1 << 1,
    SIGNS = 1 << 2,
    CONSTANTS = 1 << 3,
    GUARDS = 1 << 4,
    BRANCHES = 1 << 5,
    LOOPS = 1 << 6,
    SELECTS = 1 << 7,
    LOADS = 1 << 8,
    OTHERS = 1 << 9,
    CALLS = 1 << 10,
    ROUNDED = 1 << 11,
    CLAMPED = 1 << 12,
};

static char text[TEXT_B];
static size_t length;
static int labels, loops;
static uint64_t in[LANES * REGISTERS], out[LANES * REGISTERS];
static CUdeviceptr from, to;

__attribute__((format(printf, 1, 2))) static void add(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    length += (size_t)vsnprintf(text + length, TEXT_B - length, format, list);
    va_end(list);
}

static unsigned draw(unsigned n)
{
    return form_draw() % n;
}

static void set_up(void)
{
    record_context();
    NEED(cuMemAlloc(&from, sizeof in));
    NEED(cuMemAlloc(&to, sizeof out));
}

// ---- NaNs ----

static void value(unsigned has, char to_text[32])
{
    if (has & CONSTANTS && !draw(5))
        sprintf(to_text, "0d%016" PRIX64,
                draw(2) ? UINT64_C(0x7ff8000000000040) + draw(16) : UINT64_C(0x3ff8000000000000));
    else
        sprintf(to_text, "%%D%u", draw(REGISTERS));
}

static void nan_operation(unsigned has)
{
    static const char *const names[] = {"add.rn", "sub.rn", "mul.rn", "fma.rn", "min", "max"};
    const unsigned n = draw(has & MINMAX ? 6 : 4), d = draw(REGISTERS);
    char a[32], b[32], c[32];
    value(has, a);
    value(has, b);
    value(has, c);
    add("%s.f64 %%D%u, %s, %s%s%s;\n", names[n], d, a, b, n == 3 ? ", " : "", n == 3 ? c : "");
}

static void nan_other(unsigned has)
{
    const unsigned d = draw(REGISTERS), a = draw(REGISTERS), b = draw(REGISTERS), p = draw(5);
    if (has & MOVES && draw(2)) {
        add("mov.f64 %%D%u, %%D%u;\n", d, a);
    } else if (has & SIGNS && draw(2)) {
        add("%s.f64 %%D%u, %%D%u;\n", draw(3) ? "neg" : "abs", d, a);
    } else if (has & SELECTS && draw(2)) {
        add("selp.f64 %%D%u, %%D%u, %%D%u, %%p%u;\n", d, a, b, p);
    } else if (has & LOADS && draw(2)) {
        if (draw(2))
            add("st.global.f64 [%%i+%u], %%D%u;\n", a * LANES * 8, b);
        add("ld.global.f64 %%D%u, [%%i+%u];\n", d, a * LANES * 8);
    } else if (has & OTHERS && draw(2)) {
        static const char *const one[] = {"rcp.rn", "sqrt.rn", "cvt.rzi.f64"};
        if (draw(2))
            add("%s.f64 %%D%u, %%D%u;\n", one[draw(3)], d, a);
        else if (draw(2))
            add("div.rn.f64 %%D%u, %%D%u, %%D%u;\n", d, a, b);
        else
            add("mov.b64 %%l, %%D%u;\nxor.b64 %%l, %%l, 0x80;\nmov.b64 %%D%u, %%l;\n", a, d);
    } else if (has & CALLS && draw(2)) {
        add("{\n.param .f64 a0;\n.param .f64 a1;\n.param .f64 r0;\nst.param.f64 [a0], %%D%u;\n"
            "st.param.f64 [a1], %%D%u;\ncall (r0), f, (a0, a1);\nld.param.f64 %%D%u, [r0];\n}\n",
            a, b, d);
    } else {
        nan_operation(has);
    }
}

static void nan_statements(unsigned has, int depth, int count);

static void nan_statement(unsigned has, int depth)
{
    const int label = labels;
    const unsigned kind = draw(10), p = draw(5);
    if (kind == 0 && has & BRANCHES && depth < DEEPEST) {
        labels += 2;
        add("@%s%%p%u bra L%d;\n", draw(2) ? "!" : "", p, label);
        nan_statements(has, depth + 1, 1 + (int)draw(3));
        if (draw(2)) {
            add("bra L%d;\nL%d:\n", label + 1, label);
            nan_statements(has, depth + 1, 1 + (int)draw(3));
            add("L%d:\n", label + 1);
        } else {
            add("L%d:\n", label);
        }
    } else if (kind == 1 && has & LOOPS && depth < DEEPEST) {
        const int counter = loops++;
        labels++;
        add("mov.u32 %%c%d, %u;\nL%d:\n", counter, 1 + draw(4), label);
        nan_statements(has, depth + 1, 1 + (int)draw(4));
        add("sub.u32 %%c%d, %%c%d, 1;\nsetp.ne.u32 %%pc%d, %%c%d, 0;\n@%%pc%d bra L%d;\n", counter,
            counter, counter, counter, counter, label);
    } else {
        if (has & GUARDS && !draw(3))
            add("@%s%%p%u ", draw(2) ? "!" : "", p);
        else if (draw(3) == 0) {
            nan_other(has);
            return;
        }
        nan_operation(has);
    }
}

static void nan_statements(unsigned has, int depth, int count)
{
    for (int i = 0; i < count; i++)
        nan_statement(has, depth);
}

// Loads registers in any order from any place.
static void begin(const char *letter, int bits)
{
    unsigned places[REGISTERS], order[REGISTERS];
    for (unsigned i = 0; i < REGISTERS; i++)
        places[i] = order[i] = i;
    for (unsigned i = REGISTERS - 1; i; i--) {
        const unsigned j = draw(i + 1), k = draw(i + 1), p = places[i], o = order[i];
        places[i] = places[j];
        places[j] = p;
        order[i] = order[k];
        order[k] = o;
    }
    add(".visible .entry k(.param .u64 p_in, .param .u64 p_out)\n{\n"
        ".reg .b%d %%%s<%d>;\n.reg .pred %%p<5>, %%pc<40>;\n.reg .b32 %%t<2>, %%c<40>;\n"
        ".reg .b64 %%i, %%o, %%x, %%l;\nld.param.u64 %%i, [p_in];\nld.param.u64 %%o, [p_out];\n"
        "mov.u32 %%t0, %%tid.x;\nmul.wide.u32 %%x, %%t0, 8;\nadd.u64 %%i, %%i, %%x;\n"
        "add.u64 %%o, %%o, %%x;\n",
        bits, letter, REGISTERS);
    for (unsigned i = 0; i < 5; i++)
        add("and.b32 %%t1, %%t0, %u;\nsetp.ne.u32 %%p%u, %%t1, 0;\n", 1u << i, i);
    for (unsigned i = 0; i < REGISTERS; i++)
        add("ld.global.b%d %%%s%u, [%%i+%u];\n", bits, letter, order[i], places[i] * LANES * 8);
}

static void end(const char *letter, int bits)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        add("st.global.b%d [%%o+%u], %%%s%u;\n", bits, i * LANES * 8, letter, i);
    add("ret;\n}\n");
}

static void run(const char *name)
{
    CUmodule module;
    CUfunction function;
    void *arguments[] = {&from, &to};
    if (getenv("RECORD_TEXTS")) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s.ptx", getenv("RECORD_TEXTS"), name);
        FILE *file = fopen(path, "w");
        fputs(text, file);
        fclose(file);
    }
    CUresult r = cuModuleLoadData(&module, text);
    if (r) {
        SAY("%s", record_brief(r));
        return;
    }
    NEED(cuModuleGetFunction(&function, module, "k"));
    NEED(cuMemcpyHtoD(from, in, sizeof in));
    NEED(cuMemsetD8(to, 0, sizeof out));
    NEED(cuLaunchKernel(function, 1, 1, 1, LANES, 1, 1, 0, NULL, arguments, NULL));
    NEED(cuMemcpyDtoH(out, to, sizeof out));
    NEED(cuModuleUnload(module));
    SAY("%016" PRIx64, form_hash(1, out, sizeof out));
    FILE *dump = getenv("RECORD_DUMP") ? fopen(getenv("RECORD_DUMP"), "a") : NULL;
    if (dump) {
        fprintf(dump, "%s", name);
        for (int i = 0; i < REGISTERS * LANES; i++)
            fprintf(dump, " %" PRIx64, out[i]);
        fprintf(dump, "\n");
        fclose(dump);
    }
}

static void nans(const char *group, unsigned seed, unsigned has)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        char name[40];
        form_state = seed * UINT64_C(100000) + i + SEED;
        length = 0;
        labels = loops = 0;
        add(".version 8.8\n.target sm_90\n.address_size 64\n"
            ".func (.param .f64 r) f(.param .f64 a, .param .f64 b)\n{\n.reg .f64 %%x<4>;\n"
            "ld.param.f64 %%x%u, [a];\nld.param.f64 %%x%u, [b];\n",
            i & 1, !(i & 1));
        add("%s.rn.f64 %%x2, %%x0, %%x1;\nst.param.f64 [r], %%x2;\nret;\n}\n",
            draw(2) ? "add" : "mul");
        begin("D", 64);
        nan_statements(has, 0, 2 + (int)draw(10));
        end("D", 64);
        for (unsigned r = 0; r < REGISTERS; r++)
            for (unsigned lane = 0; lane < LANES; lane++)
                in[r * LANES + lane] = UINT64_C(0x7ff8000000000001) + r + ((uint64_t)lane << 8);
        snprintf(name, sizeof name, "%s-%u", group, i);
        if (!CASE("%u", i))
            continue;
        run(name);
        for (unsigned r = 0; r < REGISTERS; r++)
            SAY(" %02x%02x", (unsigned)(out[r * LANES] & 0xff),
                (unsigned)(out[r * LANES + LANES - 1] & 0xff));
    }
}

// ---- products and sums ----

static const struct {
    const char *type;
    char class;
    int bits;
} kinds[] = {{"f32", 'F', 32},   {"f64", 'D', 64},  {"f16", 'H', 16},
             {"f16x2", 'P', 32}, {"bf16", 'B', 16}, {"bf16x2", 'Q', 32}};

static void joined_statement(unsigned has, int kind)
{
    const char *type = kinds[kind].type, *rounded = "", *flush = "", *clamped = "";
    const unsigned d = draw(REGISTERS), a = draw(REGISTERS), b = draw(REGISTERS),
                   c = draw(REGISTERS), n = draw(8);
    const bool f32 = !kind, f16 = kind == 2 || kind == 3;
    if (has & GUARDS && !draw(4))
        add("@%s%%p%u ", draw(2) ? "!" : "", draw(5));
    if (has & SIGNS && n == 0) {
        add("%s.%s %%r%u, %%r%u;\n", draw(2) ? "neg" : "abs", type, d, a);
        return;
    }
    if (has & MOVES && n == 1) {
        add("mov.b%d %%r%u, %%r%u;\n", kinds[kind].bits, d, a);
        return;
    }
    if (has & ROUNDED && !draw(4))
        rounded = ".rn";
    if (has & CLAMPED && (f32 || f16) && !draw(3))
        flush = ".ftz";
    if (has & CLAMPED && (f32 || f16) && !draw(4))
        clamped = ".sat";
    if (n == 2)
        add("fma.rn%s%s.%s %%r%u, %%r%u, %%r%u, %%r%u;\n", flush, clamped, type, d, a, b, c);
    else
        add("%s%s%s%s.%s %%r%u, %%r%u, %%r%u;\n",
            n < 5   ? "mul"
            : n < 7 ? "add"
                    : "sub",
            rounded, flush, clamped, type, d, a, b);
}

static void joined(unsigned seed, unsigned has)
{
    set_up();
    for (unsigned i = 0; i < CASES; i++) {
        char name[40];
        const int kind = i < CASES / 2 ? 0 : (int)(i % 6);
        form_state = seed * UINT64_C(100000) + i + SEED;
        length = 0;
        labels = loops = 0;
        add(".version 8.8\n.target sm_90\n.address_size 64\n");
        begin("r", kinds[kind].bits);
        for (int n = 2 + (int)draw(8); n; n--) {
            const int label = labels;
            const bool branch = has & BRANCHES && !draw(4),
                       loop = has & LOOPS && !branch && !draw(5);
            if (branch)
                add("@%%p%u bra L%d;\n", draw(5), label);
            if (loop)
                add("mov.u32 %%c%d, %u;\nL%d:\n", loops, 1 + draw(3), label);
            labels += branch || loop;
            joined_statement(has, kind);
            if (branch || loop)
                joined_statement(has, kind);
            if (branch)
                add("L%d:\n", label);
            if (loop) {
                add("sub.u32 %%c%d, %%c%d, 1;\nsetp.ne.u32 %%pc%d, %%c%d, 0;\n@%%pc%d bra L%d;\n",
                    loops, loops, loops, loops, loops, label);
                loops++;
            }
        }
        end("r", kinds[kind].bits);
        for (unsigned n = 0; n < REGISTERS * LANES; n++) {
            do
                in[n] = form_draw_value(kinds[kind].class);
            while (kind == 0 && n % LANES < 24 &&
                   ((in[n] >> 23 & 0xff) < 100 || (in[n] >> 23 & 0xff) > 140));
        }
        snprintf(name, sizeof name, "joined-%u-%u", seed, i);
        if (!CASE("%u %s", i, kinds[kind].type))
            continue;
        run(name);
        for (unsigned n = 0; n < SHOWN; n++)
            SAY(" %" PRIx64, out[n * 2 * LANES + n]);
    }
}

#define NANS(name, seed, has)                                                                      \
    GROUP(name)                                                                                    \
    {                                                                                              \
        nans(#name, seed, has);                                                                    \
    }
#define JOINED(name, seed, has)                                                                    \
    GROUP(name)                                                                                    \
    {                                                                                              \
        joined(seed, has);                                                                         \
    }
NANS(nans_plain, 1, 0)
NANS(nans_minmax, 2, MINMAX)
NANS(nans_moves, 3, MOVES)
NANS(nans_signs, 4, SIGNS)
NANS(nans_constants, 5, CONSTANTS)
NANS(nans_guards, 6, GUARDS)
NANS(nans_branches, 7, BRANCHES)
NANS(nans_loops, 8, LOOPS)
NANS(nans_selects, 9, SELECTS | LOADS)
NANS(nans_others, 10, OTHERS | CALLS)
NANS(nans_flow, 11, BRANCHES | LOOPS | GUARDS | MOVES)
NANS(nans_all, 12, 0x7ff)
JOINED(joined_plain, 20, 0)
JOINED(joined_signs, 21, SIGNS | MOVES | ROUNDED)
JOINED(joined_clamped, 22, CLAMPED | ROUNDED)
JOINED(joined_flow, 23, SIGNS | MOVES | ROUNDED | GUARDS | BRANCHES | LOOPS)

int main(int argc, char **argv)
{
    RUN(nans_plain);
    RUN(nans_minmax);
    RUN(nans_moves);
    RUN(nans_signs);
    RUN(nans_constants);
    RUN(nans_guards);
    RUN(nans_branches);
    RUN(nans_loops);
    RUN(nans_selects);
    RUN(nans_others);
    RUN(nans_flow);
    RUN(nans_all);
    RUN(joined_plain);
    RUN(joined_signs);
    RUN(joined_clamped);
    RUN(joined_flow);
    return 0;
}
