// SPDX-License-Identifier: MIT
// Inputs of the linker: fat binaries, object files and libraries, whole and damaged. Codes are a
// card's (tests/silicon x_modules, and more on an H200), unless a comment says otherwise.
#include "images.h"
#include "link_parts.h"

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
    EXPECT_EQ(run_input(CU_JIT_INPUT_OBJECT, image_object(input, two, 2)), 8);
    EXPECT_EQ(run_input(CU_JIT_INPUT_LIBRARY, image_archive(input, two, 2)), 8);
    EXPECT_EQ(run_input(CU_JIT_INPUT_FATBINARY, image_fat_binary(input, PTX_HEAD NOTHING)), 77);
    EXPECT_EQ(run_input(CU_JIT_INPUT_PTX, image_fat_binary(input, PTX_HEAD NOTHING)), 77);
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
    image_fat_binary(to + at, text);
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
    EXPECT_OK(add_input(state, CU_JIT_INPUT_LIBRARY, image_archive(input, two, 1)));
    EXPECT_OK(cuLinkComplete(state, &image, NULL));
    EXPECT_OK(cuModuleLoadData(&m, image));
    EXPECT_ONE_SENTENCE(cuModuleGetFunction(&f, m, "k"), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_OK(cuLinkDestroy(state));
}

// A call through a register may reach every function with the same parameters. One of them that
// calls a missing function does not refuse the kernel; only its call would fail.
TEST(missing_function_that_nobody_calls)
{
    static const char *const text =
        PTX_HEAD ".extern .func missing();\n"
                 ".visible .func (.param .b32 r) other(.param .b32 x)\n{\n.reg .b32 %q;\n"
                 "call missing;\nmov.b32 %q, 1;\nst.param.b32 [r], %q;\nret;\n}\n"
                 ".visible .func (.param .b32 r) right(.param .b32 x)\n{\n.reg .b32 %q;\n"
                 "ld.param.b32 %q, [x];\nst.param.b32 [r], %q;\nret;\n}\n"
                 ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x, %f;\n.reg .b32 %r;\n"
                 "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                 "ld.param.u64 %x, [p];\nmov.b64 %f, right;\nmov.b32 %r, 8;\n{\n"
                 ".param .b32 a;\n.param .b32 r;\nst.param.b32 [a], %r;\n"
                 "call (r), %f, (a), P;\nld.param.b32 %r, [r];\n}\n"
                 "st.global.u32 [%x], %r;\nret;\n}\n";
    ptx_start();
    CUlinkState state = begin();
    void *image = NULL;
    EXPECT_OK(add_input(state, CU_JIT_INPUT_LIBRARY, image_archive(input, &text, 1)));
    EXPECT_OK(cuLinkComplete(state, &image, NULL));
    EXPECT_EQ(image ? run(image) : 0, 8);
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

// The table of sections' names, or of sections, is outside of the file.
TEST(damaged_tables)
{
    ptx_start();
    CUlinkState state = begin();
    const size_t size_B = image_object(input, two, 1);
    Elf64_Ehdr head;
    Elf64_Shdr names;
    memcpy(&head, input, sizeof head);
    unsigned char *at = input + head.e_shoff + 2 * sizeof names;
    memcpy(&names, at, sizeof names);
    names.sh_offset += UINT64_C(1) << 60;
    memcpy(at, &names, sizeof names);
    EXPECT_ONE_SENTENCE(add_input(state, CU_JIT_INPUT_OBJECT, size_B), CUDA_ERROR_INVALID_IMAGE);
    head.e_shoff = UINT64_MAX - 64;
    memcpy(input, &head, sizeof head);
    EXPECT_ONE_SENTENCE(add_input(state, CU_JIT_INPUT_OBJECT, size_B), CUDA_ERROR_UNKNOWN);
    EXPECT_OK(cuLinkDestroy(state));
}

// The driver reports CUDA_ERROR_UNKNOWN from its first such failure on, and so do the sentences.
TEST(unknown_stays)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    ptx_start();
    CUlinkState state = begin();
    void *image;
    EXPECT_OK(add(state, "a", CALLS_F));
    EXPECT_ONE_SENTENCE(cuLinkComplete(state, &image, NULL), CUDA_ERROR_INVALID_SOURCE);
    EXPECT_OK(cuLinkDestroy(state));
    state = begin();
    EXPECT_OK(add(state, "a", CALLS_F));
    strcpy((char *)input, "no object");
    EXPECT_ONE_SENTENCE(add_input(state, CU_JIT_INPUT_OBJECT, 9), CUDA_ERROR_UNKNOWN);
    EXPECT_ONE_SENTENCE(cuLinkComplete(state, &image, NULL), CUDA_ERROR_UNKNOWN);
    EXPECT(strstr(error_log, "is not defined"));
    EXPECT_OK(cuLinkDestroy(state));
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
        size_t size_B = round % 2 ? image_object(input, two, 2) : image_archive(input, two, 2);
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

TESTS(CASE(input_kinds), CASE(fat_binary_ends_its_object), CASE(library_lacks_function),
      CASE(missing_function_that_nobody_calls), CASE(wrong_kinds), CASE(files),
      CASE(damaged_tables), CASE(unknown_stays), CASE(mutations))
