// SPDX-License-Identifier: MIT
// The committed total, slices of the arena, exportable memfds and imported files.
#include "physical.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "arithmetic.h"
#include "kept.h"

// The arena is larger than the device's memory, because slices are contiguous: otherwise
// fragmentation could refuse an allocation for which there is enough memory.
enum { ARENA_FACTOR = 16, PAGE = 4096 };

int dm_vram_init(struct dm_vram *vram, uint64_t total, uint64_t granule)
{
    if (granule < PAGE || (granule & (granule - 1)) || total < granule ||
        total > INT64_MAX / (2 * ARENA_FACTOR))
        return -EINVAL;
    memset(vram, 0, sizeof *vram);
    vram->total = total;
    vram->granule = granule;
    vram->arena.fd = -1;
    dm_rangemap_init(&vram->slices);
    memcpy(vram->exporter_uuid, dm_llvmpipe_uuid, sizeof vram->exporter_uuid);
    return 0;
}

void dm_vram_finish(struct dm_vram *vram)
{
    dm_fd_close(&vram->arena);
    dm_rangemap_finish(&vram->slices);
}

static void publish(const struct dm_vram *vram)
{
    if (vram->published)
        __atomic_store_n(vram->published, vram->used, __ATOMIC_RELAXED);
}

int dm_vram_commit(struct dm_vram *vram, uint64_t size)
{
    if (!dm_round_up(size, vram->granule, &size) || size > vram->total - vram->used)
        return -ENOMEM;
    vram->used += size;
    publish(vram);
    return 0;
}

void dm_vram_uncommit(struct dm_vram *vram, uint64_t size)
{
    if (dm_round_up(size, vram->granule, &size))
        vram->used -= size < vram->used ? size : vram->used;
    publish(vram);
}

static uint64_t arena_size(const struct dm_vram *vram)
{
    return (vram->total * ARENA_FACTOR) & ~(vram->granule - 1);
}

// Makes the arena as large as the process's file size limit allows (RLIMIT_FSIZE). Allocations that
// do not fit are refused later.
static int size_arena(struct dm_vram *vram, int fd)
{
    struct rlimit limit;
    int r = dm_sys_ftruncate(fd, vram->arena_B = arena_size(vram));
    if (r == -EFBIG && !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= vram->granule)
        r = dm_sys_ftruncate(fd, vram->arena_B = limit.rlim_cur & ~(vram->granule - 1));
    return r;
}

static int open_arena(struct dm_vram *vram)
{
    if (vram->arena.fd >= 0)
        return dm_fd_still_ours(&vram->arena) ? 0 : -EBADF;
    int fd, r = dm_sys_memfd_create("cardless-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING, &fd);
    if (r)
        return r;
    r = size_arena(vram, fd);
    if (!r)
        r = dm_fd_remember(fd, &vram->arena);
    if (r) {
        vram->arena.fd = -1;
        close(fd);
        return r;
    }
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return 0;
}

void dm_vram_prepare(struct dm_vram *vram)
{
    if (vram->arena.fd < 0)
        (void)open_arena(vram);
    dm_rangemap_prepare(&vram->slices);
}

static int create_slice(struct dm_vram *vram, struct dm_physical *p)
{
    uint64_t offset;
    int r = open_arena(vram);
    if (!r)
        r = dm_rangemap_gap(&vram->slices, 0, vram->arena_B - 1, p->size, vram->granule, &offset);
    if (!r)
        r = dm_rangemap_insert(&vram->slices, offset, p->size, p);
    if (r)
        return r;
    p->kind = DM_PHYSICAL_SLICE;
    p->file = vram->arena;
    p->payload = offset;
    return 0;
}

uint64_t dm_new_identity(void)
{
    uint64_t n;
    if (getrandom(&n, sizeof n, GRND_NONBLOCK) != (ssize_t)sizeof n) {
        static uint64_t counter;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        n = ((uint64_t)getpid() << 40) ^ ((uint64_t)now.tv_nsec << 20) ^ (uint64_t)now.tv_sec ^
            ++counter;
    }
    return n ? n : 1;
}

// Exportable files have the format of Mesa's software drivers, so that those can import them:
// Mesa's header, then our mark, then the payload in the next page.
static int create_own(struct dm_vram *vram, struct dm_physical *p)
{
    struct {
        struct dm_mesa_header mesa;
        struct dm_own_header own;
    } h;
    uint64_t file_size;
    if (__builtin_add_overflow(p->size, (uint64_t)DM_HEADER_SIZE, &file_size))
        return -ENOMEM;
    int fd, r = dm_sys_memfd_create("cardless-memory", MFD_CLOEXEC | MFD_ALLOW_SEALING, &fd);
    if (r)
        return r;
    r = dm_sys_ftruncate(fd, file_size);
    if (r)
        goto fail;
    memset(&h, 0, sizeof h);
    h.mesa.size = file_size;
    h.mesa.offset = DM_HEADER_SIZE;
    memcpy(h.mesa.uuid, vram->exporter_uuid, sizeof h.mesa.uuid);
    memcpy(h.own.magic, "CARDLESS", 8);
    h.own.version = DM_OWN_VERSION;
    h.own.payload = DM_HEADER_SIZE;
    h.own.size = p->size;
    h.own.identity = dm_new_identity();
    h.own.check = dm_own_check(&h.mesa, &h.own);
    if (pwrite(fd, &h, sizeof h, 0) != (ssize_t)sizeof h) {
        r = -ENOMEM;
        goto fail;
    }
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
        r = -errno;
        goto fail;
    }
    r = dm_fd_remember(fd, &p->file);
    if (r)
        goto fail;
    p->kind = DM_PHYSICAL_OWN;
    p->payload = DM_HEADER_SIZE;
    p->identity = h.own.identity;
    return 0;
fail:
    close(fd);
    return r;
}

int dm_physical_create(struct dm_vram *vram, uint64_t size, unsigned flags,
                       struct dm_physical **out)
{
    if (size == 0)
        return -EINVAL;
    if (!dm_round_up(size, vram->granule, &size))
        return -ENOMEM;
    int r = dm_vram_commit(vram, size);
    if (r)
        return r;
    struct dm_physical *p = dm_calloc(1, sizeof *p);
    if (!p) {
        r = -ENOMEM;
        goto fail_commit;
    }
    p->vram = vram;
    p->references = 1;
    p->size = p->committed = size;
    p->writable = true;
    r = flags & DM_PHYSICAL_EXPORTABLE ? create_own(vram, p) : create_slice(vram, p);
    if (r)
        goto fail_alloc;
    *out = p;
    return 0;
fail_alloc:
    dm_free(p);
fail_commit:
    dm_vram_uncommit(vram, size);
    return r;
}

int dm_physical_import(struct dm_vram *vram, int fd, const struct dm_import_info *info,
                       struct dm_physical **out)
{
    if (info->error)
        return info->error;
    if (info->kind == DM_FD_CLOSED || info->kind == DM_FD_OTHER)
        return -ENOTSUP;
    if (info->size == 0)
        return -ENXIO;
    struct dm_physical *p = dm_calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    int r = dm_sys_dup(fd, &p->file.fd);
    if (r)
        goto fail_alloc;
    p->file.dev = info->dev;
    p->file.ino = info->ino;
    if (!dm_fd_still_ours(&p->file)) {
        r = -ESTALE;
        goto fail_fd;
    }
    p->vram = vram;
    p->kind = DM_PHYSICAL_IMPORTED;
    p->references = 1;
    p->payload = info->payload;
    p->size = info->size;
    p->identity = info->identity;
    p->writable = info->writable;
    p->may_shrink = info->may_shrink;
    *out = p;
    return 0;
fail_fd:
    close(p->file.fd);
fail_alloc:
    dm_free(p);
    return r;
}

int dm_physical_fd(const struct dm_physical *physical)
{
    struct dm_fd_identity file = physical->file;
    if (dm_fd_still_ours(&file))
        return file.fd;
    file.fd = physical->second_fd;
    return file.fd && dm_fd_still_ours(&file) ? file.fd : -EBADF;
}

struct dm_physical *dm_physical_ref(struct dm_physical *physical)
{
    physical->references++;
    return physical;
}

void dm_physical_unref(struct dm_physical *p)
{
    if (!p || --p->references)
        return;
    dm_kept_drop_left(p);
    if (p->kind == DM_PHYSICAL_SLICE) {
        // If the pages cannot be given back, the range must not be used again with its old
        // contents, so it stays taken.
        int fd = dm_physical_fd(p);
        if (fd >= 0 && dm_sys_punch(fd, p->payload, p->size) == 0)
            dm_rangemap_remove(&p->vram->slices, p->payload, NULL);
    } else {
        dm_fd_close(&p->file);
    }
    dm_vram_uncommit(p->vram, p->committed);
    dm_free(p);
}

int dm_physical_export(const struct dm_physical *physical, int *fd)
{
    if (physical->kind == DM_PHYSICAL_SLICE)
        return -ENOTSUP;
    int own = dm_physical_fd(physical);
    return own < 0 ? own : dm_sys_dup(own, fd);
}

int dm_physical_intact(const struct dm_physical *physical)
{
    struct stat st;
    uint64_t end;
    int fd = dm_physical_fd(physical);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st))
        return -errno;
    // Not every kernel reports the length of a dma-buf in fstat, and a dma-buf cannot be truncated.
    if (!S_ISREG(st.st_mode))
        return 0;
    if (__builtin_add_overflow(physical->payload, physical->size, &end) ||
        end > (uint64_t)st.st_size)
        return -ENXIO;
    return 0;
}

int dm_physical_discard(struct dm_physical *physical, uint64_t offset, uint64_t size)
{
    if (physical->kind == DM_PHYSICAL_IMPORTED)
        return -ENOTSUP;
    if (offset > physical->size || size > physical->size - offset)
        return -EINVAL;
    int fd = dm_physical_fd(physical);
    if (fd < 0)
        return fd;
    return size == 0 ? 0 : dm_sys_punch(fd, physical->payload + offset, size);
}
