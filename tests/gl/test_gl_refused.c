// SPDX-License-Identifier: MIT
// EGL refuses to make a context of the driver's current: the call that needs it reports that, no
// byte of OpenGL is lost or overwritten, and the driver goes on when EGL does.
//
// The driver needs a second context when its first one has no texture unit left, and changes
// between the two from then on. The program's eglMakeCurrent stands before libEGL's.
#include <dlfcn.h>
#include <stdatomic.h>

#include "context.h"

enum { SIDE = 16, SIZE = SIDE * SIDE, MOST = 1000, MANY = 300, OLD = 38, NEW = 77 };

#define WHY "the driver's context cannot be made current"

static __thread bool of_the_program; // this thread is not the driver's
static EGLContext programs;
static atomic_uint switched, refused;
static atomic_bool refuses;

__attribute__((visibility("default"))) EGLBoolean
eglMakeCurrent(EGLDisplay display, EGLSurface draw, EGLSurface read, EGLContext context)
{
    static EGLBoolean (*_Atomic next)(EGLDisplay, EGLSurface, EGLSurface, EGLContext);
    if (!next)
        next = (EGLBoolean(*)(EGLDisplay, EGLSurface, EGLSurface, EGLContext))(uintptr_t)dlsym(
            RTLD_NEXT, "eglMakeCurrent");
    if (refuses && context && context != programs) {
        refused++;
        return EGL_FALSE; // the context that was current stays current
    }
    switched += !of_the_program && context;
    return next(display, draw, read, context);
}

static uint8_t bytes[SIZE], got[SIZE];
static CUgraphicsResource resource[MOST];
static GLuint texture[MOST];
static unsigned count;

static void add_texture(void)
{
    texture[count] = gl_texture_2d(GL_R8, 1, SIDE, SIDE);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, SIDE, SIDE, GL_RED, GL_UNSIGNED_BYTE, bytes);
    resource[count] = cu_image(texture[count], GL_TEXTURE_2D, 0);
    count++;
}

// Registers textures until the driver has two contexts and the second one is current.
static void start(void)
{
    of_the_program = true;
    memset(bytes, OLD, SIZE);
    programs = gl_start(GL_CORE);
    add_texture();
    unsigned before = switched;
    while (switched == before && count < MOST)
        add_texture();
    EXPECT(count < MOST);
}

static uint8_t in_gl(unsigned i)
{
    glBindTexture(GL_TEXTURE_2D, texture[i]);
    glGetTexImage(GL_TEXTURE_2D, 0, GL_RED, GL_UNSIGNED_BYTE, got);
    EXPECT_EQ(got[SIZE - 1], got[0]);
    return got[0];
}

// Bytes that could not be fetched are fetched the next time.
TEST(read)
{
    start();
    const unsigned last = count - 1;
    CUarray a = cu_map_array(resource[last], 0, 0);
    refuses = true;
    cu_read_array(a, SIDE, SIDE, got);
    EXPECT(refused);
    EXPECT(strstr(test_last_line(), WHY));
    refuses = false;
    memset(got, 0, SIZE);
    cu_read_array(a, SIDE, SIDE, got);
    EXPECT_EQ(got[0], OLD);
    EXPECT_EQ(got[SIZE - 1], OLD);
    EXPECT_OK(cuGraphicsUnmapResources(1, &resource[last], 0));
    EXPECT_EQ(in_gl(last), OLD);
}

// The bytes that CUDA has written are lost, and unmapping says so.
TEST(write)
{
    start();
    const unsigned last = count - 1;
    memset(bytes, NEW, SIZE);
    CUarray a = cu_map_array(resource[last], 0, 0);
    cu_write_array(a, 0, 0, SIDE, SIDE, bytes);
    refuses = true;
    EXPECT_MESSAGE(cuGraphicsUnmapResources(1, &resource[last], 0), CUDA_ERROR_UNKNOWN,
                   "rejected the bytes that CUDA has written");
    EXPECT(refused);
    refuses = false;
    EXPECT_EQ(in_gl(last), OLD);
    a = cu_map_array(resource[last], 0, 0);
    cu_write_array(a, 0, 0, SIDE, SIDE, bytes);
    EXPECT_OK(cuGraphicsUnmapResources(1, &resource[last], 0));
    EXPECT_EQ(in_gl(last), NEW);
}

// A texture that gets no unit is registered nevertheless.
TEST(registration)
{
    start();
    refuses = true;
    add_texture();
    EXPECT(refused);
    cu_read_array(cu_map_array(resource[count - 1], 0, 0), SIDE, SIDE, got);
    EXPECT_EQ(got[0], OLD);
    EXPECT_EQ(got[SIZE - 1], OLD);
}

// A resource ends in any case. Its texture unit stays taken, and others are used.
TEST(unregistration)
{
    start();
    refuses = true;
    for (unsigned i = 0; i < count; i++)
        EXPECT_OK(cuGraphicsUnregisterResource(resource[i]));
    count = 0;
    for (unsigned i = 0; i < MANY; i++)
        add_texture();
    EXPECT(refused > 1);
    for (unsigned i = 0; i < MANY; i += MANY - 1) {
        refuses = i == 0;
        cu_read_array(cu_map_array(resource[i], 0, 0), SIDE, SIDE, got);
        EXPECT_EQ(got[0], OLD);
        EXPECT_EQ(got[SIZE - 1], OLD);
        memset(got, 0, SIZE);
    }
}

TESTS(CASE(read), CASE(write), CASE(registration), CASE(unregistration))
