// SPDX-License-Identifier: MIT
// The parts of gl_object.c that concern textures and renderbuffers. For jobs of a group: the group's context is current.
#pragma once
#include "gl_object.h"

enum em_gl_status em_gl_image_open(struct em_gl_group *group, const struct gl_functions *gl, struct em_gl_object *o);
void em_gl_image_drop(struct em_gl_group *group, const struct gl_functions *gl, struct em_gl_object *o);
