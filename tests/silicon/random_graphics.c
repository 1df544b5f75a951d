// SPDX-License-Identifier: MIT
// Random walks that register, map, write and read OpenGL objects: several registrations of one
// object, lists, flags, streams, and contexts on both sides. The order and number of the draws must
// not change.
#include "gl_objects.h"

static EGLContext gl_shared, gl_apart;
static CUcontext cu_second;
static const GLenum other_targets[] = {GL_TEXTURE_1D,
                                       GL_TEXTURE_1D_ARRAY,
                                       GL_TEXTURE_CUBE_MAP_ARRAY,
                                       GL_TEXTURE_BUFFER,
                                       GL_TEXTURE_2D_MULTISAMPLE,
                                       GL_RENDERBUFFER,
                                       GL_TEXTURE_2D,
                                       GL_TEXTURE_3D,
                                       GL_TEXTURE_2D_ARRAY};

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

// Draws a slot up to three times until it finds one with a resource.
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

// Draws a list of up to three slots, sometimes with a duplicate, sometimes empty. If the call
// succeeds, every entry of the list takes the new state.
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
        SAY("%s%d",
            i     ? "+"
            : map ? " map"
                  : " unmap",
            which[i] < 0 || !slots[which[i]].alive ? -1 : which[i]);
    }
    CUresult e = map ? cuGraphicsMapResources(count, list, stream)
                     : cuGraphicsUnmapResources(count, list, stream);
    SAY("=%s", record_brief(e));
    // Asks the driver which resources are mapped, because a failed call may have changed some.
    for (unsigned i = 0; i < count; i++) {
        if (which[i] < 0 || !slots[which[i]].alive)
            continue;
        struct slot *s = &slots[which[i]];
        CUdeviceptr p;
        size_t size;
        CUarray a;
        bool buffer = objects[s->object].kind == BUFFER;
        CUresult now = buffer ? cuGraphicsResourceGetMappedPointer(&p, &size, s->r)
                              : cuGraphicsSubResourceGetMappedArray(&a, s->r, 0, 0);
        s->mapped = !now;
        if (!now && buffer) {
            s->p = p;
            s->size = size;
        } else if (!now) {
            s->a = a;
        }
        SAY(",%s", record_brief(now));
    }
    cuCtxSynchronize();
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
    CUresult e = o->kind == BUFFER ? cuGraphicsGLRegisterBuffer(&r, o->name, flags)
                                   : cuGraphicsGLRegisterImage(&r, o->name, target, flags);
    SAY(" reg%d(%d,%x,%u)=%s", number, object, o->kind == BUFFER ? 0 : target, flags,
        record_brief(e));
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

// Uses the last pointer or array that the driver returned. If the resource is no longer mapped, it
// is only read.
static void touch(struct slot *s, int number)
{
    bool write = chance(50), stale = chance(15);
    uint64_t from = draw(), length = draw(), value = draw();
    if (!s->alive || (!s->mapped && (write || !stale)))
        return;
    if (objects[s->object].kind == BUFFER && s->p) {
        from %= s->size;
        length = 1 + length % (s->size - from);
        CUresult e = write ? cuMemsetD8(s->p + from, (unsigned char)value, length)
                           : cuMemcpyDtoH(bytes, s->p + from, length);
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

// Empties the context stack first, so that setting NULL makes no other context current.
static void make_current(CUcontext context)
{
    CUcontext popped;
    while (!cuCtxPopCurrent(&popped))
        ;
    if (context)
        cuCtxSetCurrent(context);
}

static void walk(bool contexts)
{
    NEED(cuStreamCreate(&own_stream, chance(50)));
    for (int i = 0; i < OBJECTS; i++)
        objects[i] =
            i < BUFFERS ? make_buffer() : make_texture(&formats[draw() % FIRST_ODD_FORMAT]);
    memset(slots, 0, sizeof slots);
    for (int i = 0; i < SLOTS - 1; i++)
        register_one(&slots[i], i);
    for (int step = 0; step < STEPS; step++) {
        int number = some_slot(), object = (int)(draw() % OBJECTS);
        uint64_t op = draw() % (contexts ? 24 : 20);
        struct slot *s = &slots[number];
        if (op < 1)
            register_one(s, number);
        else if (op < 2 && s->alive &&
                 !s->mapped) { // the driver half-releases a mapped resource and crashes later
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
            SAY(" flags%d(%u)=%s", number, flags,
                record_brief(cuGraphicsResourceSetMapFlags(s->r, flags)));
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
            make_current(which);
        } else if (op >= 22) {
            EGLContext list[] = {gl_first, gl_first, gl_shared, gl_apart, EGL_NO_CONTEXT};
            unsigned which = (unsigned)(draw() % 5);
            SAY(" gl-context%u", which);
            gl_use(list[which]);
        }
    }
    make_current(cu_first);
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
    make_current(cu_first);
    gl_shared = gl_context(gl_first);
    gl_apart = gl_context(EGL_NO_CONTEXT);
    for (int i = 0; i < 250; i++) {
        draw_seed(40000 + (uint64_t)i);
        if (!CASE("%d", i))
            continue;
        alarm(6); // some cases never end on a card
        walk(true);
    }
}

// ---- one resource of one object, with different flags

// Maps or unmaps the resource.
static void turn(struct slot *s)
{
    CUresult e = s->mapped ? cuGraphicsUnmapResources(1, &s->r, NULL)
                           : cuGraphicsMapResources(1, &s->r, NULL);
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
            objects[0].levels = 1; // only level 0 is accessed
        struct slot *s = &slots[0];
        unsigned flags = (unsigned)(draw() % 3);
        CUresult e =
            objects[0].kind == BUFFER
                ? cuGraphicsGLRegisterBuffer(&s->r, objects[0].name, flags)
                : cuGraphicsGLRegisterImage(&s->r, objects[0].name, objects[0].target, flags);
        SAY("%s flags%u=%s", objects[0].kind == BUFFER ? "BUFFER" : target_name(objects[0].target),
            flags, record_brief(e));
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

int main(int argc, char **argv)
{
    RUN(walks);
    RUN(contexts);
    RUN(flags);
    return 0;
}
