// SPDX-License-Identifier: MIT
// OpenGL images registered with CUDA: every format, target, flag and size with all bytes copied in
// both directions, renderbuffers, and textures of unusual shape. The order and number of the draws
// must not change.
#include "gl_objects.h"

// ---- formats: every byte of every level, in both directions

GROUP(formats)
{
    start();
    for (int i = 0; i < 700; i++) {
        draw_seed(1000 + (uint64_t)i);
        if (!CASE("%d", i))
            continue;
        struct object o = make_texture(
            &formats[chance(90) ? draw() % FIRST_ODD_FORMAT : draw() % COUNT(formats)]);
        static const unsigned flags[] = {0, 0, 0, 0, 1, 2, 4, 8, 12};
        unsigned flag = PICK(flags);
        bool exact = o.format < formats + FIRST_ODD_FORMAT;
        CUgraphicsResource r = NULL;
        SAY("%s %s %dx%dx%d L%d fl%u gl%x", target_name(o.target), o.format->name, o.width,
            o.height, o.depth, o.levels, flag, glGetError());
        CUresult e = cuGraphicsGLRegisterImage(&r, o.name, o.target, flag);
        SAY(" %s", record_brief(e));
        if (e) {
            drop(&o);
            continue;
        }
        SAY(" map %s", record_brief(cuGraphicsMapResources(1, &r, 0)));
        for (int level = 0; level <= o.levels; level++)
            for (unsigned layer = 0; layer < (unsigned)(o.target == GL_TEXTURE_3D ? 1 : o.depth);
                 layer++) {
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

// ---- renderbuffers: a framebuffer reads back the bytes that CUDA wrote

GROUP(renderbuffers)
{
    start();
    for (int i = 0; i < 150; i++) {
        draw_seed(120000 + (uint64_t)i);
        if (!CASE("%d", i))
            continue;
        const struct format *f = &formats[draw() % FIRST_ODD_FORMAT];
        static const unsigned flags[] = {0, 0, 0, 2, 4, 1, 8};
        unsigned flag = PICK(flags);
        int w = 1 + (int)(draw() % 70), h = 1 + (int)(draw() % 50);
        GLuint name, framebuffer;
        glGenRenderbuffers(1, &name);
        glBindRenderbuffer(GL_RENDERBUFFER, name);
        glRenderbufferStorage(GL_RENDERBUFFER, f->internal, w, h);
        glGenFramebuffers(1, &framebuffer);
        glBindFramebuffer(GL_FRAMEBUFFER, framebuffer);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, name);
        bool complete = glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
        SAY("%s %dx%d fl%u gl%x", f->name, w, h, flag, glGetError());
        CUgraphicsResource r = NULL;
        CUarray a = NULL;
        CUresult e = cuGraphicsGLRegisterImage(&r, name, GL_RENDERBUFFER, flag);
        SAY(" %s", record_brief(e));
        if (!e) {
            SAY(" %s", record_brief(cuGraphicsMapResources(1, &r, 0)));
            e = cuGraphicsSubResourceGetMappedArray(&a, r, 0, 0);
            SAY(" %s", record_brief(e));
            if (!e) {
                CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                   .srcHost = noise(MOST_BYTES / 2),
                                   .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                                   .dstArray = a};
                c.WidthInBytes = (size_t)w * (size_t)f->texel_B;
                c.Height = (size_t)h;
                say_desc(a);
                SAY(" %s", record_brief(cuMemcpy2D(&c)));
                write_array(a);
                read_array(a);
            }
            SAY(" unmap %s", record_brief(cuGraphicsUnmapResources(1, &r, 0)));
            if (complete && flag != 1) {
                memset(bytes, 0, (size_t)w * (size_t)h * (size_t)f->texel_B);
                glReadPixels(0, 0, w, h, f->outer, f->type, bytes);
                SAY(" %08x", hash(bytes, (size_t)w * (size_t)h * (size_t)f->texel_B));
            }
            SAY(" %s", record_brief(cuGraphicsUnregisterResource(r)));
        }
        glDeleteFramebuffers(1, &framebuffer);
        glDeleteRenderbuffers(1, &name);
    }
}

// ---- textures of unusual shape: levels that are missing or do not fit, base and last levels

GROUP(shapes)
{
    start();
    for (int i = 0; i < 400; i++) {
        draw_seed(60000 + (uint64_t)i);
        if (!CASE("%d", i))
            continue;
        GLuint name;
        static const GLenum shape_targets[] = {GL_TEXTURE_2D, GL_TEXTURE_2D, GL_TEXTURE_3D,
                                               GL_TEXTURE_2D_ARRAY};
        GLenum target = PICK(shape_targets);
        struct object o = {.kind = TEXTURE,
                           .target = target,
                           .depth = target == GL_TEXTURE_2D ? 1 : 1 + (int)(draw() % 9)};
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
    RUN(renderbuffers);
    RUN(shapes);
    return 0;
}
