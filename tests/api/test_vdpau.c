// SPDX-License-Identifier: MIT
// VDPAU. A software card has no VDPAU device, so the calls answer as on a machine without VDPAU.
// The types of VDPAU's headers are plain numbers, so the headers are not needed.
#include "../harness.h"

CUresult cuVDPAUGetDevice(CUdevice *, unsigned, void *);
CUresult cuVDPAUCtxCreate_v2(CUcontext *, unsigned, CUdevice, unsigned, void *);
CUresult cuGraphicsVDPAURegisterVideoSurface(CUgraphicsResource *, unsigned, unsigned);
CUresult cuGraphicsVDPAURegisterOutputSurface(CUgraphicsResource *, unsigned, unsigned);

TEST(before_init)
{
    CUdevice device;
    CUcontext context;
    CUgraphicsResource r;
    EXPECT_ERROR(cuVDPAUGetDevice(&device, 0, NULL), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_ERROR(cuVDPAUCtxCreate_v2(&context, 0, 0, 0, NULL), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_ERROR(cuGraphicsVDPAURegisterVideoSurface(&r, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_ERROR(cuGraphicsVDPAURegisterOutputSurface(&r, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
}

TEST(no_device)
{
    CUdevice device = 9;
    CUcontext context = NULL, now;
    CUcontext before = test_context();
    EXPECT_ERROR(cuVDPAUGetDevice(&device, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(device, 9);
    EXPECT_ERROR(cuVDPAUGetDevice(NULL, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuVDPAUCtxCreate_v2(NULL, 0, 0, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuVDPAUCtxCreate_v2(&context, 0xffff, 0, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuVDPAUCtxCreate_v2(&context, 0, 99, 0, NULL), CUDA_ERROR_INVALID_DEVICE);
    EXPECT(context == NULL);
    EXPECT_OK(cuCtxGetCurrent(&now));
    EXPECT(now == before);
}

TEST(no_surfaces)
{
    CUgraphicsResource r = NULL;
    test_context();
    for (unsigned flags = 0; flags < 4; flags++) {
        EXPECT_ERROR(cuGraphicsVDPAURegisterVideoSurface(&r, 1, flags), CUDA_ERROR_INVALID_CONTEXT);
        EXPECT_ERROR(cuGraphicsVDPAURegisterOutputSurface(&r, 1, flags),
                     CUDA_ERROR_INVALID_CONTEXT);
    }
    EXPECT_ERROR(cuGraphicsVDPAURegisterVideoSurface(NULL, 1, 0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_ERROR(cuGraphicsVDPAURegisterOutputSurface(NULL, 1, 0), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT(r == NULL);
}

TESTS(CASE(before_init), CASE(no_device), CASE(no_surfaces))
