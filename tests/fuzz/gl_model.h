// SPDX-License-Identifier: MIT
// The model of the fuzz target `gl`, for its files.
#pragma once
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <cudaEGL.h>
#include <cudaGL.h>

#include "fuzz.h"

enum {
    OBJECTS = 4,
    RESOURCES = 6,
    CONTEXTS = 2,
    LIST = 3,
    STEPS = 64,
    LEVELS_MOST = 6,
    EXTENT_MOST = 24,
    LAYERS_MOST = 6,
    BUFFER_MOST_B = 3000,
    LEVEL_MOST_B = EXTENT_MOST * EXTENT_MOST * LAYERS_MOST * 16,
};

// A format of OpenGL that CUDA shows, the transfer format that keeps its bytes, and the array's.
struct format {
    GLenum internal, outer, type;
    unsigned texel_B, channels;
    CUarray_format array;
    bool as_egl_image; // four channels that are not sRGB, R8 or RG16
};

// `known`: which bytes the model knows.
struct level {
    unsigned width, height, depth; // depth also counts layers and faces
    size_t size_B;
    uint8_t *bytes, *known;
};

// A buffer is one level of one row. It outlives its name in OpenGL if resources refer to it.
struct object {
    GLenum target; // or 0: a buffer
    GLuint name;
    const struct format *format; // or NULL: a buffer
    bool deleted;
    unsigned count; // of levels that OpenGL has
    unsigned chain; // of levels that CUDA shows
    unsigned references;
    EGLImageKHR image; // or NULL
    struct level levels[LEVELS_MOST];
};

struct resource {
    CUgraphicsResource handle; // or NULL
    struct object *object;
    unsigned registered; // flags
    unsigned flags;      // of the next mapping
    unsigned mapped_as;  // flags of this mapping
    bool mapped, of_image;
};

struct model {
    struct object *objects[OBJECTS]; // or NULL
    struct resource resources[RESOURCES];
    int context; // of OpenGL, the current one; or -1
    CUstream stream;
};

// ---- OpenGL (gl_object.c)

void fg_begin(void);
void fg_use_context(struct model *m, int context);
struct object *fg_create(struct fuzz_input *in);
// Makes an EGLImage of the object, if it has not got one and EGL can.
void fg_make_image(struct object *o);
void fg_delete(struct object *o);
void fg_release(struct object *o); // ends the model of an object to which nothing refers
void fg_write(struct fuzz_input *in, struct object *o);
void fg_check(const struct object *o);
bool fg_is_layered(const struct object *o);
void fg_forget(struct object *o);
// A box of a level; the slice is a layer or a face, too.
struct box {
    unsigned x, y, z, width, height;
};
struct box fg_any_box(struct fuzz_input *in, const struct level *l);
size_t fg_place_of(const struct object *o, const struct level *l, const struct box *b,
                   unsigned row);
