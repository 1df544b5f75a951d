// SPDX-License-Identifier: MIT
// Reads the symbol tables of an ELF file.
#include "object.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// A pointer to `count` items of `item_B` bytes at `offset`, or NULL if they are not all inside the
// file.
static const void *at(const struct rd_file *file, uint64_t offset, uint64_t count, uint64_t item_B)
{
    uint64_t size_B;
    if (__builtin_mul_overflow(count, item_B, &size_B) || offset > file->size_B ||
        size_B > file->size_B - offset || offset % 8)
        return NULL;
    return file->bytes + offset;
}

// Returns the text at `index` of a string table, or "" if it does not end inside the table.
static const char *string_at(const struct rd_file *file, const Elf64_Shdr *table, uint64_t index)
{
    if (table->sh_offset > file->size_B || table->sh_size > file->size_B - table->sh_offset ||
        index >= table->sh_size)
        return "";
    const char *text = (const char *)file->bytes + table->sh_offset + index;
    return memchr(text, 0, table->sh_size - index) ? text : "";
}

static bool read_header(struct rd_file *file)
{
    const Elf64_Ehdr *header = at(file, 0, 1, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64 ||
        header->e_shentsize != sizeof(Elf64_Shdr))
        return false;
    file->sections = at(file, header->e_shoff, header->e_shnum, sizeof(Elf64_Shdr));
    file->section_count = file->sections ? header->e_shnum : 0;
    return true;
}

int rd_file_open(struct rd_file *file, const char *path)
{
    struct stat status;
    *file = (struct rd_file){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    void *bytes = MAP_FAILED;
    if (!fstat(fd, &status) && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return -1;
    file->bytes = bytes;
    file->size_B = (uint64_t)status.st_size;
    if (read_header(file))
        return 0;
    rd_file_close(file);
    return -1;
}

void rd_file_close(struct rd_file *file)
{
    munmap((void *)(uintptr_t)file->bytes, file->size_B);
    *file = (struct rd_file){0};
}

bool rd_file_has_section(const struct rd_file *file, const char *name)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file->bytes;
    if (header->e_shstrndx >= file->section_count)
        return false;
    const Elf64_Shdr *names = &file->sections[header->e_shstrndx];
    for (unsigned i = 0; i < file->section_count; i++)
        if (!strcmp(string_at(file, names, file->sections[i].sh_name), name))
            return true;
    return false;
}

bool rd_file_symbols(const struct rd_file *file, uint32_t type,
                     void (*visit)(void *context, const char *name, const Elf64_Sym *symbol),
                     void *context)
{
    for (unsigned i = 0; i < file->section_count; i++) {
        const Elf64_Shdr *table = &file->sections[i];
        if (table->sh_type != type || table->sh_link >= file->section_count)
            continue;
        const uint64_t count = table->sh_size / sizeof(Elf64_Sym);
        const Elf64_Sym *symbols = at(file, table->sh_offset, count, sizeof *symbols);
        for (uint64_t s = 0; symbols && s < count; s++) {
            const char *name = string_at(file, &file->sections[table->sh_link], symbols[s].st_name);
            if (*name)
                visit(context, name, &symbols[s]);
        }
        return symbols != NULL;
    }
    return false;
}
