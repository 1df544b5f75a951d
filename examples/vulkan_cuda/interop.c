// SPDX-License-Identifier: MIT
// The CUDA part of the examples.
#include "interop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void interop_check(CUresult result, const char *what, const char *file, int line)
{
    if (result != CUDA_SUCCESS) {
        const char *name = NULL;
        cuGetErrorName(result, &name);
        fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, name ? name : "an unknown error");
        exit(1);
    }
}

CUdevice interop_open(uint8_t *uuid)
{
    CUdevice device;
    CUcontext context;
    CUuuid id;
    CU(cuInit(0));
    CU(cuDeviceGet(&device, 0));
    CU(cuDeviceGetUuid(&id, device));
    memcpy(uuid, id.bytes, 16);
    CU(cuDevicePrimaryCtxRetain(&context, device));
    CU(cuCtxSetCurrent(context));
    return device;
}

void interop_close(CUdevice device)
{
    CU(cuCtxSetCurrent(NULL));
    CU(cuDevicePrimaryCtxRelease(device));
}

static CUexternalMemory import(int fd, uint64_t size_B, unsigned flags)
{
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc;
    CUexternalMemory memory;
    memset(&desc, 0, sizeof desc);
    desc.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    desc.handle.fd = fd;
    desc.size = size_B;
    desc.flags = flags;
    CU(cuImportExternalMemory(&memory, &desc));
    return memory;
}

void interop_import_image(struct interop *in, int fd, uint64_t size_B)
{
    in->image_memory = import(fd, size_B, CUDA_EXTERNAL_MEMORY_DEDICATED);
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC image;
    memset(&image, 0, sizeof image);
    image.arrayDesc.Width = in->width;
    image.arrayDesc.Height = in->height;
    image.arrayDesc.Depth = in->layers;
    image.arrayDesc.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    image.arrayDesc.NumChannels = 4;
    image.arrayDesc.Flags = CUDA_ARRAY3D_SURFACE_LDST | (in->layers ? CUDA_ARRAY3D_LAYERED : 0u);
    image.numLevels = in->levels;
    CU(cuExternalMemoryGetMappedMipmappedArray(&in->image, in->image_memory, &image));
}

void interop_drop_image(struct interop *in)
{
    CU(cuMipmappedArrayDestroy(in->image));
    CU(cuDestroyExternalMemory(in->image_memory));
}

void interop_import(struct interop *in, const struct interop_offer *offer, int image_fd,
                    int buffer_fd)
{
    *in = (struct interop){.width = offer->width,
                           .height = offer->height,
                           .layers = offer->layers,
                           .levels = offer->levels};
    interop_import_image(in, image_fd, offer->image_size_B);
    in->buffer_memory = import(buffer_fd, offer->buffer_size_B, 0);

    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer;
    memset(&buffer, 0, sizeof buffer);
    buffer.size = offer->buffer_B;
    CU(cuExternalMemoryGetMappedBuffer(&in->buffer, in->buffer_memory, &buffer));
}

void interop_drop(struct interop *in)
{
    CU(cuMemFree(in->buffer));
    CU(cuDestroyExternalMemory(in->buffer_memory));
    interop_drop_image(in);
}

static CUarray level_array(struct interop *in, unsigned level)
{
    CUarray array;
    CU(cuMipmappedArrayGetLevel(&array, in->image, level));
    return array;
}

// The corner of a box of texels in a level.
struct corner {
    unsigned level;
    size_t x, y;
};

// Copies a box of texels from layer 0 to layer 1.
static void copy_box(struct interop *in, CUstream stream, struct corner from, struct corner to,
                     size_t width, size_t height)
{
    CUDA_MEMCPY3D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = level_array(in, from.level);
    copy.srcXInBytes = from.x * 4;
    copy.srcY = from.y;
    copy.srcZ = 0;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = level_array(in, to.level);
    copy.dstXInBytes = to.x * 4;
    copy.dstY = to.y;
    copy.dstZ = 1;
    copy.WidthInBytes = width * 4;
    copy.Height = height;
    copy.Depth = 1;
    CU(cuMemcpy3DAsync(&copy, stream));
}

void interop_work(struct interop *in)
{
    CUstream stream;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));

    // The quadrants of level 0 are swapped diagonally; the smaller levels are copied unchanged.
    size_t half_w = in->width / 2, half_h = in->height / 2;
    for (unsigned q = 0; q < 4; q++) {
        size_t x = (q & 1) * half_w, y = (q >> 1) * half_h;
        copy_box(in, stream, (struct corner){0, x, y}, (struct corner){0, half_w - x, half_h - y},
                 half_w, half_h);
    }
    for (unsigned level = 1; level < in->levels; level++) {
        size_t w = in->width >> level ? in->width >> level : 1,
               h = in->height >> level ? in->height >> level : 1;
        copy_box(in, stream, (struct corner){level, 0, 0}, (struct corner){level, 0, 0}, w, h);
    }
    // Level 2 is stamped into the middle of level 0.
    size_t stamp_w = in->width >> 2, stamp_h = in->height >> 2;
    size_t stamp_x = (in->width - stamp_w) / 2, stamp_y = (in->height - stamp_h) / 2;
    copy_box(in, stream, (struct corner){2, 0, 0}, (struct corner){0, stamp_x, stamp_y}, stamp_w,
             stamp_h);

    // Layer 1 goes to the buffer, with all levels packed.
    CUdeviceptr out = in->buffer;
    for (unsigned level = 0; level < in->levels; level++) {
        size_t w = in->width >> level ? in->width >> level : 1,
               h = in->height >> level ? in->height >> level : 1;
        CUDA_MEMCPY3D copy;
        memset(&copy, 0, sizeof copy);
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = level_array(in, level);
        copy.srcZ = 1;
        copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstDevice = out;
        copy.dstPitch = w * 4;
        copy.dstHeight = h;
        copy.WidthInBytes = w * 4;
        copy.Height = h;
        copy.Depth = 1;
        CU(cuMemcpy3DAsync(&copy, stream));
        out += w * h * 4;
    }

    // A red frame around the stamp: 2D fills draw it in the buffer, then its box is copied back to
    // the image, so that both have it.
    unsigned red = 0xff0000ff; // R = 255, A = 255, little-endian
    size_t frame_x = stamp_x - 2, frame_y = stamp_y - 2, frame_w = stamp_w + 4,
           frame_h = stamp_h + 4, pitch = in->width * 4;
    CUdeviceptr corner = in->buffer + frame_y * pitch + frame_x * 4;
    CU(cuMemsetD2D32Async(corner, pitch, red, frame_w, 2, stream));
    CU(cuMemsetD2D32Async(corner + (frame_h - 2) * pitch, pitch, red, frame_w, 2, stream));
    CU(cuMemsetD2D32Async(corner, pitch, red, 2, frame_h, stream));
    CU(cuMemsetD2D32Async(corner + (frame_w - 2) * 4, pitch, red, 2, frame_h, stream));
    CUDA_MEMCPY3D back;
    memset(&back, 0, sizeof back);
    back.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    back.srcDevice = in->buffer;
    back.srcPitch = pitch;
    back.srcHeight = in->height;
    back.srcXInBytes = frame_x * 4;
    back.srcY = frame_y;
    back.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    back.dstArray = level_array(in, 0);
    back.dstXInBytes = frame_x * 4;
    back.dstY = frame_y;
    back.dstZ = 1;
    back.WidthInBytes = frame_w * 4;
    back.Height = frame_h;
    back.Depth = 1;
    CU(cuMemcpy3DAsync(&back, stream));

    CU(cuStreamSynchronize(stream));
    CU(cuStreamDestroy(stream));
}
