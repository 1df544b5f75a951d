// SPDX-License-Identifier: MIT
// EGL streams: frames on their way from a producer to a consumer and back, in the order of both sides' CUDA streams.
#include "egl_stream.h"

#include <time.h>

#include "alloc.h"
#include "array.h"
#include "call.h"
#include "command.h"
#include "format.h"
#include "lock.h"
#include "memory.h"
#include "quirk.h"
#include "stream.h"

// A frame between its presentation and its return.
struct frame {
    unsigned references;
    struct em_egl_frame data;
    bool ready;    // the producer's work on it is complete
    bool released; // the consumer's is too
    struct frame *next;
};

struct queue {
    struct frame *first, *last;
    unsigned length;
};

struct link;

struct stream {
    struct em_object object; // type EM_EGL_STREAM
    unsigned fifo;
    bool destroyed;      // or one side has disconnected: no frame comes any more
    struct link *end[2]; // the connected ones, by role
    struct queue forth, back;
};

// One side's connection.
struct link {
    struct em_object object; // type EM_EGL_CONNECTION
    enum em_egl_role role;
    struct stream *stream; // a reference
};

// What a consumer has of a frame that it acquired.
struct acquired {
    struct em_object object; // type EM_EGL_FRAME
    struct stream *stream;   // a reference
    struct frame *frame;     // a reference
};

// ---- queues ----

static void frame_unref(struct frame *f)
{
    if (!--f->references)
        dm_free(f);
}

static void push(struct queue *q, struct frame *f)
{
    f->next = NULL;
    if (q->last)
        q->last->next = f;
    else
        q->first = f;
    q->last = f;
    q->length++;
}

static struct frame *pop(struct queue *q)
{
    struct frame *f = q->first;
    if (!f)
        return NULL;
    q->first = f->next;
    if (!q->first)
        q->last = NULL;
    q->length--;
    return f;
}

static void empty(struct queue *q)
{
    for (struct frame *f; (f = pop(q));)
        frame_unref(f);
}

// ---- streams ----

static void stream_finish(struct em_object *object)
{
    struct stream *s = (struct stream *)object;
    empty(&s->forth);
    empty(&s->back);
    dm_free(s);
}

CUresult em_egl_stream_create(unsigned fifo, void **out)
{
    enum { FIFO_MOST = 1024 };
    if (fifo > FIFO_MOST)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a queue of %u frames: at most %u", fifo, FIFO_MOST);
    em_lock();
    struct stream *s = dm_calloc(1, sizeof *s);
    CUresult r =
        s ? em_object_start(&s->object, EM_EGL_STREAM, NULL, stream_finish) : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a stream");
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
    struct stream *s;
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

// ---- connections ----

static void cut(struct link *l)
{
    if (l->stream->end[l->role] != l)
        return;
    l->stream->end[l->role] = NULL;
    l->stream->destroyed = true; // EGL_STREAM_STATE_DISCONNECTED_KHR: nobody connects to it again
    // What a consumer has not acquired goes back when there is none any more.
    for (struct frame *f; l->role == EM_EGL_CONSUMER && (f = pop(&l->stream->forth));) {
        f->released = true;
        push(&l->stream->back, f);
    }
}

static void link_finish(struct em_object *object)
{
    struct link *l = (struct link *)object;
    cut(l);
    em_object_unref(&l->stream->object);
    dm_free(l);
}

// Precondition: em_lock held.
static CUresult check_connect(const struct stream *s, enum em_egl_role role)
{
    if (s->destroyed)
        return em_fail(CUDA_ERROR_INVALID_HANDLE, "EGLStreamKHR #%u is disconnected", s->object.number);
    if (s->end[role])
        return em_fail(CUDA_ERROR_UNKNOWN, "EGLStreamKHR #%u has a %s already", s->object.number, role ? "producer" : "consumer");
    // EGL_KHR_stream: a producer connects to a stream whose consumer is there (EGL_STREAM_STATE_CONNECTING_KHR).
    if (role == EM_EGL_PRODUCER && !s->end[EM_EGL_CONSUMER])
        return em_fail(CUDA_ERROR_UNKNOWN, "EGLStreamKHR #%u has no consumer yet", s->object.number);
    return CUDA_SUCCESS;
}

CUresult em_egl_connect(void *stream, enum em_egl_role role, uint64_t *connection)
{
    struct stream *s;
    struct link *l = NULL;
    em_lock();
    CUresult r = em_object_get(EM_EGL_STREAM, stream, CUDA_ERROR_INVALID_HANDLE, &s);
    if (r || (r = check_connect(s, role)))
        goto unlock;
    l = dm_calloc(1, sizeof *l);
    r = l ? em_object_start(&l->object, EM_EGL_CONNECTION, em_self.current, link_finish)
          : em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a connection");
    if (r) {
        dm_free(l);
        goto unlock;
    }
    l->role = role;
    l->stream = s;
    em_object_ref(&s->object);
    s->end[role] = l;
    *connection = l->object.handle;
unlock:
    em_unlock();
    return r;
}

// The connection of a handle, if it is that side's. Precondition: em_lock held.
static CUresult get_link(uint64_t connection, enum em_egl_role role, struct link **out)
{
    CUresult r = em_object_get(EM_EGL_CONNECTION, connection, CUDA_ERROR_INVALID_HANDLE, out);
    if (!r && (*out)->role != role)
        r = em_fail(CUDA_ERROR_INVALID_HANDLE, "CUeglStreamConnection #%u is the %s's", (*out)->object.number, role ? "consumer" : "producer");
    return r;
}

CUresult em_egl_disconnect(uint64_t connection, enum em_egl_role role)
{
    struct link *l;
    em_lock();
    CUresult r = get_link(connection, role, &l);
    if (!r) {
        cut(l);
        em_object_retire(&l->object);
        em_progress();
    }
    em_unlock();
    return r;
}

// ---- order ----

// Marks a frame when its turn in a CUDA stream comes, or waits there until it is marked.
struct frame_command {
    struct em_command command;
    struct frame *frame; // a reference
};

static CUresult run_present(struct em_command *c)
{
    em_lock();
    ((struct frame_command *)c)->frame->ready = true;
    em_unlock();
    return CUDA_SUCCESS;
}

static CUresult run_release(struct em_command *c)
{
    em_lock();
    ((struct frame_command *)c)->frame->released = true;
    em_unlock();
    return CUDA_SUCCESS;
}

static CUresult run_nothing(struct em_command *c)
{
    (void)c;
    return CUDA_SUCCESS;
}

static bool is_ready(struct em_command *c)
{
    return ((struct frame_command *)c)->frame->ready;
}

static bool is_released(struct em_command *c)
{
    return ((struct frame_command *)c)->frame->released;
}

// A command that never ran (its context failed) must not hold up the other side.
static void finish_present(struct em_command *c)
{
    struct frame *f = ((struct frame_command *)c)->frame;
    f->ready = true;
    frame_unref(f);
}

static void finish_release(struct em_command *c)
{
    struct frame *f = ((struct frame_command *)c)->frame;
    f->released = true;
    frame_unref(f);
}

static void finish_wait(struct em_command *c)
{
    frame_unref(((struct frame_command *)c)->frame);
}

static const struct em_command_ops present_ops = {.name = "EGL stream present", .run = run_present, .finish = finish_present};
static const struct em_command_ops acquire_ops = {.name = "EGL stream acquire", .ready = is_ready, .run = run_nothing, .finish = finish_wait};
static const struct em_command_ops release_ops = {.name = "EGL stream release", .run = run_release, .finish = finish_release};
static const struct em_command_ops return_ops = {.name = "EGL stream return", .ready = is_released, .run = run_nothing, .finish = finish_wait};

// Takes over a reference to the frame.
static CUresult order(const struct em_command_ops *ops, struct em_stream *on, struct frame *frame)
{
    struct frame_command c = {.command = {.ops = ops, .size_B = sizeof c}, .frame = frame};
    return em_submit(on, &c.command, EM_SUBMIT_ASYNC);
}

// ---- frames ----

// Precondition: em_lock held.
static CUresult check_plane(const struct em_egl_frame *f, unsigned i)
{
    struct em_allocation *a;
    struct em_array *array;
    uint64_t size;
    if (f->type == EM_EGL_ARRAY)
        return em_array_get((CUarray)(uintptr_t)f->plane[i], &array);
    // Planes after the first are as high as the first at most; how high depends on the colour format.
    if (__builtin_mul_overflow((uint64_t)f->pitch, i ? 1 : f->height, &size))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "pitch %u times height %u wraps around", f->pitch, f->height);
    return em_memory_get(f->plane[i], size, "a plane of the frame", CUDA_ERROR_INVALID_HANDLE, &a);
}

static CUresult check_frame(const struct em_egl_frame *f)
{
    const struct dm_format_info *format = dm_format_info(f->format);
    if (f->type > EM_EGL_PITCH || f->color >= EM_EGL_COLORS || !f->planes || f->planes > 3)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a frame of type %u, colour format %#x, %u planes", f->type, f->color, f->planes);
    if (!f->width || !f->height || !format || !format->channel_B || !f->channels || f->channels > 4)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "a frame of %ux%u, %u channels of format %#x", f->width, f->height, f->channels, f->format);
    if (f->type == EM_EGL_PITCH && (uint64_t)f->width * f->channels * format->channel_B > f->pitch && f->planes == 1)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "rows of %u elements of %u bytes do not fit into a pitch of %u", f->width,
                       f->channels * format->channel_B, f->pitch);
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; !r && i < f->planes; i++)
        r = check_plane(f, i);
    return r;
}

CUresult em_egl_present(uint64_t connection, const struct em_egl_frame *frame, CUstream on)
{
    struct link *l;
    struct em_stream *stream;
    CUresult r = em_stream_get(on, &stream);
    if (r)
        return r;
    struct frame *f = dm_calloc(1, sizeof *f);
    em_lock();
    if (!f)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a frame");
    if (r || (r = get_link(connection, EM_EGL_PRODUCER, &l)) || (r = check_frame(frame)))
        goto refuse;
    struct stream *s = l->stream;
    if (s->destroyed || !s->end[EM_EGL_CONSUMER]) {
        r = em_fail(CUDA_ERROR_UNKNOWN, "EGLStreamKHR #%u is disconnected", s->object.number);
        goto refuse;
    }
    if (s->fifo && s->forth.length >= s->fifo) {
        r = em_fail(CUDA_ERROR_LAUNCH_TIMEOUT, "the stream's queue of %u frames is full", s->fifo);
        goto refuse;
    }
    f->references = 2; // the queue's and the command's
    f->data = *frame;
    // A mailbox holds one frame: the one that nobody has acquired goes back.
    for (struct frame *old; !s->fifo && (old = pop(&s->forth));) {
        old->released = true;
        push(&s->back, old);
    }
    push(&s->forth, f);
    em_unlock();
    r = order(&present_ops, stream, f);
    em_lock();
    em_progress(); // who waits in an acquire looks again
    em_unlock();
    em_stream_put(stream);
    return r;
refuse:
    em_unlock();
    dm_free(f);
    em_stream_put(stream);
    return r;
}

static void acquired_finish(struct em_object *object)
{
    struct acquired *a = (struct acquired *)object;
    em_object_unref(&a->stream->object);
    frame_unref(a->frame);
    dm_free(a);
}

static uint64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

// Waits until the stream has a frame. Precondition: em_lock held, which is released meanwhile.
static CUresult wait_frame(struct stream *s, uint32_t timeout_us)
{
    uint64_t until = now_us() + timeout_us;
    while (!s->forth.first) {
        if (s->destroyed)
            return em_fail(CUDA_ERROR_UNKNOWN, "EGLStreamKHR #%u is disconnected", s->object.number);
        if (timeout_us != UINT32_MAX && now_us() >= until)
            return em_fail(em_quirk(EGL_ACQUIRE_TIMEOUT) ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_LAUNCH_TIMEOUT, "no frame within %u microseconds",
                           timeout_us);
        em_wait_outside();
    }
    return CUDA_SUCCESS;
}

CUresult em_egl_acquire(uint64_t connection, CUgraphicsResource *out, CUstream on, uint32_t timeout_us)
{
    struct link *l;
    struct em_stream *stream;
    CUresult r = em_stream_get(on, &stream);
    if (r)
        return r;
    struct acquired *a = dm_calloc(1, sizeof *a);
    struct frame *f = NULL;
    em_lock();
    if (!a)
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "no host memory for a frame");
    if (r || (r = get_link(connection, EM_EGL_CONSUMER, &l)))
        goto refuse;
    struct stream *s = l->stream;
    em_object_ref(&s->object);
    if ((r = wait_frame(s, timeout_us)) || (r = get_link(connection, EM_EGL_CONSUMER, &l)) || // the lock was free in between
        (r = em_object_start(&a->object, EM_EGL_FRAME, l->object.context, acquired_finish))) {
        em_object_unref(&s->object);
        goto refuse;
    }
    f = pop(&s->forth);
    f->references++; // the queue's goes to `a`, this one to the command
    a->stream = s;
    a->frame = f;
    *out = (CUgraphicsResource)(uintptr_t)a->object.handle;
    em_unlock();
    r = order(&acquire_ops, stream, f);
    em_stream_put(stream);
    return r;
refuse:
    em_unlock();
    dm_free(a);
    em_stream_put(stream);
    return r;
}

CUresult em_egl_release(uint64_t connection, CUgraphicsResource resource, CUstream on)
{
    struct link *l;
    struct acquired *a;
    struct em_stream *stream;
    CUresult r = em_stream_get(on, &stream);
    if (r)
        return r;
    em_lock();
    if ((r = get_link(connection, EM_EGL_CONSUMER, &l)) || (r = em_object_get(EM_EGL_FRAME, resource, CUDA_ERROR_INVALID_HANDLE, &a)))
        goto unlock;
    if (a->stream != l->stream) {
        r = em_fail(CUDA_ERROR_INVALID_HANDLE, "the frame came through EGLStreamKHR #%u, not #%u", a->stream->object.number,
                    l->stream->object.number);
        goto unlock;
    }
    struct frame *f = a->frame;
    f->references += 2; // the queue's and the command's
    push(&a->stream->back, f);
    em_object_retire(&a->object);
    em_unlock();
    r = order(&release_ops, stream, f);
    em_stream_put(stream);
    return r;
unlock:
    em_unlock();
    em_stream_put(stream);
    return r;
}

CUresult em_egl_return(uint64_t connection, struct em_egl_frame *out, CUstream on)
{
    struct link *l;
    struct em_stream *stream;
    struct frame *f = NULL;
    CUresult r = em_stream_get(on, &stream);
    if (r)
        return r;
    em_lock();
    // "This API can potentially return CUDA_ERROR_LAUNCH_TIMEOUT if the consumer has not returned a frame to EGL stream."
    if (!(r = get_link(connection, EM_EGL_PRODUCER, &l)) && !(f = pop(&l->stream->back)))
        r = em_fail(CUDA_ERROR_LAUNCH_TIMEOUT, "no frame has come back");
    if (f)
        *out = f->data;
    em_unlock();
    if (!r)
        r = order(&return_ops, stream, f); // the queue's reference goes to the command
    em_stream_put(stream);
    return r;
}

bool em_egl_frame(CUgraphicsResource resource, struct em_egl_frame *out)
{
    em_lock();
    struct acquired *a = (struct acquired *)em_object_peek(EM_EGL_FRAME, (uint64_t)(uintptr_t)resource);
    if (a)
        *out = a->frame->data;
    em_unlock();
    return a;
}
