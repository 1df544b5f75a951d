// SPDX-License-Identifier: MIT
// Copies and fills with random kinds of memory, shapes, offsets, pitches and wrong values. If a
// copy succeeds, every byte of the destination is checked. The recording holds a card's answers to
// exactly these draws, so their order and number must not change.
#include "draw.h"
#include "record.h"

enum { SIZE = 1 << 20, GAP = 65536, MOST_ARRAYS = 12, DIED = 3 };

// ---- sources and destinations: one block of each kind of memory, and arrays

enum kind { DEVICE, MAPPED, PINNED, PAGEABLE, REGISTERED, UNIFIED_PINNED, UNIFIED_DEVICE, ARRAY };

static const char *const kind_names[] = {"dev", "vm", "pin", "page", "reg", "upin", "udev", "arr"};
static CUcontext context;
static CUdeviceptr device, mapped, second;
static unsigned char *pinned, *registered, *pageable, *scratch;
static CUarray arrays[MOST_ARRAYS];
static CUDA_ARRAY3D_DESCRIPTOR descs[MOST_ARRAYS];
static unsigned array_count;

// Allocates memory between two guard pages.
static unsigned char *guarded(void)
{
    unsigned char *p = mmap(NULL, SIZE + 2 * GAP, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(p + GAP, SIZE, PROT_READ | PROT_WRITE);
    return p + GAP;
}

static uint64_t hash_of(const unsigned char *p, size_t size)
{
    uint64_t hash = UINT64_C(1469598103934665603), word;
    for (size_t i = 0; i < size; i += 8) {
        memcpy(&word, p + i, 8);
        hash = (hash ^ word) * UINT64_C(1099511628211);
        hash ^= hash >> 29;
    }
    return hash;
}

static unsigned element_B(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    unsigned channel_B =
        d->Format == CU_AD_FORMAT_UNSIGNED_INT8                                      ? 1
        : d->Format == CU_AD_FORMAT_UNSIGNED_INT16 || d->Format == CU_AD_FORMAT_HALF ? 2
                                                                                     : 4;
    return channel_B * d->NumChannels;
}

// Copies between `scratch` and a whole array.
static CUDA_MEMCPY3D whole(unsigned i, bool up)
{
    CUDA_MEMCPY3D c = {.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY,
                       .dstMemoryType = up ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST,
                       .srcHost = scratch,
                       .dstHost = scratch,
                       .srcArray = arrays[i],
                       .dstArray = arrays[i],
                       .WidthInBytes = descs[i].Width * element_B(&descs[i]),
                       .Height = descs[i].Height ? descs[i].Height : 1,
                       .Depth = descs[i].Depth ? descs[i].Depth : 1};
    c.srcPitch = c.dstPitch = c.WidthInBytes;
    c.srcHeight = c.dstHeight = c.Height;
    return c;
}

static uint64_t hash_of_array(unsigned i)
{
    CUDA_MEMCPY3D c = whole(i, false);
    if (cuMemcpy3D(&c))
        return 0;
    size_t size = c.WidthInBytes * c.Height * c.Depth;
    memset(scratch + size, 0, 8);
    return hash_of(scratch, size & ~(size_t)7);
}

static void reset_arrays(void)
{
    for (unsigned i = 0; i < array_count; i++) {
        CUDA_MEMCPY3D c = whole(i, true);
        for (uint32_t k = 0; k < SIZE; k += 4) {
            uint32_t word = k * 40503u + i;
            memcpy(scratch + k, &word, 4);
        }
        NEED(cuMemcpy3D(&c));
    }
}

static void make_array(size_t width, size_t height, size_t depth, CUarray_format format,
                       unsigned channels, unsigned flags)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = width,
                                 .Height = height,
                                 .Depth = depth,
                                 .Format = format,
                                 .NumChannels = channels,
                                 .Flags = flags};
    descs[array_count] = d;
    NEED(cuArray3DCreate(&arrays[array_count], &d));
    array_count++;
}

// Half of a mapping of 2 MiB: no memory is mapped after it.
static void make_mapped(void)
{
    enum { PAGE = 2 << 20 };
    CUmemAllocationProp how = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                               .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = how.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle memory;
    NEED(cuMemCreate(&memory, PAGE, &how, 0));
    NEED(cuMemAddressReserve(&mapped, (size_t)2 * PAGE, 0, 0, 0));
    NEED(cuMemMap(mapped, PAGE, 0, memory, 0));
    NEED(cuMemSetAccess(mapped, PAGE, &access, 1));
    mapped += PAGE - SIZE;
}

static void set_up(void)
{
    void *p;
    context = record_context();
    NEED(cuMemAlloc(&device, SIZE));
    scratch = malloc(SIZE + 64);
    make_mapped();
    NEED(cuMemAlloc(&second, SIZE));
    NEED(cuMemAllocHost(&p, SIZE));
    pinned = p;
    registered = guarded();
    NEED(cuMemHostRegister(registered, SIZE, 0));
    pageable = guarded();
    array_count = 0;
    make_array(64, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0);
    make_array(100, 50, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0);
    make_array(33, 17, 9, CU_AD_FORMAT_UNSIGNED_INT16, 2, 0);
    make_array(40, 30, 5, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED);
    make_array(32, 32, 6, CU_AD_FORMAT_UNSIGNED_INT8, 4, CUDA_ARRAY3D_CUBEMAP);
    make_array(128, 0, 7, CU_AD_FORMAT_FLOAT, 4, CUDA_ARRAY3D_LAYERED);
    make_array(200, 100, 0, CU_AD_FORMAT_HALF, 1, CUDA_ARRAY3D_SURFACE_LDST);
    make_array(16, 16, 16, CU_AD_FORMAT_FLOAT, 4, 0);
    make_array(32, 0, 0, CU_AD_FORMAT_FLOAT, 2, 0);
}

static void put_pattern(void)
{
    for (uint32_t i = 0; i < SIZE; i += 4) {
        uint32_t word = (i * 2654435761u) ^ 7;
        memcpy(scratch + i, &word, 4);
    }
}

static void reset(enum kind kind)
{
    put_pattern();
    switch (kind) {
    case DEVICE:
        cuMemcpyHtoD(device, scratch, SIZE);
        break;
    case MAPPED:
        cuMemcpyHtoD(mapped, scratch, SIZE);
        break;
    case PINNED:
    case UNIFIED_PINNED:
        memcpy(pinned, scratch, SIZE);
        break;
    case PAGEABLE:
        memcpy(pageable, scratch, SIZE);
        break;
    case REGISTERED:
        memcpy(registered, scratch, SIZE);
        break;
    case UNIFIED_DEVICE:
        cuMemcpyHtoD(second, scratch, SIZE);
        break;
    default:
        reset_arrays();
    }
    cuCtxSynchronize();
}

static void reset_all(void)
{
    for (int kind = DEVICE; kind <= UNIFIED_DEVICE; kind++)
        reset((enum kind)kind);
    reset_arrays();
}

// ---- ends of copies

static const size_t small[] = {0, 0, 0, 0, 1, 2, 3, 4, 8, 16, 17, 31, 64, 100, 128};
static const size_t widths[] = {0,  1,  2,   3,   4,   8,   12,  16,  32, 40,
                                60, 64, 100, 128, 160, 200, 256, 400, 512};
static const size_t heights[] = {0, 1, 1, 2, 3, 5, 9, 16, 17, 30, 32, 50};
static const size_t depths[] = {0, 1, 1, 2, 3, 5, 6, 7, 9, 16};
static const size_t pitches[] = {0, 0, 64, 100, 128, 256, 400, 512, 513, 1024, 2000, 4096};
static const size_t slice_rows[] = {0, 0, 0, 1, 5, 17, 30, 50, 64};

struct end {
    enum kind kind;
    unsigned type;
    void *host;
    CUdeviceptr address;
    CUarray array;
    int array_number; // -1 if it is not an array
    size_t x, y, z, pitch, rows, level;
};

static void point(struct end *e, size_t offset)
{
    switch (e->kind) {
    case DEVICE:
        e->type = CU_MEMORYTYPE_DEVICE, e->address = device + offset;
        break;
    case MAPPED:
        e->type = CU_MEMORYTYPE_DEVICE, e->address = mapped + offset;
        break;
    case PINNED:
        e->type = CU_MEMORYTYPE_HOST, e->host = pinned + offset;
        break;
    case PAGEABLE:
        e->type = CU_MEMORYTYPE_HOST, e->host = pageable + offset;
        break;
    case REGISTERED:
        e->type = CU_MEMORYTYPE_HOST, e->host = registered + offset;
        break;
    case UNIFIED_PINNED:
        e->type = CU_MEMORYTYPE_UNIFIED, e->address = (uintptr_t)(pinned + offset);
        break;
    case UNIFIED_DEVICE:
        e->type = CU_MEMORYTYPE_UNIFIED, e->address = second + offset;
        break;
    default:
        e->type = CU_MEMORYTYPE_ARRAY;
        e->array_number = (int)(draw() % array_count);
        e->array = arrays[e->array_number];
        if (chance(70))
            e->x -= e->x % element_B(&descs[e->array_number]);
    }
}

static struct end random_end(bool slices)
{
    static const unsigned wrong_types[] = {0, 5, 6, 77};
    struct end e = {.array_number = -1};
    unsigned kind = (unsigned)(draw() % 9);
    e.kind = kind < ARRAY ? (enum kind)kind : ARRAY;
    size_t offset = chance(60) ? 0 : PICK(small);
    e.x = PICK(small);
    e.y = chance(60) ? 0 : PICK(heights);
    if (slices)
        e.z = chance(60) ? 0 : PICK(depths);
    e.pitch = PICK(pitches);
    e.rows = PICK(slice_rows);
    point(&e, offset);
    if (chance(2))
        e.level = 1;
    if (chance(1))
        e.type = PICK(wrong_types);
    if (chance(1))
        e.address = 0, e.host = NULL, e.array = NULL;
    if (chance(2))
        e.x = (size_t)-8;
    if (chance(1))
        e.y = SIZE_MAX;
    if (chance(2))
        e.pitch = (size_t)1 << 40;
    if (chance(1))
        e.pitch = (size_t)-256;
    return e;
}

static void die_if_lost(void)
{
    CUresult r = cuCtxSynchronize();
    if (r) {
        SAY(" sync=%s", record_name(r));
        _exit(DIED);
    }
}

static void say_target(const struct end *e)
{
    cuCtxSynchronize();
    if (e->kind == ARRAY) {
        SAY(" %llx", (unsigned long long)hash_of_array((unsigned)e->array_number));
        return;
    }
    switch (e->kind) {
    case DEVICE:
        cuMemcpyDtoH(scratch, device, SIZE);
        break;
    case MAPPED:
        cuMemcpyDtoH(scratch, mapped, SIZE);
        break;
    case PAGEABLE:
        memcpy(scratch, pageable, SIZE);
        break;
    case REGISTERED:
        memcpy(scratch, registered, SIZE);
        break;
    case UNIFIED_DEVICE:
        cuMemcpyDtoH(scratch, second, SIZE);
        break;
    default:
        memcpy(scratch, pinned, SIZE);
    }
    SAY(" %llx", (unsigned long long)hash_of(scratch, SIZE));
}

static void say_outcome(CUresult r, const struct end *target)
{
    SAY("%s", record_name(r));
    die_if_lost();
    if (r)
        return;
    say_target(target);
    reset(target->kind);
}

// ---- boxes

#define ENDS                                                                                       \
    .srcXInBytes = s.x, .srcY = s.y, .srcMemoryType = (CUmemorytype)s.type, .srcHost = s.host,     \
    .srcDevice = s.address, .srcArray = s.array, .srcPitch = s.pitch, .dstXInBytes = d.x,          \
    .dstY = d.y, .dstMemoryType = (CUmemorytype)d.type, .dstHost = d.host, .dstDevice = d.address, \
    .dstArray = d.array, .dstPitch = d.pitch, .WidthInBytes = width, .Height = height
#define SLICES                                                                                     \
    .srcZ = s.z, .srcLOD = s.level, .srcHeight = s.rows, .dstZ = d.z, .dstLOD = d.level,           \
    .dstHeight = d.rows, .Depth = depth

static size_t to_elements(size_t width, const struct end *e)
{
    return chance(50) && e->array_number >= 0 ? width - width % element_B(&descs[e->array_number])
                                              : width;
}

static void copy_2d(unsigned i)
{
    draw_seed(1000 + i);
    struct end s = random_end(false), d = random_end(false);
    size_t width = PICK(widths), height = PICK(heights);
    width = to_elements(width, &s);
    if (chance(1))
        height = SIZE_MAX;
    if (chance(1))
        width = (size_t)-4;
    unsigned how = (unsigned)(draw() % 3);
    if (!CASE("%u-%s%u(%zd,%zd)%zd-%s%u(%zd,%zd)%zd-%zdx%zd-%u", i, kind_names[s.kind], s.type,
              (ssize_t)s.x, (ssize_t)s.y, (ssize_t)s.pitch, kind_names[d.kind], d.type,
              (ssize_t)d.x, (ssize_t)d.y, (ssize_t)d.pitch, (ssize_t)width, (ssize_t)height, how))
        return;
    CUDA_MEMCPY2D c = {ENDS};
    say_outcome(how == 0   ? cuMemcpy2D(&c)
                : how == 1 ? cuMemcpy2DUnaligned(&c)
                           : cuMemcpy2DAsync(&c, NULL),
                &d);
}

static void copy_3d(unsigned i)
{
    draw_seed(700000 + i);
    struct end s = random_end(true), d = random_end(true);
    size_t width = PICK(widths), height = PICK(heights), depth = PICK(depths);
    width = to_elements(width, &s);
    if (chance(1))
        depth = SIZE_MAX;
    unsigned how = (unsigned)(draw() % 3);
    if (!CASE("%u-%s%u(%zd,%zd,%zd)%zd,%zd-%s%u(%zd,%zd,%zd)%zd,%zd-%zdx%zdx%zd-%u", i,
              kind_names[s.kind], s.type, (ssize_t)s.x, (ssize_t)s.y, (ssize_t)s.z,
              (ssize_t)s.pitch, (ssize_t)s.rows, kind_names[d.kind], d.type, (ssize_t)d.x,
              (ssize_t)d.y, (ssize_t)d.z, (ssize_t)d.pitch, (ssize_t)d.rows, (ssize_t)width,
              (ssize_t)height, (ssize_t)depth, how))
        return;
    CUDA_MEMCPY3D c = {ENDS, SLICES};
    CUDA_MEMCPY3D_PEER peer = {ENDS, SLICES, .srcContext = context, .dstContext = context};
    say_outcome(how == 0   ? cuMemcpy3D(&c)
                : how == 1 ? cuMemcpy3DAsync(&c, NULL)
                           : cuMemcpy3DPeer(&peer),
                &d);
}

// Each process of a group starts with the same memory contents.
static void run_all(unsigned count, void (*one)(unsigned))
{
    set_up();
    for (unsigned i = 0; i < count; i++) {
        if (!i || i == (unsigned)record->resume)
            reset_all();
        one(i);
    }
}

GROUP(copy2d)
{
    run_all(1500, copy_2d);
}

GROUP(copy3d)
{
    run_all(1500, copy_3d);
}

// ---- runs of bytes and fills

static void copy_run(unsigned i)
{
    const CUdeviceptr starts[] = {device, mapped, second, (uintptr_t)pinned, (uintptr_t)registered};
    static const size_t sizes[] = {0,         1,    4,        100,      4096,
                                   SIZE - 64, SIZE, SIZE + 1, SIZE_MAX, (size_t)1 << 40};
    static const size_t offsets[] = {0, 0, 1, 64, 4096, SIZE - 4096, SIZE - 1, SIZE};
    draw_seed(40000 + i);
    unsigned to = (unsigned)(draw() % 5), from = (unsigned)(draw() % 5);
    size_t to_offset = PICK(offsets), from_offset = PICK(offsets), n = PICK(sizes);
    unsigned call = (unsigned)(draw() % 7);
    size_t to_x = PICK(small), from_x = PICK(small);
    CUarray to_array = arrays[draw() % array_count], from_array = arrays[draw() % array_count];
    CUdeviceptr a = starts[to] + to_offset, b = starts[from] + from_offset;
    if (!CASE("%u-call%u-%u+%zx-%u+%zx-%zd", i, call, to, to_offset, from, from_offset, (ssize_t)n))
        return;
    CUresult r = CUDA_SUCCESS;
    switch (call) {
    case 0:
        r = cuMemcpy(a, b, n);
        break;
    case 1:
        r = cuMemcpyAsync(a, b, n, NULL);
        break;
    case 2:
        r = cuMemcpyDtoD(a, b, n);
        break;
    case 3:
        r = cuMemcpyPeer(a, context, b, context, n);
        break;
    case 4:
        r = cuMemcpyDtoA(to_array, to_x, b, n % 5000);
        break;
    case 5:
        r = cuMemcpyAtoD(a, to_array, to_x, n % 5000);
        break;
    default:
        r = cuMemcpyAtoA(to_array, to_x, from_array, from_x, n % 5000);
    }
    SAY("%s", record_name(r));
    die_if_lost();
}

GROUP(linear)
{
    run_all(800, copy_run);
}

static void fill(unsigned i)
{
    const CUdeviceptr starts[] = {
        device, mapped, second, (uintptr_t)pinned, (uintptr_t)registered, (uintptr_t)pageable,
        0,      16};
    static const size_t offsets[] = {0, 0, 0, 1, 2, 4, 64, SIZE - 64, SIZE - 4, SIZE - 1, SIZE};
    static const size_t counts[] = {0,
                                    1,
                                    2,
                                    7,
                                    64,
                                    1000,
                                    SIZE / 4,
                                    SIZE / 4 + 1,
                                    SIZE,
                                    SIZE_MAX,
                                    (size_t)1 << 62,
                                    (size_t)1 << 63};
    static const size_t steps[] = {0,          1,           2,
                                   4,          6,           64,
                                   100,        512,         4096,
                                   65536,      1 << 20,     (size_t)1 << 40,
                                   (size_t)-4, (size_t)-64, (size_t)1 << 63};
    static const size_t row_counts[] = {0, 1, 2, 3, 16, 100, 4096, (size_t)1 << 32, SIZE_MAX};
    draw_seed(90000 + i);
    unsigned to = (unsigned)(draw() % 8);
    size_t offset = PICK(offsets);
    CUdeviceptr a = starts[to] + offset;
    size_t n = PICK(counts), pitch = PICK(steps), rows = PICK(row_counts);
    unsigned call = (unsigned)(draw() % 12);
    if (!CASE("%u-call%u-%u+%zx-n%zd-p%zd-h%zd", i, call, to, offset, (ssize_t)n, (ssize_t)pitch,
              (ssize_t)rows))
        return;
    CUresult r = CUDA_SUCCESS;
    switch (call) {
    case 0:
        r = cuMemsetD8(a, 1, n);
        break;
    case 1:
        r = cuMemsetD16(a, 1, n);
        break;
    case 2:
        r = cuMemsetD32(a, 1, n);
        break;
    case 3:
        r = cuMemsetD8Async(a, 1, n, NULL);
        break;
    case 4:
        r = cuMemsetD16Async(a, 1, n, NULL);
        break;
    case 5:
        r = cuMemsetD32Async(a, 1, n, NULL);
        break;
    case 6:
        r = cuMemsetD2D8(a, pitch, 2, n, rows);
        break;
    case 7:
        r = cuMemsetD2D16(a, pitch, 2, n, rows);
        break;
    case 8:
        r = cuMemsetD2D32(a, pitch, 2, n, rows);
        break;
    case 9:
        r = cuMemsetD2D8Async(a, pitch, 2, n % 100, rows, NULL);
        break;
    case 10:
        r = cuMemsetD2D16Async(a, pitch, 2, n % 100, rows % 50, NULL);
        break;
    default:
        r = cuMemsetD2D32Async(a, pitch, 2, n % 100, rows % 50, NULL);
    }
    SAY("%s", record_name(r));
    die_if_lost();
}

GROUP(fill)
{
    set_up();
    for (unsigned i = 0; i < 787; i++)
        fill(i);
}

int main(int argc, char **argv)
{
    RUN(copy2d);
    RUN(copy3d);
    RUN(linear);
    RUN(fill);
    return 0;
}
