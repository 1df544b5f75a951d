// SPDX-License-Identifier: MIT
// Writes and reads linked images:
//
//     │ ELF head │ texts, each with a final 0 │ names of sections │ 3 sections │
#include "linked_image.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "error.h"
#include "kn_copy.h"

enum { CUDA_MACHINE = 190, SECTIONS = 3, TEXTS = 1, NAMES = 2 };

static const char names[] = "\0.cardless.ptx\0.shstrtab"; // one after the other
enum { TEXTS_NAME = 1, NAMES_NAME = 15, NAMES_B = sizeof names };

struct layout {
    uint64_t texts_at, texts_B, names_at, sections_at, size_B;
};

static struct layout lay_out(const struct em_texts *texts)
{
    struct layout l = {.texts_at = sizeof(Elf64_Ehdr)};
    for (unsigned i = 0; i < texts->count; i++)
        l.texts_B += texts->list[i].size_B + 1;
    l.names_at = l.texts_at + l.texts_B;
    l.sections_at = (l.names_at + NAMES_B + 7) / 8 * 8;
    l.size_B = l.sections_at + SECTIONS * sizeof(Elf64_Shdr);
    return l;
}

// The limit of registers in a field of the section.
static uint64_t pack_limit(const struct em_register_limit *limit)
{
    return limit->most | (uint64_t)limit->overrides << 32;
}

static struct em_register_limit unpack_limit(uint64_t field)
{
    return (struct em_register_limit){(unsigned)field, field >> 32 & 1};
}

CUresult em_linked_image_make(const struct em_texts *texts, unsigned architecture, char **out,
                              uint64_t *size_B)
{
    const struct layout l = lay_out(texts);
    char *image = dm_calloc(1, l.size_B);
    if (!image)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for an image of %llu bytes",
                       (unsigned long long)l.size_B);
    const Elf64_Ehdr head = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = CUDA_MACHINE,
        .e_version = EV_CURRENT,
        .e_shoff = l.sections_at,
        .e_flags = architecture,
        .e_ehsize = sizeof head,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = SECTIONS,
        .e_shstrndx = NAMES,
    };
    const Elf64_Shdr sections[SECTIONS] = {
        [TEXTS] = {.sh_name = TEXTS_NAME,
                   .sh_type = SHT_PROGBITS,
                   .sh_offset = l.texts_at,
                   .sh_size = l.texts_B,
                   .sh_info = texts->lenient,
                   .sh_addralign = 1,
                   .sh_entsize = pack_limit(&texts->registers)},
        [NAMES] = {.sh_name = NAMES_NAME,
                   .sh_type = SHT_STRTAB,
                   .sh_offset = l.names_at,
                   .sh_size = NAMES_B,
                   .sh_addralign = 1},
    };
    memcpy(image, &head, sizeof head);
    memcpy(image + l.names_at, names, sizeof names);
    memcpy(image + l.sections_at, sections, sizeof sections);
    char *to = image + l.texts_at;
    for (unsigned i = 0; i < texts->count; i++) {
        kn_copy(to, texts->list[i].bytes, texts->list[i].size_B);
        to += texts->list[i].size_B + 1;
    }
    *out = image;
    *size_B = l.size_B;
    return CUDA_SUCCESS;
}

// ---- reading ----

// Finds the section of texts by the names of sections, which are ours. *found is false, without an
// error, for other files.
static CUresult find_section(const struct em_bytes *bytes, Elf64_Ehdr *head, Elf64_Shdr *out,
                             bool *found)
{
    Elf64_Shdr sections[SECTIONS];
    *found = false;
    CUresult r = em_bytes_check(bytes, 0, sizeof *head);
    if (r)
        return r;
    memcpy(head, bytes->at, sizeof *head);
    if (head->e_machine != CUDA_MACHINE || head->e_shnum != SECTIONS ||
        head->e_shentsize != sizeof *sections || head->e_shstrndx != NAMES ||
        head->e_shoff > UINT64_MAX / 2)
        return CUDA_SUCCESS;
    r = em_bytes_check(bytes, head->e_shoff, sizeof sections);
    if (r)
        return r;
    memcpy(sections, bytes->at + head->e_shoff, sizeof sections);
    const uint64_t names_at = sections[NAMES].sh_offset;
    if (names_at > UINT64_MAX / 2)
        return CUDA_SUCCESS;
    r = em_bytes_check(bytes, names_at, NAMES_B);
    *found = !r && !memcmp(bytes->at + names_at, names, NAMES_B);
    *out = sections[TEXTS];
    return r;
}

CUresult em_linked_image_texts(const struct em_bytes *bytes, bool *linked, unsigned *architecture,
                               struct em_texts *out)
{
    Elf64_Ehdr head;
    Elf64_Shdr section = {0};
    CUresult r = find_section(bytes, &head, &section, linked);
    if (r || !*linked)
        return r;
    *architecture = head.e_flags;
    r = section.sh_offset > UINT64_MAX / 2
            ? em_fail(CUDA_ERROR_INVALID_IMAGE, "the linked image is damaged")
            : em_bytes_check(bytes, section.sh_offset, section.sh_size);
    out->lenient = section.sh_info != 0;
    out->registers = unpack_limit(section.sh_entsize);
    if (r)
        return r;
    const char *at = bytes->at + section.sh_offset, *end = at + section.sh_size;
    while (!r && at < end) {
        const uint64_t size_B = strnlen(at, (size_t)(end - at));
        char name[32];
        snprintf(name, sizeof name, "input %u", out->count + 1);
        r = em_texts_add(out, name, at, size_B);
        at += size_B + 1;
    }
    return r;
}
