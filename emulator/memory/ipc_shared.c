// SPDX-License-Identifier: MIT
// The table is read and written by file position and never mapped, so that a process which damages
// the file cannot crash another.
#include "ipc_shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "physical.h"

// Slot 0 contains the mark. A process can share this many allocations at a time.
enum { MOST_SLOTS = 1 << 16 };
static const char mark[8] = "CARDSHR1";

static struct dm_fd_identity table = {
    .fd = -1}; // the program may close it, so it is checked before each use
static struct slots {
    uint64_t identity[MOST_SLOTS]; // contents of the table; 0 if a slot is free
    uint16_t next_free[MOST_SLOTS];
    uint32_t used; // slots that have ever been used, with slot 0
    // The free ones among those, in the order in which they became free, so that a slot is reused
    // as late as possible. 0 if all are in use.
    uint16_t first_free, last_free;
} * slots;

static CUresult start(void)
{
    int error = 0;
    if (!slots)
        slots = dm_calloc(1, sizeof *slots);
    if (!slots)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while creating the table of shared memory");
    if (!slots->used)
        slots->used = 1;
    if (table.fd >= 0)
        return dm_fd_still_ours(&table)
                   ? CUDA_SUCCESS
                   : em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                             "the program has closed the table of shared memory");
    int fd;
    error = dm_sys_memfd_create("cardless-shared", MFD_CLOEXEC, &fd);
    if (!error) {
        bool written = pwrite(fd, mark, sizeof mark, 0) == (ssize_t)sizeof mark;
        error = written ? dm_fd_remember(fd, &table) : 0;
        if (written && !error)
            return CUDA_SUCCESS;
        if (!error)
            close(fd);
    }
    table.fd = -1;
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "the file for the table of shared memory cannot be created: %s",
                   strerror(-error));
}

static bool put(uint32_t slot, uint64_t identity)
{
    slots->identity[slot] = identity;
    return dm_fd_still_ours(&table) &&
           pwrite(table.fd, &identity, sizeof identity, (off_t)(slot * sizeof identity)) ==
               (ssize_t)sizeof identity;
}

// Returns 0 if all slots are in use.
static uint32_t take_slot(void)
{
    if (slots->used < MOST_SLOTS)
        return slots->used++;
    uint16_t s = slots->first_free;
    if (s)
        slots->first_free = slots->next_free[s];
    if (!slots->first_free)
        slots->last_free = 0;
    return s;
}

static void give_slot_back(uint32_t slot)
{
    slots->next_free[slot] = 0;
    if (slots->last_free)
        slots->next_free[slots->last_free] = (uint16_t)slot;
    else
        slots->first_free = (uint16_t)slot;
    slots->last_free = (uint16_t)slot;
}

CUresult em_ipc_shared_enter(uint32_t *slot, struct em_ipc_place *place)
{
    em_assert_locked();
    CUresult r = start();
    if (r)
        return r;
    uint32_t s = *slot ? *slot : take_slot();
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "%d allocations are shared, which is the limit",
                       MOST_SLOTS - 1);
    if (!*slot && !put(s, dm_new_identity())) {
        slots->identity[s] = 0;
        give_slot_back(s);
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "the table of shared memory cannot grow");
    }
    *slot = s;
    *place = (struct em_ipc_place){.fd = table.fd, .slot = s, .identity = slots->identity[s]};
    return CUDA_SUCCESS;
}

void em_ipc_shared_free(uint32_t slot)
{
    em_assert_locked();
    put(slot, 0); // overwrites an entry, so the file need not grow
    give_slot_back(slot);
}

bool em_ipc_shared_holds(int pid, const struct em_ipc_place *place)
{
    char path[64], found[8];
    uint64_t identity;
    struct stat st;
    if (pid <= 0 || place->fd < 0 || !place->slot || place->slot >= MOST_SLOTS || !place->identity)
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, place->fd);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool holds = !fstat(fd, &st) && S_ISREG(st.st_mode) &&
                 pread(fd, found, sizeof found, 0) == (ssize_t)sizeof found &&
                 !memcmp(found, mark, sizeof mark) &&
                 pread(fd, &identity, sizeof identity, (off_t)(place->slot * sizeof identity)) ==
                     (ssize_t)sizeof identity &&
                 identity == place->identity;
    close(fd);
    return holds;
}
