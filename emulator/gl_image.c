// SPDX-License-Identifier: MIT
// Textures: what they are; and how the bytes of images come and go.
#include "gl_image.h"

#include <string.h>

#include "alloc.h"
#include "kn_copy.h"

// The kinds of textures that there are; the places of the first ones are the slots of em_gl_group_take_unit.
static const struct {
    unsigned target, binding;
} targets[] = {
    {GL_TEXTURE_1D, GL_TEXTURE_BINDING_1D},
    {GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D},
    {GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D},
    {GL_TEXTURE_RECTANGLE, GL_TEXTURE_BINDING_RECTANGLE},
    {GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP},
    {GL_TEXTURE_1D_ARRAY, GL_TEXTURE_BINDING_1D_ARRAY},
    {GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY},
    {GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY},
    {GL_TEXTURE_BUFFER, GL_TEXTURE_BINDING_BUFFER},
    {GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BINDING_2D_MULTISAMPLE},
    {GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY},
};
enum { TARGETS = sizeof targets / sizeof *targets };

static unsigned slot_of(unsigned target)
{
    unsigned i = 0;
    while (i < GL_UNIT_SLOTS - 1 && targets[i].target != target)
        i++;
    return i;
}

bool em_gl_failed(const struct gl_functions *gl)
{
    bool any = false;
    for (int i = 0; i < 8 && gl->GetError() != GL_NO_ERROR; i++)
        any = true;
    return any;
}

// ---- textures

static void select_texture(const struct gl_functions *gl, const struct em_gl_object *o)
{
    gl->ActiveTexture(GL_TEXTURE0 + o->holder);
    if (!o->holder) // there was no unit to hold it in
        gl->BindTexture(o->image.target, o->name);
}

// The target that queries and glTexSubImage take for a slice.
static unsigned image_target(const struct em_gl_object *o, uint32_t face)
{
    return o->image.target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + face : o->image.target;
}

static struct em_gl_extent extent_of(const struct gl_functions *gl, unsigned target, unsigned level)
{
    gl_int w = 0, h = 0, d = 0;
    gl->GetTexLevelParameteriv(target, (gl_int)level, GL_TEXTURE_WIDTH, &w);
    if (w <= 0)
        return (struct em_gl_extent){0};
    gl->GetTexLevelParameteriv(target, (gl_int)level, GL_TEXTURE_HEIGHT, &h);
    gl->GetTexLevelParameteriv(target, (gl_int)level, GL_TEXTURE_DEPTH, &d);
    return (struct em_gl_extent){(uint32_t)w, h > 0 ? (uint32_t)h : 1, d > 0 ? (uint32_t)d : 1};
}

struct em_gl_extent em_gl_level_extent(const struct gl_functions *gl, const struct em_gl_object *o, unsigned level)
{
    struct em_gl_extent e = extent_of(gl, image_target(o, 0), level);
    if (o->image.target != GL_TEXTURE_CUBE_MAP)
        return e;
    for (uint32_t face = 1; face < 6; face++) { // glTexImage2D makes each by itself
        struct em_gl_extent other = extent_of(gl, image_target(o, face), level);
        if (memcmp(&other, &e, sizeof e))
            return (struct em_gl_extent){0};
    }
    e.depth = e.width ? 6 : 0;
    return e;
}

// What OpenGL itself says of an internal format that is not sized.
static struct gl_format described_format(const struct gl_functions *gl, unsigned target, unsigned number)
{
    struct gl_format f = {.number = number, .kind = GL_KIND_OTHER};
    gl_int size[6] = {0}, type = 0, depth = 0, stencil = 0, compressed = 0; // red, green, blue, alpha, luminance, intensity
    for (int i = 0; i < 6; i++)
        gl->GetTexLevelParameteriv(target, 0, GL_TEXTURE_RED_SIZE + (unsigned)i, &size[i]);
    gl->GetTexLevelParameteriv(target, 0, GL_TEXTURE_DEPTH_SIZE, &depth);
    gl->GetTexLevelParameteriv(target, 0, GL_TEXTURE_STENCIL_SIZE, &stencil);
    gl->GetTexLevelParameteriv(target, 0, GL_TEXTURE_COMPRESSED, &compressed);
    unsigned type_of = size[0]   ? GL_TEXTURE_RED_TYPE
                       : size[4] ? GL_TEXTURE_LUMINANCE_TYPE
                       : size[5] ? GL_TEXTURE_INTENSITY_TYPE
                                 : GL_TEXTURE_ALPHA_TYPE;
    gl->GetTexLevelParameteriv(target, 0, type_of, &type);
    em_gl_failed(gl); // queries that this version does not know
    if (depth || stencil || compressed) {
        f.kind = compressed ? GL_KIND_OTHER : GL_KIND_DEPTH;
        return f;
    }
    switch (type) {
    case GL_UNSIGNED_NORMALIZED:
        f.kind = GL_KIND_UNORM;
        break;
    case GL_SIGNED_NORMALIZED:
        f.kind = GL_KIND_SNORM;
        break;
    case GL_FLOAT:
        f.kind = GL_KIND_FLOAT;
        break;
    case GL_INT:
        f.kind = GL_KIND_SINT;
        break;
    case GL_UNSIGNED_INT:
        f.kind = GL_KIND_UINT;
        break;
    default:
        return f;
    }
    if (size[0]) {
        f.base = size[3] ? GL_BASE_RGBA : size[2] ? GL_BASE_RGB : size[1] ? GL_BASE_RG : GL_BASE_R;
        for (int i = 0; i < 4; i++)
            f.bits[i] = (uint8_t)size[i];
    } else if (size[4]) {
        f.base = size[3] ? GL_BASE_LUMINANCE_ALPHA : GL_BASE_LUMINANCE;
        f.bits[0] = (uint8_t)size[4];
        f.bits[1] = (uint8_t)size[3];
    } else {
        f.base = size[5] ? GL_BASE_INTENSITY : GL_BASE_ALPHA;
        f.bits[0] = (uint8_t)(size[5] ? size[5] : size[3]);
    }
    return f;
}

void em_gl_texture_format(const struct gl_functions *gl, unsigned target, struct em_gl_image *image)
{
    gl_int number = 0;
    gl->GetTexLevelParameteriv(target, 0, GL_TEXTURE_INTERNAL_FORMAT, &number);
    const struct gl_format *sized = em_gl_format((uint32_t)number);
    image->format = sized ? *sized : described_format(gl, target, (unsigned)number);
    image->shown = em_gl_format_transfer(&image->format, &image->transfer);
}

// What a texture is: OpenGL binds it to its own target, and tells where; before 4.5 it is bound to each until one takes it. 0: it cannot be told.
static unsigned find_target(const struct gl_functions *gl, unsigned name)
{
    gl->ActiveTexture(GL_TEXTURE0);
    if (gl->BindTextureUnit) {
        gl->BindTextureUnit(0, 0); // all targets
        gl->BindTextureUnit(0, name);
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        gl_int bound = 0;
        if (gl->BindTextureUnit)
            gl->GetIntegerv(targets[i].binding, &bound);
        else
            gl->BindTexture(targets[i].target, name);
        if (em_gl_failed(gl) || (gl->BindTextureUnit && (unsigned)bound != name))
            continue;
        gl->BindTexture(targets[i].target, 0);
        return targets[i].target;
    }
    return 0;
}

static enum em_gl_status open_texture(struct em_gl_group *group, const struct gl_functions *gl, struct em_gl_object *o)
{
    struct em_gl_image *image = &o->image;
    if (!gl->IsTexture(o->name)) // also of a name that was never bound
        return EM_GL_MISSING;
    image->target = find_target(gl, o->name);
    if (image->target == GL_TEXTURE_BUFFER || !image->target)
        return EM_GL_NO_STORAGE;
    if (image->target == GL_TEXTURE_2D_MULTISAMPLE || image->target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY)
        return EM_GL_MULTISAMPLE;
    int unit = em_gl_group_take_unit(group, slot_of(image->target));
    if (unit > 0) {
        o->holder = (unsigned)unit;
        gl->ActiveTexture(GL_TEXTURE0 + o->holder);
        gl->BindTexture(image->target, o->name);
    }
    select_texture(gl, o);
    struct em_gl_extent e = em_gl_level_extent(gl, o, 0);
    image->width = e.width;
    image->height = e.height;
    image->depth = e.depth;
    if (!e.width)
        return EM_GL_NO_STORAGE;
    // A rectangle has one level, and asking for others is an error.
    for (image->levels = 1; image->target != GL_TEXTURE_RECTANGLE && image->levels < EM_GL_LEVELS_MAX; image->levels++)
        if (!em_gl_level_extent(gl, o, image->levels).width)
            break;
    em_gl_texture_format(gl, image_target(o, 0), image);
    em_gl_failed(gl);
    return EM_GL_OK;
}

// ---- either

enum em_gl_status em_gl_image_open(struct em_gl_group *group, const struct gl_functions *gl, struct em_gl_object *o)
{
    return o->kind == EM_GL_TEXTURE        ? open_texture(group, gl, o)
           : o->kind == EM_GL_RENDERBUFFER ? em_gl_renderbuffer_open(gl, o)
                                           : em_gl_egl_image_show(gl, o);
}

void em_gl_image_drop(struct em_gl_group *group, const struct gl_functions *gl, struct em_gl_object *o)
{
    if (o->kind == EM_GL_TEXTURE && o->holder) {
        gl->ActiveTexture(GL_TEXTURE0 + o->holder);
        gl->BindTexture(o->image.target, 0);
        em_gl_group_free_unit(group, slot_of(o->image.target), (int)o->holder);
    } else if (o->kind != EM_GL_TEXTURE) {
        if (o->holder)
            gl->DeleteFramebuffers(1, &o->holder);
        gl->BindRenderbuffer(GL_RENDERBUFFER, 0);
    }
}

struct call {
    struct em_gl_object *object;
    unsigned level;
    const struct em_gl_box *box;
    const struct em_gl_bytes *bytes;
    enum em_gl_status status;
};

static void set_rows(const struct gl_functions *gl, bool pack, uint64_t row_el, uint64_t rows)
{
    gl->PixelStorei(pack ? GL_PACK_ROW_LENGTH : GL_UNPACK_ROW_LENGTH, (gl_int)row_el);
    gl->PixelStorei(pack ? GL_PACK_IMAGE_HEIGHT : GL_UNPACK_IMAGE_HEIGHT, (gl_int)rows);
}

// All slices of a level, rows row_el elements apart, slices `rows` rows.
static void read_level(const struct gl_functions *gl, struct em_gl_object *o, unsigned level, struct em_gl_extent e, char *to, uint64_t row_el,
                       uint64_t rows)
{
    const struct gl_transfer *t = &o->image.transfer;
    set_rows(gl, true, row_el, rows);
    if (o->kind != EM_GL_TEXTURE) {
        gl->BindFramebuffer(GL_READ_FRAMEBUFFER, o->holder);
        gl->ReadPixels(0, 0, (gl_sizei)e.width, (gl_sizei)e.height, t->format, t->type, to);
        gl->BindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    } else if (o->image.target == GL_TEXTURE_CUBE_MAP) {
        for (uint32_t face = 0; face < e.depth; face++)
            gl->GetTexImage(image_target(o, face), (gl_int)level, t->format, t->type, to + face * rows * row_el * t->element_B);
    } else {
        gl->GetTexImage(o->image.target, (gl_int)level, t->format, t->type, to);
    }
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Where the level has another shape than there is room for: by way of a copy, and what fits.
static enum em_gl_status read_other(const struct gl_functions *gl, struct call *c, struct em_gl_extent e)
{
    const struct em_gl_bytes *b = c->bytes;
    uint64_t element_B = c->object->image.transfer.element_B;
    char *copy = dm_calloc((size_t)e.width * e.height * e.depth, element_B);
    if (!copy)
        return EM_GL_NO_MEMORY;
    read_level(gl, c->object, c->level, e, copy, e.width, e.height);
    uint64_t row_B = e.width * element_B;
    kn_copy_box(b->base, b->pitch_B, b->slice_B, copy, row_B, row_B * e.height, least(e.width, b->width) * element_B, least(e.height, b->height),
                least(e.depth, b->depth));
    dm_free(copy);
    return EM_GL_OK;
}

// The level's extent now; whether it is what it was. A renderbuffer's is taken as it was: its name may be another's by now.
static struct em_gl_extent extent_now(const struct gl_functions *gl, const struct em_gl_object *o, unsigned level, bool *resized)
{
    const struct em_gl_image *image = &o->image;
    bool stacked = image->target != GL_TEXTURE_3D;
    struct em_gl_extent was = {image->width >> level, image->height >> level, stacked ? image->depth : image->depth >> level};
    was = (struct em_gl_extent){was.width ? was.width : 1, was.height ? was.height : 1, was.depth ? was.depth : 1};
    if (image->target == GL_TEXTURE_1D_ARRAY)
        was.height = image->height;
    struct em_gl_extent e = o->kind != EM_GL_TEXTURE ? was : em_gl_level_extent(gl, o, level);
    *resized = memcmp(&e, &was, sizeof e) != 0;
    return e;
}

// Selects the object of a call, whose errors are told apart from earlier ones; the level's extent.
static struct em_gl_extent begin(const struct gl_functions *gl, const struct call *c, bool *resized)
{
    em_gl_failed(gl);
    if (c->object->kind == EM_GL_TEXTURE)
        select_texture(gl, c->object);
    return extent_now(gl, c->object, c->level, resized);
}

static void run_read(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    struct em_gl_object *o = c->object;
    const struct em_gl_bytes *b = c->bytes;
    uint64_t element_B = o->image.transfer.element_B;
    bool resized;
    (void)group;
    struct em_gl_extent e = begin(gl, c, &resized);
    bool direct = e.width <= b->width && e.height <= b->height && e.depth <= b->depth && b->pitch_B % element_B == 0 && b->slice_B % b->pitch_B == 0;
    c->status = EM_GL_OK;
    if (!e.width)
        resized = true;
    else if (direct)
        read_level(gl, o, c->level, e, b->base, b->pitch_B / element_B, b->slice_B / b->pitch_B);
    else
        c->status = read_other(gl, c, e);
    if (!c->status)
        c->status = em_gl_failed(gl) ? EM_GL_REFUSED : resized ? EM_GL_RESIZED : EM_GL_OK;
}

enum em_gl_status em_gl_image_read(struct em_gl_object *object, unsigned level, const struct em_gl_bytes *to)
{
    struct call c = {.object = object, .level = level, .bytes = to, .status = EM_GL_GONE};
    em_gl_group_run(object->group, run_read, &c);
    return c.status;
}

static void write_texture(const struct gl_functions *gl, const struct em_gl_object *o, unsigned level, const struct em_gl_box *b, const char *from,
                          uint64_t slice_B)
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
        gl->TexSubImage2D(o->image.target, l, x, y, w, h, t->format, t->type, from);
        break;
    case GL_TEXTURE_CUBE_MAP:
        for (uint32_t i = 0; i < b->depth; i++)
            gl->TexSubImage2D(image_target(o, b->z + i), l, x, y, w, h, t->format, t->type, from + i * slice_B);
        break;
    default:
        gl->TexSubImage3D(o->image.target, l, x, y, z, w, h, d, t->format, t->type, from);
        break;
    }
}

static void run_write(struct em_gl_group *group, const struct gl_functions *gl, void *arg)
{
    struct call *c = arg;
    struct em_gl_object *o = c->object;
    const struct em_gl_bytes *b = c->bytes;
    uint64_t element_B = o->image.transfer.element_B;
    struct em_gl_box box = *c->box;
    bool resized;
    (void)group;
    struct em_gl_extent e = begin(gl, c, &resized);
    box.width = box.x < e.width ? least(box.width, e.width - box.x) : 0;
    box.height = box.y < e.height ? least(box.height, e.height - box.y) : 0;
    box.depth = box.z < e.depth ? least(box.depth, e.depth - box.z) : 0;
    const char *from = (const char *)b->base + box.z * b->slice_B + box.y * b->pitch_B + box.x * element_B;
    if (box.width && box.height && box.depth) {
        set_rows(gl, false, b->pitch_B / element_B, b->slice_B / b->pitch_B);
        if (o->kind != EM_GL_TEXTURE)
            em_gl_framebuffer_write(gl, o, &box, from);
        else
            write_texture(gl, o, c->level, &box, from, b->slice_B);
        gl->Finish();
    }
    c->status = em_gl_failed(gl) ? EM_GL_REFUSED : resized ? EM_GL_RESIZED : EM_GL_OK;
}

enum em_gl_status em_gl_image_write(struct em_gl_object *object, unsigned level, const struct em_gl_box *box, const struct em_gl_bytes *from)
{
    struct call c = {.object = object, .level = level, .box = box, .bytes = from, .status = EM_GL_GONE};
    em_gl_group_run(object->group, run_write, &c);
    return c.status;
}
