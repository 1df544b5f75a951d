// SPDX-License-Identifier: MIT
// Finds the functions of NVRTC by their exported names.
#include "nvrtc.h"

#include <string.h>

// Each pair has the same parameters: a program, and where the bytes or their number go.
static const char *const from[RD_NVRTC_ENTRIES] = {"nvrtcGetCUBIN", "nvrtcGetCUBINSize"};
static const char *const to[RD_NVRTC_ENTRIES] = {"nvrtcGetPTX", "nvrtcGetPTXSize"};

struct found {
    const Elf64_Sym *from[RD_NVRTC_ENTRIES], *to[RD_NVRTC_ENTRIES];
};

bool rd_is_nvrtc(const char *path)
{
    static const char name[] = "libnvrtc.so";
    const char *slash = strrchr(path, '/');
    return !strncmp(slash ? slash + 1 : path, name, sizeof name - 1);
}

static void collect(void *context, const char *name, const Elf64_Sym *symbol)
{
    struct found *found = context;
    if (!symbol->st_shndx || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
        return;
    for (int i = 0; i < RD_NVRTC_ENTRIES; i++) {
        if (!strcmp(name, from[i]) && symbol->st_size >= RD_ENTRY_B)
            found->from[i] = symbol;
        if (!strcmp(name, to[i]))
            found->to[i] = symbol;
    }
}

size_t rd_nvrtc_entries(const struct rd_file *file, uint64_t base, void *cells[RD_NVRTC_ENTRIES],
                        struct rd_entry *out)
{
    struct found found = {{0}, {0}};
    rd_file_symbols(file, SHT_DYNSYM, collect, &found);
    for (int i = 0; i < RD_NVRTC_ENTRIES; i++)
        if (!found.from[i] || !found.to[i])
            return 0;
    for (int i = 0; i < RD_NVRTC_ENTRIES; i++) {
        cells[i] = (void *)(uintptr_t)(base + found.to[i]->st_value);
        out[i] = (struct rd_entry){base + found.from[i]->st_value, &cells[i]};
    }
    return RD_NVRTC_ENTRIES;
}
