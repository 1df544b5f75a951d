// SPDX-License-Identifier: MIT
// The device memory of arrays: how much of it a context has less while arrays live (`taken`), the
// texels of an array that nobody has written, when memory of its size was filled and freed before
// (`unwritten`), which arrays have a chunk of memory together (`together`), how many of a size fit
// into one (`fit`), and memory of 1 to 2 MiB (`beside`).
#include "record.h"

enum { MOST_B = 8 << 20 };

static const struct kind {
    const char *name;
    CUDA_ARRAY3D_DESCRIPTOR d;
    unsigned texel_B, levels; // levels: 0 of an array
} kinds[] = {
    {"row", {256, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0}, 1, 0},
    {"square", {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 4, 0},
    {"odd", {13, 11, 0, CU_AD_FORMAT_UNSIGNED_INT8, 2, 0}, 2, 0},
    {"surface", {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST}, 4, 0},
    {"medium", {128, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 4, 0},
    {"cube", {8, 8, 8, CU_AD_FORMAT_FLOAT, 1, 0}, 4, 0},
    {"layers", {16, 16, 3, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}, 4, 0},
    {"mipmap", {31, 4, 0, CU_AD_FORMAT_UNSIGNED_INT32, 2, 0}, 8, 5},
    {"mipmap-64", {64, 64, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0}, 4, 7},
    {"large", {600, 600, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 4, 0},
    {"larger", {1024, 700, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 4, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

struct image {
    CUarray array;
    CUmipmappedArray mipmap;
};

static unsigned char bytes[MOST_B];

static struct image open_image(const struct kind *k)
{
    struct image i = {0};
    if (k->levels)
        NEED(cuMipmappedArrayCreate(&i.mipmap, &k->d, k->levels));
    else
        NEED(cuArray3DCreate(&i.array, &k->d));
    return i;
}

static void close_image(struct image i)
{
    if (i.mipmap)
        NEED(cuMipmappedArrayDestroy(i.mipmap));
    else
        NEED(cuArrayDestroy(i.array));
}

static size_t halved(size_t size, unsigned level)
{
    size >>= level;
    return size ? size : 1;
}

// Copies all texels of a level to or from `bytes`. Returns how many bytes they are.
static size_t copy_level(const struct kind *k, struct image i, unsigned level, bool in)
{
    const bool layered = k->d.Flags & CUDA_ARRAY3D_LAYERED;
    CUarray array = i.array;
    if (i.mipmap)
        NEED(cuMipmappedArrayGetLevel(&array, i.mipmap, level));
    CUDA_MEMCPY3D c = {.srcMemoryType = in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY,
                       .dstMemoryType = in ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST,
                       .srcHost = bytes,
                       .dstHost = bytes,
                       .srcArray = in ? NULL : array,
                       .dstArray = in ? array : NULL};
    c.WidthInBytes = halved(k->d.Width, level) * k->texel_B;
    c.Height = halved(k->d.Height, level);
    c.Depth = layered ? k->d.Depth : halved(k->d.Depth, level);
    c.srcPitch = c.dstPitch = c.WidthInBytes;
    c.srcHeight = c.dstHeight = c.Height;
    NEED(cuMemcpy3D(&c));
    return c.WidthInBytes * c.Height * c.Depth;
}

static void fill_image(const struct kind *k, struct image i)
{
    memset(bytes, 0xab, sizeof bytes);
    for (unsigned level = 0; level < (k->levels ? k->levels : 1); level++)
        copy_level(k, i, level, true);
}

// Says how many bytes of the texels are not 0.
static void say_image(const struct kind *k, struct image i)
{
    size_t written = 0, all = 0;
    for (unsigned level = 0; level < (k->levels ? k->levels : 1); level++) {
        const size_t size = copy_level(k, i, level, false);
        for (size_t n = 0; n < size; n++)
            written += bytes[n] != 0;
        all += size;
    }
    SAY(" %zu of %zu", written, all);
}

// The size of linear memory that is as large as the texels, or larger.
static size_t linear_size(const struct kind *k)
{
    return k->d.Width * (k->d.Height ? k->d.Height : 1) * (k->d.Depth ? k->d.Depth : 1) *
           k->texel_B * (k->levels ? 2 : 1);
}

// ---- taken ----

static size_t free_before;

static void say_taken(const char *what)
{
    size_t now, all;
    NEED(cuMemGetInfo(&now, &all));
    SAY(" %s %lld", what, ((long long)free_before - (long long)now) / 1024);
    free_before = now;
}

GROUP(taken)
{
    record_context();
    for (int i = 0; i < KINDS; i++)
        if (CASE("%s", kinds[i].name)) {
            const struct kind *k = &kinds[i];
            CUdeviceptr linear, second;
            size_t all;
            NEED(cuMemGetInfo(&free_before, &all));
            NEED(cuMemAlloc(&linear, 512));
            say_taken("linear");
            struct image a = open_image(k);
            say_taken("array");
            struct image b = open_image(k);
            say_taken("another");
            NEED(cuMemAlloc(&second, 512));
            say_taken("linear");
            NEED(cuMemFree(linear));
            NEED(cuMemFree(second));
            say_taken("free");
            close_image(a);
            say_taken("destroy");
            close_image(b);
            say_taken("destroy");
        }
}

// ---- unwritten ----

GROUP(unwritten)
{
    record_context();
    // Arrays whose predecessor was an array.
    for (int i = 0; i < KINDS; i++)
        for (int j = 0; j < KINDS; j++)
            if (CASE("%s after %s", kinds[j].name, kinds[i].name)) {
                struct image kept = open_image(&kinds[i]), kept_too = open_image(&kinds[j]);
                struct image first = open_image(&kinds[i]);
                fill_image(&kinds[i], kept);
                fill_image(&kinds[i], first);
                close_image(first);
                struct image a = open_image(&kinds[j]);
                say_image(&kinds[j], a);
                close_image(a);
                close_image(kept);
                close_image(kept_too);
            }
    for (int i = 0; i < KINDS; i++) {
        const struct kind *k = &kinds[i];
        // Linear memory before an array, and after it.
        if (CASE("%s after linear", k->name)) {
            CUdeviceptr kept, first;
            NEED(cuMemAlloc(&kept, 512));
            NEED(cuMemAlloc(&first, linear_size(k)));
            NEED(cuMemsetD8(first, 0xab, linear_size(k)));
            NEED(cuMemFree(first));
            struct image a = open_image(k);
            say_image(k, a);
            close_image(a);
            NEED(cuMemFree(kept));
        }
        if (CASE("linear after %s", k->name)) {
            CUdeviceptr kept, second;
            NEED(cuMemAlloc(&kept, 512));
            struct image a = open_image(k), kept_too = open_image(k);
            fill_image(k, a);
            close_image(a);
            size_t written = 0;
            NEED(cuMemAlloc(&second, linear_size(k)));
            NEED(cuMemcpyDtoH(bytes, second, linear_size(k)));
            for (size_t n = 0; n < linear_size(k); n++)
                written += bytes[n] != 0;
            SAY(" %s", written ? "its bytes" : "0");
            NEED(cuMemFree(second));
            close_image(kept_too);
            NEED(cuMemFree(kept));
        }
        // Linear memory in the place of linear memory, while arrays live or not.
        if (CASE("linear after linear, beside %s", k->name)) {
            CUdeviceptr kept, first, second;
            struct image beside = open_image(k);
            NEED(cuMemAlloc(&kept, 512));
            NEED(cuMemAlloc(&first, linear_size(k)));
            NEED(cuMemsetD8(first, 0xab, linear_size(k)));
            NEED(cuMemFree(first));
            size_t written = 0;
            NEED(cuMemAlloc(&second, linear_size(k)));
            NEED(cuMemcpyDtoH(bytes, second, linear_size(k)));
            for (size_t n = 0; n < linear_size(k); n++)
                written += bytes[n] != 0;
            SAY(" %zu of %zu", written, linear_size(k));
            NEED(cuMemFree(second));
            NEED(cuMemFree(kept));
            close_image(beside);
        }
    }
}

// ---- together ----

static size_t memory_left(void)
{
    size_t now, all;
    NEED(cuMemGetInfo(&now, &all));
    return now;
}

// How many KiB the second of two arrays takes.
static void say_pair(const CUDA_ARRAY3D_DESCRIPTOR *a, const CUDA_ARRAY3D_DESCRIPTOR *b)
{
    CUarray first, second;
    CUresult r = cuArray3DCreate(&first, a);
    if (r) {
        SAY(" %s", record_brief(r));
        return;
    }
    const size_t before = memory_left();
    r = cuArray3DCreate(&second, b);
    if (r)
        SAY(" %s", record_brief(r));
    else {
        SAY(" %lld", ((long long)before - (long long)memory_left()) / 1024);
        NEED(cuArrayDestroy(second));
    }
    NEED(cuArrayDestroy(first));
}

static const CUarray_format first_of_size[] = {
    CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32};
static const int all_formats[] = {
    0x01, 0x02, 0x03, 0x08, 0x09, 0x0a, 0x10, 0x20, 0x50, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97,
    0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5,
    0xb6, 0xb7, 0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb};

GROUP(together)
{
    record_context();
    // An array of each texel of 1 to 16 bytes with each other format.
    for (unsigned f = 0; f < sizeof all_formats / sizeof *all_formats; f++)
        for (unsigned channels = 1; channels <= 4; channels *= 2)
            if (CASE("format-%x %u", (unsigned)all_formats[f], channels)) {
                const CUDA_ARRAY3D_DESCRIPTOR b = {16,       16, 0, (CUarray_format)all_formats[f],
                                                   channels, 0};
                for (unsigned size = 0; size < 3; size++)
                    for (unsigned n = 1; n <= 4; n *= 2) {
                        const CUDA_ARRAY3D_DESCRIPTOR a = {16, 16, 0, first_of_size[size], n, 0};
                        say_pair(&a, &b);
                    }
            }
    static const struct {
        const char *name;
        CUDA_ARRAY3D_DESCRIPTOR d;
    } others[] = {
        {"row", {256, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0}},
        {"rows", {256, 0, 4, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_LAYERED}},
        {"surface", {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST}},
        {"gather", {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_TEXTURE_GATHER}},
        {"faces", {16, 16, 6, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_CUBEMAP}},
        {"attachment", {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_COLOR_ATTACHMENT}},
        {"depth", {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_DEPTH_TEXTURE}},
        {"volume", {16, 16, 16, CU_AD_FORMAT_FLOAT, 1, 0}},
        {"planes", {64, 64, 0, CU_AD_FORMAT_NV12, 3, 0}},
        {"wide planes", {64, 64, 0, CU_AD_FORMAT_P010, 3, 0}},
        {"decode", {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_VIDEO_ENCODE_DECODE}},
    };
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (CASE("%s", others[i].name))
            for (unsigned size = 0; size < 3; size++) {
                const CUDA_ARRAY3D_DESCRIPTOR a = {16, 16, 0, first_of_size[size], 1, 0};
                say_pair(&a, &others[i].d);
                say_pair(&others[i].d, &a);
            }
    // The first and the second linear memory, row, and square of floats of each context.
    if (CASE("contexts")) {
        const CUDA_ARRAY3D_DESCRIPTOR square = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
        const CUDA_ARRAY3D_DESCRIPTOR row = {256, 0, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0};
        CUcontext contexts[3];
        CUarray arrays[12];
        CUdeviceptr linear[6];
        NEED(cuCtxGetCurrent(&contexts[0]));
        for (int i = 1; i < 3; i++)
            NEED(cuCtxCreate(&contexts[i], NULL, 0, 0));
        for (int i = 0; i < 6; i++) {
            NEED(cuCtxSetCurrent(contexts[i % 3]));
            free_before = memory_left();
            NEED(cuMemAlloc(&linear[i], 512));
            say_taken("linear");
            NEED(cuArray3DCreate(&arrays[2 * i], &row));
            say_taken("row");
            NEED(cuArray3DCreate(&arrays[2 * i + 1], &square));
            say_taken("square");
        }
        for (int i = 0; i < 6; i++) {
            NEED(cuMemFree(linear[i]));
            NEED(cuArrayDestroy(arrays[2 * i]));
            NEED(cuArrayDestroy(arrays[2 * i + 1]));
        }
        for (int i = 1; i < 3; i++)
            NEED(cuCtxDestroy(contexts[i]));
        NEED(cuCtxSetCurrent(contexts[0]));
    }
}

// ---- fit ----

GROUP(fit)
{
    static const struct {
        const char *name;
        CUDA_ARRAY3D_DESCRIPTOR d;
        unsigned levels;
    } shapes[] = {
        {"1 row", {16, 0, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"16x8", {16, 8, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"16x16", {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"17x17", {17, 17, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"64x64", {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"64x64, mipmap", {64, 64, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 7},
        {"64x65, bytes", {64, 65, 0, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0}, 0},
        {"128x128", {128, 128, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"128x136", {128, 136, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"256x256", {256, 256, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"512x256", {512, 256, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"384x512", {384, 512, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"448x512", {448, 512, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"512x512", {512, 512, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
        {"528x512", {528, 512, 0, CU_AD_FORMAT_FLOAT, 1, 0}, 0},
    };
    enum { MOST = 4200 };
    static CUarray arrays[MOST];
    static CUmipmappedArray mipmaps[MOST];
    record_context();
    for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (CASE("%s", shapes[i].name)) {
            const size_t start = memory_left();
            unsigned n = 0, levels = shapes[i].levels;
            while (n < MOST && start - memory_left() <= 2 << 20) {
                if (levels)
                    NEED(cuMipmappedArrayCreate(&mipmaps[n++], &shapes[i].d, levels));
                else
                    NEED(cuArray3DCreate(&arrays[n++], &shapes[i].d));
            }
            SAY("%u in the first 2 MiB, then %zu KiB", n - 1,
                (start - memory_left()) / 1024 - 2048);
            while (n--)
                if (levels)
                    NEED(cuMipmappedArrayDestroy(mipmaps[n]));
                else
                    NEED(cuArrayDestroy(arrays[n]));
            SAY(", after them %lld", ((long long)start - (long long)memory_left()) / 1024);
        }
}

// ---- beside: memory of 1 MiB to 2 MiB beside small memory ----

GROUP(beside)
{
    static const size_t sizes_B[] = {1048064, 1048576, 1048577, 1049088, 1310720, 1440000,
                                     1572864, 1835008, 2000000, 2096640, 2096641, 2097152};
    record_context();
    for (unsigned i = 0; i < sizeof sizes_B / sizeof *sizes_B; i++)
        if (CASE("linear %zu", sizes_B[i])) {
            CUdeviceptr small, first, second, after;
            free_before = memory_left();
            NEED(cuMemAlloc(&small, 512));
            say_taken("small");
            NEED(cuMemAlloc(&first, sizes_B[i]));
            say_taken("first");
            SAY(" at %llx", (unsigned long long)first & 0x1fffff);
            NEED(cuMemAlloc(&second, sizes_B[i]));
            say_taken("second");
            SAY(" at %llx", (unsigned long long)second & 0x1fffff);
            NEED(cuMemAlloc(&after, 512));
            say_taken("small");
            SAY(" %s", (after ^ small) >> 21 ? "elsewhere" : "beside the first");
            NEED(cuMemFree(small));
            NEED(cuMemFree(first));
            NEED(cuMemFree(second));
            NEED(cuMemFree(after));
        }
    for (unsigned i = 0; i < sizeof sizes_B / sizeof *sizes_B; i++)
        if (CASE("linear %zu first", sizes_B[i])) {
            CUdeviceptr first, small;
            free_before = memory_left();
            NEED(cuMemAlloc(&first, sizes_B[i]));
            say_taken("first");
            NEED(cuMemAlloc(&small, 512));
            say_taken("small");
            SAY(" %s", (first ^ small) >> 21 ? "elsewhere" : "beside it");
            NEED(cuMemFree(first));
            NEED(cuMemFree(small));
        }
    for (unsigned height = 400; height <= 1024; height += 48)
        if (CASE("array 512x%u", height)) {
            const CUDA_ARRAY3D_DESCRIPTOR small = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0};
            const CUDA_ARRAY3D_DESCRIPTOR large = {512, height, 0, CU_AD_FORMAT_FLOAT, 1, 0};
            CUarray arrays[4];
            free_before = memory_left();
            for (int n = 0; n < 4; n++) {
                NEED(cuArray3DCreate(&arrays[n], n % 2 ? &large : &small));
                say_taken(n % 2 ? "large" : "small");
            }
            for (int n = 0; n < 4; n++)
                NEED(cuArrayDestroy(arrays[n]));
        }
}

int main(int argc, char **argv)
{
    RUN(taken);
    RUN(unwritten);
    RUN(together);
    RUN(fit);
    RUN(beside);
    return 0;
}
