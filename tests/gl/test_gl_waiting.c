// SPDX-License-Identifier: MIT
// Commands that wait in their streams while others go on, and calls of two threads about one
// resource: no byte is lost, and no byte comes too early.
#include <dlfcn.h>
#include <pthread.h>

#include "context.h"

enum {
    SIDE = 256,
    SIZE = SIDE * SIDE,
    OLD = 38,
    NEW = 77,
    SLOW_US = 500000,
    SOON_US = 50000,
    NAP_US = 200000
};

static uint8_t bytes[SIZE], got[SIZE];
static __thread bool is_slow;

// The driver finds this function before libEGL's. It makes the races certain.
__attribute__((visibility("default"))) EGLContext eglGetCurrentContext(void)
{
    static EGLContext (*next)(void);
    if (!next)
        next = (EGLContext(*)(void))dlsym(RTLD_NEXT, "eglGetCurrentContext");
    if (is_slow)
        usleep(SLOW_US);
    return next();
}

static void CUDA_CB nap(void *unused)
{
    (void)unused;
    usleep(NAP_US);
}

static CUstream new_stream(void)
{
    CUstream s;
    MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    return s;
}

// ---- commands that wait

struct object {
    CUgraphicsResource r;
    GLuint name;
    bool image;
    CUdeviceptr p;
    CUarray a;
};

static struct object new_object(bool image)
{
    struct object o = {.image = image};
    memset(bytes, OLD, SIZE);
    o.name = image ? gl_texture_2d(GL_R8, 1, SIDE, SIDE) : gl_buffer(SIZE, bytes);
    if (image)
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RED, GL_UNSIGNED_BYTE, bytes);
    o.r = image ? cu_image(o.name, GL_TEXTURE_2D, 0) : cu_buffer(o.name, 0);
    return o;
}

static void map(struct object *o, CUstream s)
{
    size_t size;
    MUST(cuGraphicsMapResources(1, &o->r, s));
    if (o->image)
        MUST(cuGraphicsSubResourceGetMappedArray(&o->a, o->r, 0, 0));
    else
        MUST(cuGraphicsResourceGetMappedPointer(&o->p, &size, o->r));
}

static void read_object(const struct object *o, CUstream s)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                       .srcArray = o->a,
                       .dstMemoryType = CU_MEMORYTYPE_HOST,
                       .dstHost = got,
                       .dstPitch = SIDE};
    c.WidthInBytes = c.Height = SIDE;
    EXPECT_OK(o->image ? cuMemcpy2DAsync(&c, s) : cuMemcpyDtoHAsync(got, o->p, SIZE, s));
    EXPECT_OK(cuStreamSynchronize(s));
}

static void write_object(const struct object *o, CUstream s)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                       .srcPitch = SIDE,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = o->a};
    c.WidthInBytes = c.Height = SIDE;
    if (!o->image) {
        EXPECT_OK(cuMemsetD8Async(o->p, NEW, SIZE, s));
        return;
    }
    MUST(cuMemAlloc(&c.srcDevice, SIZE));
    MUST(cuMemsetD8(c.srcDevice, NEW, SIZE));
    EXPECT_OK(cuMemcpy2DAsync(&c, s));
}

static void expect_in_gl(const struct object *o, uint8_t value)
{
    memset(got, 1, SIZE);
    if (o->image) {
        glBindTexture(GL_TEXTURE_2D, o->name);
        glGetTexImage(GL_TEXTURE_2D, 0, GL_RED, GL_UNSIGNED_BYTE, got);
    } else {
        gl_read_buffer(o->name, SIZE, got);
    }
    EXPECT_EQ(got[0], value);
    EXPECT_EQ(got[SIZE - 1], value);
}

// The write has not begun when its resource is unmapped in the same stream.
static void unmap_after_a_write(const char *personality, bool image, unsigned flags,
                                bool read_first)
{
    test_setting("CARDLESS_PERSONALITY", personality);
    gl_start(GL_CORE);
    CUstream s = new_stream();
    struct object o = new_object(image);
    MUST(cuGraphicsResourceSetMapFlags(o.r, flags));
    map(&o, s);
    if (read_first)
        read_object(&o, s);
    MUST(cuLaunchHostFunc(s, nap, NULL));
    write_object(&o, s);
    MUST(cuGraphicsUnmapResources(1, &o.r, s));
    expect_in_gl(&o, NEW);
}

#define UNMAPPED_AFTER(personality, name)                                                          \
    TEST(name##_unmapped_after_a_write)                                                            \
    {                                                                                              \
        for (int image = 0; image < 2; image++) {                                                  \
            unmap_after_a_write(personality, image, CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE, false);   \
            unmap_after_a_write(personality, image, CU_GRAPHICS_MAP_RESOURCE_FLAGS_NONE, true);    \
            unmap_after_a_write(personality, image, CU_GRAPHICS_MAP_RESOURCE_FLAGS_WRITE_DISCARD,  \
                                false);                                                            \
        }                                                                                          \
    }
UNMAPPED_AFTER("manual", manual)
UNMAPPED_AFTER("driver-580", driver)

// While a write waits for the host, another stream's read still sees OpenGL's bytes. The write is
// not overwritten by that fetch.
static void read_before_a_write(bool image)
{
    uint32_t *flag;
    CUstream writer = new_stream(), reader = new_stream();
    struct object o = new_object(image);
    MUST(cuMemHostAlloc((void **)&flag, 4096, 0));
    *flag = 0;
    map(&o, NULL);
    EXPECT_OK(
        cuStreamWaitValue32(writer, (CUdeviceptr)(uintptr_t)flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    write_object(&o, writer);
    read_object(&o, reader);
    EXPECT_EQ(got[9], OLD);
    __atomic_store_n(flag, 1, __ATOMIC_SEQ_CST);
    EXPECT_OK(cuStreamSynchronize(writer));
    read_object(&o, reader);
    EXPECT_EQ(got[9], NEW);
    MUST(cuGraphicsUnmapResources(1, &o.r, NULL));
    expect_in_gl(&o, NEW);
}

TEST(read_before_a_pending_write)
{
    gl_start(GL_CORE);
    read_before_a_write(false);
    read_before_a_write(true);
}

// A write fails before anything is fetched. OpenGL's bytes should survive.
TEST(read_after_a_failed_write)
{
    gl_start(GL_CORE);
    struct object o = new_object(false);
    map(&o, NULL);
    EXPECT(cuMemcpyHtoD(o.p, NULL, SIZE) != CUDA_SUCCESS);
    read_object(&o, NULL);
    EXPECT_EQ(got[9], OLD);
    MUST(cuGraphicsUnmapResources(1, &o.r, NULL));
    expect_in_gl(&o, OLD);
}

// If OpenGL refuses a read, because the program maps the buffer, the bytes should be fetched again
// later.
TEST(read_after_a_refused_read)
{
    gl_start(GL_CORE);
    struct object o = new_object(false);
    map(&o, NULL);
    glBindBuffer(GL_ARRAY_BUFFER, o.name);
    EXPECT(glMapBufferRange(GL_ARRAY_BUFFER, 0, SIZE, GL_MAP_READ_BIT));
    read_object(&o, NULL);
    struct object second = o; // registered in between; it shares the memory
    second.r = cu_buffer(o.name, 0);
    glUnmapBuffer(GL_ARRAY_BUFFER);
    read_object(&o, NULL);
    EXPECT_EQ(got[9], OLD);
    map(&second, NULL);
    EXPECT_OK(cuMemsetD8(second.p, OLD + 1, 1));
    read_object(&o, NULL);
    EXPECT_EQ(got[0], OLD + 1);
    EXPECT_OK(cuMemsetD8(second.p, OLD, 1));
    MUST(cuGraphicsUnmapResources(1, &second.r, NULL));
    MUST(cuGraphicsUnmapResources(1, &o.r, NULL));
    expect_in_gl(&o, OLD);
}

// ---- two threads

struct call {
    CUresult (*make)(CUgraphicsResource r);
    CUgraphicsResource r;
    EGLContext context;
    CUcontext cuda;
    CUresult result;
};

static void *make_slowly(void *argument)
{
    struct call *c = argument;
    eglBindAPI(EGL_OPENGL_API);
    gl_use(c->context);
    EXPECT_OK(cuCtxSetCurrent(c->cuda));
    is_slow = true;
    c->result = c->make(c->r);
    is_slow = false;
    gl_use(EGL_NO_CONTEXT);
    return NULL;
}

static CUresult unmap_it(CUgraphicsResource r)
{
    return cuGraphicsUnmapResources(1, &r, NULL);
}

static pthread_t begin(struct call *c)
{
    pthread_t thread;
    c->context = gl_new_context(GL_CORE, eglGetCurrentContext());
    MUST(cuCtxGetCurrent(&c->cuda));
    if (pthread_create(&thread, NULL, make_slowly, c))
        exit(1);
    usleep(SOON_US); // the driver has looked up the resource, and asks for its context
    return thread;
}

TEST(unmapped_by_two_threads)
{
    gl_start(GL_CORE);
    CUstream s = new_stream();
    struct object o = new_object(false);
    map(&o, s);
    MUST(cuLaunchHostFunc(s, nap, NULL));
    write_object(&o, s);
    struct call second = {.make = unmap_it, .r = o.r};
    pthread_t thread = begin(&second);
    EXPECT_OK(cuGraphicsUnmapResources(1, &o.r, s));
    pthread_join(thread, NULL);
    EXPECT_EQ(second.result, CUDA_ERROR_NOT_MAPPED);
    expect_in_gl(&o, NEW);
}

TEST(mapped_while_it_is_unregistered)
{
    gl_start(GL_CORE);
    struct object o = new_object(false);
    struct call second = {.make = cuGraphicsUnregisterResource, .r = o.r};
    pthread_t thread = begin(&second);
    map(&o, NULL);
    write_object(&o, NULL);
    pthread_join(thread, NULL);
    EXPECT_EQ(second.result, CUDA_ERROR_ALREADY_MAPPED);
    EXPECT_OK(cuGraphicsUnmapResources(1, &o.r, NULL));
    expect_in_gl(&o, NEW);
}

TESTS(CASE(manual_unmapped_after_a_write), CASE(driver_unmapped_after_a_write),
      CASE(read_before_a_pending_write), CASE(read_after_a_failed_write),
      CASE(read_after_a_refused_read), CASE(unmapped_by_two_threads),
      CASE(mapped_while_it_is_unregistered))
