// SPDX-License-Identifier: MIT
// Reads fat binaries.
//
//     │ head: magic, version, size of the head, size of the rest │ entry │ entry │ …
//     entry: │ head: kind, sizes, architecture, flags │ text or machine code, perhaps compressed │
//
// NVIDIA does not document the format. Sizes and codes are a card's (recorded: x_modules
// load_binary/fatbin-…).
#include "fat_binary.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "cubin.h"
#include "decompress.h"
#include "error.h"
#include "lock.h"
#include "pointer_check.h"
#include "quirk.h"

enum {
    CONTAINER_MAGIC = (int)EM_FAT_CONTAINER_MAGIC,
    WRAPPER_MAGIC = (int)EM_FAT_WRAPPER_MAGIC,
    CONTAINER_VERSION = 1,
    KIND_PTX = 1,
    KIND_CUBIN = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    ENTRIES_MOST = 4096,
    LINKED_MOST = 1 << 16,
    TEXT_MOST_B = 1 << 29,
};

struct entry {
    uint16_t kind, version;
    uint32_t head_B;
    uint64_t size_B;       // of what follows the head, padded
    uint32_t compressed_B; // without the padding; 0: not compressed
    uint32_t options_at;
    uint16_t code_minor, code_major;
    uint32_t architecture;
    uint32_t name_at, name_B;
    uint64_t flags, reserved;
    uint64_t plain_B; // decompressed
};
_Static_assert(sizeof(struct entry) == 64, "the head of an entry");

// An entry that was found, and where its bytes are.
struct found {
    struct entry entry;
    uint64_t at;
};

CUresult em_bytes_check(const struct em_bytes *bytes, uint64_t from, uint64_t size_B)
{
    if (bytes->size_B != EM_UNKNOWN_SIZE)
        return from <= bytes->size_B && size_B <= bytes->size_B - from
                   ? CUDA_SUCCESS
                   : em_fail(CUDA_ERROR_INVALID_IMAGE,
                             "the image ends after %llu bytes, but has %llu bytes at %llu",
                             (unsigned long long)bytes->size_B, (unsigned long long)size_B,
                             (unsigned long long)from);
    // A file may name any offset; an address of nothing is refused.
    const void *at = (const void *)((uintptr_t)bytes->at + from);
    return em_readable_else(CUDA_ERROR_INVALID_IMAGE, "the image", at, size_B);
}

static bool begins(const char *bytes, int magic)
{
    char first[4];
    memcpy(first, &magic, sizeof first);
    return !strncmp(bytes, first, sizeof first);
}

bool em_is_fat_binary(const char *bytes)
{
    return begins(bytes, CONTAINER_MAGIC) || begins(bytes, WRAPPER_MAGIC);
}

// ---- choosing an entry ----

struct choice {
    struct found ptx; // kind 0: the container has no PTX
    struct found cubin;
    char architectures[128]; // of machine code, for messages
    size_t used;
};

static bool is_better(const struct entry *e, const struct entry *than, unsigned architecture)
{
    const bool fits = e->architecture <= architecture;
    if (!than->kind || fits != (than->architecture <= architecture))
        return !than->kind || fits;
    return fits ? e->architecture > than->architecture : e->architecture < than->architecture;
}

static void consider(struct choice *c, const struct entry *e, uint64_t at, unsigned architecture)
{
    const struct found found = {*e, at};
    if (e->kind == KIND_PTX && is_better(e, &c->ptx.entry, architecture))
        c->ptx = found;
    if (e->kind != KIND_CUBIN)
        return;
    if (is_better(e, &c->cubin.entry, architecture))
        c->cubin = found;
    if (c->used < sizeof c->architectures)
        c->used += (size_t)snprintf(c->architectures + c->used, sizeof c->architectures - c->used,
                                    "%ssm_%u", c->used ? ", " : "", e->architecture);
}

static CUresult choose(const struct em_bytes *bytes, unsigned architecture, struct choice *out)
{
    struct em_fat_container head;
    CUresult r = em_bytes_check(bytes, 0, sizeof head);
    if (r)
        return r;
    memcpy(&head, bytes->at, sizeof head);
    *out = (struct choice){0};
    if (head.version != CONTAINER_VERSION)
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "the fat binary has version %u; only version %u "
                       "is known",
                       head.version, CONTAINER_VERSION);
    uint64_t end, at = head.head_B;
    if (__builtin_add_overflow(at, head.rest_B, &end))
        return em_fail(CUDA_ERROR_INVALID_IMAGE, "the size of the fat binary (%llu) is damaged",
                       (unsigned long long)head.rest_B);
    for (unsigned i = 0; at < end && !r; i++) {
        struct entry e;
        uint64_t next;
        r = em_bytes_check(bytes, at, sizeof e);
        if (r)
            break;
        memcpy(&e, bytes->at + at, sizeof e);
        if (i == ENTRIES_MOST || (!e.head_B && !e.size_B))
            return em_fail(CUDA_ERROR_INVALID_IMAGE,
                           "part %u of the fat binary has no size, or "
                           "there are too many parts",
                           i);
        if ((e.kind == KIND_PTX || e.kind == KIND_CUBIN) && !e.architecture)
            return em_fail(CUDA_ERROR_UNKNOWN, // (recorded: load_binary/fatbin-truncated-to-40)
                           "part %u of the fat binary names no architecture", i);
        consider(out, &e, at + e.head_B, architecture);
        if (__builtin_add_overflow(at + e.head_B, e.size_B, &next))
            break;
        at = next;
    }
    return r;
}

// ---- texts ----

static CUresult take_compressed(const struct em_bytes *bytes, const struct found *f,
                                const char *name, struct em_texts *out)
{
    const struct entry *e = &f->entry;
    const uint64_t in_B = e->compressed_B ? e->compressed_B : e->size_B;
    uint64_t used = 0;
    if (e->plain_B > TEXT_MOST_B)
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "the PTX in the fat binary would have %llu bytes; at most %d are possible",
                       (unsigned long long)e->plain_B, TEXT_MOST_B);
    CUresult r = em_bytes_check(bytes, f->at, in_B);
    char *text = r ? NULL : dm_alloc(e->plain_B + 1);
    if (!r && !text)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for PTX of %llu bytes",
                       (unsigned long long)e->plain_B);
    if (!r)
        r = em_decompress(e->flags & FLAG_ZSTD ? EM_COMPRESSION_ZSTD : EM_COMPRESSION_LZ4,
                          bytes->at + f->at, in_B, text, e->plain_B, &used);
    if (!r && used != e->plain_B)
        r = em_fail(CUDA_ERROR_INVALID_IMAGE,
                    "the PTX in the fat binary has %llu bytes, but its head announces %llu",
                    (unsigned long long)used, (unsigned long long)e->plain_B);
    if (r) {
        dm_free(text);
        return r;
    }
    text[used] = 0;
    return em_texts_take(out, name, text);
}

static CUresult take_text(const struct em_bytes *bytes, const struct found *f, const char *name,
                          struct em_texts *out)
{
    if (f->entry.flags & (FLAG_LZ4 | FLAG_ZSTD))
        return take_compressed(bytes, f, name, out);
    CUresult r = em_bytes_check(bytes, f->at, f->entry.size_B);
    return r ? r : em_texts_add(out, name, bytes->at + f->at, f->entry.size_B);
}

static CUresult fail_without_ptx(const struct em_bytes *bytes, const struct choice *c)
{
    if (!c->cubin.entry.kind)
        return em_fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "the fat binary has neither PTX nor machine "
                                                     "code");
    // A damaged cubin is found out first (recorded: load_binary/fatbin-truncated-to-80).
    CUresult r = CUDA_SUCCESS;
    if (!(c->cubin.entry.flags & (FLAG_LZ4 | FLAG_ZSTD)))
        r = em_cubin_check(bytes, c->cubin.at, c->cubin.entry.size_B);
    return r ? r
             : em_fail(
                   CUDA_ERROR_NO_BINARY_FOR_GPU,
                   "the fat binary has machine code only (cubins for %s), which Cardless cannot "
                   "run; " EM_CUBIN_ADVICE,
                   c->architectures);
}

static CUresult check_architecture(const struct choice *c, unsigned architecture)
{
    const unsigned has = c->ptx.entry.architecture;
    if (has <= architecture || !em_quirk(PTX_ABOVE_DEVICE))
        return CUDA_SUCCESS;
    return em_fail(
        CUDA_ERROR_NO_BINARY_FOR_GPU,
        "the fat binary has PTX for sm_%u and above, and the device is sm_%u; build with "
        "nvcc -gencode arch=compute_%u,code=compute_%u",
        has, architecture, architecture, architecture);
}

static CUresult container_text(const struct em_bytes *bytes, unsigned architecture,
                               struct em_texts *out)
{
    struct choice c;
    CUresult r = choose(bytes, architecture, &c);
    if (!r && !c.ptx.entry.kind)
        r = fail_without_ptx(bytes, &c);
    if (!r)
        r = check_architecture(&c, architecture);
    return r ? r : take_text(bytes, &c.ptx, NULL, out);
}

// ---- the program's struct ----

static CUresult linked_text(const char *container, unsigned index, unsigned architecture,
                            struct em_texts *out)
{
    const struct em_bytes bytes = {container, EM_UNKNOWN_SIZE};
    struct choice c;
    char name[32];
    snprintf(name, sizeof name, "fat binary %u", index);
    CUresult r = em_readable_else(CUDA_ERROR_INVALID_IMAGE, name, container, sizeof(uint32_t));
    if (!r && !begins(container, CONTAINER_MAGIC))
        r = em_fail(CUDA_ERROR_INVALID_IMAGE, "the linked %s is not a fat binary", name);
    if (!r)
        r = choose(&bytes, architecture, &c);
    return r || !c.ptx.entry.kind ? r : take_text(&bytes, &c.ptx, name, out);
}

// Containers without PTX are left out, and so may be symbols: the library of CUDA's device runtime
// is in each program of this kind.
static CUresult linked_texts(const struct em_fat_wrapper *w, unsigned architecture,
                             struct em_texts *out)
{
    CUresult r = CUDA_SUCCESS;
    const char *const *list = w->more;
    out->lenient = true;
    for (unsigned i = 0; !r && i < LINKED_MOST; i++) {
        r = em_readable_else(CUDA_ERROR_INVALID_IMAGE, "the list of linked fat binaries", &list[i],
                             sizeof *list);
        if (r || !list[i])
            break;
        r = linked_text(list[i], i, architecture, out);
    }
    if (!r && !out->count)
        r = em_fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "no linked fat binary has PTX; " EM_CUBIN_ADVICE);
    return r;
}

static CUresult wrapped_texts(const struct em_bytes *bytes, unsigned architecture,
                              struct em_texts *out)
{
    struct em_fat_wrapper w = {0};
    CUresult r = em_bytes_check(bytes, 0, sizeof w);
    if (!r)
        memcpy(&w, bytes->at, sizeof w);
    if (!r && (em_quirk(FAT_BINARY_STRUCT) || bytes->size_B != EM_UNKNOWN_SIZE))
        r = em_fail(CUDA_ERROR_INVALID_IMAGE,
                    "the image is a struct that refers to a fat binary, and not a fat binary");
    if (!r && w.version != EM_FAT_WRAPPER_PLAIN && w.version != EM_FAT_WRAPPER_LINKED)
        r = em_fail(CUDA_ERROR_INVALID_IMAGE,
                    "version %u of the struct that refers to a fat "
                    "binary is unknown",
                    w.version);
    if (r)
        return r;
    if (w.version == EM_FAT_WRAPPER_LINKED && w.more)
        return linked_texts(&w, architecture, out);
    r = em_readable_else(CUDA_ERROR_INVALID_IMAGE, "the fat binary", w.data, sizeof(uint32_t));
    if (!r && (!w.data || !begins(w.data, CONTAINER_MAGIC)))
        r = em_fail(CUDA_ERROR_INVALID_IMAGE,
                    "the struct does not refer to a fat binary (data is %p)", (const void *)w.data);
    return r ? r : container_text(&(struct em_bytes){w.data, EM_UNKNOWN_SIZE}, architecture, out);
}

CUresult em_fat_binary_texts(const struct em_bytes *bytes, unsigned architecture,
                             struct em_texts *out)
{
    em_assert_unlocked();
    return begins(bytes->at, WRAPPER_MAGIC) ? wrapped_texts(bytes, architecture, out)
                                            : container_text(bytes, architecture, out);
}

CUresult em_fat_binaries_texts(const struct em_bytes *bytes, uint64_t from, uint64_t size_B,
                               unsigned architecture, const char *name, struct em_texts *out)
{
    em_assert_unlocked();
    CUresult r = em_bytes_check(bytes, from, size_B);
    uint64_t at = from, left_B = size_B;
    while (!r && left_B >= sizeof(struct em_fat_container)) {
        const struct em_bytes one = {bytes->at + at, left_B};
        struct em_fat_container head;
        struct choice c;
        memcpy(&head, one.at, sizeof head);
        if (head.magic != (uint32_t)CONTAINER_MAGIC || head.head_B < sizeof head ||
            head.head_B > left_B || head.rest_B > left_B - head.head_B)
            return em_fail(CUDA_ERROR_INVALID_IMAGE, "a fat binary in %s is damaged", name);
        r = choose(&one, architecture, &c);
        if (!r && c.ptx.entry.kind)
            r = take_text(&one, &c.ptx, name, out);
        const uint64_t step_B =
            (head.head_B + head.rest_B + 7) / 8 * 8; // the last one may be shorter
        at += step_B;
        left_B -= step_B < left_B ? step_B : left_B;
    }
    return r;
}
