// SPDX-License-Identifier: MIT
// Reads the few ELF tables that the warnings of `cardless run` need. Every offset is checked
// against the file's size, because the file may be damaged or hostile.
#include "elf_facts.h"

#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const unsigned char *bytes;
    uint64_t size_B;
};

// A pointer to `count` items of `item_B` bytes at `offset`, or NULL if they are not all inside
// the file.
static const void *at(const struct image *f, uint64_t offset, uint64_t count, uint64_t item_B)
{
    uint64_t size_B;
    if (__builtin_mul_overflow(count, item_B, &size_B) || offset > f->size_B ||
        size_B > f->size_B - offset)
        return NULL;
    return f->bytes + offset;
}

// The string at `index` of a string table, or "" if it does not end inside the table.
static const char *string_at(const struct image *f, uint64_t table, uint64_t table_B,
                             uint64_t index)
{
    const char *s = index < table_B ? at(f, table + index, table_B - index, 1) : NULL;
    return s && memchr(s, 0, table_B - index) ? s : "";
}

// Returns the file offset of a virtual address, or 0 if no loadable segment contains it.
static uint64_t offset_of(const struct image *f, const Elf64_Ehdr *eh, uint64_t address)
{
    for (unsigned i = 0; i < eh->e_phnum; i++) {
        const Elf64_Phdr *ph = at(f, eh->e_phoff + i * sizeof *ph, 1, sizeof *ph);
        if (ph && ph->p_type == PT_LOAD && address >= ph->p_vaddr &&
            address - ph->p_vaddr < ph->p_filesz)
            return ph->p_offset + (address - ph->p_vaddr);
    }
    return 0;
}

static void read_dynamic(const struct image *f, const Elf64_Ehdr *eh, const Elf64_Phdr *ph,
                         struct elf_facts *facts)
{
    uint64_t count = ph->p_filesz / sizeof(Elf64_Dyn), strings = 0, strings_B = 0, rpath = 0;
    const Elf64_Dyn *d = at(f, ph->p_offset, count, sizeof *d);
    bool has_rpath = false, has_runpath = false;
    if (!d)
        return;
    for (uint64_t i = 0; i < count && d[i].d_tag != DT_NULL; i++) {
        if (d[i].d_tag == DT_STRTAB)
            strings = offset_of(f, eh, d[i].d_un.d_ptr);
        else if (d[i].d_tag == DT_STRSZ)
            strings_B = d[i].d_un.d_val;
        else if (d[i].d_tag == DT_RPATH)
            has_rpath = true, rpath = d[i].d_un.d_val;
        else if (d[i].d_tag == DT_RUNPATH)
            has_runpath = true;
    }
    for (uint64_t i = 0; i < count && d[i].d_tag != DT_NULL; i++) {
        if (d[i].d_tag != DT_NEEDED)
            continue;
        const char *name = string_at(f, strings, strings_B, d[i].d_un.d_val);
        facts->needs_cuda |= !strncmp(name, "libcuda.so", 10);
        facts->needs_cudart |= !strncmp(name, "libcudart.so", 12);
    }
    // ld.so(8): DT_RPATH comes before LD_LIBRARY_PATH, and is ignored if there is a DT_RUNPATH.
    if (has_rpath && !has_runpath)
        snprintf(facts->rpath, sizeof facts->rpath, "%s", string_at(f, strings, strings_B, rpath));
}

static void read_sections(const struct image *f, const Elf64_Ehdr *eh, struct elf_facts *facts)
{
    const Elf64_Shdr *sh = at(f, eh->e_shoff, eh->e_shnum, sizeof *sh);
    if (!sh || eh->e_shstrndx >= eh->e_shnum)
        return;
    const Elf64_Shdr *names = &sh[eh->e_shstrndx];
    for (unsigned i = 0; i < eh->e_shnum; i++) {
        const char *name = string_at(f, names->sh_offset, names->sh_size, sh[i].sh_name);
        facts->has_device_code |= !strcmp(name, ".nv_fatbin") || !strcmp(name, ".nvFatBinSegment");
    }
}

void elf_read(const char *path, struct elf_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof(Elf64_Ehdr)) {
        close(fd);
        return;
    }
    struct image f = {.size_B = (uint64_t)st.st_size};
    void *map = mmap(NULL, f.size_B, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return;
    f.bytes = map;
    const Elf64_Ehdr *eh = map;
    facts->is_elf = !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
                    eh->e_ident[EI_DATA] == ELFDATA2LSB && eh->e_phentsize == sizeof(Elf64_Phdr);
    if (facts->is_elf) {
        facts->is_setid = st.st_mode & (S_ISUID | S_ISGID);
        for (unsigned i = 0; i < eh->e_phnum; i++) {
            const Elf64_Phdr *ph = at(&f, eh->e_phoff + i * sizeof *ph, 1, sizeof *ph);
            if (ph && ph->p_type == PT_DYNAMIC) {
                facts->is_dynamic = true;
                read_dynamic(&f, eh, ph, facts);
            }
        }
        if (eh->e_shentsize == sizeof(Elf64_Shdr))
            read_sections(&f, eh, facts);
    }
    munmap(map, f.size_B);
}
