// SPDX-License-Identifier: MIT
// Kernel nodes that a kernel may update, as far as the host sees them, and notifications about the
// budget of a device's memory. Recorded on an H200.
#include "record.h"

#define ATTRIBUTE ((CUlaunchAttributeID)CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)

#define TELL(name, call) SAY(" " name "=%s", record_name(call))

static CUcontext context;
static CUfunction kernel;
static CUgraph graph;
static CUgraphNode node;
static CUgraphExec exec, other_exec;
static CUstream stream;
static CUlaunchAttributeValue value;
static CUDA_KERNEL_NODE_PARAMS params;

static void set_up(void)
{
    CUmodule module;
    context = record_context();
    NEED(cuModuleLoadData(&module, ".version 7.0\n.target sm_75\n.address_size 64\n"
                                   ".visible .entry k() { ret; }\n"));
    NEED(cuModuleGetFunction(&kernel, module, "k"));
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static CUlaunchAttributeValue updatable(int number)
{
    CUlaunchAttributeValue v;
    memset(&v, 0, sizeof v);
    v.deviceUpdatableKernelNode.deviceUpdatable = number;
    return v;
}

static void tell_handle(const CUlaunchAttributeValue *v)
{
    SAY(" node %s", v->deviceUpdatableKernelNode.devNode ? "set" : "0");
}

// Begins a case with a graph of one node, which becomes updatable if `set`.
static bool begin(int number, bool set)
{
    if (!CASE("%d", number))
        return false;
    params = (CUDA_KERNEL_NODE_PARAMS){.func = kernel,
                                       .gridDimX = 1,
                                       .gridDimY = 1,
                                       .gridDimZ = 1,
                                       .blockDimX = 1,
                                       .blockDimY = 1,
                                       .blockDimZ = 1};
    NEED(cuGraphCreate(&graph, 0));
    TELL("add", cuGraphAddKernelNode(&node, graph, NULL, 0, &params));
    value = updatable(1);
    if (set)
        TELL("set", cuGraphKernelNodeSetAttribute(node, ATTRIBUTE, &value));
    return true;
}

static bool begin_updatable(int number)
{
    const bool begun = begin(number, true);
    if (begun)
        tell_handle(&value);
    return begun;
}

static void tell_value(CUgraphNode of, CUlaunchAttributeValue *v)
{
    memset(v, 0x55, sizeof *v);
    TELL("get", cuGraphKernelNodeGetAttribute(of, ATTRIBUTE, v));
    SAY(" %d", v->deviceUpdatableKernelNode.deviceUpdatable);
}

static void tell_same(const CUlaunchAttributeValue *v)
{
    SAY(" same %d",
        v->deviceUpdatableKernelNode.devNode == value.deviceUpdatableKernelNode.devNode);
}

static void tell_launch(void)
{
    TELL("launch", cuGraphLaunch(exec, stream));
    TELL("sync", cuStreamSynchronize(stream));
}

static void attributes(void)
{
    CUlaunchAttributeValue v;
    CUgraphNode other;
    if (begin_updatable(0)) {
        tell_value(node, &v);
        tell_same(&v);
        SAY(" null %d", !v.deviceUpdatableKernelNode.devNode);
        v = updatable(1);
        TELL("again", cuGraphKernelNodeSetAttribute(node, ATTRIBUTE, &v));
        tell_same(&v);
        v = updatable(0);
        TELL("off", cuGraphKernelNodeSetAttribute(node, ATTRIBUTE, &v));
    }
    if (begin_updatable(1)) {
        TELL("destroy-node", cuGraphDestroyNode(node));
        TELL("destroy-graph", cuGraphDestroy(graph));
    }
    if (begin_updatable(2)) {
        NEED(cuGraphAddKernelNode(&other, graph, NULL, 0, &params));
        TELL("from", cuGraphKernelNodeCopyAttributes(other, node));
        TELL("to", cuGraphKernelNodeCopyAttributes(node, other));
    }
    if (begin_updatable(8)) {
        params.gridDimX = 2;
        TELL("set-params", cuGraphKernelNodeSetParams(node, &params));
        tell_value(node, &v);
    }
    if (begin_updatable(16)) {
        value.deviceUpdatableKernelNode.devNode = (CUgraphDeviceNode)7;
        TELL("again", cuGraphKernelNodeSetAttribute(node, ATTRIBUTE, &value));
        SAY(" node %s",
            value.deviceUpdatableKernelNode.devNode == (CUgraphDeviceNode)7 ? "kept" : "set");
        TELL("null", cuGraphKernelNodeSetAttribute(node, ATTRIBUTE, NULL));
    }
    if (begin(20, false))
        for (int x = -1; x < 5; x++) {
            v = updatable(x);
            TELL("set", cuGraphKernelNodeSetAttribute(node, ATTRIBUTE, &v));
            SAY(" %d", x);
        }
}

static void update(void)
{
    CUgraphExecUpdateResultInfo info;
    CUgraph plain;
    CUgraphNode other;
    memset(&info, 0, sizeof info);
    TELL("inst", cuGraphInstantiateWithFlags(&exec, graph, 0));
    NEED(cuGraphCreate(&plain, 0));
    NEED(cuGraphAddKernelNode(&other, plain, NULL, 0, &params));
    TELL("update", cuGraphExecUpdate(exec, plain, &info));
    SAY(" info %d", (int)info.result);
    memset(&info, 0, sizeof info);
    TELL("inst2", cuGraphInstantiateWithFlags(&other_exec, plain, 0));
    TELL("update-from", cuGraphExecUpdate(other_exec, graph, &info));
    SAY(" info %d", (int)info.result);
}

static void instances(void)
{
    CUgraph clone;
    CUgraphNode other;
    unsigned enabled = 7;
    if (begin_updatable(3)) {
        TELL("inst", cuGraphInstantiateWithFlags(&exec, graph, 0));
        TELL("twice", cuGraphInstantiateWithFlags(&other_exec, graph, 0));
        TELL("exec-destroy", cuGraphExecDestroy(exec));
        TELL("after", cuGraphInstantiateWithFlags(&other_exec, graph, 0));
    }
    if (begin_updatable(4))
        TELL("clone", cuGraphClone(&clone, graph));
    if (begin_updatable(5))
        update();
    if (begin_updatable(6)) {
        TELL("inst", cuGraphInstantiateWithFlags(&exec, graph, 0));
        TELL("launch-no-upload", cuGraphLaunch(exec, stream));
        TELL("sync", cuStreamSynchronize(stream));
        TELL("upload", cuGraphUpload(exec, stream));
        tell_launch();
    }
    if (begin_updatable(7)) {
        TELL("inst", cuGraphInstantiateWithFlags(&exec, graph, 0));
        TELL("exec-set", cuGraphExecKernelNodeSetParams(exec, node, &params));
        TELL("disable", cuGraphNodeSetEnabled(exec, node, 0));
        TELL("enabled", cuGraphNodeGetEnabled(exec, node, &enabled));
        SAY(" %u", enabled);
        tell_launch();
    }
    if (begin_updatable(11)) {
        TELL("inst", cuGraphInstantiateWithFlags(&exec, graph, 0));
        TELL("destroy-graph", cuGraphDestroy(graph));
        tell_launch();
    }
    if (begin_updatable(13)) {
        CUDA_GRAPH_INSTANTIATE_PARAMS how = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH};
        TELL("inst-device", cuGraphInstantiateWithParams(&exec, graph, &how));
        SAY(" result %d", (int)how.result_out);
    }
    if (begin_updatable(14)) {
        TELL("inst", cuGraphInstantiateWithFlags(&exec, graph, 0));
        value = updatable(1);
        NEED(cuGraphAddKernelNode(&other, graph, NULL, 0, &params));
        TELL("set-after-inst", cuGraphKernelNodeSetAttribute(other, ATTRIBUTE, &value));
        tell_handle(&value);
        TELL("launch", cuGraphLaunch(exec, stream));
    }
}

static void set_any(void)
{
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    p.kernel = (CUDA_KERNEL_NODE_PARAMS_v3){.func = kernel,
                                            .gridDimX = 2,
                                            .gridDimY = 2,
                                            .gridDimZ = 2,
                                            .blockDimX = 1,
                                            .blockDimY = 1,
                                            .blockDimZ = 1};
    TELL("node-set-params", cuGraphNodeSetParams(node, &p));
    TELL("inst", cuGraphInstantiateWithFlags(&exec, graph, 0));
    TELL("exec-node-set", cuGraphExecNodeSetParams(exec, node, &p));
    tell_launch();
}

static void inside_child(void)
{
    CUgraph parent, inner;
    CUgraphNode child, inside;
    CUlaunchAttributeValue v;
    size_t one = 1;
    NEED(cuGraphCreate(&parent, 0));
    TELL("child", cuGraphAddChildGraphNode(&child, parent, NULL, 0, graph));
    TELL("child-graph", cuGraphChildGraphNodeGetGraph(child, &inner));
    TELL("nodes", cuGraphGetNodes(inner, &inside, &one));
    tell_value(inside, &v);
    TELL("inst", cuGraphInstantiateWithFlags(&exec, parent, 0));
    TELL("inst2", cuGraphInstantiateWithFlags(&other_exec, parent, 0));
}

static void captured(void)
{
    CUgraph made = NULL;
    size_t count = 0;
    CUlaunchAttribute a = {.id = ATTRIBUTE, .value = updatable(1)};
    CUlaunchConfig c = {.gridDimX = 1,
                        .gridDimY = 1,
                        .gridDimZ = 1,
                        .blockDimX = 1,
                        .blockDimY = 1,
                        .blockDimZ = 1,
                        .hStream = stream,
                        .attrs = &a,
                        .numAttrs = 1};
    TELL("launch", cuLaunchKernelEx(&c, kernel, NULL, NULL));
    a.value.deviceUpdatableKernelNode.deviceUpdatable = 0;
    TELL("launch-0", cuLaunchKernelEx(&c, kernel, NULL, NULL));
    TELL("begin", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    TELL("launch-0", cuLaunchKernelEx(&c, kernel, NULL, NULL));
    a.value.deviceUpdatableKernelNode.deviceUpdatable = 2;
    TELL("launch-2", cuLaunchKernelEx(&c, kernel, NULL, NULL));
    a.value = updatable(1);
    TELL("launch-1", cuLaunchKernelEx(&c, kernel, NULL, NULL));
    tell_handle(&a.value);
    TELL("end", cuStreamEndCapture(stream, &made));
    TELL("nodes", cuGraphGetNodes(made, NULL, &count));
    SAY(" %zu", count);
}

static void in_body(void)
{
    CUgraphConditionalHandle handle;
    CUgraphNode conditional, inside;
    CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    TELL("handle", cuGraphConditionalHandleCreate(&handle, graph, context, 1, 1));
    p.conditional.handle = handle;
    p.conditional.type = CU_GRAPH_COND_TYPE_IF;
    p.conditional.size = 1;
    p.conditional.ctx = context;
    TELL("cond", cuGraphAddNode(&conditional, graph, NULL, NULL, 0, &p));
    TELL("body", cuGraphAddKernelNode(&inside, p.conditional.phGraph_out[0], NULL, 0, &params));
    value = updatable(1);
    TELL("set-body", cuGraphKernelNodeSetAttribute(inside, ATTRIBUTE, &value));
    TELL("inst", cuGraphInstantiateWithFlags(&exec, graph, 0));
    tell_launch();
}

static void others(void)
{
    CUgraphNode other;
    if (begin_updatable(9))
        inside_child();
    if (begin_updatable(10))
        captured();
    if (begin_updatable(15))
        set_any();
    if (begin(17, false)) {
        SAY(" node 0");
        TELL("inst-before", cuGraphInstantiateWithFlags(&exec, graph, 0));
        TELL("set", cuGraphKernelNodeSetAttribute(node, ATTRIBUTE, &value));
        TELL("inst-after", cuGraphInstantiateWithFlags(&other_exec, graph, 0));
        TELL("destroy", cuGraphDestroyNode(node));
    }
    if (begin_updatable(18)) {
        NEED(cuGraphAddKernelNode(&other, graph, &node, 1, &params));
        TELL("destroy-other", cuGraphDestroyNode(other));
    }
    if (begin_updatable(19))
        in_body();
}

GROUP(updatable)
{
    set_up();
    attributes();
    instances();
    others();
}

static void notified(CUasyncNotificationInfo *info, void *data, CUasyncCallbackHandle handle)
{
    (void)info;
    (void)data;
    (void)handle;
}

static void register_two(void)
{
    CUasyncCallbackHandle one = NULL, two = NULL;
    TELL("reg", cuDeviceRegisterAsyncNotification(0, notified, NULL, &one));
    SAY(" %s", one ? "set" : "0");
    TELL("reg2", cuDeviceRegisterAsyncNotification(0, notified, NULL, &two));
    SAY(" differ %d", one != two);
    TELL("un", cuDeviceUnregisterAsyncNotification(0, one));
    TELL("un2", cuDeviceUnregisterAsyncNotification(0, two));
}

static void captured_register(void)
{
    CUasyncCallbackHandle one = NULL;
    CUstreamCaptureStatus status;
    NEED(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    NEED(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    TELL("reg", cuDeviceRegisterAsyncNotification(0, notified, NULL, &one));
    NEED(cuStreamIsCapturing(stream, &status));
    SAY(" status %d", (int)status);
    TELL("un", cuDeviceUnregisterAsyncNotification(0, one));
}

GROUP(notes)
{
    CUasyncCallbackHandle one = NULL;
    static char junk[256];
    NEED(cuInit(0));
    if (CASE("0"))
        register_two();
    record_context();
    if (CASE("1"))
        register_two();
    if (CASE("2")) {
        TELL("null-fn", cuDeviceRegisterAsyncNotification(0, NULL, NULL, &one));
        TELL("dev", cuDeviceRegisterAsyncNotification(5, notified, NULL, &one));
        TELL("dev-neg", cuDeviceRegisterAsyncNotification(-1, notified, NULL, &one));
        TELL("dev+null-fn", cuDeviceRegisterAsyncNotification(5, NULL, NULL, &one));
        TELL("un-null", cuDeviceUnregisterAsyncNotification(0, NULL));
        TELL("un-dev", cuDeviceUnregisterAsyncNotification(9, NULL));
    }
    if (CASE("3"))
        TELL("null-out", cuDeviceRegisterAsyncNotification(0, notified, NULL, NULL));
    if (CASE("4")) {
        TELL("reg", cuDeviceRegisterAsyncNotification(0, notified, NULL, &one));
        TELL("un", cuDeviceUnregisterAsyncNotification(0, one));
        TELL("un-again", cuDeviceUnregisterAsyncNotification(0, one));
    }
    if (CASE("5"))
        TELL("un-junk", cuDeviceUnregisterAsyncNotification(0, (CUasyncCallbackHandle)junk));
    if (CASE("6")) {
        TELL("reg", cuDeviceRegisterAsyncNotification(0, notified, NULL, &one));
        TELL("un-dev9", cuDeviceUnregisterAsyncNotification(9, one));
        TELL("un", cuDeviceUnregisterAsyncNotification(0, one));
    }
    if (CASE("7")) {
        TELL("sci-null", cuDeviceGetNvSciSyncAttributes(NULL, 0, 1));
        TELL("sci-flags0", cuDeviceGetNvSciSyncAttributes(NULL, 0, 0));
        TELL("sci-flags9", cuDeviceGetNvSciSyncAttributes(NULL, 0, 9));
        TELL("sci-dev", cuDeviceGetNvSciSyncAttributes(NULL, 9, 1));
    }
    if (CASE("8"))
        TELL("sci-junk", cuDeviceGetNvSciSyncAttributes(junk, 0, 1));
    if (CASE("9"))
        captured_register();
}

int main(int argc, char **argv)
{
    RUN(updatable);
    RUN(notes);
    return 0;
}
