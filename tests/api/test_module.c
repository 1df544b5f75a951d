// SPDX-License-Identifier: MIT
// Modules and libraries: the kinds of images, their functions, and kernel nodes of graphs.
#include <cardless.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../harness.h"
#include "kernels.h"

static CUdeviceptr memory;
static CUmodule module;

static void start_context(void)
{
    CUdevice device;
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuDeviceGet(&device, 0));
    MUST(cuDevicePrimaryCtxRetain(&context, device));
    MUST(cuCtxSetCurrent(context));
    MUST(cuMemAlloc(&memory, 1 << 16));
    MUST(cuMemsetD8(memory, 0, 1 << 16));
}

static void start(void)
{
    start_context();
    CUresult r = cuModuleLoadData(&module, &kernels_table);
    if (r == CUDA_ERROR_NOT_SUPPORTED)
        SKIP("no libffi");
    MUST(r);
}

static unsigned word(unsigned index)
{
    unsigned v = 0;
    EXPECT_OK(cuMemcpyDtoH(&v, memory + 4ul * index, 4));
    return v;
}

static CUfunction function_of(CUmodule m, const char *name)
{
    CUfunction f = NULL;
    EXPECT_OK(cuModuleGetFunction(&f, m, name));
    return f;
}

// ---- shared objects ----

static void expect_fill(CUmodule m, unsigned value)
{
    void *arguments[] = {&memory, &value};
    EXPECT_OK(cuLaunchKernel(function_of(m, "fill"), 1, 1, 1, 4, 1, 1, 0, NULL, arguments, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(3), value + 1);
    EXPECT_EQ(word(4), 0);
}

TEST(shared_object)
{
    start();
    CUmodule m, again;
    EXPECT_OK(cuModuleLoad(&m, KERNELS_LIBRARY));
    EXPECT_OK(cuModuleLoad(&again, KERNELS_LIBRARY));
    expect_fill(m, 5);
    EXPECT_OK(cuModuleUnload(m));
    expect_fill(again, 6);
    EXPECT_OK(cuModuleUnload(again));
}

TEST(shared_object_in_memory)
{
    start();
    struct stat info;
    CUmodule m;
    int fd = open(KERNELS_LIBRARY, O_RDONLY);
    EXPECT(fd >= 0 && !fstat(fd, &info));
    char *bytes = malloc((size_t)info.st_size);
    EXPECT_EQ(read(fd, bytes, (size_t)info.st_size), info.st_size);
    close(fd);
    EXPECT_OK(cuModuleLoadData(&m, bytes));
    expect_fill(m, 7);
    // Another one at the same time, whose kernel has another name.
    CUmodule other;
    CUfunction f;
    for (char *at = bytes; at + 5 <= bytes + info.st_size; at++)
        if (!memcmp(at, "fill", 5))
            memcpy(at, "pour", 4);
    EXPECT_OK(cuModuleLoadData(&other, bytes));
    EXPECT_OK(cuModuleGetFunction(&f, other, "pour"));
    EXPECT_ERROR(cuModuleGetFunction(&f, other, "fill"), CUDA_ERROR_NOT_FOUND);
    expect_fill(m, 8);
    EXPECT_OK(cuModuleUnload(other));
    // Damaged heads: offsets of the two tables that lead out of the file.
    CUmodule damaged;
    memset(bytes + 40, 0xf0, 8);
    EXPECT_ERROR(cuModuleLoadData(&damaged, bytes), CUDA_ERROR_INVALID_IMAGE);
    memset(bytes + 32, 0xf0, 8);
    EXPECT_ERROR(cuModuleLoadData(&damaged, bytes), CUDA_ERROR_INVALID_IMAGE);
    free(bytes);
    EXPECT_OK(cuModuleUnload(m));
}

TEST(not_kernels)
{
    start();
    CUmodule m;
    EXPECT_ERROR(cuModuleLoad(&m, "/proc/self/exe"), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_ERROR(cuModuleLoad(&m, "/nonexistent"), CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT_ERROR(cuModuleLoad(&m, ""), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuModuleLoadData(&m, "words"), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_ERROR(cuModuleLoadData(&m, ".version 8.0\n.target sm_90\n.entry x()\n{\nret\n}\n"),
                 CUDA_ERROR_INVALID_PTX);
}

// ---- tables ----

static CUresult load_changed(void (*change)(cardlessModuleDesc *, cardlessKernelDesc *))
{
    cardlessKernelDesc kernel = kernels_list[KERNEL_SCALE];
    cardlessModuleDesc table = {.magic = CARDLESS_MODULE_MAGIC,
                                .version = CARDLESS_VERSION,
                                .kernel_count = 1,
                                .kernels = &kernel};
    CUmodule m;
    change(&table, &kernel);
    CUresult r = cuModuleLoadData(&m, &table);
    if (!r)
        EXPECT_OK(cuModuleUnload(m));
    return r;
}

static void change_nothing(cardlessModuleDesc *t, cardlessKernelDesc *k)
{
    (void)t;
    (void)k;
}

static void change_version(cardlessModuleDesc *t, cardlessKernelDesc *k)
{
    (void)k;
    t->version = CARDLESS_VERSION + 1;
}

static void change_function(cardlessModuleDesc *t, cardlessKernelDesc *k)
{
    (void)t;
    k->function = NULL;
}

static void change_params(cardlessModuleDesc *t, cardlessKernelDesc *k)
{
    (void)t;
    k->params = NULL;
}

static void change_flags(cardlessModuleDesc *t, cardlessKernelDesc *k)
{
    (void)t;
    k->flags = 8;
}

static void change_shared(cardlessModuleDesc *t, cardlessKernelDesc *k)
{
    (void)t;
    k->static_shared = (48 << 10) + 1;
}

static void change_type(cardlessModuleDesc *t, cardlessKernelDesc *k)
{
    static const cardlessParam odd[] = {{CARDLESS_BYTES, 24, 3}};
    (void)t;
    k->params = odd;
    k->param_count = 1;
}

static void change_count(cardlessModuleDesc *t, cardlessKernelDesc *k)
{
    static cardlessKernelDesc twice[2];
    twice[0] = twice[1] = *k;
    t->kernels = twice;
    t->kernel_count = 2;
}

TEST(tables)
{
    start();
    EXPECT_OK(load_changed(change_nothing));
    EXPECT_ERROR(load_changed(change_version), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_ERROR(load_changed(change_function), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_ERROR(load_changed(change_params), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_ERROR(load_changed(change_flags), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_ERROR(load_changed(change_shared), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_ERROR(load_changed(change_type), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_ERROR(load_changed(change_count), CUDA_ERROR_INVALID_IMAGE);
}

TEST(registered)
{
    static const char text[] = "// a comment with .entry other()\n.version 8.0\n.target sm_90\n"
                               "/* .entry other() */ .visible .entry nothing ( )\n{\nret;\n}\n";
    static const cardlessKernelDesc kernel = {KERNEL(count_up)};
    cardlessKernelDesc nothing = kernel;
    nothing.name = "nothing";
    const cardlessModuleDesc table = {.magic = CARDLESS_MODULE_MAGIC,
                                      .version = CARDLESS_VERSION,
                                      .kernel_count = 1,
                                      .kernels = &nothing};
    CUmodule m;
    EXPECT_OK(cardlessModuleRegister(&table)); // before cuInit
    EXPECT_ERROR(cardlessModuleRegister(&table), CUDA_ERROR_INVALID_VALUE);
    start();
    EXPECT_OK(cuModuleLoadData(&m, text));
    function_of(m, "nothing");
    EXPECT_OK(cuModuleUnload(m));
    EXPECT_OK(cardlessModuleUnregister(&table));
    EXPECT_ERROR(cardlessModuleUnregister(&table), CUDA_ERROR_NOT_FOUND);
    EXPECT_OK(cuModuleLoadData(&m, text)); // the text's own kernel
    function_of(m, "nothing");
    EXPECT_OK(cuModuleUnload(m));
}

// ---- libraries ----

TEST(library)
{
    start();
    CUlibrary library;
    CUkernel kernel;
    CUfunction f, again;
    CUmodule m;
    const char *name;
    int value;
    EXPECT_OK(cuLibraryLoadData(&library, &kernels_table, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT_OK(cuLibraryGetKernel(&kernel, library, "blocks"));
    EXPECT_ERROR(cuLibraryGetKernel(&kernel, library, "absent"), CUDA_ERROR_NOT_FOUND);
    EXPECT_OK(cuKernelGetName(&name, kernel));
    EXPECT(!strcmp(name, "blocks"));
    EXPECT_OK(cuKernelGetFunction(&f, kernel));
    EXPECT_OK(cuKernelGetFunction(&again, kernel));
    EXPECT(f == again);
    EXPECT_OK(cuLibraryGetModule(&m, library));
    EXPECT_ERROR(cuModuleUnload(m), CUDA_ERROR_NOT_PERMITTED);
    // Settings of a kernel are those of its functions.
    EXPECT_OK(
        cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000, kernel, 0));
    EXPECT_OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, f));
    EXPECT_EQ(value, 1000);
    // A kernel can be launched itself.
    void *arguments[] = {&memory};
    EXPECT_OK(cuLaunchKernel((CUfunction)kernel, 2, 1, 1, 8, 1, 1, 0, NULL, arguments, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(1), 8001);
    EXPECT_OK(cuLibraryUnload(library));
    EXPECT_ERROR(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuKernelGetName(&name, kernel), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL),
                 CUDA_ERROR_INVALID_HANDLE);
}

// A module ends with its context, and the library goes on.
TEST(library_in_two_contexts)
{
    start();
    CUlibrary library;
    CUcontext context;
    CUmodule first, second;
    EXPECT_OK(cuLibraryLoadData(&library, &kernels_table, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT_OK(cuLibraryGetModule(&first, library));
    EXPECT_OK(cuCtxCreate(&context, NULL, 0, 0));
    EXPECT_OK(cuLibraryGetModule(&second, library));
    EXPECT(first != second);
    EXPECT_OK(cuCtxDestroy(context));
    EXPECT_OK(cuLibraryGetModule(&second, library));
    EXPECT(first == second);
    EXPECT_OK(cuLibraryUnload(library));
}

// ---- graphs ----

static CUDA_KERNEL_NODE_PARAMS scale_node(CUfunction f, void **arguments)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = f,
                                     .gridDimX = 1,
                                     .gridDimY = 1,
                                     .gridDimZ = 1,
                                     .blockDimX = 8,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = arguments};
}

TEST(kernel_nodes)
{
    start();
    CUgraph graph, clone;
    CUgraphNode node;
    CUgraphExec exec;
    unsigned factor = 3, count = 8;
    void *arguments[] = {&memory, &factor, &count};
    CUDA_KERNEL_NODE_PARAMS p = scale_node(function_of(module, "scale"), arguments), got;
    EXPECT_OK(cuGraphCreate(&graph, 0));
    EXPECT_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &p));
    factor = 4; // the node has copied it
    EXPECT_OK(cuGraphKernelNodeGetParams(node, &got));
    EXPECT(got.func == p.func);
    EXPECT_EQ(*(unsigned *)got.kernelParams[1], 3);
    EXPECT_OK(cuGraphClone(&clone, graph));
    EXPECT_OK(cuGraphInstantiate(&exec, clone, 0));
    EXPECT_OK(cuGraphDestroy(clone));
    EXPECT_OK(cuGraphLaunch(exec, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(7), 21);
    EXPECT_OK(cuGraphExecDestroy(exec));

    EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
    EXPECT_OK(cuGraphExecKernelNodeSetParams(exec, node, &p));
    EXPECT_OK(cuGraphLaunch(exec, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(7), 28);
    factor = 5;
    EXPECT_OK(cuGraphKernelNodeSetParams(node, &p));
    CUgraphExecUpdateResultInfo info;
    EXPECT_OK(cuGraphExecUpdate(exec, graph, &info));
    EXPECT_OK(cuGraphLaunch(exec, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(7), 35);
    // A module that is unloaded lives on in the graph.
    EXPECT_OK(cuModuleUnload(module));
    EXPECT_OK(cuMemsetD8(memory, 0, 64));
    EXPECT_OK(cuGraphLaunch(exec, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(7), 35);
    EXPECT_OK(cuGraphExecDestroy(exec));
    EXPECT_OK(cuGraphDestroy(graph));
}

TEST(kernel_node_errors)
{
    start();
    CUgraph graph;
    CUgraphNode node;
    unsigned factor = 3, count = 8;
    void *arguments[] = {&memory, &factor, &count};
    CUDA_KERNEL_NODE_PARAMS good = scale_node(function_of(module, "scale"), arguments), p = good;
    EXPECT_OK(cuGraphCreate(&graph, 0));
    p.func = NULL;
    EXPECT_ERROR(cuGraphAddKernelNode(&node, graph, NULL, 0, &p), CUDA_ERROR_INVALID_HANDLE);
    p = good;
    p.gridDimY = 0;
    EXPECT_ERROR(cuGraphAddKernelNode(&node, graph, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
    p = good;
    p.kernelParams = NULL;
    EXPECT_ERROR(cuGraphAddKernelNode(&node, graph, NULL, 0, &p), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGraphDestroy(graph));
}

TEST(captured)
{
    start();
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[4];
    size_t count = 4;
    CUgraphNodeType type;
    unsigned factor = 3, all = 8;
    void *arguments[] = {&memory, &factor, &all};
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    EXPECT_OK(
        cuLaunchKernel(function_of(module, "scale"), 1, 1, 1, 8, 1, 1, 0, stream, arguments, NULL));
    EXPECT_OK(
        cuLaunchKernel(function_of(module, "add"), 1, 1, 1, 8, 1, 1, 0, stream, arguments, NULL));
    factor = 0;
    EXPECT_OK(cuStreamEndCapture(stream, &graph));
    EXPECT_OK(cuGraphGetNodes(graph, nodes, &count));
    EXPECT_EQ(count, 2);
    EXPECT_OK(cuGraphNodeGetType(nodes[0], &type));
    EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
    EXPECT_EQ(word(7), 0); // nothing has run
    EXPECT_OK(cuGraphInstantiate(&exec, graph, 0));
    EXPECT_OK(cuGraphLaunch(exec, stream));
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(word(7), 21 + 4);
    EXPECT_OK(cuGraphExecDestroy(exec));
    EXPECT_OK(cuGraphDestroy(graph));
    EXPECT_OK(cuStreamDestroy(stream));
}

// ---- the trace ----

TEST(traced)
{
    static char line[4096];
    const char *path = test_new_file("trace");
    char want[200];
    if (failing_hooks)
        SKIP("a line of the trace may be cut if memory runs out");
    setenv("CARDLESS_TRACE", path, 1);
    start();
    unsigned factor = 3, count = 8;
    void *arguments[] = {&memory, &factor, &count};
    EXPECT_OK(
        cuLaunchKernel(function_of(module, "scale"), 1, 1, 1, 8, 1, 1, 0, NULL, arguments, NULL));
    snprintf(want, sizeof want, "; scale<<<(1,1,1), (8,1,1), 0>>>(%#llx, 3, 8)\n",
             (unsigned long long)memory);
    FILE *trace = fopen(path, "r");
    while (trace && fgets(line, sizeof line, trace))
        continue;
    EXPECT(strstr(line, want) != NULL);
    EXPECT(strstr(line, "f=CUfunction #1 (scale), ") != NULL);
    if (trace)
        fclose(trace);
}

// ---- many blocks, on all cores under the policy `parallel` ----

TEST(parallel)
{
    setenv("CARDLESS_POLICY", "parallel", 1);
    start();
    CUdeviceptr counter;
    unsigned v;
    EXPECT_OK(cuModuleGetGlobal(&counter, NULL, module, "counter"));
    CUfunction f = function_of(module, "count_up");
    for (int i = 0; i < 10; i++)
        EXPECT_OK(cuLaunchKernel(f, 100, 3, 2, 8, 2, 1, 0, NULL, NULL, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_OK(cuMemcpyDtoH(&v, counter, 4));
    EXPECT_EQ(v, 7 + 10 * 600 * 16);
    unsigned rounds = 3;
    void *arguments[] = {&memory, &rounds};
    EXPECT_OK(cuLaunchKernel(function_of(module, "rotate"), 50, 1, 1, 32, 1, 1, 32 * 4, NULL,
                             arguments, NULL));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(word(49 * 32 + 5), 8 + 49000);
}

TEST(parallel_fault)
{
    setenv("CARDLESS_POLICY", "parallel", 1);
    start();
    void *arguments[] = {&memory};
    EXPECT_OK(cuLaunchKernel(function_of(module, "bad_address"), 100, 1, 1, 32, 1, 1, 0, NULL,
                             arguments, NULL));
    EXPECT_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TESTS(CASE(shared_object), CASE(shared_object_in_memory), CASE(not_kernels), CASE(tables),
      CASE(registered), CASE(library), CASE(library_in_two_contexts), CASE(kernel_nodes),
      CASE(kernel_node_errors), CASE(captured), CASE(traced), CASE(parallel), CASE(parallel_fault))
