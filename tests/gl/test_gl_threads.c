// SPDX-License-Identifier: MIT
// Calls from threads other than the one that registered: with a context of the same share group, of
// another group, or without a context. Also concurrent calls.
#include <pthread.h>

#include "context.h"

enum { SIZE = 4096 };

static uint8_t bytes[SIZE];

struct job {
    CUcontext cuda;
    EGLContext context; // or NULL
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
    memset(bytes, 38, SIZE);
    j->context = gl_start(GL_CORE);
    MUST(cuCtxGetCurrent(&j->cuda));
    j->buffer = gl_buffer(SIZE, bytes);
    j->resource = cu_buffer(j->buffer, 0);
    glFinish();
}

// In another thread: a context of the same share group, one that shares nothing, or no context.
static void run_elsewhere(void (*run)(struct job *), bool shared)
{
    struct job j = {.run = run};
    start_job(&j);
    j.context = gl_new_context(GL_CORE, shared ? j.context : EGL_NO_CONTEXT);
    elsewhere(&j);
    EXPECT_EQ(gl_buffer_byte(j.buffer, 5), 77);
    EXPECT_NO_DIAGNOSTIC(); // for example, that the buffer does not exist
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
    static uint8_t all[4][SIZE];
    uint8_t *mine = all[j->buffer % 4];
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

// Four threads run at the same time, two in each share group.
TEST(threads_at_once)
{
    struct job jobs[4];
    pthread_t threads[4];
    EGLContext first = gl_start(GL_CORE), second = gl_new_context(GL_CORE, EGL_NO_CONTEXT);
    for (unsigned i = 0; i < 4; i++) {
        jobs[i] =
            (struct job){.buffer = i, .context = gl_new_context(GL_CORE, i % 2 ? first : second)};
        MUST(cuCtxGetCurrent(&jobs[i].cuda));
    }
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, busy_main, &jobs[i]))
            exit(1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

// One thread unmaps while its stream is blocked, and another thread maps the resource again. The
// second call waits, and sees the first thread's writes.
struct handover {
    CUcontext cuda;
    EGLContext context;
    CUgraphicsResource resource;
    CUstream stream;
    atomic_uint *go_on;
};

static void *fill_and_unmap(void *arg)
{
    struct handover *h = arg;
    EXPECT_OK(cuCtxSetCurrent(h->cuda));
    eglBindAPI(EGL_OPENGL_API);
    gl_use(h->context);
    EXPECT_OK(
        cuGraphicsUnmapResources(1, &h->resource, h->stream)); // returns when the stream continues
    gl_use(EGL_NO_CONTEXT);
    return NULL;
}

static void *let_go(void *arg)
{
    usleep(30000);
    *((struct handover *)arg)->go_on = 1;
    return NULL;
}

TEST(map_waits_for_unmap)
{
    pthread_t unmapper, timer;
    struct handover h;
    EGLContext here = gl_start(GL_CORE);
    MUST(cuCtxGetCurrent(&h.cuda));
    h.context = gl_new_context(GL_CORE, here);
    h.resource = cu_buffer(gl_buffer(SIZE, NULL), 0);
    MUST(cuStreamCreate(&h.stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr p = cu_map_pointer(h.resource);
    h.go_on = test_hold(h.stream);
    EXPECT_OK(cuMemsetD8Async(p, 5, SIZE, h.stream));
    EXPECT_EQ(pthread_create(&unmapper, NULL, fill_and_unmap, &h), 0);
    CUresult r;
    while ((r = cuGraphicsResourceGetMappedPointer(&p, NULL, h.resource)) == CUDA_SUCCESS)
        usleep(100); // until the other thread's call has begun
    EXPECT_ERROR(r, CUDA_ERROR_NOT_MAPPED);
    EXPECT_EQ(pthread_create(&timer, NULL, let_go, &h), 0);
    p = cu_map_pointer(h.resource);
    EXPECT_OK(cuMemcpyDtoH(bytes, p, SIZE));
    EXPECT_EQ(bytes[SIZE - 1], 5);
    EXPECT_OK(cuGraphicsUnmapResources(1, &h.resource, NULL));
    pthread_join(unmapper, NULL);
    pthread_join(timer, NULL);
}

TESTS(CASE(thread_shared), CASE(thread_unshared), CASE(thread_without), CASE(thread_registers),
      CASE(threads_at_once), CASE(map_waits_for_unmap))
