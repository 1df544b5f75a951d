// SPDX-License-Identifier: MIT
// The manual's chapter "Error Handling": names and texts of result codes.
#include "api_bodies.h"
#include "call.h"

// "If the error code is not recognized, CUDA_ERROR_INVALID_VALUE will be returned and *pStr will be
// set to the NULL address."
static CUresult give(CUresult error, const char **out, const char *(*text)(CUresult))
{
    bool known = em_error_string(error) != NULL;
    *out = known ? text(error) : NULL;
    return known ? CUDA_SUCCESS
                 : em_fail(CUDA_ERROR_INVALID_VALUE, "error (%d) is not a CUresult", (int)error);
}

CUresult api_cuGetErrorName(CUresult error, const char **pStr)
{
    return give(error, pStr, em_error_name);
}

CUresult api_cuGetErrorString(CUresult error, const char **pStr)
{
    return give(error, pStr, em_error_string);
}
