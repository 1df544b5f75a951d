// SPDX-License-Identifier: MIT
// The rules for the arguments of cuTensorMapEncode*, with the manual's words above each check.
//
// Two things that the manual states are not checked. "assert(globalStrides[i] >= globalDim[i])" is
// part of an example of dense strides; strides that decrease are in common use (a transposed
// tensor). Data types and swizzles that only later cards' instructions take are refused there.
#include "tensor_map.h"

#include "call.h"
#include "quirk.h"
#include "record_content.h"

enum {
    TILE_MOST = 256,     // elements of a box in a dimension
    CHANNELS_MOST = 256, // of a pixel
    PIXELS_MOST = 1024,  // of a column
    STEP_MOST = 8,
    PACKED_ELEMENTS = 128, // in the first dimension of a type with ALIGN16B
    ADDRESS_ALIGN_B = 16,
    ADDRESS_ALIGN_MORE_B = 32,
    ADDRESS_BITS =
        57, // of all addresses that a device can have (recorded: tensor_map_edges replace)
};

// Data types: the bits of an element in global memory, and whether it is a floating-point type.
static const struct {
    uint8_t bits;
    bool is_float;
} tensor_types[] = {
    [CU_TENSOR_MAP_DATA_TYPE_UINT8] = {8, false},
    [CU_TENSOR_MAP_DATA_TYPE_UINT16] = {16, false},
    [CU_TENSOR_MAP_DATA_TYPE_UINT32] = {32, false},
    [CU_TENSOR_MAP_DATA_TYPE_INT32] = {32, false},
    [CU_TENSOR_MAP_DATA_TYPE_UINT64] = {64, false},
    [CU_TENSOR_MAP_DATA_TYPE_INT64] = {64, false},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = {16, true},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = {32, true},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = {64, true},
    [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = {16, true},
    [CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ] = {32, true},
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32] = {32, true},
    [CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ] = {32, true},
    [CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B] = {4, false},
    [CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B] = {4, false},
    [CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B] = {6, false},
};

static bool tensor_aligns_16(CUtensorMapDataType type)
{
    return type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B ||
           type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}

static CUresult tensor_enum(const char *name, unsigned value, unsigned most, const char *type)
{
    return value > most
               ? em_fail(CUDA_ERROR_INVALID_VALUE, "%s (%u) is not a %s", name, value, type)
               : CUDA_SUCCESS;
}

static CUresult tensor_enums(const struct api_tensor *t)
{
    CUresult r = tensor_enum("tensorDataType", (unsigned)t->type,
                             CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, "CUtensorMapDataType");
    if (!r)
        r = tensor_enum("interleave", (unsigned)t->interleave, CU_TENSOR_MAP_INTERLEAVE_32B,
                        "CUtensorMapInterleave");
    if (!r)
        r = tensor_enum("swizzle", (unsigned)t->swizzle, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B,
                        "CUtensorMapSwizzle");
    if (!r)
        r = tensor_enum("l2Promotion", (unsigned)t->promotion, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                        "CUtensorMapL2promotion");
    if (!r)
        r = tensor_enum("oobFill", (unsigned)t->fill,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
                        "CUtensorMapFloatOOBfill");
    if (!r)
        r = tensor_enum("mode", (unsigned)t->mode, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128,
                        "CUtensorMapIm2ColWideMode");
    // "NAN_REQUEST_ZERO_FMA can only be used when tensorDataType represents a floating-point type"
    if (!r && t->fill && !tensor_types[t->type].is_float)
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "oobFill is CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, which needs a "
                    "floating-point type; tensorDataType is %d",
                    (int)t->type);
    return r;
}

// "tensorRank must be non-zero and less than or equal to 5. If interleave is not
// CU_TENSOR_MAP_INTERLEAVE_NONE, it must be greater than or equal to 3"; of im2col maps: 3, 4 or 5.
static CUresult tensor_rank(const struct api_tensor *t)
{
    const unsigned least = t->kind != API_TENSOR_TILED || t->interleave ? 3 : 1;
    if (t->rank < least || t->rank > API_TENSOR_RANK_MOST)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "tensorRank (%u) must be from %u to %d%s", t->rank,
                       least, API_TENSOR_RANK_MOST,
                       t->kind == API_TENSOR_TILED && least > 1 ? " with an interleaved layout"
                                                                : "");
    return CUDA_SUCCESS;
}

// "globalAddress must be 16 byte aligned"; with CU_TENSOR_MAP_INTERLEAVE_32B or a type with
// ALIGN16B "32 byte aligned". The same holds for the strides.
static unsigned tensor_align_B(CUtensorMapDataType type, CUtensorMapInterleave interleave)
{
    return interleave == CU_TENSOR_MAP_INTERLEAVE_32B || tensor_aligns_16(type)
               ? ADDRESS_ALIGN_MORE_B
               : ADDRESS_ALIGN_B;
}

CUresult api_tensor_check_address(uint64_t address, CUtensorMapDataType type,
                                  CUtensorMapInterleave interleave)
{
    const unsigned align_B = tensor_align_B(type, interleave);
    return address % align_B || address >> ADDRESS_BITS
               ? em_fail(CUDA_ERROR_INVALID_VALUE,
                         "globalAddress (%#llx) must be a multiple of %u bytes, and below 2^%d",
                         (unsigned long long)address, align_B, ADDRESS_BITS)
               : CUDA_SUCCESS;
}

// "globalDim must be non-zero and less than or equal to 2^32"; with a type with ALIGN16B
// "globalDim[0] must be a multiple of 128", with CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B "of 2".
static CUresult tensor_dimensions(const struct api_tensor *t)
{
    const unsigned unit = tensor_aligns_16(t->type)                         ? PACKED_ELEMENTS
                          : t->type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B ? 2
                                                                            : 1;
    for (unsigned i = 0; i < t->rank; i++)
        if (!t->dim[i] || t->dim[i] > UINT64_C(1) << 32)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "globalDim[%u] (%llu) must be from 1 to 2^32",
                           i, (unsigned long long)t->dim[i]);
    if (t->dim[0] % unit)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "globalDim[0] (%llu) must be a multiple of %u with this packed type",
                       (unsigned long long)t->dim[0], unit);
    return CUDA_SUCCESS;
}

// "globalStrides must be a multiple of 16 and less than 2^40"; or a multiple of 32, as above.
static CUresult tensor_strides(const struct api_tensor *t)
{
    const unsigned align_B = tensor_align_B(t->type, t->interleave);
    if (t->rank > 1 && !t->strides_B)
        return em_null("globalStrides");
    for (unsigned i = 0; i + 1 < t->rank; i++)
        if (t->strides_B[i] % align_B || t->strides_B[i] >= UINT64_C(1) << 40)
            return em_fail(CUDA_ERROR_INVALID_VALUE,
                           "globalStrides[%u] (%llu) must be a multiple of %u bytes, and less than "
                           "2^40",
                           i, (unsigned long long)t->strides_B[i], align_B);
    return CUDA_SUCCESS;
}

// "elementStrides must be non-zero and less than or equal to 8. When interleave is
// CU_TENSOR_MAP_INTERLEAVE_NONE, the first element of this array is ignored."
static CUresult tensor_steps(const struct api_tensor *t)
{
    for (unsigned i = t->interleave || em_quirk(TENSOR_MAP_FIRST_STEP) ? 0 : 1; i < t->rank; i++)
        if (!t->steps[i] || t->steps[i] > STEP_MOST)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "elementStrides[%u] (%u) must be from 1 to %d",
                           i, t->steps[i], STEP_MOST);
    return CUDA_SUCCESS;
}

// "When interleave is CU_TENSOR_MAP_INTERLEAVE_NONE and swizzle is not CU_TENSOR_MAP_SWIZZLE_NONE,
// the bounding box inner dimension must be less than or equal to the swizzle size."
static CUresult tensor_inner(const struct api_tensor *t, const char *name, unsigned elements)
{
    const unsigned size_B = elements * tensor_types[t->type].bits / 8;
    const unsigned most_B = t->swizzle == CU_TENSOR_MAP_SWIZZLE_32B   ? 32
                            : t->swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 64
                                                                      : 128;
    // "channelsPerPixel (boxDim[0]) must be 128" with a type with ALIGN16B
    if (tensor_aligns_16(t->type) && elements != PACKED_ELEMENTS)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "%s (%u) must be %d with this packed type", name,
                       elements, PACKED_ELEMENTS);
    if (!t->interleave && t->swizzle && size_B > most_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "%s (%u) is %u bytes, but swizzle %d takes at most %u bytes", name, elements,
                       size_B, (int)t->swizzle, most_B);
    return CUDA_SUCCESS;
}

static CUresult tensor_whole_chunks(const struct api_tensor *t, const char *name, unsigned elements)
{
    const unsigned bits = elements * tensor_types[t->type].bits;
    return bits % (8 * ADDRESS_ALIGN_B)
               ? em_fail(CUDA_ERROR_INVALID_VALUE,
                         "%s (%u) is %u bits, which must be a multiple of %d bytes", name, elements,
                         bits, ADDRESS_ALIGN_B)
               : CUDA_SUCCESS;
}

// "boxDim must be non-zero and less than or equal to 256. When interleave is
// CU_TENSOR_MAP_INTERLEAVE_NONE, boxDim[0] * elementSizeInBytes must be a multiple of 16 bytes."
static CUresult tensor_box(const struct api_tensor *t)
{
    for (unsigned i = 0; i < t->rank; i++)
        if (!t->box[i] || t->box[i] > TILE_MOST)
            return em_fail(CUDA_ERROR_INVALID_VALUE, "boxDim[%u] (%u) must be from 1 to %d", i,
                           t->box[i], TILE_MOST);
    CUresult r = t->interleave && !em_quirk(TENSOR_MAP_INNER)
                     ? CUDA_SUCCESS
                     : tensor_whole_chunks(t, "boxDim[0]", t->box[0]);
    return r ? r : tensor_inner(t, "boxDim[0]", t->box[0]);
}

// Whether the manual's rules for wide maps count. The driver has those of other im2col maps.
static bool tensor_is_wide(const struct api_tensor *t)
{
    return t->kind == API_TENSOR_IM2COL_WIDE && !em_quirk(TENSOR_MAP_WIDE);
}

// "tensorRank 3: one offset within [-32768, 32767]; 4: two within [-128, 127]; 5: three within
// [-16, 15]"; of a wide map: one within [-32768, 32767].
static CUresult tensor_offset(const struct api_tensor *t, const char *name, int offset)
{
    static const int limits[] = {0, 32768, 128, 16};
    const int limit = limits[tensor_is_wide(t) ? 1 : t->rank - 2];
    return offset < -limit || offset >= limit
               ? em_fail(CUDA_ERROR_INVALID_VALUE, "%s has the offset %d; it must be from %d to %d",
                         name, offset, -limit, limit - 1)
               : CUDA_SUCCESS;
}

static CUresult tensor_offsets(const struct api_tensor *t, unsigned count)
{
    CUresult r = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && !r; i++) {
        r = tensor_offset(t, "pixelBoxLowerCorner", t->lower[i]);
        if (!r)
            r = tensor_offset(t, "pixelBoxUpperCorner", t->upper[i]);
    }
    return r;
}

// "The bounding box must have non-zero area." The manual gives the order of offsets as D, H, W. The
// driver and NVIDIA's CUTLASS have them as W, H, D, in the order of globalDim. Under `manual` a box
// is refused if it is empty in both orders. The driver computes in 32 bits, and looks at all
// dimensions of a wide map, which has offsets of W alone.
static bool tensor_box_is_empty(const struct api_tensor *t, unsigned corners)
{
    const bool as_driver = em_quirk(TENSOR_MAP_CORNERS);
    const unsigned count = as_driver ? t->rank - 2 : corners;
    bool empty = false, empty_reversed = as_driver;
    for (unsigned i = 0; i < count; i++) {
        const int64_t grown = i < corners ? (int64_t)t->upper[i] - t->lower[i] : 0;
        if (as_driver) {
            empty = empty || (int32_t)(uint32_t)(t->dim[1 + i] + (uint64_t)grown) <= 0;
            continue;
        }
        empty = empty || (int64_t)t->dim[1 + i] + grown <= 0;
        empty_reversed = empty_reversed || (int64_t)t->dim[count - i] + grown <= 0;
    }
    return empty && empty_reversed;
}

static CUresult tensor_corners(const struct api_tensor *t)
{
    const unsigned corners = t->kind == API_TENSOR_IM2COL ? t->rank - 2 : 1;
    CUresult r = tensor_offsets(t, corners);
    if (!r && tensor_box_is_empty(t, corners))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "the bounding box is empty: pixelBoxUpperCorner (%d …) is too far below "
                    "pixelBoxLowerCorner (%d …) for globalDim",
                    t->upper[0], t->lower[0]);
    return r;
}

// "channelsPerPixel must be less than or equal to 256, pixelsPerColumn less than or equal to 1024."
// Neither may be 0 (recorded: tensor_map_edges columns).
static CUresult tensor_columns(const struct api_tensor *t)
{
    const bool ignored = tensor_is_wide(t) && t->mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    if (!t->channels || t->channels > CHANNELS_MOST)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "channelsPerPixel (%u) must be from 1 to %d",
                       t->channels, CHANNELS_MOST);
    if (!ignored && (!t->pixels || t->pixels > PIXELS_MOST))
        return em_fail(CUDA_ERROR_INVALID_VALUE, "pixelsPerColumn (%u) must be from 1 to %d",
                       t->pixels, PIXELS_MOST);
    CUresult r = em_quirk(TENSOR_MAP_INNER)
                     ? tensor_whole_chunks(t, "channelsPerPixel", t->channels)
                     : CUDA_SUCCESS;
    return r ? r : tensor_inner(t, "channelsPerPixel", t->channels);
}

// The swizzles of a packed type, or of a wide map, as bits.
static unsigned tensor_swizzles(const struct api_tensor *t)
{
    const unsigned most =
        1u << CU_TENSOR_MAP_SWIZZLE_128B | 1u << CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    const unsigned wide = most | 1u << CU_TENSOR_MAP_SWIZZLE_64B;
    unsigned list = ~0u;
    if (t->type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
        list = most | 1u << CU_TENSOR_MAP_SWIZZLE_NONE | 1u << CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
    else if (t->type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B)
        list = most | 1u << CU_TENSOR_MAP_SWIZZLE_NONE;
    return tensor_is_wide(t) ? list & wide : list;
}

static CUresult tensor_layout(const struct api_tensor *t)
{
    // "CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B requires interleave to be INTERLEAVE_NONE."
    if (t->type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B && t->interleave)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "interleave (%d) must be CU_TENSOR_MAP_INTERLEAVE_NONE with "
                       "CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B",
                       (int)t->interleave);
    // "When interleave is INTERLEAVE_32B, swizzle must be CU_TENSOR_MAP_SWIZZLE_32B."
    if (t->interleave == CU_TENSOR_MAP_INTERLEAVE_32B && t->swizzle != CU_TENSOR_MAP_SWIZZLE_32B &&
        t->kind != API_TENSOR_IM2COL_WIDE && !em_quirk(TENSOR_MAP_INTERLEAVE_SWIZZLE))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "swizzle (%d) must be CU_TENSOR_MAP_SWIZZLE_32B with "
                       "CU_TENSOR_MAP_INTERLEAVE_32B",
                       (int)t->swizzle);
    if (!(tensor_swizzles(t) >> t->swizzle & 1))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE, "swizzle (%d) is not supported with %s", (int)t->swizzle,
            t->kind == API_TENSOR_IM2COL_WIDE ? "cuTensorMapEncodeIm2colWide" : "this packed type");
    return CUDA_SUCCESS;
}

// Lists whose length no argument has.
static void tensor_record(const struct api_tensor *t)
{
    const unsigned corners = t->rank - 2; // of im2col maps, whose rank is 3 or more
    if (t->strides_B && t->rank > 1)
        em_record_range(RF_READS, t->strides_B, (t->rank - 1) * sizeof *t->strides_B);
    if (t->kind == API_TENSOR_IM2COL) {
        em_record_range(RF_READS, t->lower, corners * sizeof *t->lower);
        em_record_range(RF_READS, t->upper, corners * sizeof *t->upper);
    }
}

bool api_tensor_has_zero(const struct api_tensor *t)
{
    // Of a wrong rank nobody knows how many elements the lists have.
    const unsigned n = t->rank <= API_TENSOR_RANK_MOST ? t->rank : 0;
    for (unsigned i = 0; i < n; i++)
        if (!t->dim[i] || !t->steps[i] || (t->box && !t->box[i]))
            return true;
    return !t->rank || (t->kind != API_TENSOR_TILED && (!t->channels || !t->pixels));
}

uint64_t api_tensor_box_B(const struct api_tensor *t)
{
    uint64_t bits = tensor_types[t->type].bits;
    if (t->kind != API_TENSOR_TILED)
        return bits * t->channels * t->pixels / 8;
    for (unsigned i = 0; i < t->rank; i++)
        bits *= i ? (t->box[i] + t->steps[i] - 1) / t->steps[i] : t->box[0];
    return bits / 8;
}

CUresult api_tensor_check(const CUtensorMap *map, const struct api_tensor *t)
{
    CUresult r = CUDA_SUCCESS;
    // "tensorMap address must be aligned to 64 bytes"
    if ((uintptr_t)map % 64 && !em_quirk(TENSOR_MAP_UNALIGNED))
        r = em_fail(CUDA_ERROR_INVALID_VALUE, "tensorMap (%p) must be aligned to 64 bytes",
                    (const void *)map);
    if (!r)
        r = tensor_enums(t);
    if (!r)
        r = tensor_rank(t);
    if (!r && em_recording_contents)
        tensor_record(t);
    if (!r)
        r = api_tensor_check_address(t->address, t->type, t->interleave);
    if (!r)
        r = tensor_dimensions(t);
    if (!r)
        r = tensor_strides(t);
    if (!r)
        r = tensor_steps(t);
    if (!r)
        r = tensor_layout(t);
    if (!r && t->kind == API_TENSOR_TILED)
        return tensor_box(t);
    if (!r)
        r = tensor_corners(t);
    return r ? r : tensor_columns(t);
}
