// SPDX-License-Identifier: MIT
// Buffers, textures and renderbuffers of OpenGL as the driver sees them: what they are, and their
// bytes. An object that is open lives on when the program deletes it. Every function may be called
// from any thread. Precondition: em_lock NOT held, since the GL may be waiting for the program's
// own code.
#pragma once
#include "gl_format.h"
#include "gl_group.h"
#include "gl_region.h"

enum em_gl_status {
    EM_GL_OK,
    EM_GL_MISSING,    // no object of that name
    EM_GL_NO_STORAGE, // it has no bytes: no glBufferData, glTexImage, glRenderbufferStorage yet, or
                      // a cube without all its faces
    EM_GL_MULTISAMPLE, // its bytes cannot be had
    EM_GL_REFORMATTED, // it has another format than when it was opened: nothing was moved
    EM_GL_RESIZED,     // it is not as large as it was when it was opened: what fits was moved
    EM_GL_REFUSED,     // OpenGL reports an error: the program has the buffer mapped, say
    EM_GL_GONE,        // the display is closed, and all objects with it
    EM_GL_NO_MEMORY,
};

enum em_gl_kind { EM_GL_BUFFER, EM_GL_TEXTURE, EM_GL_RENDERBUFFER, EM_GL_EGL_IMAGE };

enum { EM_GL_LEVELS_MAX = 20 };

// What a texture or renderbuffer was when it was opened.
struct em_gl_image {
    unsigned target;               // its own
    uint32_t base;                 // the texture's base level, which is CUDA's level 0
    uint32_t width, height, depth; // of it; depth: slices, layers or faces, else 1
    uint32_t levels;               // from there to the last one that has an image
    uint32_t present[6]; // those of them that have one, a bit each; of a cube by face, else [0]
    struct gl_format format;
    struct gl_transfer transfer; // meaningful with `shown`
    bool shown;                  // CUDA has an array of that format
};

struct em_gl_object {
    struct em_gl_group *group; // a reference
    enum em_gl_kind kind;
    unsigned name;
    void *egl_image;          // the handle of an EGLImage, which has no name
    uint64_t size_B;          // of a buffer
    struct em_gl_image image; // of the others
    // What holds it: a vertex array, a texture unit (0: nothing does) of a pool, or a framebuffer.
    unsigned holder;
    struct em_gl_unit_pool *pool;
    // A framebuffer that tells it from other objects of its name (gl_identity.c): of a
    // renderbuffer, and of a texture that no unit holds.
    unsigned mark;
    bool silent; // OpenGL looks for no errors in the group's context
    struct em_gl_job closing;
};

// Bytes of a level, as they lie in memory: rows pitch_B apart, slices slice_B.
struct em_gl_bytes {
    void *base;
    uint64_t pitch_B, slice_B;
    uint64_t width; // what there is room for
    uint32_t height, depth;
};

// Opens an object of the group, to which it takes a reference.
enum em_gl_status em_gl_object_open(struct em_gl_group *group, enum em_gl_kind kind, unsigned name,
                                    struct em_gl_object **out);
// The same of an EGLImage, which is two-dimensional. MISSING: there is no such image on the group's
// display.
enum em_gl_status em_gl_egl_image_open(struct em_gl_group *group, void *egl_image,
                                       struct em_gl_object **out);
// NULL is allowed. Returns at once; em_lock may be held.
void em_gl_object_close(struct em_gl_object *object);

// How it fares, as far as the context that is current in the calling thread can tell: OK, MISSING
// (the program has deleted it) or GONE.
enum em_gl_status em_gl_object_status(struct em_gl_object *object);

// Whether the object's name is its own, and not by now that of another one. An EGLImage has none.
bool em_gl_object_is_named(struct em_gl_object *object);

// How large the buffer is now.
enum em_gl_status em_gl_buffer_size(struct em_gl_object *object, uint64_t *size_B);
// Moves [offset, offset + size) between the buffer and memory. RESIZED: what the buffer still has
// of it.
enum em_gl_status em_gl_buffer_read(struct em_gl_object *object, uint64_t offset, uint64_t size,
                                    void *to);
// `whole_B`: the buffer's size as the caller knows it; where it has another one by now, nothing is
// written. 0: not known.
enum em_gl_status em_gl_buffer_write(struct em_gl_object *object, uint64_t offset, uint64_t size,
                                     const void *from, uint64_t whole_B);
// Moves a box of a level.
enum em_gl_status em_gl_image_read(struct em_gl_object *object, unsigned level,
                                   const struct em_gl_box *box, const struct em_gl_bytes *to);
enum em_gl_status em_gl_image_write(struct em_gl_object *object, unsigned level,
                                    const struct em_gl_box *box, const struct em_gl_bytes *from);

// What a kind is called, and what a status means, for sentences.
const char *em_gl_kind_text(enum em_gl_kind kind);
const char *em_gl_status_text(enum em_gl_status status);
