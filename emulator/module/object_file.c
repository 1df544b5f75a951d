// SPDX-License-Identifier: MIT
// Finds the sections of fat binaries in ELF files, and ELF files in libraries:
//
//     │ "!<arch>\n" │ head of 60 bytes │ member │ head │ member │ …     members begin at even
//     places
#include "object_file.h"

#include <ar.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "lock.h"

enum { SECTIONS_MOST = 1 << 16 };

static CUresult fail(const char *noun, const char *why)
{
    return em_fail(CUDA_ERROR_UNKNOWN, "the input is not %s that can be linked: %s", noun, why);
}

// Whether a section of an ELF file has fat binaries: its name says so. `names` can be read.
static bool has_fat_binaries(const struct em_bytes *bytes, const Elf64_Shdr *names,
                             const Elf64_Shdr *section)
{
    static const char *const wanted[] = {"__nv_relfatbin", ".nv_fatbin"};
    if (section->sh_type != SHT_PROGBITS || section->sh_name >= names->sh_size)
        return false;
    const char *name = bytes->at + names->sh_offset + section->sh_name;
    const uint64_t left = names->sh_size - section->sh_name;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (strlen(wanted[i]) < left && !strncmp(name, wanted[i], left))
            return true;
    return false;
}

static CUresult section_read(const struct em_bytes *bytes, const Elf64_Ehdr *head, unsigned index,
                             Elf64_Shdr *out)
{
    const uint64_t at = head->e_shoff + index * sizeof *out;
    if (at < head->e_shoff)
        return fail("an object file", "its table of sections is damaged");
    CUresult r = em_bytes_check(bytes, at, sizeof *out);
    if (!r)
        memcpy(out, bytes->at + at, sizeof *out);
    return r;
}

CUresult em_object_texts(const struct em_bytes *bytes, unsigned architecture, const char *name,
                         struct em_texts *out)
{
    em_assert_unlocked();
    Elf64_Ehdr head;
    Elf64_Shdr names;
    unsigned found = 0;
    if (bytes->size_B < sizeof head)
        return fail("an object file", "it is too short");
    memcpy(&head, bytes->at, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_shentsize != sizeof names || head.e_shstrndx >= head.e_shnum)
        return fail("an object file", "it is not an ELF file of 64 bits with sections");
    CUresult r = section_read(bytes, &head, head.e_shstrndx, &names);
    if (!r)
        r = em_bytes_check(bytes, names.sh_offset, names.sh_size);
    for (unsigned i = 0; i < head.e_shnum && !r; i++) {
        Elf64_Shdr section;
        r = section_read(bytes, &head, i, &section);
        if (r || !has_fat_binaries(bytes, &names, &section))
            continue;
        r = em_fat_binaries_texts(bytes, section.sh_offset, section.sh_size, architecture, name,
                                  out);
        found++;
    }
    return r || found ? r : fail("an object file", "it has no fat binary");
}

// The size of a member, or -1 if its head is damaged.
static long long member_size(const struct ar_hdr *head)
{
    char digits[sizeof head->ar_size + 1] = "", *end;
    memcpy(digits, head->ar_size, sizeof head->ar_size);
    const long long size_B = strtoll(digits, &end, 10);
    return memcmp(head->ar_fmag, ARFMAG, sizeof head->ar_fmag) || end == digits ? -1 : size_B;
}

CUresult em_archive_texts(const struct em_bytes *bytes, unsigned architecture, struct em_texts *out)
{
    em_assert_unlocked();
    uint64_t at = SARMAG;
    unsigned members = 0;
    CUresult r = CUDA_SUCCESS;
    if (bytes->size_B < SARMAG || memcmp(bytes->at, ARMAG, SARMAG))
        return fail("a library", "it does not begin as one");
    out->lenient = true; // only what is needed of a library is linked
    while (!r && bytes->size_B - at > sizeof(struct ar_hdr)) {
        struct ar_hdr head;
        char name[32];
        memcpy(&head, bytes->at + at, sizeof head);
        at += sizeof head;
        const long long size_B = member_size(&head);
        if (size_B < 0 || (uint64_t)size_B > bytes->size_B - at)
            return fail("a library", "the size of a member is damaged");
        const struct em_bytes member = {bytes->at + at, (uint64_t)size_B};
        snprintf(name, sizeof name, "member %u", ++members);
        if (size_B > SELFMAG && !memcmp(member.at, ELFMAG, SELFMAG))
            r = em_object_texts(&member, architecture, name, out);
        at += (uint64_t)size_B + (size_B & 1);
        if (at > bytes->size_B)
            break;
    }
    return r;
}
