// SPDX-License-Identifier: MIT
// Conditional nodes: which body runs; handles and their values; bodies inside of bodies; updates.
// The values come from functions of the host.
#include "conditional.h"

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

// Instances share the variable of a handle. With priorities there can be only one of them.
TEST(instances)
{
    start();
    CUgraph g = new_graph();
    CUgraphExec x, y, with_priorities;
    add_fill(add_conditional(g, CU_GRAPH_COND_TYPE_IF, 1, 1, NULL)[0], 0, 1);
    const unsigned priorities = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    MUST(cuGraphInstantiate(&x, g, 0));
    EXPECT_OK(cuGraphInstantiate(&y, g, 0));
    EXPECT_ONE_SENTENCE(cuGraphInstantiate(&with_priorities, g, priorities),
                        CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(run(x), 1000);
    EXPECT_EQ(run(y), 1000);
    MUST(cuGraphExecDestroy(x));
    MUST(cuGraphExecDestroy(y));
    EXPECT_OK(cuGraphInstantiate(&with_priorities, g, priorities));
    EXPECT_EQ(run(with_priorities), 1000);
    MUST(cuGraphExecDestroy(with_priorities));
    MUST(cuGraphDestroy(g));
}

TESTS(CASE(if_and_else), CASE(switch_runs_the_body_of_the_value), CASE(order_of_a_conditional_node),
      CASE(default_value_is_assigned_by_each_launch), CASE(handle_lives_as_long_as_an_instance),
      CASE(nested_bodies), CASE(nesting_has_a_limit), CASE(child_graph_in_a_body),
      CASE(captured_body), CASE(update_of_a_body), CASE(update_of_the_default), CASE(refused_nodes),
      CASE(instances))
