// SPDX-License-Identifier: MIT
// Opens, maps and keeps files of imported memory.
#include "file.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "alloc.h"
#include "context.h"
#include "external_memory.h"
#include "lock.h"
#include "memory_device.h"
#include "space.h"
#include "startup.h"
#include "synchronised.h"
#include "vulkan_facts.h"

// ---- how often files are imported ----

// Imports of a file that were counted lately, by a hash of its numbers. Another file may take the
// place, or have the numbers later: then a file is kept earlier or later, which does not matter.
static struct recent {
    dev_t dev;
    ino_t ino;
    unsigned imports;
    uint64_t last_ms;
} recent[64];

#define COUNT(array) (sizeof(array) / sizeof *(array))

static uint64_t hash_numbers(dev_t dev, ino_t ino)
{
    return (uint64_t)dev * 31 + (uint64_t)ino;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

// Counts an import. Returns whether the file was imported often enough to keep it.
static bool count_import(const struct dm_import_info *info, uint64_t now)
{
    struct recent *r = &recent[hash_numbers(info->dev, info->ino) % COUNT(recent)];
    bool same = r->dev == info->dev && r->ino == info->ino && r->imports &&
                now - r->last_ms <= EM_FILE_KEPT_MS;
    *r = (struct recent){info->dev, info->ino, same ? r->imports + 1 : 1, now};
    return r->imports >= EM_FILE_KEPT_AFTER;
}

// ---- the kept files ----

// A file enters and leaves the table at each import, so that must not allocate memory.
static struct em_file *kept[64];        // lists by a hash of the file's numbers
static struct em_file *newest, *oldest; // by used_ms
static unsigned kept_count;
static uint64_t kept_B;

// Returns the link to the kept file with these numbers, or to the NULL at the end of their list.
static struct em_file **find_link(dev_t dev, ino_t ino)
{
    struct em_file **link = &kept[hash_numbers(dev, ino) % COUNT(kept)];
    while (*link && ((*link)->info.dev != dev || (*link)->info.ino != ino))
        link = &(*link)->same_hash;
    return link;
}

static struct em_file *find_kept(dev_t dev, ino_t ino)
{
    return *find_link(dev, ino);
}

static struct dm_import_kept *find_numbers(dev_t dev, ino_t ino)
{
    struct em_file *file = find_kept(dev, ino);
    return file ? &file->kept : NULL;
}

static void unmap_view(struct em_file *file);

static void file_destroy(struct em_file *file)
{
    if (file->header)
        dm_sys_munmap((uint64_t)(uintptr_t)file->header, DM_HEADER_SIZE);
    if (file->window)
        dm_space_unmap_bytes(&em_space, file->window);
    unmap_view(file);
    dm_physical_unref(file->physical);
    dm_free(file);
}

// `wanted` is the number of kept files.
static struct em_sync_listener listener = {.synchronised = em_files_drop_unused};

static void take_out(struct em_file *file)
{
    __atomic_fetch_sub(&listener.wanted, 1, __ATOMIC_RELAXED);
    *find_link(file->info.dev, file->info.ino) = file->same_hash;
    file->same_hash = NULL;
    kept_count--;
    *(file->newer ? &file->newer->older : &newest) = file->older;
    *(file->older ? &file->older->newer : &oldest) = file->newer;
    file->newer = file->older = NULL;
    kept_B -= file->info.file_size;
}

static void drop_oldest(void)
{
    struct em_file *file = oldest;
    take_out(file);
    file_destroy(file);
}

bool em_files_drop(void)
{
    em_assert_locked();
    bool any = oldest;
    while (oldest)
        drop_oldest();
    return any;
}

static void drop_unused(uint64_t now)
{
    while (oldest && now - oldest->used_ms > EM_FILE_KEPT_MS)
        drop_oldest();
}

void em_files_drop_unused(void)
{
    em_assert_unlocked();
    em_lock();
    drop_unused(now_ms());
    em_unlock();
}

static void drop_when_idle(void)
{
    em_files_drop();
}

DM_STARTUP void em_external_start(void)
{
    em_assert_unlocked();
    static const struct em_context_observer observer = {.idle = drop_when_idle};
    em_context_observe(EM_OBSERVER_FILES, &observer);
    em_sync_listen(&listener);
}

// Maps the header, which holds the file, and finds out whether it may be kept.
static bool prepare_to_keep(struct em_file *file)
{
    if (file->header)
        return true;
    uint64_t at;
    int fd = dm_physical_fd(file->physical);
    if (fd < 0 || !dm_import_keep(fd, &file->info, &file->kept) ||
        dm_sys_mmap(0, DM_HEADER_SIZE, PROT_READ, MAP_SHARED, fd, 0, &at))
        return false;
    file->header = (void *)(uintptr_t)at;
    file->kept.header = file->header;
    return true;
}

static bool put_in(struct em_file *file, uint64_t now)
{
    uint64_t size = file->info.file_size; // the file's pages stay, whichever part is mapped
    struct em_file **link = find_link(file->info.dev, file->info.ino);
    bool fits = file->may_keep && !file->addresses_given && size <= EM_FILE_KEPT_MOST_B && !*link;
    if (!fits || !prepare_to_keep(file))
        return false;
    // The next import brings a descriptor of its own. The number of one that stayed open could
    // become the program's, which may close the driver's descriptors (closefrom).
    if (file->next_stays && em_file_is_bare(file, &file->info.changed))
        dm_fd_close(&file->physical->file);
    *link = file;
    kept_count++;
    file->used_ms = now;
    file->older = newest;
    *(newest ? &newest->newer : &oldest) = file;
    newest = file;
    kept_B += size;
    __atomic_fetch_add(&listener.wanted, 1, __ATOMIC_RELAXED);
    while (kept_B > EM_FILE_KEPT_MOST_B || kept_count > EM_FILE_KEPT_MOST)
        drop_oldest();
    return true;
}

// ---- opening and closing ----

int em_file_recognise(int fd, struct dm_import_info *info)
{
    em_assert_locked();
    return dm_import_recognise_kept(fd, find_numbers, info);
}

// Whether the file is as it was when it was imported last.
static bool is_unchanged(const struct em_file *file, const struct dm_import_info *now,
                         const struct dm_vram *vram)
{
    const struct dm_import_info *then = &file->info;
    return file->physical->vram == vram && then->kind == now->kind &&
           then->payload == now->payload && then->size == now->size &&
           then->identity == now->identity && then->writable == now->writable &&
           then->may_shrink == now->may_shrink && !now->error;
}

static int open_new(struct dm_vram *vram, int fd, const struct dm_import_info *info,
                    struct em_file **out)
{
    struct em_file *file = dm_calloc(1, sizeof *file);
    if (!file)
        return -ENOMEM;
    int r = dm_physical_import(vram, fd, info, &file->physical);
    if (r) {
        dm_free(file);
        return r;
    }
    *out = file;
    return 0;
}

// Gives a kept file a descriptor again: the new one, which is of the same file, if it stays open
// and nothing has to be read from the file. Returns false if it has no descriptor.
static bool renew_descriptor(struct em_file *file, int fd, bool stays,
                             const struct dm_import_info *info)
{
    if (fd && stays && em_file_is_bare(file, &info->changed)) {
        file->physical->second_fd = fd;
        return true;
    }
    return dm_physical_fd(file->physical) >= 0;
}

int em_file_open(struct dm_vram *vram, int fd, bool stays, const struct dm_import_info *info,
                 struct em_file **out)
{
    em_assert_locked();
    uint64_t now = now_ms();
    struct em_file *file = find_kept(info->dev, info->ino);
    if (file) {
        take_out(file);
        if (!is_unchanged(file, info, vram) || !renew_descriptor(file, fd, stays, info)) {
            file_destroy(file);
            file = NULL;
        }
    }
    drop_unused(now);
    if (!file) {
        int r = open_new(vram, fd, info, &file);
        if (r && em_files_drop())
            r = open_new(vram, fd, info, &file);
        if (r)
            return r;
    }
    file->info = *info;
    file->may_keep = count_import(info, now);
    file->next_stays = stays;
    *out = file;
    return 0;
}

void em_file_close(struct em_file *file)
{
    em_assert_locked();
    uint64_t now = now_ms();
    drop_unused(now);
    file->physical->second_fd = 0;
    if (!put_in(file, now))
        file_destroy(file);
}

bool em_file_is_bare(const struct em_file *file, const struct timespec *changed)
{
    switch (dm_vulkan_facts_place(&file->info)) {
    case DM_VULKAN_FACTS_IN_HEADER:
        return file->header && !dm_vulkan_facts_in_header(file->header);
    case DM_VULKAN_FACTS_IN_ATTRIBUTE:
        return file->bare_known && file->bare.tv_sec == changed->tv_sec &&
               file->bare.tv_nsec == changed->tv_nsec;
    default:
        return true;
    }
}

// The clock of st_ctim may stand for some milliseconds. If it could still be the same when a record
// is written, nothing is noted.
void em_file_note_bare(struct em_file *file, const struct timespec *changed)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    file->bare_known = now.tv_sec > changed->tv_sec + 1;
    file->bare = *changed;
}

// ---- addresses ----

static uint64_t page_of(uint64_t address)
{
    return address & ~(uint64_t)(DM_PAGE - 1);
}

// As on the card, an address is congruent to its offset modulo 64 KiB, and pages of 2 MiB are used
// if they fit.
enum { SMALL_PAGE = 64 << 10, LARGE_PAGE = 2 << 20 };

static unsigned access_of(const struct em_file *file)
{
    return DM_MAP_READ | (file->physical->writable ? DM_MAP_WRITE : 0);
}

// `offset` is a multiple of SMALL_PAGE.
static int map_pages(struct em_file *file, uint64_t offset, uint64_t size, unsigned access,
                     uint64_t *address)
{
    uint64_t align = !(offset % LARGE_PAGE) && size >= LARGE_PAGE ? LARGE_PAGE : SMALL_PAGE;
    int r = dm_space_map_bytes(&em_space, file->physical, offset, size, align, access, address);
    // The kernel may have no mappings or addresses left because of the kept files.
    if (r == -ENOMEM && em_files_drop())
        r = dm_space_map_bytes(&em_space, file->physical, offset, size, align, access, address);
    return r;
}

int em_file_map_window(struct em_file *file)
{
    em_assert_locked();
    return file->window ? 0
                        : map_pages(file, 0, file->physical->size, access_of(file), &file->window);
}

// The pages of the view that hold these bytes, and those before them that a mapping of these bytes
// alone would have.
static uint64_t pages_in_view(const struct em_file *file, uint64_t offset, uint64_t size,
                              uint64_t *pages_B)
{
    uint64_t first = page_of(file->view + offset - offset % SMALL_PAGE);
    *pages_B = page_of(file->view + offset + size + DM_PAGE - 1) - first;
    return first;
}

static void unmap_view(struct em_file *file)
{
    dm_freed_forget(&em_space, &file->freed);
    if (file->view)
        dm_space_unmap_bytes(&em_space, file->view);
    file->view = 0;
}

// The pages of a freed buffer must not stay accessible to kernels, which use addresses without
// looking them up. Pages that a kept mapping makes inaccessible need not be found again by Linux.
static int map_in_view(struct em_file *file, uint64_t offset, uint64_t size, uint64_t *address)
{
    uint64_t pages_B, first;
    int r = file->view ? 0 : map_pages(file, 0, file->physical->size, 0, &file->view);
    if (r)
        return r;
    first = pages_in_view(file, offset, size, &pages_B);
    r = dm_freed_take(&em_space, &file->freed, first, pages_B, access_of(file));
    if (r) {
        unmap_view(file);
        return r;
    }
    file->view_taken = true;
    *address = file->view + offset;
    return 0;
}

int em_file_map(struct em_file *file, uint64_t offset, uint64_t size, uint64_t *address)
{
    em_assert_locked();
    const struct dm_physical *p = file->physical;
    if (offset > p->size || size > p->size - offset)
        return -EINVAL;
    // Files that are imported again and again are mapped by one buffer at a time, which then takes
    // no system call.
    if (file->may_keep && !file->view_taken && !map_in_view(file, offset, size, address))
        return 0;
    uint64_t first = offset - offset % SMALL_PAGE;
    int r = map_pages(file, first, size + (offset - first), access_of(file), address);
    if (!r)
        *address += offset - first;
    return r;
}

void em_file_unmap(struct em_file *file, uint64_t address)
{
    em_assert_locked();
    uint64_t all = file->physical->size;
    if (!file->view || address - file->view >= all) {
        dm_space_unmap_bytes(&em_space, address);
        return;
    }
    file->view_taken = false;
    dm_freed_leave(&em_space, &file->freed);
    em_memory_freed();
}
