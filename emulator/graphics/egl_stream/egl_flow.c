// SPDX-License-Identifier: MIT
// Passes frames through an EGL stream and back, in the order of both sides' CUDA streams.
#include "clock.h"
#include "command.h"
#include "condition.h"
#include "egl_connection.h"
#include "error.h"
#include "lock.h"
#include "order.h"
#include "order_signal.h"
#include "quirk.h"
#include "stream.h"

// ---- order ----

// Marks a frame when its turn in a CUDA stream comes, or waits there until it is marked.
struct frame_command {
    struct em_command command;
    struct em_egl_kept *frame; // a reference
    struct em_egl_view
        *view; // of a release: a reference, since work before it in the stream uses its addresses
};

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
    return !((struct frame_command *)c)->frame->releases;
}

// For the ordering checker: a frame passes work on to the other side.
static void order_pass(struct em_command *c)
{
    if (__builtin_expect(em_order_on, 0))
        em_order_release_outside(c);
}

static void order_receive(struct em_command *c)
{
    if (__builtin_expect(em_order_on, 0))
        em_order_acquire_outside(c);
}

// A command may never have run, because its context failed. It must not block the other side.
static void finish_present(struct em_command *c)
{
    struct em_egl_kept *f = ((struct frame_command *)c)->frame;
    order_pass(c);
    f->ready = true;
    em_condition_notify(&f->changed);
    em_egl_unref(f);
}

static void finish_release(struct em_command *c)
{
    struct frame_command *own = (struct frame_command *)c;
    order_pass(c);
    own->frame->releases--;
    em_condition_notify(&own->frame->changed);
    em_object_unref(&own->view->frame.object);
    em_egl_unref(own->frame);
}

static void finish_wait(struct em_command *c)
{
    order_receive(c);
    em_egl_unref(((struct frame_command *)c)->frame);
}

static const struct em_command_ops present_ops = {
    .name = "EGL stream present", .run = run_nothing, .finish = finish_present, .once = true};
static const struct em_command_ops acquire_ops = {.name = "EGL stream acquire",
                                                  .ready = is_ready,
                                                  .run = run_nothing,
                                                  .finish = finish_wait,
                                                  .once = true};
static const struct em_command_ops release_ops = {
    .name = "EGL stream release", .run = run_nothing, .finish = finish_release, .once = true};
static const struct em_command_ops return_ops = {.name = "EGL stream return",
                                                 .ready = is_released,
                                                 .run = run_nothing,
                                                 .finish = finish_wait,
                                                 .once = true};

// Precondition: em_lock held, which is released meanwhile.
static CUresult order(const struct em_command_ops *ops, struct em_stream *on,
                      struct em_egl_kept *frame, struct em_egl_view *view)
{
    em_assert_locked();
    struct frame_command c = {
        .command = {.ops = ops, .size_B = sizeof c, .condition = &frame->changed},
        .frame = frame,
        .view = view,
    };
    frame->references++;
    if (view) {
        em_object_ref(&view->frame.object);
        frame->releases++;
    }
    return em_issue(on, &c.command, EM_SUBMIT_ASYNC);
}

// ---- frames ----

// The driver refuses a frame that has not come back yet. Precondition: em_lock held.
static CUresult check_absent(struct em_egl_stream *s, const struct em_egl_kept *frame)
{
    em_assert_locked();
    if (!DM_TABLE_FIND(s->frames, &frame->key))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_UNKNOWN, "the frame at %#llx is already in EGLStreamKHR #%u",
                   (unsigned long long)frame->data.plane[0], s->object.number);
}

// EGL_KHR_stream_fifo: a producer waits until the queue has capacity. Precondition: em_lock held,
// which is released meanwhile.
static CUresult wait_capacity(struct em_egl_stream *s, uint64_t connection, struct em_egl_link **l)
{
    em_assert_locked();
    CUresult r = CUDA_SUCCESS;
    while (!r && s->fifo && s->forth.length >= s->fifo) {
        em_wait_progress();
        r = em_egl_get_open_link(connection, EM_EGL_PRODUCER, l);
    }
    return r;
}

// Puts a frame into a stream, which takes the reference. Precondition: em_lock held.
static CUresult present(struct em_egl_stream *s, struct em_egl_kept *f)
{
    em_assert_locked();
    CUresult r = check_absent(s, f); // again, because em_lock was released
    if (r)
        return r;
    if (DM_TABLE_ADD(s->frames, key, f))
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while tracking a frame");
    f->listed = true;
    // A mailbox holds one frame. A frame that has not been acquired goes back.
    for (struct em_egl_kept *old; !s->fifo && (old = em_egl_pop(&s->forth));)
        em_egl_push(&s->back, old);
    if (s->current && !s->current->held) {
        em_egl_push(&s->back, s->current);
        s->current = NULL;
    }
    em_egl_push(&s->forth, f);
    return CUDA_SUCCESS;
}

CUresult em_egl_present(uint64_t connection, const struct em_egl_frame *frame,
                        struct em_stream *stream)
{
    struct em_egl_link *l;
    struct em_egl_kept *f = NULL;
    struct em_egl_stream *s = NULL;
    CUresult r;
    em_lock();
    r = em_egl_get_open_link(connection, EM_EGL_PRODUCER, &l);
    if (!r)
        r = em_egl_keep(frame, &f);
    if (r)
        goto unlock;
    s = l->stream;
    em_object_ref(&s->object);
    r = check_absent(s, f);
    if (!r)
        r = wait_capacity(s, connection, &l);
    if (!r)
        r = order(&present_ops, stream, f, NULL);
    if (!r) // em_lock was released
        r = em_egl_get_open_link(connection, EM_EGL_PRODUCER, &l);
    if (!r)
        r = present(s, f);
    if (r)
        goto unlock;
    f = NULL;
    em_progress(); // wakes an acquire that waits
unlock:
    em_egl_unref(f);
    if (s)
        em_object_unref(&s->object);
    em_wait_over(); // of wait_capacity
    em_unlock();
    return r;
}

// The frame that can be acquired: a new one, else the last one again.
static struct em_egl_kept *next_frame(const struct em_egl_stream *s)
{
    return s->forth.first ? s->forth.first : s->current && !s->current->held ? s->current : NULL;
}

// Waits until the stream has a frame. Precondition: em_lock held, which is released meanwhile.
static CUresult wait_frame(struct em_egl_stream *s, uint64_t connection, uint32_t timeout_us,
                           struct em_egl_link **l)
{
    em_assert_locked();
    uint64_t until_ns = dm_now_ns() + (uint64_t)timeout_us * 1000;
    CUresult r = CUDA_SUCCESS;
    while (!r && !next_frame(s)) {
        if (timeout_us != UINT32_MAX && dm_now_ns() >= until_ns)
            return em_fail(em_quirk(EGL_ACQUIRE_TIMEOUT) ? CUDA_ERROR_UNKNOWN
                                                         : CUDA_ERROR_LAUNCH_TIMEOUT,
                           "no frame arrived within %u microseconds", timeout_us);
        if (timeout_us == UINT32_MAX)
            em_wait_progress();
        else
            em_wait_progress_until(until_ns);
        r = em_egl_get_open_link(connection, EM_EGL_CONSUMER, l);
    }
    return r;
}

// The consumer's view of a frame: the same one each time that a frame is presented. Precondition:
// em_lock held.
static CUresult view_of(struct em_egl_link *l, const struct em_egl_kept *f,
                        struct em_egl_view **out)
{
    em_assert_locked();
    struct em_egl_view *v = DM_TABLE_FIND(l->views, &f->key);
    if (!v) {
        CUresult r = em_egl_view_open(l->object.context, l, f, &v);
        if (r)
            return r;
        if (DM_TABLE_ADD(l->views, key, v)) {
            em_egl_view_end(v);
            return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory while tracking a frame");
        }
        em_object_ref(&v->frame.object);
    }
    *out = v;
    return CUDA_SUCCESS;
}

CUresult em_egl_acquire(uint64_t connection, CUgraphicsResource *out, struct em_stream *stream,
                        uint32_t timeout_us)
{
    struct em_egl_link *l;
    struct em_egl_view *v;
    struct em_egl_stream *s = NULL;
    CUresult r;
    em_lock();
    r = em_egl_get_open_link(connection, EM_EGL_CONSUMER, &l);
    if (r)
        goto unlock;
    s = l->stream;
    em_object_ref(&s->object);
    r = wait_frame(s, connection, timeout_us, &l);
    if (r)
        goto unlock;
    struct em_egl_kept *f = next_frame(s);
    r = view_of(l, f, &v);
    if (r)
        goto unlock;
    if (f == s->forth.first) {
        em_egl_unref(s->current); // which is held, and goes back when it is released
        s->current = em_egl_pop(&s->forth);
    }
    f->held = true;
    f->references++; // the view's
    v->kept = f;
    *out = (CUgraphicsResource)(uintptr_t)v->frame.object.handle;
    em_object_ref(&v->frame.object);
    r = order(&acquire_ops, stream, f, NULL);
    if (r && v->kept == f) { // it can be acquired again
        f->held = false;
        v->kept = NULL;
        em_egl_unref(f);
    }
    em_object_unref(&v->frame.object);
    em_progress(); // wakes a present that waits for capacity
unlock:
    if (s)
        em_object_unref(&s->object);
    em_wait_over(); // of wait_frame
    em_unlock();
    return r;
}

// The view of a resource, which the consumer holds. Precondition: em_lock held.
static CUresult get_held(const struct em_egl_link *l, CUgraphicsResource resource,
                         struct em_egl_view **out)
{
    em_assert_locked();
    CUresult r = em_object_get(EM_EGL_FRAME, resource, CUDA_ERROR_INVALID_HANDLE, out);
    if (r)
        return r;
    if ((*out)->owner != l)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the frame did not come through EGLStreamKHR #%u",
                       l->stream->object.number);
    if (!(*out)->kept)
        return em_fail(CUDA_ERROR_UNKNOWN, "the frame was already released");
    return CUDA_SUCCESS;
}

CUresult em_egl_release(uint64_t connection, CUgraphicsResource resource, struct em_stream *stream)
{
    struct em_egl_link *l;
    struct em_egl_view *v;
    CUresult r;
    em_lock();
    r = em_egl_get_link(connection, EM_EGL_CONSUMER, CUDA_ERROR_NOT_SUPPORTED, &l);
    if (!r)
        r = get_held(l, resource, &v);
    if (r)
        goto unlock;
    struct em_egl_stream *s = l->stream;
    struct em_egl_kept *f = v->kept;
    f->references++; // while em_lock is released
    em_object_ref(&v->frame.object);
    em_object_ref(&s->object);
    r = order(&release_ops, stream, f, v);
    if (!r && v->kept == f) {
        f->held = false;
        v->kept = NULL;
        if (s->destroyed) {
            em_egl_unlist(s, f);
            em_egl_unref(f);
        } else if (f !=
                   s->current) { // there is a newer one; the view's reference goes to the queue
            em_egl_push(&s->back, f);
        } else if (s->forth.first) {
            em_egl_push(&s->back, f);
            em_egl_unref(s->current);
            s->current = NULL;
        } else {
            em_egl_unref(f);
        }
        em_progress(); // wakes an acquire that waits
    }
    em_object_unref(&s->object);
    em_object_unref(&v->frame.object);
    em_egl_unref(f);
unlock:
    em_unlock();
    return r;
}

CUresult em_egl_return(uint64_t connection, struct em_egl_frame *out, struct em_stream *stream)
{
    struct em_egl_link *l;
    struct em_egl_kept *f;
    CUresult r;
    em_lock();
    r = em_egl_get_open_link(connection, EM_EGL_PRODUCER, &l);
    if (r)
        goto unlock;
    // "This API can potentially return CUDA_ERROR_LAUNCH_TIMEOUT if the consumer has not returned a
    // frame to EGL stream."
    f = em_egl_pop(&l->stream->back);
    if (!f) {
        r = em_fail(CUDA_ERROR_LAUNCH_TIMEOUT, "the consumer has not returned a frame yet");
        goto unlock;
    }
    struct em_egl_stream *s = l->stream;
    em_object_ref(&s->object);
    *out = f->data;
    r = order(&return_ops, stream, f, NULL);
    if (r && !s->destroyed) {
        em_egl_push_first(&s->back, f);
    } else {
        em_egl_unlist(s, f);
        em_egl_unref(f);
    }
    em_object_unref(&s->object);
unlock:
    em_unlock();
    return r;
}
