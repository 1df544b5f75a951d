// SPDX-License-Identifier: MIT
// OpenGL objects registered, mapped, written and read in walks drawn at random: state of resources, several registrations of one object, formats with
// all their bytes, textures of odd shape, contexts of both sides. The order and number of the draws must stay as they are.
#define GL_GLEXT_PROTOTYPES
#include "draw.h"
#include "record.h"
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <cudaGL.h>

enum { MOST_BYTES = 1 << 20 };

static EGLDisplay display;
static EGLConfig config;
static EGLContext gl_first, gl_shared, gl_apart;
static CUcontext cu_first, cu_second;
static unsigned char bytes[MOST_BYTES];

static EGLContext gl_context(EGLContext share)
{
    static const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 4, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
    return eglCreateContext(display, config, share, attributes);
}

static void gl_use(EGLContext context)
{
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context))
        SAY(" no-make-current");
}

// An OpenGL context on the first device that has one, and CUDA's primary one.
static void start(void)
{
    PFNEGLGETPLATFORMDISPLAYEXTPROC platform_display = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    PFNEGLQUERYDEVICESEXTPROC query_devices = (PFNEGLQUERYDEVICESEXTPROC)eglGetProcAddress("eglQueryDevicesEXT");
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLDeviceEXT devices[16];
    EGLint count = 0, configs = 0;
    if (platform_display && query_devices)
        query_devices(16, devices, &count);
    for (EGLint i = 0; i < count && !gl_first; i++) {
        display = platform_display(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL);
        if (display && eglInitialize(display, NULL, NULL) && eglBindAPI(EGL_OPENGL_API) && eglChooseConfig(display, wanted, &config, 1, &configs) &&
            configs)
            gl_first = gl_context(EGL_NO_CONTEXT);
    }
    if (!gl_first) {
        fprintf(stderr, "no OpenGL context\n");
        _exit(9);
    }
    gl_use(gl_first);
    cu_first = record_context();
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
}

static unsigned hash(const unsigned char *p, size_t size)
{
    unsigned h = 2166136261u;
    while (size--)
        h = (h ^ *p++) * 16777619u;
    return h;
}

static unsigned char *noise(size_t size)
{
    uint64_t x = draw() | 1;
    for (size_t i = 0; i < size; i++) {
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
        bytes[i] = (unsigned char)(x >> 56) & 0x3b; // so that no half and no float is a NaN or denormal
        bytes[i] |= 0x20;
    }
    return bytes;
}

static int extent(int size, int level)
{
    return size >> level ? size >> level : 1;
}

// ---- formats that an image registers with, and what moves their bytes unchanged

struct format {
    const char *name;
    GLenum internal, outer, type;
    int texel_B;
};

static const struct format formats[] = {
    {"R8", GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1},
    {"RG8", GL_RG8, GL_RG, GL_UNSIGNED_BYTE, 2},
    {"RGBA8", GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
    {"SRGB8_ALPHA8", GL_SRGB8_ALPHA8, GL_RGBA, GL_UNSIGNED_BYTE, 4},
    {"R16", GL_R16, GL_RED, GL_UNSIGNED_SHORT, 2},
    {"RG16", GL_RG16, GL_RG, GL_UNSIGNED_SHORT, 4},
    {"RGBA16", GL_RGBA16, GL_RGBA, GL_UNSIGNED_SHORT, 8},
    {"R16F", GL_R16F, GL_RED, GL_HALF_FLOAT, 2},
    {"RG16F", GL_RG16F, GL_RG, GL_HALF_FLOAT, 4},
    {"RGBA16F", GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT, 8},
    {"R32F", GL_R32F, GL_RED, GL_FLOAT, 4},
    {"RG32F", GL_RG32F, GL_RG, GL_FLOAT, 8},
    {"RGBA32F", GL_RGBA32F, GL_RGBA, GL_FLOAT, 16},
    {"R8UI", GL_R8UI, GL_RED_INTEGER, GL_UNSIGNED_BYTE, 1},
    {"RG8UI", GL_RG8UI, GL_RG_INTEGER, GL_UNSIGNED_BYTE, 2},
    {"RGBA8UI", GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, 4},
    {"R8I", GL_R8I, GL_RED_INTEGER, GL_BYTE, 1},
    {"RG8I", GL_RG8I, GL_RG_INTEGER, GL_BYTE, 2},
    {"RGBA8I", GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE, 4},
    {"R16UI", GL_R16UI, GL_RED_INTEGER, GL_UNSIGNED_SHORT, 2},
    {"RG16I", GL_RG16I, GL_RG_INTEGER, GL_SHORT, 4},
    {"RGBA16UI", GL_RGBA16UI, GL_RGBA_INTEGER, GL_UNSIGNED_SHORT, 8},
    {"R32I", GL_R32I, GL_RED_INTEGER, GL_INT, 4},
    {"RG32UI", GL_RG32UI, GL_RG_INTEGER, GL_UNSIGNED_INT, 8},
    {"RGBA32UI", GL_RGBA32UI, GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16},
    {"RGB8", GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, 3},
    {"RGB10_A2", GL_RGB10_A2, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV, 4},
    {"RGBA8_SNORM", GL_RGBA8_SNORM, GL_RGBA, GL_BYTE, 4},
    {"DEPTH32F", GL_DEPTH_COMPONENT32F, GL_DEPTH_COMPONENT, GL_FLOAT, 4},
};
enum { FIRST_ODD_FORMAT = 25 }; // from here on: not registered, or not with the same bytes

// ---- objects

enum { BUFFER, TEXTURE };

struct object {
    int kind;
    GLuint name;
    bool deleted;
    size_t size; // of a buffer
    GLenum target;
    const struct format *format;
    int width, height, depth, levels; // depth: layers and faces too
};

static const GLenum targets[] = {GL_TEXTURE_2D, GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_RECTANGLE};
static const GLenum other_targets[] = {
    GL_TEXTURE_1D, GL_TEXTURE_1D_ARRAY, GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BUFFER, GL_TEXTURE_2D_MULTISAMPLE, GL_RENDERBUFFER,
    GL_TEXTURE_2D, GL_TEXTURE_3D,       GL_TEXTURE_2D_ARRAY};

static const char *target_name(GLenum target)
{
    switch (target) {
    case GL_TEXTURE_2D:
        return "2D";
    case GL_TEXTURE_3D:
        return "3D";
    case GL_TEXTURE_2D_ARRAY:
        return "2DARRAY";
    case GL_TEXTURE_CUBE_MAP:
        return "CUBE";
    case GL_TEXTURE_RECTANGLE:
        return "RECT";
    default:
        return "other";
    }
}

static bool is_deep(const struct object *o)
{
    return o->target == GL_TEXTURE_3D || o->target == GL_TEXTURE_2D_ARRAY;
}

static int depth_at(const struct object *o, int level)
{
    return o->target == GL_TEXTURE_3D ? extent(o->depth, level) : o->depth;
}

static size_t level_B(const struct object *o, int level)
{
    return (size_t)extent(o->width, level) * (size_t)extent(o->height, level) * (size_t)depth_at(o, level) * (size_t)o->format->texel_B;
}

static void upload(const struct object *o, int level, bool define)
{
    int w = extent(o->width, level), h = extent(o->height, level), d = depth_at(o, level);
    const struct format *f = o->format;
    size_t face_B = (size_t)w * (size_t)h * (size_t)f->texel_B;
    noise(level_B(o, level));
    if (is_deep(o)) {
        if (define)
            glTexImage3D(o->target, level, (GLint)f->internal, w, h, d, 0, f->outer, f->type, bytes);
        else
            glTexSubImage3D(o->target, level, 0, 0, 0, w, h, d, f->outer, f->type, bytes);
        return;
    }
    for (int face = 0; face < d; face++) {
        GLenum target = o->target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face : o->target;
        if (define)
            glTexImage2D(target, level, (GLint)f->internal, w, h, 0, f->outer, f->type, bytes + (size_t)face * face_B);
        else
            glTexSubImage2D(target, level, 0, 0, w, h, f->outer, f->type, bytes + (size_t)face * face_B);
    }
}

static unsigned download(const struct object *o, int level)
{
    size_t size = level_B(o, level), face_B = size / (size_t)depth_at(o, level);
    memset(bytes, 0, size);
    if (o->target == GL_TEXTURE_CUBE_MAP)
        for (int face = 0; face < 6; face++)
            glGetTexImage(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, level, o->format->outer, o->format->type, bytes + (size_t)face * face_B);
    else
        glGetTexImage(o->target, level, o->format->outer, o->format->type, bytes);
    return hash(bytes, size);
}

static struct object make_buffer(void)
{
    static const size_t sizes[] = {1, 100, 256, 4096, 65536, 300001};
    static const GLbitfield storage[] = {0, GL_DYNAMIC_STORAGE_BIT, GL_MAP_READ_BIT, GL_MAP_WRITE_BIT | GL_MAP_READ_BIT | GL_MAP_PERSISTENT_BIT};
    struct object o = {.kind = BUFFER, .size = PICK(sizes)};
    GLbitfield how = PICK(storage);
    bool immutable = chance(30);
    noise(o.size);
    glGenBuffers(1, &o.name);
    glBindBuffer(GL_ARRAY_BUFFER, o.name);
    if (immutable)
        glBufferStorage(GL_ARRAY_BUFFER, (GLsizeiptr)o.size, bytes, how | GL_DYNAMIC_STORAGE_BIT);
    else
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)o.size, bytes, GL_DYNAMIC_DRAW);
    return o;
}

static struct object make_texture(const struct format *format)
{
    struct object o = {.kind = TEXTURE, .target = PICK(targets), .format = format};
    bool small = chance(70);
    o.width = 1 + (int)(draw() % (small ? 20 : 90));
    o.height = 1 + (int)(draw() % (small ? 20 : 60));
    o.depth = is_deep(&o) ? 1 + (int)(draw() % 7) : o.target == GL_TEXTURE_CUBE_MAP ? 6 : 1;
    if (o.target == GL_TEXTURE_CUBE_MAP)
        o.height = o.width;
    int most = 1;
    while ((o.width | o.height | (o.target == GL_TEXTURE_3D ? o.depth : 1)) >> most)
        most++;
    o.levels = o.target == GL_TEXTURE_RECTANGLE || chance(40) ? 1 : 1 + (int)(draw() % (unsigned)most);
    bool immutable = chance(60);
    if (!immutable && o.levels > 1)
        o.levels = most;
    glGenTextures(1, &o.name);
    glBindTexture(o.target, o.name);
    if (immutable && is_deep(&o))
        glTexStorage3D(o.target, o.levels, o.format->internal, o.width, o.height, o.depth);
    else if (immutable)
        glTexStorage2D(o.target, o.levels, o.format->internal, o.width, o.height);
    for (int level = 0; level < o.levels; level++)
        upload(&o, level, !immutable);
    return o;
}

static void drop(struct object *o)
{
    if (o->deleted)
        return;
    if (o->kind == BUFFER)
        glDeleteBuffers(1, &o->name);
    else
        glDeleteTextures(1, &o->name);
    o->deleted = true;
}

// ---- what CUDA sees

static void say_desc(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    CUresult r = cuArray3DGetDescriptor(&d, a);
    if (r)
        SAY("[%s]", record_brief(r));
    else
        SAY("[%zux%zux%zu f%d c%u %x]", d.Width, d.Height, d.Depth, (int)d.Format, d.NumChannels, d.Flags);
}

static size_t element_B(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->NumChannels * (d->Format == CU_AD_FORMAT_UNSIGNED_INT8 || d->Format == CU_AD_FORMAT_SIGNED_INT8 ? 1u
                             : d->Format == CU_AD_FORMAT_UNSIGNED_INT16 || d->Format == CU_AD_FORMAT_SIGNED_INT16 || d->Format == CU_AD_FORMAT_HALF
                                 ? 2u
                                 : 4u);
}

// Reads a whole array, or writes a box of it.
static void read_array(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    if (cuArray3DGetDescriptor(&d, a))
        return;
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = bytes};
    c.WidthInBytes = d.Width * element_B(&d);
    c.Height = d.Height ? d.Height : 1;
    c.Depth = d.Depth ? d.Depth : 1;
    c.dstPitch = c.WidthInBytes;
    c.dstHeight = c.Height;
    if (c.WidthInBytes * c.Height * c.Depth > MOST_BYTES) {
        SAY(" large");
        return;
    }
    CUresult r = cuMemcpy3D(&c);
    if (r)
        SAY(" read=%s", record_brief(r));
    else
        SAY(" %08x", hash(bytes, c.WidthInBytes * c.Height * c.Depth));
}

static void write_array(CUarray a)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    uint64_t dice[6];
    for (int i = 0; i < 6; i++)
        dice[i] = draw();
    if (cuArray3DGetDescriptor(&d, a))
        return;
    size_t h = d.Height ? d.Height : 1, depth = d.Depth ? d.Depth : 1, texel_B = element_B(&d);
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = bytes, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = a};
    size_t x = dice[0] % d.Width;
    c.dstY = dice[1] % h;
    c.dstZ = dice[2] % depth;
    c.dstXInBytes = x * texel_B;
    c.WidthInBytes = (1 + dice[3] % (d.Width - x)) * texel_B;
    c.Height = 1 + dice[4] % (h - c.dstY);
    c.Depth = 1 + dice[5] % (depth - c.dstZ);
    c.srcPitch = c.WidthInBytes;
    c.srcHeight = c.Height;
    if (c.WidthInBytes * c.Height * c.Depth > MOST_BYTES)
        return;
    noise(c.WidthInBytes * c.Height * c.Depth);
    SAY(" %s", record_brief(cuMemcpy3D(&c)));
}

// ---- formats: every byte of every level, there and back

GROUP(formats)
{
    start();
    for (int i = 0; i < 700; i++) {
        draw_seed(1000 + (uint64_t)i);
        if (!CASE("%d", i))
            continue;
        struct object o = make_texture(&formats[chance(90) ? draw() % FIRST_ODD_FORMAT : draw() % COUNT(formats)]);
        static const unsigned flags[] = {0, 0, 0, 0, 1, 2, 4, 8, 12};
        unsigned flag = PICK(flags);
        bool exact = o.format < formats + FIRST_ODD_FORMAT;
        CUgraphicsResource r = NULL;
        SAY("%s %s %dx%dx%d L%d fl%u gl%x", target_name(o.target), o.format->name, o.width, o.height, o.depth, o.levels, flag, glGetError());
        CUresult e = cuGraphicsGLRegisterImage(&r, o.name, o.target, flag);
        SAY(" %s", record_brief(e));
        if (e) {
            drop(&o);
            continue;
        }
        SAY(" map %s", record_brief(cuGraphicsMapResources(1, &r, 0)));
        for (int level = 0; level <= o.levels; level++)
            for (unsigned layer = 0; layer < (unsigned)(o.target == GL_TEXTURE_3D ? 1 : o.depth); layer++) {
                CUarray a = NULL;
                e = cuGraphicsSubResourceGetMappedArray(&a, r, layer, (unsigned)level);
                if (e) {
                    SAY(" L%d.%u=%s", level, layer, record_brief(e));
                    continue;
                }
                if (!layer) {
                    SAY(" L%d", level);
                    say_desc(a);
                }
                if (exact && level < o.levels)
                    read_array(a);
                if (exact && level < o.levels && chance(40))
                    write_array(a);
            }
        CUmipmappedArray m = NULL;
        e = cuGraphicsResourceGetMappedMipmappedArray(&m, r);
        SAY(" mip %s", record_brief(e));
        for (unsigned level = 0; !e && level < (unsigned)o.levels; level++) {
            CUarray a = NULL;
            if (cuMipmappedArrayGetLevel(&a, m, level))
                break;
            if (level < 2)
                say_desc(a);
            if (exact && chance(50))
                read_array(a);
            if (exact && chance(30))
                write_array(a);
        }
        SAY(" unmap %s", record_brief(cuGraphicsUnmapResources(1, &r, 0)));
        for (int level = 0; exact && level < o.levels; level++)
            SAY(" %08x", download(&o, level));
        SAY(" %s gl%x", record_brief(cuGraphicsUnregisterResource(r)), glGetError());
        drop(&o);
    }
}

// ---- walks through the states of a few resources

enum { BUFFERS = 2, OBJECTS = 5, SLOTS = 6, STEPS = 36 };

struct slot {
    CUgraphicsResource r;
    int object;
    bool mapped, alive;
    CUdeviceptr p;
    size_t size;
    CUarray a;
};

static struct object objects[OBJECTS];
static struct slot slots[SLOTS];

static bool is_mapped(int object)
{
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].alive && slots[i].object == object && slots[i].mapped)
            return true;
    return false;
}

// One that holds a resource, if three tries find one.
static int some_slot(void)
{
    int number = 0;
    for (int tries = 0; tries < 3; tries++) {
        int next = (int)(draw() % SLOTS);
        if (!tries || !slots[number].alive)
            number = next;
    }
    return number;
}

static CUstream own_stream;

static CUstream some_stream(void)
{
    switch (draw() % 5) {
    case 0:
        SAY(" own:");
        return own_stream;
    case 1:
        SAY(" legacy:");
        return CU_STREAM_LEGACY;
    case 2:
        SAY(" thread:");
        return CU_STREAM_PER_THREAD;
    default:
        return NULL;
    }
}

// One to three slots, now and then one twice or none at all. Whoever is in a list that succeeds has the new state.
static void map_some(bool map, CUstream stream)
{
    CUgraphicsResource list[3];
    int which[3];
    unsigned count = 1 + (unsigned)(chance(30) ? draw() % 3 : 0);
    for (unsigned i = 0; i < count; i++) {
        which[i] = some_slot();
        if (chance(3))
            which[i] = -1;
        list[i] = which[i] < 0 || !slots[which[i]].alive ? NULL : slots[which[i]].r;
        SAY("%s%d", i ? "+" : map ? " map" : " unmap", which[i] < 0 || !slots[which[i]].alive ? -1 : which[i]);
    }
    CUresult e = map ? cuGraphicsMapResources(count, list, stream) : cuGraphicsUnmapResources(count, list, stream);
    SAY("=%s", record_brief(e));
    // What is mapped now is asked for: after an error it is not always what was before.
    for (unsigned i = 0; i < count; i++) {
        if (which[i] < 0 || !slots[which[i]].alive)
            continue;
        struct slot *s = &slots[which[i]];
        CUdeviceptr p;
        size_t size;
        CUarray a;
        bool buffer = objects[s->object].kind == BUFFER;
        CUresult now = buffer ? cuGraphicsResourceGetMappedPointer(&p, &size, s->r) : cuGraphicsSubResourceGetMappedArray(&a, s->r, 0, 0);
        s->mapped = !now;
        if (!now && buffer) {
            s->p = p;
            s->size = size;
        } else if (!now) {
            s->a = a;
        }
        SAY(",%s", record_brief(now));
    }
}

static void register_one(struct slot *s, int number)
{
    int object = (int)(draw() % OBJECTS);
    struct object *o = &objects[object];
    bool sane = chance(85);
    uint64_t other = draw();
    unsigned flags = sane ? (unsigned)(other % 3) : (unsigned)(other % 20);
    GLenum target = chance(92) ? o->target : PICK(other_targets);
    if (s->alive || o->deleted)
        return;
    CUgraphicsResource r = NULL;
    CUresult e = o->kind == BUFFER ? cuGraphicsGLRegisterBuffer(&r, o->name, flags) : cuGraphicsGLRegisterImage(&r, o->name, target, flags);
    SAY(" reg%d(%d,%x,%u)=%s", number, object, o->kind == BUFFER ? 0 : target, flags, record_brief(e));
    if (!e)
        *s = (struct slot){.r = r, .object = object, .alive = true};
}

static void ask(struct slot *s, int number)
{
    uint64_t kind = draw() % 4, layer = draw() % 8, level = draw() % 4;
    CUmipmappedArray m = NULL;
    CUarray a = NULL;
    CUdeviceptr p = 0, base = 0;
    size_t size = 0, range = 0;
    if (!s->alive)
        return;
    CUresult e;
    if (kind == 0 || (objects[s->object].kind == BUFFER && layer)) {
        e = cuGraphicsResourceGetMappedPointer(&p, &size, s->r);
        SAY(" ptr%d=%s", number, record_brief(e));
        if (!e) {
            SAY(",%zu,%d", size, s->p == p);
            if (!cuMemGetAddressRange(&base, &range, p))
                SAY(",%zu,%zu", (size_t)(p - base), range);
            s->p = p;
            s->size = size;
        }
    } else if (kind == 1) {
        e = cuGraphicsResourceGetMappedMipmappedArray(&m, s->r);
        SAY(" mip%d=%s", number, record_brief(e));
        if (!e && !cuMipmappedArrayGetLevel(&a, m, (unsigned)level))
            say_desc(a);
    } else {
        e = cuGraphicsSubResourceGetMappedArray(&a, s->r, (unsigned)layer, (unsigned)level);
        SAY(" sub%d(%d,%d)=%s", number, (int)layer, (int)level, record_brief(e));
        if (!e) {
            say_desc(a);
            s->a = (int)level < objects[s->object].levels ? a : NULL;
        }
    }
}

// By the pointer or array that was got last, mapped or not any more.
static void touch(struct slot *s, int number)
{
    bool write = chance(50), stale = chance(15);
    uint64_t from = draw(), length = draw(), value = draw();
    if (!s->alive || (!s->mapped && !stale))
        return;
    if (objects[s->object].kind == BUFFER && s->p) {
        from %= s->size;
        length = 1 + length % (s->size - from);
        CUresult e = write ? cuMemsetD8(s->p + from, (unsigned char)value, length) : cuMemcpyDtoH(bytes, s->p + from, length);
        SAY(" %s%d=%s", write ? "set" : "get", number, record_brief(e));
        if (!write && !e)
            SAY(",%08x", hash(bytes, length));
    } else if (objects[s->object].kind == TEXTURE && s->a) {
        SAY(" %s%d", write ? "put" : "take", number);
        if (write)
            write_array(s->a);
        else
            read_array(s->a);
    }
    cuCtxSynchronize();
}

static void touch_gl(int object)
{
    struct object *o = &objects[object];
    bool write = chance(50);
    int level = o->kind == TEXTURE ? (int)(draw() % (unsigned)o->levels) : 0;
    if (o->deleted || is_mapped(object))
        return;
    if (o->kind == BUFFER) {
        glBindBuffer(GL_ARRAY_BUFFER, o->name);
        if (write)
            glBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)o->size, noise(o->size));
        else
            glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)o->size, bytes);
        SAY(write ? " glput%d" : " gl%d=%08x", object, write ? 0 : hash(bytes, o->size));
    } else {
        glBindTexture(o->target, o->name);
        if (write)
            upload(o, level, false);
        SAY(write ? " glput%d.%d" : " gl%d.%d=%08x", object, level, write ? 0 : download(o, level));
    }
    glFinish();
}

static void walk(bool contexts)
{
    NEED(cuStreamCreate(&own_stream, chance(50)));
    for (int i = 0; i < OBJECTS; i++)
        objects[i] = i < BUFFERS ? make_buffer() : make_texture(&formats[draw() % FIRST_ODD_FORMAT]);
    memset(slots, 0, sizeof slots);
    for (int i = 0; i < SLOTS - 1; i++)
        register_one(&slots[i], i);
    for (int step = 0; step < STEPS; step++) {
        int number = some_slot(), object = (int)(draw() % OBJECTS);
        uint64_t op = draw() % (contexts ? 24 : 20);
        struct slot *s = &slots[number];
        if (op < 1)
            register_one(s, number);
        else if (op < 2 && s->alive && !s->mapped) { // of a mapped one the driver keeps half, and crashes later
            CUresult e = cuGraphicsUnregisterResource(s->r);
            SAY(" unreg%d=%s", number, record_brief(e));
            if (!e)
                *s = (struct slot){0};
        } else if (op < 6)
            map_some(true, some_stream());
        else if (op < 8)
            map_some(false, some_stream());
        else if (op < 9 && s->alive) {
            unsigned flags = (unsigned)(draw() % 5);
            SAY(" flags%d(%u)=%s", number, flags, record_brief(cuGraphicsResourceSetMapFlags(s->r, flags)));
        } else if (op < 11)
            ask(s, number);
        else if (op < 17)
            touch(s, number);
        else if (op < 19)
            touch_gl(object);
        else if (op < 20 && chance(20)) {
            SAY(" delete%d", object);
            drop(&objects[object]);
        } else if (op == 20 || op == 21) {
            CUcontext which = draw() % 5 ? (draw() % 2 ? cu_first : cu_second) : NULL;
            SAY(" cu%d", which == cu_first ? 1 : which == cu_second ? 2 : 0);
            cuCtxSetCurrent(which);
        } else if (op >= 22) {
            EGLContext list[] = {gl_first, gl_first, gl_shared, gl_apart, EGL_NO_CONTEXT};
            unsigned which = (unsigned)(draw() % 5);
            SAY(" gl-context%u", which);
            gl_use(list[which]);
        }
    }
    cuCtxSetCurrent(cu_first);
    gl_use(gl_first);
    SAY(" end");
    for (int i = 0; i < SLOTS; i++)
        if (slots[i].alive) {
            SAY(" unmap%d=%s", i, record_brief(cuGraphicsUnmapResources(1, &slots[i].r, 0)));
            SAY(" unreg=%s", record_brief(cuGraphicsUnregisterResource(slots[i].r)));
        }
    for (int i = 0; i < OBJECTS; i++) {
        memset(slots, 0, sizeof slots);
        if (!objects[i].deleted && !contexts) {
            if (objects[i].kind == TEXTURE) {
                glBindTexture(objects[i].target, objects[i].name);
                SAY(" %08x", download(&objects[i], 0));
            } else {
                glBindBuffer(GL_ARRAY_BUFFER, objects[i].name);
                glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)objects[i].size, bytes);
                SAY(" %08x", hash(bytes, objects[i].size));
            }
        }
        drop(&objects[i]);
    }
    while (glGetError())
        ;
    SAY(" %s", record_brief(cuCtxSynchronize()));
    cuStreamDestroy(own_stream);
}

GROUP(walks)
{
    start();
    for (int i = 0; i < 800; i++) {
        draw_seed(20000 + (uint64_t)i);
        if (CASE("%d", i))
            walk(false);
    }
}

GROUP(contexts)
{
    start();
    NEED(cuCtxCreate(&cu_second, NULL, 0, 0));
    NEED(cuCtxSetCurrent(cu_first));
    gl_shared = gl_context(gl_first);
    gl_apart = gl_context(EGL_NO_CONTEXT);
    for (int i = 0; i < 250; i++) {
        draw_seed(40000 + (uint64_t)i);
        if (!CASE("%d", i))
            continue;
        alarm(6); // some never end on a card
        walk(true);
    }
}

// ---- one resource of one object, and what its flags do

// Maps it, or unmaps it.
static void turn(struct slot *s)
{
    CUresult e = s->mapped ? cuGraphicsUnmapResources(1, &s->r, NULL) : cuGraphicsMapResources(1, &s->r, NULL);
    SAY(" %s=%s", s->mapped ? "unmap" : "map", record_brief(e));
    s->mapped = !s->mapped;
    if (!s->mapped)
        return;
    if (objects[0].kind == BUFFER)
        cuGraphicsResourceGetMappedPointer(&s->p, &s->size, s->r);
    else
        cuGraphicsSubResourceGetMappedArray(&s->a, s->r, 0, 0);
}

GROUP(flags)
{
    start();
    NEED(cuStreamCreate(&own_stream, 0));
    for (int i = 0; i < 300; i++) {
        draw_seed(80000 + (uint64_t)i);
        if (!CASE("%d", i))
            continue;
        memset(slots, 0, sizeof slots);
        objects[0] = chance(50) ? make_buffer() : make_texture(&formats[draw() % FIRST_ODD_FORMAT]);
        if (objects[0].kind == TEXTURE && objects[0].levels > 1)
            objects[0].levels = 1; // level 0 alone is touched
        struct slot *s = &slots[0];
        unsigned flags = (unsigned)(draw() % 3);
        CUresult e = objects[0].kind == BUFFER ? cuGraphicsGLRegisterBuffer(&s->r, objects[0].name, flags)
                                               : cuGraphicsGLRegisterImage(&s->r, objects[0].name, objects[0].target, flags);
        SAY("%s flags%u=%s", objects[0].kind == BUFFER ? "BUFFER" : target_name(objects[0].target), flags, record_brief(e));
        s->alive = !e;
        for (int step = 0; !e && step < 16; step++) {
            uint64_t op = draw() % 12;
            flags = (unsigned)(draw() % 3);
            if (op < 2)
                SAY(" flags%u=%s", flags, record_brief(cuGraphicsResourceSetMapFlags(s->r, flags)));
            else if (op < 5)
                turn(s);
            else if (op < 9)
                touch(s, 0);
            else
                touch_gl(0);
        }
        if (s->mapped)
            cuGraphicsUnmapResources(1, &s->r, 0);
        s->mapped = false;
        for (int k = 0; k < 2; k++)
            touch_gl(0);
        if (!e)
            cuGraphicsUnregisterResource(s->r);
        drop(&objects[0]);
    }
}

// ---- textures of odd shape: levels that are missing or do not fit, base and last levels

GROUP(shapes)
{
    start();
    for (int i = 0; i < 400; i++) {
        draw_seed(60000 + (uint64_t)i);
        if (!CASE("%d", i))
            continue;
        GLuint name;
        static const GLenum shape_targets[] = {GL_TEXTURE_2D, GL_TEXTURE_2D, GL_TEXTURE_3D, GL_TEXTURE_2D_ARRAY};
        GLenum target = PICK(shape_targets);
        struct object o = {.kind = TEXTURE, .target = target, .depth = target == GL_TEXTURE_2D ? 1 : 1 + (int)(draw() % 9)};
        o.width = 1 + (int)(draw() % 40);
        o.height = 1 + (int)(draw() % 40);
        const struct format *main_format = &formats[draw() % FIRST_ODD_FORMAT];
        glGenTextures(1, &name);
        glBindTexture(target, name);
        SAY("%s %s %dx%dx%d", target_name(target), main_format->name, o.width, o.height, o.depth);
        for (int level = 0; level < 7; level++) {
            uint64_t kind = draw() % 10;
            struct object there = o;
            there.format = main_format;
            if (kind < 3 && level)
                continue;
            if (kind == 3)
                there.width += 3 << level;
            if (kind == 4)
                there.format = &formats[draw() % FIRST_ODD_FORMAT];
            upload(&there, level, true);
            SAY(" %d%s", level, kind == 3 ? "w" : kind == 4 ? "f" : "");
        }
        int base = chance(25) ? (int)(draw() % 4) : 0, last = chance(40) ? (int)(draw() % 8) : -1;
        if (base) {
            glTexParameteri(target, GL_TEXTURE_BASE_LEVEL, base);
            SAY(" base%d", base);
        }
        if (last >= 0) {
            glTexParameteri(target, GL_TEXTURE_MAX_LEVEL, last);
            SAY(" last%d", last);
        }
        if (chance(30))
            glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        CUgraphicsResource r = NULL;
        CUresult e = cuGraphicsGLRegisterImage(&r, name, target, 0);
        SAY(" gl%x %s", glGetError(), record_brief(e));
        if (!e) {
            SAY(" map %s", record_brief(cuGraphicsMapResources(1, &r, 0)));
            for (unsigned level = 0; level < 8; level++) {
                CUarray a = NULL;
                e = cuGraphicsSubResourceGetMappedArray(&a, r, 0, level);
                SAY(" L%u", level);
                if (e)
                    SAY("=%s", record_brief(e));
                else
                    say_desc(a);
            }
            CUmipmappedArray m = NULL;
            e = cuGraphicsResourceGetMappedMipmappedArray(&m, r);
            SAY(" mip %s", record_brief(e));
            for (unsigned level = 0; !e && !base && level < 8; level++) {
                CUarray a = NULL;
                CUresult f = cuMipmappedArrayGetLevel(&a, m, level);
                if (f)
                    SAY(" M%u=%s", level, record_brief(f));
                else
                    say_desc(a);
            }
            SAY(" unmap %s", record_brief(cuGraphicsUnmapResources(1, &r, 0)));
            cuGraphicsUnregisterResource(r);
        }
        glDeleteTextures(1, &name);
    }
}

int main(int argc, char **argv)
{
    RUN(formats);
    RUN(walks);
    RUN(contexts);
    RUN(flags);
    RUN(shapes);
    return 0;
}
