// SPDX-License-Identifier: MIT
// Arrays of video formats: which descriptors are accepted, the shape of their planes, the memory
// that they need, the position of their texels in mapped external memory, and texture references
// to memory of such formats.
#include "record.h"

enum { MEMORY_B = 256 << 20, DIED = 77, MOST_B = 20 << 20 };

#define COUNT(list) (sizeof(list) / sizeof *(list))

// ---- output

static const char *blank(void)
{
    return record->line[0] ? " " : "";
}

static void say_code(const char *what, CUresult r)
{
    SAY("%s%s=%s", blank(), what, record_name(r));
}

// Prints a code as one letter.
static void say_letter(CUresult r)
{
    switch (r) {
    case CUDA_SUCCESS:
        SAY(".");
        break;
    case CUDA_ERROR_INVALID_VALUE:
        SAY("V");
        break;
    case CUDA_ERROR_OUT_OF_MEMORY:
        SAY("M");
        break;
    case CUDA_ERROR_NOT_SUPPORTED:
        SAY("N");
        break;
    case CUDA_ERROR_INVALID_HANDLE:
        SAY("H");
        break;
    case CUDA_ERROR_INVALID_CONTEXT:
        SAY("C");
        break;
    case CUDA_ERROR_UNKNOWN:
        SAY("U");
        break;
    default:
        SAY("#");
    }
}

static void die_if_lost(void)
{
    CUresult r = cuCtxSynchronize();
    if (r) {
        SAY(" STICKY %s", record_name(r));
        _exit(DIED);
    }
}

// ---- formats, sizes and arrays of them

// The format's number, its channels, and the size of an element in bytes: of the first plane (or
// of the only one), and of later planes (0 if there are no planes).
static const struct video {
    unsigned format, channels, first_B, later_B;
} formats[] = {{0xb0, 3, 1, 2}, {0x9f, 3, 2, 4}, {0xa1, 3, 2, 4}, {0xa2, 3, 1, 2},
               {0xa3, 3, 2, 4}, {0xa4, 3, 2, 4}, {0xb2, 3, 1, 1}, {0xb3, 3, 2, 2},
               {0xb4, 3, 1, 2}, {0xb5, 3, 2, 4}, {0xa5, 4, 2, 0}, {0xa6, 2, 4, 0},
               {0xa7, 2, 4, 0}, {0xa8, 4, 4, 0}, {0xa9, 1, 4, 0}, {0xb1, 4, 8, 0}};

static const struct size {
    size_t width, height;
} sizes[] = {{64, 64},   {256, 100}, {1920, 1080}, {66, 34},  {2, 2},    {16, 16},
             {640, 480}, {8, 200},   {300, 2},     {512, 20}, {128, 12}, {4096, 2160}};

enum { NV12 = 0xb0, VIDEO = 0x100, USED_SIZES = 4 };

static CUexternalMemory external;
static CUdeviceptr bytes;
static unsigned char filled[MOST_B], found[16 << 20];

static void set_up(void)
{
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC all = {.size = MEMORY_B};
    record_context();
    external = record_external_memory(MEMORY_B);
    NEED(cuExternalMemoryGetMappedBuffer(&bytes, external, &all));
    NEED(cuMemsetD8(bytes, 0, sizeof found));
}

static CUDA_ARRAY3D_DESCRIPTOR describe(const struct video *v, size_t width, size_t height,
                                        size_t depth, unsigned flags)
{
    return (CUDA_ARRAY3D_DESCRIPTOR){.Width = width,
                                     .Height = height,
                                     .Depth = depth,
                                     .Format = (CUarray_format)v->format,
                                     .NumChannels = v->channels,
                                     .Flags = flags};
}

static CUresult map(CUmipmappedArray *out, uint64_t offset, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                    unsigned levels)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC d = {
        .offset = offset, .arrayDesc = *desc, .numLevels = levels};
    *out = NULL;
    return cuExternalMemoryGetMappedMipmappedArray(out, external, &d);
}

static void say_desc(CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = cuArray3DGetDescriptor(&d, array);
    if (r)
        SAY("[%s]", record_name(r));
    else
        SAY("[%zux%zux%zu f%x c%u F%x]", d.Width, d.Height, d.Depth, (unsigned)d.Format,
            d.NumChannels, d.Flags);
}

// Creates a texture that reads floats, a texture that reads integers, and a surface.
static void say_objects(CUarray array)
{
    CUDA_RESOURCE_DESC d = {.res.array.hArray = array};
    CUDA_TEXTURE_DESC t = {0};
    CUtexObject object;
    say_letter(cuTexObjectCreate(&object, &d, &t, NULL));
    t.flags = CU_TRSF_READ_AS_INTEGER;
    say_letter(cuTexObjectCreate(&object, &d, &t, NULL));
    say_letter(cuSurfObjectCreate(&object, &d));
}

static CUresult copy_rows(CUarray array, unsigned char *host, size_t width_B, size_t height,
                          bool in)
{
    CUDA_MEMCPY2D c = {.srcMemoryType = in ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY,
                       .dstMemoryType = in ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST,
                       .srcHost = host,
                       .dstHost = host,
                       .srcArray = array,
                       .dstArray = array,
                       .srcPitch = in ? width_B : 0,
                       .dstPitch = in ? 0 : width_B,
                       .WidthInBytes = width_B,
                       .Height = height};
    return cuMemcpy2D(&c);
}

static size_t element_B(const struct video *v, int plane)
{
    return plane ? v->later_B : v->first_B;
}

// ---- arrays in device memory

static void fill(size_t size, int plane)
{
    for (size_t i = 0; i < size; i++)
        filled[i] = (unsigned char)(i * 7 + (size_t)plane * 31 + i / 251);
}

static void say_plane_contents(CUarray array, const struct video *v, int count)
{
    for (int i = 0; i < count; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d;
        CUarray plane;
        cuArrayGetPlane(&plane, array, (unsigned)i);
        cuArray3DGetDescriptor(&d, plane);
        size_t row_B = d.Width * element_B(v, i);
        fill(row_B * d.Height, i);
        CUresult r = copy_rows(plane, found, row_B, d.Height, false);
        SAY(" back%d=%s/%d", i, record_name(r), !memcmp(filled, found, row_B * d.Height));
    }
}

static void say_created(const struct video *v, const struct size *s)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = describe(v, s->width, s->height, 0, VIDEO), d;
    CUarray array, plane = NULL;
    CUresult r = cuArray3DCreate(&array, &desc);
    if (r) {
        say_code("create", r);
        return;
    }
    say_desc(array);
    SAY(" level:");
    say_objects(array);
    int count = 0;
    for (; count < 4 && !cuArrayGetPlane(&plane, array, (unsigned)count); count++) {
        SAY(" %d", count);
        say_desc(plane);
        say_objects(plane);
        cuArray3DGetDescriptor(&d, plane);
        fill(d.Width * element_B(v, count) * d.Height, count);
        say_letter(copy_rows(plane, filled, d.Width * element_B(v, count), d.Height, true));
    }
    say_plane_contents(array, v, count);
    SAY(" all:%s", record_name(copy_rows(array, filled, s->width * v->first_B, s->height, true)));
    say_code("past", copy_rows(array, filled, s->width * v->first_B + 1, s->height, true));
    say_code("rows", copy_rows(array, filled, s->width * v->first_B, s->height + 1, true));
    say_code("wide", copy_rows(array, filled, s->width * 16, 1, true));
    if (count)
        say_code("destroy-plane", cuArrayDestroy(plane));
    say_code("destroy", cuArrayDestroy(array));
}

static void say_need(const struct video *v, const struct size *s, size_t layers)
{
    CUDA_ARRAY3D_DESCRIPTOR desc =
        describe(v, s->width, s->height, layers,
                 VIDEO | CUDA_ARRAY3D_DEFERRED_MAPPING | (layers ? CUDA_ARRAY3D_LAYERED : 0));
    CUDA_ARRAY_MEMORY_REQUIREMENTS need;
    CUarray array, plane;
    CUresult r = cuArray3DCreate(&array, &desc);
    SAY("%s%zux%zu:", blank(), s->width, s->height);
    if (r) {
        say_letter(r);
        return;
    }
    r = cuArrayGetMemoryRequirements(&need, array, 0);
    if (r)
        say_letter(r);
    else
        SAY("%zx/%zx", need.size, need.alignment);
    for (unsigned i = 0; i < 3 && !layers; i++)
        if (!cuArrayGetPlane(&plane, array, i)) {
            r = cuArrayGetMemoryRequirements(&need, plane, 0);
            SAY("+");
            if (r)
                say_letter(r);
            else
                SAY("%zx", need.size);
        }
    cuArrayDestroy(array);
}

static void say_sparse(const struct video *v, const struct size *s)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = describe(v, s->width, s->height, 0, VIDEO | CUDA_ARRAY3D_SPARSE);
    CUDA_ARRAY_SPARSE_PROPERTIES p = {0};
    CUarray array;
    CUresult r = cuArray3DCreate(&array, &desc);
    SAY("%s%zux%zu:", blank(), s->width, s->height);
    if (r) {
        say_letter(r);
        return;
    }
    r = cuArrayGetSparseProperties(&p, array);
    if (r)
        say_letter(r);
    else
        SAY("%ux%ux%u,%u,%llx,%x", p.tileExtent.width, p.tileExtent.height, p.tileExtent.depth,
            p.miptailFirstLevel, p.miptailSize, p.flags);
    cuArrayDestroy(array);
}

enum use { ARRAY, MIPMAP, MAPPED };

static void say_accepted(enum use use, const struct video *v, size_t width, size_t height,
                         size_t depth, unsigned flags, unsigned levels)
{
    CUDA_ARRAY3D_DESCRIPTOR d = describe(v, width, height, depth, flags);
    CUarray array;
    CUmipmappedArray mipmap;
    CUresult r;
    if (use == ARRAY) {
        r = cuArray3DCreate(&array, &d);
        if (!r)
            cuArrayDestroy(array);
    } else {
        r = use == MIPMAP ? cuMipmappedArrayCreate(&mipmap, &d, levels)
                          : map(&mipmap, 0, &d, levels);
        if (!r)
            cuMipmappedArrayDestroy(mipmap);
    }
    say_letter(r);
}

static void say_rules(enum use use, const struct video *v)
{
    static const size_t extents[] = {0,  1,  2,     3,     4,     5,     6,      8,
                                     63, 64, 16384, 32768, 32770, 65536, 131072, 131074};
    SAY("%suse%d w:", blank(), (int)use);
    for (size_t i = 0; i < COUNT(extents); i++)
        say_accepted(use, v, extents[i], 4, 0, VIDEO, 1);
    SAY(" h:");
    for (size_t i = 0; i < COUNT(extents); i++)
        say_accepted(use, v, 4, extents[i], 0, VIDEO, 1);
    SAY(" d:");
    for (size_t i = 0; i < 4; i++)
        say_accepted(use, v, 64, 64, i, VIDEO, 1);
    SAY(" l:");
    for (size_t i = 0; i < 4; i++)
        say_accepted(use, v, 64, 64, i, VIDEO | CUDA_ARRAY3D_LAYERED, 1);
    say_accepted(use, v, 64, 0, 2, VIDEO | CUDA_ARRAY3D_LAYERED, 1);
    SAY(" lv:");
    for (unsigned i = use == MIPMAP ? 0 : 1; i < 9 && use != ARRAY; i++)
        say_accepted(use, v, 64, 64, 0, VIDEO, i);
    SAY(" cube:");
    say_accepted(use, v, 64, 64, 6, VIDEO | CUDA_ARRAY3D_CUBEMAP, 1);
    say_accepted(use, v, 64, 64, 6, VIDEO | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 1);
    SAY(" fl:");
    for (unsigned flags = 0; flags < 256; flags++)
        if (!(flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_DEPTH_TEXTURE)))
            say_accepted(use, v, 64, 64, 0, flags | VIDEO, 1);
}

GROUP(created)
{
    set_up();
    for (size_t i = 0; i < COUNT(formats); i++)
        for (int s = 0; s < USED_SIZES; s++)
            if (CASE("f%x-%zux%zu", formats[i].format, sizes[s].width, sizes[s].height)) {
                say_created(&formats[i], &sizes[s]);
                die_if_lost();
            }
    for (size_t i = 0; i < COUNT(formats); i++)
        if (CASE("need-f%x", formats[i].format))
            for (size_t s = 0; s < COUNT(sizes); s++)
                say_need(&formats[i], &sizes[s], 0);
    for (size_t i = 0; i < COUNT(formats); i++)
        if (CASE("need-layers-f%x", formats[i].format))
            for (size_t s = 0; s < 6; s++)
                say_need(&formats[i], &sizes[s], 3);
    for (size_t i = 0; i < COUNT(formats); i++)
        if (CASE("sparse-f%x", formats[i].format))
            for (size_t s = 0; s < 3; s++)
                say_sparse(&formats[i], &sizes[s]);
    for (size_t i = 0; i < COUNT(formats); i++)
        if (CASE("rules-f%x", formats[i].format))
            for (int use = ARRAY; use <= MAPPED; use++)
                say_rules((enum use)use, &formats[i]);
}

// ---- positions of texels in mapped memory

// Fills an array with one bits.
static CUresult put(CUarray array, size_t x_B, size_t y, size_t z, size_t width_B)
{
    static unsigned char ones[64];
    memset(ones, 0xff, sizeof ones);
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                       .srcHost = ones,
                       .srcPitch = width_B,
                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                       .dstArray = array,
                       .dstXInBytes = x_B,
                       .dstY = y,
                       .dstZ = z,
                       .WidthInBytes = width_B,
                       .Height = 1,
                       .Depth = 1};
    return cuMemcpy3D(&c);
}

// Prints the ranges of the first `length` bytes that are not zero, and clears them.
static void say_found(size_t length)
{
    size_t first = SIZE_MAX, last = 0, count = 0;
    if (cuMemcpyDtoH(found, bytes, length)) {
        SAY("?");
        return;
    }
    for (size_t word = 0; word < length; word += 8) {
        uint64_t all;
        memcpy(&all, found + word, 8);
        for (size_t i = word; all && i < word + 8; i++)
            if (found[i]) {
                first = first == SIZE_MAX ? i : first;
                last = i;
                count++;
            }
    }
    if (!count) {
        SAY("-");
        return;
    }
    SAY("%zx", first);
    if (last - first + 1 != count)
        SAY("..%zx(%zu)", last, count);
    else if (count != 1)
        SAY("+%zu", count);
    cuMemsetD8(bytes + first, 0, last - first + 1);
}

static void say_texels(CUarray array, size_t texel_B, size_t length)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUresult r = cuArray3DGetDescriptor(&d, array);
    if (r) {
        SAY("%s", record_name(r));
        return;
    }
    SAY("%zux%zux%zu/f%x/c%u/F%x 0 ", d.Width, d.Height, d.Depth, (unsigned)d.Format, d.NumChannels,
        d.Flags);
    r = put(array, 0, 0, 0, texel_B);
    if (r) {
        SAY("%s", record_name(r));
        return;
    }
    say_found(length);
    SAY(" x");
    for (size_t x = 1; x < d.Width; x *= 2) {
        SAY(" ");
        say_letter(put(array, x * texel_B, 0, 0, texel_B));
        say_found(length);
    }
    SAY(" y");
    for (size_t y = 1; y < d.Height; y *= 2) {
        SAY(" ");
        say_letter(put(array, 0, y, 0, texel_B));
        say_found(length);
    }
    SAY(" last ");
    say_letter(put(array, (d.Width - 1) * texel_B, d.Height - 1, 0, texel_B));
    say_found(length);
    for (size_t z = 1; z < d.Depth; z++) {
        SAY(" z%zu ", z);
        say_letter(put(array, 0, 0, z, texel_B));
        say_found(length);
    }
}

// Returns the array of a mapped image or of one of its planes. Returns NULL after printing the
// reason if there is no such array.
static CUarray mapped_plane(const struct video *v, const CUDA_ARRAY3D_DESCRIPTOR *desc, int plane)
{
    CUmipmappedArray mipmap;
    CUarray whole, array;
    CUresult r = map(&mipmap, 0, desc, 1);
    if (r) {
        say_code("map", r);
        return NULL;
    }
    cuMipmappedArrayGetLevel(&whole, mipmap, 0);
    if (!v->later_B)
        return whole;
    r = cuArrayGetPlane(&array, whole, (unsigned)plane);
    if (r) {
        say_code("plane", r);
        return NULL;
    }
    return array;
}

static void place(const struct video *v, unsigned flags, const struct size *s, int plane)
{
    CUDA_ARRAY3D_DESCRIPTOR d = describe(v, s->width, s->height, 0, flags);
    CUarray array = mapped_plane(v, &d, plane);
    if (array)
        say_texels(array, element_B(v, plane), s->width > 1000 ? sizeof found : sizeof found / 16);
}

static bool fits(uint64_t offset, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    CUmipmappedArray mipmap;
    if (map(&mipmap, offset, d, 1))
        return false;
    cuMipmappedArrayDestroy(mipmap);
    return true;
}

// Finds the smallest memory, in steps of 512 bytes, in which such an image can be mapped.
static void say_least(const struct video *v, unsigned flags, const struct size *s)
{
    CUDA_ARRAY3D_DESCRIPTOR d = describe(v, s->width, s->height, 0, flags);
    uint64_t low = 0, high = MEMORY_B / 512;
    SAY("%s%zux%zu:", blank(), s->width, s->height);
    if (!fits(0, &d)) {
        SAY("none");
        return;
    }
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (fits(middle * 512, &d))
            low = middle;
        else
            high = middle;
    }
    SAY("%llx", (unsigned long long)(MEMORY_B - low * 512));
}

static void write_whole(const struct video *v, size_t width_B)
{
    CUDA_ARRAY3D_DESCRIPTOR d = describe(v, 64, 64, 0, VIDEO);
    CUmipmappedArray mipmap;
    CUarray array;
    CUresult r = map(&mipmap, 0, &d, 1);
    if (r) {
        say_code("map", r);
        return;
    }
    cuMipmappedArrayGetLevel(&array, mipmap, 0);
    say_letter(put(array, 0, 0, 0, width_B));
    SAY(" ");
    say_found(1 << 20);
    SAY(" ");
    say_letter(put(array, width_B, 1, 0, width_B));
    SAY(" ");
    say_found(1 << 20);
}

static void read_chroma(const struct size *s)
{
    const struct video *v = &formats[0];
    CUDA_ARRAY3D_DESCRIPTOR d = describe(v, s->width, s->height, 0, 0);
    CUarray plane = mapped_plane(v, &d, 1);
    unsigned char texel[4];
    if (plane)
        say_code("read", cuMemcpyAtoH(texel, plane, 0, 2));
}

GROUP(extplane)
{
    static const size_t widths_B[] = {1, 2, 4, 64};
    set_up();
    for (const struct video *v = formats; v < formats + COUNT(formats); v++)
        for (unsigned flags = v->format == NV12 ? 0 : VIDEO; flags <= VIDEO; flags += VIDEO)
            for (int s = 0; s < USED_SIZES; s++)
                for (int plane = 0; plane < 3; plane++) {
                    if ((plane && !v->later_B) || (plane == 2 && (v->format & ~1u) != 0xb2))
                        continue;
                    if (CASE("f%x-F%x-%zux%zu-p%d", v->format, flags, sizes[s].width,
                             sizes[s].height, plane)) {
                        place(v, flags, &sizes[s], plane);
                        die_if_lost();
                    }
                }
    for (const struct video *v = formats; v < formats + COUNT(formats); v++)
        if (CASE("layers-f%x", v->format)) {
            CUDA_ARRAY3D_DESCRIPTOR d = describe(v, 128, 20, 3, VIDEO | CUDA_ARRAY3D_LAYERED);
            CUarray array = mapped_plane(v, &d, 0);
            if (array)
                say_texels(array, v->first_B, 4 << 20);
            die_if_lost();
        }
    for (const struct video *v = formats; v < formats + COUNT(formats); v++)
        for (unsigned flags = v->format == NV12 ? 0 : VIDEO; flags <= VIDEO; flags += VIDEO)
            if (CASE("fit-f%x-F%x", v->format, flags))
                for (size_t s = 0; s < COUNT(sizes); s++)
                    say_least(v, flags, &sizes[s]);
    for (const struct video *v = formats; v < formats + COUNT(formats); v++)
        for (size_t w = 0; w < COUNT(widths_B); w++)
            if (CASE("whole-f%x-%zu", v->format, w)) {
                write_whole(v, widths_B[w]);
                die_if_lost();
            }
    for (int s = 0; s < 3; s++)
        if (CASE("read-chroma-%d", s)) {
            read_chroma(&sizes[s]);
            die_if_lost();
        }
}

// ---- texture references

static CUdeviceptr linear;
static CUtexref reference;

static CUresult set_2d(size_t width, size_t height, unsigned format, unsigned channels,
                       CUdeviceptr address, size_t pitch)
{
    CUDA_ARRAY_DESCRIPTOR d = {.Width = width,
                               .Height = height,
                               .Format = (CUarray_format)format,
                               .NumChannels = channels};
    return cuTexRefSetAddress2D(reference, &d, address, pitch);
}

static void say_format_after(unsigned format, unsigned channels, CUdeviceptr address)
{
    CUarray_format now = (CUarray_format)77;
    int count = 77;
    cuTexRefSetFormat(reference, CU_AD_FORMAT_HALF, 2);
    say_letter(set_2d(8, 2, format, channels, address, 512));
    cuTexRefGetFormat(&now, &count, reference);
    SAY("%x/%d ", (unsigned)now, count);
}

static void formats_2d(void)
{
    static const unsigned tried[][2] = {
        {1, 0},     {1, 1},    {1, 3},    {1, 5},    {0x20, 9},         {0, 1},
        {0x999, 2}, {0x91, 4}, {0xc5, 1}, {0x20, 0}, {0x20, UINT32_MAX}};
    for (size_t i = 0; i < COUNT(tried); i++)
        say_format_after(tried[i][0], tried[i][1], linear);
    say_format_after(1, 1, linear + 1);
}

static void extents_2d(void)
{
    static const uint64_t tried[] = {0,
                                     1,
                                     65000,
                                     65001,
                                     131072,
                                     131073,
                                     UINT64_C(1) << 31,
                                     (UINT64_C(1) << 31) + 5,
                                     UINT32_MAX,
                                     UINT64_C(1) << 32,
                                     (UINT64_C(1) << 32) + 8,
                                     (UINT64_C(1) << 32) + 65001,
                                     (UINT64_C(1) << 32) + 131073,
                                     UINT64_MAX};
    for (size_t i = 0; i < COUNT(tried); i++) {
        say_letter(set_2d(tried[i], 4, 1, 1, linear, 1 << 20));
        say_letter(set_2d(8, tried[i], 1, 1, linear, 1 << 20));
        say_letter(set_2d(8, 4, 1, 1, linear, tried[i] & ~UINT64_C(31)));
        SAY(" ");
    }
}

// Finds the size in GiB, as a power of two, that a reference to linear memory can have.
static void linear_sizes(void)
{
    static const unsigned tried[] = {0xa1, 0xa2, 0xa5, 0xa6, 0xa8, 0xa9, 0xb1, 0xb2, 0xb3,
                                     0xc0, 0xc4, 0xcb, 0x93, 0x97, 0x50, 0,    7,    0xff};
    size_t offset;
    for (size_t i = 0; i < COUNT(tried); i++) {
        SAY("%s%x:", blank(), tried[i]);
        for (int channels = 1; channels <= 4; channels++) {
            unsigned most = 0;
            cuTexRefSetFormat(reference, (CUarray_format)tried[i], channels);
            for (unsigned size = 1; size <= 64; size *= 2)
                if (!cuTexRefSetAddress(&offset, reference, linear, (size_t)size << 30))
                    most = size;
            SAY("%u,", most);
        }
    }
}

static void mipmap_destroyed(bool level)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {
        .Width = 64, .Height = 64, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
    CUmipmappedArray mipmap, got = NULL;
    CUarray array, got_array = NULL;
    CUdeviceptr address = 1;
    NEED(cuMipmappedArrayCreate(&mipmap, &d, 2));
    NEED(cuMipmappedArrayGetLevel(&array, mipmap, 1));
    say_code("set", level ? cuTexRefSetArray(reference, array, CU_TRSA_OVERRIDE_FORMAT)
                          : cuTexRefSetMipmappedArray(reference, mipmap, CU_TRSA_OVERRIDE_FORMAT));
    say_code("destroy", cuMipmappedArrayDestroy(mipmap));
    say_code("get", level ? cuTexRefGetArray(&got_array, reference)
                          : cuTexRefGetMipmappedArray(&got, reference));
    if (!level)
        say_code("address", cuTexRefGetAddress(&address, reference));
}

GROUP(refs2)
{
    record_context();
    NEED(cuMemAlloc(&linear, 4 << 20));
    NEED(cuTexRefCreate(&reference));
    if (CASE("mip-destroyed"))
        mipmap_destroyed(false);
    if (CASE("level-destroyed"))
        mipmap_destroyed(true);
    if (CASE("2d-formats"))
        formats_2d();
    if (CASE("2d-extents"))
        extents_2d();
    if (CASE("linear-sizes"))
        linear_sizes();
}

int main(int argc, char **argv)
{
    RUN(created);
    RUN(extplane);
    RUN(refs2);
    return 0;
}
