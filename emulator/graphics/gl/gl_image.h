// SPDX-License-Identifier: MIT
// The parts of gl_object.c that concern textures and renderbuffers. For jobs of a group: the
// group's context is current.
#pragma once
#include "gl_object.h"

enum em_gl_status em_gl_image_open(struct em_gl_group *group, const struct gl_functions *gl,
                                   struct em_gl_object *o);
void em_gl_image_drop(struct em_gl_group *group, const struct gl_functions *gl,
                      struct em_gl_object *o);

// ---- gl_identity.c

// Notes which object has just been opened, if no texture unit holds it.
void em_gl_image_mark(const struct gl_functions *gl, struct em_gl_object *o);
// Whether the object's name is still its own.
bool em_gl_image_is_named(const struct gl_functions *gl, const struct em_gl_object *o);
bool em_gl_buffer_is_named(const struct gl_functions *gl, const struct em_gl_object *o);

// ---- gl_object.c

// Binds the buffer to GL_ELEMENT_ARRAY_BUFFER, where nothing else looks; its size.
uint64_t em_gl_buffer_select(const struct gl_functions *gl, const struct em_gl_object *o);
// Writes into the buffer that is selected.
void em_gl_buffer_put(const struct gl_functions *gl, intptr_t offset, intptr_t size,
                      const void *from);

// ---- images

// What follows is for gl_image.c, gl_texture.c and gl_framebuffer.c. Levels are CUDA's: 0 is the
// texture's base level.

struct em_gl_extent {
    uint32_t width, height, depth;
};

// Whether OpenGL has reported errors; they are forgotten.
bool em_gl_failed(const struct gl_functions *gl);

enum em_gl_status em_gl_texture_open(struct em_gl_group *group, const struct gl_functions *gl,
                                     struct em_gl_object *o);
void em_gl_texture_drop(struct em_gl_group *group, const struct gl_functions *gl,
                        const struct em_gl_object *o);
// Binds the texture that has the object's name now to unit 0 of the current context. Returns false,
// with nothing bound, if it is not a texture of the object's target.
bool em_gl_texture_bind_named(const struct gl_functions *gl, const struct em_gl_object *o);
// Binds the texture in the active unit. False: it was held by nothing, and the program has deleted
// it.
bool em_gl_texture_select(const struct gl_functions *gl, const struct em_gl_object *o);
// The target that queries and glTexSubImage take for a face of a cube; for other textures their
// own.
unsigned em_gl_texture_face(const struct em_gl_object *o, uint32_t face);
// The extent of OpenGL's level of the texture that is bound, or a face of it; width 0: it has no
// image.
struct em_gl_extent em_gl_texture_extent(const struct gl_functions *gl, unsigned target,
                                         unsigned gl_level);
// Fills in the format of the texture that is bound.
void em_gl_texture_format(const struct gl_functions *gl, unsigned target, unsigned gl_level,
                          struct em_gl_image *image);
// How a level of the selected texture, or a face of it, is now, and its extent: OK, RESIZED,
// REFORMATTED, or NO_STORAGE where it has never been.
enum em_gl_status em_gl_texture_look(const struct gl_functions *gl, const struct em_gl_object *o,
                                     uint32_t face, unsigned level, struct em_gl_extent *now);

enum em_gl_status em_gl_renderbuffer_open(const struct gl_functions *gl, struct em_gl_object *o);
enum em_gl_status em_gl_egl_image_show(struct em_gl_group *group, const struct gl_functions *gl,
                                       struct em_gl_object *o);
// The same of what the object's framebuffer holds.
enum em_gl_status em_gl_framebuffer_look(const struct gl_functions *gl,
                                         const struct em_gl_object *o, struct em_gl_extent *now);
// Writes a box of it, from rows as they are set for unpacking.
void em_gl_framebuffer_write(const struct gl_functions *gl, const struct em_gl_object *o,
                             const struct em_gl_box *box, const void *from);
