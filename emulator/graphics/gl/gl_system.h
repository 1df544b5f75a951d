// SPDX-License-Identifier: MIT
// The two halves of gl_context.h, which differ between EGL and GLX.
#pragma once
#include "gl_context.h"

// "If the reset notification behavior of share_context is different …", and likewise of its
// no-error mode, "an EGL_BAD_MATCH error is generated"; GLX has the same rule. To ask a context for
// its kind may raise an error in the program, so each kind is tried instead.
struct em_gl_kind_of_context {
    bool robust, silent;
};
static const struct em_gl_kind_of_context em_gl_kinds[] = {
    {false, false}, {true, false}, {false, true}, {true, true}};
enum { EM_GL_KINDS = sizeof em_gl_kinds / sizeof *em_gl_kinds, EM_GL_ATTRIBUTES_MAX = 16 };

static inline void em_gl_add(int *list, unsigned *count, int name, int value)
{
    list[(*count)++] = name;
    list[(*count)++] = value;
}

// As em_gl_context_open and _close.
const char *em_gl_egl_open(const struct em_gl_current *current, struct em_gl_own *own);
void em_gl_egl_close(struct em_gl_own *own);
const char *em_gl_glx_open(const struct em_gl_current *current, struct em_gl_own *own);
void em_gl_glx_close(struct em_gl_own *own);
