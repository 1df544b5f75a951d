// SPDX-License-Identifier: MIT
// Recognises own exports, Mesa's memfds, plain memfds and dma-bufs. Claimed sizes are never
// trusted.
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "guard.h"
#include "hash.h"
#include "shared_semaphore.h"

#ifdef F_SEAL_FUTURE_WRITE
#define SEAL_FUTURE_WRITE F_SEAL_FUTURE_WRITE
#else
#define SEAL_FUTURE_WRITE 0x10
#endif

const uint8_t dm_llvmpipe_uuid[16] = {0x6c, 0xb9, 0xee, 0x07, 0x4a, 0x0b, 0xad, 0x7b,
                                      0x01, 0x2e, 0x1b, 0xe9, 0x69, 0x7e, 0x53, 0x0f};

const char dm_pool_magic[8] = "CLPOOL\0";

uint32_t dm_own_check(const struct dm_mesa_header *mesa, const struct dm_own_header *own)
{
    struct dm_own_header copy = *own;
    copy.check = 0;
    return dm_hash_fold(dm_hash(dm_hash(DM_HASH_START, mesa, sizeof *mesa), &copy, sizeof copy));
}

// Descriptors without a name in the file system, by the name that the kernel gives them.
static const struct {
    const char *link, *what;
} anonymous[] = {
    {"anon_inode:[eventfd]", "an eventfd"},
    {"anon_inode:[eventpoll]", "an epoll instance"},
    {"anon_inode:[timerfd]", "a timerfd"},
    {"anon_inode:[signalfd]", "a signalfd"},
    {"anon_inode:[pidfd]", "a pidfd"},
    {"anon_inode:inotify", "an inotify instance"},
    {"anon_inode:sync_file", "a sync file (a semaphore's payload, not memory)"},
    {"anon_inode:syncobj_file", "a DRM sync object (a semaphore, not memory)"},
    {"anon_inode:[io_uring]", "an io_uring instance"},
    {"anon_inode:", "an anonymous kernel object"},
    {"/dev/nvidia", "an NVIDIA device node"},
    {"/dev/dri/", "a DRM device node"},
};

static const char *import_describe(const struct stat *st, const char *link, int accmode_flags)
{
    for (size_t i = 0; i < sizeof anonymous / sizeof *anonymous; i++)
        if (strncmp(link, anonymous[i].link, strlen(anonymous[i].link)) == 0)
            return anonymous[i].what;
    if (accmode_flags & O_PATH)
        return "a path without an open file";
    switch (st->st_mode & S_IFMT) {
    case S_IFREG:
        return "a regular file on disk";
    case S_IFDIR:
        return "a directory";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    case S_IFCHR:
        return "a character device";
    case S_IFBLK:
        return "a block device";
    case S_IFLNK:
        return "a symbolic link";
    default:
        return "an unknown kind of file";
    }
}

static bool header_is_zero(const uint8_t *p, size_t size)
{
    while (size && *p == 0)
        p++, size--;
    return size == 0;
}

struct header_copy {
    struct dm_headers *to;
    const void *from;
};

static void copy_header(void *arg)
{
    const struct header_copy *copy = arg;
    memcpy(copy->to, copy->from, sizeof *copy->to);
}

// Reads the first bytes of the file, from its mapping if that is given. The file may shrink while
// they are copied.
static ssize_t read_header(int fd, const void *mapped, uint64_t file_size, struct dm_headers *h)
{
    struct header_copy copy = {h, mapped};
    memset(h, 0, sizeof *h);
    if (mapped && file_size >= sizeof *h && !dm_guarded(copy_header, &copy, NULL))
        return sizeof *h;
    return pread(fd, h, sizeof *h, 0);
}

// Whether own headers are right for a file of this size. `kept` may be NULL.
static bool own_is_right(const struct dm_headers *h, uint64_t file_size,
                         struct dm_import_kept *kept)
{
    uint64_t end;
    if (h->own.version != DM_OWN_VERSION || h->own.payload < sizeof *h || h->own.size == 0 ||
        __builtin_add_overflow(h->own.payload, h->own.size, &end) || end > file_size)
        return false;
    if (kept && !memcmp(h, &kept->checked, sizeof *h))
        return true;
    if (h->own.check != dm_own_check(&h->mesa, &h->own))
        return false;
    if (kept)
        kept->checked = *h;
    return true;
}

// A sealed file is shared memory: check whether it begins with a header. Both headers are in one
// page to which nobody should be writing. The copy that is checked is the one that is used.
static void recognise_header(int fd, struct dm_import_kept *kept, uint64_t file_size,
                             struct dm_import_info *info)
{
    struct dm_headers h;
    ssize_t got = read_header(fd, kept ? kept->header : NULL, file_size, &h);
    if (got < (ssize_t)sizeof h.mesa)
        return;
    if (!memcmp(&h, dm_pool_magic, sizeof dm_pool_magic)) {
        info->kind = DM_FD_POOL;
        info->what = "a memory pool exported by Cardless";
        return;
    }
    if (!memcmp(&h, dm_semaphore_magic, sizeof dm_semaphore_magic)) {
        info->kind = DM_FD_SEMAPHORE;
        info->what = "a semaphore exported by Cardless";
        return;
    }
    bool own = got == (ssize_t)sizeof h && memcmp(h.own.magic, "CARDLESS", 8) == 0;
    bool mesa = h.mesa.offset >= sizeof h.mesa && h.mesa.offset < file_size &&
                h.mesa.offset % 16 == 0 && h.mesa.size == file_size &&
                !header_is_zero(h.mesa.uuid, sizeof h.mesa.uuid);
    if (own) {
        info->kind = DM_FD_OWN;
        info->what = "memory exported by Cardless";
        info->payload = h.own.payload;
        info->identity = h.own.identity;
        if (!own_is_right(&h, file_size, kept)) {
            info->what = "memory exported by Cardless whose header is damaged";
            info->error = -EBADMSG;
            info->payload = info->size = 0;
            return;
        }
        info->size = h.own.size;
    } else if (mesa) {
        info->kind = DM_FD_MESA;
        info->what = "a memfd with Mesa's header";
        info->payload = h.mesa.offset;
        info->size = file_size - h.mesa.offset;
        info->uuid_known = memcmp(h.mesa.uuid, dm_llvmpipe_uuid, sizeof h.mesa.uuid) == 0;
    } else if (memcmp(h.mesa.uuid, dm_llvmpipe_uuid, sizeof h.mesa.uuid) == 0) {
        // Only llvmpipe writes these 16 bytes here, so this is a header that does not match its
        // file.
        info->kind = DM_FD_MESA;
        info->what = "a memfd with Mesa's header that contradicts the file's size";
        info->error = -EBADMSG;
        info->size = 0;
    }
}

enum { NO_SEALS = -1 };

// The name that the kernel gives the file.
static void read_name(int fd, char *link, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, link, size - 1);
    link[n > 0 ? n : 0] = 0;
}

static bool is_dmabuf(const char *link)
{
    // Without /proc, an ioctl could still distinguish a dma-buf from a file, but it would begin a
    // CPU access, and that is not worth it.
    return strncmp(link, "/dmabuf:", 8) == 0 || strncmp(link, "anon_inode:dmabuf", 17) == 0;
}

static bool is_swiftshader(const char *link)
{
    return strncmp(link, "/memfd:SwiftShader.Memory.", 26) == 0;
}

// A memfd, or a file on a tmpfs, as info->kind says. `kept` is NULL if the file is not known.
static int recognise_shared(int fd, int flags, int seals, uint64_t size,
                            struct dm_import_kept *kept, struct dm_import_info *info)
{
    bool memfd = info->kind == DM_FD_MEMFD;
    info->what = memfd ? "a memfd without a header" : "a shared-memory file on a tmpfs";
    info->size = size;
    info->may_shrink = !(seals & F_SEAL_SHRINK);
    if ((flags & O_ACCMODE) == O_WRONLY) {
        info->what = "shared memory that is open for writing only";
        info->error = -EACCES;
        return 0;
    }
    if (seals & (F_SEAL_WRITE | SEAL_FUTURE_WRITE))
        info->writable = false;
    if (memfd)
        recognise_header(fd, kept, size, info);
    return info->kind == DM_FD_SEMAPHORE ? -ENOTSUP : 0;
}

int dm_import_recognise_kept(int fd, dm_import_find_kept *find, struct dm_import_info *info)
{
    struct stat st;
    char link[256];
    memset(info, 0, sizeof *info);
    int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (flags < 0 || dm_sys_stat(fd, &st) != 0) {
        info->kind = DM_FD_CLOSED;
        info->what = fd < 0 ? "a negative number" : "a closed descriptor";
        return -EBADF;
    }
    info->dev = st.st_dev;
    info->ino = st.st_ino;
    info->changed = st.st_ctim;
    info->file_size = (uint64_t)st.st_size;
    info->writable = (flags & O_ACCMODE) == O_RDWR;
    struct dm_import_kept *kept = find && !(flags & O_PATH) ? find(st.st_dev, st.st_ino) : NULL;
    if (kept) {
        int seals = kept->seals >= 0 ? kept->seals : fcntl(fd, F_GET_SEALS);
        info->kind = DM_FD_MEMFD;
        return recognise_shared(fd, flags, seals, (uint64_t)st.st_size, kept, info);
    }
    read_name(fd, link, sizeof link);
    if (is_dmabuf(link)) {
        // "llseek on a dma-buf: only SEEK_END and SEEK_SET with offset 0": this does not move a
        // position that anyone uses.
        off_t end = lseek(fd, 0, SEEK_END);
        info->kind = DM_FD_DMABUF;
        info->what = "a dma-buf";
        info->may_shrink = true; // its driver may take the pages away
        info->size = end > 0 ? (uint64_t)end : (uint64_t)st.st_size;
        return 0;
    }
    int seals = S_ISREG(st.st_mode) && !(flags & O_PATH) ? fcntl(fd, F_GET_SEALS) : NO_SEALS;
    if (seals < 0) {
        info->kind = DM_FD_OTHER;
        info->what = import_describe(&st, link, flags);
        return -ENOTSUP;
    }
    bool memfd = link[0] ? strncmp(link, "/memfd:", 7) == 0 : st.st_nlink == 0;
    info->kind = memfd ? DM_FD_MEMFD : DM_FD_SHM;
    int status = recognise_shared(fd, flags, seals, (uint64_t)st.st_size, NULL, info);
    if (is_swiftshader(link) && !info->error) {
        info->kind = DM_FD_SWIFTSHADER;
        info->what = "a memfd of SwiftShader";
    }
    return status;
}

int dm_import_recognise(int fd, struct dm_import_info *info)
{
    return dm_import_recognise_kept(fd, NULL, info);
}

bool dm_import_keep(int fd, const struct dm_import_info *info, struct dm_import_kept *kept)
{
    bool memfd = info->kind == DM_FD_OWN || info->kind == DM_FD_MESA || info->kind == DM_FD_MEMFD;
    if (info->error || !memfd)
        return false;
    int seals = fcntl(fd, F_GET_SEALS);
    bool final = seals >= 0 && seals & F_SEAL_SEAL;
    memset(kept, 0, sizeof *kept);
    kept->seals = final ? seals : NO_SEALS;
    return final || info->kind == DM_FD_MESA;
}

int dm_fd_remember(int fd, struct dm_fd_identity *identity)
{
    struct stat st;
    int r = dm_sys_stat(fd, &st);
    if (r)
        return r;
    identity->fd = fd;
    identity->dev = st.st_dev;
    identity->ino = st.st_ino;
    return 0;
}

bool dm_fd_still_ours(const struct dm_fd_identity *identity)
{
    struct stat st;
    return identity->fd >= 0 && dm_sys_stat(identity->fd, &st) == 0 && st.st_dev == identity->dev &&
           st.st_ino == identity->ino;
}

int dm_fd_duplicate_high(int fd)
{
    const int high = 900;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, high);
    return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

void dm_fd_close(struct dm_fd_identity *identity)
{
    if (identity->fd >= 0 && dm_fd_still_ours(identity))
        close(identity->fd);
    identity->fd = -1;
}
