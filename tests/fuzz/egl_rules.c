// SPDX-License-Identifier: MIT
// The fuzz target `egl`: the rules of EGL_KHR_stream, the manual and the recordings.
#include "egl_model.h"

const struct color eg_colors[EGL_COLORS] = {
    {0x06, 1, 4, {CU_AD_FORMAT_UNSIGNED_INT8}}, // ARGB
    {0x07, 1, 4, {CU_AD_FORMAT_UNSIGNED_INT8}}, // RGBA
    {0x0e,
     1,
     4,
     {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16,
      CU_AD_FORMAT_HALF}},                                                   // ABGR
    {0x04, 1, 3, {CU_AD_FORMAT_UNSIGNED_INT8}},                              // RGB
    {0x09, 1, 1, {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16}}, // R
    {0x00, 3, 0, {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16}}, // YUV420 planar
    {0x01, 2, 0, {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16}}, // semi-planar
};

bool eg_as_driver(void)
{
    const char *name = getenv("CARDLESS_PERSONALITY");
    return name && !strcmp(name, "driver-580");
}

void eg_push(struct queue *q, unsigned frame)
{
    q->frames[q->length++] = frame;
}

unsigned eg_pop(struct queue *q)
{
    const unsigned frame = q->frames[0];
    memmove(q->frames, q->frames + 1, --q->length * sizeof *q->frames);
    return frame;
}

static const struct color *color_of(unsigned color)
{
    for (unsigned i = 0; i < EGL_COLORS; i++) {
        if (eg_colors[i].color == color)
            return &eg_colors[i];
    }
    return NULL;
}

static bool takes(const struct color *c, unsigned format)
{
    for (unsigned i = 0; i < FUZZ_COUNT(c->formats); i++) {
        if (format && c->formats[i] == format)
            return true;
    }
    return false;
}

static bool is_plane(const struct model *m, enum type type, const void *plane)
{
    for (unsigned i = 0; i < BUFFERS; i++) {
        for (unsigned k = 0; k < PLANES; k++) {
            const struct buffer *b = &m->buffers[i];
            if (b->type == type && plane &&
                plane ==
                    (type == TYPE_ARRAY ? (void *)b->array[k] : (void *)(uintptr_t)b->memory[k]))
                return true;
        }
    }
    return false;
}

// Recorded: colors. Extents, pitch and depth of memory are not checked; arrays have the frame's
// size.
CUresult eg_judge_frame(const struct model *m, const CUeglFrame *f)
{
    const struct color *c = color_of(f->color);
    if (f->type > TYPE_PITCH || !c || f->plane_count != c->planes || !f->channels ||
        f->channels > 4 || (c->channels && f->channels != c->channels))
        return CUDA_ERROR_INVALID_VALUE;
    if (!takes(c, f->format))
        return CUDA_ERROR_UNKNOWN;
    for (unsigned i = 0; i < c->planes; i++) {
        if (!is_plane(m, (enum type)f->type, f->plane[i]))
            return f->type == TYPE_ARRAY ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
        if (f->type == TYPE_ARRAY && !i && (f->width != WIDTH || f->height != HEIGHT))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

// Other formats can be presented, but not acquired (recorded: colors/color-09).
bool eg_can_be_acquired(const CUeglFrame *f)
{
    return f->color != 0x09 || f->format != CU_AD_FORMAT_UNSIGNED_INT8;
}

bool eg_same(const CUeglFrame *a, const CUeglFrame *b)
{
    return !memcmp(a->plane, b->plane, sizeof a->plane) && a->width == b->width &&
           a->height == b->height && a->depth == b->depth && a->pitch == b->pitch &&
           a->plane_count == b->plane_count && a->channels == b->channels && a->type == b->type &&
           a->color == b->color && a->format == b->format;
}

bool eg_is_in_stream(const struct model *m, unsigned stream, const CUeglFrame *f)
{
    const struct stream *s = &m->streams[stream];
    for (unsigned i = 1; i <= m->frame_count; i++) {
        const struct frame *k = &m->frames[i];
        bool here = k->owner && m->links[k->owner].stream == stream && k->held;
        for (unsigned n = 0; n < s->forth.length; n++)
            here |= s->forth.frames[n] == i;
        for (unsigned n = 0; n < s->back.length; n++)
            here |= s->back.frames[n] == i;
        here |= s->current == i;
        if (here && k->listed && eg_same(&k->data, f))
            return true;
    }
    return false;
}

// Whether a frame of the buffer is in a stream, or held.
bool eg_is_busy(const struct model *m, unsigned buffer)
{
    for (unsigned i = 1; i <= m->frame_count; i++) {
        if (m->frames[i].buffer == buffer && (m->frames[i].listed || m->frames[i].held))
            return true;
    }
    return false;
}

// The result of a call about a link, before the call's own rules.
CUresult eg_judge_link(const struct model *m, unsigned number, enum role role)
{
    const struct link *l = &m->links[number];
    if (!l->alive)
        return CUDA_ERROR_INVALID_HANDLE;
    if (l->role != role || m->streams[l->stream].ended || m->streams[l->stream].end[role] != number)
        return CUDA_ERROR_UNKNOWN;
    return CUDA_SUCCESS;
}

static void forget_frames(struct model *m, unsigned stream)
{
    struct stream *s = &m->streams[stream];
    for (unsigned i = 0; i < s->forth.length; i++)
        m->frames[s->forth.frames[i]].listed = false;
    for (unsigned i = 0; i < s->back.length; i++)
        m->frames[s->back.frames[i]].listed = false;
    s->forth.length = s->back.length = 0;
    s->current = 0;
}

// "If either side disconnects, the frames are lost, and no side can connect again." Frames that the
// consumer holds work until it disconnects.
void eg_cut(struct model *m, unsigned number)
{
    struct link *l = &m->links[number];
    struct stream *s = &m->streams[l->stream];
    l->alive = false;
    for (unsigned i = 1; i <= m->frame_count; i++) {
        if (m->frames[i].owner == number) {
            m->frames[i].held = m->frames[i].listed = false;
            m->frames[i].owner = 0;
            m->frames[i].view = NULL;
        }
    }
    if (s->end[l->role] != number && l->refusal != TOO_EARLY)
        return;
    if (s->end[l->role] == number)
        s->end[l->role] = 0;
    s->ended = true;
    forget_frames(m, l->stream);
}
