// SPDX-License-Identifier: MIT
// Pointer checks: can the program's memory that a call is about to use be read or written?
// If not, the call fails with a message instead of a fault halfway through.
#pragma once
#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

enum { EM_NEAR_B = 16 << 10 }; // an address that is so little above a stack pointer is in the stack

// Returns CUDA_SUCCESS if `count` elements of `element_B` bytes can be read at `p`, else
// CUDA_ERROR_INVALID_VALUE with a message that begins with `name`. NULL passes because the caller
// checks it, and everything passes before cuInit. Another thread may still unmap the memory before
// it is used, so this check finds mistakes; it does not stop attacks.
CUresult em_readable(const char *name, const void *p, uint64_t count, uint64_t element_B);
// The same check of one small object, such as a descriptor. A pointer just above the caller's frame
// passes at once: most descriptors are local variables, and memory there is the thread's stack. If
// it is not, because the stack ends before, the call faults as it would without the check.
static inline CUresult em_readable_object(const char *name, const void *p, uint64_t size_B)
{
    const uintptr_t above_B = (uintptr_t)p - (uintptr_t)__builtin_frame_address(0);
    return above_B < EM_NEAR_B ? CUDA_SUCCESS : em_readable(name, p, 1, size_B);
}
// The same check of bytes that fails with another code.
CUresult em_readable_else(CUresult code, const char *name, const void *p, uint64_t size_B);
// Returns CUDA_SUCCESS if a text can be read up to its final 0, and the size before that 0.
CUresult em_readable_text(CUresult code, const char *name, const char *p, uint64_t *size_B);
// The same check of a text that is an argument, as em_readable_object makes it.
CUresult em_readable_argument(const char *name, const char *p);
static inline CUresult em_readable_string(const char *name, const char *p)
{
    const uintptr_t above_B = (uintptr_t)p - (uintptr_t)__builtin_frame_address(0);
    return above_B < EM_NEAR_B ? CUDA_SUCCESS : em_readable_argument(name, p);
}
// Copies `size_B` bytes; zeros after those that can be read.
void em_read_head(const void *p, void *out, uint64_t size_B);
// Writes a text with its final 0, and only as much of it as `capacity` bytes can hold. Fails, and
// writes nothing, if the memory for these bytes cannot be written.
CUresult em_write_text(const char *name, char *to, size_t capacity, const char *text);
// The check of em_readable for writing. It does not change the memory.
CUresult em_writable(const char *name, void *p, uint64_t size_B);
// The same check of one small object, as em_readable_object makes it.
static inline CUresult em_writable_object(const char *name, void *p, uint64_t size_B)
{
    const uintptr_t above_B = (uintptr_t)p - (uintptr_t)__builtin_frame_address(0);
    return above_B < EM_NEAR_B ? CUDA_SUCCESS : em_writable(name, p, size_B);
}
