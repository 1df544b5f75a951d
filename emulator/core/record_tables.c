// SPDX-License-Identifier: MIT
// Writes facts that a reader should know once: the tables of types, and names of the process.
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "alloc.h"
#include "config.h"
#include "describe.h"
#include "object.h"
#include "record.h"
#include "record_file.h"

// The file has the arrays as they are in memory.
_Static_assert(sizeof(cardlessConstant) == 16 && sizeof(cardlessShape) == 20 &&
                   sizeof(cardlessMember) == 24 && sizeof(int64_t) == 8,
               "version 1 of the tables");

struct builder {
    uint8_t *bytes;
    uint32_t used;
};

static void add_table(struct builder *b, struct rf_table *table, const void *from, uint32_t count,
                      uint32_t stride)
{
    b->used = (b->used + 7) & ~7u;
    *table = (struct rf_table){b->used, count, stride};
    memcpy(b->bytes + b->used, from, (size_t)count * stride);
    b->used += count * stride;
}

void em_record_description(const cardlessTypes *d, uint32_t id)
{
    const cardlessTypesCounts *n = &d->counts;
    const char *const driver_types[] = {"",
#define X(name, text) text,
                                        EM_TYPES(X)
#undef X
    };
    const char *const library_types[] = {"", [CARDLESS_HANDLE_STREAM] = "CUstream"};
    const char *const *types = id ? library_types : driver_types;
    const uint32_t type_count =
        id ? sizeof library_types / sizeof *library_types : (uint32_t)EM_TYPE_COUNT;
    uint32_t pairs[EM_TYPE_COUNT][2];
    char names[EM_TYPE_COUNT * 64];
    uint32_t names_B = 0;
    for (uint32_t i = 0; i < type_count; i++) {
        pairs[i][0] = i;
        pairs[i][1] = names_B;
        names_B += (uint32_t)snprintf(names + names_B, 64, "%s", types[i]) + 1;
    }
    const size_t size = sizeof(struct rf_tables) + n->names_B +
                        n->constants * sizeof(cardlessConstant) +
                        n->members * sizeof(cardlessMember) + n->shapes * sizeof(cardlessShape) +
                        n->cases * sizeof(int64_t) + sizeof pairs + names_B + 64;
    struct rf_tables *tables = dm_calloc(1, size);
    if (!tables)
        return;
    struct builder b = {(uint8_t *)tables, sizeof *tables};
    add_table(&b, &tables->names, d->names, n->names_B, 1);
    add_table(&b, &tables->constants, d->constants, n->constants, sizeof(cardlessConstant));
    add_table(&b, &tables->members, d->members, n->members, sizeof(cardlessMember));
    add_table(&b, &tables->shapes, d->shapes, n->shapes, sizeof(cardlessShape));
    add_table(&b, &tables->cases, d->cases, n->cases, sizeof(int64_t));
    add_table(&b, &tables->types, pairs, type_count, sizeof *pairs);
    struct rf_table type_names;
    add_table(&b, &type_names, names, names_B, 1);
    tables->type_names_at = type_names.at;
    tables->type_names_B = names_B;
    tables->result = d->result;
    tables->size_B = b.used;
    em_record_tables(tables, b.used, id);
    dm_free(tables);
}

static void describe_processor(char out[64])
{
#if defined(__x86_64__)
    unsigned words[12];
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            return;
    memcpy(out, words, sizeof words);
    out[sizeof words] = 0;
#else
    (void)out;
#endif
}

void em_record_describe_process(struct rf_header *h)
{
    static const char *const policies[] = {[EM_EAGER] = "eager",
                                           [EM_PARALLEL] = "parallel",
                                           [EM_LAZY] = "lazy",
                                           [EM_SEEDED] = "seed",
                                           [EM_SCHEDULED] = "schedule"};
    const struct em_config *config = em_config();
    snprintf(h->policy, sizeof h->policy, "%s", policies[config->policy]);
    if (config->policy == EM_SEEDED)
        snprintf(h->policy, sizeof h->policy, "seed:%llu", (unsigned long long)config->policy_seed);
    describe_processor(h->cpu);
    FILE *file = fopen("/proc/self/cmdline", "re");
    const size_t size = file ? fread(h->program, 1, sizeof h->program - 1, file) : 0;
    for (size_t i = 0; i + 1 < size; i++)
        if (!h->program[i])
            h->program[i] = ' ';
    if (file)
        fclose(file);
}

static int record_module(struct dl_phdr_info *info, size_t size, void *unused)
{
    uint64_t first = UINT64_MAX, end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD)
            continue;
        const uint64_t at = info->dlpi_addr + h->p_vaddr;
        first = at < first ? at : first;
        end = at + h->p_memsz > end ? at + h->p_memsz : end;
    }
    if (!end || !em_record_is_new(first ^ end << 16))
        return 0;
    char path[PATH_MAX] = "";
    if (!info->dlpi_name[0] && readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        path[0] = 0;
    struct em_record r = em_record_begin(RF_MODULE, 0, 3 * EM_FIELD_MOST_B + EM_FIELD_TEXT_B);
    em_field(&r, first);
    em_field(&r, end);
    em_field_text(&r, path[0] ? path : info->dlpi_name);
    em_record_put(&r);
    return 0;
}

void em_record_modules(void)
{
    dl_iterate_phdr(record_module, NULL);
}
