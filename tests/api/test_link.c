// SPDX-License-Identifier: MIT
// The linker: which symbols go together, inputs of all kinds, images, options and logs. Codes and
// values are a card's (tests/silicon x_modules, and more on an H200), unless a comment says
// otherwise.
#include "kernel_text.h"
#include <ar.h>
#include <elf.h>

enum { PARTS = 3, LOG_B = 4096 };

// k writes the word g, or the result of f.
#define READS_G                                                                                    \
    ".extern .global .u32 g;\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\n.reg .b32 %r;\n" \
    "ld.param.u64 %x, [p];\nld.global.u32 %r, [g];\nst.global.u32 [%x], %r;\nret;\n}\n"
#define CALLS_F                                                                                    \
    ".extern .func (.param .b32 r) f();\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\n"     \
    ".reg .b32 %r;\nld.param.u64 %x, [p];\n{\n.param .b32 r;\ncall (r), f, ();\n"                  \
    "ld.param.b32 %r, [r];\n}\nst.global.u32 [%x], %r;\nret;\n}\n"
#define F(linkage, value)                                                                          \
    linkage " .func (.param .b32 r) f()\n{\n.reg .b32 %q;\nmov.b32 %q, " #value                    \
            ";\nst.param.b32 [r], %q;\nret;\n}\n"
#define NOTHING ".visible .entry k(.param .u64 p)\n{\nret;\n}\n"

static char error_log[LOG_B], info_log[LOG_B];

static CUlinkState begin(void)
{
    static CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                     CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    static void *values[4];
    CUlinkState state = NULL;
    values[0] = error_log;
    values[2] = info_log;
    values[1] = values[3] = (void *)(uintptr_t)LOG_B;
    *error_log = *info_log = 0;
    MUST(cuLinkCreate(4, options, values, &state));
    return state;
}

static CUresult add(CUlinkState state, const char *name, const char *text)
{
    static char whole[PARTS + 1][4096];
    static int next;
    char *to = whole[next++ % (PARTS + 1)];
    snprintf(to, sizeof whole[0], "%s%s", PTX_HEAD, text);
    return cuLinkAddData(state, CU_JIT_INPUT_PTX, to, strlen(to) + 1, name, 0, NULL, NULL);
}

// What the kernel of an image writes.
static unsigned run(const void *image)
{
    CUmodule m = ptx_load(image);
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, 4));
    EXPECT_OK(cuMemsetD32(p, 77, 1));
    EXPECT_OK(ptx_run(ptx_kernel(m, "k"), 1, 1, (void *[]){&p}));
    const unsigned value = ptx_word(p);
    EXPECT_OK(cuMemFree(p));
    EXPECT_OK(cuModuleUnload(m));
    return value;
}

struct link_case {
    const char *parts[PARTS];
    unsigned value;
    CUresult added, completed; // of the last part, and of the whole
    const char *log;           // part of it
};
#define GOOD(value, ...)                                                                           \
    {                                                                                              \
        {__VA_ARGS__}, value, CUDA_SUCCESS, CUDA_SUCCESS, NULL                                     \
    }

static void check(const struct link_case *c)
{
    CUlinkState state = begin();
    static const char *const names[] = {"p0", "p1", "p2"};
    void *image = NULL;
    size_t size_B = 0;
    CUresult r = CUDA_SUCCESS;
    for (int i = 0; i < PARTS && c->parts[i]; i++)
        r = add(state, names[i], c->parts[i]);
    EXPECT_ERROR(r, c->added);
    EXPECT_ERROR(cuLinkComplete(state, &image, &size_B), c->completed);
    if (!c->completed && image) {
        EXPECT(size_B > 0 && !memcmp(image, ELFMAG, SELFMAG));
        EXPECT_EQ(run(image), c->value);
    }
    if (c->log && !strstr(error_log, c->log))
        EXPECT_STR(error_log, c->log);
    EXPECT_OK(cuLinkDestroy(state));
}

TEST(symbols)
{
    static const struct link_case cases[] = {
        GOOD(5, READS_G, ".visible .global .u32 g = 5;\n"),
        GOOD(5, ".visible .global .u32 g = 5;\n", READS_G),
        GOOD(5, READS_G, ".weak .global .u32 g = 5;\n"),
        GOOD(0, READS_G, ".common .global .u32 g;\n"),
        GOOD(6, READS_G, ".weak .global .u32 g = 5;\n", ".visible .global .u32 g = 6;\n"),
        GOOD(6, READS_G, ".visible .global .u32 g = 6;\n", ".weak .global .u32 g = 5;\n"),
        GOOD(5, READS_G, ".weak .global .u32 g = 5;\n", ".weak .global .u32 g = 6;\n"),
        GOOD(0, READS_G, ".common .global .u32 g;\n", ".common .global .u32 g;\n"),
        GOOD(6, READS_G, ".common .global .u32 g;\n", ".visible .global .u32 g = 6;\n"),
        GOOD(0, READS_G, ".common .global .u32 g;\n", ".common .global .u32 g[4];\n"),
        GOOD(77, NOTHING, ".global .u32 g = 5;\n", ".global .u32 g = 6;\n"),
        GOOD(5, CALLS_F, F(".visible", 5)),
        GOOD(6, CALLS_F, F(".weak", 5), F(".visible", 6)),
        GOOD(6, CALLS_F, F(".visible", 6), F(".weak", 5)),
        GOOD(5, CALLS_F, F(".weak", 5), F(".weak", 6)),
        GOOD(77, ".weak .entry k(.param .u64 p)\n{\nret;\n}\n",
             ".weak .entry k(.param .u64 p)\n{\nret;\n}\n"),
        GOOD(9,
             ".extern .global .u32 g;\n.visible .global .u64 q = g;\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x<2>;\n.reg .b32 %r;\n"
             "ld.param.u64 %x0, [p];\nld.global.u64 %x1, [q];\nld.global.u32 %r, [%x1];\n"
             "st.global.u32 [%x0], %r;\nret;\n}\n",
             ".visible .global .u32 g = 9;\n"),
    };
    ptx_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
    EXPECT_NO_DIAGNOSTIC();
}

TEST(mistakes)
{
#define BAD CUDA_ERROR_INVALID_SOURCE
    static const struct link_case cases[] = {
        {{READS_G}, 0, 0, BAD, "\"g\" is not defined"},
        {{READS_G, ".global .u32 g = 5;\n"}, 0, 0, BAD, "\"g\" is not defined"},
        {{CALLS_F}, 0, 0, BAD, "\"f\" is not defined"},
        {{CALLS_F, F("", 5)}, 0, 0, BAD, "\"f\" is not defined"},
        {{".extern .func f();\n" NOTHING}, 0, 0, BAD, "\"f\" is not defined"},
        {{READS_G, ".visible .global .u32 g = 5;\n", ".visible .global .u32 g = 6;\n"},
         0,
         BAD,
         BAD,
         "p2, line 4: the variable \"g\" is defined twice"},
        {{CALLS_F, F(".visible", 5), F(".visible", 6)},
         0,
         BAD,
         BAD,
         "the function \"f\" is defined twice"},
        {{NOTHING, NOTHING}, 0, BAD, BAD, "the function \"k\" is defined twice"},
        {{READS_G, ".visible .global .u64 g = 5;\n"}, 0, BAD, BAD, "\"g\" has 8 bytes"},
        {{READS_G, ".visible .global .u32 g[4];\n"}, 0, BAD, BAD, "\"g\" has 16 bytes"},
        {{READS_G, ".visible .const .u32 g = 5;\n"}, 0, BAD, BAD, "two spaces"},
        {{CALLS_F, ".visible .func (.param .b64 r) f(.param .b32 a)\n{\nret;\n}\n"},
         0,
         BAD,
         BAD,
         "other parameters"},
        {{".visible .const .b8 a[40000];\n" NOTHING, ".visible .const .b8 b[40000];\n"},
         0,
         0,
         BAD,
         "80000 bytes"},
        // An input with a mistake of its own is left out.
        {{NOTHING, "garbage\n"}, 77, CUDA_ERROR_INVALID_PTX, 0, "p1, line 4: "},
        {{NOTHING, ".visible .entry b()\n{\n.reg .b32 %r;\nadd.u32 %r, %s, 1;\n}\n"},
         77,
         CUDA_ERROR_INVALID_PTX,
         0,
         "p1, line 7: "},
    };
    ptx_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

// ---- images ----

TEST(images)
{
    ptx_start();
    CUlinkState state = begin();
    void *image = NULL, *again = NULL;
    size_t size_B = 0;
    EXPECT_OK(add(state, NULL, READS_G));
    EXPECT_OK(add(state, "", ".visible .global .u32 g = 5;\n"));
    EXPECT_ERROR(cuLinkComplete(state, NULL, &size_B), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuLinkComplete(state, &image, &size_B));
    EXPECT_ERROR(cuLinkComplete(state, &again, &size_B), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(add(state, "late", NOTHING), CUDA_ERROR_INVALID_VALUE);
    // A program may keep the image in a file.
    char path[64];
    const int fd = memfd_create("image", 0);
    EXPECT_EQ(write(fd, image, size_B), size_B);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    EXPECT_OK(cuLinkDestroy(state));
    EXPECT_ERROR(cuLinkDestroy(state), CUDA_ERROR_INVALID_HANDLE);
    CUmodule m;
    EXPECT_OK(cuModuleLoad(&m, path));
    EXPECT_OK(cuModuleUnload(m));
    // Cut short, it is damaged.
    for (size_t left = size_B - 1; left > 4; left /= 2) {
        EXPECT_EQ(ftruncate(fd, (off_t)left), 0);
        EXPECT_ONE_SENTENCE(cuModuleLoad(&m, path), CUDA_ERROR_INVALID_IMAGE);
    }
    close(fd);
}

TEST(nothing_added)
{
    ptx_start();
    CUlinkState state = begin();
    CUmodule m;
    void *image = NULL;
    unsigned count = 77;
    EXPECT_OK(cuLinkComplete(state, &image, NULL));
    EXPECT_OK(cuModuleLoadData(&m, image));
    EXPECT_OK(cuModuleGetFunctionCount(&count, m));
    EXPECT_EQ(count, 0);
    EXPECT_OK(cuLinkDestroy(state));
}

// An image of an image.
TEST(linked_twice)
{
    ptx_start();
    CUlinkState first = begin(), second = begin();
    void *image;
    size_t size_B;
    EXPECT_OK(add(first, "g", ".visible .global .u32 g = 5;\n"));
    EXPECT_OK(cuLinkComplete(first, &image, &size_B));
    EXPECT_OK(cuLinkAddData(second, CU_JIT_INPUT_CUBIN, image, size_B, "first", 0, NULL, NULL));
    EXPECT_OK(add(second, "k", READS_G));
    EXPECT_OK(cuLinkComplete(second, &image, &size_B));
    EXPECT_EQ(run(image), 5);
    EXPECT_OK(cuLinkDestroy(first));
    EXPECT_OK(cuLinkDestroy(second));
}

// ---- other inputs ----

// A fat binary with one text.
static size_t make_fat_binary(unsigned char *to, const char *text)
{
    const uint64_t text_B = (strlen(text) + 8) / 8 * 8;
    const uint32_t head[4] = {0xba55ed50, 0x100001, (uint32_t)text_B + 64, 0};
    const uint32_t entry[16] = {0x1010001, 64, (uint32_t)text_B, 0, 0, 0, 0, 52};
    memset(to, 0, 80 + text_B);
    memcpy(to, head, sizeof head);
    memcpy(to + 16, entry, sizeof entry);
    memcpy(to + 80, text, strlen(text));
    return 80 + text_B;
}

// An object file with a section of fat binaries, as nvcc -rdc -c makes them.
static size_t make_object(unsigned char *to, const char *const *texts, unsigned count)
{
    static const char names[] = "\0__nv_relfatbin\0.names";
    size_t at = sizeof(Elf64_Ehdr);
    Elf64_Shdr sections[3] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = at},
        {.sh_name = 16, .sh_type = SHT_STRTAB, .sh_size = sizeof names},
    };
    for (unsigned i = 0; i < count; i++)
        at += make_fat_binary(to + at, texts[i]);
    sections[1].sh_size = at - sizeof(Elf64_Ehdr);
    sections[2].sh_offset = at;
    memcpy(to + at, names, sizeof names);
    at = (at + sizeof names + 7) / 8 * 8;
    const Elf64_Ehdr head = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = EM_X86_64,
        .e_shoff = at,
        .e_shentsize = sizeof *sections,
        .e_shnum = 3,
        .e_shstrndx = 2};
    memcpy(to, &head, sizeof head);
    memcpy(to + at, sections, sizeof sections);
    return at + sizeof sections;
}

static size_t make_archive(unsigned char *to, const char *const *texts, unsigned count)
{
    size_t at = SARMAG;
    memcpy(to, ARMAG, SARMAG);
    for (unsigned i = 0; i < count; i++) {
        char head[sizeof(struct ar_hdr) + 1];
        const size_t size_B = make_object(to + at + sizeof(struct ar_hdr), &texts[i], 1);
        snprintf(head, sizeof head, "%-48s%-10zu%s", "member.o/", size_B, ARFMAG);
        memcpy(to + at, head, sizeof(struct ar_hdr));
        at += sizeof(struct ar_hdr) + size_B + (size_B & 1);
    }
    return at;
}

static const char *const two[] = {PTX_HEAD CALLS_F, PTX_HEAD F(".visible", 8)};
static unsigned char input[1 << 16];

static CUresult add_input(CUlinkState state, CUjitInputType type, size_t size_B)
{
    return cuLinkAddData(state, type, input, size_B, "input", 0, NULL, NULL);
}

static unsigned run_input(CUjitInputType type, size_t size_B)
{
    CUlinkState state = begin();
    void *image = NULL;
    EXPECT_OK(add_input(state, type, size_B));
    EXPECT_OK(cuLinkComplete(state, &image, NULL));
    const unsigned value = image ? run(image) : 0;
    EXPECT_OK(cuLinkDestroy(state));
    return value;
}

TEST(input_kinds)
{
    ptx_start();
    EXPECT_EQ(run_input(CU_JIT_INPUT_OBJECT, make_object(input, two, 2)), 8);
    EXPECT_EQ(run_input(CU_JIT_INPUT_LIBRARY, make_archive(input, two, 2)), 8);
    EXPECT_EQ(run_input(CU_JIT_INPUT_FATBINARY, make_fat_binary(input, PTX_HEAD NOTHING)), 77);
    EXPECT_EQ(run_input(CU_JIT_INPUT_PTX, make_fat_binary(input, PTX_HEAD NOTHING)), 77);
    EXPECT_NO_DIAGNOSTIC();
}

// An object file of a table of sections and a fat binary, which ends the file at any byte. Both
// sizes in its heads are exact.
static size_t make_object_to_its_end(unsigned char *to, const char *text)
{
    static const char names[] = "\0__nv_relfatbin\0.names";
    Elf64_Ehdr head = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = EM_X86_64,
        .e_shoff = sizeof head,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 3,
        .e_shstrndx = 2};
    const size_t names_at = sizeof head + 3 * sizeof(Elf64_Shdr);
    const size_t at = names_at + sizeof names, text_B = strlen(text), all_B = 80 + text_B;
    const Elf64_Shdr sections[3] = {
        {0},
        {.sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = all_B},
        {.sh_name = 16, .sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = sizeof names},
    };
    const uint32_t rest_B = (uint32_t)text_B + 64, entry_B = (uint32_t)text_B;
    make_fat_binary(to + at, text);
    memcpy(to + at + 8, &rest_B, sizeof rest_B);
    memcpy(to + at + 24, &entry_B, sizeof entry_B);
    memcpy(to, &head, sizeof head);
    memcpy(to + sizeof head, sections, sizeof sections);
    memcpy(to + names_at, names, sizeof names);
    return at + all_B;
}

// Nothing is read after the end of an object, at whatever byte its fat binary ends.
TEST(fat_binary_ends_its_object)
{
    enum { PAGE_B = 4096 };
    char text[1000];
    ptx_start();
    unsigned char *memory =
        mmap(NULL, 2 * PAGE_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(memory != MAP_FAILED);
    EXPECT(!mprotect(memory + PAGE_B, PAGE_B, PROT_NONE));
    for (int more = 0; more < 8; more++) {
        snprintf(text, sizeof text, "%s%.*s", PTX_HEAD NOTHING, more, "\n\n\n\n\n\n\n");
        const size_t size_B = make_object_to_its_end(input, text);
        unsigned char *object = memory + PAGE_B - size_B;
        memcpy(object, input, size_B);
        CUlinkState state = begin();
        void *image = NULL;
        EXPECT_OK(cuLinkAddData(state, CU_JIT_INPUT_OBJECT, object, size_B, "o", 0, NULL, NULL));
        EXPECT_OK(cuLinkComplete(state, &image, NULL));
        EXPECT_EQ(image ? run(image) : 0, 77);
        EXPECT_OK(cuLinkDestroy(state));
        // One byte less than the heads say.
        memmove(object + 1, object, size_B - 1);
        state = begin();
        EXPECT_ERROR(
            cuLinkAddData(state, CU_JIT_INPUT_OBJECT, object + 1, size_B - 1, "o", 0, NULL, NULL),
            CUDA_ERROR_INVALID_IMAGE);
        EXPECT_OK(cuLinkDestroy(state));
    }
    munmap(memory, 2 * PAGE_B);
}

// A library may lack functions: only kernels that call them are refused, when they are asked for.
// (On a card, the members that are needed are complete.)
TEST(library_lacks_function)
{
    ptx_start();
    CUlinkState state = begin();
    CUmodule m;
    CUfunction f;
    void *image = NULL;
    EXPECT_OK(add_input(state, CU_JIT_INPUT_LIBRARY, make_archive(input, two, 1)));
    EXPECT_OK(cuLinkComplete(state, &image, NULL));
    EXPECT_OK(cuModuleLoadData(&m, image));
    EXPECT_ONE_SENTENCE(cuModuleGetFunction(&f, m, "k"), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_OK(cuLinkDestroy(state));
}

TEST(wrong_kinds)
{
    static const struct {
        int type;
        CUresult code;
    } cases[] = {{-1, CUDA_ERROR_INVALID_VALUE},
                 {CU_JIT_INPUT_CUBIN, CUDA_ERROR_INVALID_IMAGE},
                 {CU_JIT_INPUT_OBJECT, CUDA_ERROR_UNKNOWN},
                 {CU_JIT_INPUT_LIBRARY, CUDA_ERROR_UNKNOWN},
                 {CU_JIT_INPUT_NVVM, CUDA_ERROR_JIT_COMPILER_NOT_FOUND},
                 {6, CUDA_ERROR_INVALID_VALUE}};
    ptx_start();
    CUlinkState state = begin();
    strcpy((char *)input, PTX_HEAD NOTHING);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        EXPECT_ONE_SENTENCE(add_input(state, cases[i].type, strlen((char *)input)), cases[i].code);
    strcpy((char *)input, "garbage");
    EXPECT_ONE_SENTENCE(add_input(state, CU_JIT_INPUT_PTX, 7), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_ONE_SENTENCE(add_input(state, CU_JIT_INPUT_PTX, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuLinkAddData(state, CU_JIT_INPUT_PTX, NULL, 9, "n", 0, NULL, NULL),
                        CUDA_ERROR_INVALID_VALUE);
    EXPECT_ONE_SENTENCE(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)4096, 9, "n", 0, NULL, NULL),
                        CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuLinkDestroy(state));
}

TEST(files)
{
    ptx_start();
    CUlinkState state = begin();
    char path[64];
    void *image;
    const int fd = memfd_create("part.ptx", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    EXPECT_ONE_SENTENCE(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path, 0, NULL, NULL),
                        CUDA_ERROR_INVALID_IMAGE); // empty
    EXPECT_EQ(write(fd, two[0], strlen(two[0])), strlen(two[0]));
    EXPECT_OK(cuLinkAddFile(state, CU_JIT_INPUT_PTX, path, 0, NULL, NULL));
    EXPECT_ONE_SENTENCE(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nonexistent", 0, NULL, NULL),
                        CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT_ONE_SENTENCE(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/tmp", 0, NULL, NULL),
                        CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_OK(add(state, "f", F(".visible", 9)));
    EXPECT_OK(cuLinkComplete(state, &image, NULL));
    EXPECT_EQ(run(image), 9);
    EXPECT_OK(cuLinkDestroy(state));
    close(fd);
}

// Changed object files and libraries give a code, and no crash.
TEST(mutations)
{
    ptx_start();
    uint32_t seed = 54321;
    for (int round = 0; round < 2000; round++) {
        CUlinkState state = begin();
        const CUjitInputType type = round % 2 ? CU_JIT_INPUT_OBJECT : CU_JIT_INPUT_LIBRARY;
        memset(input, 0, sizeof input);
        size_t size_B = round % 2 ? make_object(input, two, 2) : make_archive(input, two, 2);
        for (int i = 0; i < 4; i++) {
            seed = seed * 1664525 + 1013904223;
            input[(seed >> 8) % size_B] ^= (unsigned char)(1 << (seed >> 29));
        }
        if (round % 3 == 0)
            size_B = (seed >> 9) % size_B + 1;
        void *image;
        if (!add_input(state, type, size_B))
            (void)cuLinkComplete(state, &image, NULL);
        EXPECT_OK(cuLinkDestroy(state));
    }
}

// ---- options ----

static CUresult add_with_option(int option)
{
    CUlinkState state = begin();
    CUjit_option o = (CUjit_option)option;
    void *value = (void *)1;
    const char *text = PTX_HEAD NOTHING;
    const CUresult r = cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)text,
                                     strlen(text) + 1, "p", 1, &o, &value);
    EXPECT_OK(cuLinkDestroy(state));
    return r;
}

TEST(options)
{
    ptx_start();
    CUjit_option o = CU_JIT_FALLBACK_STRATEGY;
    void *value = NULL;
    CUlinkState state;
    EXPECT_ERROR(cuLinkCreate(1, &o, &value, &state), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuLinkCreate(1, NULL, NULL, &state), CUDA_ERROR_INVALID_VALUE);
    o = CU_JIT_TARGET;
    value = (void *)122;
    EXPECT_ERROR(cuLinkCreate(1, &o, &value, &state), CUDA_ERROR_INVALID_VALUE);
    value = (void *)30; // known, but not an architecture that is compiled for
    EXPECT_OK(cuLinkCreate(1, &o, &value, &state));
    EXPECT_ERROR(add(state, "p", NOTHING), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_OK(cuLinkDestroy(state));
    EXPECT_OK(add_with_option(CU_JIT_MAX_REGISTERS));
    EXPECT_OK(add_with_option(CU_JIT_OPTIMIZATION_LEVEL));
    EXPECT_ERROR(add_with_option(CU_JIT_TARGET), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(add_with_option(CU_JIT_WALL_TIME), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(add_with_option(-1), CUDA_ERROR_INVALID_VALUE);
}

// The driver compiles for CU_JIT_TARGET.
TEST(targets_of_the_driver)
{
    static const struct {
        int target;
        CUresult added, loaded;
    } cases[] = {
        {75, CUDA_ERROR_INVALID_PTX, 0}, {80, 0, 0}, {120, 0, CUDA_ERROR_NO_BINARY_FOR_GPU}};
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    test_setting("CARDLESS_DEVICES", "h100");
    ptx_start();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUjit_option o = CU_JIT_TARGET;
        void *value = (void *)(uintptr_t)cases[i].target, *image;
        CUlinkState state;
        CUmodule m;
        EXPECT_OK(cuLinkCreate(1, &o, &value, &state));
        EXPECT_ERROR(add(state, "p", NOTHING), cases[i].added); // for sm_80
        if (!cases[i].added) {
            EXPECT_OK(cuLinkComplete(state, &image, NULL));
            EXPECT_ERROR(cuModuleLoadData(&m, image),
                         cases[i].target == 80 ? CUDA_ERROR_NO_BINARY_FOR_GPU : cases[i].loaded);
        }
        EXPECT_OK(cuLinkDestroy(state));
    }
}

TESTS(CASE(symbols), CASE(mistakes), CASE(images), CASE(nothing_added), CASE(linked_twice),
      CASE(input_kinds), CASE(fat_binary_ends_its_object), CASE(library_lacks_function),
      CASE(wrong_kinds), CASE(files), CASE(mutations), CASE(options), CASE(targets_of_the_driver))
