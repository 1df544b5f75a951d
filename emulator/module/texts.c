// SPDX-License-Identifier: MIT
// Lists of PTX texts.
#include "texts.h"

#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "kn_copy.h"

static CUresult fail(uint64_t size_B)
{
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a PTX text of %llu bytes",
                   (unsigned long long)size_B);
}

CUresult em_texts_take(struct em_texts *texts, const char *name, char *bytes)
{
    const uint64_t size_B = strlen(bytes);
    if (texts->count == texts->capacity) {
        const unsigned more = 2 * texts->capacity + 4;
        struct em_text *grown = dm_realloc(texts->list, more * sizeof *grown);
        if (!grown) {
            dm_free(bytes);
            return fail(size_B);
        }
        texts->list = grown;
        texts->capacity = more;
    }
    struct em_text *text = &texts->list[texts->count++];
    *text = (struct em_text){.bytes = bytes, .size_B = size_B};
    snprintf(text->name, sizeof text->name, "%s", name ? name : "");
    return CUDA_SUCCESS;
}

CUresult em_texts_add(struct em_texts *texts, const char *name, const char *bytes, uint64_t size_B)
{
    size_B = strnlen(bytes, size_B);
    char *copy = dm_alloc(size_B + 1);
    if (!copy)
        return fail(size_B);
    kn_copy(copy, bytes, size_B);
    copy[size_B] = 0;
    return em_texts_take(texts, name, copy);
}

void em_texts_finish(struct em_texts *texts)
{
    for (unsigned i = 0; i < texts->count; i++)
        dm_free(texts->list[i].bytes);
    dm_free(texts->list);
    *texts = (struct em_texts){0};
}
