// SPDX-License-Identifier: MIT
// The functions that the dynamic loader calls (rtld-audit(7)). After the loader has mapped an
// object and its dependencies, and before their code runs, the object's symbol table shows if it
// contains a static runtime. Nothing else of the runtime is read.
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "linker.h"
#include "nvrtc.h"
#include "object.h"
#include "patch.h"
#include "target.h"

#define EXPORT __attribute__((visibility("default")))

enum { ENTRIES_MAX = 1024, PENDING_MAX = 1024, PATCHED_MAX = 256 };

static struct link_map *pending[PENDING_MAX]; // objects that were opened and not scanned yet
static size_t pending_count, dropped_count;
static struct patched {
    struct link_map *map; // NULL after the object was closed
    uint64_t code;        // an address of its functions; 0: a free element
    struct rd_stubs stubs;
    void *cells[RD_NVRTC_ENTRIES]; // of a compiler
} patched[PATCHED_MAX];

// The result of scanning one object. One variable is enough because the loader calls these
// functions with its lock held.
static struct scan {
    uint64_t base;
    struct rd_entry entries[ENTRIES_MAX];
    void *const *cells[ENTRIES_MAX][RD_VERSIONS]; // of each entry, NULL in versions without it
    size_t count;
    bool only[RD_VERSIONS]; // a function that only this version has
    bool is_older;          // a function that CUDA 12 has dropped
    unsigned refused;       // functions whose entries cannot be overwritten
    bool has_short;         // a function is shorter than the bytes that take its place
    bool uses_shared;       // it imports __cudaRegisterFatBinary from another object
} scan;

// The functions of a static runtime are hidden. A library that exports these names is a runtime
// itself, or intercepts calls to one.
static bool is_hidden(const Elf64_Sym *symbol)
{
    return ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_HIDDEN;
}

static void collect_function(void *context, const char *name, const Elf64_Sym *symbol)
{
    if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6))
        return;
    if (!symbol->st_shndx || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !is_hidden(symbol))
        return;
    scan.is_older |= !strcmp(name, "cudaBindTexture");
    void *const *cell_12 = rd_target_cell(RD_VERSION_12, name);
    void *const *cell_13 = rd_target_cell(RD_VERSION_13, name);
    if (!cell_12 && !cell_13)
        return;
    if (scan.count == ENTRIES_MAX) {
        scan.refused++;
        return;
    }
    scan.has_short |= symbol->st_size < RD_ENTRY_B;
    scan.only[RD_VERSION_12] |= !cell_13;
    scan.only[RD_VERSION_13] |= !cell_12;
    scan.cells[scan.count][RD_VERSION_12] = cell_12;
    scan.cells[scan.count][RD_VERSION_13] = cell_13;
    scan.entries[scan.count++].address = scan.base + symbol->st_value;
}

// Takes the functions of the runtime's own version, because some have other arguments in the other
// one. A static runtime is one object, so a program that has one function has all of them: a name
// that only one version has tells which it is.
static void choose_version(void)
{
    const enum rd_version version =
        scan.only[RD_VERSION_12] && !scan.only[RD_VERSION_13] ? RD_VERSION_12 : RD_VERSION_13;
    size_t kept = 0;
    for (size_t i = 0; i < scan.count; i++) {
        scan.entries[kept] = (struct rd_entry){scan.entries[i].address, scan.cells[i][version]};
        kept += scan.cells[i][version] != NULL;
    }
    scan.count = kept;
}

static void find_shared_import(void *context, const char *name, const Elf64_Sym *symbol)
{
    scan.uses_shared |= !strcmp(name, "__cudaRegisterFatBinary");
}

static const char *name_of(const struct link_map *map)
{
    return map->l_name && *map->l_name ? map->l_name : "/proc/self/exe";
}

static struct patched *free_element(void)
{
    for (int i = 0; i < PATCHED_MAX; i++)
        if (!patched[i].code)
            return &patched[i];
    return NULL;
}

static void remember(struct link_map *map, const struct rd_stubs *stubs)
{
    struct patched *p = free_element();
    if (!p)
        return;
    p->map = map;
    p->code = scan.entries[0].address;
    p->stubs = *stubs;
}

static bool is_mapped(uint64_t address)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return !msync((void *)(uintptr_t)(address & ~(page - 1)), 1, MS_ASYNC) || errno != ENOMEM;
}

// The loader also closes objects when the process ends, but leaves their code, and threads and
// destructors of other objects may still call it. So stubs are kept while the code is mapped.
static void forget_closed(void)
{
    const int error = errno;
    for (int i = 0; i < PATCHED_MAX; i++) {
        if (patched[i].code && !patched[i].map && !is_mapped(patched[i].code)) {
            rd_unpatch(&patched[i].stubs);
            patched[i].code = 0;
        }
    }
    errno = error;
}

// Reports that an object without symbols cannot be redirected.
static void explain_stripped(const struct link_map *map)
{
    fprintf(stderr,
            "cardless: %s contains a static CUDA runtime without its symbols, which cannot be "
            "redirected: link with -cudart shared, or do not strip it (strip -g keeps them)\n",
            *map->l_name ? map->l_name : program_invocation_name);
}

// The functions of CUDA 11 have the names of those of CUDA 12, and some have other arguments.
static void explain_older(const struct link_map *map)
{
    fprintf(stderr,
            "cardless: the static CUDA runtime of %s is older than CUDA 12, and is not redirected: "
            "build it with CUDA 12 or 13\n",
            *map->l_name ? map->l_name : program_invocation_name);
}

static int by_address(const void *a, const void *b)
{
    const struct rd_entry *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

// Refuses the object if other code begins inside the bytes that would be overwritten. A short
// function is followed by padding, or by another function, which has a symbol.
static void refuse_neighbour(void *context, const char *name, const Elf64_Sym *symbol)
{
    const uint64_t address = scan.base + symbol->st_value;
    size_t low = 0, high = scan.count; // entries below `low` are below the symbol
    if (!symbol->st_shndx || ELF64_ST_TYPE(symbol->st_info) > STT_FUNC)
        return;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (scan.entries[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    scan.refused += low && address - scan.entries[low - 1].address < RD_ENTRY_B;
}

// Refuses functions that overlap, or that the linker has merged because their code is the same.
static void refuse_merged(void)
{
    qsort(scan.entries, scan.count, sizeof *scan.entries, by_address);
    for (size_t i = 1; i < scan.count; i++)
        scan.refused += scan.entries[i].address - scan.entries[i - 1].address < RD_ENTRY_B;
}

static void redirect_compiler(struct link_map *map, const struct rd_file *file)
{
    struct rd_stubs stubs;
    struct patched *p = free_element();
    if (!p) {
        fprintf(stderr, "cardless: NVRTC in %s is not redirected, because too many objects are\n",
                name_of(map));
        return;
    }
    scan.count = rd_nvrtc_entries(file, map->l_addr, p->cells, scan.entries);
    if (scan.count && !rd_patch(scan.entries, scan.count, &stubs))
        remember(map, &stubs);
}

static void redirect(struct link_map *map)
{
    struct rd_file file;
    struct rd_stubs stubs;
    if (rd_file_open(&file, name_of(map)))
        return;
    if (rd_is_nvrtc(name_of(map))) {
        redirect_compiler(map, &file);
        rd_file_close(&file);
        return;
    }
    scan.base = map->l_addr;
    scan.count = scan.refused = 0;
    scan.has_short = scan.uses_shared = scan.is_older = false;
    scan.only[RD_VERSION_12] = scan.only[RD_VERSION_13] = false;
    const bool has_symbols = rd_file_symbols(&file, SHT_SYMTAB, collect_function, NULL);
    if (!scan.count && rd_file_has_section(&file, ".nvFatBinSegment")) {
        rd_file_symbols(&file, SHT_DYNSYM, find_shared_import, NULL);
        if (!scan.uses_shared && !has_symbols)
            explain_stripped(map);
    }
    choose_version();
    refuse_merged();
    if (scan.has_short)
        rd_file_symbols(&file, SHT_SYMTAB, refuse_neighbour, NULL);
    rd_file_close(&file);
    if (!scan.count)
        return;
    if (scan.is_older) {
        explain_older(map);
        return;
    }
    if (scan.refused || rd_patch(scan.entries, scan.count, &stubs))
        fprintf(
            stderr,
            "cardless: cannot redirect the static CUDA runtime of %s: of its %zu functions, %u are "
            "too short or merged with others: link with -cudart shared\n",
            *map->l_name ? map->l_name : program_invocation_name, scan.count, scan.refused);
    else
        remember(map, &stubs);
}

EXPORT unsigned la_version(unsigned version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

// Records objects of the program's own namespace. The result 0 means that the loader should not
// report symbol bindings.
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t namespace_id, uintptr_t *cookie)
{
    *cookie = (uintptr_t)map;
    if (namespace_id != LM_ID_BASE)
        return 0;
    if (pending_count < PENDING_MAX)
        pending[pending_count++] = map;
    else if (!dropped_count++)
        fprintf(stderr,
                "cardless: more than %d objects are being loaded at once; a static runtime in %s "
                "or a later one is not redirected\n",
                PENDING_MAX, map->l_name);
    return 0;
}

EXPORT unsigned la_objclose(uintptr_t *cookie)
{
    for (int i = 0; i < PATCHED_MAX; i++)
        if (patched[i].map && (uintptr_t)patched[i].map == *cookie)
            patched[i].map = NULL;
    for (size_t i = 0; i < pending_count; i++)
        if ((uintptr_t)pending[i] == *cookie)
            pending[i] = NULL;
    return 0;
}

// At LA_ACT_CONSISTENT all new objects are mapped and closed ones are not. LA_PREINIT would be too
// late, because constructors, which register fat binaries, have run then.
EXPORT void la_activity(uintptr_t *cookie, unsigned flag)
{
    if (flag != LA_ACT_CONSISTENT)
        return;
    forget_closed();
    if (!pending_count)
        return;
    const size_t count = pending_count;
    pending_count = 0;
    if (rd_targets_read())
        return;
    for (size_t i = 0; i < count; i++)
        if (pending[i])
            redirect(pending[i]);
}

// Whether a file has this name, or this name with a longer version.
static bool is_version_of(const char *base, const char *soname)
{
    const size_t length = strlen(soname);
    return !strncmp(base, soname, length) && (!base[length] || base[length] == '.');
}

// Replaces any other libcudart.so.13 or libcudart.so.12, even if an RPATH or an absolute path leads
// to it. Other major versions are left alone because they have other functions.
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name, *path = NULL;
    if (rd_linker_search(name, &path))
        return (char *)(uintptr_t)path;
    if (is_version_of(base, "libcudart.so.13") && !rd_targets_read())
        path = rd_target_path(RD_VERSION_13);
    else if (is_version_of(base, "libcudart.so.12") && !rd_targets_read())
        path = rd_target_path(RD_VERSION_12);
    return (char *)(uintptr_t)(path ? path : name);
}
