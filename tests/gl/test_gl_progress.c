// SPDX-License-Identifier: MIT
// While bytes move between OpenGL and CUDA, other threads should still be able to call CUDA,
// because OpenGL may wait for the program, whose debug callback may call CUDA.
//
// The driver finds OpenGL through eglGetProcAddress, which this program replaces. If a test names
// an OpenGL function, that function blocks until another thread has made its CUDA calls.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "context.h"

enum { SIDE = 64, ROW_B = SIDE * 4, SIZE = 4096, PATIENCE_S = 20 };

static const char *_Atomic held;     // the function that blocks
static atomic_bool inside, released; // a thread is in it; it may return
static atomic_bool lost_patience;
static uint8_t bytes[SIDE * ROW_B];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void await(const atomic_bool *flag)
{
    double until = now() + PATIENCE_S;
    while (!*flag && now() < until)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    if (!*flag)
        lost_patience = true;
}

static void stand_still(const char *name)
{
    const char *which = held;
    if (!which || strcmp(which, name))
        return;
    held = NULL; // blocks once
    inside = true;
    await(&released);
}

// X(result, name, parameters, arguments)
#define HELD(X)                                                                                    \
    X(void, glGetTexImage, (GLenum a, GLint b, GLenum c, GLenum d, void *e), (a, b, c, d, e))      \
    X(void, glGetTextureSubImage,                                                                  \
      (GLuint a, GLint b, GLint c, GLint d, GLint e, GLsizei f, GLsizei g, GLsizei h, GLenum i,    \
       GLenum j, GLsizei k, void *l),                                                              \
      (a, b, c, d, e, f, g, h, i, j, k, l))                                                        \
    X(void, glTexSubImage2D,                                                                       \
      (GLenum a, GLint b, GLint c, GLint d, GLsizei e, GLsizei f, GLenum g, GLenum h,              \
       const void *i),                                                                             \
      (a, b, c, d, e, f, g, h, i))                                                                 \
    X(void, glGetBufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, void *d), (a, b, c, d))       \
    X(void, glBufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, const void *d), (a, b, c, d))    \
    X(GLboolean, glIsTexture, (GLuint a), (a))                                                     \
    X(GLboolean, glIsBuffer, (GLuint a), (a))                                                      \
    X(GLboolean, glIsSync, (GLsync a), (a))                                                        \
    X(void, glDeleteVertexArrays, (GLsizei a, const GLuint *b), (a, b))

#define X(result, name, parameters, arguments)                                                     \
    static result(*real_##name) parameters;                                                        \
    static result my_##name parameters                                                             \
    {                                                                                              \
        stand_still(#name);                                                                        \
        return real_##name arguments;                                                              \
    }
HELD(X)
#undef X

typedef __eglMustCastToProperFunctionPointerType function;

__attribute__((visibility("default"))) function EGLAPIENTRY eglGetProcAddress(const char *name)
{
    static function (*next)(const char *);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "eglGetProcAddress");
    function f = next(name);
#define X(result, which, parameters, arguments)                                                    \
    if (!strcmp(name, #which)) {                                                                   \
        *(function *)&real_##which = f;                                                            \
        return f ? (function)my_##which : f;                                                       \
    }
    HELD(X)
#undef X
    return f;
}

// ---- the other thread

static CUcontext context;

// Calls of many kinds that do not need the graphics resource.
static void *others(void *unused)
{
    CUstream stream;
    CUevent event;
    CUdeviceptr p;
    uint8_t got[16];
    await(&inside);
    if (lost_patience)
        return unused;
    EXPECT_OK(cuCtxSetCurrent(context));
    EXPECT_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_OK(cuEventCreate(&event, 0));
    EXPECT_OK(cuMemAlloc(&p, SIZE));
    EXPECT_OK(cuMemsetD8Async(p, 7, SIZE, stream));
    EXPECT_OK(cuMemcpyDtoHAsync(got, p, sizeof got, stream));
    EXPECT_OK(cuEventRecord(event, stream));
    EXPECT_OK(cuEventSynchronize(event));
    EXPECT_OK(cuStreamSynchronize(stream));
    EXPECT_EQ(got[15], 7);
    EXPECT_OK(cuEventDestroy(event));
    EXPECT_OK(cuStreamDestroy(stream));
    EXPECT(!released);
    released = true;
    EXPECT_OK(cuMemFree(p)); // which waits for the work in the streams, for example an unmap
    return unused;
}

// Uses of a resource while another thread makes its calls.
static void meanwhile(const char *function_held, void (*act)(void *), void *arg)
{
    pthread_t thread;
    inside = released = lost_patience = false;
    if (pthread_create(&thread, NULL, others, NULL)) {
        EXPECT(!"a thread can be created");
        return;
    }
    held = function_held;
    act(arg);
    await(&inside); // otherwise the case tests nothing
    inside = true;
    pthread_join(thread, NULL);
    held = NULL;
    EXPECT(!lost_patience);
}

static void start(void)
{
    gl_start(GL_CORE);
    EXPECT_OK(cuCtxGetCurrent(&context));
}

static GLuint new_texture(uint8_t value)
{
    GLuint t = gl_texture_2d(GL_RGBA8, 1, SIDE, SIDE);
    memset(bytes, value, sizeof bytes);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    return t;
}

// ---- textures

static void read_texel(void *array)
{
    cu_read_array(array, 4, 1, bytes);
}

static void read_all(void *array)
{
    cu_read_array(array, ROW_B, SIDE, bytes);
}

static void unmap(void *resource)
{
    EXPECT_OK(cuGraphicsUnmapResources(1, (CUgraphicsResource *)&resource, 0));
}

static void map(void *resource)
{
    EXPECT_OK(cuGraphicsMapResources(1, (CUgraphicsResource *)&resource, 0));
}

static void unregister(void *resource)
{
    EXPECT_OK(cuGraphicsUnregisterResource(resource));
}

TEST(texture)
{
    start();
    CUgraphicsResource r = cu_image(new_texture(5), GL_TEXTURE_2D, 0);
    CUarray a = cu_map_array(r, 0, 0);
    bytes[0] = 0;
    meanwhile("glGetTextureSubImage", read_texel, a);
    EXPECT_EQ(bytes[0], 5);
    meanwhile("glGetTextureSubImage", read_all, a); // all bytes except the texel
    EXPECT_EQ(bytes[sizeof bytes - 1], 5);
    cu_write_array(a, 0, 0, 4, 1, (uint8_t[]){1, 2, 3, 4});
    meanwhile("glTexSubImage2D", unmap, r);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    EXPECT_EQ(bytes[0], 1);
    EXPECT_EQ(bytes[4], 5);
    meanwhile("glIsTexture", map, r);
    EXPECT_OK(cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0));
    meanwhile("glGetTextureSubImage", read_all, a);
    EXPECT_EQ(bytes[0], 1);
    EXPECT_NO_DIAGNOSTIC();
}

// ---- buffers

static CUdeviceptr pointer;

static void read_byte(void *to)
{
    EXPECT_OK(cuMemcpyDtoH(to, pointer, 1));
}

TEST(buffer)
{
    start();
    memset(bytes, 5, SIZE);
    GLuint b = gl_buffer(SIZE, bytes);
    CUgraphicsResource r = cu_buffer(b, 0);
    meanwhile("glIsBuffer", map, r);
    EXPECT_OK(cuGraphicsResourceGetMappedPointer(&pointer, NULL, r));
    bytes[0] = 0;
    meanwhile("glGetBufferSubData", read_byte, bytes);
    EXPECT_EQ(bytes[0], 5);
    EXPECT_OK(cuMemsetD8(pointer, 9, 1));
    meanwhile("glBufferSubData", unmap, r);
    EXPECT_EQ(gl_buffer_byte(b, 0), 9);
    meanwhile("glDeleteVertexArrays", unregister, r);
    EXPECT_NO_DIAGNOSTIC();
}

static void synchronize(void *unused)
{
    (void)unused;
    EXPECT_OK(cuCtxSynchronize());
}

// Bytes that are written without a mapping should go to OpenGL when the program waits.
TEST(used_after_unmap)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    start();
    memset(bytes, 5, SIZE);
    GLuint b = gl_buffer(SIZE, bytes);
    CUgraphicsResource r = cu_buffer(b, 0);
    pointer = cu_map_pointer(r);
    unmap(r);
    EXPECT_OK(cuMemsetD8Async(pointer, 9, 1, 0));
    meanwhile("glBufferSubData", synchronize, NULL);
    EXPECT_EQ(gl_buffer_byte(b, 0), 9);
    EXPECT_OK(cuMemsetD8Async(pointer, 8, 1, 0));
    meanwhile("glBufferSubData", map, r);
    EXPECT_OK(cuMemsetD8Async(pointer, 7, 1, 0));
    unmap(r);
    EXPECT_EQ(gl_buffer_byte(b, 0), 7);
}

static void destroy(void *of)
{
    EXPECT_OK(cuCtxDestroy(of));
}

// A context is destroyed while its resource is mapped.
TEST(end_of_a_context)
{
    CUcontext second;
    CUdevice device;
    start();
    EXPECT_OK(cuCtxGetDevice(&device));
    memset(bytes, 5, SIZE);
    GLuint b = gl_buffer(SIZE, bytes);
    MUST(cuCtxCreate(&second, NULL, 0, device));
    pointer = cu_map_pointer(cu_buffer(b, 0));
    EXPECT_OK(cuMemsetD8(pointer, 9, 1));
    meanwhile("glBufferSubData", destroy, second);
    EXPECT_EQ(gl_buffer_byte(b, 0), 9);
}

// ---- the same resource

static CUarray array;
static uint8_t of_other[ROW_B];

static void *read_too(void *unused)
{
    await(&inside);
    EXPECT_OK(cuCtxSetCurrent(context));
    held = NULL;
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = array,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = of_other,
                       .WidthInBytes = ROW_B,
                       .Height = 1};
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    EXPECT_OK(cuMemcpy2D(&c));
    return unused;
}

static void *release_later(void *unused)
{
    await(&inside);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    released = true;
    return unused;
}

// If another thread needs bytes that are being fetched, it should wait for them.
TEST(same_bytes)
{
    pthread_t reader, waker;
    start();
    array = cu_map_array(cu_image(new_texture(5), GL_TEXTURE_2D, 0), 0, 0);
    memset(bytes, 0, sizeof bytes);
    held = "glGetTextureSubImage";
    EXPECT(!pthread_create(&waker, NULL, release_later, NULL));
    EXPECT(!pthread_create(&reader, NULL, read_too, NULL));
    read_all(array);
    EXPECT_EQ(bytes[0], 5);
    pthread_join(reader, NULL);
    pthread_join(waker, NULL);
    EXPECT_EQ(of_other[0], 5);
    EXPECT_EQ(of_other[ROW_B - 1], 5);
    EXPECT(!lost_patience);
}

TESTS(CASE(texture), CASE(buffer), CASE(used_after_unmap), CASE(end_of_a_context), CASE(same_bytes))
