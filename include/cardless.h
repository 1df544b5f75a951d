/* SPDX-License-Identifier: MIT */
/*
 * What Cardless has beyond the CUDA driver API: a virtual graphics API, for tests, examples and
 * fuzzing of graphics interoperability where there is no OpenGL, no display and no second process.
 *
 * Its objects are buffers and textures; its work is a list of commands. A command (cardlessWrite…,
 * cardlessFill…, cardlessCopy…) is issued at a tick of the API's clock and returns at once;
 * commands run in the order of their ticks, as late as the API allows: when cardlessFinish,
 * cardlessQuery or a cardlessRead… asks for it, or when CUDA maps a resource. There is no thread:
 * all runs inside calls. That makes the order between graphics and CUDA visible, and the same in
 * every run.
 *
 * A program maps these objects into CUDA as it maps OpenGL's: cardlessRegisterBuffer or
 * cardlessRegisterTexture instead of cuGraphicsGLRegisterBuffer and cuGraphicsGLRegisterImage, then
 * cuGraphicsMapResources and the rest of the manual's chapter "Graphics Interoperability". CUDA
 * sees an object's own bytes: nothing is copied. A command issued after cuGraphicsUnmapResources
 * waits for the CUDA work before it in its stream.
 *
 * The API lets a program do wrong what a real one forbids by crashing: commands on a mapped object,
 * destroying and resizing it. Each is reported (diagnostics G07, G13, G14) and then done.
 *
 * The functions are exported by Cardless's libcuda.so.1 and by no other. Either link with it, or
 * look them up, so that the same program runs on a real card too:
 *
 *     __typeof__(&cardlessBufferCreate) create = CARDLESS_LOOKUP(cardlessBufferCreate);
 *     if (!create)
 *         return SKIP; // a real driver
 *
 * Every function returns a CUresult; cuInit must have been called (else
 * CUDA_ERROR_NOT_INITIALIZED). A context is needed only to register. A call that fails changes
 * nothing. CUDA_ERROR_INVALID_HANDLE: an object that is none, or was destroyed;
 * CUDA_ERROR_INVALID_VALUE: a NULL pointer, a range or box outside of the object, an extent or
 * format that does not exist; CUDA_ERROR_OUT_OF_MEMORY. All functions may be called from any
 * thread.
 */
#ifndef CARDLESS_H
#define CARDLESS_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever something is added; what is there keeps its meaning. */
#define CARDLESS_VERSION 1

/* The address of a function of this header, or NULL where the process has another libcuda. Needs
 * <dlfcn.h>. */
#ifdef __cplusplus
#define CARDLESS_LOOKUP(function) ((decltype(&function))dlsym(RTLD_DEFAULT, #function))
#else
#define CARDLESS_LOOKUP(function) ((__typeof__(&function))dlsym(RTLD_DEFAULT, #function))
#endif

/* The CARDLESS_VERSION that the library has; needs no cuInit. */
CUresult cardlessGetVersion(unsigned *version);

/* ---- objects ---- */

typedef struct cardlessBuffer_st *cardlessBuffer;
typedef struct cardlessTexture_st *cardlessTexture;

/* Bytes of a buffer are zero at first. Size: bytes, not 0. It lives until cardlessBufferDestroy; a
 * registered one's bytes until it is unregistered. */
CUresult cardlessBufferCreate(cardlessBuffer *buffer, size_t size);
/* New storage of another size, all zero, as glBufferData gives it. A registered buffer keeps the
 * old storage for CUDA: G14 when it is mapped next. */
CUresult cardlessBufferResize(cardlessBuffer buffer, size_t size);
/* After the commands issued before. Of a mapped buffer: G13, and CUDA keeps the bytes until it is
 * unregistered. */
CUresult cardlessBufferDestroy(cardlessBuffer buffer);

typedef enum cardlessTextureKind_enum {
    CARDLESS_TEXTURE_1D = 1,       /* width */
    CARDLESS_TEXTURE_2D = 2,       /* width, height */
    CARDLESS_TEXTURE_3D = 3,       /* width, height, depth */
    CARDLESS_TEXTURE_1D_ARRAY = 4, /* width, layers */
    CARDLESS_TEXTURE_2D_ARRAY = 5, /* width, height, layers */
    CARDLESS_TEXTURE_CUBE = 6      /* width = height; six faces: +x -x +y -y +z -z */
} cardlessTextureKind;

/* A texture's shape. Extents in texels of level 0, those that the kind does not have 0; level l has
 * max(1, extent >> l). */
typedef struct cardlessTextureDesc_st {
    cardlessTextureKind kind;
    unsigned width, height, depth; /* at most 16384 each */
    unsigned layers;               /* of arrays; at most 2048 */
    unsigned levels;               /* 1 up to 1 + floor(log2(largest extent)) */
    CUarray_format format;         /* CU_AD_FORMAT_{UN,}SIGNED_INT{8,16,32}, _HALF, _FLOAT */
    unsigned channels;             /* 1, 2 or 4 */
} cardlessTextureDesc;

/* Texels are zero at first. */
CUresult cardlessTextureCreate(cardlessTexture *texture, const cardlessTextureDesc *desc);
/* New storage of another shape, all zero. */
CUresult cardlessTextureResize(cardlessTexture texture, const cardlessTextureDesc *desc);
CUresult cardlessTextureDestroy(cardlessTexture texture);

/* ---- commands ---- */

/* Part of one level, in texels; z is the slice, layer or face. Extents that the texture does not
 * have are 1. NULL stands for the whole level. */
typedef struct cardlessBox_st {
    unsigned x, y, z, width, height, depth;
} cardlessBox;

/* Bytes are taken over by the call. In memory a box's texels follow each other without gaps: x
 * fastest, then y, then z. */
CUresult cardlessWriteBuffer(cardlessBuffer buffer, size_t offset, size_t size, const void *bytes);
CUresult cardlessWriteTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                              const void *texels);
/* What a draw call does to a target: every element becomes this value. */
CUresult cardlessFillBuffer(cardlessBuffer buffer, size_t offset, size_t size, unsigned char value);
CUresult cardlessFillTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                             const void *texel);
/* Between two buffers, or twice the same one (the bytes are then read before any is written). */
CUresult cardlessCopyBuffer(cardlessBuffer to, size_t to_offset, cardlessBuffer from,
                            size_t from_offset, size_t size);
/* A box to the place (to_x, to_y, to_z) of a texture with elements of the same size; within one
 * level of one texture the boxes must not overlap. */
CUresult cardlessCopyTexture(cardlessTexture to, unsigned to_level, unsigned to_x, unsigned to_y,
                             unsigned to_z, cardlessTexture from, unsigned from_level,
                             const cardlessBox *box);

/* Issue a read, run all commands up to it, and return when the bytes are there. Wait for CUDA work
 * in streams as cardlessFinish does. */
CUresult cardlessReadBuffer(cardlessBuffer buffer, size_t offset, size_t size, void *bytes);
CUresult cardlessReadTexture(cardlessTexture texture, unsigned level, const cardlessBox *box,
                             void *texels);

/* Runs all commands issued so far; waits for the CUDA work that they wait for.
   CUDA_ERROR_NOT_PERMITTED, as for reads: inside of a host function (cuLaunchHostFunc), where there
   is something to wait for. */
CUresult cardlessFinish(void);
/* Runs what can run now. CUDA_ERROR_NOT_READY: some commands wait for CUDA work. */
CUresult cardlessQuery(void);
/* The tick of the last command issued, and of the last one that has run; from 1. Either may be
 * NULL. */
CUresult cardlessGetClock(uint64_t *issued, uint64_t *done);

/* ---- interoperability ---- */

/*
 * As cuGraphicsGLRegisterBuffer and cuGraphicsGLRegisterImage, in the current context. Flags:
 * CU_GRAPHICS_REGISTER_FLAGS_*; a buffer takes NONE, READ_ONLY or WRITE_DISCARD. What is registered
 * ends with cuGraphicsUnregisterResource; an object may be registered more than once. CUDA shows a
 * one-dimensional texture as an array of Height 0, the layers of a 1D array as such arrays.
 */
CUresult cardlessRegisterBuffer(CUgraphicsResource *resource, cardlessBuffer buffer,
                                unsigned flags);
CUresult cardlessRegisterTexture(CUgraphicsResource *resource, cardlessTexture texture,
                                 unsigned flags);

/* ---- EGL streams ---- */

/*
 * A stream for cuEGLStreamConsumerConnect and cuEGLStreamProducerConnect, where EGL has none
 * (Mesa's lacks EGL_KHR_stream). `*stream` is what those take as EGLStreamKHR, and nothing that EGL
 * itself knows. fifo: how many frames wait in it (at most 1024); 0: a mailbox, where a new frame
 * takes the place of one that was not acquired. Both ends are in this process, in one context or in
 * two.
 */
CUresult cardlessStreamCreate(void **stream, unsigned fifo);
/* Frames that were not acquired are lost; connections remain to be disconnected. */
CUresult cardlessStreamDestroy(void *stream);

#ifdef __cplusplus
}
#endif

#endif
