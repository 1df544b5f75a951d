// SPDX-License-Identifier: MIT
// Fuzzes sequences of calls about memory: allocations, files that are imported again and again,
// buffers on them that overlap and outlive them, fills and copies in one stream, and handles that
// have ended. A model predicts the result of each call, and every byte.
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"

enum {
    FILES = 2,
    FILE_B = 2 << 20,
    USED_B = 96 << 10, // the bytes of a file that are compared
    IMPORTS = 4,
    RANGES = 8,
    ALLOCATION_B = 8 << 10,
    STEPS = 64,
};

struct file {
    int fd;
    uint8_t bytes[USED_B];
};

struct imported {
    CUexternalMemory handle; // or NULL
    bool alive;
    struct file *file;
};

// An allocation, or a buffer on a file.
struct range {
    CUdeviceptr address; // or 0
    uint64_t size_B;
    uint8_t *bytes;
};

struct model {
    struct file files[FILES];
    struct imported imports[IMPORTS];
    struct range ranges[RANGES];
    uint8_t allocations[RANGES][ALLOCATION_B];
    CUstream stream; // or NULL: the calls are synchronous
};

static int export_file(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemGenericAllocationHandle memory;
    int fd = -1;
    FUZZ_OK(cuMemCreate(&memory, FILE_B, &prop, 0));
    FUZZ_OK(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    FUZZ_OK(cuMemRelease(memory));
    return fd;
}

static void wait_for_work(const struct model *m)
{
    FUZZ_OK(m->stream ? cuStreamSynchronize(m->stream) : cuCtxSynchronize());
}

// ---- imports ----

static void import(struct fuzz_input *in, struct model *m)
{
    struct imported *i = &m->imports[fuzz_below(in, IMPORTS)];
    struct file *file = &m->files[fuzz_below(in, FILES)];
    if (i->alive)
        return;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC d = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD,
                                          .handle.fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0),
                                          .size = FILE_B};
    FUZZ_OK(cuImportExternalMemory(&i->handle, &d));
    i->alive = true;
    i->file = file;
}

static void destroy_import(struct fuzz_input *in, struct model *m)
{
    struct imported *i = &m->imports[fuzz_below(in, IMPORTS)];
    if (!i->handle)
        return;
    CUresult r = cuDestroyExternalMemory(i->handle);
    FUZZ_CHECK(i->alive ? !r : r == CUDA_ERROR_INVALID_HANDLE, "cuDestroyExternalMemory: %d",
               (int)r);
    i->alive = false;
}

static void map(struct fuzz_input *in, struct model *m)
{
    static const uint64_t offsets[] = {0, 4096, 65536, 65536 + 256};
    static const uint64_t sizes[] = {16 << 10, 4096, 8 << 10, FILE_B};
    struct imported *i = &m->imports[fuzz_below(in, IMPORTS)];
    struct range *range = &m->ranges[fuzz_below(in, RANGES)];
    if (!i->handle || range->address)
        return;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC d = {.offset = offsets[fuzz_below(in, 4)],
                                          .size = sizes[fuzz_below(in, 4)]};
    CUdeviceptr address = 0;
    CUresult r = cuExternalMemoryGetMappedBuffer(&address, i->handle, &d);
    CUresult want = CUDA_SUCCESS;
    if (!i->alive)
        want = CUDA_ERROR_INVALID_HANDLE;
    else if (d.offset + d.size > FILE_B)
        want = CUDA_ERROR_INVALID_VALUE;
    FUZZ_CHECK(r == want, "mapping %llu bytes at %llu: %d, expected %d", d.size, d.offset, (int)r,
               (int)want);
    if (r)
        return;
    uint64_t used_B = d.size < 16 << 10 ? d.size : 16 << 10;
    *range = (struct range){address, used_B, i->file->bytes + d.offset};
}

// ---- allocations ----

static void allocate(struct fuzz_input *in, struct model *m)
{
    unsigned n = fuzz_below(in, RANGES);
    struct range *range = &m->ranges[n];
    if (range->address)
        return;
    FUZZ_OK(cuMemAlloc(&range->address, ALLOCATION_B));
    FUZZ_OK(cuMemsetD8(range->address, 0, ALLOCATION_B));
    FUZZ_OK(cuCtxSynchronize()); // the stream does not wait for the fill
    memset(m->allocations[n], 0, ALLOCATION_B);
    range->size_B = ALLOCATION_B;
    range->bytes = m->allocations[n];
}

static void free_range(struct fuzz_input *in, struct model *m)
{
    struct range *range = &m->ranges[fuzz_below(in, RANGES)];
    if (!range->address)
        return;
    if (fuzz_chance(in, 8)) {
        CUresult r = cuMemFree(range->address + 1);
        FUZZ_CHECK(r == CUDA_ERROR_INVALID_VALUE, "freeing an address inside: %d", (int)r);
        return;
    }
    CUdeviceptr address = range->address;
    FUZZ_OK(cuMemFree(address));
    *range = (struct range){.address = 0};
    for (unsigned i = 0; i < RANGES; i++) { // nothing else is there
        const struct range *other = &m->ranges[i];
        FUZZ_CHECK(!other->address || other->address != address, "two ranges at %#llx", address);
    }
}

// ---- work ----

// A part of a range. Returns its size, or 0 if there is no such range.
static uint64_t part(struct fuzz_input *in, struct model *m, const struct range **range,
                     uint64_t *offset)
{
    *range = &m->ranges[fuzz_below(in, RANGES)];
    if (!(*range)->address)
        return 0;
    *offset = fuzz_take(in, 2) % (*range)->size_B;
    uint64_t rest = (*range)->size_B - *offset, size = 1 + fuzz_take(in, 2) % 5000;
    return size < rest ? size : rest;
}

static void fill(struct fuzz_input *in, struct model *m)
{
    const struct range *range;
    uint64_t offset, size = part(in, m, &range, &offset);
    uint8_t value = (uint8_t)fuzz_take(in, 1);
    if (!size)
        return;
    FUZZ_OK(m->stream ? cuMemsetD8Async(range->address + offset, value, size, m->stream)
                      : cuMemsetD8(range->address + offset, value, size));
    memset(range->bytes + offset, value, size);
}

static void copy(struct fuzz_input *in, struct model *m)
{
    const struct range *from, *to;
    uint64_t from_offset, to_offset;
    uint64_t size = part(in, m, &from, &from_offset), most = part(in, m, &to, &to_offset);
    if (size > most)
        size = most;
    if (!size)
        return;
    // The manual leaves the result open if the two share bytes.
    const uint8_t *source = from->bytes + from_offset;
    uint8_t *target = to->bytes + to_offset;
    if (source < target + size && target < source + size)
        return;
    FUZZ_OK(m->stream ? cuMemcpyDtoDAsync(to->address + to_offset, from->address + from_offset,
                                          size, m->stream)
                      : cuMemcpyDtoD(to->address + to_offset, from->address + from_offset, size));
    memcpy(target, source, size);
}

static void upload(struct fuzz_input *in, struct model *m)
{
    static uint8_t bytes[5000];
    const struct range *range;
    uint64_t offset, size = part(in, m, &range, &offset);
    uint8_t value = (uint8_t)fuzz_take(in, 1);
    if (!size)
        return;
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value + i);
    wait_for_work(m);
    FUZZ_OK(cuMemcpyHtoD(range->address + offset, bytes, size));
    memcpy(range->bytes + offset, bytes, size);
}

static void compare(struct model *m, const struct range *range)
{
    static uint8_t bytes[16 << 10];
    if (!range->address)
        return;
    wait_for_work(m);
    FUZZ_OK(cuMemcpyDtoH(bytes, range->address, range->size_B));
    for (uint64_t i = 0; i < range->size_B; i++)
        FUZZ_CHECK(bytes[i] == range->bytes[i],
                   "byte %llu of the range at %#llx: %#x, expected %#x", (unsigned long long)i,
                   range->address, bytes[i], range->bytes[i]);
}

static void step(struct fuzz_input *in, struct model *m)
{
    switch (fuzz_below(in, 12)) {
    case 0:
    case 1:
        import(in, m);
        break;
    case 2:
        destroy_import(in, m);
        break;
    case 3:
    case 4:
        map(in, m);
        break;
    case 5:
        allocate(in, m);
        break;
    case 6:
        free_range(in, m);
        break;
    case 7:
        fill(in, m);
        break;
    case 8:
    case 9:
        copy(in, m);
        break;
    case 10:
        upload(in, m);
        break;
    default:
        compare(m, &m->ranges[fuzz_below(in, RANGES)]);
    }
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
    memset(&m, 0, sizeof m);
    CUcontext context = fuzz_context();
    for (unsigned i = 0; i < FILES; i++)
        m.files[i].fd = export_file();
    if (fuzz_chance(&in, 2))
        FUZZ_OK(cuStreamCreate(&m.stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++)
        step(&in, &m);
    for (unsigned i = 0; i < RANGES; i++)
        compare(&m, &m.ranges[i]);
    for (unsigned i = 0; i < RANGES; i++) {
        if (m.ranges[i].address)
            FUZZ_OK(cuMemFree(m.ranges[i].address));
    }
    FUZZ_OK(cuCtxDestroy(context)); // with the imports
    for (unsigned i = 0; i < FILES; i++)
        close(m.files[i].fd);
    return 0;
}
