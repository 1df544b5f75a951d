// SPDX-License-Identifier: MIT
// What the rest of the program sees: its OpenGL state is as before after every call, work comes in order, threads and contexts may differ.
#include "context.h"

#include <pthread.h>
#include <time.h>

enum { SIZE = 4096 };

// ---- state

static const GLenum integers[] = {
    GL_ACTIVE_TEXTURE,
    GL_ARRAY_BUFFER_BINDING,
    GL_BLEND,
    GL_COPY_READ_BUFFER_BINDING,
    GL_COPY_WRITE_BUFFER_BINDING,
    GL_CULL_FACE,
    GL_CURRENT_PROGRAM,
    GL_DEPTH_TEST,
    GL_DEPTH_WRITEMASK,
    GL_DITHER,
    GL_DRAW_BUFFER0,
    GL_DRAW_FRAMEBUFFER_BINDING,
    GL_ELEMENT_ARRAY_BUFFER_BINDING,
    GL_FRONT_FACE,
    GL_PACK_ALIGNMENT,
    GL_PACK_IMAGE_HEIGHT,
    GL_PACK_ROW_LENGTH,
    GL_PACK_SKIP_IMAGES,
    GL_PACK_SKIP_PIXELS,
    GL_PACK_SKIP_ROWS,
    GL_PACK_SWAP_BYTES,
    GL_PIXEL_PACK_BUFFER_BINDING,
    GL_PIXEL_UNPACK_BUFFER_BINDING,
    GL_READ_BUFFER,
    GL_READ_FRAMEBUFFER_BINDING,
    GL_RENDERBUFFER_BINDING,
    GL_SCISSOR_TEST,
    GL_STENCIL_TEST,
    GL_UNIFORM_BUFFER_BINDING,
    GL_UNPACK_ALIGNMENT,
    GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_ROW_LENGTH,
    GL_UNPACK_SKIP_IMAGES,
    GL_UNPACK_SKIP_PIXELS,
    GL_UNPACK_SKIP_ROWS,
    GL_UNPACK_SWAP_BYTES,
    GL_VERTEX_ARRAY_BINDING,
    GL_VIEWPORT,
    GL_SCISSOR_BOX,
    GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
    GL_FRAMEBUFFER_SRGB,
    GL_RASTERIZER_DISCARD,
    GL_SAMPLER_BINDING,
};
static const GLenum bindings[] = {GL_TEXTURE_BINDING_1D,       GL_TEXTURE_BINDING_2D,       GL_TEXTURE_BINDING_3D,
                                  GL_TEXTURE_BINDING_CUBE_MAP, GL_TEXTURE_BINDING_2D_ARRAY, GL_TEXTURE_BINDING_RECTANGLE};

enum { UNITS = 8, INTEGERS = sizeof integers / sizeof *integers, BINDINGS = sizeof bindings / sizeof *bindings };

struct state {
    GLint integer[INTEGERS][4], binding[UNITS][BINDINGS], texture[4], buffer[4];
    EGLContext context;
    EGLSurface surface;
    EGLenum api;
};

static void look(struct state *s)
{
    static const GLenum parameters[] = {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_IMMUTABLE_FORMAT};
    static const GLenum of_buffer[] = {GL_BUFFER_SIZE, GL_BUFFER_USAGE, GL_BUFFER_MAPPED, GL_BUFFER_ACCESS};
    GLint active;
    memset(s, 0, sizeof *s);
    for (int i = 0; i < INTEGERS; i++)
        glGetIntegerv(integers[i], s->integer[i]);
    glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
    for (int unit = 0; unit < UNITS; unit++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
        for (int i = 0; i < BINDINGS; i++)
            glGetIntegerv(bindings[i], &s->binding[unit][i]);
    }
    glActiveTexture(GL_TEXTURE3);
    for (int i = 0; i < 4; i++)
        glGetTexParameteriv(GL_TEXTURE_2D, parameters[i], &s->texture[i]);
    glActiveTexture((GLenum)active);
    for (int i = 0; i < 4; i++)
        glGetBufferParameteriv(GL_ARRAY_BUFFER, of_buffer[i], &s->buffer[i]);
    while (glGetError())
        ;
    s->context = eglGetCurrentContext();
    s->surface = eglGetCurrentSurface(EGL_DRAW);
    s->api = eglQueryAPI();
}

static struct state before, after;

// Runs a call with an error pending, and compares everything afterwards.
#define UNDISTURBED(call)                                                                                                                            \
    do {                                                                                                                                             \
        look(&before);                                                                                                                               \
        glEnable(0x12345);                                                                                                                           \
        EXPECT_OK(call);                                                                                                                             \
        EXPECT_EQ(glGetError(), GL_INVALID_ENUM);                                                                                                    \
        EXPECT_EQ(glGetError(), GL_NO_ERROR);                                                                                                        \
        look(&after);                                                                                                                                \
        EXPECT(!memcmp(&before, &after, sizeof before));                                                                                             \
        for (int i_ = 0; i_ < INTEGERS; i_++)                                                                                                        \
            if (before.integer[i_][0] != after.integer[i_][0])                                                                                       \
                printf("# %s changes %#x\n", #call, integers[i_]);                                                                                   \
    } while (0)

// State that is nowhere the default.
static void disturb(GLuint texture, GLuint buffer)
{
    GLuint other, vao, fbo, rbo, other_buffer;
    glGenTextures(1, &other);
    glActiveTexture(GL_TEXTURE2);
    glBindTexture(GL_TEXTURE_3D, other);
    glActiveTexture(GL_TEXTURE3);
    glBindTexture(GL_TEXTURE_2D, texture);
    glGenVertexArrays(1, &vao);
    glBindVertexArray(vao);
    other_buffer = gl_buffer(100, NULL);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, other_buffer);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, other_buffer);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, other_buffer);
    glBindBuffer(GL_UNIFORM_BUFFER, other_buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glGenRenderbuffers(1, &rbo);
    glBindRenderbuffer(GL_RENDERBUFFER, rbo);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
    glGenFramebuffers(1, &fbo);
    glBindFramebuffer(GL_FRAMEBUFFER, fbo);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, rbo);
    glReadBuffer(GL_NONE);
    static const GLenum stores[] = {GL_PACK_ROW_LENGTH,    GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS,     GL_UNPACK_ROW_LENGTH,
                                    GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS, GL_UNPACK_IMAGE_HEIGHT};
    for (int i = 0; i < 7; i++)
        glPixelStorei(stores[i], i + 3);
    glPixelStorei(GL_PACK_ALIGNMENT, 8);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
    glEnable(GL_SCISSOR_TEST);
    glScissor(1, 2, 3, 4);
    glEnable(GL_BLEND);
    glEnable(GL_RASTERIZER_DISCARD);
}

TEST(state)
{
    static uint8_t bytes[SIZE];
    gl_start(GL_CORE);
    GLuint t = gl_texture_2d(GL_RGBA8, 2, 32, 32), b = gl_buffer(SIZE, NULL), rb;
    glGenRenderbuffers(1, &rb);
    glBindRenderbuffer(GL_RENDERBUFFER, rb);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 32, 32);
    disturb(t, b);
    CUgraphicsResource r[3];
    CUarray a[2];
    CUdeviceptr p;
    UNDISTURBED(cuGraphicsGLRegisterImage(&r[0], t, GL_TEXTURE_2D, 0));
    UNDISTURBED(cuGraphicsGLRegisterBuffer(&r[1], b, 0));
    UNDISTURBED(cuGraphicsGLRegisterImage(&r[2], rb, GL_RENDERBUFFER, 0));
    for (int i = 0; i < 2; i++) {
        UNDISTURBED(cuGraphicsMapResources(3, r, 0));
        UNDISTURBED(cuGraphicsSubResourceGetMappedArray(&a[0], r[0], 0, 1));
        UNDISTURBED(cuGraphicsSubResourceGetMappedArray(&a[1], r[2], 0, 0));
        UNDISTURBED(cuGraphicsResourceGetMappedPointer(&p, NULL, r[1]));
        CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                             .srcArray = a[0],
                             .dstMemoryType = CU_MEMORYTYPE_HOST,
                             .dstHost = bytes,
                             .dstPitch = 64,
                             .WidthInBytes = 64,
                             .Height = 16};
        CUDA_MEMCPY2D across = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                                .srcArray = a[1],
                                .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                .dstArray = a[0],
                                .WidthInBytes = 32,
                                .Height = 8};
        CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                              .srcHost = bytes,
                              .srcPitch = 64,
                              .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                              .dstArray = a[1],
                              .WidthInBytes = 64,
                              .Height = 16};
        UNDISTURBED(cuMemcpy2D(&out));
        UNDISTURBED(cuMemcpy2D(&across));
        UNDISTURBED(cuMemcpy2D(&back));
        UNDISTURBED(cuMemsetD8(p + 5, 7, 70));
        UNDISTURBED(cuMemcpyDtoH(bytes, p, SIZE));
        UNDISTURBED(cuGraphicsUnmapResources(3, r, 0));
    }
    for (int i = 0; i < 3; i++)
        UNDISTURBED(cuGraphicsUnregisterResource(r[i]));
}

// ---- order

// What OpenGL was told to draw before map is drawn before CUDA looks.
TEST(graphics_before_map)
{
    enum { LARGE = 1024 };
    static uint8_t pixel[4];
    gl_start(GL_CORE);
    GLuint t = gl_texture_2d(GL_RGBA8, 1, LARGE, LARGE), fb;
    glGenFramebuffers(1, &fb);
    glBindFramebuffer(GL_FRAMEBUFFER, fb);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t, 0);
    CUgraphicsResource r = cu_image(t, GL_TEXTURE_2D, 0);
    for (int frame = 0; frame < 20; frame++) {
        for (int i = 0; i <= 8; i++) {
            glClearColor((float)(i == 8) * (float)(frame + 1) / 255.0f, 0, 0, 1);
            glClear(GL_COLOR_BUFFER_BIT);
        }
        CUarray a = cu_map_array(r, 0, 0);
        CUDA_MEMCPY2D last = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                              .srcArray = a,
                              .srcXInBytes = (LARGE - 1) * 4,
                              .srcY = LARGE - 1,
                              .dstMemoryType = CU_MEMORYTYPE_HOST,
                              .dstHost = pixel,
                              .WidthInBytes = 4,
                              .Height = 1};
        EXPECT_OK(cuMemcpy2D(&last));
        EXPECT_EQ(pixel[0], frame + 1);
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    }
}

static void slow(void *unused)
{
    (void)unused;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

// What CUDA was told to do in the stream before unmap is done before OpenGL looks: the copy is held up by a slow host function, and without the
// wait in unmap OpenGL would see the old bytes.
TEST(cuda_before_unmap)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(SIZE, NULL);
    CUgraphicsResource r = cu_buffer(b, 0);
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 1; i < 5; i++) {
        CUdeviceptr p;
        MUST(cuGraphicsMapResources(1, &r, stream));
        MUST(cuGraphicsResourceGetMappedPointer(&p, NULL, r));
        EXPECT_OK(cuLaunchHostFunc(stream, slow, NULL));
        EXPECT_OK(cuMemsetD8Async(p, (unsigned char)i, SIZE, stream));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, stream));
        EXPECT_EQ(gl_buffer_byte(b, SIZE - 1), i);
    }
}

// ---- threads

struct job {
    CUcontext cuda;
    EGLContext context; // NULL: none
    CUgraphicsResource resource;
    GLuint buffer;
    void (*run)(struct job *);
};

static void *job_main(void *arg)
{
    struct job *j = arg;
    EXPECT_OK(cuCtxSetCurrent(j->cuda));
    eglBindAPI(EGL_OPENGL_API);
    if (j->context)
        gl_use(j->context);
    j->run(j);
    if (j->context)
        gl_use(EGL_NO_CONTEXT);
    return NULL;
}

static void elsewhere(struct job *j)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, job_main, j))
        exit(1);
    pthread_join(thread, NULL);
}

static void fill_77(struct job *j)
{
    uint8_t byte = 0;
    CUdeviceptr p = cu_map_pointer(j->resource);
    EXPECT_OK(cuMemcpyDtoH(&byte, p + 5, 1));
    EXPECT_EQ(byte, 38);
    EXPECT_OK(cuMemsetD8(p, 77, SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(1, &j->resource, 0));
}

static void refused_without(struct job *j)
{
    CUgraphicsResource r;
    EXPECT_ERROR(cuGraphicsMapResources(1, &j->resource, 0), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    EXPECT_ERROR(cuGraphicsGLRegisterBuffer(&r, j->buffer, 0), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
}

static void register_fill_unregister(struct job *j)
{
    j->resource = cu_buffer(j->buffer, 0);
    fill_77(j);
    EXPECT_OK(cuGraphicsUnregisterResource(j->resource));
}

static void start_job(struct job *j)
{
    static uint8_t bytes[SIZE];
    memset(bytes, 38, SIZE);
    j->context = gl_start(GL_CORE);
    MUST(cuCtxGetCurrent(&j->cuda));
    j->buffer = gl_buffer(SIZE, bytes);
    j->resource = cu_buffer(j->buffer, 0);
    glFinish();
}

// A context of the same share group in another thread; one that shares nothing; none.
static void run_elsewhere(void (*run)(struct job *), bool shared)
{
    struct job j = {.run = run};
    start_job(&j);
    j.context = gl_new_context(GL_CORE, shared ? j.context : EGL_NO_CONTEXT);
    elsewhere(&j);
    EXPECT_EQ(gl_buffer_byte(j.buffer, 5), 77);
}

TEST(thread_shared)
{
    run_elsewhere(fill_77, true);
}

TEST(thread_unshared)
{
    run_elsewhere(fill_77, false);
}

TEST(thread_registers)
{
    run_elsewhere(register_fill_unregister, true);
}

TEST(thread_without)
{
    struct job j = {.run = refused_without};
    start_job(&j);
    j.context = NULL;
    elsewhere(&j);
}

static void *busy_main(void *arg)
{
    struct job *j = arg;
    static uint8_t bytes[4][SIZE];
    uint8_t *mine = bytes[j->buffer % 4];
    EXPECT_OK(cuCtxSetCurrent(j->cuda));
    eglBindAPI(EGL_OPENGL_API);
    gl_use(j->context);
    GLuint b = gl_buffer(SIZE, NULL), t = gl_texture_2d(GL_RGBA8, 1, 32, 32);
    CUgraphicsResource r = cu_buffer(b, 0), q = cu_image(t, GL_TEXTURE_2D, 0);
    for (unsigned i = 0; i < 30; i++) {
        CUdeviceptr p = cu_map_pointer(r);
        EXPECT_OK(cuMemsetD8(p, (unsigned char)i, SIZE));
        EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
        EXPECT_EQ(gl_buffer_byte(b, 9), i);
        memset(mine, (int)i, SIZE);
        cu_write_array(cu_map_array(q, 0, 0), 0, 0, 128, 32, mine);
        EXPECT_OK(cuGraphicsUnmapResources(1, &q, 0));
        glBindTexture(GL_TEXTURE_2D, t);
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, mine);
        EXPECT_EQ(mine[SIZE - 1], i);
    }
    EXPECT_OK(cuGraphicsUnregisterResource(r));
    EXPECT_OK(cuGraphicsUnregisterResource(q));
    gl_use(EGL_NO_CONTEXT);
    return NULL;
}

// Four threads at once, two of each share group.
TEST(threads_at_once)
{
    struct job jobs[4];
    pthread_t threads[4];
    EGLContext first = gl_start(GL_CORE), second = gl_new_context(GL_CORE, EGL_NO_CONTEXT);
    for (unsigned i = 0; i < 4; i++) {
        jobs[i] = (struct job){.buffer = i, .context = gl_new_context(GL_CORE, i % 2 ? first : second)};
        MUST(cuCtxGetCurrent(&jobs[i].cuda));
    }
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, busy_main, &jobs[i]))
            exit(1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

// ---- devices, and the calls that came before cuGraphics

TEST(devices)
{
    gl_start(GL_CORE);
    unsigned count = 77;
    CUdevice device = 9;
    CUcontext made, now;
    for (CUGLDeviceList list = CU_GL_DEVICE_LIST_ALL; list <= CU_GL_DEVICE_LIST_NEXT_FRAME; list++) {
        EXPECT_OK(cuGLGetDevices(&count, &device, 1, list));
        EXPECT_EQ(count, 1);
        EXPECT_EQ(device, 0);
    }
    EXPECT_OK(cuGLGetDevices(&count, &device, 0, CU_GL_DEVICE_LIST_ALL));
    EXPECT_EQ(count, 0);
    EXPECT_ERROR(cuGLGetDevices(&count, &device, 1, (CUGLDeviceList)4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLGetDevices(&count, NULL, 1, CU_GL_DEVICE_LIST_ALL), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGLInit());
    EXPECT_OK(cuGLCtxCreate(&made, 0, 0));
    EXPECT_OK(cuCtxGetCurrent(&now));
    EXPECT(made == now);
    EXPECT_ERROR(cuGLCtxCreate(&made, 0, 77), CUDA_ERROR_INVALID_DEVICE);
    gl_use(EGL_NO_CONTEXT);
    EXPECT_ERROR(cuGLGetDevices(&count, &device, 1, CU_GL_DEVICE_LIST_ALL), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    EXPECT_ERROR(cuGLInit(), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
    EXPECT_ERROR(cuGLCtxCreate(&made, 0, 0), CUDA_ERROR_INVALID_GRAPHICS_CONTEXT);
}

TEST(old_calls)
{
    gl_start(GL_CORE);
    GLuint b = gl_buffer(256, NULL);
    CUdeviceptr p;
    size_t size = 0;
    CUstream stream;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT_ERROR(cuGLMapBufferObject(&p, &size, b), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLUnmapBufferObject(b), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLUnregisterBufferObject(b), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLSetBufferObjectMapFlags(b, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuGLRegisterBufferObject(0), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_ERROR(cuGLRegisterBufferObject(9999), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_OK(cuGLRegisterBufferObject(b));
    EXPECT_ERROR(cuGLRegisterBufferObject(b), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_OK(cuGLMapBufferObject(&p, &size, b));
    EXPECT_EQ(size, 256);
    EXPECT_OK(cuMemsetD8(p, 9, 256));
    EXPECT_ERROR(cuGLSetBufferObjectMapFlags(b, 0), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_ERROR(cuGLUnregisterBufferObject(b), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_OK(cuGLUnmapBufferObject(b));
    EXPECT_EQ(gl_buffer_byte(b, 3), 9);
    EXPECT_OK(cuGLMapBufferObjectAsync(&p, NULL, b, stream));
    EXPECT_OK(cuMemsetD8Async(p, 10, 256, stream));
    EXPECT_OK(cuGLUnmapBufferObjectAsync(b, stream));
    EXPECT_EQ(gl_buffer_byte(b, 3), 10);
    EXPECT_OK(cuGLMapBufferObject(NULL, &size, b));
    EXPECT_OK(cuGLUnmapBufferObject(b));
    EXPECT_ERROR(cuGLSetBufferObjectMapFlags(b, 3), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuGLUnregisterBufferObject(b));
    EXPECT_ERROR(cuGLMapBufferObject(&p, &size, b), CUDA_ERROR_INVALID_VALUE);
}

TESTS(CASE(state), CASE(graphics_before_map), CASE(cuda_before_unmap), CASE(thread_shared), CASE(thread_unshared), CASE(thread_without),
      CASE(thread_registers), CASE(threads_at_once), CASE(devices), CASE(old_calls))
