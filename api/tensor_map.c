// SPDX-License-Identifier: MIT
// The manual's chapter "Tensor Map Object Management".
#include "tensor_map.h"

#include <string.h>

#include "api_bodies.h"
#include "call.h"
#include "context.h"
#include "device.h"
#include "quirk.h"

// The value of a CUtensorMap.
struct tensor_bytes {
    uint64_t mark, address;
    uint64_t strides_B[API_TENSOR_RANK_MOST - 1];
    uint32_t dim_less_1[API_TENSOR_RANK_MOST];
    uint16_t box[API_TENSOR_RANK_MOST]; // a tiled map's
    int16_t lower[API_TENSOR_RANK_MOST - 2], upper[API_TENSOR_RANK_MOST - 2];
    uint16_t channels, pixels;
    uint8_t steps[API_TENSOR_RANK_MOST];
    uint8_t kind, type, rank, interleave, swizzle, promotion, fill, mode;
};
_Static_assert(sizeof(struct tensor_bytes) <= sizeof(CUtensorMap), "fits");

enum { REFUSED_BYTE = 0xff }; // fills the map of a refused call

#define TENSOR_MARK UINT64_C(0x70616d726f736e74) // "tnsormap"

static void tensor_encode(CUtensorMap *map, const struct api_tensor *t)
{
    const unsigned corners = t->kind == API_TENSOR_IM2COL ? t->rank - 2 : 1;
    struct tensor_bytes b = {
        .mark = TENSOR_MARK,
        .address = t->address,
        .kind = (uint8_t)t->kind,
        .type = (uint8_t)t->type,
        .rank = (uint8_t)t->rank,
        .interleave = (uint8_t)t->interleave,
        .swizzle = (uint8_t)t->swizzle,
        .promotion = (uint8_t)t->promotion,
        .fill = (uint8_t)t->fill,
        .mode = (uint8_t)t->mode,
        .channels = (uint16_t)t->channels,
        .pixels = t->mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 ? 0 : (uint16_t)t->pixels,
    };
    for (unsigned i = 0; i < t->rank; i++) {
        b.dim_less_1[i] = (uint32_t)(t->dim[i] - 1);
        b.steps[i] = (uint8_t)t->steps[i];
        if (t->box)
            b.box[i] = (uint16_t)t->box[i];
        if (i)
            b.strides_B[i - 1] = t->strides_B[i - 1];
    }
    for (unsigned i = 0; t->lower && i < corners; i++) {
        b.lower[i] = (int16_t)t->lower[i];
        b.upper[i] = (int16_t)t->upper[i];
    }
    memset(map, 0, sizeof(*map));
    memcpy(map, &b, sizeof(b));
}

// "Tensor map objects are only supported on devices of compute capability 9.0 or higher",
// and those of cuTensorMapEncodeIm2colWide on 10.0 or higher. (Not recorded: the code.) The driver
// takes types and swizzles on those devices whose instructions can use them.
static CUresult tensor_device(const struct api_tensor *t)
{
    const struct em_device *d = em_self.current->device;
    if (!em_device_attribute(d, DM_ATTRIBUTE_tensor_map_access_supported))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "tensor maps need a device of compute capability 9.0 or higher");
    if (t->kind == API_TENSOR_IM2COL_WIDE && em_device_architecture(d) < 100 &&
        !em_quirk(TENSOR_MAP_WIDE))
        return em_fail(CUDA_ERROR_NOT_SUPPORTED,
                       "cuTensorMapEncodeIm2colWide needs a device of compute capability 10.0 or "
                       "higher; use cuTensorMapEncodeIm2col");
    if (t->type >= CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B &&
        t->type <= CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B && em_device_architecture(d) < 100 &&
        em_quirk(TENSOR_MAP_PACKED))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "tensorDataType (%d) is a packed type, which needs a device of compute "
                       "capability 10.0 or higher",
                       (int)t->type);
    if (t->swizzle > CU_TENSOR_MAP_SWIZZLE_128B && em_device_architecture(d) < 100 &&
        em_quirk(TENSOR_MAP_ATOMS))
        return em_fail(
            CUDA_ERROR_INVALID_VALUE,
            "swizzle (%d) has atoms of more than 16 bytes, which need a device of compute "
            "capability 10.0 or higher",
            (int)t->swizzle);
    return CUDA_SUCCESS;
}

// An instruction loads the whole box into the shared memory of a block.
static CUresult tensor_fits(const struct api_tensor *t)
{
    const struct em_device *d = em_self.current->device;
    const int most_B = em_device_attribute(d, DM_ATTRIBUTE_max_shared_memory_per_block_optin);
    const uint64_t box_B = api_tensor_box_B(t);
    if (box_B <= (uint64_t)most_B || !em_quirk(TENSOR_MAP_SHARED))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_INVALID_VALUE,
                   "the box has %llu bytes, but a block has at most %d bytes of shared memory",
                   (unsigned long long)box_B, most_B);
}

static CUresult tensor_create(CUtensorMap *map, const struct api_tensor *t)
{
    CUresult r = tensor_device(t);
    if (!r)
        r = api_tensor_check(map, t);
    if (!r)
        r = tensor_fits(t);
    if (!r)
        tensor_encode(map, t);
    else if (r == CUDA_ERROR_INVALID_VALUE && em_quirk(TENSOR_MAP_OVERWRITTEN) &&
             !(t->rank > 1 && !t->strides_B) && !api_tensor_has_zero(t))
        memset(map, REFUSED_BYTE, sizeof(*map));
    return r;
}

CUresult api_cuTensorMapEncodeTiled(CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType,
                                    cuuint32_t tensorRank, void *globalAddress,
                                    const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
                                    const cuuint32_t *boxDim, const cuuint32_t *elementStrides,
                                    CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                    CUtensorMapL2promotion l2Promotion,
                                    CUtensorMapFloatOOBfill oobFill)
{
    return tensor_create(tensorMap, &(struct api_tensor){
                                        .kind = API_TENSOR_TILED,
                                        .type = tensorDataType,
                                        .rank = tensorRank,
                                        .address = (uintptr_t)globalAddress,
                                        .dim = globalDim,
                                        .strides_B = globalStrides,
                                        .box = boxDim,
                                        .steps = elementStrides,
                                        .interleave = interleave,
                                        .swizzle = swizzle,
                                        .promotion = l2Promotion,
                                        .fill = oobFill,
                                    });
}

CUresult api_cuTensorMapEncodeIm2col(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    const int *pixelBoxLowerCorner, const int *pixelBoxUpperCorner, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion, CUtensorMapFloatOOBfill oobFill)
{
    return tensor_create(tensorMap, &(struct api_tensor){
                                        .kind = API_TENSOR_IM2COL,
                                        .type = tensorDataType,
                                        .rank = tensorRank,
                                        .address = (uintptr_t)globalAddress,
                                        .dim = globalDim,
                                        .strides_B = globalStrides,
                                        .lower = pixelBoxLowerCorner,
                                        .upper = pixelBoxUpperCorner,
                                        .channels = channelsPerPixel,
                                        .pixels = pixelsPerColumn,
                                        .steps = elementStrides,
                                        .interleave = interleave,
                                        .swizzle = swizzle,
                                        .promotion = l2Promotion,
                                        .fill = oobFill,
                                    });
}

CUresult api_cuTensorMapEncodeIm2colWide(
    CUtensorMap *tensorMap, CUtensorMapDataType tensorDataType, cuuint32_t tensorRank,
    void *globalAddress, const cuuint64_t *globalDim, const cuuint64_t *globalStrides,
    int pixelBoxLowerCornerWidth, int pixelBoxUpperCornerWidth, cuuint32_t channelsPerPixel,
    cuuint32_t pixelsPerColumn, const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
    CUtensorMapIm2ColWideMode mode, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2Promotion,
    CUtensorMapFloatOOBfill oobFill)
{
    return tensor_create(tensorMap, &(struct api_tensor){
                                        .kind = API_TENSOR_IM2COL_WIDE,
                                        .type = tensorDataType,
                                        .rank = tensorRank,
                                        .address = (uintptr_t)globalAddress,
                                        .dim = globalDim,
                                        .strides_B = globalStrides,
                                        .lower = &pixelBoxLowerCornerWidth,
                                        .upper = &pixelBoxUpperCornerWidth,
                                        .channels = channelsPerPixel,
                                        .pixels = pixelsPerColumn,
                                        .steps = elementStrides,
                                        .interleave = interleave,
                                        .swizzle = swizzle,
                                        .promotion = l2Promotion,
                                        .fill = oobFill,
                                        .mode = mode,
                                    });
}

// "Must follow previous alignment requirements." NULL is refused (recorded: tensor_map_edges
// replace).
CUresult api_cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
{
    struct tensor_bytes b;
    CUresult r = tensor_device(&(struct api_tensor){.kind = API_TENSOR_TILED});
    memcpy(&b, tensorMap, sizeof(b));
    if (!r && !globalAddress)
        r = em_null("globalAddress");
    if (!r && b.mark != TENSOR_MARK && !em_quirk(TENSOR_MAP_ANY_BYTES))
        r = em_fail(CUDA_ERROR_INVALID_VALUE,
                    "tensorMap (%p) has not been written by a cuTensorMapEncode call",
                    (void *)tensorMap);
    if (!r && em_quirk(TENSOR_MAP_REPLACE_ALIGNMENT))
        r = api_tensor_check_address((uintptr_t)globalAddress, CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                     CU_TENSOR_MAP_INTERLEAVE_NONE);
    else if (!r)
        r = api_tensor_check_address((uintptr_t)globalAddress, (CUtensorMapDataType)b.type,
                                     (CUtensorMapInterleave)b.interleave);
    if (r)
        return r;
    b.address = (uintptr_t)globalAddress;
    memcpy(tensorMap, &b, sizeof(b));
    return CUDA_SUCCESS;
}
