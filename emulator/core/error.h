// SPDX-License-Identifier: MIT
// Errors and diagnostics: the code is for the program, the message is for the person.
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

// Reports why the current call fails, and returns `code`. The message should name the argument, its
// value, the rule that it breaks and the fix, in this order, and has no full stop at its end:
//     return em_fail(CUDA_ERROR_INVALID_VALUE, "WidthInBytes (%zu) exceeds the pitch (%zu)",
//                    width, pitch);
// May be called with em_lock held or not. It is a macro so that the compiler sees that an error
// code is not CUDA_SUCCESS.
#define em_fail(code, ...)                                                                         \
    ({                                                                                             \
        CUresult em_code_ = (code);                                                                \
        em_explain(em_code_, __VA_ARGS__);                                                         \
        em_code_;                                                                                  \
    })
// The same for a message that has several subjects, such as a type of handle. Each message is shown
// at most 8 times, but this one 8 times for each `subject`, which is the address of a constant.
#define em_fail_of(subject, code, ...)                                                             \
    ({                                                                                             \
        CUresult em_code_ = (code);                                                                \
        em_explain_of(subject, em_code_, __VA_ARGS__);                                             \
        em_code_;                                                                                  \
    })

// Creates the file of CARDLESS_DIAGNOSTICS=json:FILE. So a program without mistakes leaves an empty
// file, and a missing file means that no program called cuInit.
void em_diagnostics_start(void);

void em_explain(CUresult code, const char *format, ...) __attribute__((format(printf, 2, 3), cold));

void em_explain_of(const void *subject, CUresult code, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

// Reports an error that a library above the driver has found. `origin` identifies the message, and
// `result` is the name of the library's error.
void em_explain_for(const void *origin, const char *result, const char *given)
    __attribute__((cold));

// For calls that give the text of an error to the program, as the log of a compiler: from
// em_message_begin to em_message_end, `m` receives the texts of the errors that this thread
// reports, one a line, also if diagnostics are off. The messages of a thread are a stack: the
// innermost one receives the texts, and each em_message_end ends that one, which is checked.
struct em_message {
    char text[2048];
    bool held;
    struct em_message *outer; // the next one of the stack, or NULL
};
void em_message_begin(struct em_message *m);
// For errors that are reported later, if at all: until em_message_end, nothing is written, and `m`
// receives the texts, also those that inner messages receive.
void em_message_hold(struct em_message *m);
void em_message_end(const struct em_message *m);

// Reports mistake `EM_DIAG_id` of the catalogue, and returns `code`. The code is CUDA_SUCCESS if
// the call continues in spite of the mistake.
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
// The driver's short text for a code, or NULL if the code is unknown.
const char *em_error_string(CUresult code);
// Returns true if this is a sticky error: every later call in the context returns it, until the
// context is destroyed.
bool em_error_is_sticky(CUresult code);

// Blocks all reports around a fork, so that the child does not inherit a locked mutex.
void em_error_lock(void);
void em_error_unlock(void);
