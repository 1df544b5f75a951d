// SPDX-License-Identifier: MIT
// Errors and diagnostics: the code is for the program, the sentence for the person.
#pragma once
#include <cuda.h>
#include <stdbool.h>

enum em_severity { EM_ERROR, EM_UNDEFINED, EM_PORTABILITY };

enum em_diagnostic {
#define EM_DIAGNOSTIC(id, severity, title, advice) EM_DIAG_##id,
#include "diagnostics.def"
#undef EM_DIAGNOSTIC
    EM_DIAG_COUNT
};

// Says in a sentence why the current call fails and returns `code`. The sentence has no final full
// stop and holds the values at fault:
//     return em_fail(CUDA_ERROR_INVALID_VALUE, "width %zu B is more than the pitch %zu B", width,
//     pitch);
// Takes no emulator lock; may be called with it held.
// A macro, so that the compiler sees that an error code is not CUDA_SUCCESS.
#define em_fail(code, ...)                                                                         \
    ({                                                                                             \
        CUresult em_code_ = (code);                                                                \
        em_explain(em_code_, __VA_ARGS__);                                                         \
        em_code_;                                                                                  \
    })
// Creates the file of CARDLESS_DIAGNOSTICS=json:FILE, so that a program that made no mistake leaves
// an empty file, and a missing file means that no program called cuInit.
void em_diagnostics_start(void);

void em_explain(CUresult code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

// Reports mistake `EM_DIAG_id` of the catalogue and returns `code`, which is CUDA_SUCCESS where the
// call goes on all the same.
#define em_mistake(id, code, ...)                                                                  \
    ({                                                                                             \
        CUresult em_code_ = (code);                                                                \
        em_report(EM_DIAG_##id, em_code_, __VA_ARGS__);                                            \
        em_code_;                                                                                  \
    })
void em_report(enum em_diagnostic id, CUresult code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

// "CUDA_ERROR_INVALID_VALUE", or "an unknown code".
const char *em_error_name(CUresult code);
// The driver's short text for a code, or NULL.
const char *em_error_string(CUresult code);
// Whether this error makes the context unusable: every later call returns it until the context is
// destroyed.
bool em_error_sticks(CUresult code);

// Holds back all reports, so that a fork does not happen in the middle of one.
void em_error_lock(void);
void em_error_unlock(void);
