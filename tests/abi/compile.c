// SPDX-License-Identifier: MIT
// Compiled in every language that a program may be written in: the headers alone give neither
// warnings nor errors.
#include <cooperative_groups.h>
#include <cuComplex.h>
#include <cuda.h>
#include <cudaProfiler.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>
#include <cuda_fp16.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <library_types.h>
#include <math_constants.h>
#if __has_include(<GL/gl.h>)
#include <cudaGL.h>
#include <cudaGLTypedefs.h>
#include <cuda_gl_interop.h>
#endif
#if __has_include(<EGL/egl.h>)
#include <cudaEGL.h>
#include <cudaEGLTypedefs.h>
#include <cuda_egl_interop.h>
#endif
#if __has_include(<vdpau/vdpau.h>)
#include <cudaVDPAU.h>
#include <cudaVDPAUTypedefs.h>
#include <cuda_vdpau_interop.h>
#endif

int main(void)
{
    CUresult (*allocate)(CUdeviceptr *, size_t) = cuMemAlloc;
    return allocate == 0;
}
