// SPDX-License-Identifier: MIT
// Wraps EGL between the driver and Mesa, to record the order of the driver's OpenGL calls and the
// contexts that it creates. The wrapper is needed because llvmpipe shows uploads to other contexts
// even without glFinish; OpenGL only promises it after glFinish.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "context.h"

enum { SIZE = 4096, SIDE = 16, ROW_B = SIDE * 4, MAKING_US = 20000 };
enum { CONTEXTS = 2 }; // of the driver for a group: its own and the guest

// ---- the EGL in between

static atomic_int uploads, downloads, unfinished, contexts_made;
static _Thread_local int unfinished_here, finished_here;
static _Thread_local bool is_the_test; // whether the test started this thread

static void note_upload(void)
{
    unfinished_here++;
    unfinished++;
    uploads++;
}

// X(name, parameters, arguments): the functions that change the bytes of the program's objects.
#define UPLOADS(X)                                                                                 \
    X(BufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, const void *d), (a, b, c, d))            \
    X(CopyBufferSubData, (GLenum a, GLenum b, GLintptr c, GLintptr d, GLsizeiptr e),               \
      (a, b, c, d, e))                                                                             \
    X(TexSubImage2D,                                                                               \
      (GLenum a, GLint b, GLint c, GLint d, GLsizei e, GLsizei f, GLenum g, GLenum h,              \
       const void *i),                                                                             \
      (a, b, c, d, e, f, g, h, i))                                                                 \
    X(TexSubImage3D,                                                                               \
      (GLenum a, GLint b, GLint c, GLint d, GLint e, GLsizei f, GLsizei g, GLsizei h, GLenum i,    \
       GLenum j, const void *k),                                                                   \
      (a, b, c, d, e, f, g, h, i, j, k))                                                           \
    X(BlitFramebuffer,                                                                             \
      (GLint a, GLint b, GLint c, GLint d, GLint e, GLint f, GLint g, GLint h, GLbitfield i,       \
       GLenum j),                                                                                  \
      (a, b, c, d, e, f, g, h, i, j))

// The functions that read those bytes.
#define DOWNLOADS(X)                                                                               \
    X(GetBufferSubData, (GLenum a, GLintptr b, GLsizeiptr c, void *d), (a, b, c, d))               \
    X(GetTexImage, (GLenum a, GLint b, GLenum c, GLenum d, void *e), (a, b, c, d, e))              \
    X(ReadPixels, (GLint a, GLint b, GLsizei c, GLsizei d, GLenum e, GLenum f, void *g),           \
      (a, b, c, d, e, f, g))

static void note_download(void)
{
    downloads++;
}

#define X(name, parameters, arguments) BETWEEN(name, parameters, arguments, note_upload)
#define Y(name, parameters, arguments) BETWEEN(name, parameters, arguments, note_download)
#define BETWEEN(name, parameters, arguments, note)                                                 \
    static void(*_Atomic next_##name) parameters;                                                  \
    static void between_##name parameters                                                          \
    {                                                                                              \
        next_##name arguments;                                                                     \
        note();                                                                                    \
    }
UPLOADS(X)
DOWNLOADS(Y)
#undef BETWEEN
#undef X
#undef Y

// Another thread runs it once, during the next glFinish of one of the test's threads.
static void *(*meanwhile)(void *);

static void between_Finish(void)
{
    glFinish();
    unfinished -= unfinished_here;
    unfinished_here = 0;
    finished_here++;
    void *(*now)(void *) = is_the_test ? meanwhile : NULL;
    pthread_t other;
    if (!now)
        return;
    meanwhile = NULL;
    EXPECT_EQ(pthread_create(&other, NULL, now, NULL), 0);
    EXPECT_EQ(pthread_join(other, NULL), 0);
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED __eglMustCastToProperFunctionPointerType EGLAPIENTRY eglGetProcAddress(const char *name)
{
    typedef __eglMustCastToProperFunctionPointerType function;
    function (*next)(const char *) =
        (function(*)(const char *))dlsym(RTLD_NEXT, "eglGetProcAddress");
    function found = next(name);
    if (!strcmp(name, "glFinish"))
        return between_Finish;
#define X(function_name, parameters, arguments)                                                    \
    if (!strcmp(name, "gl" #function_name)) {                                                      \
        next_##function_name = (void(*) parameters)found;                                          \
        return (function)between_##function_name;                                                  \
    }
    UPLOADS(X)
    DOWNLOADS(X)
#undef X
    return found;
}

// Creating one of the driver's contexts takes a while.
EXPORTED EGLContext EGLAPIENTRY eglCreateContext(EGLDisplay display, EGLConfig config,
                                                 EGLContext share, const EGLint *attributes)
{
    EGLContext (*next)(EGLDisplay, EGLConfig, EGLContext, const EGLint *) =
        (EGLContext(*)(EGLDisplay, EGLConfig, EGLContext, const EGLint *))dlsym(RTLD_NEXT,
                                                                                "eglCreateContext");
    EGLContext context = next(display, config, share, attributes);
    if (!is_the_test && context) {
        contexts_made++;
        usleep(MAKING_US);
    }
    return context;
}

// ---- order

static uint8_t bytes[SIZE];

static void start(void)
{
    is_the_test = true;
    gl_start(GL_CORE);
}

static void expect_finished(int uploads_before)
{
    EXPECT(uploads > uploads_before);
    EXPECT_EQ(unfinished, 0);
}

static void check_buffer(GLuint b)
{
    CUgraphicsResource r = cu_buffer(b, 0);
    CUdeviceptr p = cu_map_pointer(r);
    int before = uploads;
    EXPECT_OK(cuMemsetD8(p, 9, SIZE / 2));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    expect_finished(before);
}

static void check_image(GLuint image, GLenum target)
{
    CUgraphicsResource r = cu_image(image, target, 0);
    CUarray a = cu_map_array(r, 0, 0);
    int before = uploads;
    cu_write_array(a, 0, 0, ROW_B, SIDE, bytes);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    expect_finished(before);
}

// CUDA's writes should be complete in OpenGL when unmap returns.
TEST(finished_at_unmap)
{
    GLuint immutable, cube, solid;
    start();
    check_buffer(gl_buffer(SIZE, NULL));
    glGenBuffers(1, &immutable);
    glBindBuffer(GL_ARRAY_BUFFER, immutable);
    glBufferStorage(GL_ARRAY_BUFFER, SIZE, NULL, 0);
    check_buffer(immutable);
    check_image(gl_texture_2d(GL_RGBA8, 1, SIDE, SIDE), GL_TEXTURE_2D);
    check_image(gl_renderbuffer(GL_RGBA8, SIDE, SIDE), GL_RENDERBUFFER);
    glGenTextures(1, &cube);
    glBindTexture(GL_TEXTURE_CUBE_MAP, cube);
    glTexStorage2D(GL_TEXTURE_CUBE_MAP, 1, GL_RGBA8, SIDE, SIDE);
    check_image(cube, GL_TEXTURE_CUBE_MAP);
    glGenTextures(1, &solid);
    glBindTexture(GL_TEXTURE_3D, solid);
    glTexStorage3D(GL_TEXTURE_3D, 1, GL_RGBA8, SIDE, SIDE, 2);
    check_image(solid, GL_TEXTURE_3D);
}

// Without an unmap they should be complete after the program has waited for the stream.
TEST(finished_after_a_wait)
{
    test_setting("CARDLESS_PERSONALITY", "driver-580");
    start();
    CUgraphicsResource r = cu_buffer(gl_buffer(SIZE, NULL), 0);
    CUdeviceptr p = cu_map_pointer(r);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    int before = uploads;
    EXPECT_OK(cuMemsetD8(p, 9, SIZE));
    EXPECT_OK(cuCtxSynchronize());
    expect_finished(before);
}

// OpenGL commands should be complete when map returns. A map that fails should not wait.
TEST(finished_at_map)
{
    start();
    CUgraphicsResource r = cu_buffer(gl_buffer(SIZE, NULL), 0);
    int before = finished_here;
    EXPECT_OK(cuGraphicsMapResources(1, &r, 0));
    EXPECT_EQ(finished_here, before + 1);
    EXPECT_ERROR(cuGraphicsMapResources(1, &r, 0), CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_EQ(finished_here, before + 1);
}

// Bytes that CUDA only reads, or writes in a READ_ONLY mapping, should not be uploaded.
TEST(nothing_uploaded)
{
    start();
    CUgraphicsResource r[] = {
        cu_buffer(gl_buffer(SIZE, NULL), 0),
        cu_buffer(gl_buffer(SIZE, NULL), CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY)};
    CUdeviceptr p = cu_map_pointer(r[0]), q = cu_map_pointer(r[1]);
    EXPECT_OK(cuMemcpyDtoH(bytes, p, SIZE));
    EXPECT_OK(cuMemsetD8(q, 1, SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(2, r, 0));
    EXPECT_EQ(uploads, 0);
}

// Bytes that CUDA overwrites, or declares to overwrite, are not fetched.
static void fetch(unsigned flags, size_t written, size_t read, bool fetched)
{
    CUgraphicsResource r = cu_buffer(gl_buffer(SIZE, NULL), flags);
    CUdeviceptr p = cu_map_pointer(r);
    int before = downloads;
    EXPECT_OK(cuMemsetD8(p, 1, written));
    EXPECT_OK(cuMemcpyDtoH(bytes, p, read));
    EXPECT_EQ(downloads > before, fetched);
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
}

TEST(nothing_fetched)
{
    start();
    fetch(CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD, SIZE / 2, SIZE / 2, false);
    fetch(0, SIZE, SIZE, false);
    fetch(0, SIZE / 2, SIZE / 2, false);
    fetch(0, SIZE / 2, SIZE / 2 + 1, true);
}

// ---- while map waits for OpenGL

static CUgraphicsResource subject;
static CUcontext cuda_context;
static EGLContext gl_context; // of the other thread

static void enter_contexts(void)
{
    eglBindAPI(EGL_OPENGL_API);
    gl_use(gl_context);
    EXPECT_OK(cuCtxSetCurrent(cuda_context));
}

static void *unregister_it(void *unused)
{
    enter_contexts();
    EXPECT_OK(cuGraphicsUnregisterResource(subject));
    gl_use(EGL_NO_CONTEXT);
    return unused;
}

static void *map_it(void *unused)
{
    enter_contexts();
    EXPECT_OK(cuGraphicsMapResources(1, &subject, 0));
    gl_use(EGL_NO_CONTEXT);
    return unused;
}

// Another thread may unregister or map the last resource of a list first. The call then fails, and
// the other resources stay as they were.
static void map_disturbed_by(void *(*what)(void *), CUresult want)
{
    start();
    MUST(cuCtxGetCurrent(&cuda_context));
    gl_context = gl_new_context(GL_CORE, eglGetCurrentContext());
    CUgraphicsResource r[] = {cu_buffer(gl_buffer(SIZE, NULL), 0),
                              cu_buffer(gl_buffer(SIZE, NULL), 0)};
    subject = r[1];
    meanwhile = what;
    EXPECT_ERROR(cuGraphicsMapResources(2, r, 0), want);
    EXPECT(!meanwhile);
    EXPECT_OK(cuGraphicsMapResources(1, r, 0));
    EXPECT_OK(cuGraphicsUnmapResources(1, r, 0));
}

TEST(unregistered_meanwhile)
{
    map_disturbed_by(unregister_it, CUDA_ERROR_INVALID_HANDLE);
}

TEST(mapped_meanwhile)
{
    map_disturbed_by(map_it, CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_OK(cuGraphicsUnmapResources(1, &subject, 0));
}

// ---- exit

// Runs after the exit handlers of the driver, EGL and Mesa.
static void unmap_too_late(void)
{
    int before = uploads;
    cuGraphicsUnmapResources(1, &subject, 0);
    cuGraphicsUnregisterResource(subject);
    if (uploads != before) {
        test_failed(__FILE__, __LINE__);
        printf("the driver called OpenGL after its exit handlers\n");
        fflush(stdout);
        _exit(1);
    }
}

TEST(nothing_after_exit)
{
    test_setting("CARDLESS_PERSONALITY",
                 "driver-580"); // which unmaps even if no context is current any more
    EXPECT_EQ(atexit(unmap_too_late), 0);
    start();
    subject = cu_buffer(gl_buffer(SIZE, NULL), 0);
    EXPECT_OK(cuMemsetD8(cu_map_pointer(subject), 9, SIZE));
}

// ---- contexts

struct first_call {
    CUcontext cuda;
    EGLContext context;
    pthread_barrier_t *both;
};

static void *register_first(void *arg)
{
    struct first_call *c = arg;
    is_the_test = true;
    EXPECT_OK(cuCtxSetCurrent(c->cuda));
    eglBindAPI(EGL_OPENGL_API);
    gl_use(c->context);
    GLuint b = gl_buffer(SIZE, NULL);
    pthread_barrier_wait(c->both);
    CUgraphicsResource r = cu_buffer(b, 0);
    EXPECT_OK(cuMemsetD8(cu_map_pointer(r), 9, SIZE));
    EXPECT_OK(cuGraphicsUnmapResources(1, &r, 0));
    EXPECT_EQ(gl_buffer_byte(b, SIZE - 1), 9);
    gl_use(EGL_NO_CONTEXT);
    return NULL;
}

// Two threads make their first calls at the same time. Returns the number of contexts that the
// driver creates for both.
static int first_calls(bool share)
{
    pthread_barrier_t both;
    pthread_t threads[2];
    struct first_call calls[2];
    int before = contexts_made;
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 2; i++) {
        calls[i] = (struct first_call){
            .context = gl_new_context(GL_CORE, i && share ? calls[0].context : EGL_NO_CONTEXT),
            .both = &both};
        MUST(cuCtxGetCurrent(&calls[i].cuda));
    }
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(pthread_create(&threads[i], NULL, register_first, &calls[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&both);
    return contexts_made - before;
}

TEST(one_group_of_two_threads)
{
    is_the_test = true;
    test_context();
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(first_calls(true), CONTEXTS);
}

TEST(two_groups_of_two_threads)
{
    is_the_test = true;
    test_context();
    EXPECT_EQ(first_calls(false), 2 * CONTEXTS);
}

// A texture unit should be reused after its texture is unregistered.
TEST(texture_units_are_reused)
{
    enum { MANY = 300, AT_ONCE = 3 };
    CUgraphicsResource r[AT_ONCE];
    start();
    GLuint t = gl_texture_2d(GL_R8, 1, 4, 4);
    for (int i = 0; i < MANY; i++) {
        for (int k = 0; k < AT_ONCE; k++)
            r[k] = cu_image(t, GL_TEXTURE_2D, 0);
        for (int k = 0; k < AT_ONCE; k++)
            EXPECT_OK(cuGraphicsUnregisterResource(r[k]));
    }
    EXPECT_EQ(contexts_made, CONTEXTS);
}

// A process forks while the driver works in another thread. The child's exit should not wait for
// that thread.
TEST(exit_of_a_child)
{
    enum { SOON_S = 1 };
    struct timespec from, to;
    pthread_barrier_t one;
    pthread_t thread;
    int status = -1;
    if (SANITIZED)
        SKIP(
            "a child that exits joins threads that ThreadSanitizer does not know, and loses memory "
            "that AddressSanitizer looks for");
    is_the_test = true;
    test_context();
    pthread_barrier_init(&one, NULL, 1);
    struct first_call call = {.context = gl_new_context(GL_CORE, EGL_NO_CONTEXT), .both = &one};
    MUST(cuCtxGetCurrent(&call.cuda));
    EXPECT_EQ(pthread_create(&thread, NULL, register_first, &call), 0);
    while (!contexts_made)
        usleep(100);
    clock_gettime(CLOCK_MONOTONIC, &from);
    fflush(stdout);
    pid_t child = fork();
    if (!child)
        exit(0);
    EXPECT_EQ(waitpid(child, &status, 0), child);
    clock_gettime(CLOCK_MONOTONIC, &to);
    EXPECT_EQ(status, 0);
    EXPECT(to.tv_sec - from.tv_sec <= SOON_S);
    pthread_join(thread, NULL);
}

TESTS(CASE(nothing_after_exit), CASE(texture_units_are_reused), CASE(nothing_fetched),
      CASE(unregistered_meanwhile), CASE(mapped_meanwhile), CASE(exit_of_a_child),
      CASE(finished_at_unmap), CASE(finished_after_a_wait), CASE(finished_at_map),
      CASE(nothing_uploaded), CASE(one_group_of_two_threads), CASE(two_groups_of_two_threads))
