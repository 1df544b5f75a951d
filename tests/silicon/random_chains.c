// SPDX-License-Identifier: MIT
// Chains of up to three forms of instructions (form_table.h), whose operands are registers, the
// results of earlier ones, constants, or the same register twice: NVIDIA's compiler computes with
// constants itself, and joins instructions. Each line has a sum of what is stored, and some of it.
#include <inttypes.h>

#include "form_inputs.h"
#include "form_write.h"
#include "record.h"

enum {
    CASES = 3600,
    PARTS = 12,
    COUNT = 1024,
    BLOCK = 128,
    INPUTS = 3, // of each class
    STEPS = 3,
    MOST_RESULTS = 4 * STEPS,
    SHOWN = 3,
    TEXT_B = 1 << 15,
};

#ifndef SEED
#define SEED 0
#endif

static const char classes[] = "hwlFDHBPQp";
static char text[TEXT_B];
static size_t length;
static unsigned char in[COUNT * 8], out[MOST_RESULTS * COUNT * 8];
static CUdeviceptr inputs[sizeof classes][INPUTS], results;

// The results of a chain so far.
static struct {
    char class, name[24];
    bool stored;
} made[MOST_RESULTS];
static int makes;
static bool loaded[sizeof classes][INPUTS];
static char loads[TEXT_B / 2], steps[TEXT_B / 2];
static size_t loads_length, steps_length;

static unsigned draw(unsigned n)
{
    return form_draw() % n;
}

static size_t size_of(char class)
{
    return class == 'p' ? 4 : form_size(class);
}

static void set_up(void)
{
    record_context();
    NEED(cuMemAlloc(&results, sizeof out));
    for (size_t c = 0; classes[c]; c++)
        for (int k = 0; k < INPUTS; k++) {
            const size_t size = size_of(classes[c]);
            form_state = c * INPUTS + (unsigned)k;
            for (size_t i = 0; i < COUNT; i++) {
                const uint64_t value = form_draw_value(classes[c]);
                memcpy(in + i * size, &value, size);
            }
            NEED(cuMemAlloc(&inputs[c][k], sizeof in));
            NEED(cuMemcpyHtoD(inputs[c][k], in, sizeof in));
        }
}

// ---- operands ----

static void load(int c, int k)
{
    const int bits = (int)size_of(classes[c]) * 8;
    char *to = loads + loads_length;
    if (loaded[c][k])
        return;
    loaded[c][k] = true;
    to += sprintf(to,
                  ".reg .b%d %%%c%d;\nld.global.u64 %%x, [%%i+%d];\n"
                  "mad.wide.u32 %%x, %%n, %d, %%x;\nld.global.b%d %%%c%d, [%%x];\n",
                  bits, classes[c], k, (c * INPUTS + k) * 8, bits / 8, bits, classes[c], k);
    if (classes[c] == 'p')
        to += sprintf(to,
                      ".reg .pred %%z%d;\nand.b32 %%p%d, %%p%d, 1;\nsetp.ne.u32 %%z%d, %%p%d, 0;\n",
                      k, k, k, k, k);
    loads_length = (size_t)(to - loads);
}

// A constant of a class. 16-bit floats, pairs and predicates have no constants.
static bool constant(char class, char *to)
{
    static const float floats[] = {0, 1, -1, 2, 0.5f, -2, 4, 0.25f};
    uint64_t value = form_draw_value(class);
    if (!strchr("hwlsFD", class))
        return false;
    if (class == 'F' && draw(2)) {
        uint32_t bits;
        memcpy(&bits, &floats[draw(sizeof floats / sizeof *floats)], 4);
        value = draw(6) ? bits : 0x80000000;
    }
    if (class == 'D' && draw(2)) {
        const double d = floats[draw(sizeof floats / sizeof *floats)];
        memcpy(&value, &d, 8);
        value = draw(6) ? value : UINT64_C(0x8000000000000000);
    }
    if (class == 'F')
        sprintf(to, "0f%08" PRIX32, (uint32_t)value);
    else if (class == 'D')
        sprintf(to, "0d%016" PRIX64, value);
    else if (class == 's')
        sprintf(to, "%u", draw(70));
    else if (class == 'h')
        sprintf(to, "%d", draw(2) ? (int)(value & 0xffff) : (int)(int16_t)value);
    else if (class == 'w' && draw(2))
        sprintf(to, "%" PRId32, (int32_t)value);
    else if (class == 'w')
        sprintf(to, "0x%" PRIx32, (uint32_t)value);
    else
        sprintf(to, "%" PRId64, (int64_t)value);
    return true;
}

static void operand(char class, const char *before, bool constants, char *to)
{
    const char real = class == 's' ? 'w' : class;
    const unsigned kind = draw(8);
    int same[MOST_RESULTS], count = 0;
    if (constants && kind < 3 && constant(class, to))
        return;
    if (kind == 3 && before) {
        strcpy(to, before);
        return;
    }
    for (int i = 0; i < makes; i++)
        if (made[i].class == real)
            same[count++] = i;
    if (count && draw(4)) {
        strcpy(to, made[same[draw((unsigned)count)]].name);
        return;
    }
    const int c = (int)(strchr(classes, real) - classes), k = (int)draw(INPUTS);
    load(c, k);
    sprintf(to, "%%%c%d", real == 'p' ? 'z' : real, k);
}

// ---- chains ----

static void step(bool alone)
{
    struct form f;
    char names[8][24] = {{0}};
    const struct form_row *row;
    do
        row = &form_rows[draw(FORM_ROWS)];
    while (row->where == FORM_WARP || (row->where == FORM_ALONE && !alone));
    form_make(row, form_draw_64() % form_count(row), &f);
    const bool constants = !strchr(f.text, '<') && !strstr(f.text, "$x");
    for (int k = 0; f.operands[k]; k++) {
        const char *before = NULL;
        for (int j = 0; j < k; j++)
            if (f.operands[j] == f.operands[k])
                before = names[4 + j];
        operand(f.operands[k], before, constants, names[4 + k]);
    }
    for (int k = 0; f.results[k]; k++) {
        made[makes].class = f.results[k];
        made[makes].stored = false;
        sprintf(names[k], "%%o%d", makes);
        strcpy(made[makes].name, names[k]);
        makes++;
        if (f.results[k] == 'p')
            steps_length += (size_t)sprintf(steps + steps_length, ".reg .pred %s;\n", names[k]);
        else
            steps_length += (size_t)sprintf(steps + steps_length, ".reg .b%d %s;\n",
                                            (int)form_size(f.results[k]) * 8, names[k]);
    }
    steps_length += form_write(steps + steps_length, &f, names, form_draw);
    steps_length += (size_t)sprintf(steps + steps_length, "\n");
}

static void write_chain(void)
{
    const int count = 1 + (int)draw(STEPS);
    int last = 0;
    makes = 0;
    loads_length = steps_length = 0;
    memset(loaded, 0, sizeof loaded);
    for (int i = 0; i < count; i++) {
        last = makes;
        step(count == 1);
    }
    length = (size_t)sprintf(text,
                             ".version 8.8\n.target sm_90\n.address_size 64\n"
                             ".visible .entry k(.param .u64 o, .param .u64 i)\n{\n"
                             ".reg .b32 %%n, %%t;\n.reg .b64 %%x, %%y, %%i;\n"
                             "mov.u32 %%n, %%ctaid.x;\nmov.u32 %%t, %%tid.x;\n"
                             "mad.lo.u32 %%n, %%n, %d, %%t;\n"
                             "ld.param.u64 %%y, [o];\nld.param.u64 %%i, [i];\n",
                             BLOCK);
    length += (size_t)sprintf(text + length, "%.*s%.*s", (int)loads_length, loads,
                              (int)steps_length, steps);
    for (int i = 0; i < makes; i++) {
        const int bits = (int)size_of(made[i].class) * 8;
        if (i < last && draw(3))
            continue;
        made[i].stored = true;
        if (made[i].class == 'p')
            length += (size_t)sprintf(text + length, "selp.b32 %%t, 1, 0, %s;\n", made[i].name);
        length += (size_t)sprintf(
            text + length, "mad.wide.u32 %%x, %%n, %d, %%y;\nst.global.b%d [%%x+%d], %s;\n",
            bits / 8, bits, i * COUNT * 8, made[i].class == 'p' ? "%t" : made[i].name);
    }
    sprintf(text + length, "ret;\n}\n");
}

static void dump(const char *name)
{
    FILE *file = getenv("RECORD_DUMP") ? fopen(getenv("RECORD_DUMP"), "a") : NULL;
    if (!file)
        return;
    for (int k = 0; k < makes; k++)
        for (size_t i = 0; made[k].stored && i < 64; i++) {
            uint64_t value = 0;
            memcpy(&value, out + k * COUNT * 8 + i * size_of(made[k].class),
                   size_of(made[k].class));
            fprintf(file, "%s %d %zu %" PRIx64 "\n", name, k, i, value);
        }
    fclose(file);
}

static void run(int number)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr table;
    void *arguments[] = {&results, &table};
    char name[16];
    CUresult r = cuModuleLoadData(&module, text);
    if (r) {
        SAY("%s", record_brief(r));
        return;
    }
    NEED(cuModuleGetFunction(&function, module, "k"));
    NEED(cuMemAlloc(&table, sizeof inputs));
    NEED(cuMemcpyHtoD(table, inputs, sizeof inputs));
    NEED(cuLaunchKernel(function, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
    NEED(cuMemcpyDtoH(out, results, sizeof out));
    NEED(cuMemFree(table));
    NEED(cuModuleUnload(module));
    sprintf(name, "%d", number);
    dump(name);
    const char *separator = "";
    for (int k = 0; k < makes; k++) {
        const size_t size = size_of(made[k].class);
        const unsigned char *of = out + k * COUNT * 8;
        if (!made[k].stored)
            continue;
        SAY("%s%016" PRIx64, separator, form_hash(1, of, COUNT * size));
        separator = " ";
        for (size_t i = 0; i < SHOWN; i++) {
            uint64_t value = 0;
            memcpy(&value, of + i * size, size);
            SAY(" %" PRIx64, value);
        }
    }
}

static void part(int number)
{
    set_up();
    for (int i = number; i < CASES; i += PARTS) {
        form_state = SEED + (uint64_t)i * 7919;
        write_chain();
        if (!CASE("%d", i))
            continue;
        if (getenv("RECORD_TEXTS")) {
            char path[200];
            snprintf(path, sizeof path, "%s/%d.ptx", getenv("RECORD_TEXTS"), i);
            FILE *to = fopen(path, "w");
            fputs(text, to);
            fclose(to);
        }
        run(i);
    }
}

#define PARTS_(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define PART(n)                                                                                    \
    GROUP(part##n)                                                                                 \
    {                                                                                              \
        part(n);                                                                                   \
    }
PARTS_(PART)

int main(int argc, char **argv)
{
#define RUN_PART(n) RUN(part##n);
    PARTS_(RUN_PART)
    return 0;
}
