// SPDX-License-Identifier: MIT
// libnvcuvid.so.1 of a card without a video decoder.
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#include "nvcuvid_bodies.h"

#define EXPORT __attribute__((visibility("default")))

enum { VIDEO_STATE_ERROR = -1 }; // cudaVideoState

// CUVIDDECODECAPS: the program writes the first three members, the driver those after reserved1.
struct decode_caps {
    int codec, chroma_format;
    unsigned bit_depth_minus_8, reserved1[3];
    uint8_t is_supported, decoders;
    uint16_t output_formats;
    unsigned max_width, max_height, max_macroblocks;
    uint16_t min_width, min_height;
    uint8_t is_histogram_supported, counter_bits;
    uint16_t max_bins;
    unsigned reserved3[10];
};
_Static_assert(sizeof(struct decode_caps) == 88, "as in the public header");
_Static_assert(offsetof(struct decode_caps, is_supported) == 24, "as in the public header");

// "bIsSupported: 1 if the codec is supported, 0 if not", in the card of the current context.
CUresult vd_cuvidGetDecoderCaps(void *pdc)
{
    CUcontext current = NULL;
    CUresult r = cuCtxGetCurrent(&current);
    if (!r && !current)
        r = CUDA_ERROR_INVALID_CONTEXT;
    if (r)
        return r;
    struct decode_caps *caps = pdc;
    caps->is_supported = caps->decoders = 0;
    caps->output_formats = 0;
    caps->max_width = caps->max_height = caps->max_macroblocks = 0;
    caps->min_width = caps->min_height = 0;
    caps->is_histogram_supported = caps->counter_bits = 0;
    caps->max_bins = 0;
    return CUDA_SUCCESS;
}

int cuvidGetVideoSourceState(void *source);
EXPORT int cuvidGetVideoSourceState(void *source)
{
    return VIDEO_STATE_ERROR;
}
