// SPDX-License-Identifier: MIT
// Textures: their targets, formats and levels, and the texture units that hold them.
#include <string.h>

#include "gl_image.h"
#include "gl_unit_pool.h"
#include "layout.h"

// All kinds of textures. The indices of the first ones are the slots of em_gl_unit_pool_take.
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

static unsigned texture_slot_of(unsigned target)
{
    unsigned i = 0;
    while (i < GL_UNIT_SLOTS - 1 && targets[i].target != target)
        i++;
    return i;
}

// Asks OpenGL for the properties of an internal format that is not sized.
static struct gl_format texture_described_format(const struct gl_functions *gl, unsigned target,
                                                 gl_int level, unsigned number)
{
    struct gl_format f = {.number = number, .kind = GL_KIND_OTHER};
    gl_int size[6] = {0}, type = 0, depth = 0, stencil = 0,
           compressed = 0; // red, green, blue, alpha, luminance, intensity
    for (int i = 0; i < 6; i++)
        gl->GetTexLevelParameteriv(target, level, GL_TEXTURE_RED_SIZE + (unsigned)i, &size[i]);
    gl->GetTexLevelParameteriv(target, level, GL_TEXTURE_DEPTH_SIZE, &depth);
    gl->GetTexLevelParameteriv(target, level, GL_TEXTURE_STENCIL_SIZE, &stencil);
    gl->GetTexLevelParameteriv(target, level, GL_TEXTURE_COMPRESSED, &compressed);
    unsigned type_of = size[0]   ? GL_TEXTURE_RED_TYPE
                       : size[4] ? GL_TEXTURE_LUMINANCE_TYPE
                       : size[5] ? GL_TEXTURE_INTENSITY_TYPE
                                 : GL_TEXTURE_ALPHA_TYPE;
    gl->GetTexLevelParameteriv(target, level, type_of, &type);
    em_gl_failed(gl); // this version may not have all queries
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

void em_gl_texture_format(const struct gl_functions *gl, unsigned target, unsigned level,
                          struct em_gl_image *image)
{
    gl_int number = 0;
    gl->GetTexLevelParameteriv(target, (gl_int)level, GL_TEXTURE_INTERNAL_FORMAT, &number);
    const struct gl_format *sized = em_gl_format((uint32_t)number);
    image->format =
        sized ? *sized : texture_described_format(gl, target, (gl_int)level, (unsigned)number);
    image->shown = em_gl_format_transfer(&image->format, &image->transfer);
}

// The target of a texture. OpenGL 4.5 binds a texture to its own target and can be asked for the
// binding; before, the texture is bound to each target until one accepts it. Returns 0 on failure.
static unsigned texture_find_target(const struct gl_functions *gl, unsigned name)
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

bool em_gl_texture_bind_named(const struct gl_functions *gl, const struct em_gl_object *o)
{
    unsigned target = o->image.target;
    gl_int bound = (gl_int)o->name;
    gl->ActiveTexture(GL_TEXTURE0);
    if (gl->BindTextureUnit) { // which takes the texture's own target
        gl->BindTextureUnit(0, 0);
        gl->BindTextureUnit(0, o->name);
        gl->GetIntegerv(targets[texture_slot_of(target)].binding, &bound);
    } else {
        gl->BindTexture(target, o->name);
    }
    if (!em_gl_failed(gl) && (unsigned)bound == o->name)
        return true;
    if (gl->BindTextureUnit)
        gl->BindTextureUnit(0, 0);
    return false;
}

// ---- levels

unsigned em_gl_texture_face(const struct em_gl_object *o, uint32_t face)
{
    return o->image.target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + face
                                                  : o->image.target;
}

struct em_gl_extent em_gl_texture_extent(const struct gl_functions *gl, unsigned target,
                                         unsigned level)
{
    gl_int w = 0, h = 0, d = 0;
    gl->GetTexLevelParameteriv(target, (gl_int)level, GL_TEXTURE_WIDTH, &w);
    if (w <= 0)
        return (struct em_gl_extent){0};
    gl->GetTexLevelParameteriv(target, (gl_int)level, GL_TEXTURE_HEIGHT, &h);
    gl->GetTexLevelParameteriv(target, (gl_int)level, GL_TEXTURE_DEPTH, &d);
    return (struct em_gl_extent){(uint32_t)w, h > 0 ? (uint32_t)h : 1, d > 0 ? (uint32_t)d : 1};
}

static uint32_t texture_shrink(uint32_t extent, unsigned level)
{
    return extent >> level ? extent >> level : 1;
}

// The extent that a level must have; of a cube, that of a face.
static struct em_gl_extent texture_proper_extent(const struct em_gl_image *image, unsigned level)
{
    bool cube = image->target == GL_TEXTURE_CUBE_MAP;
    return (struct em_gl_extent){
        .width = texture_shrink(image->width, level),
        .height = image->target == GL_TEXTURE_1D_ARRAY ? image->height
                                                       : texture_shrink(image->height, level),
        .depth = cube                             ? 1
                 : image->target == GL_TEXTURE_3D ? texture_shrink(image->depth, level)
                                                  : image->depth,
    };
}

enum em_gl_status em_gl_texture_look(const struct gl_functions *gl, const struct em_gl_object *o,
                                     uint32_t face, unsigned level, struct em_gl_extent *now)
{
    const struct em_gl_image *image = &o->image;
    unsigned target = em_gl_texture_face(o, face), number = image->format.number;
    struct em_gl_extent was = texture_proper_extent(image, level);
    gl_int format = 0;
    *now = em_gl_texture_extent(gl, target, image->base + level);
    if (!now->width)
        return image->present[face] & 1u << level ? EM_GL_RESIZED : EM_GL_NO_STORAGE;
    gl->GetTexLevelParameteriv(target, (gl_int)(image->base + level), GL_TEXTURE_INTERNAL_FORMAT,
                               &format);
    if ((unsigned)format != number)
        return EM_GL_REFORMATTED;
    return memcmp(now, &was, sizeof was) != 0 ? EM_GL_RESIZED : EM_GL_OK;
}

// ---- open

bool em_gl_texture_select(const struct gl_functions *gl, const struct em_gl_object *o)
{
    if (!em_gl_unit_pool_use(o->pools, o->pool))
        return false;
    gl->ActiveTexture(GL_TEXTURE0 + o->holder);
    if (o->holder)
        return true;
    if (!em_gl_image_is_named(gl, o)) // binding a deleted name would create a texture
        return false;
    gl->BindTexture(o->image.target, o->name);
    return true;
}

// Counts a level if its extent and format fit the base level. Of a cube one face is enough.
static void texture_note_level(const struct gl_functions *gl, struct em_gl_object *o,
                               unsigned level)
{
    struct em_gl_extent e;
    uint32_t faces = o->image.target == GL_TEXTURE_CUBE_MAP ? 6 : 1;
    for (uint32_t face = 0; face < faces; face++) {
        if (em_gl_texture_look(gl, o, face, level, &e) != EM_GL_OK)
            continue;
        o->image.present[face] |= 1u << level;
        o->image.levels = level + 1;
    }
}

// A texture registers if its base level has an image; of a cube, all six faces (recorded: textures
// without a level, with a base level, with levels that do not fit together).
static enum em_gl_status texture_look_at_levels(const struct gl_functions *gl,
                                                struct em_gl_object *o)
{
    struct em_gl_image *image = &o->image;
    gl_int base = 0;
    if (image->target !=
        GL_TEXTURE_RECTANGLE) // which has one level only, so that other queries are errors
        gl->GetTexParameteriv(image->target, GL_TEXTURE_BASE_LEVEL, &base);
    if (base < 0 || base >= EM_GL_LEVELS_MAX)
        return EM_GL_NO_STORAGE;
    image->base = (uint32_t)base;
    struct em_gl_extent e = em_gl_texture_extent(gl, em_gl_texture_face(o, 0), image->base);
    if (!e.width)
        return EM_GL_NO_STORAGE;
    image->width = e.width;
    image->height = e.height;
    image->depth = image->target == GL_TEXTURE_CUBE_MAP ? 6 : e.depth;
    image->levels = 1;
    em_gl_texture_format(gl, em_gl_texture_face(o, 0), image->base, image);
    for (uint32_t face = 0; face < (image->target == GL_TEXTURE_CUBE_MAP ? 6 : 1); face++) {
        if (em_gl_texture_look(gl, o, face, 0, &e) != EM_GL_OK)
            return EM_GL_NO_STORAGE;
        image->present[face] = 1;
    }
    uint32_t most = dm_layout_levels_most(image->width,
                                          image->target == GL_TEXTURE_1D_ARRAY ? 1 : image->height,
                                          image->target == GL_TEXTURE_3D ? image->depth : 1);
    for (unsigned level = 1; image->target != GL_TEXTURE_RECTANGLE && level < most &&
                             image->base + level < EM_GL_LEVELS_MAX;
         level++)
        texture_note_level(gl, o, level);
    em_gl_failed(gl);
    return EM_GL_OK;
}

bool em_gl_texture_hold(const struct gl_functions *gl, struct em_gl_object *o)
{
    unsigned slot = texture_slot_of(o->image.target);
    o->holder = em_gl_unit_pool_take(o->pools, gl, slot, &o->pool);
    if (o->holder && !em_gl_unit_pool_use(o->pools, o->pool)) {
        em_gl_unit_pool_free(o->pools, o->pool, slot, o->holder);
        o->holder = 0;
    }
    if (!o->holder) {
        o->pool = NULL;
        return false;
    }
    gl->ActiveTexture(GL_TEXTURE0 + o->holder);
    gl->BindTexture(o->image.target, o->name);
    return true;
}

enum em_gl_status em_gl_texture_open(const struct gl_functions *gl, struct em_gl_object *o)
{
    struct em_gl_image *image = &o->image;
    if (!gl->IsTexture(o->name)) // false for a name that was never bound, too
        return EM_GL_MISSING;
    image->target = texture_find_target(gl, o->name);
    if (image->target == GL_TEXTURE_BUFFER || !image->target)
        return EM_GL_NO_STORAGE;
    if (image->target == GL_TEXTURE_2D_MULTISAMPLE ||
        image->target == GL_TEXTURE_2D_MULTISAMPLE_ARRAY)
        return EM_GL_MULTISAMPLE;
    if (!em_gl_texture_hold(gl, o)) {
        if (!em_gl_unit_pool_use(o->pools,
                                 NULL)) // a failed attempt to add a pool leaves any context
            return EM_GL_MISSING;
        em_gl_image_mark(gl, o);
    }
    return em_gl_texture_select(gl, o) ? texture_look_at_levels(gl, o) : EM_GL_MISSING;
}

void em_gl_texture_drop(const struct gl_functions *gl, const struct em_gl_object *o)
{
    if (!o->holder)
        return;
    if (!em_gl_unit_pool_use(o->pools, o->pool))
        return; // the unit still holds the texture, so it stays taken
    gl->ActiveTexture(GL_TEXTURE0 + o->holder);
    gl->BindTexture(o->image.target, 0);
    em_gl_unit_pool_free(o->pools, o->pool, texture_slot_of(o->image.target), o->holder);
}
