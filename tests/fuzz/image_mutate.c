// SPDX-License-Identifier: MIT
// Makes whole images of every kind, and changes them: fields of their heads to sizes at the edges,
// bytes, ends, and runs of bytes that are removed, repeated or put elsewhere.
#include <dlfcn.h>

#include "fuzz.h"
#include "generate.h"
#include "image_mutate.h"

enum { CHANGES_MOST = 4, RUN_B = 64, PACKED_MOST_B = 1 << 14, PLAN_B = 96 };

#define HEAD ".version 8.0\n.target sm_52\n.address_size 64\n"
static const char *const texts[] = {
    HEAD ".extern .func (.param .b32 r) f();\n.visible .global .u32 g;\n"
         ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\n.reg .b32 %r;\n"
         "ld.param.u64 %x, [p];\n{\n.param .b32 r;\ncall (r), f, ();\nld.param.b32 %r, [r];\n}\n"
         "st.global.u32 [%x], %r;\nret;\n}\n",
    HEAD ".visible .func (.param .b32 r) f()\n{\n.reg .b32 %q;\nmov.b32 %q, 11;\n"
         "st.param.b32 [r], %q;\nret;\n}\n",
    HEAD ".visible .global .align 4 .b8 g[64] = {1, 2, 3};\n.visible .entry k()\n{\nret;\n}\n",
};

// ---- compression ----

struct packers {
    size_t (*zstd)(void *to, size_t to_B, const void *from, size_t from_B, int level);
    int (*lz4)(const char *from, char *to, int from_B, int to_B);
};

static const struct packers *packers(void)
{
    static struct packers p;
    static bool loaded;
    if (!loaded) {
        void *zstd = dlopen("libzstd.so.1", RTLD_NOW), *lz4 = dlopen("liblz4.so.1", RTLD_NOW);
        if (zstd)
            *(void **)&p.zstd = dlsym(zstd, "ZSTD_compress");
        if (lz4)
            *(void **)&p.lz4 = dlsym(lz4, "LZ4_compress_default");
        loaded = true;
    }
    return &p;
}

void image_add_text(struct container *c, const char *text, unsigned architecture, unsigned packing)
{
    static char packed[PACKED_MOST_B];
    const size_t plain_B = strlen(text);
    size_t size_B = 0;
    unsigned flag = 0;
    if (packing == IMAGE_PACKED_ZSTD && packers()->zstd) {
        size_B = packers()->zstd(packed, sizeof packed, text, plain_B, 3);
        flag = IMAGE_ZSTD;
    } else if (packing == IMAGE_PACKED_LZ4 && packers()->lz4) {
        size_B = (size_t)packers()->lz4(text, packed, (int)plain_B, sizeof packed);
        flag = IMAGE_LZ4;
    }
    if (flag)
        image_add(c, IMAGE_PTX, architecture, packed, size_B, flag, plain_B);
    else
        image_add(c, IMAGE_PTX, architecture, text, plain_B, 0, 0);
}

// ---- whole images ----

static struct container made;

const void *image_other(void)
{
    static struct container other;
    if (!other.size_B) {
        image_begin(&other);
        image_add_text(&other, texts[1], 52, IMAGE_PLAIN);
    }
    return other.bytes;
}

size_t image_cubin(unsigned char *to, unsigned architecture)
{
    const size_t size_B = image_object(to, &texts[2], 1);
    Elf64_Ehdr head;
    memcpy(&head, to, sizeof head);
    head.e_machine = IMAGE_CUDA_MACHINE;
    head.e_type = ET_EXEC;
    head.e_flags = architecture;
    memcpy(to, &head, sizeof head);
    return size_B;
}

// An ELF file of CUDA's machine, as a cubin, with a section of code. It has texts if it is one of
// cuLinkComplete's.
static void make_cubin(bool linked)
{
    made.size_B = image_cubin(made.bytes, 90);
    if (!linked)
        return;
    CUlinkState state;
    void *image = NULL;
    size_t size_B = 0;
    CUcontext context = fuzz_context();
    FUZZ_OK(cuLinkCreate(0, NULL, NULL, &state));
    FUZZ_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)texts[2],
                          strlen(texts[2]) + 1, "part", 0, NULL, NULL));
    FUZZ_OK(cuLinkComplete(state, &image, &size_B));
    memcpy(made.bytes, image, size_B);
    made.size_B = size_B;
    FUZZ_OK(cuLinkDestroy(state));
    FUZZ_OK(cuCtxDestroy(context));
}

static void make_fat_binary(uint64_t *state)
{
    image_begin(&made);
    if (generate_below(state, 3) == 0)
        image_add(&made, IMAGE_CUBIN, 90, "machine code", 12, 0, 0);
    for (unsigned n = 1 + generate_below(state, 2); n; n--)
        image_add_text(&made, texts[generate_below(state, 3)], 52,
                       generate_below(state, IMAGE_PACKINGS));
}

// Makes an image, and returns a route for it.
static unsigned make(uint64_t *state)
{
    const unsigned from_file = generate_below(state, 2);
    unsigned type = CU_JIT_INPUT_CUBIN;
    switch (generate_below(state, 8)) {
    case 0:
        made.size_B = image_object(made.bytes, texts, 2);
        type = CU_JIT_INPUT_OBJECT;
        break;
    case 1:
        made.size_B = image_archive(made.bytes, texts, 2);
        type = CU_JIT_INPUT_LIBRARY;
        break;
    case 2:
    case 3:
        make_cubin(generate_below(state, 3) != 0);
        if (generate_below(state, 2))
            return generate_below(state, IMAGE_ROUTE_LINK);
        break;
    default:
        make_fat_binary(state);
        if (generate_below(state, 4))
            return generate_below(state, IMAGE_ROUTE_LINK);
        type = CU_JIT_INPUT_FATBINARY;
    }
    return IMAGE_ROUTE_LINK + 2 * type + from_file;
}

// ---- changes ----

static void change_field(uint8_t *bytes, size_t size, uint64_t *state)
{
    const unsigned width = 1u << generate_below(state, 4);
    // Heads are aligned, and mostly at the beginning.
    const size_t limit = generate_below(state, 2) && size > 160 ? 160 : size;
    const size_t at = generate_below(state, (unsigned)limit) / width * width;
    uint64_t value = 0;
    if (at + width > size)
        return;
    memcpy(&value, bytes + at, width);
    switch (generate_below(state, 4)) {
    case 0:
        value = generate_bits(state);
        break;
    case 1:
        value = size + generate_below(state, 17) - 8;
        break;
    case 2:
        value += generate_below(state, 17) - 8;
        break;
    default:
        value ^= UINT64_C(1) << generate_below(state, 8 * width);
    }
    memcpy(bytes + at, &value, width);
}

// Removes, repeats or copies a run of bytes. Returns the new size.
static size_t change_run(uint8_t *bytes, size_t size, size_t most, uint64_t *state)
{
    const size_t from = generate_below(state, (unsigned)size);
    size_t length = 1 + generate_below(state, RUN_B);
    if (length > size - from)
        length = size - from;
    switch (generate_below(state, 3)) {
    case 0:
        memmove(bytes + from, bytes + from + length, size - from - length);
        return size - length;
    case 1:
        if (size + length > most)
            return size;
        memmove(bytes + from + length, bytes + from, size - from);
        return size + length;
    default:
        memmove(bytes + generate_below(state, (unsigned)(size - length + 1)), bytes + from, length);
        return size;
    }
}

static size_t change(uint8_t *bytes, size_t size, size_t most, uint64_t *state)
{
    switch (generate_below(state, 8)) {
    case 0:
        return 1 + generate_below(state, (unsigned)size); // ends there
    case 1:
    case 2:
        return change_run(bytes, size, most, state);
    default:
        change_field(bytes, size, state);
        return size;
    }
}

// Makes numbers for a well-formed image, or changes some of them.
static size_t change_plan(uint8_t *data, size_t size, size_t most, uint64_t *state)
{
    const size_t wanted = 1 + generate_below(state, PLAN_B);
    if (size < 2) {
        data[0] = IMAGE_PLANNED;
        for (size = 1; size < wanted && size < most; size++)
            data[size] = (uint8_t)generate_bits(state);
        return size;
    }
    if (size < most && generate_below(state, 4) == 0)
        data[size++] = (uint8_t)generate_bits(state);
    for (unsigned n = 1 + generate_below(state, CHANGES_MOST); n; n--)
        data[1 + generate_below(state, (unsigned)size - 1)] = (uint8_t)generate_bits(state);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    generate_below(&state, 2);
    if (size < 2 || !generate_below(&state, 50)) {
        if (generate_below(&state, 2))
            return change_plan(data, 0, most, &state);
        data[0] = (uint8_t)make(&state);
        if (made.size_B + 1 > most)
            return size;
        memcpy(data + 1, made.bytes, made.size_B);
        size = made.size_B + 1;
        if (generate_below(&state, 8) == 0)
            return size;
    }
    if (data[0] == IMAGE_PLANNED)
        return change_plan(data, size, most, &state);
    if (generate_below(&state, 8) == 0)
        data[0] = (uint8_t)generate_below(&state, IMAGE_ROUTES);
    for (unsigned n = 1 + generate_below(&state, CHANGES_MOST); n && size > 1; n--)
        size = 1 + change(data + 1, size - 1, most - 1, &state);
    return size;
}
