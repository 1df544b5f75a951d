// SPDX-License-Identifier: MIT
// How the bytes of images come and go.
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

enum em_gl_status em_gl_image_open(struct em_gl_group *group, const struct gl_functions *gl, struct em_gl_object *o)
{
    return o->kind == EM_GL_TEXTURE        ? em_gl_texture_open(group, gl, o)
           : o->kind == EM_GL_RENDERBUFFER ? em_gl_renderbuffer_open(gl, o)
                                           : em_gl_egl_image_show(group, gl, o);
}

void em_gl_image_drop(struct em_gl_group *group, const struct gl_functions *gl, struct em_gl_object *o)
{
    if (o->kind == EM_GL_TEXTURE) {
        em_gl_texture_drop(group, gl, o);
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

// What is wrong with a level or a face is told once it is over; the worst of all faces.
static void note(struct call *c, enum em_gl_status status)
{
    if (status == EM_GL_NO_STORAGE) // it was not there when the texture was registered
        return;
    if (!c->status || status == EM_GL_REFORMATTED)
        c->status = status;
}

// Selects the object of a call, whose errors are told apart from earlier ones. False: it is gone.
static bool begin(const struct gl_functions *gl, struct call *c)
{
    em_gl_failed(gl);
    c->status = c->object->kind != EM_GL_TEXTURE || em_gl_texture_select(gl, c->object) ? EM_GL_OK : EM_GL_MISSING;
    return !c->status;
}

static void end(const struct gl_functions *gl, struct call *c)
{
    if (em_gl_failed(gl) && !c->status)
        c->status = EM_GL_REFUSED;
}

static bool is_cube(const struct em_gl_object *o)
{
    return o->image.target == GL_TEXTURE_CUBE_MAP;
}

// How the level, or a face of it, is now. False: no bytes can be moved.
static bool look(const struct gl_functions *gl, struct call *c, uint32_t face, struct em_gl_extent *e)
{
    const struct em_gl_object *o = c->object;
    enum em_gl_status status = o->kind == EM_GL_TEXTURE ? em_gl_texture_look(gl, o, face, c->level, e) : em_gl_framebuffer_look(gl, o, e);
    note(c, status);
    return status == EM_GL_OK || (status == EM_GL_RESIZED && e->width && !is_cube(o));
}

static void set_rows(const struct gl_functions *gl, bool pack, uint64_t row_el, uint64_t rows)
{
    gl->PixelStorei(pack ? GL_PACK_ROW_LENGTH : GL_UNPACK_ROW_LENGTH, (gl_int)row_el);
    gl->PixelStorei(pack ? GL_PACK_IMAGE_HEIGHT : GL_UNPACK_IMAGE_HEIGHT, (gl_int)rows);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// ---- reading

// All slices of a level, or a face, rows row_el elements apart, slices `rows` rows.
static void read_level(const struct gl_functions *gl, const struct call *c, uint32_t face, struct em_gl_extent e, void *to, uint64_t row_el,
                       uint64_t rows)
{
    const struct em_gl_object *o = c->object;
    const struct gl_transfer *t = &o->image.transfer;
    set_rows(gl, true, row_el, rows);
    if (o->kind != EM_GL_TEXTURE) {
        gl->BindFramebuffer(GL_READ_FRAMEBUFFER, o->holder);
        gl->ReadPixels(0, 0, (gl_sizei)e.width, (gl_sizei)e.height, t->format, t->type, to);
        gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    } else {
        gl->GetTexImage(em_gl_texture_face(o, face), (gl_int)(o->image.base + c->level), t->format, t->type, to);
    }
}

// Where the level has another shape than there is room for: by way of a copy, and what fits.
static void read_other(const struct gl_functions *gl, struct call *c, struct em_gl_extent e)
{
    const struct em_gl_bytes *b = c->bytes;
    uint64_t element_B = c->object->image.transfer.element_B;
    char *copy = dm_calloc((size_t)e.width * e.height * e.depth, element_B);
    if (!copy) {
        c->status = EM_GL_NO_MEMORY;
        return;
    }
    read_level(gl, c, 0, e, copy, e.width, e.height);
    uint64_t row_B = e.width * element_B;
    kn_copy_box(b->base, b->pitch_B, b->slice_B, copy, row_B, row_B * e.height, least(e.width, b->width) * element_B, least(e.height, b->height),
                least(e.depth, b->depth));
    dm_free(copy);
}

static void run_read(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    struct em_gl_object *o = c->object;
    const struct em_gl_bytes *b = c->bytes;
    uint64_t element_B = o->image.transfer.element_B;
    struct em_gl_extent e;
    (void)group;
    if (!begin(gl, c))
        return;
    bool fits = b->pitch_B % element_B == 0 && b->slice_B % b->pitch_B == 0;
    for (uint32_t face = 0; face < (is_cube(o) ? 6 : 1) && face < b->depth; face++) {
        if (!look(gl, c, face, &e))
            continue;
        if (fits && e.width <= b->width && e.height <= b->height && e.depth <= b->depth)
            read_level(gl, c, face, e, (char *)b->base + face * b->slice_B, b->pitch_B / element_B, b->slice_B / b->pitch_B);
        else if (!is_cube(o))
            read_other(gl, c, e);
    }
    end(gl, c);
}

enum em_gl_status em_gl_image_read(struct em_gl_object *object, unsigned level, const struct em_gl_bytes *to)
{
    struct call c = {.object = object, .level = level, .bytes = to, .status = EM_GL_GONE};
    em_gl_group_run(object->group, run_read, &c);
    return c.status;
}

// ---- writing

static void write_texture(const struct gl_functions *gl, const struct em_gl_object *o, uint32_t face, unsigned level, const struct em_gl_box *b,
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

// The same, but that OpenGL makes no other levels of it, which it did of old (GL_GENERATE_MIPMAP).
static void write_level(const struct gl_functions *gl, const struct call *c, uint32_t face, const struct em_gl_box *b, const void *from)
{
    const struct em_gl_object *o = c->object;
    gl_int generates = 0;
    if (!c->level && o->image.levels > 1)
        gl->GetTexParameteriv(o->image.target, GL_GENERATE_MIPMAP, &generates);
    em_gl_failed(gl); // a core context does not know it
    if (generates)
        gl->TexParameteri(o->image.target, GL_GENERATE_MIPMAP, 0);
    write_texture(gl, o, face, o->image.base + c->level, b, from);
    if (generates)
        gl->TexParameteri(o->image.target, GL_GENERATE_MIPMAP, 1);
}

// What lies within the extent of a box that may begin beyond it.
static struct em_gl_box clip(const struct em_gl_box *b, struct em_gl_extent e)
{
    struct em_gl_box c = *b;
    c.width = b->x < e.width ? least(b->width, e.width - b->x) : 0;
    c.height = b->y < e.height ? least(b->height, e.height - b->y) : 0;
    c.depth = b->z < e.depth ? least(b->depth, e.depth - b->z) : 0;
    return c;
}

static void run_write(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    struct em_gl_object *o = c->object;
    const struct em_gl_bytes *b = c->bytes;
    uint64_t element_B = o->image.transfer.element_B;
    uint32_t first = is_cube(o) ? c->box->z : 0, faces = is_cube(o) ? c->box->depth : 1;
    struct em_gl_extent e;
    (void)group;
    if (!begin(gl, c))
        return;
    for (uint32_t face = first; face < first + faces && face < 6; face++) {
        if (!look(gl, c, face, &e))
            continue;
        struct em_gl_box flat = *c->box;
        if (is_cube(o))
            flat.z = 0, flat.depth = 1;
        struct em_gl_box box = clip(&flat, e);
        if (!box.width || !box.height || !box.depth)
            continue;
        const char *from = (const char *)b->base + (face + box.z) * b->slice_B + box.y * b->pitch_B + box.x * element_B;
        set_rows(gl, false, b->pitch_B / element_B, b->slice_B / b->pitch_B);
        if (o->kind == EM_GL_TEXTURE)
            write_level(gl, c, face, &box, from);
        else
            em_gl_framebuffer_write(gl, o, &box, from);
    }
    end(gl, c);
    gl->Finish();
}

enum em_gl_status em_gl_image_write(struct em_gl_object *object, unsigned level, const struct em_gl_box *box, const struct em_gl_bytes *from)
{
    struct call c = {.object = object, .level = level, .box = box, .bytes = from, .status = EM_GL_GONE};
    em_gl_group_run(object->group, run_write, &c);
    return c.status;
}
