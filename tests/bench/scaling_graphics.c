// SPDX-License-Identifier: MIT
// Kinds of graphics resources for scaling.c: registering, mapping and unregistering buffers of the
// virtual graphics API, and buffers and textures of OpenGL if it is there.
#include <cardless.h>

#include "scaling.h"
#if HAVE_GL
#include "../gl/context.h"
#undef MUST
#endif
#include "calls.h"

static CUresult resource_use(int i)
{
    CUgraphicsResource r = (CUgraphicsResource)(uintptr_t)scaling_handle[i];
    CUresult result = cuGraphicsMapResources(1, &r, NULL);
    return result ? result : cuGraphicsUnmapResources(1, &r, NULL);
}

static CUresult resource_look_up(int i)
{
    return cuGraphicsResourceSetMapFlags((CUgraphicsResource)(uintptr_t)scaling_handle[i], 0);
}

static CUresult resource_destroy(int i)
{
    return cuGraphicsUnregisterResource((CUgraphicsResource)(uintptr_t)scaling_handle[i]);
}

// ---- the virtual graphics API

static cardlessBuffer virtual_buffers[SCALING_MOST + SCALING_BATCH];

static void virtual_start(int count)
{
    for (int i = 0; i < count + SCALING_BATCH; i++)
        MUST(cardlessBufferCreate(&virtual_buffers[i], 64));
}

static CUresult virtual_create(int i)
{
    return cardlessRegisterBuffer((CUgraphicsResource *)&scaling_handle[i], virtual_buffers[i], 0);
}

// Mapped resources of one context, while contexts that have none are created and destroyed.

static CUresult mapped_create(int i)
{
    CUresult r = virtual_create(i);
    return r ? r : cuGraphicsMapResources(1, (CUgraphicsResource *)&scaling_handle[i], NULL);
}

static CUresult other_context(int i)
{
    CUcontext other;
    (void)i;
    CUresult r = cuCtxCreate(&other, NULL, 0, 0);
    return r ? r : cuCtxDestroy(other);
}

static CUresult mapped_destroy(int i)
{
    CUresult r = cuGraphicsUnmapResources(1, (CUgraphicsResource *)&scaling_handle[i], NULL);
    return r ? r : resource_destroy(i);
}

// ---- OpenGL

#if HAVE_GL
static GLuint gl_names[SCALING_MOST + SCALING_BATCH];

static void gl_buffers_start(int count)
{
    gl_use(gl_new_context(GL_CORE, EGL_NO_CONTEXT));
    for (int i = 0; i < count + SCALING_BATCH; i++)
        gl_names[i] = gl_buffer(64, NULL);
}

static CUresult gl_buffer_create(int i)
{
    return cuGraphicsGLRegisterBuffer((CUgraphicsResource *)&scaling_handle[i], gl_names[i], 0);
}

static void gl_textures_start(int count)
{
    gl_use(gl_new_context(GL_CORE, EGL_NO_CONTEXT));
    for (int i = 0; i < count + SCALING_BATCH; i++)
        gl_names[i] = gl_texture_2d(GL_RGBA8, 1, 1, 1);
}

static CUresult gl_texture_create(int i)
{
    return cuGraphicsGLRegisterImage((CUgraphicsResource *)&scaling_handle[i], gl_names[i],
                                     GL_TEXTURE_2D, 0);
}
#endif

const struct scaling_kind scaling_graphics[] = {
    {"virtual graphics buffer", virtual_start, virtual_create, resource_use, resource_look_up,
     resource_destroy, 1},
    {"mapped buffer (use: other context)", virtual_start, mapped_create, other_context, NULL,
     mapped_destroy, 1},
#if HAVE_GL
    {"OpenGL buffer", gl_buffers_start, gl_buffer_create, resource_use, resource_look_up,
     resource_destroy, 1},
    {"OpenGL texture", gl_textures_start, gl_texture_create, resource_use, resource_look_up,
     resource_destroy, 1},
#endif
    {0},
};
