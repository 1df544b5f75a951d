// SPDX-License-Identifier: MIT
// Textures and renderbuffers, for gl_object.c. Everything here is for jobs of a group: the group's
// context is current.
#pragma once
#include "gl_object.h"

enum em_gl_status em_gl_image_open(const struct gl_functions *gl, struct em_gl_object *o);
void em_gl_image_drop(const struct gl_functions *gl, struct em_gl_object *o);

// ---- gl_identity.c

// Makes the object's mark, which is needed if no texture unit holds it.
void em_gl_image_mark(const struct gl_functions *gl, struct em_gl_object *o);
// Whether the object's name still belongs to it.
bool em_gl_image_is_named(const struct gl_functions *gl, const struct em_gl_object *o);
bool em_gl_buffer_is_named(const struct gl_functions *gl, const struct em_gl_object *o);

// ---- gl_object.c

// Binds the buffer to GL_ELEMENT_ARRAY_BUFFER, which the driver does not use otherwise. Returns its
// size.
uint64_t em_gl_buffer_select(const struct gl_functions *gl, const struct em_gl_object *o);
// Writes into the buffer that is selected.
void em_gl_buffer_put(const struct gl_functions *gl, intptr_t offset, intptr_t size,
                      const void *from);

// ---- images

// For gl_image.c, gl_texture.c and gl_framebuffer.c. Levels are counted as by CUDA: 0 is the
// texture's base level.

struct em_gl_extent {
    uint32_t width, height, depth;
};

// Whether OpenGL has reported errors since the last call. Clears them.
bool em_gl_failed(const struct gl_functions *gl);

enum em_gl_status em_gl_texture_open(const struct gl_functions *gl, struct em_gl_object *o);
// Binds the texture, which has the object's name, to a unit of `o->pools`. Returns false if all are
// taken.
bool em_gl_texture_hold(const struct gl_functions *gl, struct em_gl_object *o);
void em_gl_texture_drop(const struct gl_functions *gl, const struct em_gl_object *o);
// Binds the texture that has the object's name now to unit 0 of the current context. Returns false,
// with nothing bound, if it is not a texture of the object's target.
bool em_gl_texture_bind_named(const struct gl_functions *gl, const struct em_gl_object *o);
// Makes the texture's unit active and binds the texture there. Returns false if no unit holds it
// and the program has deleted it.
bool em_gl_texture_select(const struct gl_functions *gl, const struct em_gl_object *o);
// The target of queries and of glTexSubImage: of a cube, the face's; else the texture's own.
unsigned em_gl_texture_face(const struct em_gl_object *o, uint32_t face);
// The extent of a level of the bound texture, or of a face of it, counted as by OpenGL. The width
// is 0 if the level has no image.
struct em_gl_extent em_gl_texture_extent(const struct gl_functions *gl, unsigned target,
                                         unsigned gl_level);
// Fills in the format of the bound texture.
void em_gl_texture_format(const struct gl_functions *gl, unsigned target, unsigned gl_level,
                          struct em_gl_image *image);
// Compares a level of the selected texture, or a face of it, with its registration, and returns its
// present extent: OK, RESIZED, REFORMATTED, or NO_STORAGE if there has never been such a level.
enum em_gl_status em_gl_texture_look(const struct gl_functions *gl, const struct em_gl_object *o,
                                     uint32_t face, unsigned level, struct em_gl_extent *now);

enum em_gl_status em_gl_renderbuffer_open(const struct gl_functions *gl, struct em_gl_object *o);
enum em_gl_status em_gl_egl_image_show(const struct gl_functions *gl, struct em_gl_object *o);
// The same for the image in the object's framebuffer.
enum em_gl_status em_gl_framebuffer_look(const struct gl_functions *gl,
                                         const struct em_gl_object *o, struct em_gl_extent *now);
// Writes a box of that image. GL_UNPACK_* describe the rows.
void em_gl_framebuffer_write(const struct gl_functions *gl, const struct em_gl_object *o,
                             const struct em_gl_box *box, const void *from);
