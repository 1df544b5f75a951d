// SPDX-License-Identifier: MIT
// Linkers: their inputs, and the images that they make.
//
//     cuLinkAddData ──▶ texts ──each alone, then all──▶ checked ──cuLinkComplete──▶ image
#include "linker.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "cubin.h"
#include "error.h"
#include "image.h"
#include "linked_image.h"
#include "lock.h"
#include "object.h"
#include "object_file.h"
#include "pointer_check.h"
#include "program.h"
#include "ptx_image.h"
#include "quirk.h"
#include "record_content.h"
#include "text_image.h"

struct em_linker {
    struct em_object object; // type EM_LINK
    bool busy;               // a thread uses the rest; under em_lock
    unsigned architecture;
    unsigned inputs;
    struct em_texts texts;
    CUresult failed; // of an input that does not go with others
    char *image;     // NULL until complete
    uint64_t image_B;
    struct em_link_own own;
};

// ---- life ----

static void finish_linker(struct em_object *object)
{
    struct em_linker *l = (struct em_linker *)object;
    em_assert_locked();
    em_texts_finish(&l->texts);
    dm_free(l->image);
    dm_free(l);
}

CUresult em_link_create(const unsigned *target, const struct em_register_limit *registers,
                        const struct em_link_own *own, CUlinkState *out)
{
    em_assert_unlocked();
    struct em_linker *l = dm_calloc(1, sizeof *l);
    if (!l)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a linker");
    l->architecture = target ? *target : em_image_architecture();
    l->texts.registers = *registers;
    l->own = *own;
    em_lock();
    CUresult r = em_object_start(&l->object, EM_LINK, em_self.current, finish_linker);
    if (!r)
        *out = (CUlinkState)(uintptr_t)l->object.handle;
    em_unlock();
    if (r)
        dm_free(l);
    return r;
}

// Finds a linker for one thread, which should give it back.
static CUresult take(CUlinkState handle, struct em_linker **out)
{
    em_lock();
    CUresult r = em_object_get(EM_LINK, handle, CUDA_ERROR_INVALID_HANDLE, out);
    if (!r && (*out)->busy)
        r = em_fail(CUDA_ERROR_NOT_PERMITTED, "another thread uses the CUlinkState");
    if (!r) {
        (*out)->busy = true;
        em_object_ref(&(*out)->object);
    }
    em_unlock();
    return r;
}

static CUresult give(struct em_linker *l, CUresult r)
{
    em_lock();
    l->busy = false;
    em_object_unref(&l->object);
    em_unlock();
    return r;
}

CUresult em_link_own(CUlinkState state, struct em_link_own *own)
{
    em_assert_unlocked();
    struct em_linker *l;
    CUresult r = take(state, &l);
    if (r)
        return r;
    *own = l->own;
    return give(l, CUDA_SUCCESS);
}

CUresult em_link_destroy(CUlinkState state)
{
    em_assert_unlocked();
    struct em_linker *l;
    CUresult r = take(state, &l);
    if (r)
        return r;
    em_lock();
    em_object_retire(&l->object);
    em_unlock();
    return give(l, CUDA_SUCCESS);
}

// ---- inputs ----

// Driver 580 reports every mistake of linking as CUDA_ERROR_UNKNOWN after its linker has failed so
// for the first time in a process (recorded: link/logs).
static bool unknown_seen; // atomic

// Messages have a code, so they are held while linking_end may change it.
static bool linking_begin(struct em_message *held)
{
    const bool holds =
        em_quirk(LINK_ERROR_STAYS_UNKNOWN) && __atomic_load_n(&unknown_seen, __ATOMIC_RELAXED);
    if (holds)
        em_message_hold(held);
    return holds;
}

static CUresult linking_end(CUresult r, bool holds, const struct em_message *held)
{
    if (r == CUDA_ERROR_UNKNOWN)
        __atomic_store_n(&unknown_seen, true, __ATOMIC_RELAXED);
    if (!holds)
        return r;
    em_message_end(held);
    if (!r)
        return CUDA_SUCCESS;
    return em_fail(r == CUDA_ERROR_INVALID_SOURCE ? CUDA_ERROR_UNKNOWN : r, "%s", held->text);
}

static CUresult check_type(CUjitInputType type)
{
    switch ((int)type) {
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_PTX:
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
        return CUDA_SUCCESS;
    case CU_JIT_INPUT_NVVM: // (recorded: link/ptx-as-other-type)
        return em_fail(CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
                       "type CU_JIT_INPUT_NVVM needs NVIDIA's compiler; link PTX");
    default:
        return em_fail(CUDA_ERROR_INVALID_VALUE, "type (%d) is not a CUjitInputType", (int)type);
    }
}

static CUresult read_ptx(const struct em_bytes *bytes, unsigned architecture, const char *name,
                         struct em_texts *out)
{
    if (bytes->size_B >= sizeof(uint32_t) && em_is_fat_binary(bytes->at))
        return em_fat_binary_texts(bytes, architecture, out);
    CUresult r = em_texts_add(out, name, bytes->at, bytes->size_B);
    if (!r && !em_text_begins(out->list[out->count - 1].bytes))
        r = em_fail(CUDA_ERROR_INVALID_IMAGE,
                    "the input is neither PTX text (which begins with .version) nor a fat binary");
    return r;
}

static CUresult read_cubin(const struct em_bytes *bytes, struct em_texts *out)
{
    bool linked = false;
    unsigned architecture;
    CUresult r = em_linked_image_texts(bytes, &linked, &architecture, out);
    if (!linked && !r)
        r = em_cubin_check(bytes, 0, bytes->size_B);
    if (!linked && !r)
        r = em_fail(CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "the input is machine code of a real card (a cubin), which Cardless cannot "
                    "link; " EM_CUBIN_ADVICE);
    return r;
}

static CUresult read_input(const struct em_bytes *bytes, CUjitInputType type, const char *name,
                           unsigned architecture, struct em_texts *out)
{
    switch (type) {
    case CU_JIT_INPUT_CUBIN:
        return read_cubin(bytes, out);
    case CU_JIT_INPUT_OBJECT:
        return em_object_texts(bytes, architecture, name, out);
    case CU_JIT_INPUT_LIBRARY:
        return em_archive_texts(bytes, architecture, out);
    default:
        return read_ptx(bytes, architecture, name, out);
    }
}

// Each text for itself, as the card's assembler sees it.
static CUresult check_alone(const struct em_linker *l, const struct em_text *text, bool lenient)
{
    const struct em_texts one = {
        .list = (struct em_text *)(uintptr_t)text, .count = 1, .capacity = 1, .lenient = lenient};
    struct px_module *module;
    CUresult r = em_ptx_parse(&one, PX_LINK_PARTIAL, &module);
    if (r)
        return r;
    if (!lenient)
        r = em_ptx_check_target(module, l->architecture);
    if (!r)
        r = em_ptx_check_kernels(module);
    px_module_free(module);
    return r;
}

static CUresult check_together(const struct em_linker *l)
{
    struct px_module *module;
    CUresult r = em_ptx_parse(&l->texts, PX_LINK_PARTIAL, &module);
    if (!r)
        px_module_free(module);
    return r;
}

// Takes the texts of an input over if they have no mistake.
static CUresult adopt(struct em_linker *l, struct em_texts *texts)
{
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < texts->count && !r; i++)
        r = check_alone(l, &texts->list[i], texts->lenient);
    for (unsigned i = 0; i < texts->count && !r; i++) {
        char *bytes = texts->list[i].bytes;
        texts->list[i].bytes = NULL;
        r = em_texts_take(&l->texts, texts->list[i].name, bytes);
    }
    l->texts.lenient = l->texts.lenient || texts->lenient;
    if (!r)
        l->failed = check_together(l);
    return r ? r : l->failed;
}

static CUresult add(struct em_linker *l, CUjitInputType type, const struct em_bytes *bytes,
                    const char *name)
{
    struct em_texts texts = {0};
    struct em_message held;
    char own_name[32];
    snprintf(own_name, sizeof own_name, "input %u", ++l->inputs);
    if (l->image)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the linker is complete; create another one");
    const bool holds = linking_begin(&held);
    CUresult r = read_input(bytes, type, name && *name ? name : own_name, l->architecture, &texts);
    if (!r)
        r = adopt(l, &texts);
    else if (r == CUDA_ERROR_NO_BINARY_FOR_GPU) // (recorded: link/cubin-as-cubin)
        l->failed = r;
    em_texts_finish(&texts);
    return linking_end(r, holds, &held);
}

CUresult em_link_add(CUlinkState state, CUjitInputType type, const void *data, size_t size_B,
                     const char *name)
{
    em_assert_unlocked();
    struct em_linker *l;
    CUresult r = take(state, &l);
    if (r)
        return r;
    if (!data || !size_B)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, data ? "size is 0" : "data is NULL");
    if (!r)
        r = check_type(type);
    if (!r)
        r = em_readable("data", data, size_B, 1);
    if (!r && em_recording_contents)
        em_record_range(RF_READS, data, size_B);
    if (!r)
        r = add(l, type, &(struct em_bytes){data, size_B}, name);
    return give(l, r);
}

CUresult em_link_add_file(CUlinkState state, CUjitInputType type, const char *path)
{
    em_assert_unlocked();
    struct em_linker *l;
    struct em_bytes bytes = {NULL, 0};
    CUresult r = take(state, &l);
    if (r)
        return r;
    if (l->image) // (recorded: link/nulls)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "the linker is complete; create another one");
    if (!r)
        r = em_image_read_file(path, &bytes);
    if (!r && !bytes.size_B)
        r = em_fail(CUDA_ERROR_INVALID_IMAGE, "%s is empty", path);
    if (!r)
        r = check_type(type);
    const char *name = strrchr(path, '/');
    if (!r)
        r = add(l, type, &bytes, name ? name + 1 : path);
    dm_free((char *)(uintptr_t)bytes.at);
    return give(l, r);
}

// ---- the image ----

// The texts as one module. An input that did not go with the others says why again.
static CUresult join(const struct em_linker *l, struct px_module **out)
{
    CUresult r = l->failed ? check_together(l) : CUDA_SUCCESS;
    if (!r && l->failed)
        r = em_fail(l->failed, "an input could not be linked");
    return r ? r
             : em_ptx_parse(&l->texts, l->texts.lenient ? PX_LINK_LENIENT : PX_LINK_COMPLETE, out);
}

static CUresult complete(struct em_linker *l)
{
    struct px_module *module;
    struct em_message held;
    const bool holds = linking_begin(&held);
    CUresult r = linking_end(join(l, &module), holds, &held);
    if (r)
        return r;
    r = em_ptx_check_kernels(module);
    px_module_free(module);
    return r ? r : em_linked_image_make(&l->texts, l->architecture, &l->image, &l->image_B);
}

CUresult em_link_complete(CUlinkState state, void **image, size_t *size_B)
{
    em_assert_unlocked();
    struct em_linker *l;
    CUresult r = take(state, &l);
    if (r)
        return r;
    if (!image)
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "cubinOut is NULL");
    else if (l->image) // (recorded: link/complete-twice)
        r = em_fail(CUDA_ERROR_INVALID_HANDLE, "the linker is complete already");
    else
        r = complete(l);
    if (!r) {
        *image = l->image;
        if (size_B)
            *size_B = l->image_B;
    }
    return give(l, r);
}
