// SPDX-License-Identifier: MIT
// Fuzzes descriptors of the runtime: channel formats, extents and flags of arrays, parameters of
// copies, and those of external memory. The model knows which formats and extents are valid, what a
// copy may reach, and every byte of the array.
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

enum { MOST = 24, STEPS = 24, TEXEL_MOST_B = 16, FILE_B = 1 << 20 };

struct model {
    cudaArray_t array;                      // or NULL
    unsigned texel_B, width, height, depth; // height and depth at least 1
    uint8_t bytes[MOST * MOST * MOST * TEXEL_MOST_B];
};

// ---- arrays ----

static int bits(struct fuzz_input *in)
{
    static const int list[] = {8, 16, 32, 8, 16, 32, 0, 64, 7, -8, 24};
    return list[fuzz_below(in, fuzz_chance(in, 6) ? FUZZ_COUNT(list) : 6)];
}

static struct cudaChannelFormatDesc any_format(struct fuzz_input *in)
{
    int b = bits(in);
    struct cudaChannelFormatDesc d = {b, 0, 0, 0, cudaChannelFormatKindUnsigned};
    switch (fuzz_below(in, 4)) {
    case 0:
        break;
    case 1:
        d.y = b;
        break;
    case 2:
        d.y = d.z = d.w = b;
        break;
    default: // any, which most often is not valid
        d.y = fuzz_chance(in, 2) ? b : bits(in);
        d.z = fuzz_chance(in, 2) ? 0 : bits(in);
        d.w = fuzz_chance(in, 2) ? 0 : b;
    }
    unsigned kind = fuzz_below(in, 4);
    if (kind == 1)
        d.f = cudaChannelFormatKindSigned;
    else if (kind == 2)
        d.f = cudaChannelFormatKindFloat;
    return d;
}

// "where x, y, z, w are the number of bits": one, two or four channels of 8, 16 or 32 bits each; a
// floating-point channel has 16 or 32. Returns the bytes of a texel, or 0.
static unsigned texel_of(const struct cudaChannelFormatDesc *d)
{
    bool one = !d->y && !d->z && !d->w, two = d->y == d->x && !d->z && !d->w,
         four = d->y == d->x && d->z == d->x && d->w == d->x;
    bool size = d->x == 8 || d->x == 16 || d->x == 32;
    if (!size || (!one && !two && !four) || (d->f == cudaChannelFormatKindFloat && d->x == 8))
        return 0;
    unsigned channels = 1;
    if (two)
        channels = 2;
    else if (four)
        channels = 4;
    return channels * (unsigned)d->x / 8;
}

static void make_array(struct fuzz_input *in, struct model *m)
{
    static uint8_t zeros[sizeof m->bytes];
    struct cudaChannelFormatDesc format = any_format(in), got;
    struct cudaExtent extent = {1 + fuzz_below(in, MOST), fuzz_below(in, MOST + 1),
                                fuzz_below(in, MOST + 1)};
    cudaArray_t array = NULL;
    if (extent.depth && !extent.height)
        extent.depth = 0;
    unsigned texel_B = texel_of(&format);
    cudaError_t r = cudaMalloc3DArray(&array, &format, extent, 0);
    FUZZ_CHECK(!r == (texel_B != 0), "{%d, %d, %d, %d, kind %d}: %d", format.x, format.y, format.z,
               format.w, (int)format.f, (int)r);
    if (r)
        return;
    struct cudaExtent have;
    unsigned flags;
    FUZZ_CHECK(!cudaArrayGetInfo(&got, &have, &flags, array), "cudaArrayGetInfo");
    FUZZ_CHECK(got.x == format.x && got.y == format.y && got.z == format.z && got.w == format.w &&
                   got.f == format.f,
               "another format: {%d, %d, %d, %d, kind %d}", got.x, got.y, got.z, got.w, (int)got.f);
    FUZZ_CHECK(have.width == extent.width && have.height == extent.height &&
                   have.depth == extent.depth && !flags,
               "another extent: %zu x %zu x %zu", have.width, have.height, have.depth);
    if (m->array)
        FUZZ_CHECK(!cudaFreeArray(m->array), "cudaFreeArray");
    m->array = array;
    m->texel_B = texel_B;
    m->width = (unsigned)extent.width;
    m->height = extent.height ? (unsigned)extent.height : 1;
    m->depth = extent.depth ? (unsigned)extent.depth : 1;
    struct cudaMemcpy3DParms p = {
        .srcPtr = {zeros, m->width * texel_B, m->width * texel_B, m->height},
        .dstArray = array,
        .extent = {m->width, m->height, m->depth},
        .kind = cudaMemcpyHostToDevice,
    };
    FUZZ_CHECK(!cudaMemcpy3D(&p), "clearing an array");
    memset(m->bytes, 0, sizeof m->bytes);
}

// ---- copies ----

static uint8_t *texel(struct model *m, size_t x, size_t y, size_t z)
{
    return &m->bytes[((z * m->height + y) * m->width + x) * m->texel_B];
}

// Writes a box of the array, or reads it and compares. Extents are in texels, as of every copy with
// an array.
static void copy(struct fuzz_input *in, struct model *m, bool write)
{
    static uint8_t host[sizeof m->bytes];
    if (!m->array)
        return;
    struct cudaPos at = {fuzz_below(in, MOST), fuzz_below(in, MOST), fuzz_below(in, MOST)};
    struct cudaExtent box = {1 + fuzz_below(in, MOST), 1 + fuzz_below(in, MOST),
                             1 + fuzz_below(in, MOST)};
    if (!fuzz_chance(in, 3)) { // inside
        at.x %= m->width, at.y %= m->height, at.z %= m->depth;
        box.width = 1 + (box.width - 1) % (m->width - at.x);
        box.height = 1 + (box.height - 1) % (m->height - at.y);
        box.depth = 1 + (box.depth - 1) % (m->depth - at.z);
    }
    size_t row_B = box.width * m->texel_B;
    if (box.depth * box.height * row_B > sizeof host)
        return;
    bool fits = at.x + box.width <= m->width && at.y + box.height <= m->height &&
                at.z + box.depth <= m->depth;
    struct cudaPitchedPtr ptr = {host, row_B, row_B, box.height};
    struct cudaMemcpy3DParms p = {.extent = box};
    for (size_t i = 0; i < box.depth * box.height * row_B; i++)
        host[i] = (uint8_t)(write ? i * 7 + at.x : 0);
    if (write) {
        p.srcPtr = ptr;
        p.dstArray = m->array;
        p.dstPos = at;
        p.kind = cudaMemcpyHostToDevice;
    } else {
        p.srcArray = m->array;
        p.srcPos = at;
        p.dstPtr = ptr;
        p.kind = cudaMemcpyDeviceToHost;
    }
    cudaError_t r = cudaMemcpy3D(&p);
    FUZZ_CHECK(!r == fits, "%zux%zux%zu at %zu, %zu, %zu of %ux%ux%u: %d", box.width, box.height,
               box.depth, at.x, at.y, at.z, m->width, m->height, m->depth, (int)r);
    for (size_t z = 0; !r && z < box.depth; z++) {
        for (size_t y = 0; y < box.height; y++) {
            uint8_t *row = &host[(z * box.height + y) * row_B],
                    *model = texel(m, at.x, at.y + y, at.z + z);
            if (write)
                memcpy(model, row, row_B);
            else
                FUZZ_CHECK(!memcmp(model, row, row_B), "row %zu of slice %zu differs", at.y + y,
                           at.z + z);
        }
    }
}

// ---- external memory ----

static void import(struct fuzz_input *in)
{
    struct cudaExternalMemoryHandleDesc d;
    struct cudaExternalMemoryBufferDesc b;
    cudaExternalMemory_t memory = NULL;
    void *address = NULL;
    memset(&d, 0, sizeof d);
    memset(&b, 0, sizeof b);
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && !ftruncate(fd, FILE_B), "no memfd");
    d.type = cudaExternalMemoryHandleTypeOpaqueFd;
    if (fuzz_chance(in, 6))
        d.type = (enum cudaExternalMemoryHandleType)fuzz_take(in, 1);
    d.handle.fd = fd;
    d.size = fuzz_chance(in, 4) ? fuzz_size(in, FILE_B) : FILE_B;
    d.flags = fuzz_chance(in, 8) ? (unsigned)fuzz_take(in, 1) : 0;
    // Driver 580 refuses and closes files that are no memory of a card (recorded: x_extmem
    // import_fd).
    bool valid = d.type == cudaExternalMemoryHandleTypeOpaqueFd && d.size && d.flags <= 1 &&
                 !fuzz_is_driver_580();
    cudaError_t r = cudaImportExternalMemory(&memory, &d);
    FUZZ_CHECK(!r == valid, "type %d, size %llu, flags %#x: %d", (int)d.type, d.size, d.flags,
               (int)r);
    if (r) {
        if (r != cudaErrorUnknown)
            close(fd);
        return;
    }
    b.offset = fuzz_size(in, FILE_B);
    b.size = fuzz_size(in, FILE_B);
    b.flags = fuzz_chance(in, 8) ? (unsigned)fuzz_take(in, 1) : 0;
    uint64_t most = d.size < FILE_B ? d.size : FILE_B;
    valid = b.size && !b.flags && b.offset <= most && b.size <= most - b.offset &&
            !(d.flags && b.offset); // a dedicated allocation holds one resource, at its start
    r = cudaExternalMemoryGetMappedBuffer(&address, memory, &b);
    FUZZ_CHECK(!r == valid, "offset %llu, size %llu, flags %#x of %llu bytes: %d", b.offset, b.size,
               b.flags, (unsigned long long)most, (int)r);
    if (!r) {
        FUZZ_CHECK(!cudaMemset(address, 1, b.size < 64 ? b.size : 64), "cudaMemset");
        FUZZ_CHECK(!cudaFree(address), "cudaFree");
    }
    FUZZ_CHECK(!cudaDestroyExternalMemory(memory), "cudaDestroyExternalMemory");
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model m;
    struct fuzz_input in = {data, data + size};
    m.array = NULL;
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++) {
        switch (fuzz_below(&in, 6)) {
        case 0:
            make_array(&in, &m);
            break;
        case 1:
            import(&in);
            break;
        case 2:
        case 3:
            copy(&in, &m, true);
            break;
        default:
            copy(&in, &m, false);
        }
    }
    if (m.array)
        FUZZ_CHECK(!cudaFreeArray(m.array), "cudaFreeArray");
    cudaGetLastError();
    return 0;
}
