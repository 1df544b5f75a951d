// SPDX-License-Identifier: MIT
// Finds the source lines of calls in the objects that made them.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "call_site.h"
#include "trace_model.h"

enum { HEADERS_MAX = 64 };

// The offset in the file of an object for a byte that was `from_first` bytes after its first one in
// memory. Returns false if the file is not such an object, or is not there any more.
static bool file_offset(const char *path, uint64_t from_first, uint64_t *out)
{
    struct stat s;
    Elf64_Ehdr head;
    Elf64_Phdr headers[HEADERS_MAX];
    if (stat(path, &s) || !S_ISREG(s.st_mode))
        return false;
    FILE *file = fopen(path, "rbe");
    bool works = file && fread(&head, sizeof head, 1, file) == 1 &&
                 !memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 &&
                 head.e_phentsize == sizeof *headers && head.e_phnum <= HEADERS_MAX &&
                 !fseek(file, (long)head.e_phoff, SEEK_SET) &&
                 fread(headers, sizeof *headers, head.e_phnum, file) == head.e_phnum;
    uint64_t first = UINT64_MAX;
    for (unsigned i = 0; works && i < head.e_phnum; i++)
        if (headers[i].p_type == PT_LOAD && headers[i].p_vaddr < first)
            first = headers[i].p_vaddr;
    const uint64_t address = first + from_first;
    bool found = false;
    for (unsigned i = 0; works && i < head.e_phnum && !found; i++) {
        const Elf64_Phdr *h = &headers[i];
        found = h->p_type == PT_LOAD && address >= h->p_vaddr && address - h->p_vaddr < h->p_filesz;
        if (found)
            *out = address - h->p_vaddr + h->p_offset;
    }
    if (file)
        fclose(file);
    return found;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char *place_of(const struct trace_model *m, const struct trace_caller *c)
{
    char text[512];
    struct call_site site = {.function = NULL};
    uint64_t offset;
    if (c->module == TRACE_NONE || !m->modules[c->module].path)
        return NULL;
    const struct trace_module *module = &m->modules[c->module];
    // The address is that of the instruction after the call.
    if (!file_offset(module->path, c->address - module->first - 1, &offset))
        return NULL;
    call_site_find(module->path, offset, &site);
    if (site.file && site.function)
        snprintf(text, sizeof text, "%s:%u (%s)", base_name(site.file), site.line, site.function);
    else if (site.file)
        snprintf(text, sizeof text, "%s:%u", base_name(site.file), site.line);
    else if (site.function)
        snprintf(text, sizeof text, "%s (%s)", base_name(module->path), site.function);
    else
        text[0] = 0;
    call_site_finish(&site);
    return text[0] ? strdup(text) : NULL;
}

void trace_find_places(struct trace_model *m)
{
    for (size_t i = 0; i < m->caller_count; i++)
        if (m->callers[i].address && !m->callers[i].place)
            m->callers[i].place = place_of(m, &m->callers[i]);
}
