// SPDX-License-Identifier: MIT
// Every exported name of a copy or a fill moves the same bytes: today's names, their twins for the
// per-thread default stream, and those of CUDA 3.1, whose addresses have 32 bits. A program can ask
// for page-locked memory at addresses that low.
#include <cardless/abi/old_types.h>
#include <dlfcn.h>

#include "../harness.h"

// Three names of one function.
enum form { TODAY, TWIN, NARROW };

enum {
    ROOM = 4096,
    RUN = 200,
    PITCH = 64,
    WIDTH = 40,
    HEIGHT = 6,
    ARRAY_WIDTH = 64,
    ARRAY_HEIGHT = 16,
    LEFT = 8,
    DOWN = 2
};

// Linear memory twice, below 4 GiB and known to the driver, and arrays.
static unsigned char *source, *target;
static CUarray line[2], plane[2];
static unsigned char want[ROOM];

enum kind {
    HOST_TO_DEVICE,
    DEVICE_TO_HOST,
    DEVICE_TO_DEVICE,
    HOST_TO_ARRAY,
    ARRAY_TO_HOST,
    DEVICE_TO_ARRAY,
    ARRAY_TO_DEVICE,
    ARRAY_TO_ARRAY,
    ANY
};

static void pattern(unsigned char *p, size_t size, unsigned salt)
{
    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)(i * 7 + (i >> 8) + salt);
}

// Pages whose addresses have 32 bits.
static unsigned char *low_pages(size_t size)
{
    for (uintptr_t at = 0x10000000; at < 0xf0000000; at += 0x1000000) {
        unsigned char *p = mmap((void *)at, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (p == (void *)at)
            return p;
        if (p != MAP_FAILED) // the kernel, or qemu, treats the flag as a hint
            munmap(p, size);
    }
    return MAP_FAILED;
}

static void start(void)
{
    test_context();
    unsigned char *low = low_pages((size_t)2 * ROOM);
    EXPECT(low != MAP_FAILED);
    MUST(cuMemHostRegister(low, (size_t)2 * ROOM, 0));
    source = low, target = low + ROOM;
    CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = RUN * 2, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
    MUST(cuArray3DCreate(&line[0], &desc));
    MUST(cuArray3DCreate(&line[1], &desc));
    desc.Width = ARRAY_WIDTH, desc.Height = ARRAY_HEIGHT;
    MUST(cuArray3DCreate(&plane[0], &desc));
    MUST(cuArray3DCreate(&plane[1], &desc));
}

static void *find(const char *name, enum form form, bool async, bool second)
{
    char full[96];
    const char *version = second && form != NARROW ? "_v2" : "", *twin = form != TWIN ? ""
                                                                         : async      ? "_ptsz"
                                                                                      : "_ptds";
    snprintf(full, sizeof full, "%s%s%s%s", name, async ? "Async" : "", version, twin);
    void *f = dlsym(RTLD_DEFAULT, full);
    if (!f)
        printf("# %s: ", full);
    EXPECT(f);
    return f;
}

#define LIST(...) __VA_ARGS__
// Calls the function at `f`, with the stream as the last argument if it takes one.
#define CALL(types, ...)                                                                           \
    (async ? ((CUresult(*)(LIST types, CUstream))f)(__VA_ARGS__, NULL)                             \
           : ((CUresult(*)(LIST types))f)(__VA_ARGS__))

// A run of bytes from source or line[0] to target or line[1]; A and N are the types of addresses
// and numbers.
#define RUN_OF_BYTES(name, A, N)                                                                   \
    static CUresult name(void *f, enum kind kind, bool async)                                      \
    {                                                                                              \
        A from = (A)(uintptr_t)source, to = (A)(uintptr_t)target;                                  \
        N left = LEFT, n = RUN;                                                                    \
        switch (kind) {                                                                            \
        case HOST_TO_DEVICE:                                                                       \
            return CALL((A, const void *, N), to, source, n);                                      \
        case DEVICE_TO_HOST:                                                                       \
            return CALL((void *, A, N), target, from, n);                                          \
        case DEVICE_TO_DEVICE:                                                                     \
        case ANY:                                                                                  \
            return CALL((A, A, N), to, from, n);                                                   \
        case HOST_TO_ARRAY:                                                                        \
            return CALL((CUarray, N, const void *, N), line[1], left, source, n);                  \
        case ARRAY_TO_HOST:                                                                        \
            return CALL((void *, CUarray, N, N), target, line[0], left, n);                        \
        case DEVICE_TO_ARRAY:                                                                      \
            return ((CUresult(*)(CUarray, N, A, N))f)(line[1], left, from, n);                     \
        case ARRAY_TO_DEVICE:                                                                      \
            return ((CUresult(*)(A, CUarray, N, N))f)(to, line[0], left, n);                       \
        default:                                                                                   \
            return ((CUresult(*)(CUarray, N, CUarray, N, N))f)(line[1], left, line[0], left, n);   \
        }                                                                                          \
    }

RUN_OF_BYTES(run_wide, CUdeviceptr, size_t)
RUN_OF_BYTES(run_narrow, CUdeviceptr_v1, unsigned int)

static bool from_array(enum kind kind)
{
    return kind == ARRAY_TO_HOST || kind == ARRAY_TO_DEVICE || kind == ARRAY_TO_ARRAY;
}

static bool to_array(enum kind kind)
{
    return kind == HOST_TO_ARRAY || kind == DEVICE_TO_ARRAY || kind == ARRAY_TO_ARRAY;
}

static void check_run(const char *name, enum kind kind, enum form form, bool async, bool second)
{
    static unsigned salt;
    void *f = find(name, form, async, second);
    if (!f)
        return;
    pattern(source, RUN, ++salt);
    memset(target, 0xcc, ROOM);
    if (from_array(kind))
        MUST(cuMemcpyHtoA(line[0], LEFT, source, RUN));
    EXPECT_OK(form == NARROW ? run_narrow(f, kind, async) : run_wide(f, kind, async));
    MUST(cuCtxSynchronize());
    if (to_array(kind))
        MUST(cuMemcpyAtoH(target, line[1], LEFT, RUN));
    pattern(want, RUN, salt);
    memset(want + RUN, 0xcc, ROOM - RUN);
    if (memcmp(target, want, ROOM))
        printf("# %s%s, form %d: ", name, async ? "Async" : "", form);
    EXPECT(!memcmp(target, want, ROOM));
}

static const struct {
    const char *name;
    enum kind kind;
    bool now, async, second; // the forms that exist, and whether today's is the second version
} runs[] = {
    {"cuMemcpyHtoD", HOST_TO_DEVICE, true, true, true},
    {"cuMemcpyDtoH", DEVICE_TO_HOST, true, true, true},
    {"cuMemcpyDtoD", DEVICE_TO_DEVICE, true, true, true},
    {"cuMemcpyHtoA", HOST_TO_ARRAY, true, true, true},
    {"cuMemcpyAtoH", ARRAY_TO_HOST, true, true, true},
    {"cuMemcpyDtoA", DEVICE_TO_ARRAY, true, false, true},
    {"cuMemcpyAtoD", ARRAY_TO_DEVICE, true, false, true},
    {"cuMemcpyAtoA", ARRAY_TO_ARRAY, true, false, true},
    {"cuMemcpy", ANY, true, true, false},
};

TEST(run_forms)
{
    start();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (int async = 0; async <= runs[i].async; async++)
            for (enum form form = TODAY; form <= (runs[i].second ? NARROW : TWIN); form++)
                check_run(runs[i].name, runs[i].kind, form, async, runs[i].second);
}

// ---- boxes: every pair of ends; `V` is the suffix of the structure's type, `A` the type of its
// addresses

static const CUmemorytype types[] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_ARRAY,
                                     CU_MEMORYTYPE_UNIFIED};

#define ENDS(A)                                                                                    \
    .srcXInBytes = LEFT, .srcY = DOWN, .srcMemoryType = from,                                      \
    .srcHost = from == CU_MEMORYTYPE_HOST ? source : NULL,                                         \
    .srcDevice = from == CU_MEMORYTYPE_HOST ? 0 : (A)(uintptr_t)source, .srcArray = plane[0],      \
    .srcPitch = PITCH, .dstXInBytes = LEFT + 8, .dstY = 1, .dstMemoryType = to,                    \
    .dstHost = to == CU_MEMORYTYPE_HOST ? target : NULL,                                           \
    .dstDevice = to == CU_MEMORYTYPE_HOST ? 0 : (A)(uintptr_t)target, .dstArray = plane[1],        \
    .dstPitch = PITCH, .WidthInBytes = WIDTH, .Height = HEIGHT
#define SLICES .srcHeight = ARRAY_HEIGHT, .dstHeight = ARRAY_HEIGHT, .Depth = 1

static CUresult box(const char *name, enum form form, bool async, CUmemorytype from,
                    CUmemorytype to)
{
    void *f = find(name, form, async, !strstr(name, "Peer"));
    if (!f)
        return CUDA_ERROR_NOT_FOUND;
    if (strstr(name, "2D")) {
        CUDA_MEMCPY2D wide = {ENDS(CUdeviceptr)};
        CUDA_MEMCPY2D_v1 narrow = {ENDS(CUdeviceptr_v1)};
        return form == NARROW ? CALL((const CUDA_MEMCPY2D_v1 *), &narrow)
                              : CALL((const CUDA_MEMCPY2D *), &wide);
    }
    if (strstr(name, "Peer")) {
        CUDA_MEMCPY3D_PEER peer = {ENDS(CUdeviceptr), SLICES};
        MUST(cuCtxGetCurrent(&peer.srcContext));
        peer.dstContext = peer.srcContext;
        return CALL((const CUDA_MEMCPY3D_PEER *), &peer);
    }
    CUDA_MEMCPY3D wide = {ENDS(CUdeviceptr), SLICES};
    CUDA_MEMCPY3D_v1 narrow = {ENDS(CUdeviceptr_v1), SLICES};
    return form == NARROW ? CALL((const CUDA_MEMCPY3D_v1 *), &narrow)
                          : CALL((const CUDA_MEMCPY3D *), &wide);
}

static void whole_array(CUarray array, unsigned char *bytes, bool up)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = up ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY,
                       .dstMemoryType = up ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST,
                       .srcHost = bytes,
                       .dstHost = bytes,
                       .srcArray = array,
                       .dstArray = array,
                       .srcPitch = PITCH,
                       .dstPitch = PITCH,
                       .WidthInBytes = ARRAY_WIDTH,
                       .Height = ARRAY_HEIGHT};
    MUST(cuMemcpy2D(&c));
}

static void check_box(const char *name, enum form form, bool async, CUmemorytype from,
                      CUmemorytype to)
{
    static unsigned salt;
    pattern(source, ROOM, ++salt);
    memset(target, 0x55, ROOM);
    memset(want, 0x55, ROOM);
    whole_array(plane[0], source, true);
    whole_array(plane[1], target, true);
    for (unsigned y = 0; y < HEIGHT; y++)
        memcpy(want + (y + 1) * PITCH + LEFT + 8, source + (y + DOWN) * PITCH + LEFT, WIDTH);
    EXPECT_OK(box(name, form, async, from, to));
    MUST(cuCtxSynchronize());
    if (to == CU_MEMORYTYPE_ARRAY)
        whole_array(plane[1], target, false);
    if (memcmp(target, want, ROOM))
        printf("# %s%s, form %d, from %d to %d: ", name, async ? "Async" : "", form, from, to);
    EXPECT(!memcmp(target, want, ROOM));
}

TEST(box_forms)
{
    static const char *const names[] = {"cuMemcpy2D", "cuMemcpy2DUnaligned", "cuMemcpy3D",
                                        "cuMemcpy3DPeer"};
    start();
    for (unsigned i = 0; i < 4; i++)
        for (int async = 0; async <= (i != 1); async++)
            for (enum form form = TODAY; form <= (i == 3 ? TWIN : NARROW); form++)
                for (unsigned from = 0; from < 4; from++)
                    for (unsigned to = 0; to < 4; to++)
                        check_box(names[i], form, async, types[from], types[to]);
}

TEST(peer_forms)
{
    typedef CUresult now(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t);
    typedef CUresult later(CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream);
    CUcontext c;
    start();
    MUST(cuCtxGetCurrent(&c));
    for (unsigned i = 0; i < 4; i++) {
        void *f = find("cuMemcpyPeer", i & 1 ? TWIN : TODAY, i / 2, false);
        pattern(source, ROOM, i + 60);
        CUdeviceptr to = (uintptr_t)target, from = (uintptr_t)source;
        EXPECT_OK(i / 2 ? ((later *)f)(to, c, from, c, ROOM, NULL)
                        : ((now *)f)(to, c, from, c, ROOM));
        MUST(cuCtxSynchronize());
        EXPECT_OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
        EXPECT(!memcmp(target, source, ROOM));
    }
}

// ---- fills

#define FILL(name, A, N)                                                                           \
    static CUresult name(void *f, unsigned bits, bool rows, bool async)                            \
    {                                                                                              \
        A to = (A)(uintptr_t)target + 64;                                                          \
        N n = WIDTH / 4, pitch = PITCH, height = HEIGHT;                                           \
        if (rows && bits == 8)                                                                     \
            return CALL((A, N, unsigned char, N, N), to, pitch, 0x9a, n, height);                  \
        if (rows && bits == 16)                                                                    \
            return CALL((A, N, unsigned short, N, N), to, pitch, 0x789a, n, height);               \
        if (rows)                                                                                  \
            return CALL((A, N, unsigned int, N, N), to, pitch, 0x3456789a, n, height);             \
        if (bits == 8)                                                                             \
            return CALL((A, unsigned char, N), to, 0x9a, n);                                       \
        if (bits == 16)                                                                            \
            return CALL((A, unsigned short, N), to, 0x789a, n);                                    \
        return CALL((A, unsigned int, N), to, 0x3456789a, n);                                      \
    }

FILL(fill_wide, CUdeviceptr, size_t)
FILL(fill_narrow, CUdeviceptr_v1, unsigned int)

TEST(fill_forms)
{
    start();
    for (unsigned i = 0; i < 6; i++)
        for (int async = 0; async < 2; async++)
            for (enum form form = TODAY; form <= (async ? TWIN : NARROW); form++) {
                unsigned bits = 8u << i % 3, rows = i / 3;
                char name[32];
                snprintf(name, sizeof name, "cuMemsetD%s%u", rows ? "2D" : "", bits);
                void *f = find(name, form, async, !async);
                if (!f)
                    continue;
                memset(target, 0x55, ROOM);
                memset(want, 0x55, ROOM);
                for (unsigned y = 0; y < (rows ? HEIGHT : 1); y++)
                    for (unsigned x = 0; x < WIDTH / 4 * bits / 8; x++)
                        want[64 + y * PITCH + x] =
                            (unsigned char)(0x3456789au >> x % (bits / 8) * 8);
                EXPECT_OK(form == NARROW ? fill_narrow(f, bits, rows, async)
                                         : fill_wide(f, bits, rows, async));
                MUST(cuCtxSynchronize());
                if (memcmp(target, want, ROOM))
                    printf("# %s%s, form %u: ", name, async ? "Async" : "", form);
                EXPECT(!memcmp(target, want, ROOM));
            }
}

TESTS(CASE(run_forms), CASE(box_forms), CASE(peer_forms), CASE(fill_forms))
