// SPDX-License-Identifier: MIT
// The fuzz target `tensor`: the rules of the manual, and those of the driver where they differ.
#include "tensor_model.h"

bool tm_as_driver(void)
{
    const char *name = getenv("CARDLESS_PERSONALITY");
    return name && !strcmp(name, "driver-580");
}

unsigned tm_bits_of(unsigned type)
{
    static const uint8_t bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};
    return type < sizeof bits ? bits[type] : 0;
}

static bool is_float(unsigned type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

static bool is_packed(unsigned type)
{
    return type >= CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
}

bool tm_is_align16(unsigned type)
{
    return type > CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
}

// "globalAddress … must be aligned to 16 bytes"; "32 byte aligned" if interleave is INTERLEAVE_32B
// or the type is one with ALIGN16B. The same of globalStrides, "and less than 2^40".
unsigned tm_align_B(const struct request *r)
{
    return r->interleave == CU_TENSOR_MAP_INTERLEAVE_32B || tm_is_align16(r->type) ? 32 : 16;
}

// The driver refuses swizzles with atoms on devices whose instructions do not have them.
static bool enums_are_valid(const struct model *m, const struct request *r)
{
    if (tm_as_driver() && m->device == HOPPER && r->swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return false;
    return tm_bits_of(r->type) && r->interleave <= CU_TENSOR_MAP_INTERLEAVE_32B &&
           r->swizzle <= CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B &&
           r->promotion <= CU_TENSOR_MAP_L2_PROMOTION_L2_256B &&
           r->fill <= CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA &&
           (r->kind != IM2COL_WIDE || r->mode <= CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128) &&
           // "can only be used when tensorDataType represents a floating-point type"
           (!r->fill || is_float(r->type));
}

// "non-zero and less than or equal to the maximum supported dimensionality of 5. If interleave is
// not CU_TENSOR_MAP_INTERLEAVE_NONE, then tensorRank must additionally be greater than or equal to
// 3"; of the other maps "3, 4, or 5".
static bool rank_is_valid(const struct request *r)
{
    const unsigned least = r->kind == TILED && !r->interleave ? 1 : 3;
    return r->rank >= least && r->rank <= RANK_MOST;
}

// "globalDim … must be non-zero and less than or equal to 2^32"; with ALIGN16B "globalDim[0] must
// be a multiple of 128", with 16U4_ALIGN8B "of 2". "elementStrides … must be non-zero and less than
// or equal to 8. When interleave is CU_TENSOR_MAP_INTERLEAVE_NONE, the first element … is ignored",
// but not by the driver. No address has more than 57 bits.
static bool tensor_is_valid(const struct request *r)
{
    const unsigned unit = tm_is_align16(r->type) ? 128 : is_packed(r->type) ? 2 : 1;
    if (r->address % tm_align_B(r) || r->address >> 57 || r->dim[0] % unit)
        return false;
    for (unsigned i = 0; i < r->rank; i++) {
        if (!r->dim[i] || r->dim[i] > UINT64_C(1) << 32)
            return false;
        if ((i || r->interleave || tm_as_driver()) && (!r->steps[i] || r->steps[i] > 8))
            return false;
        if (i && (r->strides_B[i - 1] % tm_align_B(r) || r->strides_B[i - 1] >> 40))
            return false;
    }
    return true;
}

// "CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B requires interleave to be CU_TENSOR_MAP_INTERLEAVE_NONE";
// "when interleave is CU_TENSOR_MAP_INTERLEAVE_32B, swizzle must be CU_TENSOR_MAP_SWIZZLE_32B"; the
// types with ALIGN16B and wide maps list the swizzles that they take. The driver has no rule for
// CU_TENSOR_MAP_INTERLEAVE_32B, nor for wide maps.
static bool layout_is_valid(const struct request *r)
{
    const bool whole = r->swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
                       r->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    if (r->kind == IM2COL_WIDE && !whole && r->swizzle != CU_TENSOR_MAP_SWIZZLE_64B &&
        !tm_as_driver())
        return false;
    if (r->kind != IM2COL_WIDE && !tm_as_driver() &&
        r->interleave == CU_TENSOR_MAP_INTERLEAVE_32B && r->swizzle != CU_TENSOR_MAP_SWIZZLE_32B)
        return false;
    if (!tm_is_align16(r->type))
        return true;
    if (r->type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B)
        return whole || !r->swizzle;
    return !r->interleave &&
           (whole || !r->swizzle || r->swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
}

// "the inner dimension … must be less than or equal to the swizzle size"; 128 elements with
// ALIGN16B.
static bool inner_is_valid(const struct request *r, unsigned elements)
{
    static const uint8_t most_B[] = {0, 32, 64, 128, 128, 128, 128};
    if (tm_is_align16(r->type) && elements != 128)
        return false;
    return r->interleave || !r->swizzle || elements * tm_bits_of(r->type) / 8 <= most_B[r->swizzle];
}

// "boxDim … must be non-zero and less than or equal to 256. … When interleave is
// CU_TENSOR_MAP_INTERLEAVE_NONE, { boxDim[0] * elementSizeInBytes( tensorDataType ) } must be a
// multiple of 16 bytes." The driver wants that of all layouts, and of channels.
static bool box_is_valid(const struct request *r)
{
    for (unsigned i = 0; i < r->rank; i++) {
        if (!r->box[i] || r->box[i] > 256)
            return false;
    }
    return ((r->interleave && !tm_as_driver()) || r->box[0] * tm_bits_of(r->type) % 128 == 0) &&
           inner_is_valid(r, r->box[0]);
}

// The number of offsets in a corner.
unsigned tm_corners_of(const struct request *r)
{
    return r->kind == IM2COL_WIDE ? 1 : r->rank - 2;
}

// "tensorRank 3: one offset within range [-32768, 32767]", 4: two "[-128, 127]", 5: three
// "[-16, 15]", a wide map: one as of rank 3, but for the driver as of its rank. "The bounding box
// must have non-zero area": the manual lists the offsets from D to W, and the driver has them from
// W to D, as globalDim. Cardless follows the driver, or refuses boxes that are empty in both
// orders. The driver computes in 32 bits, and looks at all dimensions of wide maps, too.
static bool corners_are_valid(const struct request *r)
{
    static const int limits[] = {32768, 128, 16};
    const unsigned n = tm_corners_of(r), dims = tm_as_driver() ? r->rank - 2 : n;
    const int limit = limits[dims - 1];
    bool empty = false, reversed = tm_as_driver();
    for (unsigned i = 0; i < dims; i++) {
        const int64_t grown = i < n ? (int64_t)r->upper[i] - r->lower[i] : 0;
        if (i < n && (r->lower[i] < -limit || r->lower[i] >= limit || r->upper[i] < -limit ||
                      r->upper[i] >= limit))
            return false;
        const int64_t extent = (int64_t)r->dim[1 + i] + grown;
        empty |= tm_as_driver() ? (int32_t)extent <= 0 : extent <= 0;
        reversed |= (int64_t)r->dim[dims - i] + grown <= 0;
    }
    return !empty || !reversed;
}

bool tm_ignores_pixels(const struct request *r)
{
    return r->kind == IM2COL_WIDE && r->mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 &&
           !tm_as_driver();
}

// "channelsPerPixel … must be less than or equal to 256", "pixelsPerColumn … 1024", which is
// ignored with CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128. Neither may be 0 (recorded).
static bool columns_are_valid(const struct request *r)
{
    if (!r->channels || r->channels > 256 || !inner_is_valid(r, r->channels) ||
        (tm_as_driver() && r->channels * tm_bits_of(r->type) % 128))
        return false;
    return (tm_ignores_pixels(r) || (r->pixels && r->pixels <= 1024)) && corners_are_valid(r);
}

// The number of pointers of the call that must not be NULL. globalStrides of a tensor of rank 1 has
// no element. Pointers: map, dimensions, strides, element strides, then the box or the corners.
bool tm_has_null(const struct request *r)
{
    const unsigned pointers = r->kind == TILED ? 5 : r->kind == IM2COL ? 6 : 4;
    return r->null && r->null <= pointers && (r->null != 3 || r->rank > 1);
}

// The bytes of a load; for the driver it must fit into the shared memory of a block.
static uint64_t box_B(const struct request *r)
{
    uint64_t elements = r->kind == TILED ? r->box[0] : (uint64_t)r->channels * r->pixels;
    for (unsigned i = 1; r->kind == TILED && i < r->rank; i++)
        elements *= (r->box[i] + r->steps[i] - 1) / r->steps[i];
    return elements * tm_bits_of(r->type) / 8;
}

enum verdict tm_judge(const struct model *m, const struct request *r, bool aligned)
{
    // Of a NULL globalStrides, other rules decide first on a device without tensor maps.
    if (tm_has_null(r) && r->null != 3)
        return INVALID;
    if (m->device == TURING || (r->kind == IM2COL_WIDE && m->device != WIDE && !tm_as_driver()))
        return UNSUPPORTED;
    if (!enums_are_valid(m, r) || !rank_is_valid(r) || tm_has_null(r) ||
        (!aligned && !tm_as_driver()))
        return INVALID;
    // Recorded: tensor_map_edges drawn/222.
    if (is_packed(r->type) && m->device == HOPPER && tm_as_driver())
        return INVALID;
    if (!tensor_is_valid(r) || !layout_is_valid(r))
        return INVALID;
    if (r->kind == TILED ? !box_is_valid(r) : !columns_are_valid(r))
        return INVALID;
    return tm_as_driver() && box_B(r) > SHARED_B ? INVALID : VALID;
}

bool tm_is_as_judged(CUresult r, enum verdict verdict)
{
    switch (verdict) {
    case VALID:
        return !r;
    case INVALID:
        return r == CUDA_ERROR_INVALID_VALUE;
    default:
        return r != CUDA_SUCCESS;
    }
}
