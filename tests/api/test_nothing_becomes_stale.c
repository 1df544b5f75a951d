// SPDX-License-Identifier: MIT
// Nothing becomes stale: files that are imported again and again, and change between the imports.
// They are truncated, grown, written, punched, sealed, replaced by a rename, and closed while
// another file gets their number. A model predicts the code of each call and all bytes: it knows
// the files only from fstat, pread and F_GET_SEALS.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "../mistakes/external.h"
#include "../send_fd.h"

enum {
    MOST_B = 512 << 10,
    PAGE_B = 4096,
    FIXED = 600, // a number that many files have in turn
    STEPS = 800,
    TMPFS = 0x01021994, // statfs.f_type
};

static uint64_t draws = 1;

static unsigned draw(unsigned below)
{
    draws = draws * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(draws >> 33) % below;
}

// ---- files ----

enum kind { PLAIN, SEALABLE, FINAL, LAVAPIPE, SHARED, DISK, KINDS };
static const char *const kind_names[] = {
    "a memfd",          "a memfd that may be sealed", "a memfd with final seals",
    "lavapipe's memfd", "a file on /dev/shm",         "a file on a disk"};

struct file {
    enum kind kind;
    int fd;
    char path[64]; // if it has a name
};

static uint64_t size_of(int fd)
{
    struct stat st;
    EXPECT_EQ(fstat(fd, &st), 0);
    return (uint64_t)st.st_size;
}

static void write_bytes(int fd, const void *bytes, size_t size, uint64_t at)
{
    if (pwrite(fd, bytes, size, (off_t)at) < 0)
        EXPECT_EQ(errno, EPERM); // it is sealed
}

static void write_word(int fd, uint64_t at, uint32_t value)
{
    write_bytes(fd, &value, sizeof value, at);
}

// Of a release build of llvmpipe.
static const uint64_t uuid[2] = {UINT64_C(0x7bad0b4a07eeb96c), UINT64_C(0x0f537e69e91b2e01)};

// The header of Mesa's software drivers, for the size that the file has now.
static void write_header(int fd)
{
    const uint64_t header[4] = {size_of(fd), PAGE_B, uuid[0], uuid[1]};
    write_bytes(fd, header, sizeof header, 0);
}

static int open_file(struct file *f)
{
    const char *name = f->kind == SHARED ? "/dev/shm" : "/var/tmp";
    const uint64_t least = f->kind == LAVAPIPE ? PAGE_B : 0, size = least + 1 + draw(MOST_B);
    int fd;
    if (f->kind >= SHARED) { // an open descriptor of the old file stays as it is
        char fresh[80];
        snprintf(f->path, sizeof f->path, "%s/cardless-stale-%ld-%d", name, (long)getpid(),
                 (int)f->kind);
        snprintf(fresh, sizeof fresh, "%s.new", f->path);
        fd = open(fresh, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        EXPECT_EQ(rename(fresh, f->path), 0);
    } else {
        fd = memfd_create("stale", MFD_CLOEXEC | (f->kind == PLAIN ? 0 : MFD_ALLOW_SEALING));
    }
    EXPECT(fd >= 0 && !ftruncate(fd, (off_t)size));
    if (f->kind == LAVAPIPE)
        write_header(fd);
    if (f->kind == FINAL)
        EXPECT_EQ(fcntl(fd, F_ADD_SEALS, (draw(2) ? F_SEAL_SHRINK : 0) | F_SEAL_SEAL), 0);
    write_word(fd, least + draw((unsigned)(size - least)), draw(UINT32_MAX));
    return fd;
}

// ---- changes ----

// Another file, in most cases with the same name or the same number.
static void replace(struct file *f)
{
    const int before = f->fd, fd = open_file(f);
    if (draw(2)) {
        EXPECT_EQ(dup2(fd, before), before);
        close(fd);
    } else {
        close(before);
        f->fd = fd;
    }
}

static void resize(struct file *f)
{
    const uint64_t now = size_of(f->fd);
    const off_t sizes[] = {0, (off_t)now / 2, draw(MOST_B), (off_t)now + PAGE_B, MOST_B, 20};
    const bool changes = !ftruncate(f->fd, sizes[draw(sizeof sizes / sizeof *sizes)]);
    if (!changes)
        EXPECT_EQ(errno, EPERM);
    if (draw(2)) // between two imports, it was another size
        changes ? ftruncate(f->fd, (off_t)now) : 0;
    if (f->kind == LAVAPIPE && draw(4) && size_of(f->fd) > PAGE_B)
        write_header(f->fd);
}

static void punch(struct file *f)
{
    const uint64_t size = size_of(f->fd), at = draw(4) ? draw(MOST_B) : 0;
    if (at < size && fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                               draw(2) ? (off_t)(size - at) : PAGE_B))
        EXPECT(errno == EPERM || errno == EOPNOTSUPP);
}

static void seal(struct file *f)
{
    static const int seals[] = {F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE, F_SEAL_FUTURE_WRITE,
                                F_SEAL_SEAL};
    if (fcntl(f->fd, F_GET_SEALS) < 0)
        return;
    const int wanted = seals[draw(sizeof seals / sizeof *seals)];
    // Every object on the file is destroyed, so nothing of the driver prevents it: except that the
    // memory of lavapipe, which nobody seals, may still be mapped.
    if (fcntl(f->fd, F_ADD_SEALS, wanted))
        EXPECT(errno == EPERM || (errno == EBUSY && f->kind == LAVAPIPE));
}

static void change(struct file *f)
{
    switch (draw(6)) {
    case 0:
        replace(f);
        break;
    case 1:
        resize(f);
        break;
    case 2:
        punch(f);
        break;
    case 3:
        if (!draw(3)) // seals stay until the file is replaced
            seal(f);
        break;
    default:
        if (size_of(f->fd) > PAGE_B)
            write_word(f->fd, PAGE_B + draw((unsigned)size_of(f->fd) - PAGE_B), draw(UINT32_MAX));
        break;
    }
}

// ---- the model ----

struct expected {
    bool is_memory;
    bool writable;
    uint64_t payload, size;
};

static struct expected predict(int fd)
{
    struct expected e = {.size = size_of(fd)};
    const int seals = fcntl(fd, F_GET_SEALS), mode = fcntl(fd, F_GETFL) & O_ACCMODE;
    struct stat st;
    uint64_t header[4] = {0};
    EXPECT_EQ(fstat(fd, &st), 0);
    if (seals < 0) // a file on a disk
        return e;
    e.is_memory = e.size > 0;
    e.writable = mode == O_RDWR && !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE));
    if (st.st_nlink || pread(fd, header, sizeof header, 0) != sizeof header ||
        memcmp(&header[2], uuid, sizeof uuid))
        return e; // it has a name, or no header
    e.payload = header[1];
    e.is_memory = header[0] == e.size && e.payload < e.size;
    e.size -= e.is_memory ? e.payload : 0;
    return e;
}

// ---- imports ----

static int through_socket(int fd)
{
    int ends[2];
    char byte = 0;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    EXPECT(send_fd(ends[0], fd, &byte, 1));
    const int received = receive_fd(ends[1], &byte, 1);
    close(ends[0]);
    close(ends[1]);
    return received;
}

static int for_reading(int fd)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, O_RDONLY | O_CLOEXEC);
}

// A descriptor that the driver may take.
static int given(const struct file *f)
{
    switch (draw(8)) {
    case 0:
        return through_socket(f->fd);
    case 1:
        return for_reading(f->fd);
    case 2:
        return fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
    default:
        return dup2(f->fd, FIXED);
    }
}

// Compares a part of the buffer with the file.
static void compare(CUdeviceptr buffer, int fd, uint64_t from, uint64_t size)
{
    static uint8_t through_driver[MOST_B], in_file[MOST_B];
    const uint64_t most = size < MOST_B ? size : MOST_B;
    EXPECT_OK(cuMemcpyDtoH(through_driver, buffer, most));
    EXPECT_EQ((long)pread(fd, in_file, most, (off_t)from), (long)most);
    EXPECT_EQ(memcmp(through_driver, in_file, most), 0);
}

static void use_buffer(CUdeviceptr buffer, int fd, const struct expected *e, uint64_t from,
                       uint64_t size)
{
    compare(buffer, fd, from, size);
    if (e->writable && draw(2)) {
        const uint32_t value = draw(UINT32_MAX);
        const uint64_t at = draw((unsigned)size);
        EXPECT_OK(cuMemcpyHtoD(buffer + at, &value, size - at < 4 ? size - at : 4));
        compare(buffer, fd, from, size);
    }
}

static void import_and_use(const struct file *f)
{
    const int fd = given(f);
    EXPECT(fd >= 0);
    const struct expected e = predict(fd);
    const uint64_t claimed = draw(3) ? e.size : 1 + draw(MOST_B), claims = claimed ? claimed : 1;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fd, claims);
    CUexternalMemory memory;
    const CUresult r = cuImportExternalMemory(&memory, &d);
    EXPECT_ERROR(r, e.is_memory ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE);
    if (r) {
        close(fd);
        return;
    }
    for (unsigned i = 0, maps = 1 + draw(2); i < maps; i++) {
        CUDA_EXTERNAL_MEMORY_BUFFER_DESC b = {.offset = draw(2) ? 0 : draw(MOST_B) & ~15u};
        b.size = draw(3) && b.offset < claims ? claims - b.offset : 1 + draw(MOST_B);
        const bool fits = b.offset + b.size <= claims && b.offset + b.size <= e.size;
        CUdeviceptr buffer;
        const CUresult mapped = cuExternalMemoryGetMappedBuffer(&buffer, memory, &b);
        EXPECT_ERROR(mapped, fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        if (mapped)
            continue;
        use_buffer(buffer, f->fd, &e, e.payload + b.offset, b.size);
        EXPECT_OK(cuMemFree(buffer));
    }
    EXPECT_OK(cuDestroyExternalMemory(memory));
    errno = 0;
    EXPECT(fcntl(fd, F_GETFD) < 0 && errno == EBADF); // the driver owned it
}

// Several files in turns, each of which is imported often enough to be kept by the driver.
static void change_and_import(const char *policy)
{
    struct file files[KINDS];
    struct statfs fs;
    if (statfs("/dev/shm", &fs) || fs.f_type != TMPFS)
        SKIP("/dev/shm is not a tmpfs");
    if (statfs("/var/tmp", &fs) || fs.f_type == TMPFS)
        SKIP("/var/tmp is not on a disk");
    test_setting("CARDLESS_POLICY", policy);
    test_context();
    for (unsigned k = 0; k < KINDS; k++) {
        files[k].kind = (enum kind)k;
        files[k].fd = open_file(&files[k]);
    }
    for (unsigned step = 0; step < STEPS; step++) {
        struct file *f = &files[draw(KINDS)];
        const int before = test_failures;
        change(f);
        for (unsigned i = 0, times = 1 + draw(5); i < times; i++)
            import_and_use(f);
        if (test_failures != before)
            printf("# in step %u, with %s\n", step, kind_names[f->kind]);
    }
    for (unsigned k = 0; k < KINDS; k++)
        if (k >= SHARED)
            unlink(files[k].path);
}

TEST(eager)
{
    change_and_import("eager");
}

TEST(lazy)
{
    draws = 2;
    change_and_import("lazy");
}

// The number that was imported is closed by mistake, and another file gets it while the object
// lives.
TEST(number_of_a_living_import)
{
    test_context();
    const int first = plain_memfd(PAGE_B), second = plain_memfd(2 * PAGE_B);
    write_word(first, 0, 1);
    write_word(second, 0, 2);
    for (unsigned i = 0; i < 6; i++) {
        CUexternalMemory a = import(dup2(first, FIXED), PAGE_B, 0);
        close(FIXED);
        CUexternalMemory b = import(dup2(second, FIXED), 2 * PAGE_B, 0);
        CUdeviceptr p = map_buffer(a, 0, PAGE_B), q = map_buffer(b, 0, 2 * PAGE_B);
        compare(p, first, 0, PAGE_B);
        compare(q, second, 0, 2 * PAGE_B);
        EXPECT_OK(cuMemFree(p));
        EXPECT_OK(cuDestroyExternalMemory(a));
        EXPECT_EQ((long)size_of(FIXED), 2L * PAGE_B); // the driver did not close the new file
        compare(q, second, 0, 2 * PAGE_B);
        EXPECT_OK(cuMemFree(q));
        EXPECT_OK(cuDestroyExternalMemory(b));
    }
}

TESTS(CASE(eager), CASE(lazy), CASE(number_of_a_living_import))
