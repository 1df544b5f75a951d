# SPDX-License-Identifier: MIT
"""NVRTC is asked for machine code, and the driver runs its answer."""
import _ctypes
import ctypes
import glob
import site
import sys

SOURCE = b'extern "C" __global__ void answer(int *out) { *out = 42; }'


def must(status):
    if status:
        sys.exit(f'{status} was returned')


def compiled(nvrtc, architecture):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    must(nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b'answer.cu', 0, None, None))
    options = (ctypes.c_char_p * 1)(b'--gpu-architecture=' + architecture)
    must(nvrtc.nvrtcCompileProgram(program, 1, options))
    must(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)))
    image = ctypes.create_string_buffer(size.value)
    must(nvrtc.nvrtcGetCUBIN(program, image))
    must(nvrtc.nvrtcDestroyProgram(ctypes.byref(program)))
    return image


def run(image):
    cuda = ctypes.CDLL('libcuda.so.1')
    context, module, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    at, value = ctypes.c_uint64(), ctypes.c_int()
    must(cuda.cuInit(0))
    must(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    must(cuda.cuCtxSetCurrent(context))
    must(cuda.cuModuleLoadData(ctypes.byref(module), image))
    must(cuda.cuModuleGetFunction(ctypes.byref(function), module, b'answer'))
    must(cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(4)))
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(at))
    must(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None))
    must(cuda.cuMemcpyDtoH_v2(ctypes.byref(value), at, ctypes.c_size_t(4)))
    return value.value


for folder in site.getsitepackages():
    for path in glob.glob(f'{folder}/nvidia/cu13/lib/libnvrtc.so.13'):
        library = ctypes.CDLL(path)
        for arch in (b'sm_90', b'sm_75', b'compute_90'):
            if run(compiled(library, arch)) != 42:
                sys.exit('the kernel has not run')
        for _ in range(12):  # it can be closed and opened as often as a program likes
            _ctypes.dlclose(library._handle)
            library = ctypes.CDLL(path)
            if b'.version' not in compiled(library, b'sm_90').raw:
                sys.exit('after it was opened again, NVRTC gave machine code')
        print('machine code for 3 architectures was PTX')
        sys.exit(0)
sys.exit('NVRTC was not found')
