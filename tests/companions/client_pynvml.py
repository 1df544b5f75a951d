# SPDX-License-Identifier: MIT
"""nvidia-ml-py, the Python binding of NVML, as programs such as nvitop use it."""
import ctypes
import os

import pynvml as nvml

failed = 0


def check(name, good):
    global failed
    failed += not good
    print('ok' if good else 'not ok', name)


def refused(code, call, *arguments):
    try:
        call(*arguments)
    except nvml.NVMLError as e:
        return e.value == code
    return False


nvml.nvmlInit()
check('one card', nvml.nvmlDeviceGetCount() == 1)
card = nvml.nvmlDeviceGetHandleByIndex(0)
name, uuid = nvml.nvmlDeviceGetName(card), nvml.nvmlDeviceGetUUID(card)
print('#', name, uuid, nvml.nvmlSystemGetDriverVersion())
check('by uuid', nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleByUUID(uuid)) == 0)
bus = nvml.nvmlDeviceGetPciInfo(card).busId
check('by bus', nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleByPciBusId(bus)) == 0)
check('versions', nvml.nvmlSystemGetCudaDriverVersion() >= 13000)
check('temperature is not supported', refused(nvml.NVML_ERROR_NOT_SUPPORTED,
                                              nvml.nvmlDeviceGetTemperature, card, 0))
check('no second card', refused(nvml.NVML_ERROR_INVALID_ARGUMENT,
                                nvml.nvmlDeviceGetHandleByIndex, 1))

cuda = ctypes.CDLL('libcuda.so.1')
context, address = ctypes.c_void_p(), ctypes.c_uint64()
assert not cuda.cuInit(0)
device = ctypes.c_int()
assert not cuda.cuDeviceGet(ctypes.byref(device), 0)
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
assert not cuda.cuCtxSetCurrent(context)
before = nvml.nvmlDeviceGetMemoryInfo(card)
assert not cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(100 << 20))
after = nvml.nvmlDeviceGetMemoryInfo(card)
mine = [p for p in nvml.nvmlDeviceGetComputeRunningProcesses(card) if p.pid == os.getpid()]
check('this process', len(mine) == 1 and mine[0].usedGpuMemory == 100 << 20)
check('memory', after.total == before.total == after.used + after.free)
check('process name', 'python' in str(nvml.nvmlSystemGetProcessName(os.getpid())))
check('utilisation', 0 <= nvml.nvmlDeviceGetUtilizationRates(card).gpu <= 100)
nvml.nvmlShutdown()
check('shut down', refused(nvml.NVML_ERROR_UNINITIALIZED, nvml.nvmlDeviceGetCount))
raise SystemExit(failed)
