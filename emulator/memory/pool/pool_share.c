// SPDX-License-Identifier: MIT
// The file of a shared pool, its header, and pointers that come from another process.
#include "pool_share.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "device.h"
#include "hash.h"
#include "hash_table.h"
#include "lock.h"
#include "memory_device.h"
#include "pool_memory.h"

enum { FILE_VERSION = 1 };
static const char pointer_magic[8] = "CLPTR\0\0";

// The header, at the start of the file.
struct file_head {
    char magic[8];
    uint32_t version;
    int32_t device;
    int32_t location_type, location_id;
    uint64_t identity;
    uint64_t capacity_B;
};

// The contents of CUmemPoolPtrExportData.
struct pointer_data {
    char magic[8];
    uint64_t identity; // of the pool
    uint64_t offset;   // in the pool
    uint64_t size;
    uint64_t check; // over the other fields
};
_Static_assert(sizeof(struct pointer_data) <= sizeof(CUmemPoolPtrExportData),
               "it must fit into the opaque structure");

// A pointer imported from another process.
struct em_import {
    struct import_key {
        uint64_t offset, size; // in the pool
    } key;
    struct em_pool *pool;
    struct em_allocation *allocation; // NULL: being freed, and not in the pool's table any more
    UT_hash_handle hh;
};

static uint64_t check_of(const struct pointer_data *d)
{
    uint64_t h = DM_HASH_START;
    const uint64_t words[] = {d->identity, d->offset, d->size};
    for (unsigned i = 0; i < 3; i++)
        h = dm_hash_unit(h, words[i]);
    return h;
}

// Wraps the file as physical memory, with its own descriptor. Returns 0 or a negative errno.
static int open_file(struct em_pool *p, int fd)
{
    struct dm_import_info info;
    int r = dm_import_recognise(fd, &info);
    return r ? r : dm_physical_import(p->vram, fd, &info, &p->file);
}

CUresult em_pool_make_file(struct em_pool *p)
{
    em_assert_locked();
    int fd, r = dm_sys_memfd_create("cardless-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING, &fd);
    if (r)
        goto fail;
    p->identity = dm_new_identity();
    struct file_head head = {
        .version = FILE_VERSION,
        .device = p->device->ordinal,
        .location_type = (int32_t)p->location.type,
        .location_id = p->location.id,
        .identity = p->identity,
        .capacity_B = p->capacity_B,
    };
    memcpy(head.magic, dm_pool_magic, sizeof head.magic);
    r = dm_sys_ftruncate(fd, EM_POOL_FILE_HEAD + p->capacity_B);
    if (r)
        goto close_fd;
    if (pwrite(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        r = -ENOMEM;
    else
        r = open_file(p, fd);
close_fd:
    close(fd);
    if (!r)
        return CUDA_SUCCESS;
fail:
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "the file of a shareable memory pool cannot be created: %s", strerror(-r));
}

CUresult em_pool_export(CUmemoryPool handle, unsigned type, int *fd)
{
    struct em_pool *p = NULL;
    em_lock();
    CUresult r = em_pool_get(handle, &p);
    if (!r && (p->imported || !type || (type & (type - 1)) || !(p->handle_types & type)))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "handleType (%#x) must be a single bit of those that the pool was created "
                    "with (%#x)",
                    type, p->handle_types);
    // The driver does not export such a pool at all without the fabric's channels, which no single
    // card has (recorded: random_states pools; pool_edges exports/device-8).
    if (!r && (p->handle_types & CU_MEM_HANDLE_TYPE_FABRIC))
        r = em_fail(CUDA_ERROR_NOT_PERMITTED,
                    "the pool's handleTypes include CU_MEM_HANDLE_TYPE_FABRIC, but this machine "
                    "has no fabric");
    // The descriptor stays open in exec, like a card's, because programs often inherit it.
    int own = p && p->file ? dm_physical_fd(p->file) : -EBADF;
    if (!r)
        *fd = own < 0 ? -1 : dup(own);
    if (!r && *fd < 0)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                    "out of file descriptors while exporting a memory pool");
    if (!r)
        p->exported = true;
    em_unlock();
    return r;
}

// Checks that `fd` is a pool's file, and reads its header.
static CUresult recognise(int fd, struct file_head *head)
{
    struct dm_import_info info;
    int r = dm_import_recognise(fd, &info);
    if (r == -EBADF)
        return em_fail(CUDA_ERROR_UNKNOWN, "descriptor %d is not an open file descriptor", fd);
    if (r)
        return em_fail(CUDA_ERROR_UNKNOWN, "descriptor %d is %s, not a memory pool", fd, info.what);
    // Only memory of CUDA's own gets another code than other files (recorded: pool_edges imports).
    if (info.kind != DM_FD_POOL || pread(fd, head, sizeof *head, 0) != (ssize_t)sizeof *head)
        return em_fail(info.kind == DM_FD_OWN ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_UNKNOWN,
                       "descriptor %d is %s, not a memory pool", fd, info.what);
    if (head->version != FILE_VERSION || head->device < 0 || head->device >= em_device_count ||
        head->capacity_B % EM_POOL_BLOCK || info.size < EM_POOL_FILE_HEAD ||
        info.size - EM_POOL_FILE_HEAD != head->capacity_B)
        return em_fail(CUDA_ERROR_UNKNOWN,
                       "descriptor %d is a memory pool of another version or with other devices",
                       fd);
    return CUDA_SUCCESS;
}

CUresult em_pool_import(int fd, CUmemoryPool *out)
{
    struct em_pool *p = NULL;
    struct file_head head;
    em_lock();
    CUresult r = recognise(fd, &head);
    if (r)
        goto unlock;
    // A pool that has been imported already has its handle (recorded: pool_imports again/twice).
    p = em_pool_imported(head.identity);
    if (p) {
        p->import_count++;
        *out = (CUmemoryPool)(uintptr_t)p->object.handle;
        goto unlock;
    }
    CUmemLocation location = {.type = (CUmemLocationType)head.location_type,
                              .id = head.location_id};
    r = em_pool_location(&location, false, CUDA_ERROR_NOT_SUPPORTED);
    if (!r)
        r = em_pool_new(&em_devices[head.device], location, false, &p);
    if (r)
        goto unlock;
    p->imported = true;
    p->import_count = 1;
    p->identity = head.identity;
    p->capacity_B = head.capacity_B;
    p->handle_types = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (open_file(p, fd))
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                    "out of file descriptors or memory while importing a memory pool");
    else
        r = em_pool_start(p);
    if (r)
        em_pool_drop(p);
    else
        *out = (CUmemoryPool)(uintptr_t)p->object.handle;
unlock:
    em_unlock();
    return r;
}

CUresult em_pool_export_pointer(uint64_t address, CUmemPoolPtrExportData *out)
{
    char text[512];
    struct em_allocation *a;
    em_lock();
    CUresult r = em_memory_get(address, 0, "ptr", CUDA_ERROR_INVALID_VALUE, &a);
    if (r)
        goto unlock;
    struct em_pool *p = (struct em_pool *)a->pool;
    if (!p || a->base != address || p->imported || !p->exported) {
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "ptr must be an address that cuMemAllocFromPoolAsync returned from an exported "
                    "pool; %s",
                    em_memory_text(address, text, sizeof text));
        goto unlock;
    }
    em_written_note(a, a->base, a->size); // from now on others may write there unseen
    struct pointer_data d = {.identity = p->identity, .offset = address - p->base, .size = a->size};
    memcpy(d.magic, pointer_magic, sizeof d.magic);
    d.check = check_of(&d);
    memset(out, 0, sizeof *out);
    memcpy(out, &d, sizeof d);
unlock:
    em_unlock();
    return r;
}

static void release_import(struct em_allocation *a)
{
    struct em_import *i = a->owner;
    if (i->allocation)
        DM_TABLE_REMOVE(i->pool->imports, i);
    dm_space_unmap_bytes(&em_space, a->base);
    em_object_unref(&i->pool->object);
    dm_free(i);
    dm_free(a);
}

void em_pool_forget_import(struct em_allocation *a)
{
    em_assert_locked();
    if (a->release != release_import)
        return;
    struct em_import *i = a->owner;
    DM_TABLE_REMOVE(i->pool->imports, i);
    i->allocation = NULL;
}

static CUresult check_pointer(const struct em_pool *p, const struct pointer_data *d)
{
    uint64_t end;
    if (!p->imported)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the memory pool belongs to this process; use its pointers directly");
    if (memcmp(d->magic, pointer_magic, sizeof d->magic) || d->check != check_of(d))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "shareData was not made by cuMemPoolExportPointer");
    if (d->identity != p->identity)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "shareData belongs to another memory pool");
    if (!d->size || !dm_add(d->offset, d->size, &end) || end > p->capacity_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "shareData points outside its memory pool");
    return CUDA_SUCCESS;
}

// Precondition: em_lock held.
static CUresult map_pointer(struct em_pool *p, const struct pointer_data *d, uint64_t *out)
{
    em_assert_locked();
    CUresult r = CUDA_ERROR_OUT_OF_MEMORY;
    struct em_allocation *a = dm_calloc(1, sizeof *a);
    struct em_import *i = dm_calloc(1, sizeof *i);
    uint64_t offset = EM_POOL_FILE_HEAD + d->offset;
    if (!a || !i ||
        dm_space_map_bytes(&em_space, p->file, offset, d->size, 0, em_pool_map_flags(p),
                           &a->base)) {
        em_fail(r, "out of host memory or addresses while importing a pointer");
        goto fail;
    }
    a->size = d->size;
    a->host = p->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? 0 : a->base;
    a->kind = EM_MEMORY_POOLED;
    a->device = p->device->ordinal;
    a->pool = &p->object;
    a->owner = i;
    a->release = release_import;
    a->physical = p->file;
    a->physical_offset = offset;
    *i = (struct em_import){.key = {d->offset, d->size}, .pool = p, .allocation = a};
    if (DM_TABLE_ADD(p->imports, key, i)) {
        r = em_fail(r, "out of host memory while importing a pointer");
        goto fail_mapping;
    }
    r = em_memory_enter(a);
    if (r)
        goto fail_entry;
    em_object_ref(&p->object);
    *out = a->base;
    return CUDA_SUCCESS;
fail_entry:
    DM_TABLE_REMOVE(p->imports, i);
fail_mapping:
    dm_space_unmap_bytes(&em_space, a->base);
fail:
    dm_free(a);
    dm_free(i);
    return r;
}

CUresult em_pool_import_pointer(CUmemoryPool handle, const CUmemPoolPtrExportData *data,
                                uint64_t *out)
{
    struct pointer_data d;
    struct em_pool *p;
    memcpy(&d, data, sizeof d);
    em_lock();
    CUresult r = em_pool_get(handle, &p);
    if (!r)
        r = check_pointer(p, &d);
    if (r)
        goto unlock;
    const struct import_key key = {d.offset, d.size};
    struct em_import *import = DM_TABLE_FIND(p->imports, &key);
    if (import)
        *out = import->allocation->base;
    else
        r = map_pointer(p, &d, out);
unlock:
    em_unlock();
    return r;
}
