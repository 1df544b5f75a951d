// SPDX-License-Identifier: MIT
// Reads and writes the bytes of images.
#include "gl_image.h"

#include "alloc.h"
#include "kn_copy.h"

bool em_gl_failed(const struct gl_functions *gl)
{
    bool any = false;
    for (int i = 0; i < 8 && gl->GetError() != GL_NO_ERROR; i++)
        any = true;
    return any;
}

// ---- open and drop

enum em_gl_status em_gl_image_open(const struct gl_functions *gl, struct em_gl_object *o)
{
    return o->kind == EM_GL_TEXTURE        ? em_gl_texture_open(gl, o)
           : o->kind == EM_GL_RENDERBUFFER ? em_gl_renderbuffer_open(gl, o)
                                           : em_gl_egl_image_show(gl, o);
}

void em_gl_image_drop(const struct gl_functions *gl, struct em_gl_object *o)
{
    if (o->kind == EM_GL_TEXTURE) {
        em_gl_texture_drop(gl, o);
        return;
    }
    if (o->holder)
        gl->DeleteFramebuffers(1, &o->holder);
    gl->BindRenderbuffer(GL_RENDERBUFFER, 0);
}

// ---- calls

struct call {
    struct em_gl_object *object;
    unsigned level; // of CUDA's, from 0
    const struct em_gl_box *box;
    const struct em_gl_bytes *bytes;
    enum em_gl_status status;
};

// Notes the status of a level or a face; the worst status of all faces is the result of the call.
static void image_note(struct call *c, enum em_gl_status status)
{
    if (status == EM_GL_NO_STORAGE) // the level did not exist at registration either
        return;
    if (!c->status || status == EM_GL_REFORMATTED)
        c->status = status;
}

// Selects the object of a call, and clears earlier errors. Returns false if the object has ended.
static bool image_begin(const struct gl_functions *gl, struct call *c)
{
    em_gl_failed(gl);
    if (c->object->kind != EM_GL_TEXTURE || em_gl_texture_select(gl, c->object))
        c->status = EM_GL_OK;
    else
        c->status = c->object->holder ? EM_GL_GONE : EM_GL_MISSING;
    return !c->status;
}

static void image_end(const struct gl_functions *gl, struct call *c)
{
    if (em_gl_failed(gl) && !c->status)
        c->status = EM_GL_REFUSED;
}

static bool is_cube(const struct em_gl_object *o)
{
    return o->image.target == GL_TEXTURE_CUBE_MAP;
}

// Compares the level, or a face of it, with its registration. Returns false if no bytes can be
// copied.
static bool image_look(const struct gl_functions *gl, struct call *c, uint32_t face,
                       struct em_gl_extent *e)
{
    const struct em_gl_object *o = c->object;
    enum em_gl_status status = o->kind == EM_GL_TEXTURE
                                   ? em_gl_texture_look(gl, o, face, c->level, e)
                                   : em_gl_framebuffer_look(gl, o, e);
    image_note(c, status);
    return status == EM_GL_OK || (status == EM_GL_RESIZED && e->width && !is_cube(o));
}

static void image_set_rows(const struct gl_functions *gl, bool pack, uint64_t row_el, uint64_t rows)
{
    gl->PixelStorei(pack ? GL_PACK_ROW_LENGTH : GL_UNPACK_ROW_LENGTH, (gl_int)row_el);
    gl->PixelStorei(pack ? GL_PACK_IMAGE_HEIGHT : GL_UNPACK_IMAGE_HEIGHT, (gl_int)rows);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

// ---- reading

// Reads a level, or a face of it, as large as it is now. Rows are row_el elements apart, slices
// `rows` rows.
static void image_read_level(const struct gl_functions *gl, const struct call *c, uint32_t face,
                             void *to, uint64_t row_el, uint64_t rows)
{
    const struct em_gl_object *o = c->object;
    const struct gl_transfer *t = &o->image.transfer;
    image_set_rows(gl, true, row_el, rows);
    gl->GetTexImage(em_gl_texture_face(o, face), (gl_int)(o->image.base + c->level), t->format,
                    t->type, to);
}

// Reads a box of a level, or of a face, by the texture's name. If the program makes the level
// larger or smaller in another thread meanwhile, no memory is written that the box does not have.
static void image_read_box(const struct gl_functions *gl, const struct call *c, uint32_t face,
                           const struct em_gl_box *b, void *to)
{
    const struct em_gl_object *o = c->object;
    const struct gl_transfer *t = &o->image.transfer;
    image_set_rows(gl, true, c->bytes->pitch_B / t->element_B,
                   c->bytes->slice_B / c->bytes->pitch_B);
    gl->GetTextureSubImage(o->name, (gl_int)(o->image.base + c->level), (gl_int)b->x, (gl_int)b->y,
                           (gl_int)(is_cube(o) ? face : b->z), (gl_sizei)b->width,
                           (gl_sizei)b->height, (gl_sizei)b->depth, t->format, t->type, INT32_MAX,
                           to);
}

static void image_read_framebuffer(const struct gl_functions *gl, const struct call *c,
                                   const struct em_gl_box *b, void *to)
{
    const struct gl_transfer *t = &c->object->image.transfer;
    image_set_rows(gl, true, c->bytes->pitch_B / t->element_B, 0);
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, c->object->holder);
    gl->ReadPixels((gl_int)b->x, (gl_int)b->y, (gl_sizei)b->width, (gl_sizei)b->height, t->format,
                   t->type, to);
    gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
}

// Reads a box through a copy of the whole level or face, if OpenGL cannot read a part of it.
static void image_read_part(const struct gl_functions *gl, struct call *c, uint32_t face,
                            struct em_gl_extent e, const struct em_gl_box *b, void *to)
{
    uint64_t element_B = c->object->image.transfer.element_B, row_B = e.width * element_B,
             slice_B = row_B * e.height;
    char *copy = dm_calloc((size_t)e.width * e.height * e.depth, element_B);
    if (!copy) {
        c->status = EM_GL_NO_MEMORY;
        return;
    }
    image_read_level(gl, c, face, copy, e.width, e.height);
    struct kn_linear dst = {to, c->bytes->pitch_B, c->bytes->slice_B};
    struct kn_linear src = {.first =
                                (uint8_t *)copy + b->z * slice_B + b->y * row_B + b->x * element_B,
                            .pitch_B = row_B,
                            .slice_B = slice_B};
    kn_copy_box(&dst, &src, &(struct kn_box){b->width * element_B, b->height, b->depth});
    dm_free(copy);
}

// Clips a box to an extent. Returns false if nothing is left.
static bool image_clip(const struct em_gl_box *b, struct em_gl_extent e, struct em_gl_box *out)
{
    *out = *b;
    out->width = b->x < e.width ? least(b->width, e.width - b->x) : 0;
    out->height = b->y < e.height ? (uint32_t)least(b->height, e.height - b->y) : 0;
    out->depth = b->z < e.depth ? (uint32_t)least(b->depth, e.depth - b->z) : 0;
    return out->width && out->height && out->depth;
}

// Returns the part of a call's box that lies in a face, or in the level as it is now, and its
// address in the caller's memory. Returns false if there is no such part.
static bool image_part_of(const struct gl_functions *gl, struct call *c, uint32_t face,
                          struct em_gl_extent *e, struct em_gl_box *out, char **memory)
{
    const struct em_gl_bytes *b = c->bytes;
    struct em_gl_box flat = *c->box;
    if (!image_look(gl, c, face, e))
        return false;
    if (is_cube(c->object))
        flat.z = 0, flat.depth = 1;
    *memory = (char *)b->base + (face + flat.z) * b->slice_B + flat.y * b->pitch_B +
              flat.x * c->object->image.transfer.element_B;
    return image_clip(&flat, *e, out);
}

static bool is_whole(const struct em_gl_box *b, struct em_gl_extent e)
{
    return b->width == e.width && b->height == e.height && b->depth == e.depth;
}

static void image_run_read(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    const struct em_gl_object *o = c->object;
    const struct em_gl_bytes *b = c->bytes;
    uint64_t element_B = o->image.transfer.element_B;
    uint32_t first = is_cube(o) ? c->box->z : 0, faces = is_cube(o) ? c->box->depth : 1;
    bool named = o->kind == EM_GL_TEXTURE && gl->GetTextureSubImage && em_gl_image_is_named(gl, o);
    struct em_gl_extent e;
    struct em_gl_box part;
    char *to;
    (void)group;
    if (!image_begin(gl, c))
        return;
    for (uint32_t face = first; face < first + faces && face < 6; face++) {
        if (!image_part_of(gl, c, face, &e, &part, &to))
            continue;
        if (o->kind != EM_GL_TEXTURE)
            image_read_framebuffer(gl, c, &part, to);
        else if (named)
            image_read_box(gl, c, face, &part, to);
        else if (is_whole(&part, e))
            image_read_level(gl, c, face, to, b->pitch_B / element_B, b->slice_B / b->pitch_B);
        else
            image_read_part(gl, c, face, e, &part, to);
    }
    image_end(gl, c);
}

enum em_gl_status em_gl_image_read(struct em_gl_object *object, unsigned level,
                                   const struct em_gl_box *box, const struct em_gl_bytes *to)
{
    struct call c = {
        .object = object, .level = level, .box = box, .bytes = to, .status = EM_GL_GONE};
    em_gl_object_run(&c.object, image_run_read, &c);
    return c.status;
}

// ---- writing

static void write_texture(const struct gl_functions *gl, const struct em_gl_object *o,
                          uint32_t face, unsigned level, const struct em_gl_box *b,
                          const void *from)
{
    const struct gl_transfer *t = &o->image.transfer;
    gl_int l = (gl_int)level, x = (gl_int)b->x, y = (gl_int)b->y, z = (gl_int)b->z;
    gl_sizei w = (gl_sizei)b->width, h = (gl_sizei)b->height, d = (gl_sizei)b->depth;
    switch (o->image.target) {
    case GL_TEXTURE_1D:
        gl->TexSubImage1D(GL_TEXTURE_1D, l, x, w, t->format, t->type, from);
        break;
    case GL_TEXTURE_2D:
    case GL_TEXTURE_RECTANGLE:
    case GL_TEXTURE_1D_ARRAY:
    case GL_TEXTURE_CUBE_MAP:
        gl->TexSubImage2D(em_gl_texture_face(o, face), l, x, y, w, h, t->format, t->type, from);
        break;
    default:
        gl->TexSubImage3D(o->image.target, l, x, y, z, w, h, d, t->format, t->type, from);
        break;
    }
}

// Writes a box without having OpenGL generate the other levels, as old versions do
// (GL_GENERATE_MIPMAP).
static void image_write_level(const struct gl_functions *gl, const struct call *c, uint32_t face,
                              const struct em_gl_box *b, const void *from)
{
    const struct em_gl_object *o = c->object;
    gl_int generates = 0;
    if (!c->level && o->image.levels > 1)
        gl->GetTexParameteriv(o->image.target, GL_GENERATE_MIPMAP, &generates);
    em_gl_failed(gl); // core contexts do not have this parameter
    if (generates)
        gl->TexParameteri(o->image.target, GL_GENERATE_MIPMAP, 0);
    write_texture(gl, o, face, o->image.base + c->level, b, from);
    if (generates)
        gl->TexParameteri(o->image.target, GL_GENERATE_MIPMAP, 1);
}

static void image_run_write(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    struct em_gl_object *o = c->object;
    const struct em_gl_bytes *b = c->bytes;
    uint32_t first = is_cube(o) ? c->box->z : 0, faces = is_cube(o) ? c->box->depth : 1;
    struct em_gl_extent e;
    struct em_gl_box box;
    char *from;
    (void)group;
    if (!image_begin(gl, c))
        return;
    for (uint32_t face = first; face < first + faces && face < 6; face++) {
        if (!image_part_of(gl, c, face, &e, &box, &from))
            continue;
        image_set_rows(gl, false, b->pitch_B / o->image.transfer.element_B,
                       b->slice_B / b->pitch_B);
        if (o->kind == EM_GL_TEXTURE)
            image_write_level(gl, c, face, &box, from);
        else
            em_gl_framebuffer_write(gl, o, &box, from);
    }
    image_end(gl, c);
    gl->Finish();
}

enum em_gl_status em_gl_image_write(struct em_gl_object *object, unsigned level,
                                    const struct em_gl_box *box, const struct em_gl_bytes *from)
{
    struct call c = {
        .object = object, .level = level, .box = box, .bytes = from, .status = EM_GL_GONE};
    em_gl_object_run(&c.object, image_run_write, &c);
    return c.status;
}
