# SPDX-License-Identifier: MIT
"""cuda-bindings, whose runtime is static and has no symbols: memory, streams, events, properties,
errors, and a kernel of the driver module in the same context."""
import ctypes
import os
import subprocess
import sys
from importlib.metadata import version

from cuda.bindings import driver, runtime

PER_THREAD = 'CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM'
failed = 0


def check(name, good):
    global failed
    failed += not good
    print('ok' if good else 'not ok', name)


def must(answer):
    code, *rest = answer
    assert int(code) == 0, code
    return rest[0] if len(rest) == 1 else rest


SUCCESS = runtime.cudaError_t.cudaSuccess
KIND = runtime.cudaMemcpyKind
SIZE = 4096

major = int(version('cuda-bindings').partition('.')[0])
check('version', must(runtime.cudaRuntimeGetVersion()) // 1000 == major)
check('device', must(runtime.cudaGetDeviceCount()) == 1)
properties = must(runtime.cudaGetDeviceProperties(0))
check('properties', properties.major >= 7 and b'NVIDIA' in properties.name)
# A member near the end, which CUDA 12 and 13 have at different places.
cluster = must(runtime.cudaDeviceGetAttribute(runtime.cudaDeviceAttr.cudaDevAttrClusterLaunch, 0))
check('clusters', properties.clusterLaunch == cluster)

# All checks also run with per-thread default streams.
wanted = runtime.cudaStreamPerThread if PER_THREAD in os.environ else runtime.cudaStreamLegacy
check('default stream', must(runtime.cudaStreamGetId(0)) == must(runtime.cudaStreamGetId(wanted)))
if PER_THREAD not in os.environ:
    command = [sys.executable, *sys.argv]
    check('per thread', not subprocess.run(command, env={**os.environ, PER_THREAD: '1'}).returncode)

source = (ctypes.c_ubyte * SIZE)(*[i * 7 & 255 for i in range(SIZE)])
result = (ctypes.c_ubyte * SIZE)()
stream = must(runtime.cudaStreamCreate())
begin, end = must(runtime.cudaEventCreate()), must(runtime.cudaEventCreate())
memory = must(runtime.cudaMalloc(SIZE))
must(runtime.cudaEventRecord(begin, stream))
must(runtime.cudaMemcpyAsync(memory, ctypes.addressof(source), SIZE,
                             KIND.cudaMemcpyHostToDevice, stream))
must(runtime.cudaEventRecord(end, stream))
must(runtime.cudaStreamSynchronize(stream))
check('elapsed time', must(runtime.cudaEventElapsedTime(begin, end)) >= 0)
must(runtime.cudaMemcpy(ctypes.addressof(result), memory, SIZE, KIND.cudaMemcpyDeviceToHost))
check('copies', bytes(result) == bytes(source))

attributes = must(runtime.cudaPointerGetAttributes(memory))
check('attributes', attributes.type == runtime.cudaMemoryType.cudaMemoryTypeDevice)
code, = runtime.cudaMemcpy(ctypes.addressof(result), memory, SIZE * 1024,
                           KIND.cudaMemcpyDeviceToHost)
check('a copy that is too long', code == runtime.cudaError_t.cudaErrorInvalidValue)
check('last error', runtime.cudaGetLastError()[0] == code and
      runtime.cudaGetLastError()[0] == SUCCESS)
check('name of an error', must(runtime.cudaGetErrorName(code)) == b'cudaErrorInvalidValue')

PTX = b'''.version 7.0
.target sm_70
.address_size 64
.visible .entry increase(.param .u64 p) {
    .reg .u64 %a<3>;
    .reg .u32 %t, %v;
    ld.param.u64 %a0, [p];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %a1, %t, 4;
    add.u64 %a2, %a0, %a1;
    ld.global.u32 %v, [%a2];
    add.u32 %v, %v, 1;
    st.global.u32 [%a2], %v;
    ret;
}
'''
must(runtime.cudaMemset(memory, 0, SIZE))
module = must(driver.cuModuleLoadData(PTX))
function = must(driver.cuModuleGetFunction(module, b'increase'))
must(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, 0, ((memory,), (ctypes.c_void_p,)), 0))
must(runtime.cudaDeviceSynchronize())
must(runtime.cudaMemcpy(ctypes.addressof(result), memory, 256, KIND.cudaMemcpyDeviceToHost))
check('a kernel of the driver', bytes(result)[:256] == b'\1\0\0\0' * 32 + b'\0' * 128)
must(runtime.cudaFree(memory))
raise SystemExit(failed)
