// SPDX-License-Identifier: MIT
// Finds the state of the calling thread.
#include "thread.h"

#if defined(__x86_64__)

// By hand, because clang 14 has no -mtls-dialect=gnu2, and because code that compilers generate for
// it assumes that a descriptor's resolver preserves vector registers, which older C libraries do
// not do at a thread's first access. The caller of a function assumes no such thing.
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

// AArch64's compilers use descriptors without being asked.
static __thread struct em_thread state;

struct em_thread *em_thread(void)
{
    return &state;
}

#endif
