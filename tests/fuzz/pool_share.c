// SPDX-License-Identifier: MIT
// The fuzz target `pool`: pools and pointers that are exported and imported again. Calls about
// multicast objects, which share memory between devices.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pool_model.h"

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

static void expect_import(void *handle, unsigned type, unsigned long long flags, CUresult expected)
{
    CUmemoryPool pool;
    const CUresult r =
        cuMemPoolImportFromShareableHandle(&pool, handle, (CUmemAllocationHandleType)type, flags);
    FUZZ_CHECK(r == expected, "handle %p of type %#x, flags %#llx: %d, expected %d", handle, type,
               flags, (int)r, (int)expected);
}

// Files and handles that are not of pools (recorded: pool/import-bad, pool_edges imports): the
// memory of a CUmemGenericAllocationHandle has a code of its own.
void pl_import_wrong(struct fuzz_input *in)
{
    static const unsigned other_types[] = {0, 4, 9, 10, 16, 0x40};
    uint8_t fabric[64];
    int fd = fuzz_below(in, 2) ? open("/dev/null", O_RDWR | O_CLOEXEC) : memfd_create("file", 0);
    void *const file = (void *)(intptr_t)fd;
    memset(fabric, (int)fuzz_take(in, 1), sizeof fabric);
    switch (fuzz_below(in, 7)) {
    case 0:
        expect_import((void *)(intptr_t)-1, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0,
                      CUDA_ERROR_UNKNOWN);
        break;
    case 1:
        expect_import(file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0, CUDA_ERROR_UNKNOWN);
        break;
    case 2:
        expect_import(file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1 + fuzz_take(in, 1),
                      CUDA_ERROR_INVALID_VALUE);
        break;
    case 3:
        expect_import(fabric, other_types[fuzz_below(in, FUZZ_COUNT(other_types))], 0,
                      CUDA_ERROR_INVALID_VALUE);
        break;
    case 4:
        expect_import(fabric, CU_MEM_HANDLE_TYPE_FABRIC, 0, CUDA_ERROR_NOT_SUPPORTED);
        expect_import(NULL, CU_MEM_HANDLE_TYPE_FABRIC, 0, CUDA_ERROR_INVALID_VALUE);
        break;
    case 5: {
        CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .requestedHandleTypes =
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
        CUmemGenericAllocationHandle memory;
        close(fd);
        FUZZ_OK(cuMemCreate(&memory, 2 << 20, &prop, 0));
        FUZZ_OK(
            cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        FUZZ_OK(cuMemRelease(memory));
        expect_import((void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0,
                      CUDA_ERROR_NOT_SUPPORTED);
        break;
    }
    default:
        expect_import(file, CU_MEM_HANDLE_TYPE_WIN32, 0, CUDA_ERROR_NOT_SUPPORTED);
    }
    FUZZ_CHECK(is_open(fd), "a refused import closed the descriptor");
    close(fd);
}

static const struct pool *import_of(const struct model *m, unsigned made)
{
    for (unsigned i = 0; i < POOLS; i++) {
        if (m->pools[i].handle && m->pools[i].imported == made)
            return &m->pools[i];
    }
    return NULL;
}

// Exports a pool, and imports it into another slot. Only pools whose only handle type is a file
// descriptor can be exported (recorded: pool/export-types, random_states pools).
void pl_share(struct fuzz_input *in, struct model *m)
{
    struct pool *p = pl_any_pool(in, m), *slot = &m->pools[fuzz_below(in, POOLS)];
    const unsigned type = fuzz_chance(in, 6) ? fuzz_below(in, 10) : 1;
    const unsigned long long flags = fuzz_chance(in, 16) ? 1 + fuzz_take(in, 4) : 0;
    CUmemoryPool imported = NULL;
    union {
        int fd;
        uint8_t bytes[64];
    } out;
    if (!p)
        return;
    memset(&out, 0xff, sizeof out);
    const unsigned handles = p->props.handleTypes;
    CUresult expected = CUDA_SUCCESS;
    if (flags || p->imported || !type || type & (type - 1) || !(handles & type))
        expected = CUDA_ERROR_INVALID_VALUE;
    else if (handles & CU_MEM_HANDLE_TYPE_FABRIC) // recorded: pool_edges exports
        expected = CUDA_ERROR_NOT_PERMITTED;
    const CUresult r =
        cuMemPoolExportToShareableHandle(&out, p->handle, (CUmemAllocationHandleType)type, flags);
    FUZZ_CHECK(pl_is_expected(r, expected),
               "handles %#x, exported as %u, flags %#llx: %d, expected %d", handles, type, flags,
               (int)r, (int)expected);
    if (r) {
        FUZZ_CHECK(out.fd == -1, "a refused export wrote %d", out.fd);
        return;
    }
    FUZZ_CHECK(is_open(out.fd) && !(fcntl(out.fd, F_GETFD) & FD_CLOEXEC), "descriptor %d", out.fd);
    p->exported = true;
    if (slot != p) {
        FUZZ_OK(cuMemPoolImportFromShareableHandle(&imported, (void *)(intptr_t)out.fd,
                                                   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        FUZZ_CHECK(imported != p->handle, "the same handle twice");
        const struct pool *before = import_of(m, p->made);
        if (before) { // its handle again, which must be destroyed once more
            FUZZ_CHECK(imported == before->handle, "an import has two handles");
            pl_free_imports(m, before);
            FUZZ_OK(cuMemPoolDestroy(imported));
            close(out.fd);
            return;
        }
        const struct pool copy = {.handle = imported,
                                  .made = ++m->made,
                                  .props = p->props,
                                  .place = p->place,
                                  .imported = p->made};
        pl_destroy(m, slot);
        *slot = copy;
        FUZZ_CHECK(cuMemPoolTrimTo(imported, 0) == CUDA_ERROR_INVALID_VALUE,
                   "an import was trimmed");
    }
    FUZZ_CHECK(is_open(out.fd), "the import closed the descriptor");
    close(out.fd);
}

// Recorded: pool/export-pointer-args: only addresses that an exported pool has returned.
void pl_export_pointer(struct fuzz_input *in, struct model *m)
{
    struct allocation *a = &m->allocations[fuzz_below(in, ALLOCATIONS)];
    const uint64_t inside = fuzz_chance(in, 6) && a->size_B > 1 ? 1 + fuzz_below(in, 1) : 0;
    const struct pool *p = pl_pool_made(m, a->pool);
    CUmemPoolPtrExportData data;
    if (!a->address || a->imported || (a->pool && !p))
        return;
    const bool valid = p && p->exported && !inside;
    const CUresult r = cuMemPoolExportPointer(&data, a->address + inside);
    FUZZ_CHECK(r == (valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE),
               "a pointer of pool %u, exported %d, %llu B inside: %d", a->pool, p && p->exported,
               (unsigned long long)inside, (int)r);
    if (r)
        return;
    a->data = data;
    a->has_data = true;
}

// Mostly an allocation whose pointer was exported.
static struct allocation *any_exported(struct fuzz_input *in, struct model *m)
{
    unsigned n = fuzz_below(in, ALLOCATIONS);
    for (unsigned i = 0; i < ALLOCATIONS && !m->allocations[n].has_data; i++)
        n = (n + 1) % ALLOCATIONS;
    return &m->allocations[n];
}

// Mostly an import of a pool.
static struct pool *any_import(struct fuzz_input *in, struct model *m, unsigned made)
{
    for (unsigned i = 0; i < POOLS && fuzz_below(in, 8); i++) {
        if (m->pools[i].handle && made && m->pools[i].imported == made)
            return &m->pools[i];
    }
    return pl_any_pool(in, m);
}

// Imports a pointer. Into the pool that it came from, it is refused (recorded: pool/import-own).
void pl_import_pointer(struct fuzz_input *in, struct model *m)
{
    struct allocation *a = any_exported(in, m);
    struct allocation *slot = &m->allocations[fuzz_below(in, ALLOCATIONS)];
    const struct pool *p = any_import(in, m, a->pool);
    CUmemPoolPtrExportData data = a->data;
    CUdeviceptr address = 0;
    if (!p || !a->address || !a->has_data || slot->address)
        return;
    const bool garbage = fuzz_chance(in, 8);
    if (garbage)
        data.reserved[fuzz_below(in, 40)] ^= (unsigned char)(1 + fuzz_below(in, 255));
    const bool valid = !garbage && p->imported == a->pool;
    const CUresult r = cuMemPoolImportPointer(&address, p->handle, &data);
    FUZZ_CHECK(r == (valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE),
               "a pointer of pool %u into %u, an import of %u, garbage %d: %d", a->pool, p->made,
               p->imported, garbage, (int)r);
    if (r)
        return;
    for (unsigned i = 0; i < ALLOCATIONS; i++) {
        const struct allocation *other = &m->allocations[i];
        if (other->address == address) { // "again": the same address
            FUZZ_CHECK(other->imported && other->word == a->word, "an address has two pointers");
            return;
        }
    }
    *slot = (struct allocation){.address = address,
                                .size_B = a->size_B,
                                .pool = p->made,
                                .word = a->word,
                                .imported = true};
    a->shared_by++;
    if (!pl_is_reachable(m, a) || !pl_is_reachable(m, slot))
        return;
    pl_write_word(m, slot, (uint32_t)fuzz_take(in, 4));
    pl_check_word(m, a);
}

// "CUDA_ERROR_NOT_SUPPORTED" without CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, which is 0 here.
void pl_multicast(struct fuzz_input *in)
{
    CUmulticastObjectProp prop = {.numDevices = (unsigned)fuzz_take(in, 1),
                                  .size = fuzz_size(in, 2 << 20),
                                  .handleTypes = fuzz_take(in, 1),
                                  .flags = fuzz_chance(in, 2) ? fuzz_take(in, 8) : 0};
    const CUmemGenericAllocationHandle number = fuzz_take(in, 8);
    const CUmulticastGranularity_flags option = (CUmulticastGranularity_flags)fuzz_below(in, 3);
    CUmemGenericAllocationHandle handle = 77;
    size_t granularity = 77;
    FUZZ_CHECK(cuMulticastCreate(&handle, &prop) == CUDA_ERROR_NOT_SUPPORTED && handle == 77,
               "a multicast object was made");
    FUZZ_CHECK(cuMulticastGetGranularity(&granularity, &prop, option) == CUDA_ERROR_NOT_SUPPORTED &&
                   granularity == 77,
               "multicast objects have a granularity");
    FUZZ_CHECK(cuMulticastCreate(NULL, &prop) == CUDA_ERROR_INVALID_VALUE &&
                   cuMulticastCreate(&handle, NULL) == CUDA_ERROR_INVALID_VALUE &&
                   cuMulticastGetGranularity(NULL, &prop, option) == CUDA_ERROR_INVALID_VALUE,
               "NULL");
    FUZZ_CHECK(
        cuMulticastAddDevice(number, 0) == CUDA_ERROR_NOT_SUPPORTED &&
            cuMulticastBindMem(number, 0, number, 0, prop.size, 0) == CUDA_ERROR_NOT_SUPPORTED &&
            cuMulticastBindAddr(number, 0, prop.size, prop.size, 0) == CUDA_ERROR_NOT_SUPPORTED &&
            cuMulticastUnbind(number, 0, 0, prop.size) == CUDA_ERROR_NOT_SUPPORTED,
        "handle %#llx", (unsigned long long)number);
}
