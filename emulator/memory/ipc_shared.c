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
    .fd = -1};               // the program may close it, so it is checked before each use
static uint64_t *identities; // contents of the table; 0 if a slot is free
static uint32_t next_free;

static CUresult start(void)
{
    int error = 0;
    if (!identities && !(identities = dm_calloc(MOST_SLOTS, sizeof *identities)))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                       "out of host memory while creating the table of shared memory");
    if (table.fd >= 0)
        return dm_fd_still_ours(&table)
                   ? CUDA_SUCCESS
                   : em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                             "the program has closed the table of shared memory");
    int fd;
    error = dm_sys_memfd_create("cardless-shared", MFD_CLOEXEC, &fd);
    if (!error && pwrite(fd, mark, sizeof mark, 0) == (ssize_t)sizeof mark &&
        !(error = dm_fd_remember(fd, &table)))
        return CUDA_SUCCESS;
    if (!error)
        close(fd);
    table.fd = -1;
    return em_fail(CUDA_ERROR_OUT_OF_MEMORY,
                   "the file for the table of shared memory cannot be created: %s",
                   strerror(-error));
}

static bool put(uint32_t slot, uint64_t identity)
{
    identities[slot] = identity;
    return dm_fd_still_ours(&table) &&
           pwrite(table.fd, &identity, sizeof identity, (off_t)(slot * sizeof identity)) ==
               (ssize_t)sizeof identity;
}

CUresult em_ipc_shared_enter(uint32_t *slot, struct em_ipc_place *place)
{
    em_assert_locked();
    CUresult r = start();
    if (r)
        return r;
    uint32_t s = *slot;
    for (uint32_t tries = 1; !s && tries < MOST_SLOTS; tries++) {
        next_free = next_free % (MOST_SLOTS - 1) + 1;
        if (!identities[next_free])
            s = next_free;
    }
    if (!s)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "%d allocations are shared, which is the limit",
                       MOST_SLOTS - 1);
    if (!*slot && !put(s, dm_new_identity())) {
        identities[s] = 0;
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "the table of shared memory cannot grow");
    }
    *slot = s;
    *place = (struct em_ipc_place){.fd = table.fd, .slot = s, .identity = identities[s]};
    return CUDA_SUCCESS;
}

void em_ipc_shared_free(uint32_t slot)
{
    em_assert_locked();
    put(slot, 0); // overwrites an entry, so the file need not grow
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
