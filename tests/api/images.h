// SPDX-License-Identifier: MIT
// Makes images for tests: fat binaries, object files and libraries. The layout of fat binaries is
// in emulator/module/fat_binary.c.
#pragma once
#include <ar.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    IMAGE_PTX = 1,
    IMAGE_CUBIN = 2,
    IMAGE_HEAD_B = 16,
    IMAGE_ENTRY_B = 64,
    IMAGE_LZ4 = 0x2000,
    IMAGE_ZSTD = 0x8000,
    IMAGE_MOST_B = 1 << 16,
};

struct container {
    unsigned char bytes[IMAGE_MOST_B];
    size_t size_B;
};

static inline void image_put(struct container *c, size_t at, uint64_t value, size_t size_B)
{
    memcpy(c->bytes + at, &value, size_B);
}

static inline void image_begin(struct container *c)
{
    memset(c, 0, sizeof *c);
    image_put(c, 0, 0xba55ed50, 4);
    image_put(c, 4, 1, 2);
    image_put(c, 6, IMAGE_HEAD_B, 2);
    c->size_B = IMAGE_HEAD_B;
}

// Adds an entry, and returns its place. `plain_B` is the size before compression, or 0.
static inline size_t image_add(struct container *c, unsigned kind, unsigned architecture,
                               const void *payload, size_t size_B, unsigned flags, size_t plain_B)
{
    const size_t at = c->size_B, padded_B = (size_B + 7) / 8 * 8;
    image_put(c, at, kind, 2);
    image_put(c, at + 2, 0x101, 2);
    image_put(c, at + 4, IMAGE_ENTRY_B, 4);
    image_put(c, at + 8, padded_B, 8);
    image_put(c, at + 16, plain_B ? size_B : 0, 4);
    image_put(c, at + 28, architecture, 4);
    image_put(c, at + 40, flags | 0x11, 8);
    image_put(c, at + 56, plain_B, 8);
    memcpy(c->bytes + at + IMAGE_ENTRY_B, payload, size_B);
    c->size_B = at + IMAGE_ENTRY_B + padded_B;
    image_put(c, 8, c->size_B - IMAGE_HEAD_B, 8);
    return at;
}

// A fat binary with one text.
static inline size_t image_fat_binary(unsigned char *to, const char *text)
{
    const uint64_t text_B = (strlen(text) + 8) / 8 * 8;
    const uint32_t head[4] = {0xba55ed50, 0x100001, (uint32_t)text_B + 64, 0};
    const uint32_t entry[16] = {0x1010001, 64, (uint32_t)text_B, 0, 0, 0, 0, 52};
    memset(to, 0, 80 + text_B);
    memcpy(to, head, sizeof head);
    memcpy(to + 16, entry, sizeof entry);
    memcpy(to + 80, text, strlen(text));
    return 80 + text_B;
}

// An object file with a section of fat binaries, as nvcc -rdc -c makes them. They follow the
// head of an ELF file, and end at `at`.
static inline size_t image_object_end(unsigned char *to, size_t at)
{
    static const char names[] = "\0__nv_relfatbin\0.names";
    Elf64_Shdr sections[3] = {
        {0},
        {.sh_name = 1,
         .sh_type = SHT_PROGBITS,
         .sh_offset = sizeof(Elf64_Ehdr),
         .sh_size = at - sizeof(Elf64_Ehdr)},
        {.sh_name = 16, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = sizeof names},
    };
    memcpy(to + at, names, sizeof names);
    at = (at + sizeof names + 7) / 8 * 8;
    const Elf64_Ehdr head = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_REL,
        .e_machine = EM_X86_64,
        .e_shoff = at,
        .e_shentsize = sizeof *sections,
        .e_shnum = 3,
        .e_shstrndx = 2};
    memcpy(to, &head, sizeof head);
    memcpy(to + at, sections, sizeof sections);
    return at + sizeof sections;
}

static inline size_t image_object(unsigned char *to, const char *const *texts, unsigned count)
{
    size_t at = sizeof(Elf64_Ehdr);
    for (unsigned i = 0; i < count; i++)
        at += image_fat_binary(to + at, texts[i]);
    return image_object_end(to, at);
}

static inline size_t image_archive_begin(unsigned char *to)
{
    memcpy(to, ARMAG, SARMAG);
    return SARMAG;
}

// The head of a member, which follows it. Returns the end of the member.
static inline size_t image_archive_member(unsigned char *to, size_t at, size_t size_B)
{
    char head[2 * sizeof(struct ar_hdr)];
    snprintf(head, sizeof head, "%-48s%-10zu%s", "member.o/", size_B, ARFMAG);
    memcpy(to + at, head, sizeof(struct ar_hdr));
    return at + sizeof(struct ar_hdr) + size_B + (size_B & 1);
}

static inline size_t image_archive(unsigned char *to, const char *const *texts, unsigned count)
{
    size_t at = image_archive_begin(to);
    for (unsigned i = 0; i < count; i++)
        at = image_archive_member(to, at,
                                  image_object(to + at + sizeof(struct ar_hdr), &texts[i], 1));
    return at;
}
