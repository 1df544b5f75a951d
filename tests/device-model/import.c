// SPDX-License-Identifier: MIT
// Recognition of descriptors: every kind is distinguished, no claim of a header is trusted, and
// memory is shared with a second process.
#include "import.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../send_fd.h"
#include "alloc.h"
#include "expect.h"
#include "pkey.h"
#include "space.h"

enum { GRANULE = 2 << 20, FILE_SIZE = 65536 };
static struct dm_vram vram;

static void expect_not_memory(int fd, const char *what)
{
    struct dm_import_info info;
    struct dm_physical *p = NULL;
    EXPECT(fd >= 0);
    EXPECT_EQ(dm_import_recognise(fd, &info), -ENOTSUP);
    EXPECT_EQ(info.kind, DM_FD_OTHER);
    if (strcmp(info.what, what) != 0) {
        fprintf(stderr, "\"%s\", expected \"%s\"\n", info.what, what);
        abort();
    }
    EXPECT_EQ(dm_physical_import(&vram, fd, &info, &p), -ENOTSUP);
    close(fd);
}

static void not_memory(void)
{
    struct dm_import_info info;
    int fds[2];
    EXPECT_EQ(dm_import_recognise(-1, &info), -EBADF);
    EXPECT_EQ(info.kind, DM_FD_CLOSED);
    EXPECT_EQ(dm_import_recognise(99999, &info), -EBADF);
    EXPECT_EQ(dm_import_recognise(INT32_MIN, &info), -EBADF);
    EXPECT_EQ(pipe(fds), 0);
    expect_not_memory(fds[0], "a pipe");
    expect_not_memory(fds[1], "a pipe");
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    expect_not_memory(fds[0], "a socket");
    close(fds[1]);
    expect_not_memory(eventfd(0, 0), "an eventfd");
    expect_not_memory(epoll_create1(0), "an epoll instance");
    expect_not_memory(timerfd_create(CLOCK_MONOTONIC, 0), "a timerfd");
    expect_not_memory(open("/dev/null", O_RDWR), "a character device");
    expect_not_memory(open("/", O_RDONLY | O_DIRECTORY), "a directory");
    expect_not_memory(open("/", O_PATH), "a path without an open file");
    expect_not_memory(open("/proc/self/exe", O_RDONLY), "a regular file on disk");
}

static int memfd(uint64_t size, const struct dm_mesa_header *header)
{
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(fd, (off_t)size), 0);
    if (header)
        EXPECT_EQ(pwrite(fd, header, sizeof *header, 0), sizeof *header);
    return fd;
}

static void headers(void)
{
    struct dm_import_info info;
    struct dm_physical *p;
    struct dm_mesa_header h = {FILE_SIZE, 4096, {1, 2, 3}};
    int fd = memfd(FILE_SIZE, &h);
    EXPECT_EQ(dm_import_recognise(fd, &info), 0);
    EXPECT_EQ(info.kind, DM_FD_MESA);
    EXPECT_EQ(info.payload, 4096);
    EXPECT_EQ(info.size, FILE_SIZE - 4096);
    EXPECT(info.may_shrink && info.writable && !info.uuid_known);
    EXPECT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
    EXPECT_EQ(dm_import_recognise(fd, &info), 0);
    EXPECT(!info.may_shrink);
    EXPECT_EQ(dm_physical_import(&vram, fd, &info, &p), 0);
    EXPECT_EQ(p->payload, 4096);
    EXPECT_EQ(p->size, FILE_SIZE - 4096);
    EXPECT_EQ(vram.used, 0);
    dm_physical_unref(p);
    close(fd);

    // With the uuid of a release llvmpipe, but claims that contradict the file, the file is damaged
    // and not plain memory.
    static const struct {
        uint64_t size, offset;
    } lies[] = {{FILE_SIZE * 2, 4096},
                {FILE_SIZE - 1, 4096},
                {FILE_SIZE, FILE_SIZE},
                {FILE_SIZE, UINT64_MAX - 15},
                {FILE_SIZE, 0},
                {FILE_SIZE, 4097},
                {0, 4096},
                {UINT64_MAX, UINT64_MAX}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        h = (struct dm_mesa_header){.size = lies[i].size, .offset = lies[i].offset};
        memcpy(h.uuid, dm_llvmpipe_uuid, 16);
        fd = memfd(FILE_SIZE, &h);
        EXPECT_EQ(dm_import_recognise(fd, &info), 0);
        EXPECT_EQ(info.kind, DM_FD_MESA);
        EXPECT_EQ(info.error, -EBADMSG);
        EXPECT_EQ(dm_physical_import(&vram, fd, &info, &p), -EBADMSG);
        close(fd);
        // With another uuid it is a plain memfd that happens to begin with such bytes.
        h.uuid[0] ^= 1;
        fd = memfd(FILE_SIZE, &h);
        EXPECT_EQ(dm_import_recognise(fd, &info), 0);
        EXPECT_EQ(info.kind, DM_FD_MEMFD);
        EXPECT_EQ(info.payload, 0);
        EXPECT_EQ(info.size, FILE_SIZE);
        close(fd);
    }
    static const uint64_t sizes[] = {1, 31, 32, 100, 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fd = memfd(sizes[i], NULL);
        EXPECT_EQ(dm_import_recognise(fd, &info), 0);
        EXPECT_EQ(info.kind, DM_FD_MEMFD);
        EXPECT_EQ(info.size, sizes[i]);
        close(fd);
    }
    fd = memfd(0, NULL);
    EXPECT_EQ(dm_import_recognise(fd, &info), 0);
    EXPECT_EQ(dm_physical_import(&vram, fd, &info, &p), -ENXIO);
    close(fd);
    fd = shm_open("/cardless-test-import", O_CREAT | O_RDWR, 0600);
    if (fd >= 0) {
        shm_unlink("/cardless-test-import");
        EXPECT_EQ(ftruncate(fd, 8192), 0);
        EXPECT_EQ(dm_import_recognise(fd, &info), 0);
        EXPECT_EQ(info.kind, DM_FD_SHM);
        EXPECT_EQ(info.size, 8192);
        close(fd);
    }
}

static void own_export(void)
{
    struct dm_import_info info;
    struct dm_physical *p, *q;
    int fd;
    EXPECT_EQ(dm_physical_create(&vram, 100, 0, &p), 0);
    EXPECT_EQ(dm_physical_export(p, &fd), -ENOTSUP);
    dm_physical_unref(p);
    EXPECT_EQ(dm_physical_create(&vram, GRANULE + 1, DM_PHYSICAL_EXPORTABLE, &p), 0);
    EXPECT_EQ(vram.used, 2 * GRANULE);
    EXPECT_EQ(dm_physical_export(p, &fd), 0);
    EXPECT_EQ(dm_import_recognise(fd, &info), 0);
    EXPECT_EQ(info.kind, DM_FD_OWN);
    EXPECT_EQ(info.identity, p->identity);
    EXPECT_EQ(info.size, 2 * GRANULE);
    EXPECT(!info.may_shrink);
    EXPECT_EQ(ftruncate(fd, 0), -1);
    // This is also the header that Mesa expects.
    struct dm_mesa_header h;
    EXPECT_EQ(pread(fd, &h, sizeof h, 0), sizeof h);
    EXPECT_EQ(h.size, 2 * GRANULE + 4096);
    EXPECT_EQ(h.offset, 4096);
    EXPECT_EQ(memcmp(h.uuid, dm_llvmpipe_uuid, 16), 0);
    EXPECT_EQ(dm_physical_import(&vram, fd, &info, &q), 0);
    EXPECT_EQ(vram.used, 2 * GRANULE); // the exporter's memory is already counted
    dm_physical_unref(q);
    // Recognised, and then the number was given to another file.
    int other = memfd(4096, NULL), saved = dup(fd);
    EXPECT_EQ(dup2(other, fd), fd);
    EXPECT_EQ(dm_physical_import(&vram, fd, &info, &q), -ESTALE);
    close(other);
    close(fd);
    // A damaged header of ours.
    EXPECT_EQ(dm_import_recognise(saved, &info), 0);
    for (unsigned at = 0; at < sizeof h + sizeof(struct dm_own_header); at++) {
        uint8_t byte, bad;
        EXPECT_EQ(pread(saved, &byte, 1, at), 1);
        bad = (uint8_t)(byte ^ 0x11);
        EXPECT_EQ(pwrite(saved, &bad, 1, at), 1);
        EXPECT_EQ(dm_import_recognise(saved, &info), 0);
        bool magic = at - sizeof h < 8;
        EXPECT_EQ(info.error != 0, !magic);
        EXPECT(info.payload + info.size <= 2 * GRANULE + 4096);
        EXPECT_EQ(pwrite(saved, &byte, 1, at), 1);
    }
    close(saved);
    dm_physical_unref(p);
    EXPECT_EQ(vram.used, 0);
}

// Whatever a header claims, the payload is inside the file.
static void random_headers(void)
{
    uint64_t seed = 11;
    struct {
        struct dm_mesa_header mesa;
        struct dm_own_header own;
    } h;
    for (int i = 0; i < 5000; i++) {
        uint64_t file = draw(&seed) % 3 ? FILE_SIZE : draw(&seed) % 200;
        static const uint64_t odd[] = {
            0, 1, 16, 32, 80, 96, 4096, FILE_SIZE - 1, FILE_SIZE, UINT64_MAX, UINT64_MAX - 4095};
        h.mesa.size = odd[draw(&seed) % 11];
        h.mesa.offset = odd[draw(&seed) % 11];
        memcpy(h.mesa.uuid, dm_llvmpipe_uuid, 16);
        h.mesa.uuid[3] ^= draw(&seed) % 2;
        memcpy(h.own.magic, draw(&seed) % 2 ? "CARDLESS" : "cardless", 8);
        h.own.version = DM_OWN_VERSION;
        h.own.payload = odd[draw(&seed) % 11];
        h.own.size = odd[draw(&seed) % 11];
        h.own.identity = draw(&seed);
        h.own.check = dm_own_check(&h.mesa, &h.own);
        int fd = memfd(file, NULL);
        EXPECT_EQ(pwrite(fd, &h, sizeof h < file ? sizeof h : file, 0),
                  sizeof h < file ? sizeof h : file);
        struct dm_import_info info;
        EXPECT_EQ(dm_import_recognise(fd, &info), 0);
        EXPECT(info.error || (info.payload <= file && info.size <= file - info.payload));
        close(fd);
    }
}

static void identity(void)
{
    struct dm_fd_identity id;
    EXPECT_EQ(dm_fd_remember(-1, &id), -EBADF);
    int fd = memfd(4096, NULL), copy;
    EXPECT_EQ(dm_fd_remember(fd, &id), 0);
    EXPECT(dm_fd_still_ours(&id));
    copy = dup(fd);
    close(fd);
    EXPECT(!dm_fd_still_ours(&id)); // closed
    EXPECT_EQ(open("/dev/null", O_RDONLY), fd);
    EXPECT(!dm_fd_still_ours(&id)); // reused
    EXPECT_EQ(dup2(copy, fd), fd);
    EXPECT(dm_fd_still_ours(&id));
    close(fd);
    close(copy);
}

static uint64_t map_all(struct dm_space *space, struct dm_physical *p)
{
    uint64_t va;
    EXPECT_EQ(dm_space_map_bytes(space, p, 0, p->size, GRANULE, DM_MAP_READ | DM_MAP_WRITE, &va),
              0);
    return va;
}

// The second process: a fresh one that has only a socket.
static int importer(int socket)
{
    struct dm_space space;
    struct dm_import_info info;
    struct dm_physical *p;
    uint64_t identity_sent;
    dm_pkey_init();
    EXPECT_EQ(dm_vram_init(&vram, UINT64_C(1) << 33, GRANULE), 0);
    EXPECT_EQ(dm_space_init(&space, UINT64_C(1) << 40), 0);
    int fd = receive_fd(socket, &identity_sent, sizeof identity_sent);
    EXPECT(fd >= 0);
    EXPECT_EQ(dm_import_recognise(fd, &info), 0);
    EXPECT_EQ(info.kind, DM_FD_OWN);
    EXPECT_EQ(info.identity, identity_sent);
    EXPECT_EQ(dm_physical_import(&vram, fd, &info, &p), 0);
    close(fd);
    uint8_t *m = (uint8_t *)(uintptr_t)map_all(&space, p);
    uint32_t rights = dm_pkey_enter();
    EXPECT_EQ(m[0], 11);
    EXPECT_EQ(m[p->size - 1], 22);
    m[GRANULE / 2] = 33;
    dm_pkey_leave(rights);
    dm_physical_unref(p);
    dm_space_finish(&space);
    dm_vram_finish(&vram);
    EXPECT_EQ(write(socket, "k", 1), 1);
    return 0;
}

static void second_process(const char *self)
{
    struct dm_space space;
    struct dm_physical *p;
    int sockets[2], fd, status;
    char number[16], byte;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(number, sizeof number, "%d", sockets[1]);
        execl(self, self, number, (char *)NULL);
        _exit(127);
    }
    close(sockets[1]);
    EXPECT_EQ(dm_space_init(&space, UINT64_C(1) << 40), 0);
    EXPECT_EQ(dm_physical_create(&vram, GRANULE, DM_PHYSICAL_EXPORTABLE, &p), 0);
    uint8_t *m = (uint8_t *)(uintptr_t)map_all(&space, p);
    uint32_t rights = dm_pkey_enter();
    m[0] = 11;
    m[GRANULE - 1] = 22;
    EXPECT_EQ(dm_physical_export(p, &fd), 0);
    EXPECT(send_fd(sockets[0], fd, &p->identity, sizeof p->identity));
    close(fd);
    EXPECT_EQ(read(sockets[0], &byte, 1), 1);
    EXPECT_EQ(m[GRANULE / 2], 33);
    dm_pkey_leave(rights);
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    dm_physical_unref(p);
    dm_space_finish(&space);
    close(sockets[0]);
}

static void out_of_memory(void)
{
    struct dm_import_info info;
    struct dm_physical *p;
    int fd = memfd(4096, NULL);
    EXPECT_EQ(dm_import_recognise(fd, &info), 0);
    for (uint64_t n = 1;; n++) {
        dm_alloc_fail_after(n);
        int r = dm_physical_import(&vram, fd, &info, &p);
        if (!dm_alloc_failed())
            break;
        EXPECT(r == -ENOMEM || r == -EMFILE);
    }
    dm_physical_unref(p);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return importer(atoi(argv[1]));
    dm_pkey_init();
    EXPECT_EQ(dm_vram_init(&vram, UINT64_C(1) << 33, GRANULE), 0);
    not_memory();
    headers();
    own_export();
    random_headers();
    identity();
    second_process("/proc/self/exe");
    out_of_memory();
    dm_vram_finish(&vram);
    return 0;
}
