# SPDX-License-Identifier: MIT
"""CuPy, whose wheel brings a static runtime in each of its modules. It compiles kernels with NVRTC,
and has kernels of its own (sorting, reductions) in fat binaries. numpy is the reference."""
import ctypes
import glob
import sys
import sysconfig

import numpy as np

# NVRTC of PyPI, if it is installed beside CuPy. CuPy itself searches the system's folders only.
for library in glob.glob(sysconfig.get_path('purelib') + '/nvidia/cuda_nvrtc/lib/libnvrtc.so.*'):
    ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)

try:
    import cupy as cp
    cp.cuda.compiler.compile_using_nvrtc('__global__ void f() {}')
except Exception as e:  # whatever CuPy says if there is no NVRTC, or no headers for it
    print(f'SKIPPED: CuPy cannot compile, because a CUDA toolkit with NVRTC is needed: {e}')
    sys.exit(77)

failed = 0


def check(name, got, want, tolerance=1e-5):
    global failed
    good = np.allclose(cp.asnumpy(got), want, rtol=tolerance, atol=tolerance)
    failed += not good
    print('ok' if good else 'not ok', name)


h = np.linspace(-3, 5, 1111, dtype=np.float32)
d = cp.asarray(h)
check('elementwise', d * 2 + cp.sin(d), h * 2 + np.sin(h))
check('sum', d.sum(dtype=cp.float64), h.sum(dtype=np.float64))
check('rows', d[:1110].reshape(30, 37).max(axis=1), h[:1110].reshape(30, 37).max(axis=1))
check('sort', cp.sort(d[::-1]), np.sort(h))
check('argsort', cp.argsort(-d)[:5], np.argsort(-h)[:5])
check('prefix sums', cp.cumsum(cp.arange(500)), np.cumsum(np.arange(500)))
check('transposed copy', cp.ascontiguousarray(d[:1110].reshape(30, 37).T),
      h[:1110].reshape(30, 37).T)
check('selection', d[d > 1], h[h > 1])

square = cp.RawKernel('extern "C" __global__ void square(float *x, int n)\n'
                      '{ int i = blockIdx.x * blockDim.x + threadIdx.x;\n'
                      '  if (i < n) x[i] *= x[i]; }', 'square')
copy = d.copy()
square((10,), (128,), (copy, np.int32(copy.size)))
check('raw kernel', copy, h * h)
scale = cp.ElementwiseKernel('float32 x, float32 by', 'float32 y', 'y = x * by', 'scale')
check('elementwise kernel', scale(d, np.float32(3)), h * 3)

stream = cp.cuda.Stream(non_blocking=True)
with stream:
    there = cp.cos(cp.asarray(h))
stream.synchronize()
check('stream', there, np.cos(h))
pinned = cp.cuda.alloc_pinned_memory(h.nbytes)
out = np.frombuffer(pinned, np.float32, h.size)
d.get(out=out)
check('pinned memory', out, h)

image = np.arange(64 * 16, dtype=np.float32).reshape(16, 64)
channel = cp.cuda.texture.ChannelFormatDescriptor(32, 0, 0, 0,
                                                  cp.cuda.runtime.cudaChannelFormatKindFloat)
array = cp.cuda.texture.CUDAarray(channel, 64, 16)
array.copy_from(image)
texture = cp.cuda.texture.TextureObject(
    cp.cuda.texture.ResourceDescriptor(cp.cuda.runtime.cudaResourceTypeArray, cuArr=array),
    cp.cuda.texture.TextureDescriptor((cp.cuda.runtime.cudaAddressModeClamp,) * 2,
                                      cp.cuda.runtime.cudaFilterModePoint,
                                      cp.cuda.runtime.cudaReadModeElementType))
fetch = cp.RawKernel('extern "C" __global__ void fetch(float *out, cudaTextureObject_t t)\n'
                     '{ int x = threadIdx.x, y = blockIdx.x;\n'
                     '  out[y * 64 + x] = tex2D<float>(t, x + 0.5f, y + 0.5f); }', 'fetch')
seen = cp.zeros((16, 64), cp.float32)
fetch((16,), (64,), (seen, texture))
check('texture', seen, image)
sys.exit(failed)
