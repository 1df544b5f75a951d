// SPDX-License-Identifier: MIT
// Names and texts of the result codes, for cuGetErrorName and cuGetErrorString and for the sentences.
#include "error.h"

#include <stddef.h>

#define EM_ERROR(code, value, text) _Static_assert(code == value, #code);
#include "errors.def"
#undef EM_ERROR

const char *em_error_name(CUresult code)
{
    switch ((int)code) {
#define EM_ERROR(code, value, text)                                                                                                                  \
    case value:                                                                                                                                      \
        return #code;
#include "errors.def"
#undef EM_ERROR
    default:
        return "an unknown code";
    }
}

const char *em_error_string(CUresult code)
{
    switch ((int)code) {
#define EM_ERROR(code, value, text)                                                                                                                  \
    case value:                                                                                                                                      \
        return text;
#include "errors.def"
#undef EM_ERROR
    default:
        return NULL;
    }
}
