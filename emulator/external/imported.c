// SPDX-License-Identifier: MIT
// Opens and owns the file descriptors of external memory, and maps the memory.
#include "imported.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "device.h"
#include "journal.h"
#include "memory_device.h"
#include "exporter.h"
#include "inject.h"
#include "quirk.h"

// The result for a descriptor that is not memory: the manual's, or the driver's, which closes it.
static CUresult bad_descriptor(int fd)
{
    if (!em_quirk(IMPORT_BAD_FD))
        return CUDA_ERROR_INVALID_HANDLE;
    if (fd >= 0)
        close(fd);
    return CUDA_ERROR_UNKNOWN;
}

// Refuses a descriptor that is not memory, and says which kind of file it is.
static CUresult refuse(int fd, const struct dm_import_info *info)
{
    if (fd < 0 && em_exporter_undeclared())
        return em_mistake(M13, bad_descriptor(fd),
                          "handle.fd is %d; vkGetMemoryFdKHR was called for memory that was "
                          "allocated without VkExportMemoryAllocateInfo",
                          fd);
    return em_mistake(M12, bad_descriptor(fd),
                      "handle.fd (%d) is %s, not memory that another API exported", fd, info->what);
}

// A pool is not memory: its allocations are shared by cuMemPoolExportPointer.
static CUresult refuse_pool(int fd)
{
    if (em_quirk(IMPORT_BAD_FD))
        close(fd);
    return em_mistake(
        M12, CUDA_ERROR_NOT_SUPPORTED,
        "handle.fd (%d) is a memory pool; import it with cuMemPoolImportFromShareableHandle", fd);
}

static void check_size(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                       const struct dm_import_info *info, bool *said)
{
    // "size: must match the size of the memory object": the size of the exporter's allocation,
    // which is known up to a page.
    uint64_t claimed = desc->size, page = DM_PAGE - 1;
    // Mesa adds a few bytes of its own to the program's allocation.
    bool same = claimed <= info->size && info->size - claimed <= page;
    if (same ||
        (info->kind != DM_FD_MESA && info->kind != DM_FD_SWIFTSHADER && info->kind != DM_FD_OWN))
        return;
    *said = true;
    em_mistake(M07, CUDA_SUCCESS,
               "size (%llu) is not the size of the exporter's allocation (%llu bytes)", desc->size,
               (unsigned long long)info->size);
}

// The handle type must be DMABUF_FD for a dma-buf, and OPAQUE_FD for any other memory.
static CUresult check_kind(int fd, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                           const struct dm_import_info *info)
{
    bool as_dmabuf = desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD;
    if (as_dmabuf && info->kind == DM_FD_DMABUF && em_quirk(IMPORT_DMABUF))
        return em_fail(
            CUDA_ERROR_NOT_SUPPORTED,
            "handle.fd (%d) is a dma-buf, which this driver does not accept on any card; "
            "set CARDLESS_PERSONALITY=manual to accept it",
            fd);
    if (as_dmabuf && info->kind != DM_FD_DMABUF)
        return em_mistake(M10, CUDA_ERROR_NOT_SUPPORTED,
                          "handle.fd (%d) is %s, but type is DMABUF_FD", fd, info->what);
    if (!as_dmabuf && info->kind == DM_FD_DMABUF)
        return em_mistake(M10, bad_descriptor(fd),
                          "handle.fd (%d) is a dma-buf, but type is OPAQUE_FD", fd);
    // A card accepts memory that its own drivers have exported. A plain memfd stands for such
    // memory in tests; the manual allows that.
    bool plain = info->kind == DM_FD_MEMFD || info->kind == DM_FD_SHM;
    if (plain && (em_quirk(IMPORT_PLAIN_MEMFD) || !info->size))
        return refuse(fd, info);
    if (info->error)
        return refuse(fd, info);
    return CUDA_SUCCESS;
}

static CUresult open_status(int status, int fd, const struct dm_import_info *info)
{
    switch (status) {
    case 0:
        return CUDA_SUCCESS;
    case -ENOMEM:
    case -EMFILE:
    case -ENFILE:
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory or file descriptors for an imported object: %s",
                       strerror(-status));
    default:
        return refuse(fd, info);
    }
}

// `status`: of em_file_recognise.
static CUresult open_recognised(int status, const struct dm_import_info *info,
                                struct em_context *context,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                                struct em_imported **out)
{
    const int fd = desc->handle.fd;
    if (!status && info->kind == DM_FD_POOL &&
        desc->type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return refuse_pool(fd);
    if (status && desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
        return refuse(fd, info);
    CUresult r = check_kind(fd, desc, info);
    if (r)
        return r;
    if (em_inject(EM_INJECT_IMPORT))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "this import fails, as cardlessFuzzFail asked");
    struct em_device_memory *memory;
    r = em_device_memory(context->device, &memory);
    if (r)
        return r;
    struct em_imported *imported = dm_calloc(1, sizeof *imported);
    if (!imported)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for an imported object");
    const bool stays = !em_quirk(IMPORT_FD_CLOSED);
    r = open_status(em_file_open(&memory->vram, fd, stays, info, &imported->file), fd, info);
    if (r) {
        dm_free(imported);
        return r;
    }
    imported->references = 1;
    imported->physical = imported->file->physical;
    imported->info = *info;
    imported->size_B = desc->size;
    imported->dedicated = desc->flags & CUDA_EXTERNAL_MEMORY_DEDICATED;
    imported->owned.fd.fd = -1;
    check_size(desc, info, &imported->said_size);
    em_exporter_check_import(imported, fd);
    // lavapipe reports the UUID of card 0.
    if (context->device->card && (info->kind == DM_FD_MESA || info->kind == DM_FD_SWIFTSHADER))
        em_mistake(
            M11, CUDA_SUCCESS,
            "%s is imported in a context of device %d, but its exporter has the UUID of device 0",
            info->what, context->device->ordinal);
    *out = imported;
    return CUDA_SUCCESS;
}

CUresult em_imported_open(struct em_context *context, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                          struct em_imported **out)
{
    em_assert_locked();
    struct dm_import_info info;
    int fd = desc->handle.fd;
    const struct em_owned_fd *before = em_owned_fd_find(fd);
    if (before)
        return em_mistake(M01, CUDA_ERROR_INVALID_HANDLE,
                          "handle.fd (%d) belongs to the driver since %s #%u was imported", fd,
                          before->type, before->number);
    int status = em_file_recognise(fd, &info);
    CUresult r = open_recognised(status, &info, context, desc, out);
    if (r && !em_quirk(IMPORT_BAD_FD))
        em_journal_reject_fd(fd, info.what);
    return r;
}

void em_imported_ref(struct em_imported *imported)
{
    em_assert_locked();
    imported->references++;
}

void em_imported_unref(struct em_imported *imported)
{
    em_assert_locked();
    if (--imported->references)
        return;
    em_owned_fd_end(&imported->owned);
    em_file_close(imported->file);
    dm_free(imported);
}

static CUresult map_failed(const struct em_imported *imported, int status, uint64_t offset,
                           uint64_t size)
{
    if (status == -EINVAL)
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "offset (%llu) + size (%llu) exceeds the imported memory, which has %llu bytes",
            (unsigned long long)offset, (unsigned long long)size,
            (unsigned long long)imported->physical->size);
    // Either the kernel has no addresses, mappings or memory left, or the owner of the file does
    // not allow it to be mapped.
    CUresult code = status == -ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
    return em_fail(code, "%llu bytes of imported memory cannot be mapped: %s",
                   (unsigned long long)size, strerror(-status));
}

CUresult em_imported_window(struct em_imported *imported, uint64_t *address)
{
    em_assert_locked();
    int status = em_file_map_window(imported->file);
    if (status)
        return map_failed(imported, status, 0, imported->physical->size);
    *address = imported->file->window;
    return CUDA_SUCCESS;
}

CUresult em_imported_map(struct em_imported *imported, uint64_t offset, uint64_t size,
                         uint64_t *address)
{
    em_assert_locked();
    int status = em_file_map(imported->file, offset, size, address);
    return status ? map_failed(imported, status, offset, size) : CUDA_SUCCESS;
}

enum dm_layout_kind em_imported_layout(const struct em_imported *imported)
{
    switch (imported->info.kind) {
    case DM_FD_MESA:
        return DM_LAYOUT_LLVMPIPE;
    case DM_FD_SWIFTSHADER:
        return DM_LAYOUT_SWIFTSHADER;
    default:
        return DM_LAYOUT_BLOCK_LINEAR;
    }
}
