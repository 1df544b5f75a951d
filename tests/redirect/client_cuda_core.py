# SPDX-License-Identifier: MIT
"""cuda.core: devices, streams, events, memory of each kind, kernels of NVRTC and of nvJitLink,
occupancy, and graphs."""
import ctypes

import numpy
from cuda.core import (Device, DeviceMemoryResource, EventOptions, LaunchConfig,
                       LegacyPinnedMemoryResource, Linker, LinkerOptions, ManagedMemoryResource,
                       Program, ProgramOptions, launch)

SAXPY = r'''
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] += a * x[i];
}
template <class T> __global__ void fill(T *out, T value)
{
    out[threadIdx.x] = value;
}
'''
PARTS = [r'extern __device__ int twice(int); extern "C" __global__ void k(int *p) '
         r'{ p[threadIdx.x] = twice(threadIdx.x); }',
         r'__device__ int twice(int i) { return 2 * i; }']
COUNT = 1000
failed = 0


def check(name, good):
    global failed
    failed += not good
    print('ok' if good else 'not ok', name)


def as_array(buffer, kind):
    """The memory of a buffer that the host can access."""
    size = buffer.size // numpy.dtype(kind).itemsize
    pointer = ctypes.cast(int(buffer.handle), ctypes.POINTER(ctypes.c_ubyte))
    return numpy.ctypeslib.as_array(pointer, (buffer.size,)).view(kind)[:size]


device = Device()
device.set_current()
arch = f'sm_{device.arch}'
check('device', device.compute_capability >= (7, 5) and 'NVIDIA' in device.name)
check('properties', device.properties.max_threads_per_block == 1024)
stream = device.create_stream()

pinned, managed = LegacyPinnedMemoryResource(), ManagedMemoryResource()
x, y = pinned.allocate(COUNT * 4), pinned.allocate(COUNT * 4)
on_device = DeviceMemoryResource(device).allocate(COUNT * 4, stream=stream)
host_x, host_y = as_array(x, 'f4'), as_array(y, 'f4')
host_x[:], host_y[:] = numpy.arange(COUNT), 1

# By default a program is compiled to machine code, which is exchanged for PTX.
program = Program(SAXPY, 'c++', ProgramOptions(arch=arch, std='c++17'))
code = program.compile('cubin', name_expressions=('fill<double>',))
kernel = code.get_kernel('saxpy')
begin = stream.record(options=EventOptions(timing_enabled=True))
on_device.copy_from(y, stream=stream)
launch(stream, LaunchConfig(grid=4, block=64), kernel, numpy.float32(2), x, on_device,
       numpy.int32(COUNT))
on_device.copy_to(y, stream=stream)
end = stream.record(options=EventOptions(timing_enabled=True))
end.sync()
check('kernel', (host_y == 2 * numpy.arange(COUNT) + 1).all())
check('events', end.is_done and end - begin >= 0)
check('attributes', kernel.attributes.max_threads_per_block >= 64)
check('occupancy', kernel.occupancy.max_active_blocks_per_multiprocessor(64, 0) >= 1)

shared = managed.allocate(64 * 8, stream=stream)
launch(stream, LaunchConfig(grid=1, block=64), code.get_kernel('fill<double>'), shared, 7.5)
stream.sync()
check('managed memory', (as_array(shared, 'f8') == 7.5).all())

objects = [Program(part, 'c++', ProgramOptions(arch=arch, relocatable_device_code=True))
           .compile('ptx') for part in PARTS]
linked = Linker(*objects, options=LinkerOptions(arch=arch)).link('cubin')
launch(stream, LaunchConfig(grid=1, block=64), linked.get_kernel('k'), shared)
stream.sync()
check('linker', (as_array(shared, 'i4')[:64] == 2 * numpy.arange(64)).all())

host_y[:] = 0
builder = device.create_graph_builder().begin_building()
for _ in range(3):
    launch(builder, LaunchConfig(grid=4, block=64), kernel, numpy.float32(1), x, y,
           numpy.int32(COUNT))
graph = builder.end_building().complete()
for _ in range(2):
    graph.launch(stream)
stream.sync()
check('graph', (host_y == 6 * numpy.arange(COUNT)).all())
for buffer in (x, y, on_device, shared):
    buffer.close()
raise SystemExit(failed)
