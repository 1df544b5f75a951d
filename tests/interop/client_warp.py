# SPDX-License-Identifier: MIT
"""warp compiles a module to a PTX file ahead of time; the driver API loads and launches it.

warp's own launches need the runtime API, so this program has the few calls of the driver API that
it needs. The reference is warp itself, which also compiles kernels for the CPU.
"""
import ctypes
import glob
import sys
import tempfile
from typing import Any

import numpy as np
import warp as wp

COUNT, BLOCK = 3000, 256
wp.config.quiet = True


@wp.func
def spring(p: wp.vec3, q: wp.vec3, rest: float):
    d = p - q
    return wp.normalize(d) * (wp.length(d) - rest)


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def functions(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    v = x[i]
    y[i] = wp.sin(v) + wp.exp(-wp.abs(v)) * wp.atan2(v, 2.0) + wp.pow(1.0 + v * v, 0.3)


@wp.kernel
def histogram(x: wp.array(dtype=float), bins: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_add(bins, wp.clamp(int(wp.floor(x[i] * 2.0)) + 8, 0, 15), 1)


@wp.kernel
def extremes(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_max(out, 0, x[i])
    wp.atomic_min(out, 1, x[i])


@wp.kernel
def rotate(p: wp.array(dtype=wp.vec3), q: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    r = wp.quat_from_axis_angle(wp.normalize(wp.vec3(1.0, 2.0, 3.0)), 0.001 * float(i))
    m = wp.quat_to_matrix(r) * wp.transpose(wp.quat_to_matrix(r))
    q[i] = wp.quat_rotate(r, p[i]) + m * spring(p[i], wp.vec3(0.5, -0.5, 2.5), 1.0)


@wp.kernel
def mandelbrot(image: wp.array2d(dtype=int)):
    i, j = wp.tid()
    cx = float(j) / 24.0 - 2.0
    cy = float(i) / 24.0 - 1.0
    zx = float(0.0)
    zy = float(0.0)
    n = int(0)
    while zx * zx + zy * zy < 4.0 and n < 60:
        t = zx * zx - zy * zy + cx
        zy = 2.0 * zx * zy + cy
        zx = t
        n += 1
    image[i, j] = n


@wp.kernel
def dice(out: wp.array(dtype=wp.uint32), seed: int):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    out[i] = wp.randu(state) ^ wp.randu(state)


@wp.kernel
def noise(out: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(7)
    out[i] = wp.noise(state, wp.vec2(float(i) * 0.01, float(i % 50) * 0.1))


@wp.kernel
def mixed(a: wp.array(dtype=wp.int64), h: wp.array(dtype=wp.float16), d: wp.array(dtype=wp.float64),
          out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = wp.float64(a[i] % wp.int64(97)) * wp.float64(h[i]) + wp.sqrt(d[i])


# ---- the driver API ----

cuda = ctypes.CDLL('libcuda.so.1')


def must(status):
    if status:
        sys.exit(f'the driver has returned {status}')


def to_device(array):
    """A copy of a numpy array in device memory."""
    address = ctypes.c_uint64()
    must(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(array.nbytes)))
    must(cuda.cuMemcpyHtoD_v2(address, ctypes.c_void_p(array.ctypes.data),
                              ctypes.c_size_t(array.nbytes)))
    return address.value


def from_device(address, like):
    out = np.empty_like(like)
    must(cuda.cuMemcpyDtoH_v2(ctypes.c_void_p(out.ctypes.data), ctypes.c_uint64(address),
                              ctypes.c_size_t(out.nbytes)))
    return out


def launch(function, dim, arguments):
    """Launches with arguments that are arrays of warp's CPU or numbers. Returns the arrays."""
    bounds = wp.types.launch_bounds_t(dim)
    values, arrays = [bounds], []
    for argument in arguments:
        if isinstance(argument, wp.array):
            value = argument.__ctype__()
            value.data = to_device(argument.numpy())
            arrays.append((value.data, argument.numpy()))
        else:
            value = (ctypes.c_int32 if isinstance(argument, int) else ctypes.c_float)(argument)
        values.append(value)
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
    blocks = (bounds.size + BLOCK - 1) // BLOCK
    must(cuda.cuLaunchKernel(function, blocks, 1, 1, BLOCK, 1, 1, 0, None, pointers, None))
    must(cuda.cuCtxSynchronize())
    return [from_device(*array) for array in arrays]


def load(folder):
    """Compiles this file's kernels to PTX, and loads them."""
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    wp.set_module_options({'block_dim': BLOCK})  # the CPU's is 1
    wp.compile_aot_module(sys.modules['__main__'], arch=90, module_dir=folder, use_ptx=True,
                          strip_hash=True)
    with open(glob.glob(folder + '/*.ptx')[0], 'rb') as file:
        text = file.read()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuModuleLoadData(ctypes.byref(module), ctypes.c_char_p(text)))
    return module


# ---- the cases ----

random = np.random.default_rng(1)
x = random.normal(size=COUNT).astype(np.float32)
points = random.normal(size=(COUNT, 3)).astype(np.float32)
whole = random.integers(-10**12, 10**12, COUNT)


def cpu(values, dtype=Any):
    return wp.array(np.array(values), dtype=dtype, device='cpu')


def zeros(*shape, type=np.float32):
    return cpu(np.zeros(shape, type))


def vectors(values):
    return cpu(values, wp.vec3)


def cases():
    """Kernel, dimensions, arguments, and their gradients if the backward kernel runs."""
    return [
        (saxpy, COUNT, [cpu(x), cpu(x * x), 2.5], []),
        (saxpy, COUNT, [cpu(x), cpu(x * x), 2.5], [zeros(COUNT), cpu(x), 0.0]),
        (functions, COUNT, [cpu(x), zeros(COUNT)], []),
        (functions, COUNT, [cpu(x), zeros(COUNT)], [zeros(COUNT), cpu(x)]),
        (histogram, COUNT, [cpu(x), zeros(16, type=np.int32)], []),
        (extremes, COUNT, [cpu(x), zeros(2)], []),
        (rotate, COUNT, [vectors(points), vectors(points * 0)], []),
        (rotate, COUNT, [vectors(points), vectors(points * 0)],
         [vectors(points * 0), vectors(points)]),
        (mandelbrot, (48, 64), [zeros(48, 64, type=np.int32)], []),
        (dice, COUNT, [zeros(COUNT, type=np.uint32), 42], []),
        (noise, COUNT, [zeros(COUNT)], []),
        (mixed, COUNT, [cpu(whole), cpu(x.astype(np.float16)),
                        cpu(np.abs(x).astype(np.float64)), zeros(COUNT, type=np.float64)], []),
    ]


def arrays_of(arguments, gradients):
    return [a for a in arguments + gradients if isinstance(a, wp.array)]


def reference():
    """The arrays after the kernels, by warp's CPU."""
    results = []
    for kernel, dim, arguments, gradients in cases():
        wp.launch(kernel, dim=dim, inputs=arguments, adj_inputs=gradients,
                  adjoint=bool(gradients), device='cpu')
        results.append([a.numpy() for a in arrays_of(arguments, gradients)])
    return results


def main(folder):
    failed = 0
    wp.config.kernel_cache_dir = folder
    wp.init()
    wants = reference()  # before the module is compiled ahead of time, which changes it
    module = load(folder + '/ahead')
    for (kernel, dim, arguments, gradients), want in zip(cases(), wants):
        function = ctypes.c_void_p()
        name = f'{kernel.key}_cuda_kernel_{"backward" if gradients else "forward"}'
        must(cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
        got = launch(function, dim, arguments + gradients)
        good = all(np.allclose(g, w, rtol=1e-4, atol=1e-5) for g, w in zip(got, want))
        failed += not good
        print('ok' if good else f'not ok (got {got}, want {want})', name)
    return failed != 0


with tempfile.TemporaryDirectory() as scratch:
    status = main(scratch)
sys.exit(status)
