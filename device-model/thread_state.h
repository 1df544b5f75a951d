// SPDX-License-Identifier: MIT
// Thread-local state of a library that a program may load at any time with dlopen.
//
// The C library reserves a little memory for the thread-local variables of libraries that are
// loaded late (the model initial-exec, flag STATIC_TLS). Cardless must not depend on this memory,
// because other libraries may have used it up. It uses TLS descriptors instead. They also work in
// fully static programs, unlike __tls_get_addr (the model global-dynamic).
//
// A descriptor costs about two nanoseconds a call. Yet if the C library did find room in the memory
// that it reserves, the state lies at the same offset from the thread pointer in each thread. Then
// the offset is found once, and later calls only add it.
#pragma once
#include <stddef.h>

#include "hidden.h"

#if defined(__x86_64__)

// Declares `type *name(void)`, which returns the state of the calling thread. The attribute `const`
// lets the compiler keep the result, which is safe because it stays the same in a thread.
#define DM_DECLARE_THREAD_STATE(type, name)                                                        \
    extern DM_HIDDEN ptrdiff_t name##_offset;                                                      \
    type *name##_by_descriptor(void) __attribute__((const));                                       \
    static inline type *name(void)                                                                 \
    {                                                                                              \
        char *thread_pointer;                                                                      \
        if (__builtin_expect(!name##_offset, 0))                                                   \
            return name##_by_descriptor();                                                         \
        __asm__("movq %%fs:0, %0" : "=r"(thread_pointer));                                         \
        return (type *)(void *)(thread_pointer + name##_offset);                                   \
    }

// Defines what DM_DECLARE_THREAD_STATE declares, in one C file.
//
// This is assembly for two reasons. Clang 14 has no -mtls-dialect=gnu2. And the code that compilers
// generate for it assumes that the resolver of a descriptor preserves vector registers, but older C
// libraries overwrite them at the first access of a thread. The caller of a function expects that.
#define DM_DEFINE_THREAD_STATE(type, name)                                                         \
    __thread type name##_state __attribute__((visibility("hidden"), used));                        \
    ptrdiff_t name##_offset;                                                                       \
    __asm__(".text\n"                                                                              \
            ".p2align 4\n"                                                                         \
            ".hidden " #name "_by_descriptor\n"                                                    \
            ".globl " #name "_by_descriptor\n"                                                     \
            ".type " #name "_by_descriptor,@function\n" #name "_by_descriptor:\n"                  \
            "\t.cfi_startproc\n"                                                                   \
            "\tsubq $8, %rsp\n" /* calls need a stack pointer that is a multiple of 16 */          \
            "\t.cfi_adjust_cfa_offset 8\n"                                                         \
            "\tleaq " #name "_state@tlsdesc(%rip), %rax\n"                                         \
            "\tmovq %rax, %rdx\n" /* for dm_thread_offset; no caller minds */                      \
            "\tcall *" #name "_state@tlscall(%rax)\n"                                              \
            "\taddq %fs:0, %rax\n"                                                                 \
            "\taddq $8, %rsp\n"                                                                    \
            "\t.cfi_adjust_cfa_offset -8\n"                                                        \
            "\tret\n"                                                                              \
            "\t.cfi_endproc\n"                                                                     \
            ".size " #name "_by_descriptor, .-" #name "_by_descriptor\n");                         \
    static void __attribute__((constructor)) name##_find_offset(void)                              \
    {                                                                                              \
        name##_offset = dm_thread_offset((dm_descriptor_fn *)(void *)name##_by_descriptor);        \
    }

// What the function of a descriptor returns: the state's address, and the descriptor's.
struct dm_thread_address {
    char *state;
    const ptrdiff_t *descriptor;
};
typedef struct dm_thread_address dm_descriptor_fn(void);

// Returns the state's offset from the thread pointer if all threads have the same, or 0.
ptrdiff_t dm_thread_offset(dm_descriptor_fn *by_descriptor);

#else

// On AArch64, compilers use descriptors by default.
#define DM_DECLARE_THREAD_STATE(type, name) type *name(void) __attribute__((const));
#define DM_DEFINE_THREAD_STATE(type, name)                                                         \
    static __thread type name##_state;                                                             \
    type *name(void)                                                                               \
    {                                                                                              \
        return &name##_state;                                                                      \
    }

#endif
