// SPDX-License-Identifier: MIT
// Reads the symbol tables of an ELF file. Every offset is checked against the file's size.
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_file {
    const unsigned char *bytes;
    uint64_t size_B;
    const Elf64_Shdr *sections;
    unsigned section_count;
};

// Maps a file of this machine's kind. Returns 0 or -1.
int rd_file_open(struct rd_file *file, const char *path);
void rd_file_close(struct rd_file *file);

bool rd_file_has_section(const struct rd_file *file, const char *name);

// Calls `visit` for each symbol with a name of the table of this type: SHT_SYMTAB or SHT_DYNSYM.
// Returns false if there is no such table.
bool rd_file_symbols(const struct rd_file *file, uint32_t type,
                     void (*visit)(void *context, const char *name, const Elf64_Sym *symbol),
                     void *context);
