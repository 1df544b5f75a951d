// SPDX-License-Identifier: MIT
// Makes images of PTX texts: host functions if a table is registered for their kernels, otherwise
// the interpreter's.
#include "text_image.h"

#include <string.h>

#include "alloc.h"
#include "error.h"
#include "host_table.h"
#include "lock.h"
#include "ptx_image.h"

enum { KERNELS_MOST = 4096 }; // of texts for which a table is searched

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%';
}

// Skips white space and comments.
static const char *skip_blank(const char *at)
{
    for (;;) {
        if (is_space(*at)) {
            at++;
        } else if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n");
        } else if (at[0] == '/' && at[1] == '*') {
            const char *end = strstr(at + 2, "*/");
            at = end ? end + 2 : at + strlen(at);
        } else {
            return at;
        }
    }
}

static const char *skip_word(const char *at)
{
    if (*at == '"') {
        for (at++; *at && *at != '"'; at++)
            at += at[0] == '\\' && at[1];
        return *at ? at + 1 : at;
    }
    if (*at == '.' || is_name(*at))
        at++;
    else
        return at + 1;
    while (is_name(*at))
        at++;
    return at;
}

// Lists the kernels of a text after the first `count`. Returns their number, which may exceed
// KERNELS_MOST.
static unsigned list_entries(const char *at, struct em_text_name *names, unsigned count)
{
    for (at = skip_blank(at); *at; at = skip_blank(at)) {
        const char *word = at;
        at = skip_word(at);
        if (at - word != 6 || memcmp(word, ".entry", 6))
            continue;
        word = skip_blank(at);
        at = *word ? skip_word(word) : word;
        if (count < KERNELS_MOST)
            names[count] = (struct em_text_name){word, (size_t)(at - word)};
        count++;
    }
    return count;
}

bool em_text_begins(const char *text)
{
    return !strncmp(skip_blank(text), ".version", 8);
}

CUresult em_text_image(struct em_texts *texts, const struct em_load *load, struct em_image **out)
{
    em_assert_unlocked();
    if (!em_host_table_exists()) // the names of kernels do not matter
        return em_ptx_image(texts, load, out);
    static const struct em_host_library no_library = {NULL, -1};
    struct em_text_name *names = dm_alloc(KERNELS_MOST * sizeof *names);
    unsigned count = 0;
    if (!names)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the names of kernels");
    for (unsigned i = 0; i < texts->count; i++)
        count = list_entries(texts->list[i].bytes, names, count);
    const cardlessModuleDesc *table =
        count && count <= KERNELS_MOST ? em_host_table_for(names, count) : NULL;
    CUresult r = table ? em_host_table_image(table, no_library, CUDA_ERROR_INVALID_IMAGE, out)
                       : em_ptx_image(texts, load, out);
    dm_free(names);
    return r;
}
