// SPDX-License-Identifier: MIT
// Finds out how long an image in the program's memory is, and records it (record_content.h).
#include "record_image.h"

#include <cardless.h>
#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fat_binary.h"
#include "guard.h"
#include "record_content.h"

enum { SECTIONS_MOST = 1 << 12, CONTAINERS_MOST = 1 << 12, TEXT_MOST_B = 1 << 29 };

struct peek {
    const char *from;
    void *to;
    uint64_t size_B; // of a text: the result
};

static void copy(void *argument)
{
    const struct peek *p = argument;
    memcpy(p->to, p->from, p->size_B);
}

static bool peek(const char *from, void *to, uint64_t size_B)
{
    return !dm_guarded_host(copy, &(struct peek){from, to, size_B}, size_B, NULL);
}

static void measure(void *argument)
{
    struct peek *p = argument;
    p->size_B = strnlen(p->from, TEXT_MOST_B);
}

static void record_text(const char *text)
{
    struct peek p = {.from = text};
    if (!dm_guarded_host(measure, &p, TEXT_MOST_B, NULL))
        em_record_range(RF_READS, text, p.size_B + 1);
}

static void record_object(const char *image)
{
    Elf64_Ehdr head;
    if (!peek(image, &head, sizeof head))
        return;
    uint64_t end = sizeof head, last = head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize;
    end = last > end ? last : end;
    for (unsigned i = 0; i < head.e_shnum && i < SECTIONS_MOST; i++) {
        Elf64_Shdr section;
        if (!peek(image + head.e_shoff + (uint64_t)i * sizeof section, &section, sizeof section))
            return;
        last = section.sh_type == SHT_NOBITS ? 0 : section.sh_offset + section.sh_size;
        end = last > end ? last : end;
    }
    last = head.e_phoff + (uint64_t)head.e_phnum * head.e_phentsize;
    em_record_range(RF_READS, image, last > end ? last : end);
}

static void record_container(const char *container)
{
    struct em_fat_container head;
    if (peek(container, &head, sizeof head))
        em_record_range(RF_READS, container, head.head_B + head.rest_B);
}

static void record_wrapper(const char *image)
{
    struct em_fat_wrapper w;
    if (!peek(image, &w, sizeof w))
        return;
    em_record_range(RF_READS, image, sizeof w);
    em_record_range(RF_ADDRESSES, image + offsetof(struct em_fat_wrapper, data),
                    sizeof w - offsetof(struct em_fat_wrapper, data));
    record_container(w.data);
    const char *const *list = w.more, *container;
    unsigned count = 0;
    while (w.version == EM_FAT_WRAPPER_LINKED && list && count < CONTAINERS_MOST &&
           peek((const char *)&list[count], &container, sizeof container) && container) {
        record_container(container);
        count++;
    }
    if (count)
        em_record_range(RF_ADDRESSES, list, (count + 1ul) * sizeof *list);
}

void em_record_image(const void *image)
{
    static const cardlessModuleDesc table = {.magic = CARDLESS_MODULE_MAGIC};
    const char *at = image;
    char head[sizeof table.magic] = "";
    uint32_t magic = 0;
    if (!peek(at, &magic, sizeof magic)) { // a short text at the end of a page
        record_text(at);
        return;
    }
    if (peek(at, head, sizeof head) && !memcmp(head, &table, sizeof head))
        return;
    if (!memcmp(&magic, ELFMAG, SELFMAG))
        record_object(at);
    else if (magic == EM_FAT_WRAPPER_MAGIC)
        record_wrapper(at);
    else if (magic == EM_FAT_CONTAINER_MAGIC)
        record_container(at);
    else
        record_text(at);
}
