// SPDX-License-Identifier: MIT
// Contexts without the rest of the driver, for tests of the scheduler, and their streams.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "lock.h"
#include "scheduler.h"
#include "stream.h"

#define CHECK_EQ(got, want)                                                                        \
    do {                                                                                           \
        long long g_ = (long long)(got), w_ = (long long)(want);                                   \
        if (g_ != w_) {                                                                            \
            fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, g_, w_);    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// A context without the rest of the driver: the scheduler needs no more of it than this.
static inline void free_context(struct em_object *object)
{
    dm_free(((struct em_context *)object)->default_stream);
    dm_free(object);
}
static inline struct em_context *new_context(void)
{
    struct em_context *c = dm_calloc(1, sizeof *c);
    c->base.object.type = EM_CONTEXT;
    c->base.object.references = 1;
    c->base.object.finish = free_context;
    em_self.current = c;
    return c;
}
static inline void end_context(struct em_context *c)
{
    em_streams_finish(c);
    em_lock();
    while (c->base.objects)
        em_object_retire(c->base.objects);
    em_object_unref(&c->base.object);
    em_unlock();
    em_self.current = NULL;
}

static inline struct em_stream *get(CUstream handle)
{
    struct em_stream *s;
    CHECK_EQ(em_stream_get(handle, &s), CUDA_SUCCESS);
    return s;
}
static inline CUstream create(unsigned flags)
{
    CUstream h;
    CHECK_EQ(em_stream_create(em_self.current, flags, 0, &h), CUDA_SUCCESS);
    return h;
}
static inline CUresult query(CUstream h)
{
    struct em_stream *s = get(h);
    CUresult r = em_stream_query(s);
    em_stream_put(s);
    return r;
}
static inline CUresult synchronize(CUstream h)
{
    struct em_stream *s = get(h);
    CUresult r = em_stream_synchronize(s);
    em_stream_put(s);
    return r;
}
static inline CUresult submit(CUstream h, void *command, int how)
{
    struct em_stream *s = get(h);
    CUresult r = em_submit(s, command, how);
    em_stream_put(s);
    return r;
}
