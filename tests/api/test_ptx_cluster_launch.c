// SPDX-License-Identifier: MIT
// Launches of kernels whose directives concern clusters, and the occupancy that goes with them.
#include "kernel_text.h"

#define KERNEL(directives)                                                                         \
    ".version 8.7\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out)\n" directives "\n{\n.reg .b32 %r<4>;\n.reg .b64 %x<2>;\n"  \
    "ld.param.u64 %x1, [out];\nmov.u32 %r1, %cluster_nctarank;\nst.global.u32 [%x1], %r1;\n"       \
    "ret;\n}\n"

static CUfunction f;
static CUdeviceptr out;

static void start(const char *text)
{
    ptx_start();
    MUST(cuMemAlloc(&out, 4));
    f = ptx_kernel(ptx_load(text), "k");
}

static CUlaunchConfig config_of(CUlaunchAttribute *shape, unsigned blocks, unsigned cluster)
{
    *shape = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {cluster, 1, 1}};
    return (CUlaunchConfig){.gridDimX = blocks,
                            .gridDimY = 1,
                            .gridDimZ = 1,
                            .blockDimX = 128,
                            .blockDimY = 1,
                            .blockDimZ = 1,
                            .attrs = shape,
                            .numAttrs = cluster != 0};
}

// Launches clusters of so many blocks (0: without the attribute), and expects that the kernel sees
// `seen` of them, or that the launch is refused (0).
static void launch(unsigned blocks, unsigned cluster, unsigned seen)
{
    CUlaunchAttribute shape;
    const CUlaunchConfig c = config_of(&shape, blocks, cluster);
    EXPECT_OK(cuMemsetD32(out, 0, 1));
    if (seen)
        EXPECT_OK(cuLaunchKernelEx(&c, f, (void *[]){&out}, NULL));
    else
        EXPECT_ONE_SENTENCE(cuLaunchKernelEx(&c, f, (void *[]){&out}, NULL),
                            CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_EQ(ptx_word(out), seen);
}

static int attribute(CUfunction_attribute a)
{
    int value = -1;
    EXPECT_OK(cuFuncGetAttribute(&value, a, f));
    return value;
}

static int potential(void)
{
    CUlaunchAttribute shape;
    const CUlaunchConfig c = config_of(&shape, 16, 0);
    int value = -1;
    EXPECT_OK(cuOccupancyMaxPotentialClusterSize(&value, f, &c));
    return value;
}

// The number of active clusters, or the negative code.
static int active(unsigned blocks, unsigned cluster)
{
    CUlaunchAttribute shape;
    const CUlaunchConfig c = config_of(&shape, blocks, cluster);
    int value = -1;
    const CUresult r = cuOccupancyMaxActiveClusters(&value, f, &c);
    return r ? -(int)r : value;
}

TEST(free)
{
    start(KERNEL(""));
    launch(16, 0, 1);
    launch(16, 8, 8);
    launch(16, 16, 0);
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 0);
    EXPECT_EQ(potential(), 8);
    EXPECT_EQ(active(16, 0), 0);
    EXPECT_EQ(active(16, 2), 1056); // 16 blocks a multiprocessor, 132 of them
    EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    EXPECT_EQ(potential(), 16);
    launch(16, 16, 16);
}

// "The launch must have clusters of this size, or name none."
TEST(required)
{
    start(KERNEL(".reqnctapercluster 4"));
    launch(16, 0, 4);
    launch(16, 4, 4);
    launch(16, 2, 0);
    launch(18, 0, 0); // not a multiple
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 1);
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 4);
    EXPECT_EQ(potential(), 4);
    EXPECT_EQ(active(16, 0), 528);
    EXPECT_EQ(active(16, 4), 528);
    EXPECT_EQ(active(16, 2), -CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_EQ(active(18, 0), -CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_ERROR(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2),
                 CUDA_ERROR_NOT_PERMITTED);
}

// "The kernel must be launched with the cluster dimension specified."
TEST(explicit)
{
    CUlaunchAttribute shape;
    start(KERNEL(".explicitcluster"));
    launch(16, 0, 0);
    EXPECT_MESSAGE(cuLaunchKernel(f, 16, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&out}, NULL),
                   CUDA_ERROR_INVALID_CLUSTER_SIZE, ".explicitcluster");
    launch(16, 1, 1);
    launch(16, 2, 2);
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 1);
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 0);
    EXPECT_EQ(potential(), 8);
    EXPECT_EQ(active(16, 0), 0);
    const CUlaunchConfig c = config_of(&shape, 16, 1);
    shape.value.clusterDim.x = shape.value.clusterDim.y = shape.value.clusterDim.z = 0; // not named
    EXPECT_ERROR(cuLaunchKernelEx(&c, f, (void *[]){&out}, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 2));
    EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
    EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
    launch(16, 0, 2);
    EXPECT_EQ(potential(), 2);
}

// As nvcc writes __cluster_dims__(2, 1, 1).
TEST(explicit_and_required)
{
    start(KERNEL(".explicitcluster\n.reqnctapercluster 2, 1, 1"));
    launch(16, 0, 2);
    launch(16, 2, 2);
    launch(16, 4, 0);
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 1);
}

// "The maximum number of blocks that can be part of the cluster."
TEST(most)
{
    start(KERNEL(".maxntid 128\n.maxclusterrank 4"));
    launch(16, 0, 1);
    launch(16, 4, 4);
    launch(16, 8, 0);
    EXPECT_EQ(attribute(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET), 0);
    EXPECT_EQ(potential(), 4);
    EXPECT_EQ(active(16, 8), -CUDA_ERROR_INVALID_CLUSTER_SIZE);
    EXPECT_EQ(active(16, 4), 528);
    EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    EXPECT_EQ(potential(), 4);
}

// More than the portable size needs the attribute, whatever the kernel allows.
TEST(most_above_portable)
{
    start(KERNEL(".maxclusterrank 16"));
    EXPECT_EQ(potential(), 8);
    launch(16, 16, 0);
    EXPECT_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    EXPECT_EQ(potential(), 16);
    launch(16, 16, 16);
}

TESTS(CASE(free), CASE(required), CASE(explicit), CASE(explicit_and_required), CASE(most),
      CASE(most_above_portable))
