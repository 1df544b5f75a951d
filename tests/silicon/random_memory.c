// SPDX-License-Identifier: MIT
// Allocations, registered host memory and buffers on imported memory with random arguments. The
// order and number of the draws must not change.
#include "draw.h"
#include "record.h"

enum { GRANULE = 2 << 20, HOST_B = 1 << 20, SOME_POINTER = 5 };

// ---- host memory

static void host_allocation(size_t size, unsigned flags)
{
    void *p = (void *)SOME_POINTER;
    CUresult r = cuMemHostAlloc(&p, size, flags);
    SAY("%s", record_name(r));
    if (r) {
        SAY(" %d", p == (void *)SOME_POINTER);
        return;
    }
    unsigned got = 99;
    CUdeviceptr device = 0;
    SAY(" flags=%s", record_name(cuMemHostGetFlags(&got, p)));
    SAY(",%x dp=%s", got, record_name(cuMemHostGetDevicePointer(&device, p, 0)));
    SAY(",%d align%d", device == (CUdeviceptr)p, (uintptr_t)p % 4096 == 0);
    SAY(" free=%s", record_name(cuMemFreeHost(p)));
}

static void registration(unsigned char *host, size_t offset, size_t size, unsigned flags,
                         const size_t *offsets, unsigned count)
{
    if (size > HOST_B) {
        SAY("skip");
        return;
    }
    if (offset + size > HOST_B)
        size = HOST_B - offset;
    unsigned char *p = host + offset;
    CUresult r = cuMemHostRegister(p, size, flags);
    SAY("%s", record_name(r));
    if (r)
        return;
    unsigned got = 99;
    CUdeviceptr device = 0;
    SAY(" flags=%s", record_name(cuMemHostGetFlags(&got, p)));
    SAY(",%x dp=%s", got, record_name(cuMemHostGetDevicePointer(&device, p, 0)));
    SAY(",%d", device == (CUdeviceptr)p);
    SAY(" again=%s", record_name(cuMemHostRegister(p, size, flags)));
    size_t over = offsets[draw() % count];
    r = cuMemHostRegister(host + over, 8192, 0);
    SAY(" over%zx=%s", over, record_name(r));
    if (!r)
        cuMemHostUnregister(host + over);
    SAY(" mid=%s", record_name(cuMemHostUnregister(p + size / 2 + 1)));
    SAY(" unreg=%s", record_name(cuMemHostUnregister(p)));
}

GROUP(hostalloc)
{
    static const size_t sizes[] = {0, 1, 100, 4096, 65536, HOST_B, SIZE_MAX, (size_t)1 << 50};
    static const size_t offsets[] = {0, 0, 0, 1, 64, 4096, 8192, 65536, 100000};
    record_context();
    unsigned char *host =
        mmap(NULL, HOST_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 300; i++) {
        draw_seed(3000 + (uint64_t)i);
        unsigned flags = (unsigned)(draw() % 40);
        size_t size = PICK(sizes), offset = PICK(offsets);
        if (CASE("alloc-%d-%zx-%x", i, size, flags))
            host_allocation(size, flags);
        if (CASE("reg-%d-%zx-%zx-%x", i, offset, size, flags))
            registration(host, offset, size, flags, offsets, COUNT(offsets));
    }
}

// Two registrations close together: which bytes of which pages can be registered twice.
GROUP(registered)
{
    static const size_t offsets[] = {0, 1, 64, 4095, 4096, 4097, 8191, 8192};
    static const size_t sizes[] = {1, 63, 64, 4032, 4095, 4096, 4097, 8192};
    static const unsigned flags[] = {
        0, 1, 2, 3, CU_MEMHOSTREGISTER_READ_ONLY, CU_MEMHOSTREGISTER_READ_ONLY | 2};
    record_context();
    unsigned char *host =
        mmap(NULL, HOST_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 400; i++) {
        draw_seed(140000 + (uint64_t)i);
        size_t at[3], size[3];
        unsigned flag[3], got;
        for (int k = 0; k < 3; k++) {
            at[k] = PICK(offsets);
            size[k] = PICK(sizes);
            flag[k] = PICK(flags);
        }
        if (!CASE("%d", i))
            continue;
        for (int k = 0; k < 3; k++)
            SAY(" %zu+%zu,%x=%s", at[k], size[k], flag[k],
                record_ok(cuMemHostRegister(host + at[k], size[k], flag[k])));
        for (size_t page = 0; page < 5; page++)
            SAY(" %s", record_ok(cuMemHostGetFlags(&got, host + page * 4096)));
        for (int k = 0; k < 3; k++)
            SAY(" un%d=%s", k, record_ok(cuMemHostUnregister(host + at[k])));
        for (int k = 0; k < 3; k++)
            cuMemHostUnregister(host + at[k]);
    }
}

// ---- buffers on imported memory

GROUP(extbuf)
{
    enum { MOST = 6 };
    static const size_t real[] = {GRANULE, 4 * GRANULE, 3 * GRANULE};
    static const size_t claims[] = {0,
                                    1,
                                    100,
                                    4096,
                                    65536,
                                    GRANULE - 1,
                                    GRANULE,
                                    GRANULE + 1,
                                    2 * GRANULE,
                                    3 * GRANULE,
                                    4 * GRANULE,
                                    5 * GRANULE,
                                    (size_t)64 * GRANULE,
                                    (size_t)1 << 47,
                                    SIZE_MAX};
    static const size_t offsets[] = {0,
                                     0,
                                     1,
                                     16,
                                     100,
                                     4096,
                                     65536,
                                     65537,
                                     GRANULE - 65536,
                                     GRANULE - 1,
                                     GRANULE,
                                     GRANULE + 1,
                                     2 * GRANULE,
                                     (size_t)-65536,
                                     SIZE_MAX};
    static const size_t sizes[] = {0,           1,
                                   100,         4096,
                                   65535,       65536,
                                   65537,       GRANULE,
                                   GRANULE + 1, 2 * GRANULE,
                                   4 * GRANULE, (size_t)65536 << 30,
                                   SIZE_MAX,    (size_t)1 << 47};
    record_context();
    for (int i = 0; i < 250; i++) {
        draw_seed(60000 + (uint64_t)i);
        size_t size = PICK(real), claim = chance(70) ? size : PICK(claims), lengths[MOST];
        unsigned flags = chance(90) ? 0 : (unsigned)(draw() % 3);
        CUdeviceptr p[MOST] = {0};
        CUexternalMemory memory;
        if (!CASE("walk-%d", i))
            continue;
        CUresult r = record_import(&memory, size, claim, flags);
        SAY("import%zx/%zx,%x=%s", size, claim, flags, record_name(r));
        if (r)
            continue;
        for (int k = 0; k < MOST; k++) {
            CUDA_EXTERNAL_MEMORY_BUFFER_DESC b = {.offset = PICK(offsets)};
            lengths[k] = b.size = PICK(sizes);
            b.flags = chance(97) ? 0 : 1;
            r = cuExternalMemoryGetMappedBuffer(&p[k], memory, &b);
            SAY(" %llx+%llx=%s", b.offset, b.size, record_ok(r));
            if (r) {
                p[k] = 0;
                continue;
            }
            CUdeviceptr base;
            size_t range;
            unsigned char byte = 0;
            r = cuMemGetAddressRange(&base, &range, p[k] + lengths[k] / 2);
            SAY(",%d,%s,%lld,%zx", (int)(p[k] % 512), record_ok(r),
                r ? 0 : (long long)(p[k] - base), r ? 0 : range);
            SAY(",%s", record_ok(cuMemsetD8(p[k], (unsigned char)(k + 1), lengths[k])));
            SAY(",%s", record_ok(cuMemcpyDtoH(&byte, p[k] + lengths[k] - 1, 1)));
            SAY(",%d,%s", byte, cuMemsetD8(p[k] + lengths[k], 1, 1) ? "past" : "in");
            cuCtxSynchronize();
        }
        if (chance(50)) {
            SAY(" destroy=%s", record_ok(cuDestroyExternalMemory(memory)));
            memory = NULL;
        }
        for (int k = 0; k < MOST; k++) {
            unsigned char byte = 0;
            if (!p[k])
                continue;
            SAY(" [%d]=%s", k, record_ok(cuMemcpyDtoH(&byte, p[k], 1)));
            SAY(",%d free=%s", byte, record_ok(cuMemFree(p[k])));
        }
        if (memory)
            cuDestroyExternalMemory(memory);
    }
}

// ---- device memory

// Sizes whose result depends on the card's free memory, not on the driver.
static bool depends(size_t width, size_t height)
{
    __uint128_t size = (__uint128_t)width * height;
    return size > (__uint128_t)40 << 30 && size < (__uint128_t)200 << 30;
}

GROUP(allocs)
{
    static const unsigned elements[] = {4, 8, 16, 4, 0, 1, 2, 3, 5, 12, 32, 64};
    record_context();
    for (int i = 0; i < 500; i++) {
        draw_seed(30000 + (uint64_t)i);
        size_t size = draw_size(70000, 50);
        unsigned element = PICK(elements);
        size_t width = draw_size(100000, 70), height = draw_size(1000, 70), pitch = 7, range;
        CUdeviceptr p = SOME_POINTER, base;
        if (size > (size_t)40 << 30 && size < (size_t)90 << 30)
            size = 1;
        if (CASE("alloc-%d-%zx", i, size)) {
            CUresult r = cuMemAlloc(&p, size);
            SAY("%s", record_name(r));
            if (r) {
                SAY(" %d", p == SOME_POINTER);
            } else {
                cuMemGetAddressRange(&base, &range, p);
                SAY(" %zx align512=%d free=%s", range, (int)(p % 512), record_name(cuMemFree(p)));
            }
        }
        if (!CASE("pitch-%d-%zx-%zx-%u", i, width, height, element))
            continue;
        if (depends(width, height)) {
            SAY("skip");
            continue;
        }
        CUresult r = cuMemAllocPitch(&p, &pitch, width, height, element);
        SAY("%s %zx", record_name(r), pitch);
        if (r)
            continue;
        cuMemGetAddressRange(&base, &range, p);
        SAY(" %zx %d", range, (int)(p % 512));
        cuMemFree(p);
    }
}

int main(int argc, char **argv)
{
    RUN(hostalloc);
    RUN(registered);
    RUN(extbuf);
    RUN(allocs);
    return 0;
}
