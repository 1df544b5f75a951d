// SPDX-License-Identifier: MIT
// Shares allocations of cuMemAlloc with other processes. A handle names a file descriptor of the
// exporting process and the offset of the bytes in that file.
#include "ipc_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "arithmetic.h"
#include "call.h"
#include "device.h"
#include "hash.h"
#include "hash_table.h"
#include "import.h"
#include "ipc_shared.h"
#include "lock.h"
#include "memory.h"
#include "memory_device.h"

// The contents of the 64 bytes of a CUipcMemHandle.
struct ipc_handle {
    char magic[4];
    int32_t pid;
    int32_t fd;    // a descriptor of that process
    int32_t table; // the descriptor of its table of shared memory (ipc_shared.h)
    uint64_t ino;  // of fd's file, to detect a number that was used again
    uint64_t offset, size;
    uint64_t identity; // the allocation's: it is in the table's slot until the memory is freed
    uint32_t slot;
    uint32_t dev;
    uint32_t check; // over the other fields
    // Last, because its last byte is always 0: the card writes all 64 bytes, and a program that
    // fills a handle before the call to see that (recorded: x_vmm, ipcmem/get-large) would take a
    // byte of the checksum for its own fill once in 256 runs.
    uint32_t device;
};
_Static_assert(sizeof(struct ipc_handle) <= sizeof(CUipcMemHandle), "the handle is too large");

static const char magic[4] = "CIP4";

// Memory of another process that is open in this one: a single mapping, however often it is opened.
struct ipc_mapping {
    struct em_allocation allocation;
    struct ipc_key {
        struct ipc_handle handle;
        const struct em_context *context;
    } key;
    unsigned opened;
    UT_hash_handle hh;
};
static struct ipc_mapping *mappings;

static uint32_t checksum(const struct ipc_handle *h)
{
    struct ipc_handle copy = *h;
    copy.check = 0;
    return dm_hash_fold(dm_hash(DM_HASH_START, &copy, sizeof copy));
}

CUresult em_ipc_get(uint64_t address, CUipcMemHandle *out)
{
    struct em_allocation *a;
    struct stat st;
    em_lock();
    CUresult r = em_memory_get(address, 1, "dptr", CUDA_ERROR_INVALID_VALUE, &a);
    if (r)
        goto unlock;
    // "allocated with cuMemAlloc": nothing else can be opened elsewhere.
    int fd = a->kind == EM_MEMORY_DEVICE ? dm_physical_fd(a->physical) : -EBADF;
    if (fd < 0 || fstat(fd, &st)) {
        char text[256];
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "dptr must be memory of cuMemAlloc; %s",
                    em_memory_text(address, text, sizeof text));
        goto unlock;
    }
    struct em_ipc_place place;
    r = em_ipc_shared_enter(&a->ipc_slot, &place);
    if (r)
        goto unlock;
    a->physical->shared = true;
    struct ipc_handle h;
    memset(&h, 0, sizeof h);
    memcpy(h.magic, magic, sizeof magic);
    h.pid = getpid();
    h.fd = fd;
    h.table = place.fd;
    h.slot = place.slot;
    h.identity = place.identity;
    h.dev = (uint32_t)st.st_dev;
    h.ino = st.st_ino;
    h.offset = a->physical->payload + a->physical_offset;
    h.size = a->size;
    h.device = (uint32_t)a->device;
    h.check = checksum(&h);
    memset(out, 0, sizeof *out);
    memcpy(out, &h, sizeof h);
unlock:
    em_unlock();
    return r;
}

static CUresult check_handle(const struct ipc_handle *h)
{
    uint64_t end;
    if (memcmp(h->magic, magic, sizeof magic) || h->check != checksum(h) || h->pid <= 0 ||
        h->fd < 0 || !h->size || !dm_add(h->offset, h->size, &end) ||
        h->device >= (uint32_t)em_device_count)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "handle was not written by cuIpcGetMemHandle, or has been changed since");
    // "cuIpcOpenMemHandle can not be called in the process that exported"
    if (h->pid == getpid())
        return em_fail(CUDA_ERROR_INVALID_CONTEXT,
                       "the handle was made by this process; use the pointer itself");
    return CUDA_SUCCESS;
}

// Opens the exporter's descriptor here. It must still be the file that the handle was made from.
static CUresult open_file(const struct ipc_handle *h, int *fd)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", h->pid, h->fd);
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the memory of process %d cannot be opened: %s",
                       h->pid, strerror(errno));
    if (fstat(*fd, &st) || (uint32_t)st.st_dev != h->dev || (uint64_t)st.st_ino != h->ino ||
        (uint64_t)st.st_size < h->offset + h->size) {
        close(*fd);
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "process %d has replaced the file that held the memory", h->pid);
    }
    const struct em_ipc_place place = {.fd = h->table, .slot = h->slot, .identity = h->identity};
    if (!em_ipc_shared_holds(h->pid, &place)) {
        close(*fd);
        return em_fail(CUDA_ERROR_INVALID_VALUE, "process %d has freed the memory", h->pid);
    }
    return CUDA_SUCCESS;
}

static void release(struct em_allocation *a)
{
    struct ipc_mapping *m = a->owner;
    DM_TABLE_REMOVE(mappings, m);
    dm_space_unmap_bytes(&em_space, a->base);
    dm_physical_unref(a->physical);
    dm_free(m);
}

// Precondition: em_lock held.
static CUresult map(struct em_context *context, const struct ipc_handle *h, int fd,
                    struct ipc_mapping **out)
{
    em_assert_locked();
    struct em_device *device;
    struct em_device_memory *memory;
    struct dm_physical *physical;
    struct dm_import_info info;
    CUresult r = em_device_get((CUdevice)h->device, &device);
    if (!r)
        r = em_device_memory(device, &memory);
    if (r)
        return r;
    int status = dm_import_recognise(fd, &info);
    if (status || info.error)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "process %d shares %s, not memory of cuMemAlloc",
                       h->pid, info.what);
    struct ipc_mapping *m = dm_calloc(1, sizeof *m);
    if (!m)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while tracking the mapping");
    status = dm_physical_import(&memory->vram, fd, &info, &physical);
    if (status)
        goto free_mapping;
    m->key.handle = *h;
    m->key.context = context;
    m->allocation = (struct em_allocation){.size = h->size,
                                           .kind = EM_MEMORY_IPC,
                                           .context = context,
                                           .device = (int)h->device,
                                           .physical = physical,
                                           .physical_offset = h->offset - physical->payload,
                                           .owner = m,
                                           .release = release};
    status = dm_space_map_bytes(&em_space, physical, h->offset - physical->payload, h->size,
                                2 << 20, DM_MAP_READ | DM_MAP_WRITE, &m->allocation.base);
    if (status)
        goto unref;
    status = DM_TABLE_ADD(mappings, key, m);
    if (status)
        goto unmap;
    r = em_memory_enter(&m->allocation);
    if (r)
        goto remove;
    *out = m;
    return CUDA_SUCCESS;
remove:
    DM_TABLE_REMOVE(mappings, m);
unmap:
    dm_space_unmap_bytes(&em_space, m->allocation.base);
unref:
    dm_physical_unref(physical);
free_mapping:
    dm_free(m);
    return r ? r
             : em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "the %llu bytes of process %d cannot be mapped: %s",
                       (unsigned long long)h->size, h->pid, strerror(-status));
}

CUresult em_ipc_open(const CUipcMemHandle *handle, unsigned flags, uint64_t *out)
{
    struct ipc_handle h;
    int fd;
    // "Flags: must be specified as CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS"
    if (!(flags & CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "Flags (%#x) must be CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS (0x1)", flags);
    memcpy(&h, handle, sizeof h);
    CUresult r = check_handle(&h);
    if (!r)
        r = open_file(&h, &fd);
    if (r)
        return r;
    em_lock();
    const struct ipc_key key = {.handle = h, .context = em_self.current};
    struct ipc_mapping *m = DM_TABLE_FIND(mappings, &key);
    if (!m)
        r = map(em_self.current, &h, fd, &m);
    if (!r) {
        m->opened++;
        *out = m->allocation.base;
    }
    em_unlock();
    close(fd);
    return r;
}

CUresult em_ipc_close(uint64_t address)
{
    em_lock();
    struct em_allocation *a = address ? em_memory_find(address, 1) : NULL;
    CUresult r = em_memory_wait_idle(a ? a->context : NULL);
    if (r)
        goto unlock;
    a = address ? em_memory_find(address, 1) : NULL; // another thread may have closed it meanwhile
    if (!a || a->kind != EM_MEMORY_IPC || a->base != address) {
        char text[256];
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "dptr must be an address that cuIpcOpenMemHandle returned; %s",
                    em_memory_text(address, text, sizeof text));
    } else if (!--((struct ipc_mapping *)a->owner)->opened) {
        em_memory_remove(a);
    }
unlock:
    em_unlock();
    return r;
}
