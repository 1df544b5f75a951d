// SPDX-License-Identifier: MIT
// Conditional nodes: which body runs, how often, and when a loop ends; handles and their values;
// bodies inside of bodies; updates. The values come from functions of the host.
#include <cardless.h>
#include <pthread.h>

#include "../harness.h"

static CUcontext context;
static CUstream s;
static CUdeviceptr device; // 64 KiB
static CUgraphConditionalHandle handle;

static void start(void)
{
    context = test_context();
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&device, 65536));
    MUST(cuMemsetD8(device, 0, 65536));
}

static CUgraph new_graph(void)
{
    CUgraph g;
    MUST(cuGraphCreate(&g, 0));
    return g;
}

static CUgraphConditionalHandle new_handle(CUgraph g, unsigned value, unsigned flags)
{
    CUgraphConditionalHandle h;
    MUST(cuGraphConditionalHandleCreate(&h, g, context, value, flags));
    return h;
}

static CUgraphNodeParams params_of(CUgraphConditionalHandle h, CUgraphConditionalNodeType type,
                                   unsigned size)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    p.conditional.handle = h;
    p.conditional.type = type;
    p.conditional.size = size;
    p.conditional.ctx = context;
    return p;
}

// Adds a conditional node for a new handle, whose default value is `value`. Returns its bodies.
static CUgraph *add_conditional(CUgraph g, CUgraphConditionalNodeType type, unsigned size,
                                unsigned value, CUgraphNode *out)
{
    CUgraphNode n;
    handle = new_handle(g, value, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CUgraphNodeParams p = params_of(handle, type, size);
    MUST(cuGraphAddNode(out ? out : &n, g, NULL, NULL, 0, &p));
    return p.conditional.phGraph_out;
}

static CUgraphNode add_fill(CUgraph g, unsigned word, unsigned value)
{
    CUgraphNode n;
    CUDA_MEMSET_NODE_PARAMS p = {
        .dst = device + 4 * word, .value = value, .elementSize = 4, .width = 1, .height = 1};
    MUST(cuGraphAddMemsetNode(&n, g, NULL, 0, &p, context));
    return n;
}

static CUgraphExec instantiate(CUgraph g)
{
    CUgraphExec x;
    MUST(cuGraphInstantiate(&x, g, 0));
    return x;
}

static unsigned word(unsigned at)
{
    unsigned v = 0;
    MUST(cuMemcpyDtoH(&v, device + 4 * at, 4));
    return v;
}

// Launches, and returns the words 0 to 3 as digits.
static unsigned run(CUgraphExec x)
{
    MUST(cuMemsetD8(device, 0, 64));
    MUST(cuCtxSynchronize());
    EXPECT_OK(cuGraphLaunch(x, s));
    EXPECT_OK(cuStreamSynchronize(s));
    return word(0) * 1000 + word(1) * 100 + word(2) * 10 + word(3);
}

static void CUDA_CB set_value(void *value)
{
    EXPECT_OK(cardlessGraphSetConditional(handle, (unsigned)(uintptr_t)value));
}

static CUgraphNode add_set_value(CUgraph g, unsigned value)
{
    CUgraphNode n;
    CUDA_HOST_NODE_PARAMS p = {.fn = set_value, .userData = (void *)(uintptr_t)value};
    MUST(cuGraphAddHostNode(&n, g, NULL, 0, &p));
    return n;
}

// ---- which body runs ----

TEST(if_and_else)
{
    start();
    for (unsigned size = 1; size <= 2; size++)
        for (unsigned value = 0; value < 3; value++) {
            CUgraph g = new_graph(), *bodies;
            bodies = add_conditional(g, CU_GRAPH_COND_TYPE_IF, size, value, NULL);
            for (unsigned i = 0; i < size; i++)
                add_fill(bodies[i], i, i + 1);
            CUgraphExec x = instantiate(g);
            EXPECT_EQ(run(x), value ? 1000 : size == 2 ? 200 : 0);
            EXPECT_EQ(run(x), value ? 1000 : size == 2 ? 200 : 0);
            MUST(cuGraphExecDestroy(x));
            MUST(cuGraphDestroy(g));
        }
}

TEST(switch_runs_the_body_of_the_value)
{
    start();
    const unsigned values[] = {0, 1, 2, 3, 4, ~0u}, expected[] = {1000, 200, 30, 0, 0, 0};
    for (unsigned v = 0; v < 6; v++) {
        CUgraph g = new_graph(), *bodies;
        bodies = add_conditional(g, CU_GRAPH_COND_TYPE_SWITCH, 3, values[v], NULL);
        for (unsigned i = 0; i < 3; i++)
            add_fill(bodies[i], i, i + 1);
        EXPECT_EQ(run(instantiate(g)), expected[v]);
    }
}

// The nodes before it decide, and those after it see its work.
TEST(order_of_a_conditional_node)
{
    start();
    CUgraph g = new_graph(), *bodies;
    CUgraphNode n, before, after;
    bodies = add_conditional(g, CU_GRAPH_COND_TYPE_SWITCH, 3, 0, &n);
    for (unsigned i = 0; i < 3; i++)
        add_fill(bodies[i], i, i + 1);
    before = add_set_value(g, 2);
    CUDA_MEMCPY3D p = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcDevice = device + 8,
                       .dstDevice = device + 12,
                       .WidthInBytes = 4,
                       .Height = 1,
                       .Depth = 1};
    MUST(cuGraphAddMemcpyNode(&after, g, &n, 1, &p, context));
    MUST(cuGraphAddDependencies(g, &before, &n, NULL, 1));
    CUgraphExec x = instantiate(g);
    EXPECT_EQ(run(x), 33);
    EXPECT_EQ(run(x), 33);
}

// ---- values ----

TEST(default_value_is_assigned_by_each_launch)
{
    start();
    for (unsigned flags = 0; flags < 2; flags++) {
        CUgraph g = new_graph();
        CUgraphNode n;
        handle = new_handle(g, 0, flags);
        CUgraphNodeParams p = params_of(handle, CU_GRAPH_COND_TYPE_IF, 1);
        MUST(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
        add_fill(p.conditional.phGraph_out[0], 0, 1);
        CUgraphExec x = instantiate(g);
        EXPECT_OK(cardlessGraphSetConditional(handle, 1));
        EXPECT_EQ(run(x), flags ? 0 : 1000);
    }
}

TEST(handle_lives_as_long_as_an_instance)
{
    start();
    CUgraph g = new_graph(), *bodies = add_conditional(g, CU_GRAPH_COND_TYPE_IF, 1, 1, NULL);
    CUgraph body = bodies[0];
    add_fill(body, 0, 1);
    CUgraphExec x = instantiate(g);
    EXPECT_ONE_SENTENCE(cuGraphDestroy(body), CUDA_ERROR_INVALID_VALUE);
    MUST(cuGraphDestroy(g));
    EXPECT_OK(cardlessGraphSetConditional(handle, 0));
    EXPECT_EQ(run(x), 1000);
    MUST(cuGraphExecDestroy(x));
    EXPECT_ONE_SENTENCE(cardlessGraphSetConditional(handle, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cardlessGraphSetConditional(0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuGraphDestroy(body), CUDA_ERROR_INVALID_VALUE);
}

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

// ---- bodies inside of bodies ----

// A chain of IF nodes, each in the body of the one before. Returns the innermost body.
static CUgraph nest(CUgraph g, unsigned depth)
{
    while (depth--)
        g = add_conditional(g, CU_GRAPH_COND_TYPE_IF, 1, 1, NULL)[0];
    return g;
}

TEST(nested_bodies)
{
    start();
    CUgraph g = new_graph(), inner = nest(g, 200), *bodies;
    add_fill(inner, 0, 1);
    bodies = add_conditional(inner, CU_GRAPH_COND_TYPE_SWITCH, 2, 1, NULL);
    add_fill(bodies[0], 1, 1);
    add_fill(bodies[1], 2, 1);
    CUgraphExec x = instantiate(g);
    EXPECT_EQ(run(x), 1010);
    EXPECT_EQ(run(x), 1010);
}

TEST(nesting_has_a_limit)
{
    start();
    CUgraph inner = nest(new_graph(), 256);
    CUgraphNode n;
    CUgraphNodeParams p = params_of(new_handle(inner, 1, 0), CU_GRAPH_COND_TYPE_IF, 1);
    EXPECT_ONE_SENTENCE(cuGraphAddNode(&n, inner, NULL, NULL, 0, &p), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(child_graph_in_a_body)
{
    start();
    CUgraph g = new_graph(), child = new_graph(), *bodies;
    CUgraphNode n, fill, last;
    bodies = add_conditional(g, CU_GRAPH_COND_TYPE_IF, 1, 1, NULL);
    fill = add_fill(bodies[0], 0, 1);
    last = add_fill(bodies[0], 2, 1);
    add_fill(child, 1, 1);
    MUST(cuGraphAddChildGraphNode(&n, bodies[0], &fill, 1, child));
    MUST(cuGraphAddDependencies(bodies[0], &n, &last, NULL, 1));
    EXPECT_EQ(run(instantiate(g)), 1110);
}

TEST(captured_body)
{
    start();
    CUgraph g = new_graph(), *bodies = add_conditional(g, CU_GRAPH_COND_TYPE_IF, 1, 1, NULL), end;
    MUST(cuStreamBeginCaptureToGraph(s, bodies[0], NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT_OK(cuMemsetD32Async(device, 3, 1, s));
    // The capture keeps the body, and so the graph and the node that it is in.
    size_t count = 1;
    CUgraphNode node;
    EXPECT_OK(cuGraphGetNodes(g, &node, &count));
    EXPECT_ERROR(cuGraphDestroy(g), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT_ERROR(cuGraphDestroyNode(node), CUDA_ERROR_ILLEGAL_STATE);
    EXPECT_OK(cuMemcpyDtoDAsync(device + 4, device, 4, s));
    EXPECT_OK(cuStreamEndCapture(s, &end));
    EXPECT_EQ(end, bodies[0]);
    EXPECT_EQ(run(instantiate(g)), 3300);
}

// ---- updates ----

TEST(update_of_a_body)
{
    start();
    CUgraph g[4];
    CUgraphExecUpdateResultInfo info;
    for (unsigned i = 0; i < 4; i++) {
        g[i] = new_graph();
        CUgraph *bodies = add_conditional(g[i], CU_GRAPH_COND_TYPE_SWITCH, 2 + (i == 3), 1, NULL);
        add_fill(bodies[0], 0, 1);
        add_fill(bodies[i == 2 ? 0 : 1], 1, 1 + i);
    }
    CUgraphExec x = instantiate(g[0]);
    EXPECT_EQ(run(x), 100);
    EXPECT_OK(cuGraphExecUpdate(x, g[1], &info));
    EXPECT_EQ(run(x), 200);
    // As many nodes, but in other bodies; then as many nodes, but another count of bodies.
    EXPECT_ONE_SENTENCE(cuGraphExecUpdate(x, g[2], &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT_ONE_SENTENCE(cuGraphExecUpdate(x, g[3], &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT_EQ(run(x), 200);
}

// The handle and the default value are those of the new graph.
TEST(update_of_the_default)
{
    start();
    CUgraph g[2];
    CUgraphExecUpdateResultInfo info;
    for (unsigned i = 0; i < 2; i++) {
        g[i] = new_graph();
        add_fill(add_conditional(g[i], CU_GRAPH_COND_TYPE_IF, 1, !i, NULL)[0], 0, 1);
    }
    CUgraphExec x = instantiate(g[0]);
    EXPECT_EQ(run(x), 1000);
    EXPECT_OK(cuGraphExecUpdate(x, g[1], &info));
    EXPECT_EQ(run(x), 0);
}

// ---- refusals ----

TEST(refused_nodes)
{
    start();
    CUgraph g = new_graph(), other = new_graph();
    CUgraphConditionalHandle h = new_handle(g, 0, 0);
    CUgraphNode n;
    static const unsigned wrong[][2] = {{0, 0}, {0, 3}, {1, 0}, {1, 2}, {2, 0}, {3, 1}};
    for (unsigned i = 0; i < 6; i++) {
        CUgraphNodeParams p = params_of(h, (CUgraphConditionalNodeType)wrong[i][0], wrong[i][1]);
        EXPECT_ONE_SENTENCE(cuGraphAddNode(&n, g, NULL, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
    }
    CUgraphNodeParams p = params_of(h, CU_GRAPH_COND_TYPE_IF, 1);
    EXPECT_ONE_SENTENCE(cuGraphAddNode(&n, other, NULL, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuGraphInstantiate(&(CUgraphExec){0}, g, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGraphAddNode(&n, g, NULL, NULL, 0, &p));
    EXPECT_ONE_SENTENCE(cuGraphAddNode(&n, g, NULL, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuGraphClone(&(CUgraph){0}, g), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_ONE_SENTENCE(cuGraphAddChildGraphNode(&n, other, NULL, 0, g), CUDA_ERROR_NOT_SUPPORTED);
    CUDA_HOST_NODE_PARAMS call = {.fn = set_value};
    MUST(cuGraphAddHostNode(&n, p.conditional.phGraph_out[0], NULL, 0, &call));
    EXPECT_ONE_SENTENCE(cuGraphInstantiate(&(CUgraphExec){0}, g, 0), CUDA_ERROR_INVALID_VALUE);
}

TESTS(CASE(if_and_else), CASE(switch_runs_the_body_of_the_value), CASE(order_of_a_conditional_node),
      CASE(default_value_is_assigned_by_each_launch), CASE(handle_lives_as_long_as_an_instance),
      CASE(while_runs_until_the_value_is_0), CASE(loop_takes_turns_with_other_nodes),
      CASE(loop_without_nodes_ends), CASE(endless_loop), CASE(context_with_endless_loops),
      CASE(context_with_endless_loops_lazy), CASE(context_with_endless_loops_seed),
      CASE(context_with_endless_loops_parallel), CASE(reset_with_endless_loops),
      CASE(reset_with_endless_loops_lazy), CASE(reset_with_endless_loops_seed),
      CASE(reset_with_endless_loops_parallel), CASE(loop_of_a_kernel), CASE(loop_in_a_loop),
      CASE(nested_bodies), CASE(nesting_has_a_limit), CASE(child_graph_in_a_body),
      CASE(captured_body), CASE(update_of_a_body), CASE(update_of_the_default), CASE(refused_nodes))
