// SPDX-License-Identifier: MIT
// The parts of gl_object.c that concern textures and renderbuffers. For jobs of a group: the group's context is current.
#pragma once
#include "gl_object.h"

enum em_gl_status em_gl_image_open(struct em_gl_group *group, const struct gl_functions *gl, struct em_gl_object *o);
void em_gl_image_drop(struct em_gl_group *group, const struct gl_functions *gl, struct em_gl_object *o);

// For gl_image.c and gl_framebuffer.c.

struct em_gl_extent {
    uint32_t width, height, depth;
};

// Whether OpenGL has reported errors; they are forgotten.
bool em_gl_failed(const struct gl_functions *gl);
// Extent of a level of the texture that is bound; width 0: it has no image, or a cube not all its faces.
struct em_gl_extent em_gl_level_extent(const struct gl_functions *gl, const struct em_gl_object *o, unsigned level);
// Fills in the format of the texture that is bound.
void em_gl_texture_format(const struct gl_functions *gl, unsigned target, struct em_gl_image *image);

enum em_gl_status em_gl_renderbuffer_open(const struct gl_functions *gl, struct em_gl_object *o);
enum em_gl_status em_gl_egl_image_show(const struct gl_functions *gl, struct em_gl_object *o);
// Writes a box of what the object's framebuffer holds, from rows as they are set for unpacking.
void em_gl_framebuffer_write(const struct gl_functions *gl, const struct em_gl_object *o, const struct em_gl_box *box, const void *from);
