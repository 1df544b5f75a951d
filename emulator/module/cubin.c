// SPDX-License-Identifier: MIT
// Checks whether cubins are damaged, so that the message names the right mistake.
#include "cubin.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "error.h"

enum { TABLE_MOST = 1 << 16 };

static CUresult damaged(const char *why)
{
    return em_fail(CUDA_ERROR_INVALID_IMAGE, "the cubin is damaged or truncated: %s", why);
}

// Every section but the first has a type and a place. A file that was cut off has zeros instead.
static CUresult check_sections(const struct em_bytes *bytes, uint64_t at, const Elf64_Ehdr *head)
{
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 1; i < head->e_shnum && !r; i++) {
        Elf64_Shdr section;
        const uint64_t here = at + head->e_shoff + i * sizeof section;
        r = em_bytes_check(bytes, here, sizeof section);
        if (r)
            break;
        memcpy(&section, bytes->at + here, sizeof section);
        if (section.sh_type == SHT_NULL)
            r = damaged("a section has no type");
    }
    return r;
}

CUresult em_cubin_check(const struct em_bytes *bytes, uint64_t at, uint64_t size_B)
{
    Elf64_Ehdr head;
    if (size_B < sizeof head)
        return damaged("its head is missing");
    CUresult r = em_bytes_check(bytes, at, sizeof head);
    if (r)
        return r;
    memcpy(&head, bytes->at + at, sizeof head);
    if (strncmp((const char *)head.e_ident, ELFMAG, SELFMAG))
        return damaged("it does not begin like an ELF file");
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        head.e_shentsize != sizeof(Elf64_Shdr) || !head.e_shnum ||
        head.e_shoff > size_B - sizeof head)
        return damaged("its head is not that of a cubin");
    return check_sections(bytes, at, &head);
}
