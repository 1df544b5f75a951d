// SPDX-License-Identifier: MIT
// Fuzzes EGL streams, which cardless.h creates, so no display is needed: connections of both sides,
// right and wrong ones, and frames that pass through and come back. A model follows EGL_KHR_stream,
// the manual and the recordings (egl_streams). It predicts the result of each call, which frame is
// acquired or returned, and the bytes that the consumer sees.
#include "egl_model.h"

// ---- connections

// EGL_KHR_stream: a stream has one consumer, and then one producer. The driver writes the handle of
// a refused connection, and after a producer that came too early it refuses all (recorded: order).
static void connect(struct fuzz_input *in, struct model *m)
{
    const unsigned stream = fuzz_below(in, STREAMS);
    const enum role role = fuzz_chance(in, 2) ? PRODUCER : CONSUMER;
    struct stream *s = &m->streams[stream];
    CUeglStreamConnection handle = NULL;
    CUresult expected = CUDA_SUCCESS, r;
    enum refusal refusal = CONNECTED;
    if (!s->handle || m->link_count + 1 == LINKS)
        return;
    if (s->ended || s->end[role]) {
        refusal = REFUSED;
    } else if (role == PRODUCER && !s->end[CONSUMER]) {
        refusal = TOO_EARLY;
        s->refuses_producers = eg_as_driver();
    } else if (role == PRODUCER && s->refuses_producers) {
        refusal = REFUSED;
    }
    if (refusal)
        expected = CUDA_ERROR_UNKNOWN;
    // How a refused connection ends depends only on the consumer's absence.
    if (refusal && role == PRODUCER && !s->end[CONSUMER])
        refusal = TOO_EARLY;
    const unsigned flags = fuzz_below(in, 4);
    if (role == PRODUCER) {
        r = cuEGLStreamProducerConnect(&handle, s->handle, (int)fuzz_take(in, 1), HEIGHT);
    } else if (flags) {
        if (flags > 1) {
            r = cuEGLStreamConsumerConnectWithFlags(&handle, s->handle, flags);
            FUZZ_CHECK(r == CUDA_ERROR_INVALID_VALUE && !handle, "flags %u: %d", flags, (int)r);
        }
        r = cuEGLStreamConsumerConnectWithFlags(&handle, s->handle, 1);
    } else {
        r = cuEGLStreamConsumerConnect(&handle, s->handle);
    }
    FUZZ_CHECK(r == expected, "role %d, ended %d, ends %u %u: %d, expected %d", (int)role, s->ended,
               s->end[0], s->end[1], (int)r, (int)expected);
    const bool written = !r || (eg_as_driver() && !s->handle_is_dead);
    FUZZ_CHECK(written == (handle != NULL), "result %d, handle %p", (int)r, (void *)handle);
    if (!handle)
        return;
    m->links[++m->link_count] = (struct link){
        .handle = handle, .alive = true, .role = role, .refusal = refusal, .stream = stream};
    if (!r)
        s->end[role] = m->link_count;
}

static void connect_nothing(void)
{
    CUeglStreamConnection handle = NULL;
    FUZZ_CHECK(cuEGLStreamConsumerConnect(&handle, NULL) == CUDA_ERROR_INVALID_HANDLE &&
                   cuEGLStreamProducerConnect(&handle, (void *)0x12340, 1, 1) ==
                       CUDA_ERROR_UNKNOWN &&
                   !handle,
               "connected to nothing");
}

static unsigned any_link(struct fuzz_input *in, const struct model *m)
{
    return m->link_count ? 1 + fuzz_below(in, m->link_count) : 0;
}

// Recorded: wrong_side, order.
static void disconnect(struct fuzz_input *in, struct model *m)
{
    const unsigned number = any_link(in, m);
    struct link *l = &m->links[number];
    const enum role side = fuzz_chance(in, 6) ? (enum role)(1 - l->role) : l->role;
    if (!number)
        return;
    CUresult expected = CUDA_SUCCESS;
    if (!l->alive)
        expected = CUDA_ERROR_INVALID_HANDLE;
    else if (side != l->role)
        expected = side == CONSUMER ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_INVALID_VALUE;
    else if (l->refusal == REFUSED)
        expected = CUDA_ERROR_UNKNOWN;
    const CUresult r = side == CONSUMER ? cuEGLStreamConsumerDisconnect(&l->handle)
                                        : cuEGLStreamProducerDisconnect(&l->handle);
    FUZZ_CHECK(r == expected, "side %d of a link of role %d, alive %d, refusal %d: %d, expected %d",
               (int)side, (int)l->role, l->alive, (int)l->refusal, (int)r, (int)expected);
    if (l->alive && (!r || eg_as_driver()))
        eg_cut(m, number);
}

static void destroy(struct model *m, unsigned stream)
{
    struct stream *s = &m->streams[stream];
    if (!s->handle)
        return;
    const CUresult r = cardlessStreamDestroy(s->handle);
    FUZZ_CHECK(r == (s->handle_is_dead ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS),
               "destroying a stream: %d", (int)r);
    s->ended = s->handle_is_dead = true;
}

static void create(struct fuzz_input *in, struct model *m)
{
    struct stream *s = &m->streams[fuzz_below(in, STREAMS)];
    void *handle;
    if (s->handle)
        return;
    FUZZ_CHECK(cardlessStreamCreate(&handle, 1025) == CUDA_ERROR_INVALID_VALUE, "a long queue");
    s->fifo = fuzz_below(in, 4);
    FUZZ_OK(cardlessStreamCreate(&s->handle, s->fifo));
}

// ---- frames

static void any_frame(struct fuzz_input *in, const struct model *m, unsigned buffer, CUeglFrame *f)
{
    const struct buffer *b = &m->buffers[buffer];
    const struct color *c = &eg_colors[fuzz_chance(in, 3) ? fuzz_below(in, EGL_COLORS) : 0];
    memset(f, 0, sizeof *f);
    for (unsigned i = 0; i < c->planes; i++)
        f->plane[i] = b->type == TYPE_ARRAY ? (void *)b->array[i] : (void *)(uintptr_t)b->memory[i];
    f->width = WIDTH;
    f->height = HEIGHT;
    f->depth = 1;
    f->pitch = WIDTH * 4;
    f->plane_count = c->planes;
    f->channels = c->channels ? c->channels : 1 + fuzz_below(in, 4);
    f->type = b->type;
    f->color = c->color;
    f->format = c->formats[0];
    if (!fuzz_chance(in, 4))
        return;
    switch (fuzz_below(in, 9)) {
    case 0:
        f->width = WIDTH - fuzz_below(in, 3);
        break;
    case 1:
        f->height = fuzz_chance(in, 2) ? (unsigned)fuzz_take(in, 4) : HEIGHT - fuzz_below(in, 3);
        break;
    case 2:
        f->pitch = (unsigned)fuzz_take(in, fuzz_chance(in, 2) ? 4 : 1);
        break;
    case 3:
        f->plane_count = fuzz_chance(in, 2) ? (unsigned)fuzz_take(in, 4) : fuzz_below(in, 5);
        break;
    case 4:
        f->channels = fuzz_chance(in, 2) ? (unsigned)fuzz_take(in, 4) : fuzz_below(in, 6);
        break;
    case 5:
        f->type = fuzz_chance(in, 2) ? (unsigned)fuzz_take(in, 4) : 2 + fuzz_below(in, 3);
        break;
    case 6:
        f->format = fuzz_chance(in, 2) ? c->formats[fuzz_below(in, 4)] : (unsigned)fuzz_take(in, 1);
        break;
    case 7:
        f->plane[fuzz_below(in, c->planes)] = fuzz_chance(in, 2) ? NULL : (void *)0x12340;
        break;
    default:
        f->color = 0x80 + (unsigned)fuzz_take(in, 4) % 0x10000; // does not exist
    }
}

static void write_buffer(struct fuzz_input *in, struct model *m, unsigned buffer)
{
    struct buffer *b = &m->buffers[buffer];
    static uint8_t bytes[PLANE_B];
    const uint8_t value = (uint8_t)fuzz_take(in, 1);
    if (eg_is_busy(m, buffer))
        return;
    if (b->type == TYPE_PITCH) {
        FUZZ_OK(cuMemsetD8Async(b->memory[0], value, PLANE_B, m->in));
    } else {
        memset(bytes, value, sizeof bytes);
        const CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                 .srcHost = bytes,
                                 .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                 .dstArray = b->array[0],
                                 .WidthInBytes = WIDTH * 4,
                                 .Height = HEIGHT};
        FUZZ_OK(cuMemcpy2D(&c));
    }
    b->value = value;
}

// A frame that has not come back cannot be presented again. A mailbox returns a frame that nobody
// has acquired, and so does any stream with the last one, once it was released.
static void present(struct fuzz_input *in, struct model *m)
{
    const unsigned number = any_link(in, m), buffer = fuzz_below(in, BUFFERS);
    CUeglFrame f;
    if (!number || m->frame_count + 1 == KEPT)
        return;
    struct link *l = &m->links[number];
    struct stream *s = &m->streams[l->stream];
    if (fuzz_below(in, 2))
        write_buffer(in, m, buffer);
    any_frame(in, m, buffer, &f);
    CUresult expected = eg_judge_link(m, number, PRODUCER);
    if (!expected)
        expected = eg_judge_frame(m, &f);
    if (!expected && eg_is_in_stream(m, l->stream, &f))
        expected = CUDA_ERROR_UNKNOWN;
    if (!expected && s->fifo && s->forth.length >= s->fifo)
        return; // it would wait
    const CUresult r = cuEGLStreamProducerPresentFrame(&l->handle, f, &m->in);
    FUZZ_CHECK(r == expected,
               "link of role %d: %u x %u, pitch %u, %u planes of %u channels, type %u, colour %#x, "
               "format %#x: %d, expected %d",
               (int)l->role, f.width, f.height, f.pitch, f.plane_count, f.channels, f.type, f.color,
               f.format, (int)r, (int)expected);
    if (r)
        return;
    m->frames[++m->frame_count] = (struct frame){.data = f, .buffer = buffer, .listed = true};
    while (!s->fifo && s->forth.length)
        eg_push(&s->back, eg_pop(&s->forth));
    if (s->current && !m->frames[s->current].held) {
        eg_push(&s->back, s->current);
        s->current = 0;
    }
    eg_push(&s->forth, m->frame_count);
}

// The consumer's view should be the frame as presented, but with planes of its own.
static void check_view(struct model *m, const struct frame *f)
{
    static uint8_t bytes[PLANE_B];
    CUeglFrame got;
    FUZZ_OK(cuGraphicsResourceGetMappedEglFrame(&got, f->view, 0, 0));
    // The driver swaps the order of chroma of some formats (recorded: colors/color-01).
    const bool swapped =
        eg_as_driver() && f->data.color == 1 && f->data.format == CU_AD_FORMAT_UNSIGNED_INT8;
    FUZZ_CHECK(got.width == f->data.width && got.height == f->data.height &&
                   got.plane_count == f->data.plane_count && got.type == f->data.type &&
                   got.format == f->data.format && got.color == (swapped ? 0x15 : f->data.color),
               "the frame is %u x %u, type %u, colour %#x, format %#x", got.width, got.height,
               got.type, got.color, got.format);
    memset(bytes, m->buffers[f->buffer].value + 1, sizeof bytes);
    if (f->data.type == TYPE_PITCH) {
        FUZZ_OK(cuMemcpyDtoHAsync(bytes, (CUdeviceptr)(uintptr_t)got.plane[0], PLANE_B, m->out));
    } else {
        const CUDA_MEMCPY2D c = {.dstMemoryType = CU_MEMORYTYPE_HOST,
                                 .dstHost = bytes,
                                 .srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                 .srcArray = (CUarray)got.plane[0],
                                 .WidthInBytes = WIDTH * 4,
                                 .Height = HEIGHT};
        FUZZ_OK(cuMemcpy2DAsync(&c, m->out));
    }
    FUZZ_OK(cuStreamSynchronize(m->out));
    for (unsigned i = 0; i < PLANE_B; i++)
        FUZZ_CHECK(bytes[i] == m->buffers[f->buffer].value, "byte %u is %#x, expected %#x", i,
                   bytes[i], m->buffers[f->buffer].value);
}

// The next frame, or the last one again.
static void acquire(struct fuzz_input *in, struct model *m)
{
    const unsigned number = any_link(in, m), timeout_us = fuzz_below(in, 3);
    CUgraphicsResource resource = NULL;
    if (!number)
        return;
    struct link *l = &m->links[number];
    struct stream *s = &m->streams[l->stream];
    unsigned frame = s->current && !m->frames[s->current].held ? s->current : 0;
    if (s->forth.length)
        frame = s->forth.frames[0];
    CUresult expected = eg_judge_link(m, number, CONSUMER);
    if (!expected && !frame)
        expected = eg_as_driver() ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_LAUNCH_TIMEOUT;
    if (!expected && !eg_can_be_acquired(&m->frames[frame].data))
        expected = CUDA_ERROR_INVALID_VALUE;
    const CUresult r = cuEGLStreamConsumerAcquireFrame(&l->handle, &resource, &m->out, timeout_us);
    FUZZ_CHECK(r == expected && !r == (resource != NULL),
               "link of role %d, alive %d, frame %u: %d, expected %d", (int)l->role, l->alive,
               frame, (int)r, (int)expected);
    if (r)
        return;
    if (s->forth.length)
        s->current = eg_pop(&s->forth);
    struct frame *f = &m->frames[frame];
    for (unsigned i = 1; i <= m->frame_count; i++) { // the same frame has the same resource
        if (m->frames[i].view && m->frames[i].owner == number)
            FUZZ_CHECK(eg_same(&m->frames[i].data, &f->data) == (m->frames[i].view == resource),
                       "frames %u and %u, resources %p and %p", i, frame, (void *)m->frames[i].view,
                       (void *)resource);
    }
    f->held = true;
    f->owner = number;
    f->view = resource;
    check_view(m, f);
}

static void release(struct fuzz_input *in, struct model *m)
{
    const unsigned number = any_link(in, m);
    const unsigned frame = m->frame_count ? 1 + fuzz_below(in, m->frame_count) : 0;
    struct frame *f = &m->frames[frame];
    if (!number || !frame)
        return;
    struct link *l = &m->links[fuzz_below(in, 4) && f->owner ? f->owner : number];
    struct stream *s = &m->streams[l->stream];
    CUgraphicsResource resource = f->view;
    bool held = f->held; // or another presentation of the same frame is
    for (unsigned i = 1; i <= m->frame_count; i++) {
        if (resource && m->frames[i].view == resource && m->frames[i].held) {
            held = true;
            f = &m->frames[i];
        }
    }
    CUresult expected = CUDA_SUCCESS;
    if (!l->alive || !resource)
        expected = CUDA_ERROR_INVALID_HANDLE;
    else if (l->role == PRODUCER)
        expected = CUDA_ERROR_NOT_SUPPORTED;
    else if (&m->links[f->owner] != l)
        expected = CUDA_ERROR_INVALID_VALUE;
    else if (!held)
        expected = CUDA_ERROR_UNKNOWN;
    const CUresult r = cuEGLStreamConsumerReleaseFrame(&l->handle, resource, &m->out);
    FUZZ_CHECK(r == expected, "link of role %d, alive %d, resource %p, held %d: %d, expected %d",
               (int)l->role, l->alive, (void *)resource, held, (int)r, (int)expected);
    if (r)
        return;
    f->held = false;
    const unsigned n = (unsigned)(f - m->frames);
    if (s->ended) {
        f->listed = false;
    } else if (n != s->current) {
        eg_push(&s->back, n);
    } else if (s->forth.length) {
        eg_push(&s->back, n);
        s->current = 0;
    }
}

static void give_back(struct fuzz_input *in, struct model *m)
{
    const unsigned number = any_link(in, m);
    CUeglFrame got;
    if (!number)
        return;
    struct link *l = &m->links[number];
    struct stream *s = &m->streams[l->stream];
    CUresult expected = eg_judge_link(m, number, PRODUCER);
    if (!expected && !s->back.length)
        expected = CUDA_ERROR_LAUNCH_TIMEOUT;
    const CUresult r = cuEGLStreamProducerReturnFrame(&l->handle, &got, &m->in);
    FUZZ_CHECK(r == expected, "link of role %d, alive %d, %u frames: %d, expected %d", (int)l->role,
               l->alive, s->back.length, (int)r, (int)expected);
    if (r)
        return;
    struct frame *f = &m->frames[eg_pop(&s->back)];
    FUZZ_CHECK(eg_same(&f->data, &got), "another frame came back");
    f->listed = false;
}

// Frames are never mapped, and unregistering one does nothing.
static void map(struct fuzz_input *in, struct model *m)
{
    struct frame *f = &m->frames[m->frame_count ? 1 + fuzz_below(in, m->frame_count) : 0];
    if (!f->view)
        return;
    FUZZ_CHECK(cuGraphicsMapResources(1, &f->view, m->out) == CUDA_ERROR_UNKNOWN,
               "a frame was mapped");
    FUZZ_OK(cuGraphicsUnregisterResource(f->view));
    if (f->held)
        check_view(m, f);
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

static void begin(struct model *m)
{
    const CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = WIDTH, .Height = HEIGHT, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    memset(m, 0, sizeof *m);
    FUZZ_OK(cuStreamCreate(&m->in, CU_STREAM_NON_BLOCKING));
    FUZZ_OK(cuStreamCreate(&m->out, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < BUFFERS; i++) {
        struct buffer *b = &m->buffers[i];
        b->type = i % 2 ? TYPE_ARRAY : TYPE_PITCH;
        for (unsigned k = 0; k < PLANES; k++) {
            if (b->type == TYPE_ARRAY)
                FUZZ_OK(cuArray3DCreate(&b->array[k], &d));
            else
                FUZZ_OK(cuMemAlloc(&b->memory[k], PLANE_B));
        }
    }
    struct fuzz_input empty = {NULL, NULL};
    for (unsigned i = 0; i < BUFFERS; i++)
        write_buffer(&empty, m, i);
}

static void step(struct fuzz_input *in, struct model *m)
{
    switch (fuzz_below(in, 16)) {
    case 0:
        create(in, m);
        break;
    case 1:
        if (fuzz_chance(in, 8))
            destroy(m, fuzz_below(in, STREAMS));
        else
            connect_nothing();
        break;
    case 2:
    case 3:
        connect(in, m);
        break;
    case 4:
        if (fuzz_chance(in, 2))
            disconnect(in, m);
        break;
    case 5:
        map(in, m);
        break;
    case 6:
    case 7:
    case 8:
    case 9:
        present(in, m);
        break;
    case 10:
    case 11:
        acquire(in, m);
        break;
    case 12:
    case 13:
        release(in, m);
        break;
    default:
        give_back(in, m);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    static struct model m;
    CUcontext context = fuzz_context();
    begin(&m);
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++)
        step(&in, &m);
    for (unsigned i = 0; i < STREAMS; i++)
        destroy(&m, i);
    FUZZ_OK(cuCtxDestroy(context)); // and with it the connections
    return 0;
}
