// SPDX-License-Identifier: MIT
// Every call leaves the program's OpenGL state unchanged, in each kind of context: every value of
// glGetIntegerv, the parameters of its textures and buffers, the pending error, and the current
// context.
#include "context.h"

enum {
    SIZE = 4096,
    FIRST_NAME = 0x0b00,
    NAMES_END = 0x9500,
    NAMES_MAX = 1024,
    VALUES = 16,
    VALUES_MAX = 1024,
    FEWEST_NAMES = 250,
    UNITS = 8
};

static GLenum names[NAMES_MAX];
static unsigned name_count;

// Whether a name queries the amount of free memory (GL_ATI_meminfo, GL_NVX_gpu_memory_info). This
// is not state of the context, because it differs from call to call. Mesa 25's llvmpipe lists both
// extensions and returns uninitialised values.
static bool is_free_memory(GLenum name)
{
    return (name >= GL_VBO_FREE_MEMORY_ATI && name <= GL_RENDERBUFFER_FREE_MEMORY_ATI) ||
           (name >= GL_GPU_MEMORY_INFO_DEDICATED_VIDMEM_NVX &&
            name <= GL_GPU_MEMORY_INFO_EVICTED_MEMORY_NVX);
}

// Collects the names that this context supports.
static void collect_names(void)
{
    static GLint values[VALUES_MAX];
    for (GLenum name = FIRST_NAME; name < NAMES_END && name_count < NAMES_MAX; name++) {
        if (is_free_memory(name))
            continue;
        glGetIntegerv(name, values);
        if (!glGetError())
            names[name_count++] = name;
    }
    EXPECT(name_count > FEWEST_NAMES && name_count < NAMES_MAX);
}

static const GLenum bindings[] = {GL_TEXTURE_BINDING_2D,       GL_TEXTURE_BINDING_3D,
                                  GL_TEXTURE_BINDING_CUBE_MAP, GL_TEXTURE_BINDING_2D_ARRAY,
                                  GL_SAMPLER_BINDING,          GL_TEXTURE_BINDING_RECTANGLE};
static const GLenum of_texture[] = {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_BASE_LEVEL,
                                    GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_IMMUTABLE_FORMAT};
static const GLenum of_buffer[] = {GL_BUFFER_SIZE, GL_BUFFER_USAGE, GL_BUFFER_MAPPED,
                                   GL_BUFFER_ACCESS_FLAGS};

enum { BINDINGS = sizeof bindings / sizeof *bindings };

struct state {
    GLint value[NAMES_MAX][VALUES], binding[UNITS][BINDINGS], texture[4], buffer[4];
    EGLContext context;
    EGLSurface surface;
    EGLenum api;
};

static struct state before, after;

static void look(struct state *s)
{
    GLint active, values[VALUES_MAX];
    memset(s, 0, sizeof *s);
    for (unsigned i = 0; i < name_count; i++) {
        memset(values, 0, sizeof values);
        glGetIntegerv(names[i], values);
        memcpy(s->value[i], values, sizeof s->value[i]);
    }
    glGetIntegerv(GL_ACTIVE_TEXTURE, &active);
    for (unsigned unit = 0; unit < UNITS; unit++) {
        glActiveTexture(GL_TEXTURE0 + unit);
        for (int i = 0; i < BINDINGS; i++)
            glGetIntegerv(bindings[i], &s->binding[unit][i]);
    }
    glActiveTexture((GLenum)active);
    for (int i = 0; i < 4; i++)
        glGetTexParameteriv(GL_TEXTURE_2D, of_texture[i], &s->texture[i]);
    for (int i = 0; i < 4; i++)
        glGetBufferParameteriv(GL_ARRAY_BUFFER, of_buffer[i], &s->buffer[i]);
    while (glGetError())
        ;
    s->context = eglGetCurrentContext();
    s->surface = eglGetCurrentSurface(EGL_DRAW);
    s->api = eglQueryAPI();
}

static void compare(const char *call)
{
    EXPECT_EQ(glGetError(), GL_INVALID_ENUM);
    EXPECT_EQ(glGetError(), GL_NO_ERROR);
    look(&after);
    EXPECT(!memcmp(&before, &after, sizeof before));
    for (unsigned i = 0; i < name_count; i++)
        if (memcmp(before.value[i], after.value[i], sizeof before.value[i]))
            printf("# %s changes %#x from %d to %d\n", call, names[i], before.value[i][0],
                   after.value[i][0]);
}

// Makes a call while an error is pending, and compares the whole state afterwards.
#define UNDISTURBED(call, code)                                                                    \
    do {                                                                                           \
        look(&before);                                                                             \
        glEnable(0x12345);                                                                         \
        EXPECT_ERROR(call, code);                                                                  \
        compare(#call);                                                                            \
    } while (0)
#define UNDISTURBED_OK(call) UNDISTURBED(call, CUDA_SUCCESS)

// Sets state that differs from the defaults everywhere.
static void disturb(enum gl_flavour flavour, GLuint texture, GLuint buffer)
{
    GLuint other, vao, sampler, other_buffer;
    glGenTextures(1, &other);
    glActiveTexture(GL_TEXTURE2);
    glBindTexture(GL_TEXTURE_3D, other);
    glGenSamplers(1, &sampler);
    glBindSampler(0, sampler);
    glBindSampler(3, sampler);
    glActiveTexture(GL_TEXTURE3);
    glBindTexture(GL_TEXTURE_2D, texture);
    glGenVertexArrays(1, &vao);
    glBindVertexArray(vao);
    other_buffer = gl_buffer(100, NULL);
    static const GLenum places[] = {GL_ELEMENT_ARRAY_BUFFER,     GL_PIXEL_PACK_BUFFER,
                                    GL_PIXEL_UNPACK_BUFFER,      GL_UNIFORM_BUFFER,
                                    GL_COPY_READ_BUFFER,         GL_COPY_WRITE_BUFFER,
                                    GL_TRANSFORM_FEEDBACK_BUFFER};
    for (int i = 0; i < 7; i++)
        glBindBuffer(places[i], i % 2 ? buffer : other_buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    static const GLenum stores[] = {
        GL_PACK_ROW_LENGTH,    GL_PACK_SKIP_PIXELS, GL_PACK_SKIP_ROWS,     GL_UNPACK_ROW_LENGTH,
        GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS, GL_UNPACK_IMAGE_HEIGHT};
    for (int i = 0; i < 7; i++)
        glPixelStorei(stores[i], i + 3);
    glPixelStorei(GL_PACK_ALIGNMENT, 8);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
    if (flavour != GL_ES) {
        glPixelStorei(GL_UNPACK_SWAP_BYTES, 1);
        glPixelStorei(GL_PACK_LSB_FIRST, 1);
        glEnable(GL_FRAMEBUFFER_SRGB);
        glEnable(GL_PRIMITIVE_RESTART);
        glPrimitiveRestartIndex(77);
        glClampColor(GL_CLAMP_READ_COLOR, GL_TRUE);
        glEnable(GL_COLOR_LOGIC_OP);
        glLogicOp(GL_XOR);
    }
    glReadBuffer(GL_NONE);
    glEnable(GL_SCISSOR_TEST);
    glScissor(1, 2, 3, 4);
    glViewport(5, 6, 7, 8);
    glColorMask(1, 0, 1, 0);
    glDepthMask(0);
    glStencilMask(0x55);
    glEnable(GL_BLEND);
    glEnable(GL_RASTERIZER_DISCARD);
}

static GLuint layered(GLenum target, GLenum format, int levels, int size, int depth)
{
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(target, t);
    if (target == GL_TEXTURE_CUBE_MAP)
        glTexStorage2D(target, levels, format, size, size);
    else
        glTexStorage3D(target, levels, format, size, size, depth);
    return t;
}

// CUDA's bytes are correct in spite of the unusual state.
enum { IMAGES = 4, ROW_B = 64, ROWS = 4 };
static uint8_t bytes[SIZE];

static void use_images(const CUgraphicsResource r[IMAGES])
{
    CUarray a[IMAGES];
    for (unsigned i = 0; i < IMAGES; i++) {
        UNDISTURBED_OK(cuGraphicsSubResourceGetMappedArray(&a[i], r[i], i == 1 ? 5 : 0, 0));
        CUDA_MEMCPY3D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                            .srcHost = bytes,
                            .srcPitch = ROW_B,
                            .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                            .dstArray = a[i],
                            .WidthInBytes = ROW_B,
                            .Height = ROWS,
                            .Depth = 1};
        memset(bytes, 0x33, sizeof bytes);
        UNDISTURBED_OK(cuMemcpy3D(&in));
    }
    CUDA_MEMCPY2D across = {.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                            .srcArray = a[3],
                            .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                            .dstArray = a[0],
                            .dstY = ROWS,
                            .WidthInBytes = ROW_B / 2,
                            .Height = ROWS};
    UNDISTURBED_OK(cuMemcpy2D(&across));
}

static void undisturbed(enum gl_flavour flavour)
{
    gl_start(flavour);
    GLuint b = gl_buffer(SIZE, NULL), cube = layered(GL_TEXTURE_CUBE_MAP, GL_RGBA8, 2, 32, 0),
           solid = layered(GL_TEXTURE_3D, GL_R32F, 2, 16, 8);
    GLuint t = gl_texture_2d(GL_RGBA8, 2, 32, 32), rb = gl_renderbuffer(GL_RGBA8, 32, 32);
    gl_framebuffer(0, rb);
    collect_names();
    disturb(flavour, t, b);
    CUgraphicsResource r[IMAGES + 1], none;
    CUdeviceptr p;
    CUdevice device;
    unsigned count;
    UNDISTURBED_OK(cuGLGetDevices(&count, &device, 1, CU_GL_DEVICE_LIST_ALL));
    UNDISTURBED_OK(cuGraphicsGLRegisterImage(&r[0], t, GL_TEXTURE_2D, 0));
    UNDISTURBED_OK(cuGraphicsGLRegisterImage(&r[1], cube, GL_TEXTURE_CUBE_MAP, 0));
    UNDISTURBED_OK(cuGraphicsGLRegisterImage(&r[2], solid, GL_TEXTURE_3D, 0));
    UNDISTURBED_OK(cuGraphicsGLRegisterImage(&r[3], rb, GL_RENDERBUFFER, 0));
    UNDISTURBED_OK(cuGraphicsGLRegisterBuffer(&r[4], b, 0));
    UNDISTURBED(cuGraphicsGLRegisterImage(&none, 4711, GL_TEXTURE_2D, 0),
                CUDA_ERROR_INVALID_HANDLE);
    UNDISTURBED(cuGraphicsGLRegisterImage(&none, t, GL_TEXTURE_1D, 0), CUDA_ERROR_INVALID_VALUE);
    UNDISTURBED(cuGraphicsGLRegisterBuffer(&none, 4711, 0), CUDA_ERROR_INVALID_HANDLE);
    for (int round = 0; round < 2; round++) {
        UNDISTURBED_OK(cuGraphicsMapResources(IMAGES + 1, r, 0));
        use_images(r);
        UNDISTURBED_OK(cuGraphicsResourceGetMappedPointer(&p, NULL, r[IMAGES]));
        UNDISTURBED_OK(cuMemsetD8(p + 5, 7, 70));
        UNDISTURBED_OK(cuMemcpyDtoH(bytes, p, SIZE));
        UNDISTURBED_OK(cuGraphicsUnmapResources(IMAGES + 1, r, 0));
    }
    for (int i = 0; i <= IMAGES; i++)
        UNDISTURBED_OK(cuGraphicsUnregisterResource(r[i]));
    EXPECT_EQ(gl_buffer_byte(b, 74), 7);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glReadBuffer(GL_COLOR_ATTACHMENT0);
    glPixelStorei(GL_PACK_ROW_LENGTH, 0);
    glPixelStorei(GL_PACK_SKIP_PIXELS, 0);
    glPixelStorei(GL_PACK_SKIP_ROWS, 0);
    glReadPixels(ROW_B / 4 - 1, ROWS - 1, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes);
    EXPECT_EQ(bytes[0], 0x33);
}

TEST(core)
{
    undisturbed(GL_CORE);
}

TEST(compatibility)
{
    undisturbed(GL_COMPATIBILITY);
}

TEST(es)
{
    undisturbed(GL_ES);
}

TESTS(CASE(core), CASE(compatibility), CASE(es))
