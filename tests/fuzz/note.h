// SPDX-License-Identifier: MIT
// Notes for tools/fuzz_to_c. With CARDLESS_TRACE, calls of a target that standalone.c runs come
// through functions of the files note*.c (the linker's --wrap), which write lines "note …" between
// the lines of the trace:
//
//     note bytes @0x… HEX         bytes of the host, which the program sets
//     note got @0x… HEX           bytes of the host, which the program compares
//     note argument NAME TEXT     an argument of the next call, which the trace shows in part
//     note TEXT                   a statement
//
// In a text, `@0x…` stands for an address of the host, `$type:0x…` for a handle, and `$type#3` for
// the handle that the trace calls "type #3".
#pragma once
#include "fuzz.h"

bool note_is_on(void);
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);

// Bytes of the program, or of the device. Nothing if they cannot be read.
void note_bytes(const char *what, const void *address, size_t size);

// A function of the target's: `__real_name` makes the call, whose result is `r`, and the statements
// after the arguments write notes.
#define NOTE_WRAP(type, name, parameters, arguments, ...)                                          \
    type __real_##name parameters;                                                                 \
    type __wrap_##name parameters;                                                                 \
    type __wrap_##name parameters                                                                  \
    {                                                                                              \
        type r = __real_##name arguments;                                                          \
        __VA_ARGS__;                                                                               \
        return r;                                                                                  \
    }
