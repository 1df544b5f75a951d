// SPDX-License-Identifier: MIT
// Forms of instructions (form_table.h), each in a kernel of its own, with random operands: a sum of
// all results, and some of them.
#include <inttypes.h>

#include "form_inputs.h"
#include "form_write.h"
#include "record.h"

#ifndef SEED
#define SEED 0
#endif

enum { COUNT = 2048, BLOCK = 128, OPERANDS = 4, RESULTS = 4, SHOWN = 3, MOST = 48, PARTS = 12 };

static char text[1 << 14];
static unsigned char in[COUNT * 8], out[RESULTS * COUNT * 8];
static const char classes[] = "hwlFDHBPQsp";
static CUdeviceptr inputs[sizeof classes][OPERANDS], results;

static size_t size_of(char class)
{
    return class == 'p' ? 4 : form_size(class);
}

static void set_up(void)
{
    record_context();
    NEED(cuMemAlloc(&results, sizeof out));
    for (size_t c = 0; classes[c]; c++)
        for (int k = 0; k < OPERANDS; k++) {
            const size_t size = size_of(classes[c]);
            form_state = c * OPERANDS + (unsigned)k;
            for (size_t i = 0; i < COUNT; i++) {
                const uint64_t value = form_draw_value(classes[c]);
                memcpy(in + i * size, &value, size);
            }
            NEED(cuMemAlloc(&inputs[c][k], sizeof in));
            NEED(cuMemcpyHtoD(inputs[c][k], in, sizeof in));
        }
}

static void write_kernel(const struct form *f)
{
    char names[8][24] = {{0}}, *p = text;
    p += sprintf(p,
                 ".version 8.8\n.target sm_90\n.address_size 64\n"
                 ".visible .entry k(.param .u64 o, .param .u64 i0, .param .u64 i1, "
                 ".param .u64 i2, .param .u64 i3)\n{\n.reg .pred %%z<8>;\n.reg .b32 %%t<4>;\n"
                 ".reg .b64 %%x, %%y;\n"
                 "mov.u32 %%t0, %%ctaid.x;\nmov.u32 %%t1, %%tid.x;\n"
                 "mad.lo.u32 %%t0, %%t0, %d, %%t1;\n",
                 BLOCK);
    for (int k = 0; f->operands[k]; k++) {
        const int size = (int)size_of(f->operands[k]);
        sprintf(names[4 + k], f->operands[k] == 'p' ? "%%z%d" : "%%i%d", k);
        p += sprintf(p,
                     ".reg .b%d %%i%d;\nld.param.u64 %%x, [i%d];\n"
                     "mad.wide.u32 %%x, %%t0, %d, %%x;\nld.global.b%d %%i%d, [%%x];\n",
                     size * 8, k, k, size, size * 8, k);
        if (f->operands[k] == 'p')
            p += sprintf(p, "and.b32 %%i%d, %%i%d, 1;\nsetp.ne.u32 %%z%d, %%i%d, 0;\n", k, k, k, k);
    }
    for (int k = 0; f->results[k]; k++) {
        sprintf(names[k], f->results[k] == 'p' ? "%%z%d" : "%%o%d",
                f->results[k] == 'p' ? 4 + k : k);
        p += sprintf(p, ".reg .b%d %%o%d;\n", (int)size_of(f->results[k]) * 8, k);
    }
    p += form_write(p, f, names, form_draw);
    p += sprintf(p, "\nld.param.u64 %%y, [o];\n");
    for (int k = 0; f->results[k]; k++) {
        const int size = (int)size_of(f->results[k]);
        if (f->results[k] == 'p')
            p += sprintf(p, "selp.b32 %%o%d, 1, 0, %%z%d;\n", k, 4 + k);
        p += sprintf(p, "mad.wide.u32 %%x, %%t0, %d, %%y;\nst.global.b%d [%%x+%d], %%o%d;\n", size,
                     size * 8, k * COUNT * 8, k);
    }
    sprintf(p, "ret;\n}\n");
}

static void run(const struct form *f)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr from[OPERANDS] = {0};
    void *arguments[1 + OPERANDS] = {&results};
    CUresult r = cuModuleLoadData(&module, text);
    if (r) {
        SAY("load %s", record_brief(r));
        return;
    }
    for (int k = 0; k < OPERANDS; k++) {
        if (k < (int)strlen(f->operands))
            from[k] = inputs[strchr(classes, f->operands[k]) - classes][k];
        arguments[1 + k] = &from[k];
    }
    r = cuModuleGetFunction(&function, module, "k");
    if (r) {
        SAY("get %s", record_brief(r));
        NEED(cuModuleUnload(module));
        return;
    }
    NEED(cuLaunchKernel(function, COUNT / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
    NEED(cuMemcpyDtoH(out, results, strlen(f->results) * COUNT * 8));
    NEED(cuModuleUnload(module));
    FILE *dump = getenv("RECORD_DUMP") ? fopen(getenv("RECORD_DUMP"), "ab") : NULL;
    for (size_t k = 0; f->results[k]; k++) {
        const size_t size = size_of(f->results[k]);
        const unsigned char *of = out + k * COUNT * 8;
        SAY("%s%016" PRIx64, k ? " " : "", form_hash(1, of, COUNT * size));
        for (size_t i = 0; i < SHOWN; i++) {
            uint64_t value = 0;
            memcpy(&value, of + i * size, size);
            SAY(" %" PRIx64, value);
        }
        if (dump)
            fwrite(of, size, COUNT, dump);
    }
    if (dump)
        fclose(dump);
}

// Rows with many forms draw some of them.
static void part(unsigned number)
{
    set_up();
    for (unsigned row = 0; row < FORM_ROWS; row++) {
        const uint64_t all = form_count(&form_rows[row]);
        const unsigned most = all < MOST ? (unsigned)all : MOST;
        for (unsigned i = 0; i < most; i++) {
            static struct form f;
            form_state = row * 1000003u + i + SEED;
            form_make(&form_rows[row], all <= MOST ? i : form_draw_64() % all, &f);
            if ((row + i) % PARTS != number || !CASE("%u-%u %s", row, i, f.text))
                continue;
            write_kernel(&f);
            if (getenv("RECORD_TEXTS")) {
                char path[200];
                snprintf(path, sizeof path, "%s/%u-%u.ptx", getenv("RECORD_TEXTS"), row, i);
                FILE *to = fopen(path, "w");
                fputs(text, to);
                fclose(to);
            }
            run(&f);
        }
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
