// SPDX-License-Identifier: MIT
// Creates and destroys EGL streams, and connects their two sides.
#include "egl_stream.h"

#include "alloc.h"
#include "call.h"
#include "command.h"
#include "egl_connection.h"
#include "graphics.h"
#include "lock.h"
#include "quirk.h"

// ---- queues ----

void em_egl_push(struct em_egl_queue *q, struct em_egl_kept *f)
{
    em_assert_locked();
    f->next = NULL;
    if (q->last)
        q->last->next = f;
    else
        q->first = f;
    q->last = f;
    q->length++;
}

struct em_egl_kept *em_egl_pop(struct em_egl_queue *q)
{
    em_assert_locked();
    struct em_egl_kept *f = q->first;
    if (!f)
        return NULL;
    q->first = f->next;
    if (!q->first)
        q->last = NULL;
    q->length--;
    return f;
}

void em_egl_push_first(struct em_egl_queue *q, struct em_egl_kept *f)
{
    em_assert_locked();
    f->next = q->first;
    q->first = f;
    if (!q->last)
        q->last = f;
    q->length++;
}

void em_egl_unlist(struct em_egl_stream *s, struct em_egl_kept *f)
{
    em_assert_locked();
    if (f->listed)
        DM_TABLE_REMOVE(s->frames, f);
    f->listed = false;
}

static void empty(struct em_egl_stream *s)
{
    struct em_egl_kept *listed, *next;
    DM_TABLE_EACH (s->frames, listed, next)
        em_egl_unlist(s, listed);
    for (struct em_egl_kept *f; (f = em_egl_pop(&s->forth)) || (f = em_egl_pop(&s->back));)
        em_egl_unref(f);
    em_egl_unref(s->current);
    s->current = NULL;
}

// ---- streams ----

static void stream_finish(struct em_object *object)
{
    struct em_egl_stream *s = (struct em_egl_stream *)object;
    empty(s);
    dm_free(s);
}

CUresult em_egl_stream_create(unsigned fifo, void **out)
{
    enum { FIFO_MAX = 1024 };
    if (fifo > FIFO_MAX)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "fifo (%u) exceeds the maximum of %u frames", fifo,
                       FIFO_MAX);
    em_lock();
    struct em_egl_stream *s = dm_calloc(1, sizeof *s);
    CUresult r =
        s ? em_object_start(&s->object, EM_EGL_STREAM, NULL, stream_finish)
          : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while creating a stream");
    if (r) {
        dm_free(s);
    } else {
        s->fifo = fifo;
        *out = (void *)(uintptr_t)s->object.handle;
    }
    em_unlock();
    return r;
}

CUresult em_egl_stream_destroy(void *stream)
{
    struct em_egl_stream *s;
    em_lock();
    CUresult r = em_object_get(EM_EGL_STREAM, stream, CUDA_ERROR_INVALID_HANDLE, &s);
    if (!r) {
        s->destroyed = true;
        em_object_retire(&s->object);
        em_progress();
    }
    em_unlock();
    return r;
}

static CUresult disconnected(const struct em_egl_stream *s)
{
    return em_fail(CUDA_ERROR_UNKNOWN, "EGLStreamKHR #%u is disconnected", s->object.number);
}

// ---- connections ----

// If either side disconnects, the driver drops the frames in the stream. Frames that the consumer
// holds work until it disconnects itself.
static void cut(struct em_egl_link *l)
{
    struct em_egl_stream *s = l->stream;
    struct em_egl_view *v, *next;
    DM_TABLE_EACH (l->views, v, next) {
        DM_TABLE_REMOVE(l->views, v);
        if (v->kept)
            em_egl_unlist(s, v->kept);
        em_egl_view_end(v);
        em_object_unref(&v->frame.object);
    }
    if (s->end[l->role] != l && l->refusal != EM_EGL_TOO_EARLY)
        return;
    if (s->end[l->role] == l)
        s->end[l->role] = NULL;
    s->destroyed = true; // EGL_STREAM_STATE_DISCONNECTED_KHR: no side can connect again
    empty(s);
}

static void link_finish(struct em_object *object)
{
    struct em_egl_link *l = (struct em_egl_link *)object;
    cut(l);
    em_object_unref(&l->stream->object);
    dm_free(l);
}

// Precondition: em_lock held.
static CUresult check_connect(struct em_egl_stream *s, enum em_egl_role role)
{
    em_assert_locked();
    if (s->destroyed)
        return disconnected(s);
    if (s->end[role])
        return em_fail(CUDA_ERROR_UNKNOWN, "EGLStreamKHR #%u already has a %s", s->object.number,
                       role ? "producer" : "consumer");
    // EGL_KHR_stream: a producer connects to a stream whose consumer is there
    // (EGL_STREAM_STATE_CONNECTING_KHR).
    if (role == EM_EGL_PRODUCER && !s->end[EM_EGL_CONSUMER]) {
        s->refuses_producers = em_quirk(EGL_REFUSED_CONNECTIONS);
        return em_fail(CUDA_ERROR_UNKNOWN, "EGLStreamKHR #%u has no consumer yet",
                       s->object.number);
    }
    if (role == EM_EGL_PRODUCER && s->refuses_producers)
        return em_fail(CUDA_ERROR_UNKNOWN,
                       "a producer tried to connect to EGLStreamKHR #%u before its consumer",
                       s->object.number);
    return CUDA_SUCCESS;
}

CUresult em_egl_connect(void *stream, enum em_egl_role role, uint64_t *connection)
{
    struct em_egl_stream *s;
    em_lock();
    // The driver returns CUDA_ERROR_UNKNOWN for a handle that is not a stream, unless it is NULL.
    CUresult r = em_object_get(EM_EGL_STREAM, stream, CUDA_ERROR_UNKNOWN, &s),
             refused = CUDA_SUCCESS;
    if (!r)
        refused = check_connect(s, role);
    if (r || (refused && !em_quirk(EGL_REFUSED_CONNECTIONS)))
        goto unlock;
    struct em_egl_link *l = dm_calloc(1, sizeof *l);
    r = l ? em_object_start(&l->object, EM_EGL_CONNECTION, em_self.current, link_finish)
          : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while connecting to a stream");
    if (r) {
        dm_free(l);
        goto unlock;
    }
    l->role = role;
    l->stream = s;
    em_object_ref(&s->object);
    if (!refused)
        s->end[role] = l;
    else
        l->refusal =
            role == EM_EGL_PRODUCER && !s->end[EM_EGL_CONSUMER] ? EM_EGL_TOO_EARLY : EM_EGL_REFUSED;
    *connection = l->object.handle;
unlock:
    em_unlock();
    return r ? r : refused;
}

CUresult em_egl_get_link(uint64_t connection, enum em_egl_role role, CUresult other,
                         struct em_egl_link **out)
{
    em_assert_locked();
    CUresult r = em_object_get(EM_EGL_CONNECTION, connection, CUDA_ERROR_INVALID_HANDLE, out);
    if (!r && (*out)->role != role)
        r = em_fail(other, "CUeglStreamConnection #%u is the %s's", (*out)->object.number,
                    role ? "consumer" : "producer");
    return r;
}

CUresult em_egl_get_open_link(uint64_t connection, enum em_egl_role role, struct em_egl_link **out)
{
    em_assert_locked();
    CUresult r = em_egl_get_link(connection, role, CUDA_ERROR_UNKNOWN, out);
    if (!r && ((*out)->stream->destroyed || (*out)->stream->end[role] != *out))
        r = disconnected((*out)->stream);
    return r;
}

CUresult em_egl_disconnect(uint64_t connection, enum em_egl_role role)
{
    struct em_egl_link *l = NULL;
    em_lock();
    // For the other side's connection the driver returns CUDA_ERROR_UNKNOWN to a consumer, and
    // CUDA_ERROR_INVALID_VALUE to a producer.
    CUresult r = em_egl_get_link(
        connection, role, role == EM_EGL_CONSUMER ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_INVALID_VALUE,
        &l);
    // The driver disconnects a connection that was refused because the stream had no consumer, and
    // no other refused one (recorded: egl_streams, group order).
    if (!r && l->refusal == EM_EGL_REFUSED)
        r = em_fail(
            CUDA_ERROR_UNKNOWN,
            "CUeglStreamConnection #%u is not connected, because the connection was refused",
            l->object.number);
    if (!r || (l && em_quirk(EGL_WRONG_SIDE))) {
        cut(l);
        em_object_retire(&l->object);
        em_progress();
    }
    em_unlock();
    return r;
}

bool em_egl_frame(CUgraphicsResource resource, struct em_egl_frame *out)
{
    em_lock();
    const struct em_egl_view *v = (const struct em_egl_view *)em_graphics_frame(resource);
    if (v && out)
        *out = v->shown;
    em_unlock();
    return v;
}
