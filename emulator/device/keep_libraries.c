// SPDX-License-Identifier: MIT
// Finds the libraries that are loaded, and marks those that must not be unloaded.
#include "keep_libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "alloc.h"
#include "lock.h"

enum { LIBRARIES_MAX = 1024 };

struct em_libraries {
    unsigned count;
    const ElfW(Phdr) * headers[LIBRARIES_MAX]; // each library has its own
};

// A list of names. dlopen must not be called inside dl_iterate_phdr, which holds a lock of the
// loader.
struct names {
    const struct em_libraries *before;
    unsigned count;
    char *name[LIBRARIES_MAX];
};

static int note_library(struct dl_phdr_info *info, size_t size, void *libraries)
{
    (void)size;
    struct em_libraries *l = libraries;
    if (l->count < LIBRARIES_MAX)
        l->headers[l->count++] = info->dlpi_phdr;
    return 0;
}

static bool is_listed(const struct em_libraries *l, const ElfW(Phdr) * headers)
{
    for (unsigned i = 0; i < l->count; i++) {
        if (l->headers[i] == headers)
            return true;
    }
    return l->count == LIBRARIES_MAX; // unknown
}

static int note_new_name(struct dl_phdr_info *info, size_t size, void *names)
{
    (void)size;
    struct names *n = names;
    if (n->count == LIBRARIES_MAX || !*info->dlpi_name || is_listed(n->before, info->dlpi_phdr))
        return 0;
    size_t bytes = strlen(info->dlpi_name) + 1;
    char *name = dm_alloc(bytes);
    if (name)
        n->name[n->count++] = memcpy(name, info->dlpi_name, bytes);
    return 0;
}

struct em_libraries *em_libraries_now(void)
{
    struct em_libraries *l = dm_calloc(1, sizeof *l);
    if (l)
        dl_iterate_phdr(note_library, l);
    return l;
}

void em_libraries_keep_new(struct em_libraries *before)
{
    em_assert_unlocked();
    struct names *names = before ? dm_calloc(1, sizeof *names) : NULL;
    if (names) {
        names->before = before;
        dl_iterate_phdr(note_new_name, names);
        for (unsigned i = 0; i < names->count; i++) {
            void *library = dlopen(names->name[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
            if (library)
                dlclose(library); // the mark stays
            dm_free(names->name[i]);
        }
        dm_free(names);
    }
    dm_free(before);
}
