// SPDX-License-Identifier: MIT
// Notes about calls of the runtime. The driver's calls that they make are left out of the program.
#include <cuda_runtime_api.h>

#include "note.h"

#define RESULT "%s"
#define NAME(r) cudaGetErrorName(r)

// ---- arrays ----

static const char *created_text(const char *type, const void *handle, cudaError_t r)
{
    static char text[64];
    if (r)
        snprintf(text, sizeof text, "&(%s){0}", type);
    else
        snprintf(text, sizeof text, "&$%s:%p", type, handle);
    return text;
}

static const char *kind_text(const struct cudaChannelFormatDesc *d)
{
    static const char *const kinds[] = {
        [cudaChannelFormatKindSigned] = "cudaChannelFormatKindSigned",
        [cudaChannelFormatKindUnsigned] = "cudaChannelFormatKindUnsigned",
        [cudaChannelFormatKindFloat] = "cudaChannelFormatKindFloat",
    };
    return kinds[d->f];
}

static void note_array(cudaArray_t array, const struct cudaChannelFormatDesc *d,
                       struct cudaExtent e, unsigned flags, cudaError_t r)
{
    note("CALL(cudaMalloc3DArray(%s, &(struct cudaChannelFormatDesc){.x = %d, .y = %d, .z = %d, "
         ".w = %d, .f = %s}, (struct cudaExtent){.width = %zu, .height = %zu, .depth = %zu}, %u), "
         "" RESULT ");",
         created_text("cudaArray_t", array, r), d->x, d->y, d->z, d->w, kind_text(d), e.width,
         e.height, e.depth, flags, NAME(r));
}

static void note_info(const struct cudaChannelFormatDesc *d, const struct cudaExtent *e,
                      unsigned flags, cudaArray_t array, cudaError_t r)
{
    note("{ struct cudaChannelFormatDesc d; struct cudaExtent e; unsigned flags;");
    note("CALL(cudaArrayGetInfo(&d, &e, &flags, $cudaArray_t:%p), " RESULT ");", (void *)array,
         NAME(r));
    note("EXPECT(d.x, %d); EXPECT(d.y, %d); EXPECT(d.z, %d); EXPECT(d.w, %d); EXPECT(d.f, %s);",
         d->x, d->y, d->z, d->w, kind_text(d));
    note("EXPECT(e.width, %zu); EXPECT(e.height, %zu); EXPECT(e.depth, %zu); EXPECT(flags, %u); }",
         e->width, e->height, e->depth, flags);
}

NOTE_WRAP(cudaError_t, cudaMalloc3DArray,
          (cudaArray_t * array, const struct cudaChannelFormatDesc *d, struct cudaExtent e,
           unsigned flags),
          (array, d, e, flags), note_array(*array, d, e, flags, r))
NOTE_WRAP(cudaError_t, cudaArrayGetInfo,
          (struct cudaChannelFormatDesc * d, struct cudaExtent *e, unsigned *flags,
           cudaArray_t array),
          (d, e, flags, array), note_info(d, e, *flags, array, r))
NOTE_WRAP(cudaError_t, cudaFreeArray, (cudaArray_t array), (array),
          note("CALL(cudaFreeArray($cudaArray_t:%p), " RESULT ");", (void *)array, NAME(r)))

// ---- copies: one end is an array, the other one memory of the host without an offset ----

cudaError_t __real_cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
cudaError_t __wrap_cudaMemcpy3D(const struct cudaMemcpy3DParms *p);
cudaError_t __wrap_cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    const bool write = p->dstArray != NULL;
    const struct cudaPitchedPtr *host = write ? &p->srcPtr : &p->dstPtr;
    const struct cudaPos *at = write ? &p->dstPos : &p->srcPos;
    const size_t size_B = host->pitch * host->ysize * p->extent.depth;
    note_bytes("bytes", host->ptr, size_B);
    const cudaError_t r = __real_cudaMemcpy3D(p);
    note("CALL(cudaMemcpy3D(&(struct cudaMemcpy3DParms){.%sPtr = {.ptr = @%p, .pitch = %zu, .xsize "
         "= %zu, .ysize = %zu}, .%sArray = $cudaArray_t:%p, .%sPos = {.x = %zu, .y = %zu, .z = "
         "%zu}, .extent = {.width = %zu, .height = %zu, .depth = %zu}, .kind = %s}), " RESULT ");",
         write ? "src" : "dst", host->ptr, host->pitch, host->xsize, host->ysize,
         write ? "dst" : "src", (void *)(write ? p->dstArray : p->srcArray), write ? "dst" : "src",
         at->x, at->y, at->z, p->extent.width, p->extent.height, p->extent.depth,
         write ? "cudaMemcpyHostToDevice" : "cudaMemcpyDeviceToHost", NAME(r));
    if (!write)
        note_bytes("got", host->ptr, size_B);
    return r;
}

// ---- external memory ----

NOTE_WRAP(cudaError_t, cudaImportExternalMemory,
          (cudaExternalMemory_t * memory, const struct cudaExternalMemoryHandleDesc *d),
          (memory, d),
          note("CALL(cudaImportExternalMemory(%s, &(struct cudaExternalMemoryHandleDesc){.type = "
               "%d, .handle = {.fd = fd[%d]}, .size = %lluu, .flags = %#x}), " RESULT ");",
               created_text("cudaExternalMemory_t", *memory, r), (int)d->type, d->handle.fd,
               d->size, d->flags, NAME(r)))
NOTE_WRAP(cudaError_t, cudaExternalMemoryGetMappedBuffer,
          (void **address, cudaExternalMemory_t memory,
           const struct cudaExternalMemoryBufferDesc *d),
          (address, memory, d),
          note("CALL(cudaExternalMemoryGetMappedBuffer(%s, $cudaExternalMemory_t:%p, &(struct "
               "cudaExternalMemoryBufferDesc){.offset = %lluu, .size = %lluu, .flags = %#x}), "
               "" RESULT ");",
               r ? "(void *[1]){0}" : created_text("memory", *address, r), (void *)memory,
               d->offset, d->size, d->flags, NAME(r)))
NOTE_WRAP(cudaError_t, cudaDestroyExternalMemory, (cudaExternalMemory_t memory), (memory),
          note("CALL(cudaDestroyExternalMemory($cudaExternalMemory_t:%p), " RESULT ");",
               (void *)memory, NAME(r)))
NOTE_WRAP(cudaError_t, cudaMemset, (void *address, int value, size_t size), (address, value, size),
          note("CALL(cudaMemset($memory:%p, %d, %zu), " RESULT ");", address, value, size, NAME(r)))
NOTE_WRAP(cudaError_t, cudaFree, (void *address), (address),
          note("CALL(cudaFree($memory:%p), " RESULT ");", address, NAME(r)))
NOTE_WRAP(cudaError_t, cudaGetLastError, (void), (),
          note("CALL(cudaGetLastError(), " RESULT ");", NAME(r)))
