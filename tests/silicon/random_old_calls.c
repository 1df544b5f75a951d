// SPDX-License-Identifier: MIT
// Random walks over the OpenGL buffer calls of CUDA 2, mixed with the newer calls. The order and
// number of the draws must not change.
#include "gl_objects.h"

enum { NO_NAME = 0x7ffffff0, BUFFERS = 3 };

// Registers a buffer with the newer calls.
struct newer {
    CUgraphicsResource r;
    bool alive, mapped;
    CUdeviceptr p;
    size_t size;
};

static struct object objects[BUFFERS];
static struct newer newer[BUFFERS];
static CUstream own_stream;

struct old {
    bool registered, mapped;
    CUdeviceptr p;
    size_t size;
};

// Asks the driver whether a buffer is mapped, and at which address.
static void turn_old(struct old *o, GLuint name, int number, bool map, bool asynchronous)
{
    CUdeviceptr p = 0;
    size_t size = 0;
    CUresult e;
    if (map) {
        e = asynchronous ? cuGLMapBufferObjectAsync(&p, &size, name, own_stream)
                         : cuGLMapBufferObject(&p, &size, name);
        SAY(" map%d%s=%s", number, asynchronous ? "a" : "", record_brief(e));
        if (!e) {
            SAY(",%zu,%d", size, o->p == p);
            *o = (struct old){true, true, p, size};
        }
    } else {
        e = asynchronous ? cuGLUnmapBufferObjectAsync(name, own_stream)
                         : cuGLUnmapBufferObject(name);
        SAY(" unmap%d%s=%s", number, asynchronous ? "a" : "", record_brief(e));
        if (!e)
            o->mapped = false;
    }
    cuCtxSynchronize();
}

GROUP(old)
{
    start();
    NEED(cuStreamCreate(&own_stream, 0));
    for (int i = 0; i < 300; i++) {
        draw_seed(100000 + (uint64_t)i);
        if (!CASE("%d", i))
            continue;
        struct old old[3] = {{0}};
        for (int k = 0; k < 3; k++)
            objects[k] = make_buffer();
        memset(newer, 0, sizeof newer);
        for (int step = 0; step < 24; step++) {
            int number = (int)(draw() % 3);
            uint64_t op = draw() % 16, from = draw(), length = draw();
            bool asynchronous = chance(30);
            struct object *b = &objects[number];
            struct old *o = &old[number];
            GLuint name = chance(4) ? NO_NAME : b->name;
            if (op < 3) {
                CUresult e = cuGLRegisterBufferObject(name);
                SAY(" reg%d%s=%s", number, name == NO_NAME ? "?" : "", record_brief(e));
                o->registered |= !e && name != NO_NAME;
            } else if (op < 4 && !o->mapped) {
                CUresult e = cuGLUnregisterBufferObject(name);
                SAY(" unreg%d%s=%s", number, name == NO_NAME ? "?" : "", record_brief(e));
                if (!e)
                    *o = (struct old){0};
            } else if (op < 8 && name == b->name) {
                turn_old(o, name, number, true, asynchronous);
            } else if (op < 10 && name == b->name) {
                turn_old(o, name, number, false, asynchronous);
            } else if (op < 11) {
                unsigned flags = (unsigned)(from % 3) * 2; // the group `flags` covers READ_ONLY
                SAY(" flags%d,%u=%s", number, flags,
                    record_brief(cuGLSetBufferObjectMapFlags(name, flags)));
            } else if (op < 14 && o->mapped) {
                from %= o->size;
                length = 1 + length % (o->size - from);
                CUresult e = op == 11 ? cuMemcpyDtoH(bytes, o->p + from, length)
                                      : cuMemsetD8(o->p + from, (unsigned char)length, length);
                SAY(op == 11 ? " get%d=%s,%08x" : " set%d=%s", number, record_brief(e),
                    op == 11 ? hash(bytes, length) : 0);
                cuCtxSynchronize();
            } else if (op == 14 && !newer[number].alive) {
                newer[number].alive = !cuGraphicsGLRegisterBuffer(&newer[number].r, b->name, 0);
                SAY(" new%d=%d", number, newer[number].alive);
            } else if (op == 15 && newer[number].alive) {
                struct newer *s = &newer[number];
                CUresult e = s->mapped ? cuGraphicsUnmapResources(1, &s->r, NULL)
                                       : cuGraphicsMapResources(1, &s->r, NULL);
                SAY(" turn%d=%s", number, record_brief(e));
                s->mapped ^= !e;
                if (s->mapped && !cuGraphicsResourceGetMappedPointer(&s->p, &s->size, s->r) &&
                    !cuMemcpyDtoH(bytes, s->p, s->size))
                    SAY(",%08x", hash(bytes, s->size));
            }
        }
        SAY(" end");
        for (int k = 0; k < 3; k++) {
            if (old[k].mapped)
                SAY(" %s", record_brief(cuGLUnmapBufferObject(objects[k].name)));
            if (newer[k].alive && newer[k].mapped)
                SAY(" %s", record_brief(cuGraphicsUnmapResources(1, &newer[k].r, NULL)));
            if (newer[k].alive)
                SAY(" %s", record_brief(cuGraphicsUnregisterResource(newer[k].r)));
            newer[k].alive = false;
            glBindBuffer(GL_ARRAY_BUFFER, objects[k].name);
            glGetBufferSubData(GL_ARRAY_BUFFER, 0, (GLsizeiptr)objects[k].size, bytes);
            SAY(" %08x", hash(bytes, objects[k].size));
            if (old[k].registered)
                SAY(" %s", record_brief(cuGLUnregisterBufferObject(objects[k].name)));
            drop(&objects[k]);
        }
    }
}

int main(int argc, char **argv)
{
    RUN(old);
    return 0;
}
