// SPDX-License-Identifier: MIT
// Memory pools, at the edges of the rules: access of each location to pools of each location
// (`access`), exports as each type (`exports`), imports of descriptors and fabric handles that are
// not of pools (`imports`), an imported pool in the process that exported it (`own`), and sizes and
// handle types of new pools (`created`). No memory is touched.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // memfd_create
#endif
#include "draw.h"
#include "record.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

enum { BLOCK_B = 32 << 20 };

static const CUmemLocationType places[] = {CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_LOCATION_TYPE_HOST,
                                           CU_MEM_LOCATION_TYPE_HOST_NUMA};
static const char *const place_names[] = {"device", "host", "numa"};

static CUresult create(CUmemoryPool *pool, CUmemLocationType place, unsigned handles, size_t most_B)
{
    CUmemPoolProps p;
    memset(&p, 0, sizeof p);
    p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.handleTypes = (CUmemAllocationHandleType)handles;
    p.location.type = place;
    p.maxSize = most_B;
    return cuMemPoolCreate(pool, &p);
}

static CUresult import(CUmemoryPool *pool, int fd, unsigned type)
{
    return cuMemPoolImportFromShareableHandle(pool, (void *)(intptr_t)fd,
                                              (CUmemAllocationHandleType)type, 0);
}

// Sets the access of a location, and reads it again.
static void say_access(CUmemoryPool pool, CUmemLocationType type, int id, int flags)
{
    CUmemAccessDesc d = {.location = {type, id}, .flags = (CUmemAccess_flags)flags};
    CUmemLocation here = {type, id};
    CUmemAccess_flags got = (CUmemAccess_flags)77;
    const CUresult set = cuMemPoolSetAccess(pool, &d, 1);
    const CUresult get = cuMemPoolGetAccess(&got, pool, &here);
    SAY(" %d.%d:%s", id, flags, record_brief(set));
    if (get)
        SAY("/%s", record_brief(get));
    else
        SAY("/%d", (int)got);
}

GROUP(access)
{
    record_context();
    for (unsigned place = 0; place < COUNT(places); place++)
        for (int type = 0; type < 6; type++)
            if (CASE("%s-by-%d", place_names[place], type)) {
                CUmemoryPool pool;
                NEED(create(&pool, places[place], 0, 0));
                for (int id = -1; id < 3; id++)
                    for (int flags = -1; flags < 5; flags++)
                        say_access(pool, (CUmemLocationType)type, id, flags);
                NEED(cuMemPoolDestroy(pool));
            }
    // Lists: is the first entry kept if the second one is wrong?
    for (unsigned place = 0; place < COUNT(places); place++)
        if (CASE("%s-list", place_names[place])) {
            CUmemoryPool pool;
            CUmemAccess_flags got = (CUmemAccess_flags)77;
            CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
            NEED(create(&pool, places[place], 0, 0));
            CUmemAccessDesc list[2] = {
                {.location = here, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
                {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 5},
                 .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
            SAY("%s", record_brief(cuMemPoolSetAccess(pool, list, 2)));
            SAY(" %s", record_brief(cuMemPoolGetAccess(&got, pool, &here)));
            SAY("/%d", (int)got);
            list[1] = list[0];
            list[1].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
            SAY(" %s", record_brief(cuMemPoolSetAccess(pool, list, 2)));
            SAY(" %s", record_brief(cuMemPoolGetAccess(&got, pool, &here)));
            SAY("/%d", (int)got);
            NEED(cuMemPoolDestroy(pool));
        }
}

GROUP(exports)
{
    static const unsigned handles[] = {0, 1, 8, 9};
    record_context();
    for (unsigned place = 0; place < COUNT(places); place++)
        for (unsigned h = 0; h < COUNT(handles); h++)
            if (CASE("%s-%u", place_names[place], handles[h])) {
                CUmemoryPool pool;
                const CUresult made = create(&pool, places[place], handles[h], 0);
                SAY("%s", record_brief(made));
                for (unsigned type = 0; type < 17 && !made; type++) {
                    union {
                        int fd;
                        unsigned char bytes[128];
                    } out;
                    unsigned wrote = 0;
                    memset(&out, 0xff, sizeof out);
                    const CUresult r = cuMemPoolExportToShareableHandle(
                        &out, pool, (CUmemAllocationHandleType)type, 0);
                    for (unsigned i = 0; i < sizeof out.bytes; i++)
                        wrote = out.bytes[i] != 0xff ? i + 1 : wrote;
                    SAY(" %u:%s/%s", type, record_brief(r),
                        !wrote        ? "0"
                        : wrote <= 4  ? "file"
                        : wrote <= 64 ? "64"
                                      : "more");
                    if (!r && type == 1)
                        close(out.fd);
                }
                if (!made)
                    NEED(cuMemPoolDestroy(pool));
            }
}

static void say_imports(int fd)
{
    static const unsigned types[] = {0, 1, 2, 4}; // not 8: a handle of 64 bytes is read there
    for (unsigned i = 0; i < COUNT(types); i++) {
        CUmemoryPool pool = NULL;
        const CUresult r = import(&pool, fd, types[i]);
        SAY(" %u:%s", types[i], record_brief(r));
        if (!r)
            cuMemPoolDestroy(pool);
    }
    SAY(fcntl(fd, F_GETFD) >= 0 ? " open" : " closed");
}

GROUP(imports)
{
    static const char *const files[] = {"/dev/zero", "/dev/null", "/proc/self/exe", "/",
                                        "/dev/urandom"};
    record_context();
    for (unsigned i = 0; i < COUNT(files); i++)
        if (CASE("file-%s", strrchr(files[i], '/') + 1)) {
            const int fd = open(files[i], O_RDONLY | O_CLOEXEC);
            say_imports(fd);
            close(fd);
        }
    if (CASE("memfd")) {
        const int fd = memfd_create("probe", 0);
        if (ftruncate(fd, BLOCK_B))
            SAY("no size");
        say_imports(fd);
        close(fd);
    }
    if (CASE("event")) {
        const int fd = eventfd(0, 0);
        say_imports(fd);
        close(fd);
    }
    if (CASE("pipe")) {
        int ends[2];
        if (!pipe(ends)) {
            say_imports(ends[0]);
            close(ends[0]), close(ends[1]);
        }
    }
    if (CASE("socket")) {
        const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        say_imports(fd);
        close(fd);
    }
    if (CASE("memory")) {
        CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .requestedHandleTypes =
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
        CUmemGenericAllocationHandle memory;
        int fd = -1;
        NEED(cuMemCreate(&memory, BLOCK_B, &prop, 0));
        NEED(
            cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        say_imports(fd);
        close(fd);
        NEED(cuMemRelease(memory));
    }
    for (unsigned fill = 0; fill < 256; fill += 85)
        if (CASE("fabric-%02x", fill)) {
            unsigned char bytes[128];
            CUmemoryPool pool = NULL;
            memset(bytes, (int)fill, sizeof bytes);
            for (unsigned long long flags = 0; flags < 2; flags++) {
                SAY(" %s", record_brief(cuMemPoolImportFromShareableHandle(
                               &pool, bytes, CU_MEM_HANDLE_TYPE_FABRIC, flags)));
                SAY(" %s", record_brief(cuMemPoolImportFromShareableHandle(
                               &pool, bytes, (CUmemAllocationHandleType)9, flags)));
            }
            SAY(" %s", record_brief(cuMemPoolImportFromShareableHandle(
                           &pool, NULL, CU_MEM_HANDLE_TYPE_FABRIC, 0)));
        }
}

// An imported pool: what the process that exported it can do with it.
GROUP(own)
{
    record_context();
    CUmemoryPool pool, imported = NULL;
    CUdeviceptr memory;
    CUmemPoolPtrExportData data;
    int fd = -1;
    NEED(create(&pool, CU_MEM_LOCATION_TYPE_DEVICE, 1, 0));
    NEED(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    NEED(import(&imported, fd, 1));
    NEED(cuMemAllocFromPoolAsync(&memory, 65536, pool, NULL));
    NEED(cuCtxSynchronize());
    NEED(cuMemPoolExportPointer(&data, memory));
    for (int type = 0; type < 5; type++)
        if (CASE("access-by-%d", type))
            for (int id = -1; id < 2; id++)
                for (int flags = -1; flags < 5; flags++)
                    say_access(imported, (CUmemLocationType)type, id, flags);
    if (CASE("attributes"))
        for (int attribute = 0; attribute < 11; attribute++) {
            cuuint64_t value = 0;
            const CUmemPool_attribute a = (CUmemPool_attribute)attribute;
            const CUresult get = cuMemPoolGetAttribute(imported, a, &value);
            const CUresult set = cuMemPoolSetAttribute(imported, a, &value);
            SAY(" %d:%s/%s/%llu", attribute, record_brief(get), record_brief(set),
                (unsigned long long)value);
        }
    if (CASE("exports"))
        for (unsigned type = 0; type < 10; type++) {
            union {
                int fd;
                unsigned char bytes[128];
            } out;
            memset(&out, 0xff, sizeof out);
            const CUresult r = cuMemPoolExportToShareableHandle(&out, imported,
                                                                (CUmemAllocationHandleType)type, 0);
            SAY(" %u:%s", type, record_brief(r));
            if (!r && type == 1)
                close(out.fd);
        }
    if (CASE("current")) {
        CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        SAY("%s", record_brief(cuDeviceSetMemPool(0, imported)));
        SAY(" %s", record_brief(cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, imported)));
        SAY(" %s", record_brief(cuMemPoolTrimTo(imported, 0)));
        SAY(" %s", record_brief(cuMemPoolTrimTo(imported, 1 << 20)));
    }
    for (unsigned size = 0; size < 3; size++)
        if (CASE("allocate-%u", size)) {
            CUdeviceptr p = 77;
            SAY("%s", record_brief(cuMemAllocFromPoolAsync(&p, size << 20, imported, NULL)));
            SAY(" %s", p == 77 ? "kept" : p ? "set" : "zero");
        }
    if (CASE("pointer")) {
        CUdeviceptr p = 0;
        SAY("%s", record_brief(cuMemPoolImportPointer(&p, imported, &data)));
        SAY(" same=%d", p == memory);
        SAY(" into-its-own=%s", record_brief(cuMemPoolImportPointer(&p, pool, &data)));
    }
    for (unsigned fill = 0; fill < 256; fill += 85)
        if (CASE("pointer-of-%02x", fill)) {
            CUmemPoolPtrExportData other;
            CUdeviceptr p = 0;
            memset(&other, (int)fill, sizeof other);
            SAY("%s", record_brief(cuMemPoolImportPointer(&p, imported, &other)));
            SAY(" %s", record_brief(cuMemPoolImportPointer(&p, pool, &other)));
        }
    if (CASE("twice")) {
        CUmemoryPool again = NULL;
        SAY("%s", record_brief(import(&again, fd, 1)));
        SAY(" same=%d", again == imported);
        SAY(" %s", record_brief(cuMemPoolDestroy(again)));
        SAY(" %s", record_brief(cuMemPoolDestroy(again)));
    }
    if (CASE("after-the-original")) {
        CUmemoryPool again = NULL;
        CUmemAccess_flags got = (CUmemAccess_flags)77;
        CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        SAY("free=%s", record_brief(cuMemFree(memory)));
        SAY(" destroy=%s", record_brief(cuMemPoolDestroy(pool)));
        SAY(" access=%s", record_brief(cuMemPoolGetAccess(&got, imported, &here)));
        SAY("/%d", (int)got);
        SAY(" import=%s", record_brief(import(&again, fd, 1)));
        SAY(" destroy=%s", record_brief(cuMemPoolDestroy(imported)));
    }
}

GROUP(created)
{
    static const unsigned handles[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 16, 0x40, ~0u};
    record_context();
    for (unsigned bit = 36; bit < 64; bit++)
        if (CASE("at-most-2^%u", bit))
            for (int more = -1; more < 2; more++)
                for (unsigned place = 0; place < COUNT(places); place++) {
                    CUmemoryPool pool;
                    const size_t most_B = ((size_t)1 << bit) + (size_t)(int64_t)more;
                    const CUresult r = create(&pool, places[place], 0, most_B);
                    SAY(" %s", record_brief(r));
                    if (!r)
                        cuMemPoolDestroy(pool);
                }
    for (unsigned h = 0; h < COUNT(handles); h++)
        if (CASE("handles-%x", handles[h]))
            for (unsigned place = 0; place < COUNT(places); place++) {
                CUmemoryPool pool;
                const CUresult r = create(&pool, places[place], handles[h], 0);
                SAY(" %s", record_brief(r));
                if (!r)
                    cuMemPoolDestroy(pool);
            }
    if (CASE("reserved"))
        for (unsigned place = 0; place < COUNT(places); place++)
            for (unsigned i = 0; i < sizeof((CUmemPoolProps *)0)->reserved; i += 9) {
                CUmemoryPool pool;
                CUmemPoolProps p;
                memset(&p, 0, sizeof p);
                p.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
                p.location.type = places[place];
                p.reserved[i] = 1;
                const CUresult r = cuMemPoolCreate(&pool, &p);
                SAY(" %s", record_brief(r));
                if (!r)
                    cuMemPoolDestroy(pool);
            }
}

int main(int argc, char **argv)
{
    RUN(access);
    RUN(exports);
    RUN(imports);
    RUN(own);
    RUN(created);
    return 0;
}
