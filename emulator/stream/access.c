// SPDX-License-Identifier: MIT
// Begins and ends the accesses of commands.
#include "access.h"

#include <string.h>

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "error.h"
#include "lock.h"

// The lock is released while bytes are fetched because whoever has them, such as a graphics API,
// may be waiting for the program.
static void make_resident(struct em_command *command, bool may_wait)
{
    struct em_access *list = em_command_accesses(command);
    em_unlock();
    for (unsigned i = 0; i < command->access_count; i++) {
        if (list[i].absent)
            list[i].watch->make_resident(&list[i], may_wait);
        list[i].absent = false;
    }
    em_lock();
}

void em_access_fetch(struct em_access *access)
{
    em_assert_unlocked();
    access->watch->make_resident(access, false);
    access->absent = false;
}

// Whether the run of the command may do without the bytes of its one absent access.
static bool may_copy_directly(const struct em_command *command)
{
    const struct em_access *list = em_command_accesses(command);
    unsigned watched = 0, able = 0;
    for (unsigned i = 0; i < command->access_count; i++) {
        watched += list[i].watch != NULL;
        able += list[i].absent && list[i].watch->copy_directly;
    }
    return command->ops->fetches && watched == 1 && able == 1;
}

bool em_accesses_begin(struct em_command *command, bool may_wait)
{
    em_assert_locked();
    bool absent = false;
    struct em_access *list = em_command_accesses(command);
    for (unsigned i = 0; i < command->access_count; i++) {
        struct em_access *a = &list[i];
        a->absent = a->passed_by = false;
        a->watch = a->ops ? a->ops->watch(a) : NULL;
        if (em_likely(!a->watch))
            continue;
        a->absent = a->watch->begin(a);
        absent |= a->absent;
    }
    if (em_likely(!absent) || (!may_wait && may_copy_directly(command)))
        return false;
    make_resident(command, may_wait);
    return true;
}

bool em_accesses_are_plain(struct em_command *command)
{
    em_assert_locked();
    struct em_access *list = em_command_accesses(command);
    for (unsigned i = 0; i < command->access_count; i++) {
        struct em_access *a = &list[i];
        a->absent = a->passed_by = false;
        a->watch = NULL;
        if (a->ops && (a->ops->release || a->ops->watch(a)))
            return false;
    }
    return true;
}

void em_access_end(struct em_access *access, CUresult result)
{
    em_assert_locked();
    const struct em_watch_ops *watch = access->watch;
    access->watch = NULL;
    if (em_unlikely(watch) && watch->end)
        watch->end(access, result);
}

static inline void release(struct em_access *access)
{
    if (access->ops && access->ops->release)
        access->ops->release(access);
}

void em_accesses_finish(struct em_command *command, CUresult result)
{
    em_assert_locked();
    struct em_access *list = em_command_accesses(command);
    for (unsigned i = 0; i < command->access_count; i++) {
        em_access_end(&list[i], result);
        release(&list[i]);
    }
}

// ---- prepared commands ----

CUresult em_command_clone(const struct em_command *command, struct em_command **out)
{
    em_assert_locked();
    if (command->ops->once)
        return em_fail(CUDA_ERROR_NOT_SUPPORTED, "a %s can run only once", command->ops->name);
    struct em_command *copy = dm_alloc(command->size_B);
    if (!copy)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for a copy of a %s",
                       command->ops->name);
    memcpy(copy, command, command->size_B);
    CUresult r = command->ops->clone ? command->ops->clone(copy) : CUDA_SUCCESS;
    if (r) {
        dm_free(copy);
        return r;
    }
    struct em_access *list = em_command_accesses(copy);
    for (unsigned i = 0; i < copy->access_count; i++)
        if (list[i].ops && list[i].ops->retain)
            list[i].ops->retain(&list[i]);
    *out = copy;
    return CUDA_SUCCESS;
}

void em_command_release(struct em_command *command)
{
    em_assert_locked();
    struct em_access *list = em_command_accesses(command);
    for (unsigned i = 0; i < command->access_count; i++)
        release(&list[i]);
    if (command->ops->release)
        command->ops->release(command);
}

void em_command_free(struct em_command *command)
{
    em_assert_locked();
    em_command_release(command);
    dm_free(command);
}
