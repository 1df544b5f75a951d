// SPDX-License-Identifier: MIT
// Finds the state of the calling thread.
#include "thread.h"

#if defined(__x86_64__)

// This is assembly for two reasons. Clang 14 has no -mtls-dialect=gnu2. And the code that compilers
// generate for it assumes that the resolver of a descriptor preserves vector registers, but older C
// libraries overwrite them at the first access of a thread. The caller of a function expects that.
__thread struct em_thread em_thread_state __attribute__((visibility("hidden"), used));

__asm__(".text\n"
        ".p2align 4\n"
        ".hidden em_thread\n"
        ".globl em_thread\n"
        ".type em_thread,@function\n"
        "em_thread:\n"
        "\t.cfi_startproc\n"
        "\tsubq $8, %rsp\n" // calls need a stack pointer that is a multiple of 16
        "\t.cfi_adjust_cfa_offset 8\n"
        "\tleaq em_thread_state@tlsdesc(%rip), %rax\n"
        "\tcall *em_thread_state@tlscall(%rax)\n"
        "\taddq %fs:0, %rax\n"
        "\taddq $8, %rsp\n"
        "\t.cfi_adjust_cfa_offset -8\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        ".size em_thread, .-em_thread\n");

#else

// On AArch64, compilers use descriptors by default.
static __thread struct em_thread state;

struct em_thread *em_thread(void)
{
    return &state;
}

#endif
