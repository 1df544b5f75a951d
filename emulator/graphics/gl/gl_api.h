// SPDX-License-Identifier: MIT
// The part of OpenGL that the driver uses, found at run time: types, numbers and one list of
// functions. Nothing here is linked.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned int gl_enum, gl_uint;
typedef int gl_int, gl_sizei;
typedef unsigned char gl_boolean;
typedef struct gl_sync_object *gl_sync;

// Numbers of the GL and GLX registries.
enum {
    GL_NONE = 0,
    GL_NO_ERROR = 0,
    GL_INVALID_VALUE = 0x0501,
    GL_STENCIL_INDEX = 0x1901,
    GL_RED = 0x1903,
    GL_ALPHA = 0x1906,
    GL_RGBA = 0x1908,
    GL_LUMINANCE = 0x1909,
    GL_LUMINANCE_ALPHA = 0x190a,
    GL_RG = 0x8227,
    GL_RG_INTEGER = 0x8228,
    GL_RED_INTEGER = 0x8d94,
    GL_ALPHA_INTEGER = 0x8d97,
    GL_RGBA_INTEGER = 0x8d99,
    GL_LUMINANCE_INTEGER = 0x8d9c,
    GL_LUMINANCE_ALPHA_INTEGER = 0x8d9d,

    GL_BYTE = 0x1400,
    GL_UNSIGNED_BYTE = 0x1401,
    GL_SHORT = 0x1402,
    GL_UNSIGNED_SHORT = 0x1403,
    GL_INT = 0x1404,
    GL_UNSIGNED_INT = 0x1405,
    GL_FLOAT = 0x1406,
    GL_HALF_FLOAT = 0x140b,
    GL_SIGNED_NORMALIZED = 0x8f9c,
    GL_UNSIGNED_NORMALIZED = 0x8c17,

    GL_TEXTURE_1D = 0x0de0,
    GL_TEXTURE_2D = 0x0de1,
    GL_TEXTURE_3D = 0x806f,
    GL_TEXTURE_RECTANGLE = 0x84f5,
    GL_TEXTURE_CUBE_MAP = 0x8513,
    GL_TEXTURE_CUBE_MAP_POSITIVE_X = 0x8515,
    GL_TEXTURE_1D_ARRAY = 0x8c18,
    GL_TEXTURE_2D_ARRAY = 0x8c1a,
    GL_TEXTURE_BUFFER = 0x8c2a,
    GL_TEXTURE_CUBE_MAP_ARRAY = 0x9009,
    GL_TEXTURE_2D_MULTISAMPLE = 0x9100,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY = 0x9102,
    GL_TEXTURE0 = 0x84c0,
    GL_TEXTURE_BINDING_1D = 0x8068,
    GL_TEXTURE_BINDING_2D = 0x8069,
    GL_TEXTURE_BINDING_3D = 0x806a,
    GL_TEXTURE_BINDING_RECTANGLE = 0x84f6,
    GL_TEXTURE_BINDING_CUBE_MAP = 0x8514,
    GL_TEXTURE_BINDING_1D_ARRAY = 0x8c1c,
    GL_TEXTURE_BINDING_2D_ARRAY = 0x8c1d,
    GL_TEXTURE_BINDING_BUFFER = 0x8c2c,
    GL_TEXTURE_BINDING_CUBE_MAP_ARRAY = 0x900a,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE = 0x9104,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY = 0x9105,
    GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS = 0x8b4d,

    GL_TEXTURE_WIDTH = 0x1000,
    GL_TEXTURE_HEIGHT = 0x1001,
    GL_TEXTURE_INTERNAL_FORMAT = 0x1003,
    GL_TEXTURE_RED_SIZE = 0x805c,
    GL_TEXTURE_GREEN_SIZE = 0x805d,
    GL_TEXTURE_BLUE_SIZE = 0x805e,
    GL_TEXTURE_ALPHA_SIZE = 0x805f,
    GL_TEXTURE_LUMINANCE_SIZE = 0x8060,
    GL_TEXTURE_INTENSITY_SIZE = 0x8061,
    GL_TEXTURE_DEPTH = 0x8071,
    GL_TEXTURE_COMPRESSED = 0x86a1,
    GL_TEXTURE_DEPTH_SIZE = 0x884a,
    GL_TEXTURE_STENCIL_SIZE = 0x88f1,
    GL_TEXTURE_RED_TYPE = 0x8c10,
    GL_TEXTURE_ALPHA_TYPE = 0x8c13,
    GL_TEXTURE_LUMINANCE_TYPE = 0x8c14,
    GL_TEXTURE_INTENSITY_TYPE = 0x8c15,
    GL_TEXTURE_BASE_LEVEL = 0x813c,
    GL_TEXTURE_MAX_LEVEL = 0x813d,
    GL_GENERATE_MIPMAP = 0x8191,
    GL_TEXTURE_COMPARE_FUNC = 0x884d,
    GL_NEVER = 0x0200,
    GL_ALWAYS = 0x0207,
    GL_TEXTURE_MIN_FILTER = 0x2801,
    GL_TEXTURE_MAG_FILTER = 0x2800,
    GL_NEAREST = 0x2600,

    GL_RENDERBUFFER = 0x8d41,
    GL_RENDERBUFFER_WIDTH = 0x8d42,
    GL_RENDERBUFFER_HEIGHT = 0x8d43,
    GL_RENDERBUFFER_INTERNAL_FORMAT = 0x8d44,
    GL_RENDERBUFFER_SAMPLES = 0x8cab,
    GL_READ_FRAMEBUFFER = 0x8ca8,
    GL_DRAW_FRAMEBUFFER = 0x8ca9,
    GL_COLOR_ATTACHMENT0 = 0x8ce0,
    GL_DEPTH_ATTACHMENT = 0x8d00,
    GL_STENCIL_ATTACHMENT = 0x8d20,
    GL_DEPTH_STENCIL_ATTACHMENT = 0x821a,
    GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME = 0x8cd1,
    GL_COLOR_BUFFER_BIT = 0x4000,
    GL_STENCIL_BUFFER_BIT = 0x400,
    GL_CLAMP_READ_COLOR = 0x891c,

    GL_ELEMENT_ARRAY_BUFFER = 0x8893,
    GL_BUFFER_SIZE = 0x8764,
    GL_BUFFER_MAP_POINTER = 0x88bd,
    GL_BUFFER_MAPPED = 0x88bc,
    GL_BUFFER_ACCESS_FLAGS = 0x911f,
    GL_MAP_PERSISTENT_BIT = 0x40,
    GL_BUFFER_IMMUTABLE_STORAGE = 0x821f,
    GL_BUFFER_STORAGE_FLAGS = 0x8220,
    GL_DYNAMIC_STORAGE_BIT = 0x100,
    GL_COPY_READ_BUFFER = 0x8f36,
    GL_STREAM_COPY = 0x88e2,
    GL_PACK_ALIGNMENT = 0x0d05,
    GL_PACK_ROW_LENGTH = 0x0d02,
    GL_PACK_IMAGE_HEIGHT = 0x806c,
    GL_UNPACK_ALIGNMENT = 0x0cf5,
    GL_UNPACK_ROW_LENGTH = 0x0cf2,
    GL_UNPACK_IMAGE_HEIGHT = 0x806e,

    GL_VERSION = 0x1f02,
    GL_RENDERER = 0x1f01,
    GL_SYNC_GPU_COMMANDS_COMPLETE = 0x9117,
};

// X(result, name without its prefix, arguments): functions that a context of the driver's own must
// have (OpenGL 3.3).
#define GL_FUNCTIONS(X)                                                                            \
    X(void, Finish, (void))                                                                        \
    X(gl_enum, GetError, (void))                                                                   \
    X(const unsigned char *, GetString, (gl_enum))                                                 \
    X(void, GetIntegerv, (gl_enum, gl_int *))                                                      \
    X(void, PixelStorei, (gl_enum, gl_int))                                                        \
    X(gl_sync, FenceSync, (gl_enum, unsigned))                                                     \
    X(gl_boolean, IsSync, (gl_sync))                                                               \
    X(gl_boolean, IsBuffer, (gl_uint))                                                             \
    X(gl_boolean, IsTexture, (gl_uint))                                                            \
    X(gl_boolean, IsRenderbuffer, (gl_uint))                                                       \
    X(void, GenVertexArrays, (gl_sizei, gl_uint *))                                                \
    X(void, BindVertexArray, (gl_uint))                                                            \
    X(void, DeleteVertexArrays, (gl_sizei, const gl_uint *))                                       \
    X(void, BindBuffer, (gl_enum, gl_uint))                                                        \
    X(void, GetBufferParameteri64v, (gl_enum, gl_enum, int64_t *))                                 \
    X(void, GetBufferPointerv, (gl_enum, gl_enum, void **))                                        \
    X(void, GetBufferSubData, (gl_enum, intptr_t, intptr_t, void *))                               \
    X(void, BufferSubData, (gl_enum, intptr_t, intptr_t, const void *))                            \
    X(void, GenBuffers, (gl_sizei, gl_uint *))                                                     \
    X(void, DeleteBuffers, (gl_sizei, const gl_uint *))                                            \
    X(void, BufferData, (gl_enum, intptr_t, const void *, gl_enum))                                \
    X(void, CopyBufferSubData, (gl_enum, gl_enum, intptr_t, intptr_t, intptr_t))                   \
    X(void, GetBufferParameteriv, (gl_enum, gl_enum, gl_int *))                                    \
    X(void, ActiveTexture, (gl_enum))                                                              \
    X(void, GenTextures, (gl_sizei, gl_uint *))                                                    \
    X(void, DeleteTextures, (gl_sizei, const gl_uint *))                                           \
    X(void, BindTexture, (gl_enum, gl_uint))                                                       \
    X(void, GetTexParameteriv, (gl_enum, gl_enum, gl_int *))                                       \
    X(void, TexParameteri, (gl_enum, gl_enum, gl_int))                                             \
    X(void, GetTexLevelParameteriv, (gl_enum, gl_int, gl_enum, gl_int *))                          \
    X(void, GetTexImage, (gl_enum, gl_int, gl_enum, gl_enum, void *))                              \
    X(void, TexImage2D,                                                                            \
      (gl_enum, gl_int, gl_int, gl_sizei, gl_sizei, gl_int, gl_enum, gl_enum, const void *))       \
    X(void, TexSubImage1D, (gl_enum, gl_int, gl_int, gl_sizei, gl_enum, gl_enum, const void *))    \
    X(void, TexSubImage2D,                                                                         \
      (gl_enum, gl_int, gl_int, gl_int, gl_sizei, gl_sizei, gl_enum, gl_enum, const void *))       \
    X(void, TexSubImage3D,                                                                         \
      (gl_enum, gl_int, gl_int, gl_int, gl_int, gl_sizei, gl_sizei, gl_sizei, gl_enum, gl_enum,    \
       const void *))                                                                              \
    X(void, GenFramebuffers, (gl_sizei, gl_uint *))                                                \
    X(void, BindFramebuffer, (gl_enum, gl_uint))                                                   \
    X(void, DeleteFramebuffers, (gl_sizei, const gl_uint *))                                       \
    X(void, FramebufferRenderbuffer, (gl_enum, gl_enum, gl_enum, gl_uint))                         \
    X(void, FramebufferTexture2D, (gl_enum, gl_enum, gl_enum, gl_uint, gl_int))                    \
    X(void, FramebufferTexture, (gl_enum, gl_enum, gl_uint, gl_int))                               \
    X(void, GetFramebufferAttachmentParameteriv, (gl_enum, gl_enum, gl_enum, gl_int *))            \
    X(void, BlitFramebuffer,                                                                       \
      (gl_int, gl_int, gl_int, gl_int, gl_int, gl_int, gl_int, gl_int, unsigned, gl_enum))         \
    X(void, ReadPixels, (gl_int, gl_int, gl_sizei, gl_sizei, gl_enum, gl_enum, void *))            \
    X(void, ReadBuffer, (gl_enum))                                                                 \
    X(void, DrawBuffers, (gl_sizei, const gl_enum *))                                              \
    X(void, ClampColor, (gl_enum, gl_enum))                                                        \
    X(void, BindRenderbuffer, (gl_enum, gl_uint))                                                  \
    X(void, GetRenderbufferParameteriv, (gl_enum, gl_enum, gl_int *))

struct gl_functions {
#define X(result, name, arguments) result(*name) arguments;
    GL_FUNCTIONS(X)
#undef X
    // Of OpenGL 4.5, else NULL.
    void (*BindTextureUnit)(gl_uint, gl_uint);
    void (*GetTextureSubImage)(gl_uint, gl_int, gl_int, gl_int, gl_int, gl_sizei, gl_sizei,
                               gl_sizei, gl_enum, gl_enum, gl_sizei, void *);
    // Of OpenGL 4.3 and ES 3.2, else NULL.
    void (*GetPointerv)(gl_enum, void **);
};
