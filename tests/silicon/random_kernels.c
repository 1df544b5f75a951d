// SPDX-License-Identifier: MIT
// Random kernels (kernel_programs.h) whose lanes are in known parts of their warps. Each line has a
// sum of all registers at the end, of the threads' memory and of common memory.
#include "kernel_programs.h"

enum {
    KERNELS = 2400,
    PARTS = 12,
    MOST_REGISTERS = 80,
    MOST_WORDS = (MOST_REGISTERS + 16) * LANES
};
static uint64_t in[MOST_WORDS], out[MOST_WORDS], initial[LANES * OWN_B / 8];
static CUdeviceptr from, to, own, common;

static void set_up(void)
{
    record_context();
    NEED(cuMemAlloc(&from, sizeof in));
    NEED(cuMemAlloc(&to, sizeof out));
    NEED(cuMemAlloc(&own, sizeof initial));
    NEED(cuMemAlloc(&common, SLOTS * 8));
    form_state = 1;
    for (size_t i = 0; i < sizeof initial / 8; i++)
        initial[i] = form_draw_integer(64);
}

static void write_inputs(int number)
{
    uint64_t *next = in;
    form_state = (uint64_t)(number % 16) + SEED;
    for (int i = 0; i < POOLS; i++)
        for (int j = 0; j < pools[i].count; j++)
            for (int lane = 0; lane < LANES; lane++)
                *next++ = form_draw_value(pools[i].class);
    NEED(cuMemcpyHtoD(from, in, (size_t)(next - in) * 8));
}

static CUresult run(int number)
{
    CUmodule module;
    CUfunction function;
    void *arguments[] = {&from, &to, &own, &common};
    CUresult r = cuModuleLoadData(&module, text);
    if (r)
        return r;
    write_inputs(number);
    NEED(cuMemsetD8(to, 0xcd, sizeof out));
    NEED(cuMemcpyHtoD(own, initial, sizeof initial));
    NEED(cuMemcpyHtoD(common, initial, SLOTS * 8));
    r = cuModuleGetFunction(&function, module, "k");
    if (!r)
        r = cuLaunchKernel(function, BLOCKS, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL);
    if (!r)
        r = cuCtxSynchronize();
    if (r)
        return r;
    NEED(cuMemcpyDtoH(out, to, sizeof out));
    NEED(cuMemcpyDtoH(in, own, sizeof initial));
    NEED(cuMemcpyDtoH(in + sizeof initial / 8, common, SLOTS * 8));
    NEED(cuModuleUnload(module));
    return CUDA_SUCCESS;
}

static void kernel(int number)
{
    const int stored = registers() + SLOTS + 2;
    write_kernel(number);
    if (getenv("RECORD_TEXTS")) {
        char path[200];
        snprintf(path, sizeof path, "%s/%d.ptx", getenv("RECORD_TEXTS"), number);
        FILE *file = fopen(path, "w");
        fputs(text, file);
        fclose(file);
    }
    const CUresult r = run(number);
    if (r) {
        SAY("%s", record_brief(r));
        if (r != CUDA_ERROR_INVALID_PTX)
            _exit(2);
        return;
    }
    SAY("%016" PRIx64,
        form_hash(form_hash(1, out, (size_t)stored * LANES * 8), in, sizeof initial + SLOTS * 8));
    FILE *dump = getenv("RECORD_DUMP") ? fopen(getenv("RECORD_DUMP"), "a") : NULL;
    if (dump) {
        fprintf(dump, "%d", number);
        for (int n = 0; n < stored; n++)
            fprintf(dump, " %08" PRIx32, (uint32_t)form_hash(1, out + n * LANES, LANES * 8));
        fprintf(dump, " %016" PRIx64 "\n", form_hash(1, in, sizeof initial + SLOTS * 8));
        fclose(dump);
    }
}

static void part(int number)
{
    set_up();
    for (int i = number; i < KERNELS; i += PARTS)
        if (CASE("%d", i))
            kernel(i);
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
