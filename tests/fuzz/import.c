// SPDX-License-Identifier: MIT
// Fuzzes cuImportExternalMemory and the mappings of the imported memory: descriptors of every kind
// of file, ranges and images with hostile extents, files that shrink. Images, and memfds that look
// like llvmpipe's memory, may be refused with any code.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

enum { MOST_B = 8 << 20, MAPPINGS = 6 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

// ---- descriptors ----

struct file {
    int fd;
    uint64_t size; // size that can be imported, or 0 if an import may fail
    bool own;      // exported by the library itself
    enum { UNKNOWN_FILE, PLAIN_MEMFD, NO_MEMORY } kind;
    uint64_t plain_B; // of a plain memfd
};

static struct file exported(uint64_t size)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    struct file f = {
        .fd = -1, .size = (size + (2 << 20) - 1) & ~(uint64_t)((2 << 20) - 1), .own = true};
    FUZZ_OK(cuMemCreate(&memory, f.size, &prop, 0));
    FUZZ_OK(
        cuMemExportToShareableHandle(&f.fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    FUZZ_OK(cuMemRelease(memory));
    return f;
}

// Creates a memfd. If the input asks for it, the memfd has a header with llvmpipe's layout: {size,
// offset, uuid}.
static struct file memfd(struct fuzz_input *in, uint64_t size, bool header)
{
    struct file f = {.fd = memfd_create("fuzz", MFD_ALLOW_SEALING)};
    FUZZ_CHECK(f.fd >= 0 && !ftruncate(f.fd, (off_t)size), "no memfd of %llu bytes",
               (unsigned long long)size);
    if (header && size >= 32) {
        uint64_t words[4] = {fuzz_chance(in, 3) ? fuzz_size(in, size) : size,
                             fuzz_chance(in, 3) ? fuzz_size(in, size) : 4096,
                             UINT64_C(0x7bcd0b4a07eeb96c), UINT64_C(0x7f530e696e7962)};
        if (fuzz_chance(in, 4))
            words[2] = fuzz_take(in, 8);
        FUZZ_CHECK(pwrite(f.fd, words, sizeof words, 0) == sizeof words, "pwrite");
    }
    if (fuzz_chance(in, 4))
        fcntl(f.fd, F_ADD_SEALS, (int)fuzz_below(in, 32) & ~F_SEAL_SEAL);
    else if (!header)
        f.kind = PLAIN_MEMFD, f.plain_B = size;
    return f;
}

static struct file any_file(struct fuzz_input *in)
{
    static const uint64_t sizes[] = {0, 1, 31, 32, 4096, 65536, 1 << 20, 3 << 20, MOST_B};
    uint64_t size = sizes[fuzz_below(in, FUZZ_COUNT(sizes))];
    int ends[2];
    switch (fuzz_below(in, 8)) {
    case 0:
        return memfd(in, size, false);
    case 1:
        return memfd(in, size, true);
    case 2:
        return (struct file){.fd = open("/dev/null", O_RDWR), .kind = NO_MEMORY};
    case 3:
        FUZZ_CHECK(!pipe(ends), "pipe");
        close(ends[1]);
        return (struct file){.fd = ends[0], .kind = NO_MEMORY};
    case 4:
        return (struct file){.fd = (int)fuzz_take(in, 4) | INT32_MIN, .kind = NO_MEMORY};
    case 5:
        return (struct file){.fd = open("/", O_RDONLY | O_DIRECTORY), .kind = NO_MEMORY};
    default:
        return exported(size ? size : 1);
    }
}

// ---- mappings ----

struct imported {
    CUexternalMemory memory;
    uint64_t size; // as claimed
    bool own, dedicated;
};

struct mapping {
    CUdeviceptr address;
    uint64_t size;
    CUmipmappedArray mip;
};

// The manual: "Mapping an offset that is not suitably aligned …", flags "must be zero", and the
// range must lie inside the imported object.
static void map_buffer(struct fuzz_input *in, const struct imported *i, struct mapping *m)
{
    uint64_t imported = i->size;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {.offset = fuzz_size(in, imported),
                                          .size = fuzz_size(in, imported),
                                          .flags =
                                              fuzz_chance(in, 8) ? (unsigned)fuzz_take(in, 4) : 0};
    CUdeviceptr address = 0;
    bool fits = d.size && !d.flags && d.offset <= imported && d.size <= imported - d.offset;
    if (i->dedicated && d.offset) // a dedicated allocation holds one resource, at its start
        fits = false;
    CUresult r = cuExternalMemoryGetMappedBuffer(&address, i->memory, &d);
    bool predicted = !r == fits || (r && !i->own); // a foreign file may be smaller than claimed
    FUZZ_CHECK(predicted || r == CUDA_ERROR_OUT_OF_MEMORY,
               "offset %#llx size %#llx flags %#x of %#llx: %d", d.offset, d.size, d.flags,
               (unsigned long long)imported, (int)r);
    if (!r)
        *m = (struct mapping){.address = address, .size = d.size};
}

static unsigned extent(struct fuzz_input *in)
{
    static const unsigned extents[] = {0,  0,   1,   2,    7,     8,      16, 33,
                                       64, 100, 255, 1024, 16384, 131072, ~0u};
    return extents[fuzz_below(in, FUZZ_COUNT(extents))];
}

static void map_image(struct fuzz_input *in, const struct imported *i, struct mapping *m)
{
    uint64_t imported = i->size;
    static const unsigned flags[] = {0,
                                     0,
                                     CUDA_ARRAY3D_LAYERED,
                                     CUDA_ARRAY3D_CUBEMAP,
                                     CUDA_ARRAY3D_SURFACE_LDST,
                                     CUDA_ARRAY3D_COLOR_ATTACHMENT,
                                     CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED,
                                     ~0u};
    static const unsigned formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,
                                       CU_AD_FORMAT_FLOAT,
                                       CU_AD_FORMAT_HALF,
                                       CU_AD_FORMAT_UNSIGNED_INT32,
                                       CU_AD_FORMAT_NV12,
                                       CU_AD_FORMAT_BC1_UNORM,
                                       0,
                                       0xff};
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d;
    memset(&d, 0, sizeof d);
    d.offset = fuzz_chance(in, 2) ? 0 : fuzz_size(in, imported) & ~UINT64_C(511);
    d.arrayDesc.Width = extent(in);
    d.arrayDesc.Height = extent(in);
    d.arrayDesc.Depth = fuzz_chance(in, 2) ? extent(in) : 0;
    d.arrayDesc.Format = (CUarray_format)formats[fuzz_below(in, FUZZ_COUNT(formats))];
    d.arrayDesc.NumChannels = fuzz_chance(in, 6) ? extent(in) : 1u << fuzz_below(in, 3);
    d.arrayDesc.Flags = flags[fuzz_below(in, FUZZ_COUNT(flags))];
    d.numLevels = fuzz_chance(in, 4) ? extent(in) : 1 + fuzz_below(in, 8);
    CUmipmappedArray mip = NULL;
    CUresult r = cuExternalMemoryGetMappedMipmappedArray(&mip, i->memory, &d);
    FUZZ_CHECK(r || d.offset < imported, "an image at %#llx of %#llx bytes", d.offset,
               (unsigned long long)imported);
    FUZZ_CHECK(!r == (mip != NULL), "result %d, handle %p", (int)r, (void *)mip);
    if (!r)
        *m = (struct mapping){.mip = mip};
}

static void use_image(struct fuzz_input *in, const struct mapping *m)
{
    static uint8_t bytes[4096];
    CUarray level;
    CUDA_ARRAY3D_DESCRIPTOR d;
    if (cuMipmappedArrayGetLevel(&level, m->mip, fuzz_below(in, 20)))
        return;
    FUZZ_OK(cuArray3DGetDescriptor(&d, level));
    CUDA_MEMCPY3D c = {.WidthInBytes = fuzz_below(in, 64),
                       .Height = 1 + fuzz_below(in, 8),
                       .Depth = 1 + fuzz_below(in, 2)};
    bool read = fuzz_chance(in, 2);
    *(read ? &c.srcMemoryType : &c.dstMemoryType) = CU_MEMORYTYPE_ARRAY;
    *(read ? &c.dstMemoryType : &c.srcMemoryType) = CU_MEMORYTYPE_HOST;
    *(read ? &c.srcArray : &c.dstArray) = level;
    *(read ? &c.srcXInBytes : &c.dstXInBytes) = fuzz_size(in, d.Width);
    *(read ? &c.srcY : &c.dstY) = fuzz_size(in, d.Height);
    *(read ? &c.srcZ : &c.dstZ) = fuzz_size(in, d.Depth);
    if (read)
        c.dstHost = bytes;
    else
        c.srcHost = bytes;
    cuMemcpy3D(&c);
}

// Uses a mapping. If `sound` is set, the file is the library's own and has not shrunk, so no call
// may fail. Returns whether the context still works.
static bool use(struct fuzz_input *in, const struct mapping *m, bool sound)
{
    CUresult r = CUDA_SUCCESS;
    if (m->mip) {
        use_image(in, m);
    } else if (m->address) {
        uint64_t offset = fuzz_size(in, m->size), size = 1 + fuzz_below(in, 4096);
        bool fits = offset <= m->size && size <= m->size - offset;
        r = cuMemsetD8(m->address + offset, 1, size);
        FUZZ_CHECK(!fits || !r || !sound, "a fill of %llu bytes at %llu of %llu: %d",
                   (unsigned long long)size, (unsigned long long)offset,
                   (unsigned long long)m->size, (int)r);
    }
    return !fuzz_is_sticky(cuCtxSynchronize());
}

static void unmap(struct mapping *m, bool alive)
{
    CUresult r = CUDA_SUCCESS;
    if (m->mip)
        r = cuMipmappedArrayDestroy(m->mip);
    else if (m->address)
        r = cuMemFree(m->address);
    FUZZ_CHECK(!r || !alive, "freeing a mapping returned %d", (int)r);
    *m = (struct mapping){.size = 0};
}

// ---- one input ----

static void go_on(struct fuzz_input *in, const struct imported *imported, int file)
{
    struct mapping maps[MAPPINGS];
    bool alive = true, shrunk = false, destroyed = false;
    memset(maps, 0, sizeof maps);
    for (unsigned steps = 0; alive && fuzz_more(in) && steps < 64; steps++) {
        struct mapping *m = &maps[fuzz_below(in, MAPPINGS)];
        switch (fuzz_below(in, 8)) {
        case 0:
        case 1:
            unmap(m, true);
            if (!destroyed)
                map_buffer(in, imported, m);
            break;
        case 2:
        case 3:
            unmap(m, true);
            if (!destroyed)
                map_image(in, imported, m);
            break;
        case 4:
            if (fuzz_chance(in, 8) && !destroyed) {
                FUZZ_OK(cuDestroyExternalMemory(imported->memory));
                destroyed = true;
            }
            break;
        case 5:
            if (fuzz_chance(in, 8) && file >= 0)
                shrunk |= !ftruncate(file, (off_t)fuzz_size(in, imported->size) & (MOST_B - 1));
            break;
        default:
            alive = use(in, m, imported->own && !shrunk);
        }
    }
    for (unsigned i = 0; i < MAPPINGS; i++)
        unmap(&maps[i], alive);
    if (!destroyed) {
        CUresult r = cuDestroyExternalMemory(imported->memory);
        FUZZ_CHECK(!r || !alive, "cuDestroyExternalMemory returned %d", (int)r);
    }
}

// "A descriptor that is not importable memory returns CUDA_ERROR_INVALID_HANDLE", or
// CUDA_ERROR_UNKNOWN from driver 580, which takes only what an NVIDIA driver exported. Under
// `manual` a plain memfd is memory, too, and in both a memfd may be llvmpipe's. `valid`: the
// descriptor has no other mistake.
static void check_import(const struct file *f, uint64_t size, bool valid, CUresult r)
{
    const bool as_driver = fuzz_is_driver_580();
    const CUresult foreign = as_driver ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_INVALID_HANDLE;
    const bool is_memory = f->own || (!as_driver && f->kind == PLAIN_MEMFD);
    const uint64_t whole = f->own ? f->size : f->plain_B;
    if (is_memory)
        FUZZ_CHECK(!(valid && size <= whole) || !r, "size %llu of %llu: %d",
                   (unsigned long long)size, (unsigned long long)whole, (int)r);
    else if (f->kind != UNKNOWN_FILE)
        FUZZ_CHECK(valid ? r == foreign : r != CUDA_SUCCESS, "a file of kind %d: %d, expected %d",
                   (int)f->kind, (int)r, (int)foreign);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    CUcontext context = fuzz_context();
    struct file f = any_file(&in);
    bool valid = f.fd >= 0;
    int keep = valid ? fcntl(f.fd, F_DUPFD_CLOEXEC, 512) : -1; // shrinks the file later
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d;
    memset(&d, 0, sizeof d);
    d.type = fuzz_chance(&in, 6) ? (CUexternalMemoryHandleType)fuzz_take(&in, 2)
                                 : CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
    d.handle.fd = f.fd;
    d.size = fuzz_chance(&in, 3) ? fuzz_size(&in, f.size ? f.size : MOST_B)
             : f.size            ? f.size
                                 : 65536;
    d.flags = fuzz_chance(&in, 6) ? (unsigned)fuzz_take(&in, 4) : 0;
    if (fuzz_chance(&in, 16))
        d.reserved[fuzz_below(&in, 16)] = 1;
    CUexternalMemory memory = NULL;
    CUresult r = cuImportExternalMemory(&memory, &d);
    bool plain = d.type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD && !d.flags;
    for (unsigned i = 0; i < 16; i++)
        plain &= !d.reserved[i];
    check_import(&f, d.size, plain && d.size, r);
    FUZZ_CHECK(!r == (memory != NULL), "result %d, handle %p", (int)r, (void *)memory);
    if (r && valid) {
        // "ownership moves" only on success. Driver 580 closes files that are no memory
        // (recorded: x_extmem import_fd).
        const bool closes = fuzz_is_driver_580() && r == CUDA_ERROR_UNKNOWN;
        FUZZ_CHECK((fcntl(f.fd, F_GETFD) < 0) == closes, "a refused descriptor is %s (result %d)",
                   closes ? "open" : "closed", (int)r);
        if (!closes)
            close(f.fd);
    } else if (!r) {
        go_on(&in,
              &(struct imported){memory, d.size, f.own && d.size <= f.size,
                                 d.flags & CUDA_EXTERNAL_MEMORY_DEDICATED},
              keep);
    }
    if (keep >= 0)
        close(keep);
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
