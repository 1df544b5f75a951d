// SPDX-License-Identifier: MIT
// Translates addresses, handles and descriptors of a recorded process to those of its replay.
//
// The program's own memory is reserved at the addresses that it had, if they are free, and else at
// others. Memory of the driver is known from the outputs of the calls that allocate it.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "replay.h"

enum { PAGE_B = 4096, SMALL = 65536, TRAP_B = 1 << 20, KEY_MOST_B = 64, BUCKETS = 1 << 12 };
#define HOST_MOST_B (UINT64_C(1) << 42)

struct range {
    uint64_t from, end, actual;
    bool is_lost;
};

struct ranges {
    struct range *list; // sorted, without overlaps
    size_t count, capacity;
};

struct pair {
    struct pair *next;
    size_t size_B;
    bool is_lost;
    uint8_t key[KEY_MOST_B], value[KEY_MOST_B];
};

struct file {
    struct file *next;
    uint64_t device, inode;
    int fd;
    bool is_foreign; // made from recorded bytes
};

struct replay_map {
    struct ranges host, driver;
    struct pair *pairs[BUCKETS];
    struct file *files;
    uint8_t *trap; // cannot be accessed
    unsigned paths;
    char folder[64], path[128];
};

// ---- ranges ----

static size_t first_after(const struct ranges *r, uint64_t address)
{
    size_t low = 0, high = r->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (r->list[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct range *range_at(const struct ranges *r, uint64_t address)
{
    const size_t i = first_after(r, address);
    return i < r->count && r->list[i].from <= address ? &r->list[i] : NULL;
}

// Adds a range in place of those that it overlaps.
static bool put_range(struct ranges *r, struct range added)
{
    const size_t at = first_after(r, added.from);
    size_t after = at;
    while (after < r->count && r->list[after].from < added.end)
        after++;
    if (r->count == r->capacity) {
        const size_t more = r->capacity ? 2 * r->capacity : 64;
        struct range *bigger = realloc(r->list, more * sizeof *bigger);
        if (!bigger)
            return false;
        r->list = bigger;
        r->capacity = more;
    }
    memmove(&r->list[at + 1], &r->list[after], (r->count - after) * sizeof *r->list);
    r->count = r->count - (after - at) + 1;
    r->list[at] = added;
    return true;
}

static const struct trace_memory *memory_at(const struct replay *replay, uint64_t address,
                                            uint32_t call)
{
    const struct trace_model *m = replay->model;
    const struct trace_memory *found = NULL;
    const uint64_t time = m->calls[call].end;
    for (size_t i = 0; i < m->memory_count; i++) {
        const struct trace_memory *a = &m->memories[i];
        if (address >= a->address && address - a->address < a->size_B && a->born <= time &&
            (!found || a->born >= found->born))
            found = a;
    }
    return found;
}

// Registered memory is the program's own.
static bool was_driver_memory(const struct replay *replay, uint64_t address)
{
    const struct trace_model *m = replay->model;
    for (size_t i = 0; i < m->memory_count; i++) {
        const struct trace_memory *a = &m->memories[i];
        if (a->address && address >= a->address && address - a->address <= a->size_B &&
            strncmp(a->kind, "registered", strlen("registered")) != 0)
            return true;
    }
    return false;
}

// ---- the program's memory ----

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static bool reserve(struct replay *replay, struct range *r)
{
    const size_t size_B = (size_t)(r->end - r->from);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *at = mmap((void *)(uintptr_t)r->from, size_B, PROT_READ | PROT_WRITE,
                    flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED)
        at = mmap(NULL, size_B, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (at == MAP_FAILED)
        return false;
    r->actual = (uintptr_t)at;
    return put_range(&replay->map->host, *r);
}

// Bytes that could not be read have no hash. Their address remains one that cannot be accessed.
static bool is_known(const struct trace_bytes *b)
{
    return b->hash || b->role == RF_RANGE;
}

static bool reserve_host(struct replay *replay)
{
    const struct trace_contents *c = replay->contents;
    struct range *list = calloc(c->byte_count + 1, sizeof *list);
    size_t count = 0;
    uint64_t total = 0;
    for (size_t i = 0; list && i < c->byte_count; i++) {
        const struct trace_bytes *b = &c->bytes[i];
        const uint64_t from = b->address & ~(uint64_t)(PAGE_B - 1);
        const uint64_t end = (b->address + b->span_B + PAGE_B - 1) & ~(uint64_t)(PAGE_B - 1);
        if (b->role == RF_FILE || !is_known(b) || from < SMALL || end < from ||
            was_driver_memory(replay, from))
            continue;
        list[count++] = (struct range){.from = from, .end = end};
    }
    if (count)
        qsort(list, count, sizeof *list, compare_ranges);
    bool works = list != NULL;
    for (size_t i = 0; works && i < count;) {
        struct range r = list[i++];
        for (; i < count && list[i].from <= r.end; i++)
            r.end = list[i].end > r.end ? list[i].end : r.end;
        total += r.end - r.from;
        works = total <= HOST_MOST_B && reserve(replay, &r);
    }
    free(list);
    return works;
}

bool replay_map_open(struct replay *replay)
{
    struct replay_map *map = replay->map = calloc(1, sizeof *map);
    if (!map || !reserve_host(replay))
        return false;
    map->trap = mmap(NULL, TRAP_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map->trap != MAP_FAILED;
}

static bool is_mapped(uint64_t address)
{
    unsigned char resident;
    return !mincore((void *)(uintptr_t)(address & ~(uint64_t)(PAGE_B - 1)), 1, &resident) ||
           errno != ENOMEM;
}

uint64_t replay_address(const struct replay *replay, uint64_t address, bool *found)
{
    const struct replay_map *map = replay->map;
    const struct range *r = range_at(&map->driver, address);
    r = r ? r : range_at(&map->host, address);
    *found = r && !r->is_lost;
    if (*found)
        return address - r->from + r->actual;
    if (address < SMALL || was_driver_memory(replay, address) || !is_mapped(address))
        return address;
    return (uintptr_t)map->trap + TRAP_B / 2 + address % PAGE_B;
}

bool replay_address_is_lost(const struct replay *replay, uint64_t address)
{
    const struct range *r = range_at(&replay->map->driver, address);
    return r && r->is_lost;
}

void replay_add_memory(struct replay *replay, uint32_t call, uint64_t address, uint64_t actual,
                       bool is_lost)
{
    const struct trace_memory *m = memory_at(replay, address, call);
    struct range r = {address, address + 1, actual, is_lost};
    if (m && m->address <= UINT64_MAX - m->size_B)
        r = (struct range){m->address, m->address + m->size_B, actual - (address - m->address),
                           is_lost};
    put_range(&replay->map->driver, r);
}

bool replay_is_born(const struct replay *replay, uint32_t call, uint64_t address)
{
    const struct trace_memory *m = memory_at(replay, address, call);
    return m && m->born_call == call;
}

// ---- handles ----

static struct pair **bucket(const struct replay *replay, const void *key, size_t size_B)
{
    struct rf_hash h = RF_HASH_START;
    rf_hash_add(&h, key, size_B);
    return &replay->map->pairs[rf_hash_end(&h) % BUCKETS];
}

static struct pair *find_pair(const struct replay *replay, const void *key, size_t size_B)
{
    struct pair *p = size_B <= KEY_MOST_B ? *bucket(replay, key, size_B) : NULL;
    while (p && (p->size_B != size_B || memcmp(p->key, key, size_B)))
        p = p->next;
    return p;
}

enum replay_found replay_find(const struct replay *replay, const void *key, size_t size_B,
                              void *value)
{
    const struct pair *p = find_pair(replay, key, size_B);
    if (!p)
        return REPLAY_UNKNOWN_KEY;
    if (p->is_lost)
        return REPLAY_LOST;
    memcpy(value, p->value, size_B);
    return REPLAY_FOUND;
}

void replay_add(struct replay *replay, const void *key, size_t size_B, const void *value)
{
    struct pair *p = find_pair(replay, key, size_B);
    if (!p && size_B <= KEY_MOST_B) {
        struct pair **head = bucket(replay, key, size_B);
        p = calloc(1, sizeof *p);
        if (!p)
            return;
        p->next = *head;
        p->size_B = size_B;
        memcpy(p->key, key, size_B);
        *head = p;
    }
    if (!p)
        return;
    p->is_lost = !value;
    if (value)
        memcpy(p->value, value, size_B);
}

// ---- files ----

static const struct trace_bytes *file_of(const struct replay *replay, uint32_t call)
{
    const struct trace_bytes *bytes;
    const size_t count = trace_bytes_of(replay->contents, call, &bytes);
    for (size_t i = 0; i < count; i++)
        if (bytes[i].role == RF_FILE && bytes[i].kept)
            return &bytes[i];
    return NULL;
}

// Gives a file the recorded bytes.
static bool write_file(int fd, const struct trace_bytes *b)
{
    uint64_t done = 0;
    while (done < b->size_B) {
        const ssize_t n = pwrite(fd, b->kept + done, b->size_B - done, (off_t)done);
        if (n <= 0)
            return false;
        done += (uint64_t)n;
    }
    return !ftruncate(fd, (off_t)b->size_B);
}

static int make_file(const struct trace_bytes *b)
{
    const int fd = memfd_create("cardless-replay", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && !write_file(fd, b)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void add_file(struct replay *replay, const struct trace_fd *fd, int actual, bool is_foreign)
{
    struct file *f = calloc(1, sizeof *f);
    if (!f)
        return;
    *f = (struct file){replay->map->files, fd->device, fd->inode, dup(actual), is_foreign};
    replay->map->files = f;
}

int replay_fd(struct replay *replay, const struct trace_fd *fd, bool *is_foreign)
{
    const struct trace_bytes *b = file_of(replay, fd->call);
    for (const struct file *f = replay->map->files; f; f = f->next) {
        if (f->device != fd->device || f->inode != fd->inode)
            continue;
        *is_foreign = f->is_foreign;
        // The program may have changed it since the last import.
        return f->is_foreign && (!b || !write_file(f->fd, b)) ? -1 : dup(f->fd);
    }
    *is_foreign = true;
    const int made = b ? make_file(b) : -1;
    if (made >= 0)
        add_file(replay, fd, made, true);
    return made;
}

void replay_add_fd(struct replay *replay, const struct trace_fd *fd, int actual)
{
    add_file(replay, fd, actual, false);
}

const char *replay_path(struct replay *replay, uint32_t call)
{
    struct replay_map *map = replay->map;
    const struct trace_bytes *b = file_of(replay, call);
    const struct trace_fd *fds;
    if (!b || trace_fds_of(replay->contents, call, &fds))
        return NULL;
    // A name that leads to the bytes and needs no folder.
    const int fd = make_file(b);
    if (fd < 0)
        return NULL;
    snprintf(map->path, sizeof map->path, "/proc/self/fd/%d", fd);
    return map->path;
}

// ---- bytes ----

static bool write_row(uint64_t to, const uint8_t *from, uint64_t size_B)
{
    const struct iovec here = {(void *)(uintptr_t)from, size_B},
                       there = {(void *)(uintptr_t)to, size_B};
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size_B;
}

static bool write_box(uint64_t to, const uint8_t *from, const struct trace_bytes *b)
{
    for (uint64_t z = 0; z < b->slices; z++)
        for (uint64_t y = 0; y < b->rows; y++, from += b->row_B)
            if (!write_row(to + z * b->slice_B + y * b->pitch_B, from, b->row_B))
                return false;
    return true;
}

static bool is_genuine(const struct trace_bytes *b)
{
    struct rf_hash h = RF_HASH_START;
    rf_hash_add(&h, b->kept, b->size_B);
    return rf_hash_end(&h) == b->hash;
}

// Replaces words that are addresses of driver's memory, or handles, that have moved.
static uint64_t translate_word(const struct replay *replay, uint64_t word, bool is_address,
                               bool *is_lost)
{
    bool found;
    uint64_t value = word;
    switch (replay_find(replay, &word, sizeof word, &value)) {
    case REPLAY_FOUND:
        return value;
    case REPLAY_LOST:
        *is_lost = true;
        return word;
    default:
        break;
    }
    *is_lost |= replay_address_is_lost(replay, word);
    value = word < SMALL ? word : replay_address(replay, word, &found);
    return word < SMALL || (!found && !is_address) ? word : value;
}

bool replay_fill(struct replay *replay, uint32_t call, bool *is_lost)
{
    const struct trace_bytes *bytes;
    const size_t count = trace_bytes_of(replay->contents, call, &bytes);
    bool complete = true, is_launch = false;
    *is_lost = false;
    for (size_t i = 0; i < count; i++)
        is_launch |= bytes[i].role == RF_ADDRESSES;
    for (size_t i = 0; i < count; i++) {
        const struct trace_bytes *b = &bytes[i];
        if ((b->role != RF_READS && b->role != RF_ADDRESSES) || !is_known(b))
            continue;
        bool found;
        const uint64_t to = replay_address(replay, b->address, &found);
        if (!found || !b->kept || !is_genuine(b)) {
            complete = false;
            continue;
        }
        const bool words = b->role == RF_ADDRESSES || (is_launch && b->size_B == 8);
        if (!words || b->rows != 1 || b->slices != 1) {
            complete &= write_box(to, b->kept, b);
            continue;
        }
        for (uint64_t at = 0; at + 8 <= b->row_B; at += 8) {
            uint64_t word;
            memcpy(&word, b->kept + at, sizeof word);
            word = translate_word(replay, word, b->role == RF_ADDRESSES, is_lost);
            complete &= write_row(to + at, (const uint8_t *)&word, sizeof word);
        }
    }
    return complete;
}
