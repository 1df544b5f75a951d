#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes traces that no program was recorded for, for the tests of the page.

  synthetic.py TEMPLATE LAYOUTS OUTPUT demo|empty|COUNT

`demo` is a small program that shares a buffer, an image and semaphores with Vulkan. A number makes
a trace of about so many events. LAYOUTS is the output of `layouts demo`."""
import json
import random
import sys

MIB = 1 << 20
FIELDS = {
    'calls': ('n', 't', 'd', 'thread', 'name', 'args', 'result', 'caller'),
    'commands': ('id', 'call', 'stream', 'queued', 'start', 'end', 'kind', 'text', 'reads',
                 'writes', 'object', 'value'),
    'edges': ('from', 'to', 'why'),
    'memory': ('id', 'kind', 'address', 'size', 'born_call', 'born', 'died', 'of', 'offset',
               'text'),
}
INTERNED = {'name', 'result', 'caller', 'kind', 'why'}


class Trace:
    """The lists of the page's data, and a clock for each thread."""

    def __init__(self, program):
        self.data = {
            'version': 1, 'program': program, 'cpu': 'synthetic', 'policy': 'eager',
            'threads': [{'id': 1, 'name': 'main'}], 'streams': [], 'objects': [], 'arrays': [],
            'diagnostics': [], 'calls': [], 'commands': [], 'edges': [], 'memory': [],
        }
        self.clock = {1: 0}
        self.free = {}  # when each stream is idle
        self.last = {}  # its last command
        self.line = 10

    def thread(self, number, name, at):
        self.data['threads'].append({'id': number, 'name': name})
        self.clock[number] = at

    def stream(self, number, name):
        self.data['streams'].append({'id': number, 'name': name, 'context': 1})
        self.free[number] = 0

    def call(self, name, args='', result='CUDA_SUCCESS', takes=1200, thread=1, gap=400):
        self.clock[thread] += gap
        self.line += 3
        call = {'n': len(self.data['calls']) + 1, 't': self.clock[thread], 'd': takes,
                'thread': thread, 'name': name, 'args': args, 'result': result,
                'caller': f'main.c:{self.line}'}
        self.data['calls'].append(call)
        self.clock[thread] += takes
        return call

    def command(self, call, stream, kind, text, takes, **more):
        queued = call['t'] + call['d'] // 2
        after = more.pop('after', 0)
        start = max(queued + 300, self.free[stream], after)
        command = {'id': len(self.data['commands']) + 1, 'call': call['n'], 'stream': stream,
                   'queued': queued, 'start': start, 'end': start + takes, 'kind': kind,
                   'text': text, 'reads': more.get('reads'), 'writes': more.get('writes'),
                   'object': more.get('object'), 'value': more.get('value')}
        self.data['commands'].append(command)
        if stream in self.last:
            self.edge(self.last[stream]['id'], command['id'], 'stream')
        self.free[stream] = command['end']
        self.last[stream] = command
        return command

    def edge(self, source, target, why):
        self.data['edges'].append({'from': source, 'to': target, 'why': why})

    def memory(self, kind, call, size, address=0, of=None, offset=0, text=''):
        memory = {'id': len(self.data['memory']) + 1, 'kind': kind, 'address': address,
                  'size': size, 'born_call': call['n'], 'born': call['t'] + call['d'],
                  'died': None, 'of': of and of['id'], 'offset': offset, 'text': text}
        self.data['memory'].append(memory)
        return memory

    def die(self, call, *memories):
        for memory in memories:
            memory['died'] = call['t'] + call['d']

    def object(self, kind, name, call):
        made = {'id': len(self.data['objects']) + 1, 'kind': kind, 'name': name,
                'born_call': call['n'], 'born': call['t'] + call['d'], 'died': None}
        self.data['objects'].append(made)
        return made

    def array(self, memory, form, layout, name=None):
        top = layout['levels'][0]
        dimensions = layout['dimensions']
        self.data['arrays'].append({
            'id': len(self.data['arrays']) + 1, 'memory': memory['id'], 'format': form,
            'width': top['width_px'], 'height': top['height_px'] if dimensions > 1 else 0,
            'depth': top['depth'] if dimensions > 2 else 0, 'levels': len(layout['levels']),
            'layers': layout['layers'], 'layout': layout, 'name': name})

    def diagnostic(self, name, call, text, memory=None):
        self.data['diagnostics'].append({'id': name, 'call': call['n'], 't': call['t'] + 200,
                                         'text': text, 'memory': memory and memory['id']})

    def synchronise(self, call, command):
        """The call ends when the command has ended."""
        call['d'] = max(call['d'], command['end'] + 500 - call['t'])
        self.clock[call['thread']] = call['t'] + call['d']
        self.edge(command['id'], -call['n'], 'synchronise')

    def finish(self):
        """The data as the page reads it: rows instead of objects, and repeated texts once."""
        data, strings, index = dict(self.data), [], {}

        def value_of(field, value):
            if field not in INTERNED or not isinstance(value, str):
                return value
            if value not in index:
                index[value] = len(strings)
                strings.append(value)
            return index[value]

        for name, fields in FIELDS.items():
            data[name] = {'fields': fields, 'rows': [
                [value_of(f, row[f]) for f in fields] for row in data[name]]}
        data['strings'] = strings
        data['duration_ns'] = max([0, *self.clock.values(), *self.free.values()]) + 2000
        return data


def interop(trace, layouts):
    """Imports, two aliases, an image, virtual memory, graphics, semaphores and two mistakes."""
    start = trace.call('cuInit', 'Flags=0', takes=38000)
    context = trace.call('cuDevicePrimaryCtxRetain', 'dev=0', takes=21000)
    trace.call('cuCtxSetCurrent', 'ctx=0x1', takes=900)
    trace.stream(0, 'NULL stream')
    for number, name in ((1, 'upload'), (2, 'render')):
        trace.call('cuStreamCreate', 'Flags=CU_STREAM_NON_BLOCKING', takes=2100)
        trace.stream(number, f'stream {number} ({name})')
    call = trace.call('cuImportExternalMemory', 'memHandleDesc={type=OPAQUE_FD, handle.fd=12, '
                      'size=8388608, flags=DEDICATED}', takes=16000)
    imported = trace.memory('import', call, 8 * MIB, text='OPAQUE_FD 12, from Vulkan')
    base = 0xa0000000000
    call = trace.call('cuExternalMemoryGetMappedBuffer',
                      'extMem=0x4, bufferDesc={offset=0, size=4194304, flags=0}', takes=7000)
    whole = trace.memory('mapping', call, 4 * MIB, base + 0x1000000, imported, 0, 'vertices')
    call = trace.call('cuExternalMemoryGetMappedBuffer',
                      'extMem=0x4, bufferDesc={offset=2097152, size=4194304, flags=0}', takes=6400)
    part = trace.memory('mapping', call, 4 * MIB, base + 0x2000000, imported, 2 * MIB, 'indices')
    trace.diagnostic('B05', call, 'the mapping at 0xa0002000000 overlaps the mapping at '
                     '0xa0001000000 of CUexternalMemory #4 in 2097152 bytes: synchronise between '
                     'accesses through different mappings', part)
    call = trace.call('cuImportExternalMemory', 'memHandleDesc={type=OPAQUE_FD, handle.fd=14, '
                      'size=262144, flags=DEDICATED}', takes=12000)
    image_memory = trace.memory('import', call, 262144, text='OPAQUE_FD 14, image')
    call = trace.call('cuExternalMemoryGetMappedMipmappedArray',
                      'extMem=0x5, mipmapDesc={offset=0, arrayDesc={Width=100, Height=60, Depth=3, '
                      'Format=UNSIGNED_INT8, NumChannels=4, Flags=LAYERED}, numLevels=5}',
                      takes=9000)
    image = trace.memory('array', call, layouts[0]['size_B'], base + 0x3000000, image_memory, 0,
                         'mip chain')
    trace.array(image, 'UNSIGNED_INT8 ×4', layouts[0], 'RGBA8, 3 layers')
    semaphores = []
    for fd, name in ((15, 'image ready'), (16, 'image done')):
        call = trace.call('cuImportExternalSemaphore',
                          f'semHandleDesc={{type=TIMELINE_SEMAPHORE_FD, handle.fd={fd}}}',
                          takes=5200)
        semaphores.append(trace.object('semaphore', f'timeline, {name}', call))
    call = trace.call('cuMemAlloc_v2', 'bytesize=1048576', takes=3100)
    scratch = trace.memory('allocation', call, MIB, base + 0x100000, text='scratch')
    call = trace.call('cuMemAlloc_v2', 'bytesize=65536', takes=2600)
    small = trace.memory('allocation', call, 65536, base, text='')
    call = trace.call('cuGraphicsGLRegisterBuffer', 'buffer=3, Flags=NONE', takes=8000)
    resource = trace.object('graphics resource', 'GL buffer 3', call)
    call = trace.call('cuMemAddressReserve', 'size=16777216, alignment=0, addr=0, flags=0',
                      takes=2900)
    reserved = trace.memory('reservation', call, 16 * MIB, base + 0x8000000, text='reserved')
    call = trace.call('cuMemCreate', 'size=2097152, prop={type=PINNED, location={DEVICE, 0}}',
                      takes=5200)
    handle = trace.memory('allocation', call, 2 * MIB, 0, text='cuMemCreate')
    views = []
    for place in (0, 6 * MIB):
        call = trace.call('cuMemMap', f'ptr={base + 0x8000000 + place:#x}, size=2097152, offset=0, '
                          'handle=0x7, flags=0', takes=3300)
        views.append(trace.memory('mapping', call, 2 * MIB, base + 0x8000000 + place, handle, 0,
                                  'view'))
    call = trace.call('cuArrayCreate_v2', 'pAllocateArray={Width=64, Height=64, '
                      'Format=FLOAT, NumChannels=1}', takes=4100)
    square = trace.memory('array', call, layouts[1]['size_B'], base + 0x400000, text='')
    trace.array(square, 'FLOAT ×1', layouts[1], 'R32F')
    call = trace.call('cuArray3DCreate_v2', 'pAllocateArray={Width=32, Height=24, Depth=12, '
                      'Format=HALF, NumChannels=4, Flags=0}', takes=4600)
    volume = trace.memory('array', call, layouts[2]['size_B'], base + 0x500000, text='')
    trace.array(volume, 'HALF ×4', layouts[2], 'RGBA16F')
    trace.call('cuModuleLoadData', 'image=0x55d0c0de1000', takes=31000)
    trace.call('cuModuleGetFunction', 'hmod=0x9, name="shade"', takes=1500)
    call = trace.call('cuMemAlloc_v2', 'bytesize=1099511627776', 'CUDA_ERROR_OUT_OF_MEMORY', 2300)
    trace.diagnostic('GENERAL', call, 'the allocation (1099511627776 bytes) exceeds the memory of '
                     'the device')
    trace.thread(2, 'loader', trace.clock[1] - 18000)
    frames(trace, {'whole': whole, 'part': part, 'image': image, 'scratch': scratch,
                   'small': small, 'views': views, 'resource': resource,
                   'semaphores': semaphores, 'square': square})
    for name, died in (('cuMemFree_v2', [scratch]), ('cuMemUnmap', views),
                       ('cuMemRelease', [handle]), ('cuMemAddressFree', [reserved]),
                       ('cuArrayDestroy', [square]), ('cuMemFree_v2', [whole]),
                       ('cuMipmappedArrayDestroy', [image]),
                       ('cuDestroyExternalMemory', [imported])):
        trace.die(trace.call(name, takes=2400), *died)
    call = trace.call('cuMemFree_v2', f'dptr={part["address"]:#x}', takes=2100)
    trace.die(call, part)
    trace.diagnostic('B06', call, f'the mapping at {part["address"]:#x} is freed after its '
                     'CUexternalMemory #4 was destroyed: free mappings first', part)
    call = trace.call('cuDestroyExternalSemaphore', 'extSem=0x6', takes=1800)
    semaphores[0]['died'] = call['t'] + call['d']


def frames(trace, made):
    """Three frames: upload, wait, kernel into the image, signal, and a copy to the host."""
    ready, done = made['semaphores']
    for frame in range(1, 4):
        call = trace.call('cuMemcpyHtoDAsync_v2', f'dstDevice={made["whole"]["address"]:#x}, '
                          'srcHost=0x7f10aa000000, ByteCount=4194304, hStream=0x2', takes=2600,
                          thread=2, gap=9000)
        upload = trace.command(call, 1, 'copy', '4 MiB host -> vertices', 26000,
                               writes=[[made['whole']['address'], 4 * MIB]])
        call = trace.call('cuEventRecord', 'hEvent=0xa, hStream=0x2', takes=1100, thread=2)
        event = trace.command(call, 1, 'event record', 'event #10', 200)
        call = trace.call('cuWaitExternalSemaphoresAsync',
                          f'extSemArray=[0x6], params=[{{value={frame}}}], stream=0x3', takes=2300)
        wait = trace.command(call, 2, 'wait', f'image ready >= {frame}', 11000,
                             object=ready['id'], value=frame)
        call = trace.call('cuStreamWaitEvent', 'hStream=0x3, hEvent=0xa, Flags=0', takes=1300)
        waited = trace.command(call, 2, 'event wait', 'event #10', 300, after=event['end'] + 200)
        trace.edge(event['id'], waited['id'], 'event')
        call = trace.call('cuLaunchKernel', 'f=shade, grid=(64,1,1), block=(256,1,1), stream=0x3',
                          takes=3400)
        kernel = trace.command(call, 2, 'kernel', 'shade <<<64, 256>>>', 34000,
                               reads=[[made['part']['address'], 2 * MIB]],
                               writes=[[made['image']['address'], made['image']['size']],
                                       [made['scratch']['address'], MIB]])
        call = trace.call('cuSignalExternalSemaphoresAsync',
                          f'extSemArray=[0x7], params=[{{value={frame}}}], stream=0x3', takes=2200)
        signal = trace.command(call, 2, 'signal', f'image done = {frame}', 900,
                               object=done['id'], value=frame)
        call = trace.call('cuGraphicsMapResources', 'count=1, resources=[0x8], hStream=0',
                          takes=4200)
        trace.command(call, 0, 'map', 'GL buffer 3', 2500, object=made['resource']['id'])
        call = trace.call('cuMemsetD8Async', f'dstDevice={made["small"]["address"]:#x}, uc=0, '
                          'N=65536, hStream=0', takes=1900)
        trace.command(call, 0, 'fill', '64 KiB of 0x00', 5200,
                      writes=[[made['small']['address'], 65536]])
        view = made['views'][frame % 2]['address']
        call = trace.call('cuMemcpyDtoDAsync_v2', f'dstDevice={view:#x}, srcDevice='
                          f'{made["scratch"]["address"]:#x}, ByteCount=1048576', takes=2100)
        copy = trace.command(call, 0, 'copy', '1 MiB scratch -> view', 12000,
                             after=kernel['end'] + 500,
                             reads=[[made['scratch']['address'], MIB]], writes=[[view, MIB]])
        trace.edge(kernel['id'], copy['id'], 'event')
        call = trace.call('cuGraphicsUnmapResources', 'count=1, resources=[0x8], hStream=0',
                          takes=3900)
        trace.command(call, 0, 'unmap', 'GL buffer 3', 2100, object=made['resource']['id'])
        call = trace.call('cuLaunchHostFunc', 'hStream=0x3, fn=0x55d0c0de2000', takes=1500)
        trace.command(call, 2, 'host function', 'frame_done()', 4200)
        call = trace.call('cuStreamSynchronize', 'hStream=0x3', takes=1500)
        trace.synchronise(call, trace.last[2])
        trace.edge(signal['id'], -call['n'], 'semaphore')
        if frame == 2:
            trace.diagnostic('S03', call, f'wait #{wait["id"]} was queued before a signal of value '
                             '2 was submitted')


def many(trace, count):
    """A long program with `count` calls and commands, on 4 threads and 12 streams."""
    rng = random.Random(7)
    for number in range(2, 5):
        trace.thread(number, f'worker {number - 1}', 5000 * number)
    for number in range(12):
        trace.stream(number, f'stream {number}' if number else 'NULL stream')
    base, alive, events = 0xa0000000000, [], 0
    while events < count:
        thread, stream = rng.randrange(1, 5), rng.randrange(12)
        dice, gap = rng.random(), int(rng.expovariate(1 / 900))
        if dice < 0.06:
            size = 256 << rng.randrange(14)
            call = trace.call('cuMemAlloc_v2', f'bytesize={size}', thread=thread, gap=gap)
            used = {memory['address'] for memory in alive}
            slot = next(i for i in range(1000) if base + i * 4 * MIB not in used)
            alive.append(trace.memory('allocation', call, size, base + slot * 4 * MIB))
            events += 1
        elif dice < 0.12 and len(alive) > 20:
            memory = alive.pop(rng.randrange(len(alive)))
            trace.die(trace.call('cuMemFree_v2', f'dptr={memory["address"]:#x}', thread=thread,
                                 gap=gap), memory)
            events += 1
        elif dice < 0.2:
            call = trace.call('cuStreamSynchronize', f'hStream={stream:#x}', thread=thread,
                              gap=gap)
            if stream in trace.last:
                trace.edge(trace.last[stream]['id'], -call['n'], 'synchronise')
            events += 1
        else:
            kind, name = rng.choice((('kernel', 'cuLaunchKernel'), ('copy', 'cuMemcpyAsync'),
                                     ('fill', 'cuMemsetD32Async'), ('signal', 'cuSignalExternal'
                                                                   'SemaphoresAsync')))
            result = 'CUDA_SUCCESS' if rng.random() > 0.001 else 'CUDA_ERROR_INVALID_VALUE'
            call = trace.call(name, f'stream={stream:#x}, count={rng.randrange(1 << 20)}', result,
                              rng.randrange(500, 3000), thread, gap)
            memory = rng.choice(alive) if alive else None
            trace.free[stream] = max(trace.free[stream], call['t'] - 20000)
            command = trace.command(call, stream, kind, f'{kind} of step {events}',
                                    rng.randrange(300, 9000),
                                    writes=memory and [[memory['address'], memory['size']]])
            other = rng.randrange(12)
            if other in trace.last and trace.last[other]['end'] <= command['start']:
                trace.edge(trace.last[other]['id'], command['id'], 'event')
            events += 2
    for call in trace.data['calls'][::count // 40]:
        trace.diagnostic('O01', call, 'two commands write the same bytes without an order')


def make(kind, layouts):
    if kind == 'empty':
        return Trace('./nothing').finish()
    trace = Trace('./simpleVulkan --frames 3' if kind == 'demo' else f'./stress {kind}')
    if kind == 'demo':
        interop(trace, layouts)
    else:
        many(trace, int(kind))
    return trace.finish()


def main():
    template, layouts, output, kind = sys.argv[1:5]
    with open(template, encoding='utf-8') as f:
        page = f.read()
    with open(layouts, encoding='utf-8') as f:
        data = make(kind, json.load(f))
    text = json.dumps(data, separators=(',', ':'), ensure_ascii=False).replace('<', '\\u003c')
    with open(output, 'w', encoding='utf-8') as f:
        f.write(page.replace('<!--DATA-->', text))


if __name__ == '__main__':
    main()
