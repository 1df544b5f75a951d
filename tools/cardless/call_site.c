// SPDX-License-Identifier: MIT
// Reads ELF files of 64 bits: program headers, symbol tables, line tables. The file may be damaged:
// every table is checked against the size of the file.
#include "call_site.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf_line.h"

struct object {
    const uint8_t *data;
    size_t size;
    const Elf64_Shdr *sections;
    unsigned section_count;
};

// The bytes of a part of the file, or NULL.
static const void *part(const struct object *o, uint64_t offset, uint64_t size)
{
    return offset <= o->size && size <= o->size - offset ? o->data + offset : NULL;
}

static bool object_open(const char *path, struct object *o)
{
    struct stat s;
    memset(o, 0, sizeof *o);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (!fstat(fd, &s) && S_ISREG(s.st_mode) && s.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
        void *data = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED)
            *o = (struct object){.data = data, .size = (size_t)s.st_size};
    }
    close(fd);
    if (!o->data)
        return false;
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)o->data;
    if (memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64)
        return true; // an object without anything
    if (e->e_shentsize == sizeof(Elf64_Shdr) && !(e->e_shoff & 7))
        o->sections = part(o, e->e_shoff, (uint64_t)e->e_shnum * sizeof(Elf64_Shdr));
    o->section_count = o->sections ? e->e_shnum : 0;
    return true;
}

static void object_close(struct object *o)
{
    munmap((void *)o->data, o->size);
}

// The virtual address of a byte of the file. Returns false if no segment has it.
static bool find_address(const struct object *o, uint64_t offset, uint64_t *out)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)o->data;
    if (!o->sections || e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phoff & 7)
        return false;
    const Elf64_Phdr *p = part(o, e->e_phoff, (uint64_t)e->e_phnum * sizeof *p);
    for (unsigned i = 0; p && i < e->e_phnum; i++) {
        if (p[i].p_type != PT_LOAD || offset < p[i].p_offset ||
            offset - p[i].p_offset >= p[i].p_filesz)
            continue;
        *out = p[i].p_vaddr + (offset - p[i].p_offset);
        return true;
    }
    return false;
}

static const char *section_name(const struct object *o, unsigned i)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)o->data;
    if (e->e_shstrndx >= o->section_count)
        return "";
    const Elf64_Shdr *names = &o->sections[e->e_shstrndx];
    const char *text = part(o, names->sh_offset, names->sh_size);
    const uint64_t at = o->sections[i].sh_name;
    return text && at < names->sh_size && memchr(text + at, 0, names->sh_size - at) ? text + at
                                                                                    : "";
}

// A section by its name; empty if it is missing or compressed.
static struct dwarf_section section(const struct object *o, const char *name)
{
    for (unsigned i = 0; i < o->section_count; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        if (s->sh_type == SHT_NOBITS || s->sh_flags & SHF_COMPRESSED ||
            strcmp(section_name(o, i), name))
            continue;
        const void *data = part(o, s->sh_offset, s->sh_size);
        return (struct dwarf_section){data, data ? s->sh_size : 0};
    }
    return (struct dwarf_section){NULL, 0};
}

static char *find_function(const struct object *o, uint64_t address)
{
    for (unsigned i = 0; i < o->section_count; i++) {
        const Elf64_Shdr *table = &o->sections[i];
        if ((table->sh_type != SHT_SYMTAB && table->sh_type != SHT_DYNSYM) ||
            table->sh_link >= o->section_count || table->sh_offset & 7)
            continue;
        const Elf64_Shdr *strings = &o->sections[table->sh_link];
        const Elf64_Sym *symbols = part(o, table->sh_offset, table->sh_size);
        const char *names = part(o, strings->sh_offset, strings->sh_size);
        for (uint64_t n = 0; symbols && names && n < table->sh_size / sizeof *symbols; n++) {
            const Elf64_Sym *s = &symbols[n];
            if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || address < s->st_value ||
                address - s->st_value >= s->st_size || s->st_name >= strings->sh_size)
                continue;
            return strndup(names + s->st_name, strings->sh_size - s->st_name);
        }
    }
    return NULL;
}

static void look(const struct object *o, uint64_t address, struct call_site *out)
{
    const struct dwarf_sections sections = {
        .line = section(o, ".debug_line"),
        .line_str = section(o, ".debug_line_str"),
        .str = section(o, ".debug_str"),
    };
    struct dwarf_source source = {NULL, 0};
    if (!out->function)
        out->function = find_function(o, address);
    if (out->file || !sections.line.data)
        return;
    if (dwarf_find_line(&sections, address, &source)) {
        out->file = source.file;
        out->line = source.line;
    } else {
        free(source.file);
    }
}

// Writes the path of the file that has the debug information of an object: its build id names it.
static bool debug_path(const struct object *o, char *out, size_t size)
{
    const struct dwarf_section note = section(o, ".note.gnu.build-id");
    const Elf64_Nhdr *n = (const Elf64_Nhdr *)note.data;
    if (note.size < sizeof *n || n->n_namesz != 4 || n->n_descsz < 2 || n->n_descsz > 64 ||
        note.size - sizeof *n - 4 < n->n_descsz)
        return false;
    const uint8_t *id = note.data + sizeof *n + 4;
    size_t used = (size_t)snprintf(out, size, "/usr/lib/debug/.build-id/%02x/", id[0]);
    for (unsigned i = 1; i < n->n_descsz && used + 8 < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%02x", id[i]);
    snprintf(out + used, size - used, ".debug");
    return true;
}

void call_site_find(const char *object, uint64_t offset, struct call_site *out)
{
    struct object o, debug;
    uint64_t address;
    char path[256];
    *out = (struct call_site){NULL, NULL, 0};
    if (!object_open(object, &o))
        return;
    if (find_address(&o, offset, &address)) {
        look(&o, address, out);
        if (!out->file && debug_path(&o, path, sizeof path) && object_open(path, &debug)) {
            look(&debug, address, out);
            object_close(&debug);
        }
    }
    object_close(&o);
}

void call_site_finish(struct call_site *site)
{
    free(site->function);
    free(site->file);
}
