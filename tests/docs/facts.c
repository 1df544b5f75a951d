// SPDX-License-Identifier: MIT
// Prints the facts that the drawings of docs/concepts.md show. Nothing is computed from a formula,
// because each fact is observed through the public API of the built library.
//
//     facts aliases|gob|mips|mapping|streams
//
// A fact is one line of words: its kind, then NAME=VALUE pairs. tools/gen/drawings.py draws them,
// and tests/docs/drawings.py compares them with the drawings.
#include "../mistakes/external.h"
#include "../mistakes/virtual.h"

#include <time.h>

enum { STEP_B = 2 << 20 };

// ---- address space: ranges of addresses, and the memory that each one shows

struct range {
    const char *name, *call;
    CUdeviceptr at;
};

static CUmemGenericAllocationHandle exportable(void)
{
    CUmemAllocationProp p;
    CUmemGenericAllocationHandle h;
    memset(&p, 0, sizeof p);
    p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    MUST(cuMemCreate(&h, STEP_B, &p, 0));
    return h;
}

static void map_at(CUdeviceptr at, CUmemGenericAllocationHandle h)
{
    CUmemAccessDesc access;
    memset(&access, 0, sizeof access);
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    MUST(cuMemMap(at, STEP_B, 0, h, 0));
    MUST(cuMemSetAccess(at, STEP_B, &access, 1));
}

// Writes a number of its own through each range, in turn, and sees which ranges read it back.
static void print_aliases(const struct range *r, int count)
{
    int shows[8], memories = 0;
    for (int i = 0; i < count; i++)
        shows[i] = -1;
    for (int i = 0; i < count; i++) {
        unsigned back;
        bool first = shows[i] < 0;
        if (cuMemsetD32(r[i].at, 0x1000u + (unsigned)i, 1)) {
            printf("range name=%s call=%s memory=none\n", r[i].name, r[i].call);
            continue;
        }
        MUST(cuCtxSynchronize());
        for (int j = i; j < count; j++)
            if (!cuMemcpyDtoH(&back, r[j].at, 4) && back == 0x1000u + (unsigned)i && first)
                shows[j] = memories;
        memories += first;
        printf("range name=%s call=%s memory=%d\n", r[i].name, r[i].call, shows[i]);
    }
}

static void aliases(void)
{
    CUdeviceptr plain, reserved;
    int fd;
    MUST(cuMemAlloc(&plain, STEP_B));
    MUST(cuMemAddressReserve(&reserved, 3 * STEP_B, 0, 0, 0));
    CUmemGenericAllocationHandle h = exportable();
    map_at(reserved, h);
    map_at(reserved + STEP_B, h);
    MUST(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CUdeviceptr imported = map_buffer(import(fd, STEP_B, 0), 0, STEP_B);
    struct range ranges[] = {
        {"p", "cuMemAlloc", plain},
        {"r", "cuMemMap", reserved},
        {"r+2MiB", "cuMemMap", reserved + STEP_B},
        {"r+4MiB", "cuMemAddressReserve", reserved + 2 * STEP_B},
        {"q", "cuExternalMemoryGetMappedBuffer", imported},
    };
    print_aliases(ranges, sizeof ranges / sizeof *ranges);
}

// ---- layouts: texels are written through the array, and found in a buffer over the same memory

enum { MEMORY_B = 2 << 20, WORDS = MEMORY_B / 4 };
static uint32_t raw[WORDS];

struct image {
    CUmipmappedArray mip;
    CUdeviceptr bytes;
};

static struct image map_image(CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d)
{
    struct image i;
    CUexternalMemory m = import(own_fd(MEMORY_B), MEMORY_B, 0);
    MUST(cuExternalMemoryGetMappedMipmappedArray(&i.mip, m, &d));
    i.bytes = map_buffer(m, 0, MEMORY_B);
    return i;
}

static void write_texels(CUarray array, const uint32_t *texels, size_t width, size_t height,
                         size_t layer)
{
    CUDA_MEMCPY3D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = texels;
    c.srcPitch = c.WidthInBytes = width * 4;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = array;
    c.dstZ = layer;
    c.Height = height;
    c.Depth = 1;
    MUST(cuMemcpy3D(&c));
}

// The offset in bytes at which a value lies.
static size_t find(struct image i, uint32_t value)
{
    MUST(cuCtxSynchronize());
    MUST(cuMemcpyDtoH(raw, i.bytes, MEMORY_B));
    for (size_t w = 0; w < WORDS; w++)
        if (raw[w] == value)
            return w * 4;
    printf("# %u is not in memory\n", value);
    exit(1);
}

// Every 16-byte piece of the first GOB, and every GOB of the image.
static void gob(void)
{
    enum { SIDE = 64, PIECE = 4, GOB_ROWS = 8, GOB_TEXELS = 16 };
    static uint32_t texels[SIDE * SIDE];
    struct image i = map_image(image(SIDE, SIDE, 0, 0, 1));
    CUarray level;
    for (unsigned t = 0; t < SIDE * SIDE; t++)
        texels[t] = t + 1;
    MUST(cuMipmappedArrayGetLevel(&level, i.mip, 0));
    write_texels(level, texels, SIDE, SIDE, 0);
    for (unsigned y = 0; y < GOB_ROWS; y++)
        for (unsigned x = 0; x < GOB_TEXELS; x += PIECE)
            printf("piece x=%u y=%u at=%zu\n", x * 4, y, find(i, y * SIDE + x + 1));
    for (unsigned y = 0; y < SIDE; y += GOB_ROWS)
        for (unsigned x = 0; x < SIDE; x += GOB_TEXELS)
            printf("gob x=%u y=%u at=%zu\n", x * 4, y, find(i, y * SIDE + x + 1));
}

static void mips(void)
{
    enum { SIDE = 128, LEVELS = 4, LAYERS = 2 };
    static uint32_t texels[SIDE * SIDE];
    struct image i = map_image(image(SIDE, SIDE, LAYERS, CUDA_ARRAY3D_LAYERED, LEVELS));
    uint32_t next = 1;
    for (unsigned layer = 0; layer < LAYERS; layer++)
        for (unsigned l = 0; l < LEVELS; l++) {
            CUDA_ARRAY3D_DESCRIPTOR d;
            CUarray level;
            MUST(cuMipmappedArrayGetLevel(&level, i.mip, l));
            MUST(cuArray3DGetDescriptor(&d, level));
            for (unsigned t = 0; t < SIDE * SIDE; t++)
                texels[t] = next++;
            write_texels(level, texels, d.Width, d.Height, layer);
            printf("level layer=%u level=%u width=%zu height=%zu at=%zu\n", layer, l, d.Width,
                   d.Height, find(i, texels[0]));
        }
}

// ---- map and unmap

// Prints a step: who acts, the call, its result, and the diagnostic that it raised.
static void step(const char *who, const char *call, CUresult r)
{
    static size_t seen;
    const char *ids = test_reported(), *id = strlen(ids) > seen ? ids + seen : "none";
    printf("step who=%s call=%s result=%s diagnostic=%s\n", who, call, test_code(r),
           *id == ' ' ? id + 1 : id);
    seen = strlen(ids);
}

static void mapping(void)
{
    cardlessBuffer b = virtual_buffer(4096);
    CUgraphicsResource r = registered(b, 0);
    CUdeviceptr p = 0;
    unsigned char back[16];
    step("graphics", "cardlessFillBuffer", cardlessFillBuffer(b, 0, 4096, 1));
    step("CUDA", "cuGraphicsMapResources", cuGraphicsMapResources(1, &r, NULL));
    step("CUDA", "cuGraphicsResourceGetMappedPointer",
         cuGraphicsResourceGetMappedPointer(&p, NULL, r));
    step("CUDA", "cuMemsetD8", cuMemsetD8(p, 2, 4096));
    step("graphics", "cardlessFillBuffer", cardlessFillBuffer(b, 4000, 96, 3));
    step("CUDA", "cuGraphicsUnmapResources", cuGraphicsUnmapResources(1, &r, NULL));
    step("CUDA", "cuMemsetD8", cuMemsetD8(p, 4, 4096));
    step("graphics", "cardlessReadBuffer", cardlessReadBuffer(b, 0, sizeof back, back));
    printf("value who=graphics reads=%u\n", back[0]);
}

// ---- streams: each command is held up in turn; the ones that do not run meanwhile wait for it

enum command { A1, A2, B1, C1, D1, B2, COMMANDS };
static const char *const command_names[] = {"A1", "A2", "B1", "C1", "D1", "B2"};
static CUevent done[COMMANDS];

static bool is_done(int c)
{
    CUresult r = cuEventQuery(done[c]);
    if (r != CUDA_ERROR_NOT_READY)
        MUST(r);
    return !r;
}

// Waits until no more commands complete. If the policy is eager, they complete while they are
// issued.
static void settle(void)
{
    for (int quiet = 0, before = -1; quiet < 3; quiet++) {
        int now = 0;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        for (int c = 0; c < COMMANDS; c++)
            now += is_done(c);
        if (now != before)
            quiet = 0;
        before = now;
    }
}

// Issues a command, and an event after it. If it is the command to hold up, it is blocked first.
static atomic_uint *issue(CUstream s, enum command c, enum command held, CUdeviceptr words)
{
    atomic_uint *release = c == held ? test_hold(s) : NULL;
    MUST(cuMemsetD32Async(words + 4 * c, 1, 1, s));
    MUST(cuEventRecord(done[c], s));
    return release;
}

static void run_held(enum command held, CUstream a, CUstream b, CUstream c, CUdeviceptr words)
{
    atomic_uint *release[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        MUST(cuEventCreate(&done[i], CU_EVENT_DISABLE_TIMING));
    release[A1] = issue(a, A1, held, words);
    release[A2] = issue(a, A2, held, words);
    MUST(cuStreamWaitEvent(b, done[A1], 0));
    release[B1] = issue(b, B1, held, words);
    release[C1] = issue(c, C1, held, words);
    release[D1] = issue(CU_STREAM_LEGACY, D1, held, words);
    release[B2] = issue(b, B2, held, words);
    settle();
    for (int i = 0; i < COMMANDS; i++)
        if (i != (int)held && !is_done(i))
            printf("waits command=%s for=%s\n", command_names[i], command_names[held]);
    *release[held] = 1;
    MUST(cuCtxSynchronize());
    for (int i = 0; i < COMMANDS; i++)
        MUST(cuEventDestroy(done[i]));
}

static void streams(void)
{
    CUstream a, b, c;
    CUdeviceptr words;
    MUST(cuMemAlloc(&words, 4 * COMMANDS));
    MUST(cuStreamCreate(&a, CU_STREAM_DEFAULT));
    MUST(cuStreamCreate(&b, CU_STREAM_DEFAULT));
    MUST(cuStreamCreate(&c, CU_STREAM_NON_BLOCKING));
    for (int held = 0; held < COMMANDS; held++)
        run_held((enum command)held, a, b, c, words);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } drawings[] = {{"aliases", aliases},
                    {"gob", gob},
                    {"mips", mips},
                    {"mapping", mapping},
                    {"streams", streams}};
    char sink[96];
    snprintf(test_diagnostics, sizeof test_diagnostics, "/tmp/cardless-facts-%ld.json",
             (long)getpid());
    snprintf(sink, sizeof sink, "json:%s", test_diagnostics);
    test_setting("CARDLESS_DIAGNOSTICS", sink);
    test_context();
    for (unsigned i = 0; i < sizeof drawings / sizeof *drawings; i++)
        if (argc == 2 && !strcmp(argv[1], drawings[i].name)) {
            drawings[i].print();
            unlink(test_diagnostics);
            return test_failures > 0;
        }
    unlink(test_diagnostics);
    fprintf(stderr, "usage: facts aliases|gob|mips|mapping|streams\n");
    return 2;
}
