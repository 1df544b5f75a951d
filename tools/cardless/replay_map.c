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
#include <unistd.h>

#include "replay.h"
#include "replay_births.h"
#include "replay_range.h"

enum { PAGE_B = 4096, SMALL = 65536, TRAP_B = 1 << 20, KEY_MOST_B = 64, BUCKETS = 1 << 12 };
#define HOST_MOST_B (UINT64_C(1) << 42)

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
    size_t left;     // calls that may take it yet
};

struct replay_map {
    struct replay_ranges host, driver;
    struct replay_ranges known; // all memory that the driver had in the recorded run
    struct replay_births memories, objects;
    struct pair *pairs[BUCKETS];
    struct file *files;
    uint8_t *trap; // cannot be accessed
    char path[64];
};

static bool covers(const struct trace_memory *m, uint64_t address)
{
    return address >= m->address && address - m->address < m->size_B;
}

// Memory at this address that the call made, or NULL.
static const struct trace_memory *born_at(const struct replay *replay, uint64_t address,
                                          uint32_t call)
{
    const struct replay_birth *births;
    const size_t count = replay_births_in(&replay->map->memories, call, &births);
    for (size_t i = 0; i < count; i++) {
        const struct trace_memory *a = &replay->model->memories[births[i].index];
        if (covers(a, address))
            return a;
    }
    return NULL;
}

static const struct trace_memory *memory_at(const struct replay *replay, uint64_t address,
                                            uint32_t call)
{
    const struct trace_model *m = replay->model;
    const struct trace_memory *found = born_at(replay, address, call);
    const uint64_t time = m->calls[call].end;
    for (size_t i = 0; !found && i < m->memory_count; i++) {
        const struct trace_memory *a = &m->memories[m->memory_count - 1 - i];
        if (covers(a, address) && a->born <= time)
            found = a;
    }
    return found;
}

static bool was_driver_memory(const struct replay *replay, uint64_t address)
{
    return replay_range_at(&replay->map->known, address) != NULL;
}

// ---- the driver's memory ----

static bool list_memory(struct replay *replay)
{
    const struct trace_model *m = replay->model;
    struct replay_map *map = replay->map;
    struct replay_range *list = map->known.list = calloc(m->memory_count + 1, sizeof *list);
    for (uint32_t i = 0; list && i < m->memory_count; i++) {
        const struct trace_memory *a = &m->memories[i];
        // Registered memory is the program's own. One past the end belongs to the memory, too.
        if (a->address && a->address < UINT64_MAX - a->size_B &&
            strncmp(a->kind, "registered", strlen("registered")) != 0)
            list[map->known.count++] =
                (struct replay_range){.from = a->address, .end = a->address + a->size_B + 1};
    }
    map->known.count = list ? replay_range_join(list, map->known.count) : 0;
    return list && replay_births_of_memory(m, &map->memories) &&
           replay_births_of_objects(m, &map->objects);
}

// ---- the program's memory ----

static bool reserve(struct replay *replay, struct replay_range *r)
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
    return replay_range_put(&replay->map->host, *r);
}

// Bytes that could not be read have no hash. Their address remains one that cannot be accessed.
static bool is_known(const struct trace_bytes *b)
{
    return b->hash || b->role == RF_RANGE;
}

static bool reserve_host(struct replay *replay)
{
    const struct trace_contents *c = replay->contents;
    struct replay_range *list = calloc(c->byte_count + 1, sizeof *list);
    size_t count = 0;
    uint64_t total = 0;
    for (size_t i = 0; list && i < c->byte_count; i++) {
        const struct trace_bytes *b = &c->bytes[i];
        const uint64_t from = b->address & ~(uint64_t)(PAGE_B - 1);
        const uint64_t end = (b->address + b->span_B + PAGE_B - 1) & ~(uint64_t)(PAGE_B - 1);
        if (b->role == RF_FILE || b->role == RF_TEXELS || !is_known(b) || from < SMALL ||
            end < from || was_driver_memory(replay, from))
            continue;
        list[count++] = (struct replay_range){.from = from, .end = end};
    }
    bool works = list != NULL;
    count = works ? replay_range_join(list, count) : 0;
    for (size_t i = 0; works && i < count; i++) {
        total += list[i].end - list[i].from;
        works = total <= HOST_MOST_B && reserve(replay, &list[i]);
    }
    free(list);
    return works;
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
    const struct replay_range *r = replay_range_at(&map->driver, address);
    r = r ? r : replay_range_at(&map->host, address);
    *found = r && !r->is_lost;
    if (*found)
        return address - r->from + r->actual;
    if (address < SMALL || was_driver_memory(replay, address) || !is_mapped(address))
        return address;
    return (uintptr_t)map->trap + TRAP_B / 2 + address % PAGE_B;
}

bool replay_is_driver_memory(const struct replay *replay, uint64_t address)
{
    return replay_range_at(&replay->map->driver, address) != NULL;
}

bool replay_address_is_lost(const struct replay *replay, uint64_t address)
{
    const struct replay_range *r = replay_range_at(&replay->map->driver, address);
    return r && r->is_lost;
}

void replay_add_memory(struct replay *replay, uint32_t call, uint64_t address, uint64_t actual,
                       bool is_lost)
{
    const struct trace_memory *m = memory_at(replay, address, call);
    struct replay_range r = {address, address + 1, actual, is_lost};
    if (m && m->address <= UINT64_MAX - m->size_B)
        r = (struct replay_range){m->address, m->address + m->size_B,
                                  actual - (address - m->address), is_lost};
    replay_range_put(&replay->map->driver, r);
}

bool replay_is_born(const struct replay *replay, uint32_t call, uint64_t address)
{
    return born_at(replay, address, call) != NULL;
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

static void lose_objects(struct replay *replay, uint32_t call)
{
    const struct replay_birth *births;
    const size_t count = replay_births_in(&replay->map->objects, call, &births);
    for (size_t i = 0; i < count; i++) {
        const uint64_t handle = replay->model->objects[births[i].index].handle;
        replay_add(replay, &handle, sizeof handle, NULL);
    }
}

void replay_lose_born(struct replay *replay, uint32_t call)
{
    const struct trace_model *m = replay->model;
    const struct replay_birth *births;
    lose_objects(replay, call);
    const size_t count = replay_births_in(&replay->map->memories, call, &births);
    for (size_t i = 0; i < count; i++) {
        const uint64_t address = m->memories[births[i].index].address;
        if (address && was_driver_memory(replay, address))
            replay_add_memory(replay, call, address, address, true);
    }
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

// How many calls after this one take a descriptor of the same file.
static size_t count_takers(const struct replay *replay, const struct trace_fd *fd)
{
    const struct trace_contents *c = replay->contents;
    size_t count = 0;
    for (size_t i = 0; i < c->fd_count; i++)
        count += c->fds[i].is_taken && c->fds[i].call > fd->call &&
                 c->fds[i].device == fd->device && c->fds[i].inode == fd->inode;
    return count;
}

// Takes over the descriptor, and keeps it as long as a call may take it.
static void add_file(struct replay *replay, const struct trace_fd *fd, int owned, bool is_foreign)
{
    const size_t left = count_takers(replay, fd);
    struct file *f = left ? calloc(1, sizeof *f) : NULL;
    if (!f) {
        close(owned);
        return;
    }
    *f = (struct file){replay->map->files, fd->device, fd->inode, owned, is_foreign, left};
    replay->map->files = f;
}

// A call has taken a descriptor of the file.
static void count_file_down(struct file **link)
{
    struct file *f = *link;
    if (--f->left)
        return;
    *link = f->next;
    close(f->fd);
    free(f);
}

int replay_fd(struct replay *replay, const struct trace_fd *fd, bool *is_foreign)
{
    const struct trace_bytes *b = file_of(replay, fd->call);
    for (struct file **link = &replay->map->files; *link; link = &(*link)->next) {
        const struct file *f = *link;
        if (f->device != fd->device || f->inode != fd->inode)
            continue;
        *is_foreign = f->is_foreign;
        // The program may have changed it since the last import.
        const int given = f->is_foreign && (!b || !write_file(f->fd, b)) ? -1 : dup(f->fd);
        count_file_down(link);
        return given;
    }
    *is_foreign = true;
    const int made = b ? make_file(b) : -1, kept = made >= 0 ? dup(made) : -1;
    if (kept >= 0)
        add_file(replay, fd, kept, true);
    return made;
}

void replay_add_fd(struct replay *replay, const struct trace_fd *fd, int actual)
{
    add_file(replay, fd, actual, false);
}

const char *replay_path(struct replay *replay, uint32_t call, int *fd)
{
    struct replay_map *map = replay->map;
    const struct trace_bytes *b = file_of(replay, call);
    const struct trace_fd *fds;
    if (!b || trace_fds_of(replay->contents, call, &fds))
        return NULL;
    // A name that leads to the bytes and needs no folder.
    *fd = make_file(b);
    if (*fd < 0)
        return NULL;
    snprintf(map->path, sizeof map->path, "/proc/self/fd/%d", *fd);
    return map->path;
}

// ---- the whole ----

bool replay_map_open(struct replay *replay)
{
    struct replay_map *map = replay->map = calloc(1, sizeof *map);
    if (!map || !list_memory(replay) || !reserve_host(replay))
        return false;
    lose_objects(replay, TRACE_NONE); // no recorded call made them, unless one returns them later
    map->trap = mmap(NULL, TRAP_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map->trap != MAP_FAILED;
}
