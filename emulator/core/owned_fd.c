// SPDX-License-Identifier: MIT
// Owns imported file descriptors, and finds out if the program goes on using them.
#include "owned_fd.h"

#include <stdbool.h>
#include <unistd.h>

#include "error.h"
#include "journal.h"
#include "lock.h"
#include "quirk.h"

// By number. Programs that import in every frame use the same low numbers again and again, so
// those have fixed places; the table has the others.
static struct em_owned_fd *low[256], *others;

static bool is_low(int fd)
{
    return fd >= 0 && (size_t)fd < sizeof low / sizeof *low;
}

static struct em_owned_fd *owned_fd_find(int fd)
{
    return is_low(fd) ? low[fd] : DM_TABLE_FIND(others, &fd);
}

// The number should not be in the table. Returns false if host memory is short.
static bool owned_fd_add(struct em_owned_fd *o)
{
    if (!is_low(o->fd.fd))
        return !DM_TABLE_ADD(others, fd.fd, o);
    low[o->fd.fd] = o;
    return true;
}

static void owned_fd_remove(struct em_owned_fd *o)
{
    if (is_low(o->fd.fd))
        low[o->fd.fd] = NULL;
    else
        DM_TABLE_REMOVE(others, o);
}

const struct em_owned_fd *em_owned_fd_find(int fd)
{
    em_assert_locked();
    struct em_owned_fd *o = owned_fd_find(fd);
    return o && dm_fd_still_ours(&o->fd) ? o : NULL;
}

void em_owned_fd_end(struct em_owned_fd *o)
{
    em_assert_locked();
    if (o->fd.fd < 0)
        return;
    owned_fd_remove(o);
    // If the program has closed the number, it may be another file by now, which must stay open.
    dm_fd_close(&o->fd);
}

static void owned_fd_lost(struct em_owned_fd *o)
{
    int fd = o->fd.fd;
    owned_fd_remove(o);
    o->fd.fd = -1; // the number may be another file by now, which must stay open
    em_mistake(M01, CUDA_SUCCESS,
               "file descriptor %d was closed or replaced although it belongs to %s #%u", fd,
               o->type, o->number);
}

void em_owned_fd_check(struct em_owned_fd *o)
{
    em_assert_locked();
    if (o->fd.fd >= 0 && !dm_fd_still_ours(&o->fd))
        owned_fd_lost(o);
}

void em_owned_fd_check_end(struct em_owned_fd *o)
{
    em_assert_locked();
    em_owned_fd_check(o);
    if (o->fd.fd < 0)
        return;
    owned_fd_remove(o);
    close(o->fd.fd);
    o->fd.fd = -1;
}

static void owned_fd_take(struct em_owned_fd *o, const char *type, uint32_t number)
{
    int fd = o->fd.fd;
    em_journal_accept_fd(fd);
    o->type = type;
    o->number = number;
    // "ownership of the file descriptor is transferred to the CUDA driver": the driver closes it at
    // once. Under the manual it stays open, so that a program which goes on using the number is
    // detected.
    if (em_quirk(IMPORT_FD_CLOSED)) {
        o->fd.fd = -1;
        close(fd);
        return;
    }
    // An older import may have had this number, which the program has closed since.
    struct em_owned_fd *before = owned_fd_find(fd);
    if (before)
        em_owned_fd_check(before);
    if (!owned_fd_add(o)) {
        o->fd.fd = -1;
        close(fd);
        em_explain(CUDA_SUCCESS,
                   "out of host memory to watch file descriptor %d, which is closed now: if the "
                   "program goes on using it, that is not reported",
                   fd);
    }
}

void em_owned_fd_take_known(struct em_owned_fd *o, const struct dm_fd_identity *fd,
                            const char *type, uint32_t number)
{
    em_assert_locked();
    o->fd = *fd;
    owned_fd_take(o, type, number);
}

void em_owned_fd_take(struct em_owned_fd *o, int fd, const char *type, uint32_t number)
{
    em_assert_locked();
    if (dm_fd_remember(fd, &o->fd)) {
        o->fd.fd = -1; // it was closed meanwhile
        em_journal_accept_fd(fd);
        return;
    }
    owned_fd_take(o, type, number);
}
