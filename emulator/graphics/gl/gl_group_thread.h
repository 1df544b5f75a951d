// SPDX-License-Identifier: MIT
// A share group, for the two files that implement it. All members that change are guarded by
// em_gl_group_mutex, which is never held while OpenGL is called.
#pragma once
#include <pthread.h>

#include "gl_group.h"
#include "gl_unit_pool.h"
#include "mutex.h"
#include "spin.h"

struct em_gl_group {
    struct em_gl_group *next;
    unsigned references;
    struct em_gl_current
        sharer; // the context that it was made from; later only its display is used
    struct em_gl_own own;
    struct gl_functions gl;
    gl_sync sentinel;               // a sync object: the contexts that know it belong to the group
    const char *why_not;            // the reason why no context could be made, or NULL
    bool ready;                     // the thread has begun
    bool ended, leave;              // it has ended; it must end. Atomic for em_gl_group_is_gone
    struct em_gl_job *first, *last; // `first` is atomic for the thread that spins
    struct dm_spin spin;            // of the group's thread
    pthread_cond_t wake, done;
    struct em_gl_unit_pools unit_pools;

    bool busy; // a job runs, in the group's thread or in the guest

    // For gl_guest.c. The context is current in the thread that has set `busy`.
    bool has_guest;
    struct em_gl_own guest;
    struct em_gl_unit_pools guest_pools;
    struct em_gl_job *guest_jobs; // to be done there, in any order
};

extern struct dm_mutex em_gl_group_mutex;

// The thread's function; `arg` is the group.
void *em_gl_group_main(void *arg);

// Precondition of both: em_gl_group_mutex held. The caller signals `wake`.
void em_gl_group_add_job(struct em_gl_group *group, struct em_gl_job *job);
// Looks whether a wait is `over` for as long as it would take to wake this thread, with a history
// of its waits (spin.h). dm_spin_wait_over should be called when the wait has ended. Precondition:
// em_gl_group_mutex held, which is released meanwhile.
void em_gl_group_spin(struct dm_spin *history, bool (*over)(const void *), const void *of);
// Takes a group out of the list of all groups (gl_group.c).
void em_gl_group_unlist(struct em_gl_group *group);
