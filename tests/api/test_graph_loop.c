// SPDX-License-Identifier: MIT
// Conditional nodes that repeat their body: how often it runs, endless loops, and loops of kernels.
#include "conditional.h"

// ---- loops ----

// Must not look at the word that the loop writes: the two would not be ordered.
static void *end_loop(void *unused)
{
    (void)unused;
    for (int i = 0; i < 100; i++)
        EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cardlessGraphSetConditional(handle, 0));
    return NULL;
}

// The loop does not keep the thread that launches it.
TEST(while_runs_until_the_value_is_0)
{
    start();
    CUgraph g = new_graph(), *bodies = add_conditional(g, CU_GRAPH_COND_TYPE_WHILE, 1, 1, NULL);
    pthread_t thread;
    add_fill(bodies[0], 0, 1);
    CUgraphExec x = instantiate(g);
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    pthread_create(&thread, NULL, end_loop, NULL);
    EXPECT_OK(cuStreamSynchronize(s));
    pthread_join(thread, NULL);
    EXPECT_EQ(word(0), 1);
}

// A branch beside the loop ends it.
TEST(loop_takes_turns_with_other_nodes)
{
    start();
    CUgraph g = new_graph(), *bodies = add_conditional(g, CU_GRAPH_COND_TYPE_WHILE, 1, 1, NULL);
    add_fill(bodies[0], 0, 1);
    CUgraphNode fill = add_fill(g, 1, 2), set = add_set_value(g, 0);
    MUST(cuGraphAddDependencies(g, &fill, &set, NULL, 1));
    CUgraphExec x = instantiate(g);
    for (int i = 0; i < 20; i++)
        EXPECT_EQ(run(x) % 1000, 200);
}

TEST(loop_without_nodes_ends)
{
    start();
    CUgraph g = new_graph();
    add_conditional(g, CU_GRAPH_COND_TYPE_WHILE, 1, 1, NULL);
    CUgraphExec x = instantiate(g);
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    EXPECT_OK(cardlessGraphSetConditional(handle, 0));
    EXPECT_OK(cuStreamSynchronize(s));
}

// Launches a loop that nothing ends.
static void loop_endlessly(unsigned filled)
{
    CUgraph g = new_graph(), *bodies = add_conditional(g, CU_GRAPH_COND_TYPE_WHILE, 1, 1, NULL);
    add_fill(bodies[0], filled, 1);
    EXPECT_OK(cuGraphLaunch(instantiate(g), s));
}

// Other streams go on, and the end of the process ends the loop.
TEST(endless_loop)
{
    start();
    CUstream other;
    loop_endlessly(0);
    MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuMemsetD32Async(device + 64, 5, 1, other));
    EXPECT_OK(cuStreamSynchronize(other));
    EXPECT_EQ(word(16), 5);
    EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
}

// A context that ends, in one of two ways, ends the loops in its streams.
static void end_context_of_loops(const char *policy, bool primary)
{
    CUcontext created;
    test_setting("CARDLESS_POLICY", policy);
    start();
    if (!primary) {
        MUST(cuCtxCreate(&created, &(CUctxCreateParams){0}, 0, 0));
        context = created;
        MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
        MUST(cuMemAlloc(&device, 65536));
    }
    loop_endlessly(0);
    MUST(cuStreamCreate(&s, CU_STREAM_DEFAULT));
    loop_endlessly(2);
    EXPECT_EQ(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
    EXPECT_OK(primary ? cuDevicePrimaryCtxReset(0) : cuCtxDestroy(created));
    start();
    EXPECT_EQ(word(0), 0);
    CUgraph g = new_graph();
    add_fill(add_conditional(g, CU_GRAPH_COND_TYPE_IF, 1, 1, NULL)[0], 0, 1);
    EXPECT_EQ(run(instantiate(g)), 1000);
}

TEST(context_with_endless_loops)
{
    end_context_of_loops("eager", false);
}

TEST(context_with_endless_loops_lazy)
{
    end_context_of_loops("lazy", false);
}

TEST(context_with_endless_loops_seed)
{
    end_context_of_loops("seed:7", false);
}

TEST(context_with_endless_loops_parallel)
{
    end_context_of_loops("parallel", false);
}

TEST(reset_with_endless_loops)
{
    end_context_of_loops("eager", true);
}

TEST(reset_with_endless_loops_lazy)
{
    end_context_of_loops("lazy", true);
}

TEST(reset_with_endless_loops_seed)
{
    end_context_of_loops("seed:7", true);
}

TEST(reset_with_endless_loops_parallel)
{
    end_context_of_loops("parallel", true);
}

// ---- loops of kernels ----

// Counts a word down, and sets a conditional value to what is left.
static void count_down(unsigned *at, uint64_t which)
{
    EXPECT_OK(cardlessGraphSetConditional(which, --*at));
}

// Starts an inner loop again, and counts its starts.
static void start_again(unsigned *at, uint64_t inner, unsigned rounds)
{
    at[0] = rounds;
    at[2]++;
    EXPECT_OK(cardlessGraphSetConditional(inner, 1));
}

static const cardlessParam count_down_params[] = {{.type = CARDLESS_POINTER},
                                                  {.type = CARDLESS_UINT64}};
static const cardlessParam start_again_params[] = {
    {.type = CARDLESS_POINTER}, {.type = CARDLESS_UINT64}, {.type = CARDLESS_UINT32}};
static const cardlessKernelDesc kernels[] = {
    {.name = "count_down",
     .function = (void (*)(void))count_down,
     .params = count_down_params,
     .param_count = 2},
    {.name = "start_again",
     .function = (void (*)(void))start_again,
     .params = start_again_params,
     .param_count = 3},
};
static const cardlessModuleDesc table = {CARDLESS_MODULE_MAGIC, CARDLESS_VERSION,
                                         .kernels = kernels, .kernel_count = 2};
static CUfunction functions[2];

static bool load_kernels(void)
{
    CUmodule module;
    CUresult r = cuModuleLoadData(&module, &table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        return false; // no libffi
    MUST(r);
    for (int i = 0; i < 2; i++)
        MUST(cuModuleGetFunction(&functions[i], module, kernels[i].name));
    return true;
}

static CUgraphNode add_kernel(CUgraph g, CUfunction f, void **arguments)
{
    CUgraphNode n;
    CUDA_KERNEL_NODE_PARAMS p = {.func = f,
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 1,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = arguments};
    MUST(cuGraphAddKernelNode(&n, g, NULL, 0, &p));
    return n;
}

TEST(loop_of_a_kernel)
{
    start();
    if (!load_kernels())
        SKIP("no libffi");
    CUgraph g = new_graph(), *bodies = add_conditional(g, CU_GRAPH_COND_TYPE_WHILE, 1, 1, NULL);
    add_kernel(bodies[0], functions[0], (void *[]){&device, &handle});
    CUgraphExec x = instantiate(g);
    for (unsigned count = 1; count <= 100000; count *= 10) {
        MUST(cuMemsetD32(device, count, 1));
        MUST(cuCtxSynchronize());
        EXPECT_OK(cuGraphLaunch(x, s));
        EXPECT_OK(cuStreamSynchronize(s));
        EXPECT_EQ(word(0), 0);
    }
}

// What nvcc makes of a kernel that calls cudaGraphSetConditional: the driver provides the function.
static const char counts_down[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);\n"
    ".visible .entry count_down(.param .u64 word, .param .u64 handle)\n{\n"
    ".reg .b64 %w, %h;\n.reg .b32 %v;\n"
    "ld.param.u64 %w, [word];\nld.param.u64 %h, [handle];\n"
    "ld.global.u32 %v, [%w];\nsub.u32 %v, %v, 1;\nst.global.u32 [%w], %v;\n"
    "{\n.param .b64 a;\n.param .b32 b;\n"
    "st.param.b64 [a], %h;\nst.param.b32 [b], %v;\n"
    "call.uni cudaGraphSetConditional, (a, b);\n}\nret;\n}\n";

TEST(loop_of_a_kernel_in_ptx)
{
    CUmodule module;
    CUfunction function;
    start();
    MUST(cuModuleLoadData(&module, counts_down));
    MUST(cuModuleGetFunction(&function, module, "count_down"));
    CUgraph g = new_graph(), *bodies = add_conditional(g, CU_GRAPH_COND_TYPE_WHILE, 1, 1, NULL);
    add_kernel(bodies[0], function, (void *[]){&device, &handle});
    add_fill(bodies[0], 1, 9);
    CUgraphExec x = instantiate(g);
    MUST(cuMemsetD32(device, 17, 1));
    MUST(cuCtxSynchronize());
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(word(0), 0);
    EXPECT_EQ(word(1), 9);
}

// A kernel that sets the value of something else is no fault of the kernel: the call is reported.
TEST(kernel_in_ptx_with_a_wrong_handle)
{
    CUmodule module;
    CUfunction function;
    CUgraphConditionalHandle wrong = 1234;
    start();
    MUST(cuModuleLoadData(&module, counts_down));
    MUST(cuModuleGetFunction(&function, module, "count_down"));
    MUST(cuMemsetD32(device, 17, 1));
    EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, s, (void *[]){&device, &wrong}, NULL));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(word(0), 16);
}

// The outer loop runs 7 times, and each time the inner one 5 times.
TEST(loop_in_a_loop)
{
    start();
    if (!load_kernels())
        SKIP("no libffi");
    CUgraph g = new_graph(), *outer, *inner;
    CUgraphConditionalHandle outer_handle;
    CUgraphNode loop, first, last;
    CUdeviceptr rounds = device + 4;
    unsigned five = 5;
    outer = add_conditional(g, CU_GRAPH_COND_TYPE_WHILE, 1, 1, NULL);
    outer_handle = handle;
    inner = add_conditional(outer[0], CU_GRAPH_COND_TYPE_WHILE, 1, 0, &loop);
    first = add_kernel(outer[0], functions[1], (void *[]){&device, &handle, &five});
    last = add_kernel(outer[0], functions[0], (void *[]){&rounds, &outer_handle});
    add_kernel(inner[0], functions[0], (void *[]){&device, &handle});
    add_fill(inner[0], 3, 9);
    MUST(cuGraphAddDependencies(outer[0], &first, &loop, NULL, 1));
    MUST(cuGraphAddDependencies(outer[0], &loop, &last, NULL, 1));
    CUgraphExec x = instantiate(g);
    MUST(cuMemsetD32(device + 4, 7, 1));
    MUST(cuCtxSynchronize());
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    EXPECT_EQ(word(0), 0);
    EXPECT_EQ(word(1), 0);
    EXPECT_EQ(word(2), 7);
    EXPECT_EQ(word(3), 9);
}

TESTS(CASE(while_runs_until_the_value_is_0), CASE(loop_takes_turns_with_other_nodes),
      CASE(loop_without_nodes_ends), CASE(endless_loop), CASE(context_with_endless_loops),
      CASE(context_with_endless_loops_lazy), CASE(context_with_endless_loops_seed),
      CASE(context_with_endless_loops_parallel), CASE(reset_with_endless_loops),
      CASE(reset_with_endless_loops_lazy), CASE(reset_with_endless_loops_seed),
      CASE(reset_with_endless_loops_parallel), CASE(loop_of_a_kernel),
      CASE(loop_of_a_kernel_in_ptx), CASE(kernel_in_ptx_with_a_wrong_handle), CASE(loop_in_a_loop))
