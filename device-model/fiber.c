// SPDX-License-Identifier: MIT
// Stacks of fibers, and the switch between them.
//
// A fiber that does not run has its registers on its stack, below the address to return to:
//
//     saved ─▶ │ floating-point state, registers that a call preserves │ return address │ …
//
// A new fiber returns into a piece of assembly that calls fiber_main.
#include "fiber.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "alloc.h"
#include "guard.h"

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#define ADDRESS_SANITIZER 1
void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *size);
void __asan_unpoison_memory_region(const volatile void *address, size_t size);
#else
#define ADDRESS_SANITIZER 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
#define THREAD_SANITIZER 1
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#else
#define THREAD_SANITIZER 0
#endif

// Saves the registers, keeps the stack pointer in *saved, and continues at `to`.
void dm_fiber_swap(void **saved, void *to) __attribute__((visibility("hidden")));
void dm_fiber_first(void) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
__asm__(".text\n.p2align 4\n.hidden dm_fiber_swap\n.globl dm_fiber_swap\n"
        ".type dm_fiber_swap,@function\ndm_fiber_swap:\n"
        "\tpushq %rbp\n\tpushq %rbx\n\tpushq %r15\n\tpushq %r14\n\tpushq %r13\n\tpushq %r12\n"
        "\tsubq $8, %rsp\n\tstmxcsr (%rsp)\n\tfnstcw 4(%rsp)\n"
        "\tmovq %rsp, (%rdi)\n\tmovq %rsi, %rsp\n"
        "\tldmxcsr (%rsp)\n\tfldcw 4(%rsp)\n\taddq $8, %rsp\n"
        "\tpopq %r12\n\tpopq %r13\n\tpopq %r14\n\tpopq %r15\n\tpopq %rbx\n\tpopq %rbp\n"
        "\tret\n.size dm_fiber_swap, . - dm_fiber_swap\n"
        ".p2align 4\n.hidden dm_fiber_first\n.globl dm_fiber_first\n"
        ".type dm_fiber_first,@function\ndm_fiber_first:\n"
        "\t.cfi_startproc\n\t.cfi_undefined rip\n"
        "\tmovq %r13, %rdi\n\tcall *%r12\n\tud2\n\t.cfi_endproc\n"
        ".size dm_fiber_first, . - dm_fiber_first\n");

static void *first_frame(char *top, void (*main)(void *), void *argument)
{
    uint64_t *at =
        (uint64_t *)(void *)top - 10; // so that the stack of the first call is aligned to 16
    uint32_t mxcsr;
    uint16_t control;
    __asm__("stmxcsr %0" : "=m"(mxcsr));
    __asm__("fnstcw %0" : "=m"(control));
    memset(at, 0, 10 * sizeof *at);
    at[0] = mxcsr | (uint64_t)control << 32;
    at[1] = (uint64_t)(uintptr_t)main;     // r12
    at[2] = (uint64_t)(uintptr_t)argument; // r13
    at[7] = (uint64_t)(uintptr_t)dm_fiber_first;
    return at;
}
#elif defined(__aarch64__)
__asm__(".text\n.p2align 4\n.hidden dm_fiber_swap\n.globl dm_fiber_swap\n"
        ".type dm_fiber_swap,%function\ndm_fiber_swap:\n"
        "\tsub sp, sp, #176\n"
        "\tstp x19, x20, [sp]\n\tstp x21, x22, [sp, #16]\n\tstp x23, x24, [sp, #32]\n"
        "\tstp x25, x26, [sp, #48]\n\tstp x27, x28, [sp, #64]\n\tstp x29, x30, [sp, #80]\n"
        "\tstp d8, d9, [sp, #96]\n\tstp d10, d11, [sp, #112]\n\tstp d12, d13, [sp, #128]\n"
        "\tstp d14, d15, [sp, #144]\n"
        "\tmrs x9, fpcr\n\tstr x9, [sp, #160]\n"
        "\tmov x9, sp\n\tstr x9, [x0]\n\tmov sp, x1\n"
        "\tldr x9, [sp, #160]\n\tmsr fpcr, x9\n"
        "\tldp x19, x20, [sp]\n\tldp x21, x22, [sp, #16]\n\tldp x23, x24, [sp, #32]\n"
        "\tldp x25, x26, [sp, #48]\n\tldp x27, x28, [sp, #64]\n\tldp x29, x30, [sp, #80]\n"
        "\tldp d8, d9, [sp, #96]\n\tldp d10, d11, [sp, #112]\n\tldp d12, d13, [sp, #128]\n"
        "\tldp d14, d15, [sp, #144]\n"
        "\tadd sp, sp, #176\n\tret\n.size dm_fiber_swap, . - dm_fiber_swap\n"
        ".p2align 4\n.hidden dm_fiber_first\n.globl dm_fiber_first\n"
        ".type dm_fiber_first,%function\ndm_fiber_first:\n"
        "\t.cfi_startproc\n\t.cfi_undefined x30\n"
        "\tmov x0, x20\n\tblr x19\n\tbrk #1\n\t.cfi_endproc\n"
        ".size dm_fiber_first, . - dm_fiber_first\n");

static void *first_frame(char *top, void (*main)(void *), void *argument)
{
    uint64_t *at = (uint64_t *)(void *)top - 22;
    memset(at, 0, 22 * sizeof *at);
    at[0] = (uint64_t)(uintptr_t)main;            // x19
    at[1] = (uint64_t)(uintptr_t)argument;        // x20
    at[11] = (uint64_t)(uintptr_t)dm_fiber_first; // x30
    __asm__("mrs %0, fpcr" : "=r"(at[20]));
    return at;
}
#else
#error "fiber.c needs the switch of stacks for this processor"
#endif

// ---- switching ----

// In the stack that was switched to.
static void arrived(struct dm_fiber *self, struct dm_fiber *from)
{
#if ADDRESS_SANITIZER
    // The bounds of a thread's own stack are known only after the first switch away from it.
    const void *bottom;
    size_t size;
    __sanitizer_finish_switch_fiber(self->fake_stack, &bottom, &size);
    if (from && !from->stack) {
        from->bottom = bottom;
        from->bottom_B = size;
    }
#else
    (void)self;
    (void)from;
#endif
}

static void leave_for(struct dm_fiber *from, struct dm_fiber *to, bool for_ever)
{
    from->guarded = dm_guard_exchange(to->guarded);
#if ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(for_ever ? NULL : &from->fake_stack, to->bottom, to->bottom_B);
#endif
    (void)for_ever;
#if THREAD_SANITIZER
    __tsan_switch_to_fiber(to->thread_state, 0);
#endif
    dm_fiber_swap(&from->saved, to->saved);
}

static void fiber_main(void *argument)
{
    struct dm_fiber *self = argument;
    arrived(self, self->back);
    self->run(self->argument);
    self->ended = true;
    leave_for(self, self->back, true);
}

// ---- stacks that fibers share ----

static void unpoison(const struct dm_fiber *fiber, const void *from)
{
#if ADDRESS_SANITIZER
    const char *top = fiber->stack + fiber->stack_B;
    __asan_unpoison_memory_region(from, (size_t)(top - (const char *)from));
#endif
    (void)fiber;
    (void)from;
}

// Puts a fiber's part of the shared stack in place.
static void restore(struct dm_fiber *fiber)
{
    unpoison(fiber, fiber->stack);
    if (fiber->fresh)
        fiber->saved = first_frame(fiber->stack + fiber->stack_B, fiber_main, fiber);
    else
        memcpy(fiber->saved, fiber->kept, fiber->kept_B);
    fiber->fresh = false;
}

// Copies that part away, from the stack pointer up.
static int put_away(struct dm_fiber *fiber)
{
    const char *top = fiber->stack + fiber->stack_B;
    fiber->kept_B = (size_t)(top - (const char *)fiber->saved);
    if (fiber->kept_B > fiber->capacity_B) {
        const size_t capacity_B = fiber->kept_B + fiber->kept_B / 4;
        dm_free(fiber->kept);
        fiber->capacity_B = 0;
        fiber->kept = dm_alloc(capacity_B);
        if (!fiber->kept)
            return -ENOMEM;
        fiber->capacity_B = capacity_B;
    }
    unpoison(fiber, fiber->saved);
    memcpy(fiber->kept, fiber->saved, fiber->kept_B);
    return 0;
}

int dm_fiber_switch(struct dm_fiber *from, struct dm_fiber *to, struct dm_fiber *back)
{
    to->back = back;
    if (to->shares)
        restore(to);
    leave_for(from, to, false);
    arrived(from, NULL);
    // Only the switch from another stack gets here before `to` runs again.
    return !from->shares && to->shares && !to->ended ? put_away(to) : 0;
}

void dm_fiber_left(struct dm_fiber *to, struct dm_fiber *from)
{
    from->guarded = dm_guard_exchange(to->guarded);
#if ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(NULL, to->bottom, to->bottom_B);
#endif
#if THREAD_SANITIZER
    __tsan_switch_to_fiber(to->thread_state, 0);
#endif
    arrived(to, NULL);
}

// ---- life ----

void dm_fiber_of_thread(struct dm_fiber *main)
{
    memset(main, 0, sizeof *main);
#if THREAD_SANITIZER
    main->thread_state = __tsan_get_current_fiber();
#endif
}

int dm_fiber_init(struct dm_fiber *fiber, size_t stack_B)
{
    size_t page_B = (size_t)sysconf(_SC_PAGESIZE);
    memset(fiber, 0, sizeof *fiber);
    char *at = mmap(NULL, page_B + stack_B, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at == MAP_FAILED)
        return -errno;
    if (mprotect(at, page_B, PROT_NONE)) {
        int r = -errno;
        munmap(at, page_B + stack_B);
        return r;
    }
    fiber->stack = at + page_B;
    fiber->stack_B = stack_B;
    fiber->bottom = fiber->stack;
    fiber->bottom_B = stack_B;
    return 0;
}

void dm_fiber_init_shared(struct dm_fiber *fiber, const struct dm_fiber *owner)
{
    memset(fiber, 0, sizeof *fiber);
    fiber->shares = true;
    fiber->stack = owner->stack;
    fiber->stack_B = owner->stack_B;
    fiber->bottom = owner->bottom;
    fiber->bottom_B = owner->bottom_B;
}

static void forget(struct dm_fiber *fiber)
{
    fiber->guarded = NULL;
    fiber->fake_stack = NULL;
    fiber->ended = false;
    if (!fiber->shares)
        unpoison(fiber, fiber->stack);
#if THREAD_SANITIZER
    if (fiber->thread_state)
        __tsan_destroy_fiber(fiber->thread_state);
    fiber->thread_state = NULL;
#endif
}

void dm_fiber_start(struct dm_fiber *fiber, void (*run)(void *argument), void *argument)
{
    forget(fiber);
#if THREAD_SANITIZER
    fiber->thread_state = __tsan_create_fiber(0);
#endif
    fiber->run = run;
    fiber->argument = argument;
    fiber->fresh = fiber->shares;
    if (!fiber->shares)
        fiber->saved = first_frame(fiber->stack + fiber->stack_B, fiber_main, fiber);
}

void dm_fiber_finish(struct dm_fiber *fiber)
{
    size_t page_B = (size_t)sysconf(_SC_PAGESIZE);
    forget(fiber);
    if (!fiber->shares)
        munmap(fiber->stack - page_B, page_B + fiber->stack_B);
    dm_free(fiber->kept);
    memset(fiber, 0, sizeof *fiber);
}
