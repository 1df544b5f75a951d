// SPDX-License-Identifier: MIT
// Fat binaries: which part is loaded, compressed parts, the structs of programs, and damage.
#include "images.h"
#include "kernel_text.h"
#include <dlfcn.h>

enum { TEXT_B = 4096 };

// The text of a kernel that writes a number.
static const char *text_of(unsigned number)
{
    static char text[TEXT_B];
    snprintf(text, sizeof text,
             ".version 7.0\n.target sm_52\n.address_size 64\n// %0400u\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%x;\nld.param.u64 %%x, [p];\n"
             "st.global.u32 [%%x], %u;\nret;\n}\n",
             number, number);
    return text;
}

static size_t add_text(struct container *c, unsigned architecture, unsigned number)
{
    const char *text = text_of(number);
    return image_add(c, IMAGE_PTX, architecture, text, strlen(text), 0, 0);
}

// What the kernel of an image writes.
static unsigned number_of(CUmodule m)
{
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, 4));
    EXPECT_OK(ptx_run(ptx_kernel(m, "k"), 1, 1, (void *[]){&p}));
    const unsigned number = ptx_word(p);
    EXPECT_OK(cuMemFree(p));
    return number;
}

static unsigned load(const void *image)
{
    CUmodule m = NULL;
    EXPECT_OK(cuModuleLoadData(&m, image));
    if (!m)
        return 0;
    const unsigned number = number_of(m);
    EXPECT_OK(cuModuleUnload(m));
    return number;
}

static unsigned device_architecture(void)
{
    int major = 0, minor = 0;
    EXPECT_OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    EXPECT_OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    return (unsigned)(major * 10 + minor);
}

static struct container c, other;

// The highest PTX not above the device; if there is none, the lowest.
TEST(choice)
{
    ptx_start();
    const unsigned here = device_architecture();
    image_begin(&c);
    add_text(&c, 50, 1);
    add_text(&c, here, 2);
    add_text(&c, here + 1, 3);
    add_text(&c, 52, 4);
    image_add(&c, IMAGE_CUBIN, here, "machine code", 12, 0, 0);
    EXPECT_EQ(load(c.bytes), 2);
    image_begin(&c);
    add_text(&c, here + 20, 5);
    add_text(&c, here + 10, 6);
    EXPECT_EQ(load(c.bytes), 6);
    EXPECT_NO_DIAGNOSTIC();
}

// The driver refuses PTX for a newer architecture.
TEST(above_device)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    ptx_start();
    CUmodule m;
    image_begin(&c);
    add_text(&c, device_architecture() + 10, 6);
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST(entry_points)
{
    ptx_start();
    CUmodule m;
    CUlibrary l;
    CUkernel k;
    CUfunction f;
    CUdeviceptr p;
    image_begin(&c);
    add_text(&c, 52, 7);
    EXPECT_OK(cuModuleLoadFatBinary(&m, c.bytes));
    EXPECT_EQ(number_of(m), 7);
    memmove(other.bytes + 3, c.bytes, c.size_B); // any alignment
    EXPECT_EQ(load(other.bytes + 3), 7);
    EXPECT_OK(cuLibraryLoadData(&l, c.bytes, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT_OK(cuLibraryGetKernel(&k, l, "k"));
    EXPECT_OK(cuKernelGetFunction(&f, k));
    MUST(cuMemAlloc(&p, 4));
    EXPECT_OK(ptx_run(f, 1, 1, (void *[]){&p}));
    EXPECT_EQ(ptx_word(p), 7);
    EXPECT_OK(cuLibraryUnload(l));
}

static CUresult load_file(size_t size_B, CUmodule *out)
{
    char path[64];
    const int fd = memfd_create("fat binary", 0);
    EXPECT_EQ(write(fd, c.bytes, size_B), size_B);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const CUresult r = cuModuleLoad(out, path);
    close(fd);
    return r;
}

// A file ends where it ends, whatever its heads say.
TEST(files)
{
    ptx_start();
    CUmodule m;
    image_begin(&c);
    add_text(&c, 52, 8);
    EXPECT_OK(load_file(c.size_B, &m));
    EXPECT_EQ(number_of(m), 8);
    for (size_t size_B = 4; size_B < c.size_B; size_B += 37)
        EXPECT_ONE_SENTENCE(load_file(size_B, &m), CUDA_ERROR_INVALID_IMAGE);
}

// ---- compressed parts ----

// LZ4: literals, and a match of the 300 zeros in the text's comment.
static size_t lz4_of(const char *text, unsigned char *out)
{
    const size_t length = strlen(text);
    const char *zeros = strstr(text, "0000");
    const size_t before = (size_t)(zeros - text) + 1, match = 300, after = length - before - match;
    size_t used = 0;
    const size_t parts[2][2] = {{0, before}, {before + match, after}};
    for (int i = 0; i < 2; i++) {
        size_t literals = parts[i][1] - 15, more = match - 4 - 15;
        out[used++] = i ? 0xf0 : 0xff;
        for (; literals >= 255; literals -= 255)
            out[used++] = 255;
        out[used++] = (unsigned char)literals;
        memcpy(out + used, text + parts[i][0], parts[i][1]);
        used += parts[i][1];
        if (i)
            break;
        out[used++] = 1; // the offset
        out[used++] = 0;
        for (; more >= 255; more -= 255)
            out[used++] = 255;
        out[used++] = (unsigned char)more;
    }
    return used;
}

TEST(lz4)
{
    if (!dlopen("liblz4.so.1", RTLD_NOW))
        SKIP("there is no liblz4.so.1");
    ptx_start();
    const char *text = text_of(9);
    unsigned char packed[TEXT_B];
    const size_t size_B = lz4_of(text, packed), plain_B = strlen(text);
    image_begin(&c);
    const size_t at = image_add(&c, IMAGE_PTX, 52, packed, size_B, IMAGE_LZ4, plain_B);
    EXPECT(size_B + 250 < plain_B);
    EXPECT_EQ(load(c.bytes), 9);
    // Less space than the text needs, and every way to cut the block.
    CUmodule m;
    image_put(&c, at + 56, plain_B - 1, 8);
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_INVALID_IMAGE);
    image_put(&c, at + 56, plain_B, 8);
    for (size_t cut = 0; cut < size_B; cut++) {
        image_put(&c, at + 16, cut ? cut : 1, 4);
        EXPECT(cuModuleLoadData(&m, c.bytes) != CUDA_SUCCESS);
    }
    // An offset before the beginning.
    image_put(&c, at + 16, size_B, 4);
    unsigned char *offset = memmem(c.bytes + at + IMAGE_ENTRY_B, size_B, "\1\0", 2);
    EXPECT(offset != NULL);
    offset[1] = 0x40;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_INVALID_IMAGE);
}

// liblz4 counts with an int, which is another mistake than damage. Nothing reads the rest.
TEST(lz4_of_two_gigabytes)
{
    const size_t too_many_B = (size_t)1 << 31, mapped_B = too_many_B + IMAGE_MOST_B;
    if (!dlopen("liblz4.so.1", RTLD_NOW))
        SKIP("there is no liblz4.so.1");
    ptx_start();
    unsigned char packed[TEXT_B];
    const char *text = text_of(9);
    const size_t size_B = lz4_of(text, packed);
    void *memory = mmap(NULL, mapped_B, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        SKIP("2 GiB cannot be reserved");
    image_begin(&c);
    const size_t at = image_add(&c, IMAGE_PTX, 52, packed, size_B, IMAGE_LZ4, strlen(text));
    image_put(&c, at + 16, too_many_B, 4);
    memcpy(memory, c.bytes, c.size_B);
    CUmodule m;
    EXPECT_MESSAGE(cuModuleLoadData(&m, memory), CUDA_ERROR_INVALID_IMAGE, "has 2147483648 bytes");
    munmap(memory, mapped_B);
}

TEST(zstd)
{
    void *library = dlopen("libzstd.so.1", RTLD_NOW);
    if (!library)
        SKIP("there is no libzstd.so.1");
    size_t (*compress)(void *, size_t, const void *, size_t, int);
    *(void **)&compress = dlsym(library, "ZSTD_compress");
    ptx_start();
    CUmodule m;
    const char *text = text_of(10);
    unsigned char packed[TEXT_B];
    const size_t plain_B = strlen(text);
    const size_t size_B = compress(packed, sizeof packed, text, plain_B, 3);
    image_begin(&c);
    const size_t at = image_add(&c, IMAGE_PTX, 52, packed, size_B, IMAGE_ZSTD, plain_B);
    EXPECT_EQ(load(c.bytes), 10);
    image_put(&c, at + 56, plain_B - 1, 8);
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_INVALID_IMAGE);
    image_put(&c, at + 56, plain_B, 8);
    c.bytes[at + IMAGE_ENTRY_B + size_B / 2] ^= 0x55;
    EXPECT(cuModuleLoadData(&m, c.bytes) != CUDA_SUCCESS);
    // A bomb: the head announces more than any text has.
    image_put(&c, at + 56, UINT64_C(1) << 50, 8);
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_INVALID_IMAGE);
}

// The driver's dlopen too: does not find a library whose name begins so.
static const char *hidden_library;

__attribute__((visibility("default"))) void *dlopen(const char *name, int flags)
{
    static void *(*next)(const char *name, int flags);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    const bool hidden =
        name && hidden_library && !strncmp(name, hidden_library, strlen(hidden_library));
    return hidden ? NULL : next(name, flags);
}

static void without_library(const char *library, unsigned flag, const char *advice)
{
    hidden_library = library;
    ptx_start();
    CUmodule m;
    image_begin(&c);
    image_add(&c, IMAGE_PTX, 52, "compressed", 10, flag, 100);
    EXPECT_MESSAGE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_NOT_SUPPORTED, advice);
}

TEST(without_lz4)
{
    without_library("liblz4", IMAGE_LZ4, "install it (Debian, Ubuntu: liblz4-1)");
}

TEST(without_zstd)
{
    without_library("libzstd", IMAGE_ZSTD, "install it (Debian, Ubuntu: libzstd1)");
}

// ---- the structs of programs ----

struct wrapper {
    int magic, version;
    const void *data, *more;
};

TEST(wrappers)
{
    ptx_start();
    static const char main_part[] =
        PTX_HEAD ".extern .func (.param .b32 r) f();\n.visible .entry k(.param .u64 p)\n{\n"
                 ".reg .b64 %x;\n.reg .b32 %r;\nld.param.u64 %x, [p];\n{\n.param .b32 r;\n"
                 "call (r), f, ();\nld.param.b32 %r, [r];\n}\nst.global.u32 [%x], %r;\nret;\n}\n";
    static const char f_part[] =
        PTX_HEAD ".visible .func (.param .b32 r) f()\n{\n.reg .b32 %q;\nmov.b32 %q, 11;\n"
                 "st.param.b32 [r], %q;\nret;\n}\n";
    struct wrapper w = {0x466243b1, 1, c.bytes, NULL};
    CUmodule m;
    CUfunction f;
    image_begin(&c);
    add_text(&c, 52, 12);
    EXPECT_EQ(load(&w), 12);
    // Version 2: parts to link, of which some have no PTX.
    static struct container machine;
    image_begin(&c);
    image_add(&c, IMAGE_PTX, 52, main_part, strlen(main_part), 0, 0);
    image_begin(&other);
    image_add(&other, IMAGE_PTX, 52, f_part, strlen(f_part), 0, 0);
    image_begin(&machine);
    image_add(&machine, IMAGE_CUBIN, 52, "machine code", 12, 0, 0);
    const void *parts[] = {c.bytes, machine.bytes, other.bytes, NULL};
    w = (struct wrapper){0x466243b1, 2, machine.bytes, parts};
    EXPECT_EQ(load(&w), 11);
    // Without the function, its kernel is refused when it is asked for.
    parts[2] = NULL;
    EXPECT_OK(cuModuleLoadData(&m, &w));
    EXPECT_ONE_SENTENCE(cuModuleGetFunction(&f, m, "k"), CUDA_ERROR_NOT_SUPPORTED);
    // Wrong structs.
    parts[0] = machine.bytes;
    parts[1] = NULL;
    EXPECT_ERROR(cuModuleLoadData(&m, &w), CUDA_ERROR_NO_BINARY_FOR_GPU);
    parts[0] = "no fat binary";
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &w), CUDA_ERROR_INVALID_IMAGE);
    parts[0] = (void *)4096;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &w), CUDA_ERROR_INVALID_IMAGE);
    w.more = (void *)4096;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &w), CUDA_ERROR_INVALID_IMAGE);
    w.version = 3;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &w), CUDA_ERROR_INVALID_IMAGE);
    w = (struct wrapper){0x466243b1, 1, (void *)4096, NULL};
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &w), CUDA_ERROR_INVALID_IMAGE);
}

TEST(wrapper_of_the_driver)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    ptx_start();
    CUmodule m;
    const struct wrapper w = {0x466243b1, 1, c.bytes, NULL};
    image_begin(&c);
    add_text(&c, 52, 12);
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, &w), CUDA_ERROR_INVALID_IMAGE);
}

// ---- damage ----

TEST(machine_code)
{
    ptx_start();
    CUmodule m;
    image_begin(&c);
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_NO_BINARY_FOR_GPU);
    image_add(&c, IMAGE_CUBIN, 75, "not even an ELF file", 20, 0, 0);
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_INVALID_IMAGE);
    image_begin(&c);
    image_add(&c, 8, 75, "code for the linker", 19, 0, 0);
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST(hostile_sizes)
{
    static const uint64_t sizes[] = {0,         1, 1 << 20, UINT64_C(1) << 40, UINT64_MAX - 100,
                                     UINT64_MAX};
    ptx_start();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int field = 0; field < 5; field++) {
            static const size_t at[] = {8, IMAGE_HEAD_B + 4, IMAGE_HEAD_B + 8, IMAGE_HEAD_B + 16,
                                        IMAGE_HEAD_B + 56};
            CUmodule m = NULL;
            image_begin(&c);
            add_text(&c, 52, 1);
            image_put(&c, IMAGE_HEAD_B + 40, field > 2 ? IMAGE_LZ4 : 0, 8);
            image_put(&c, at[field], sizes[i], field == 1 || field == 3 ? 4 : 8);
            if (!cuModuleLoadData(&m, c.bytes))
                EXPECT_OK(cuModuleUnload(m));
        }
    image_begin(&c); // an entry without a size would never end
    image_put(&c, 8, 1000, 8);
    CUmodule m;
    EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, c.bytes), CUDA_ERROR_INVALID_IMAGE);
}

// Changed bytes give a code, and no crash.
TEST(mutations)
{
    ptx_start();
    uint32_t seed = 12345;
    unsigned char packed[TEXT_B];
    const char *text = text_of(9);
    const size_t packed_B = lz4_of(text, packed);
    // A size that is too large is not noticed while the memory can be read, so there is more of it,
    // up to a page that nobody reads: after it may lie memory of a sanitizer.
    enum { MEMORY_B = 1 << 20, GUARD_B = 1 << 12 };
    unsigned char *memory =
        mmap(NULL, MEMORY_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(memory != MAP_FAILED);
    EXPECT(!mprotect(memory + MEMORY_B - GUARD_B, GUARD_B, PROT_NONE));
    for (int round = 0; round < 3000; round++) {
        image_begin(&c);
        image_add(&c, IMAGE_CUBIN, 52, "machine code", 12, 0, 0);
        image_add(&c, IMAGE_PTX, 52, packed, packed_B, IMAGE_LZ4, strlen(text));
        for (int i = 0; i < 3; i++) {
            seed = seed * 1664525 + 1013904223;
            // The head of the container only sometimes: a mistake there hides all others.
            const size_t from = round % 8 ? IMAGE_HEAD_B : 4;
            c.bytes[from + (seed >> 8) % (c.size_B - from)] ^= (unsigned char)(1 << (seed >> 29));
        }
        CUmodule m = NULL;
        memcpy(memory, c.bytes, c.size_B);
        if (!cuModuleLoadData(&m, memory))
            EXPECT_OK(cuModuleUnload(m));
    }
    munmap(memory, MEMORY_B);
}

// Images of which only the first bytes can be read, and texts without a final 0: one sentence, with
// the code of the call.
TEST(ends_of_memory)
{
    enum { PAGE_B = 4096 };
    ptx_start();
    unsigned char *memory =
        mmap(NULL, 2 * PAGE_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(memory != MAP_FAILED);
    EXPECT(!mprotect(memory + PAGE_B, PAGE_B, PROT_NONE));
    for (int text = 0; text < 2; text++) {
        image_begin(&c);
        add_text(&c, 52, 1);
        const char *image = text ? text_of(1) : (const char *)c.bytes;
        const size_t all_B = text ? strlen(image) : c.size_B;
        for (size_t size_B = 1; size_B <= all_B - !text; size_B += size_B < 20 ? 1 : 31) {
            CUmodule m;
            unsigned char *end = memory + PAGE_B;
            memcpy(end - size_B, image, size_B);
            EXPECT_ONE_SENTENCE(cuModuleLoadData(&m, end - size_B), CUDA_ERROR_INVALID_IMAGE);
        }
    }
    munmap(memory, 2 * PAGE_B);
}

TESTS(CASE(choice), CASE(above_device), CASE(entry_points), CASE(files), CASE(lz4),
      CASE(lz4_of_two_gigabytes), CASE(zstd), CASE(without_lz4), CASE(without_zstd), CASE(wrappers),
      CASE(wrapper_of_the_driver), CASE(machine_code), CASE(hostile_sizes), CASE(mutations),
      CASE(ends_of_memory))
