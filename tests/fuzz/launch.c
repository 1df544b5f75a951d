// SPDX-License-Identifier: MIT
// Fuzzes launches: extents of grids and blocks, dynamic shared memory, parameters in both forms and
// launch attributes. The kernel counts its threads and writes down its parameters and extents. A
// model predicts the result of each launch and all that the kernel writes.
#include "fuzz.h"

enum {
    WORDS = 16,
    STEPS = 24,
    THREADS_MOST = 1024, // of a block
    SHARED_MOST_B = 48 << 10,
    TOTAL_MOST = 1 << 14, // threads of a launch that is run
    EXTRA_B = 24,         // the size of the parameters
};

// k(p, value, byte): p[0] += 1 for each thread; the last thread of the last block writes the rest.
static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 p, .param .u64 value, .param .u8 byte)\n{\n"
    ".reg .u64 %p, %v;\n.reg .u32 %a, %b, %t, %s;\n.reg .pred %q;\n"
    "ld.param.u64 %p, [p];\nred.global.add.u32 [%p], 1;\n"
    "mov.u32 %a, %nctaid.x;\nmov.u32 %b, %ctaid.x;\nadd.u32 %b, %b, 1;\n"
    "setp.ne.u32 %q, %a, %b;\n@%q exit;\n"
    "mov.u32 %a, %nctaid.y;\nmov.u32 %b, %ctaid.y;\nadd.u32 %b, %b, 1;\n"
    "setp.ne.u32 %q, %a, %b;\n@%q exit;\n"
    "mov.u32 %a, %nctaid.z;\nmov.u32 %b, %ctaid.z;\nadd.u32 %b, %b, 1;\n"
    "setp.ne.u32 %q, %a, %b;\n@%q exit;\n"
    "mov.u32 %t, %tid.x;\nmov.u32 %s, %tid.y;\nadd.u32 %t, %t, %s;\n"
    "mov.u32 %s, %tid.z;\nadd.u32 %t, %t, %s;\n"
    "setp.ne.u32 %q, %t, 0;\n@%q exit;\n"
    "ld.param.u64 %v, [value];\nst.global.u64 [%p+8], %v;\n"
    "ld.param.u8 %a, [byte];\nst.global.u32 [%p+4], %a;\n"
    "mov.u32 %a, %ntid.x;\nst.global.u32 [%p+16], %a;\n"
    "mov.u32 %a, %ntid.y;\nst.global.u32 [%p+20], %a;\n"
    "mov.u32 %a, %ntid.z;\nst.global.u32 [%p+24], %a;\n"
    "mov.u32 %a, %nctaid.x;\nst.global.u32 [%p+28], %a;\n"
    "mov.u32 %a, %nctaid.y;\nst.global.u32 [%p+32], %a;\n"
    "mov.u32 %a, %nctaid.z;\nst.global.u32 [%p+36], %a;\n"
    "mov.u32 %a, %dynamic_smem_size;\nst.global.u32 [%p+40], %a;\n"
    "ret;\n}\n";

struct model {
    CUfunction kernel;
    CUdeviceptr memory;
    uint32_t words[WORDS];
};

struct shape {
    unsigned grid[3], block[3], shared_B;
};

static unsigned extent(struct fuzz_input *in, unsigned most)
{
    static const unsigned hostile[] = {0, 65, 1024, 1025, 65535, 65536, INT32_MAX, 1u << 31, ~0u};
    if (fuzz_chance(in, 16))
        return hostile[fuzz_below(in, FUZZ_COUNT(hostile))];
    return 1 + fuzz_below(in, most);
}

// "The maximum grid is 2^31 - 1 x 65535 x 65535, the maximum block 1024 x 1024 x 64 with at most
// 1024 threads" (compute capability 3.0 and later).
static bool is_valid(const struct shape *s)
{
    for (unsigned i = 0; i < 3; i++) {
        if (!s->grid[i] || !s->block[i])
            return false;
    }
    if (s->grid[0] > INT32_MAX || s->grid[1] > 65535 || s->grid[2] > 65535 || s->block[0] > 1024 ||
        s->block[1] > 1024 || s->block[2] > 64)
        return false;
    return (uint64_t)s->block[0] * s->block[1] * s->block[2] <= THREADS_MOST &&
           s->shared_B <= SHARED_MOST_B;
}

static struct shape any_shape(struct fuzz_input *in)
{
    struct shape s = {.grid = {extent(in, 6), extent(in, 3), extent(in, 3)},
                      .block = {extent(in, 40), extent(in, 4), extent(in, 3)}};
    if (fuzz_chance(in, 3))
        s.shared_B = (unsigned)fuzz_take(in, 2);
    if (fuzz_chance(in, 32))
        s.shared_B = (unsigned)fuzz_take(in, 4);
    return s;
}

static uint64_t threads_of(const struct shape *s)
{
    uint64_t blocks = (uint64_t)s->grid[0] * s->grid[1];
    if (blocks > TOTAL_MOST || !is_valid(s))
        return UINT64_MAX;
    return blocks * s->grid[2] * s->block[0] * s->block[1] * s->block[2];
}

static void ran(struct model *m, const struct shape *s, uint64_t value, uint8_t byte)
{
    m->words[0] += (uint32_t)threads_of(s);
    m->words[1] = byte;
    memcpy(&m->words[2], &value, sizeof value);
    memcpy(&m->words[4], s->block, sizeof s->block);
    memcpy(&m->words[7], s->grid, sizeof s->grid);
    m->words[10] = s->shared_B;
}

// Attributes that change no result. Returns whether they are valid.
static bool any_attributes(struct fuzz_input *in, const struct shape *s, CUlaunchAttribute *a,
                           unsigned *count)
{
    bool valid = true;
    unsigned cluster = 1; // the last one counts
    *count = fuzz_below(in, 3);
    memset(a, 0, *count * sizeof *a);
    for (unsigned i = 0; i < *count; i++) {
        switch (fuzz_below(in, 5)) {
        case 0:
            a[i].id = CU_LAUNCH_ATTRIBUTE_IGNORE;
            break;
        case 1:
            a[i].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
            break;
        case 2: // "the grid must be a multiple of the cluster"
            a[i].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            a[i].value.clusterDim.x = cluster = 1 + fuzz_below(in, 3);
            a[i].value.clusterDim.y = a[i].value.clusterDim.z = 1;
            break;
        case 3:
            a[i].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            a[i].value.programmaticStreamSerializationAllowed = 1;
            break;
        default:
            a[i].id = (CUlaunchAttributeID)(1000 + fuzz_take(in, 2));
            valid = false;
        }
    }
    return valid && s->grid[0] % cluster == 0;
}

static void launch(struct fuzz_input *in, struct model *m)
{
    struct shape s = any_shape(in);
    CUlaunchAttribute attributes[3];
    unsigned how = fuzz_below(in, 4), count = 0;
    uint64_t value = fuzz_take(in, 8);
    uint8_t byte = (uint8_t)fuzz_take(in, 1), buffer[EXTRA_B] = {0};
    size_t buffer_B = 17; // the end of the last parameter
    void *params[] = {&m->memory, &value, &byte};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &buffer_B,
                     CU_LAUNCH_PARAM_END};
    bool valid = is_valid(&s);
    if (valid && threads_of(&s) > TOTAL_MOST)
        return;
    memcpy(buffer, &m->memory, 8);
    memcpy(buffer + 8, &value, 8);
    buffer[16] = byte;
    if (how > 1)
        valid &= any_attributes(in, &s, attributes, &count);
    const CUlaunchConfig config = {.gridDimX = s.grid[0],
                                   .gridDimY = s.grid[1],
                                   .gridDimZ = s.grid[2],
                                   .blockDimX = s.block[0],
                                   .blockDimY = s.block[1],
                                   .blockDimZ = s.block[2],
                                   .sharedMemBytes = s.shared_B,
                                   .attrs = attributes,
                                   .numAttrs = count};
    void **list = how % 2 ? NULL : params, **packed = how % 2 ? extra : NULL;
    CUresult r = how > 1 ? cuLaunchKernelEx(&config, m->kernel, list, packed)
                         : cuLaunchKernel(m->kernel, s.grid[0], s.grid[1], s.grid[2], s.block[0],
                                          s.block[1], s.block[2], s.shared_B, NULL, list, packed);
    FUZZ_CHECK(!r == valid, "how %u: %u x %u x %u blocks of %u x %u x %u, %u B, %u attributes: %d",
               how, s.grid[0], s.grid[1], s.grid[2], s.block[0], s.block[1], s.block[2], s.shared_B,
               count, (int)r);
    if (!r)
        ran(m, &s, value, byte);
}

static void compare(const struct model *m)
{
    uint32_t got[WORDS];
    FUZZ_OK(cuMemcpyDtoH(got, m->memory, sizeof got));
    for (unsigned i = 0; i < WORDS; i++)
        FUZZ_CHECK(got[i] == m->words[i], "word %u is %#x, expected %#x", i, got[i], m->words[i]);
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    struct model m;
    CUmodule module;
    memset(&m, 0, sizeof m);
    CUcontext context = fuzz_context();
    FUZZ_OK(cuModuleLoadData(&module, text));
    FUZZ_OK(cuModuleGetFunction(&m.kernel, module, "k"));
    FUZZ_OK(cuMemAlloc(&m.memory, sizeof m.words));
    FUZZ_OK(cuMemsetD8(m.memory, 0, sizeof m.words));
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++) {
        if (fuzz_chance(&in, 4))
            compare(&m);
        else
            launch(&in, &m);
    }
    compare(&m);
    FUZZ_OK(cuMemFree(m.memory));
    FUZZ_OK(cuModuleUnload(module));
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
