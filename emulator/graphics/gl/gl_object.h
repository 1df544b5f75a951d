// SPDX-License-Identifier: MIT
// OpenGL buffers, textures and renderbuffers as the driver sees them: their properties and their
// bytes. An open object lives on after the program has deleted it. Every function may be called
// from any thread. Precondition of all, unless they say otherwise: em_lock not held, because OpenGL
// may wait for the program's own code.
#pragma once
#include "gl_format.h"
#include "gl_group.h"
#include "gl_region.h"

enum em_gl_status {
    EM_GL_OK,
    EM_GL_MISSING,     // there is no object of this name
    EM_GL_NO_STORAGE,  // no glBufferData, glTexImage or glRenderbufferStorage yet, or an incomplete
                       // cube
    EM_GL_MULTISAMPLE, // OpenGL has no calls for its bytes
    EM_GL_REFORMATTED, // its format has changed since it was opened; nothing was copied
    EM_GL_RESIZED,     // its size has changed since it was opened; the part that fits was copied
    EM_GL_REFUSED,     // OpenGL reported an error, for example because the program maps the buffer
    EM_GL_GONE,        // its display is closed, which ends all objects; or the driver's context
                       // cannot be made current
    EM_GL_NO_MEMORY,
};

enum em_gl_kind { EM_GL_BUFFER, EM_GL_TEXTURE, EM_GL_RENDERBUFFER, EM_GL_EGL_IMAGE };

enum { EM_GL_LEVELS_MAX = 20 };

// The properties of a texture or renderbuffer when it was opened.
struct em_gl_image {
    unsigned target;
    uint32_t base;                 // the texture's base level, which is CUDA's level 0
    uint32_t width, height, depth; // of the base level; depth: slices, layers or faces, else 1
    uint32_t levels;               // from the base level to the last one that has an image
    uint32_t present[6]; // a bit for each level that has an image: of a cube by face, else in [0]
    struct gl_format format;
    struct gl_transfer transfer; // valid if `shown`
    bool shown;                  // CUDA has arrays of this format
};

struct em_gl_object {
    struct em_gl_group *group; // a reference
    enum em_gl_kind kind;
    unsigned name;
    void *egl_image;          // the handle of an EGLImage, which has no name
    uint64_t size_B;          // of a buffer
    struct em_gl_image image; // of the others
    // The OpenGL object that keeps this one alive: a vertex array, a framebuffer, or a texture unit
    // of `pool`. 0 if nothing does.
    unsigned holder;
    struct em_gl_unit_pool *pool;
    struct em_gl_unit_pools *pools; // of the context that has the holder
    // A framebuffer that distinguishes this object from others of the same name (gl_identity.c).
    // Renderbuffers have one, and textures that no unit holds.
    unsigned mark;
    bool silent; // the group's context has no error checks
    struct em_gl_job closing;
    // The same object with a holder of the guest (gl_guest.h), or NULL.
    struct em_gl_object *twin;
};

// The bytes of a level in memory: rows are pitch_B apart, slices slice_B.
struct em_gl_bytes {
    void *base;
    uint64_t pitch_B, slice_B;
    uint64_t width; // the extent that fits
    uint32_t height, depth;
};

// Opens an object of the group. The object takes a reference to the group.
enum em_gl_status em_gl_object_open(struct em_gl_group *group, enum em_gl_kind kind, unsigned name,
                                    struct em_gl_object **out);
// Opens an EGLImage, which is two-dimensional. MISSING if the group's display has no such image.
enum em_gl_status em_gl_egl_image_open(struct em_gl_group *group, void *egl_image,
                                       struct em_gl_object **out);
// Returns without waiting. `object` may be NULL, and em_lock may be held.
void em_gl_object_close(struct em_gl_object *object);

// The object's status for the context that is current in this thread: OK, MISSING (the program has
// deleted it) or GONE.
enum em_gl_status em_gl_object_status(struct em_gl_object *object);

// Whether the object's name still belongs to it, and not to a newer object. False for an EGLImage,
// which has no name.
bool em_gl_object_is_named(struct em_gl_object *object);

// The buffer's present size.
enum em_gl_status em_gl_buffer_size(struct em_gl_object *object, uint64_t *size_B);
// Copies [offset, offset + size) between the buffer and memory. RESIZED: only the part that the
// buffer still has.
enum em_gl_status em_gl_buffer_read(struct em_gl_object *object, uint64_t offset, uint64_t size,
                                    void *to);
// Writes nothing if the buffer's size is no longer `whole_B`; 0 skips this check.
enum em_gl_status em_gl_buffer_write(struct em_gl_object *object, uint64_t offset, uint64_t size,
                                     const void *from, uint64_t whole_B);
// Copies a box of a level.
enum em_gl_status em_gl_image_read(struct em_gl_object *object, unsigned level,
                                   const struct em_gl_box *box, const struct em_gl_bytes *to);
enum em_gl_status em_gl_image_write(struct em_gl_object *object, unsigned level,
                                    const struct em_gl_box *box, const struct em_gl_bytes *from);

// ---- for gl_object.c and gl_image.c

// Runs `work` on an object, in the guest if possible. `object` points to a member of `call`, which
// is the object's twin while `work` runs in the guest, and else the object.
void em_gl_object_run(struct em_gl_object **object, em_gl_work *work, void *call);

// ---- texts

// The name of a kind and the meaning of a status, for messages. em_lock may be held.
const char *em_gl_kind_text(enum em_gl_kind kind);
const char *em_gl_status_text(enum em_gl_status status);
