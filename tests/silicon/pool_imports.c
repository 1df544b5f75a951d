// SPDX-License-Identifier: MIT
// A pool that is imported more than once into the process that exported it: handles, and when an
// import can be destroyed.
#include "record.h"

static CUmemoryPool exported;
static int fd;

static CUmemoryPool import(void)
{
    CUmemoryPool pool = NULL;
    SAY(" import=%s",
        record_brief(cuMemPoolImportFromShareableHandle(
            &pool, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)));
    return pool;
}

static void begin(void)
{
    CUmemPoolProps p;
    memset(&p, 0, sizeof p);
    p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    NEED(cuMemPoolCreate(&exported, &p));
    NEED(cuMemPoolExportToShareableHandle(&fd, exported, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                          0));
}

static CUmemPoolPtrExportData pointer(CUdeviceptr *memory)
{
    CUmemPoolPtrExportData data;
    NEED(cuMemAllocFromPoolAsync(memory, 65536, exported, NULL));
    NEED(cuCtxSynchronize());
    NEED(cuMemPoolExportPointer(&data, *memory));
    return data;
}

static void say_destroy(CUmemoryPool pool)
{
    SAY(" destroy=%s", record_brief(cuMemPoolDestroy(pool)));
}

static void say_access(CUmemoryPool pool)
{
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccess_flags flags = (CUmemAccess_flags)77;
    SAY(" access=%s", record_brief(cuMemPoolGetAccess(&flags, pool, &here)));
    SAY("/%d", (int)flags);
}

GROUP(again)
{
    record_context();
    begin();
    if (CASE("once")) {
        CUmemoryPool a = import();
        SAY(" own=%d", a == exported);
        say_destroy(a);
        say_access(a);
        say_destroy(a);
    }
    if (CASE("twice")) {
        CUmemoryPool a = import(), b = import();
        SAY(" same=%d", a == b);
        say_destroy(a);
        say_access(b);
        say_destroy(b);
        say_access(b);
        say_destroy(b);
    }
    if (CASE("three-times")) {
        CUmemoryPool a = import(), b = import(), c = import();
        SAY(" same=%d %d", a == b, b == c);
        for (unsigned i = 0; i < 4; i++)
            say_destroy(a);
    }
    if (CASE("after-an-end")) {
        CUmemoryPool a = import();
        say_destroy(a);
        CUmemoryPool b = import();
        SAY(" same=%d", a == b);
        say_destroy(b);
    }
    if (CASE("two-descriptors")) {
        const int first = fd;
        NEED(cuMemPoolExportToShareableHandle(&fd, exported,
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        const int second = fd;
        fd = first;
        CUmemoryPool a = import();
        fd = second;
        CUmemoryPool b = import();
        fd = first;
        SAY(" same=%d", a == b);
        say_destroy(a);
        say_access(b);
        say_destroy(b);
    }
}

GROUP(pointers)
{
    record_context();
    begin();
    if (CASE("destroy-with-a-pointer")) {
        CUdeviceptr memory, p = 0;
        CUmemPoolPtrExportData data = pointer(&memory);
        CUmemoryPool a = import();
        SAY(" pointer=%s", record_brief(cuMemPoolImportPointer(&p, a, &data)));
        say_destroy(a);
        say_access(a);
        SAY(" free=%s", record_brief(cuMemFree(p)));
        say_destroy(a);
        say_access(a);
        SAY(" free=%s", record_brief(cuMemFree(memory)));
    }
    if (CASE("free-first")) {
        CUdeviceptr memory, p = 0;
        CUmemPoolPtrExportData data = pointer(&memory);
        CUmemoryPool a = import();
        SAY(" pointer=%s", record_brief(cuMemPoolImportPointer(&p, a, &data)));
        SAY(" free=%s", record_brief(cuMemFree(p)));
        say_destroy(a);
        SAY(" free=%s", record_brief(cuMemFree(memory)));
    }
    if (CASE("twice-with-a-pointer")) {
        CUdeviceptr memory, p = 0, q = 0;
        CUmemPoolPtrExportData data = pointer(&memory);
        CUmemoryPool a = import(), b = import();
        SAY(" pointer=%s", record_brief(cuMemPoolImportPointer(&p, a, &data)));
        SAY(" pointer=%s", record_brief(cuMemPoolImportPointer(&q, b, &data)));
        SAY(" same=%d %d", a == b, p == q);
        say_destroy(a);
        say_destroy(b);
        SAY(" free=%s", record_brief(cuMemFree(p)));
        SAY(" free=%s", record_brief(cuMemFree(q)));
        say_destroy(b);
        say_destroy(b);
    }
    if (CASE("exporter-first")) {
        CUmemoryPool a = import();
        say_destroy(exported);
        say_access(a);
        CUmemoryPool b = import();
        SAY(" same=%d", a == b);
        say_destroy(a);
        say_destroy(b);
    }
}

int main(int argc, char **argv)
{
    RUN(again);
    RUN(pointers);
    return 0;
}
