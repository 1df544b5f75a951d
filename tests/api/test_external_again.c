// SPDX-License-Identifier: MIT
// Files that are imported again and again: the driver keeps them between imports, notices every
// change of them, and keeps neither memory nor descriptors for long.
#include <dirent.h>
#include <sys/stat.h>

#include "../mistakes/external.h"
#include "read_byte.h"

enum {
    TIMES = 6, // more imports than it takes until a file is kept
    FILE_B = 1 << 20,
    KEPT_MOST = 32, // files
    KEPT_MOST_B = 64 << 20,
};

static CUexternalMemory import_file(int file, unsigned long long size)
{
    CUexternalMemory memory = NULL;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(fcntl(file, F_DUPFD_CLOEXEC, 0), size);
    MUST(cuImportExternalMemory(&memory, &d));
    return memory;
}

static CUdeviceptr map_range(CUexternalMemory memory, unsigned long long offset,
                             unsigned long long size)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {.offset = offset, .size = size};
    CUdeviceptr address = 0;
    MUST(cuExternalMemoryGetMappedBuffer(&address, memory, &d));
    return address;
}

// The word at `offset` of the payload, through a new import.
static unsigned read_again(int file, unsigned long long size, unsigned long long offset)
{
    unsigned value = ~0u;
    CUexternalMemory memory = import_file(file, size);
    CUdeviceptr address = map_range(memory, 0, size);
    MUST(cuMemcpyDtoH(&value, address + offset, sizeof value));
    MUST(cuMemFree(address));
    MUST(cuDestroyExternalMemory(memory));
    return value;
}

static CUresult write_again(int file, unsigned long long size, unsigned long long offset,
                            unsigned value)
{
    CUexternalMemory memory = import_file(file, size);
    CUdeviceptr address = map_range(memory, 0, size);
    CUresult r = cuMemcpyHtoD(address + offset, &value, sizeof value);
    if (!r) {
        MUST(cuMemFree(address));
        MUST(cuDestroyExternalMemory(memory));
    }
    return r;
}

static void import_often(int file, unsigned long long size)
{
    for (int i = 0; i < TIMES; i++)
        read_again(file, size, 0);
}

static void file_write(int file, off_t offset, unsigned value)
{
    EXPECT_EQ((long)pwrite(file, &value, sizeof value, offset), (long)sizeof value);
}

TEST(bytes_are_shared)
{
    test_context();
    int files[] = {plain_memfd(FILE_B), mesa_memfd(FILE_B), own_fd(2 << 20)};
    unsigned value;
    for (unsigned i = 0; i < 3; i++) {
        off_t payload = i ? 4096 : 0;
        for (unsigned n = 1; n <= TIMES; n++) {
            file_write(files[i], payload + 4 * n, 100 * i + n);
            EXPECT_EQ(read_again(files[i], FILE_B, 4 * n), 100 * i + n);
            EXPECT_OK(write_again(files[i], FILE_B, 8192, n));
            EXPECT_EQ((long)pread(files[i], &value, 4, payload + 8192), 4L);
            EXPECT_EQ(value, n);
        }
    }
}

TEST(ranges)
{
    test_context();
    int file = plain_memfd(FILE_B);
    file_write(file, 70000, 1);
    file_write(file, 300000, 2);
    for (unsigned n = 0; n < TIMES; n++) {
        unsigned value;
        CUexternalMemory memory = import_file(file, FILE_B);
        CUdeviceptr a = map_range(memory, 69632, 4096),
                    b = map_range(memory, 262144, FILE_B - 262144);
        EXPECT_OK(cuMemcpyDtoH(&value, a + (70000 - 69632), 4));
        EXPECT_EQ(value, 1);
        EXPECT_OK(cuMemcpyDtoH(&value, b + (300000 - 262144), 4));
        EXPECT_EQ(value, 2);
        EXPECT_OK(cuMemFree(n % 2 ? a : b));
        EXPECT_OK(cuMemcpyDtoH(&value, n % 2 ? b : a, 4));
        EXPECT_OK(cuMemFree(n % 2 ? b : a));
        EXPECT_OK(cuDestroyExternalMemory(memory));
    }
}

TEST(arrays)
{
    test_context();
    int file = plain_memfd(FILE_B);
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = {
        .arrayDesc = {.Width = 64,
                      .Height = 8,
                      .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                      .NumChannels = 1},
        .numLevels = 1};
    for (unsigned n = 0; n < TIMES; n++) {
        CUmipmappedArray mip;
        CUarray level;
        unsigned value;
        file_write(file, 0, n);
        CUexternalMemory memory = import_file(file, FILE_B);
        CUdeviceptr buffer = n % 2 ? map_range(memory, 0, FILE_B) : 0;
        MUST(cuExternalMemoryGetMappedMipmappedArray(&mip, memory, &d));
        MUST(cuMipmappedArrayGetLevel(&level, mip, 0));
        EXPECT_OK(cuMemcpyAtoH(&value, level, 0, sizeof value));
        EXPECT_EQ(value, n);
        if (buffer)
            EXPECT_OK(cuMemFree(buffer));
        EXPECT_OK(cuMemcpyAtoH(&value, level, 0, sizeof value));
        EXPECT_EQ(value, n);
        EXPECT_OK(cuMipmappedArrayDestroy(mip));
        EXPECT_OK(cuDestroyExternalMemory(memory));
    }
}

TEST(two_at_a_time)
{
    test_context();
    int file = plain_memfd(FILE_B);
    for (unsigned n = 0; n < TIMES; n++) {
        unsigned value = 7 + n;
        CUexternalMemory a = import_file(file, FILE_B), b = import_file(file, FILE_B);
        CUdeviceptr p = map_range(a, 0, FILE_B), q = map_range(b, 0, FILE_B);
        EXPECT(p != q);
        EXPECT_OK(cuMemcpyHtoD(p + 64, &value, 4));
        EXPECT_OK(cuMemFree(p));
        EXPECT_OK(cuDestroyExternalMemory(a));
        value = 0;
        EXPECT_OK(cuMemcpyDtoH(&value, q + 64, 4));
        EXPECT_EQ(value, 7 + n);
        EXPECT_OK(cuMemFree(q));
        EXPECT_OK(cuDestroyExternalMemory(b));
    }
}

TEST(truncated_between)
{
    test_context();
    int file = plain_memfd(FILE_B);
    file_write(file, FILE_B - 4, 5);
    import_often(file, FILE_B);
    EXPECT_EQ(ftruncate(file, FILE_B / 2), 0);
    CUexternalMemory memory = import_file(file, FILE_B);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {.size = FILE_B};
    CUdeviceptr address;
    EXPECT_ERROR(cuExternalMemoryGetMappedBuffer(&address, memory, &d), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuDestroyExternalMemory(memory));
    import_often(file, FILE_B / 2);
    EXPECT_EQ(ftruncate(file, FILE_B), 0);
    for (int i = 0; i < TIMES; i++)
        EXPECT_EQ(read_again(file, FILE_B, FILE_B - 4), 0);
    file_write(file, FILE_B - 4, 6);
    EXPECT_EQ(read_again(file, FILE_B, FILE_B - 4), 6);
}

// It shrinks and grows again between two imports: its size says nothing, but its pages are others.
TEST(emptied_between)
{
    test_context();
    int file = plain_memfd(FILE_B);
    file_write(file, 4096, 5);
    import_often(file, FILE_B);
    EXPECT_EQ(ftruncate(file, 0), 0);
    EXPECT_EQ(ftruncate(file, FILE_B), 0);
    EXPECT_EQ(read_again(file, FILE_B, 4096), 0);
    file_write(file, 4096, 6);
    EXPECT_EQ(read_again(file, FILE_B, 4096), 6);
}

TEST(header_changed)
{
    test_context();
    int file = mesa_memfd(FILE_B);
    const uint64_t moved = 8192, past = UINT64_C(1) << 40;
    file_write(file, 4096, 1);
    file_write(file, 8192, 2);
    import_often(file, FILE_B);
    EXPECT_EQ(read_again(file, FILE_B, 0), 1);
    EXPECT_EQ((long)pwrite(file, &moved, 8, 8), 8L); // the payload's offset
    EXPECT_EQ(read_again(file, FILE_B - 4096, 0), 2);
    import_often(file, FILE_B - 4096);
    EXPECT_EQ((long)pwrite(file, &past, 8, 8), 8L);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = opaque(file, FILE_B);
    CUexternalMemory memory;
    EXPECT_ERROR(cuImportExternalMemory(&memory, &d), CUDA_ERROR_INVALID_HANDLE);
}

TEST(sealed_between)
{
    test_context();
    int file = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(file, FILE_B), 0);
    import_often(file, FILE_B);
    EXPECT_OK(write_again(file, FILE_B, 0, 1));
    EXPECT_EQ(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE), 0); // fails while it is mapped for writing
    EXPECT_EQ(read_again(file, FILE_B, 0), 1);
    EXPECT(write_again(file, FILE_B, 0, 2) != CUDA_SUCCESS);
}

TEST(read_only_descriptor)
{
    char path[32];
    test_context();
    int file = plain_memfd(FILE_B);
    import_often(file, FILE_B);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int reader = open(path, O_RDONLY | O_CLOEXEC);
    EXPECT(reader >= 0);
    file_write(file, 0, 3);
    EXPECT_EQ(read_again(reader, FILE_B, 0), 3);
    import_often(reader, FILE_B);
    EXPECT_OK(write_again(file, FILE_B, 0, 4));
    EXPECT(write_again(reader, FILE_B, 0, 5) != CUDA_SUCCESS);
}

// New files take the numbers of closed ones.
TEST(other_files)
{
    test_context();
    for (unsigned n = 0; n < 200; n++) {
        int file = plain_memfd(FILE_B);
        file_write(file, 0, n);
        for (int i = 0; i < 4; i++)
            EXPECT_EQ(read_again(file, FILE_B, 0), n);
        close(file);
    }
}

// Closes the other descriptors of a file, as closefrom does.
static void close_others(int file)
{
    struct stat st, other;
    EXPECT_EQ(fstat(file, &st), 0);
    for (int fd = 0; fd < 2048; fd++)
        if (fd != file && !fstat(fd, &other) && other.st_dev == st.st_dev &&
            other.st_ino == st.st_ino)
            EXPECT_EQ(close(fd), 0);
}

// The descriptor of the next import stands in for the one that the driver had kept, also for
// mappings that are made later, and after the object was destroyed.
TEST(descriptors_closed_between)
{
    test_context();
    int files[] = {mesa_memfd(FILE_B), own_fd(2 << 20)};
    for (unsigned i = 0; i < 2; i++) {
        import_often(files[i], FILE_B);
        for (unsigned n = 1; n <= 3; n++) {
            unsigned value = 0;
            close_others(files[i]);
            EXPECT_OK(write_again(files[i], FILE_B, 64, n));
            close_others(files[i]);
            CUexternalMemory memory = import_file(files[i], FILE_B);
            CUdeviceptr p = map_range(memory, 0, FILE_B), q = map_range(memory, 0, FILE_B);
            EXPECT(p != q);
            EXPECT_OK(cuDestroyExternalMemory(memory));
            EXPECT_OK(cuMemFree(p));
            EXPECT_OK(cuMemcpyDtoH(&value, q + 64, sizeof value));
            EXPECT_EQ(value, n);
            EXPECT_OK(cuMemFree(q));
        }
    }
}

// The program gets the numbers of the driver's descriptors for descriptors of the same file. The
// driver must not close them when it drops the file.
TEST(descriptors_reused)
{
    enum { MINE = 40 };
    int mine[2][MINE];
    CUcontext context;
    EXPECT_OK(cuInit(0));
    for (unsigned between = 0; between < 2; between++) {
        EXPECT_OK(cuCtxCreate(&context, NULL, 0, 0));
        int files[] = {mesa_memfd(FILE_B), own_fd(2 << 20)};
        for (unsigned i = 0; i < 2; i++) {
            import_often(files[i], FILE_B);
            close_others(files[i]);
            if (between)
                EXPECT_OK(cuDestroyExternalMemory(import_file(files[i], FILE_B)));
            for (unsigned n = 0; n < MINE; n++)
                mine[i][n] = fcntl(files[i], F_DUPFD_CLOEXEC, 3);
        }
        EXPECT_OK(cuCtxDestroy(context));
        for (unsigned n = 0; n < 2 * MINE; n++)
            EXPECT_EQ(close(mine[n / MINE][n % MINE]), 0);
    }
}

// ---- kept files ----

struct left {
    unsigned descriptors, mappings;
    uint64_t bytes; // of address space
};

// The descriptors and mappings of memfds with this name.
static struct left left_of(const char *name)
{
    struct left left = {0};
    char line[512], path[300], link[300];
    snprintf(line, sizeof line, "/memfd:%s", name);
    const size_t length = strlen(line);
    DIR *descriptors = opendir("/proc/self/fd");
    for (struct dirent *d; descriptors && (d = readdir(descriptors));) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", d->d_name);
        ssize_t n = readlink(path, link, sizeof link);
        left.descriptors += n >= (ssize_t)length && !memcmp(link, line, length);
    }
    closedir(descriptors);
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        uint64_t first, end;
        snprintf(path, sizeof path, "/memfd:%s", name);
        if (!strstr(line, path) || sscanf(line, "%lx-%lx", &first, &end) != 2)
            continue;
        left.mappings++;
        left.bytes += end - first;
    }
    fclose(maps);
    return left;
}

static int named_memfd(const char *name, off_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(fd, size), 0);
    return fd;
}

TEST(one_import_keeps_nothing)
{
    test_context();
    int file = named_memfd("once", FILE_B);
    read_again(file, FILE_B, 0);
    close(file);
    struct left left = left_of("once");
    EXPECT_EQ(left.descriptors, 0);
    EXPECT_EQ(left.mappings, 0);
}

TEST(few_files_are_kept)
{
    test_context();
    for (int n = 0; n < 3 * KEPT_MOST; n++) {
        int file = named_memfd("many", FILE_B);
        import_often(file, FILE_B);
        close(file);
    }
    struct left left = left_of("many");
    EXPECT(left.descriptors <= KEPT_MOST);
    EXPECT(left.mappings <= 3 * KEPT_MOST);
}

TEST(few_bytes_are_kept)
{
    test_context();
    const off_t size = 24 << 20;
    for (int n = 0; n < 8; n++) {
        int file = named_memfd("large", size);
        import_often(file, (uint64_t)size);
        close(file);
    }
    struct left left = left_of("large");
    EXPECT(left.bytes <= KEPT_MOST_B + 8 * 4096); // with a mapping of each header
    int file = named_memfd("larger", KEPT_MOST_B + 4096);
    import_often(file, KEPT_MOST_B + 4096);
    close(file);
    EXPECT_EQ(left_of("larger").descriptors, 0);
}

// A file counts with all its bytes, also those in front of a small payload.
TEST(bytes_before_the_payload_count)
{
    test_context();
    const off_t size = 48 << 20;
    uint64_t header[4];
    int mesa = mesa_memfd(FILE_B);
    EXPECT_EQ((long)pread(mesa, header, sizeof header, 0), (long)sizeof header);
    header[0] = (uint64_t)size;
    header[1] = (uint64_t)size - FILE_B;
    unsigned mappings_of_one = 0;
    for (int n = 0; n < 3; n++) {
        int file = named_memfd("payload", size);
        EXPECT_EQ((long)pwrite(file, header, sizeof header, 0), (long)sizeof header);
        import_often(file, FILE_B);
        close(file);
        mappings_of_one = n ? mappings_of_one : left_of("payload").mappings;
    }
    EXPECT(mappings_of_one);
    EXPECT_EQ(left_of("payload").mappings, mappings_of_one);
}

TEST(closed_with_the_last_context)
{
    CUcontext first, last;
    EXPECT_OK(cuInit(0));
    EXPECT_OK(cuCtxCreate(&first, NULL, 0, 0));
    EXPECT_OK(cuCtxCreate(&last, NULL, 0, 0));
    int file = named_memfd("context", FILE_B);
    import_often(file, FILE_B);
    close(file);
    EXPECT_OK(cuCtxDestroy(first));
    EXPECT_EQ(left_of("context").descriptors, 1);
    EXPECT_OK(cuCtxDestroy(last));
    EXPECT_EQ(left_of("context").descriptors, 0);
    EXPECT_EQ(left_of("context").mappings, 0);
}

// A kept file is closed a second after its last import, as soon as the program imports another one
// or waits for its work.
static void expect_closed(const char *name, void (*next)(void))
{
    int file = named_memfd(name, FILE_B);
    import_often(file, FILE_B);
    close(file);
    usleep(1200 * 1000);
    next();
    struct left left = left_of(name);
    EXPECT_EQ(left.descriptors, 0);
    EXPECT_EQ(left.mappings, 0);
}

static void import_another(void)
{
    int file = plain_memfd(FILE_B);
    read_again(file, FILE_B, 0);
    close(file);
}

static void synchronise(void)
{
    EXPECT_OK(cuCtxSynchronize());
}

TEST(closed_soon)
{
    test_context();
    expect_closed("first", import_another);
    expect_closed("second", synchronise);
}

// A kernel cannot reach a buffer that was freed, however often the file was imported.
TEST(freed_pages_are_gone)
{
    test_context();
    int file = plain_memfd(FILE_B);
    CUfunction function = load_reader();
    CUexternalMemory memory = NULL;
    CUdeviceptr address = 0;
    for (int i = 0; i < 2 * TIMES; i++) {
        unsigned value = 0;
        memory = import_file(file, FILE_B);
        unsigned long long offset = i % 2 ? 0 : 65536;
        address = map_range(memory, offset, FILE_B - offset);
        file_write(file, (off_t)offset, (unsigned)i);
        EXPECT_OK(read_in_kernel(function, address));
        EXPECT_OK(cuMemcpyDtoH(&value, address, sizeof value));
        EXPECT_EQ(value, (unsigned)i);
        EXPECT_OK(cuMemFree(address));
        EXPECT_OK(cuDestroyExternalMemory(memory));
    }
    EXPECT_ERROR(read_in_kernel(function, address), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Nor while a buffer on another range of the file is in use, in front of it or after it.
static void freed_beside_a_buffer(unsigned long long freed, unsigned long long used)
{
    enum { SIZE_B = 65536 };
    test_context();
    int file = plain_memfd(FILE_B);
    CUfunction function = load_reader();
    import_often(file, FILE_B);
    CUexternalMemory memory = import_file(file, FILE_B);
    CUdeviceptr before = 0, now = 0;
    for (int i = 0; i < TIMES; i++) {
        before = map_range(memory, freed, SIZE_B);
        EXPECT_OK(cuMemFree(before));
        now = map_range(memory, used, SIZE_B);
        if (i % 2)
            EXPECT_OK(read_in_kernel(function, now));
        if (i + 1 < TIMES)
            EXPECT_OK(cuMemFree(now));
    }
    EXPECT_OK(read_in_kernel(function, now + SIZE_B - 1));
    EXPECT_ERROR(read_in_kernel(function, before), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(freed_before_a_buffer)
{
    freed_beside_a_buffer(65536, 4 * 65536);
}

TEST(freed_after_a_buffer)
{
    freed_beside_a_buffer(4 * 65536, 65536);
}

TESTS(CASE(bytes_are_shared), CASE(ranges), CASE(arrays), CASE(two_at_a_time),
      CASE(truncated_between), CASE(emptied_between), CASE(header_changed), CASE(sealed_between),
      CASE(read_only_descriptor), CASE(other_files), CASE(descriptors_closed_between),
      CASE(descriptors_reused), CASE(one_import_keeps_nothing), CASE(few_files_are_kept),
      CASE(few_bytes_are_kept), CASE(closed_soon), CASE(bytes_before_the_payload_count),
      CASE(closed_with_the_last_context), CASE(freed_pages_are_gone), CASE(freed_before_a_buffer),
      CASE(freed_after_a_buffer))
