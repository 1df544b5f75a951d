// SPDX-License-Identifier: MIT
// The differences between the linkers of CUDA 12 and 13, as tried with NVIDIA's of 12.9 and 13.0.
#include "jl.h"
#include "nvjitlink_bodies.h"

// The header of 12.9: "These error codes will appear in a future CUDA release. … To avoid breaking
// compatibility, we map them to existing error codes for now."
nvJitLinkResult jl_code(nvJitLinkResult code)
{
    if (JL_MAJOR >= 13)
        return code;
    switch (code) {
    case NVJITLINK_ERROR_NULL_INPUT:
    case NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS:
    case NVJITLINK_ERROR_INCORRECT_INPUT_TYPE:
    case NVJITLINK_ERROR_MISSING_FATBIN:
        return NVJITLINK_ERROR_INVALID_INPUT;
    case NVJITLINK_ERROR_ARCH_MISMATCH:
    case NVJITLINK_ERROR_OUTDATED_LIBRARY:
    case NVJITLINK_ERROR_UNRECOGNIZED_ARCH:
    case NVJITLINK_ERROR_UNSUPPORTED_ARCH:
    case NVJITLINK_ERROR_LTO_NOT_ENABLED:
        return NVJITLINK_ERROR_INTERNAL;
    default:
        return code;
    }
}

nvJitLinkResult jl_nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    *major = JL_MAJOR;
    *minor = JL_MINOR;
    return NVJITLINK_SUCCESS;
}
