// SPDX-License-Identifier: MIT
// Keeps the bytes that calls read from the program's memory, and hashes of those that they write.
#include "record_content.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "config.h"
#include "guard.h"
#include "record.h"
#include "record_file.h"

bool em_recording_contents;

enum {
    HERE_MOST_B = 4096, // of bytes that are kept in the record
    OUTPUT_MOST_B = 64, // likewise, of bytes that were written
    PART_B = 64 << 10,  // is read at once
    KNOWN = 1 << 12,    // blocks whose hash is remembered
    FIELDS = 13,
};

// Blocks that are in the file, each at a place that its hash gives: 32 bits of the hash, and the
// block. Atomic. A reader compares the whole hash with the bytes.
static uint64_t known[KNOWN];
static struct rf_header *header; // of the file; its counts of contents are atomic

// ---- reading ----

struct reading {
    const struct em_record_bytes *bytes;
    uint64_t from, size_B; // of all rows without gaps
    uint8_t *to;
};

static void gather(void *argument)
{
    const struct reading *r = argument;
    const struct em_record_bytes *b = r->bytes;
    const uint8_t *base = b->at ? b->at : (const uint8_t *)(uintptr_t)b->address;
    uint64_t done = 0;
    while (done < r->size_B) {
        const uint64_t at = r->from + done, row = at / b->row_B, x = at % b->row_B;
        const uint64_t left = b->row_B - x, wanted = r->size_B - done;
        const uint64_t some = left < wanted ? left : wanted;
        memcpy(r->to + done, base + row / b->rows * b->slice_B + row % b->rows * b->pitch_B + x,
               some);
        done += some;
    }
}

static bool read_part(const struct em_record_bytes *b, uint64_t from, uint64_t size_B, void *to)
{
    struct reading r = {b, from, size_B, to};
    return !dm_guarded_foreign(gather, &r, NULL);
}

// Returns 0 if some of the bytes cannot be read.
static uint64_t hash_of(const struct em_record_bytes *b, uint64_t size_B, uint8_t *part)
{
    struct rf_hash h = RF_HASH_START;
    for (uint64_t at = 0; at < size_B; at += PART_B) {
        const uint64_t some = size_B - at < PART_B ? size_B - at : PART_B;
        if (!read_part(b, at, some, part))
            return 0;
        rf_hash_add(&h, part, some);
    }
    return rf_hash_end(&h);
}

// ---- keeping ----

static bool write_block(const struct em_record_bytes *b, uint64_t size_B, uint8_t *part,
                        uint32_t *out)
{
    const struct rf_block head = {.magic = RF_BLOCK_MAGIC,
                                  .kind = RF_CONTENT,
                                  .sequence =
                                      (uint32_t)((sizeof head + size_B - 1) / RF_BLOCK_B + 1),
                                  .used_B = (uint32_t)size_B};
    const uint32_t first = em_record_take_blocks(head.sequence);
    const uint64_t offset = em_record_block_offset(first);
    int error = em_record_write(&head, sizeof head, offset);
    for (uint64_t at = 0; at < size_B && !error; at += PART_B) {
        const uint64_t some = size_B - at < PART_B ? size_B - at : PART_B;
        if (!read_part(b, at, some, part))
            return false;
        error = em_record_write(part, some, offset + sizeof head + at);
    }
    if (error)
        em_record_stop(error);
    *out = first;
    return !error;
}

static bool spend(uint64_t size_B)
{
    const uint64_t most_B = header->contents_most_B;
    if (size_B > UINT32_MAX / 2 || size_B > most_B)
        return false;
    if (__atomic_add_fetch(&header->contents_B, size_B, __ATOMIC_RELAXED) <= most_B)
        return true;
    __atomic_sub_fetch(&header->contents_B, size_B, __ATOMIC_RELAXED);
    return false;
}

// Returns 1 + the block with the bytes, or 0.
static uint64_t keep(const struct em_record_bytes *b, uint64_t size_B, uint64_t hash, uint8_t *part)
{
    uint64_t *place = &known[(hash ^ size_B) % KNOWN];
    const uint64_t found = __atomic_load_n(place, __ATOMIC_RELAXED);
    uint32_t block;
    if (found && found >> 32 == hash >> 32)
        return 1 + (uint64_t)(uint32_t)found;
    if (spend(size_B) && write_block(b, size_B, part, &block)) {
        __atomic_store_n(place, (hash >> 32 << 32) | block, __ATOMIC_RELAXED);
        return 1 + (uint64_t)block;
    }
    __atomic_add_fetch(&header->contents_cut, 1, __ATOMIC_RELAXED);
    return 0;
}

// ---- records ----

static void put(const struct em_record_bytes *b, uint64_t hash, uint64_t block, const uint8_t *here,
                uint64_t here_B)
{
    const uint64_t fields[] = {b->role,   b->call,    b->address, b->row_B, b->rows, b->pitch_B,
                               b->slices, b->slice_B, hash,       block,    here_B};
    struct em_record r =
        em_record_begin(RF_BYTES, 0, FIELDS * (size_t)EM_FIELD_MOST_B + (size_t)here_B);
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
        em_field(&r, fields[i]);
    em_field_bytes(&r, here, (size_t)here_B);
    em_record_put(&r);
}

void em_record_bytes(const struct em_record_bytes *b)
{
    uint64_t size_B;
    if (!em_recording_contents || !b->row_B || !b->rows || !b->slices ||
        __builtin_mul_overflow(b->row_B, b->rows, &size_B) ||
        __builtin_mul_overflow(size_B, b->slices, &size_B))
        return;
    const bool writes = b->role == RF_WRITES;
    uint8_t small[HERE_MOST_B], *part = small;
    if (b->role != RF_RANGE && size_B > sizeof small)
        part = dm_alloc(PART_B);
    if (b->role == RF_RANGE || !part) {
        put(b, 0, 0, NULL, 0);
        return;
    }
    const uint64_t hash = hash_of(b, size_B, part);
    if (hash && size_B <= (writes ? OUTPUT_MOST_B : HERE_MOST_B))
        put(b, hash, 0, part, size_B);
    else
        put(b, hash, hash && !writes ? keep(b, size_B, hash, part) : 0, NULL, 0);
    if (part != small)
        dm_free(part);
}

void em_record_range(enum rf_role role, const void *at, uint64_t size_B)
{
    em_record_bytes(&(struct em_record_bytes){.role = role,
                                              .call = em_call_now(),
                                              .address = (uintptr_t)at,
                                              .row_B = size_B,
                                              .rows = 1,
                                              .slices = 1});
}

// ---- files ----

static void record_file(int fd, const struct stat *s)
{
    if (!S_ISREG(s->st_mode) || s->st_size <= 0)
        return;
    const size_t size_B = (size_t)s->st_size;
    void *at = mmap(NULL, size_B, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return;
    em_record_bytes(&(struct em_record_bytes){.role = RF_FILE,
                                              .call = em_call_now(),
                                              .address = (uint64_t)fd,
                                              .at = at,
                                              .row_B = size_B,
                                              .rows = 1,
                                              .slices = 1});
    munmap(at, size_B);
}

void em_record_fd(int fd, bool is_taken)
{
    struct stat s;
    if (!em_recording_contents || fd < 0 || fstat(fd, &s))
        return;
    const bool has_bytes = S_ISREG(s.st_mode) && s.st_size > 0;
    const uint64_t fields[] = {
        em_call_now(), (uint64_t)fd, is_taken,
        s.st_dev,      s.st_ino,     has_bytes ? (uint64_t)s.st_size : 0,
    };
    struct em_record r = em_record_begin(RF_FD, 0, FIELDS * (size_t)EM_FIELD_MOST_B);
    for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++)
        em_field(&r, fields[i]);
    em_record_put(&r);
    if (is_taken)
        record_file(fd, &s);
}

void em_record_path(int fd, const char *path)
{
    struct stat s;
    if (!em_recording_contents || fstat(fd, &s))
        return;
    em_record_range(RF_READS, path, strlen(path) + 1);
    record_file(fd, &s);
}

// ---- the settings ----

static void record_setting(const char *name, const char *value)
{
    char text[EM_FIELD_TEXT_B];
    // Where messages and recordings go does not matter to a replay.
    if (!strncmp(name, "CARDLESS_RECORD", 15) || !strcmp(name, "CARDLESS_TRACE") ||
        !strcmp(name, "CARDLESS_LIBDIR") || !strcmp(name, "CARDLESS_DIAGNOSTICS") ||
        !strcmp(name, "CARDLESS_FINDINGS") || !strcmp(name, "CARDLESS_STOP"))
        return;
    snprintf(text, sizeof text, "%s=%s", name, value);
    struct em_record r = em_record_begin(RF_SETTING, 0, EM_FIELD_TEXT_B);
    em_field_text(&r, text);
    em_record_put(&r);
}

void em_record_settings(struct rf_header *of_file)
{
    const uint64_t most_B = em_config()->record_contents_B;
    if (!most_B)
        return;
    memset(known, 0, sizeof known);
    header = of_file;
    header->contents_most_B = most_B;
    em_config_each(record_setting);
    em_recording_contents = true;
}
