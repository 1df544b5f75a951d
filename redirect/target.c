// SPDX-License-Identifier: MIT
// Reads the names of our runtimes' functions, and finds the functions themselves at the first call.
#include "target.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object.h"

enum { TARGETS_MAX = 1024 };

static const char *const sonames[RD_VERSIONS] = {"libcudart.so.12", "libcudart.so.13"};

static struct target {
    struct rd_file file; // stays mapped: the names are in it
    char path[4096];     // "" if there is no such library
    size_t count;
    const char *names[TARGETS_MAX]; // sorted
    void *cells[TARGETS_MAX];       // rd_lazy until the first call of any function
    void *loaded;                   // atomic
} targets[RD_VERSIONS];

// Stubs jump here, with the address of the cell in r11, until the library is loaded. Keeps all
// registers that carry arguments, asks rd_resolve for the function and jumps to it.
void rd_lazy(void);
void *rd_resolve(void *const *cell);
__asm__(".text\n"
        ".p2align 4\n"
        ".type rd_lazy, @function\n"
        "rd_lazy:\n"
        ".cfi_startproc\n"
        "  endbr64\n"
        "  pushq %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "  movq %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n"
        "  andq $-16, %rsp\n"
        "  subq $192, %rsp\n"
        "  movq %rdi, (%rsp)\n"
        "  movq %rsi, 8(%rsp)\n"
        "  movq %rdx, 16(%rsp)\n"
        "  movq %rcx, 24(%rsp)\n"
        "  movq %r8, 32(%rsp)\n"
        "  movq %r9, 40(%rsp)\n"
        "  movq %rax, 48(%rsp)\n"
        "  movups %xmm0, 64(%rsp)\n"
        "  movups %xmm1, 80(%rsp)\n"
        "  movups %xmm2, 96(%rsp)\n"
        "  movups %xmm3, 112(%rsp)\n"
        "  movups %xmm4, 128(%rsp)\n"
        "  movups %xmm5, 144(%rsp)\n"
        "  movups %xmm6, 160(%rsp)\n"
        "  movups %xmm7, 176(%rsp)\n"
        "  movq %r11, %rdi\n"
        "  call rd_resolve\n"
        "  movq %rax, %r11\n"
        "  movq (%rsp), %rdi\n"
        "  movq 8(%rsp), %rsi\n"
        "  movq 16(%rsp), %rdx\n"
        "  movq 24(%rsp), %rcx\n"
        "  movq 32(%rsp), %r8\n"
        "  movq 40(%rsp), %r9\n"
        "  movq 48(%rsp), %rax\n"
        "  movups 64(%rsp), %xmm0\n"
        "  movups 80(%rsp), %xmm1\n"
        "  movups 96(%rsp), %xmm2\n"
        "  movups 112(%rsp), %xmm3\n"
        "  movups 128(%rsp), %xmm4\n"
        "  movups 144(%rsp), %xmm5\n"
        "  movups 160(%rsp), %xmm6\n"
        "  movups 176(%rsp), %xmm7\n"
        "  leave\n"
        ".cfi_def_cfa %rsp, 8\n"
        "  jmp *%r11\n"
        ".cfi_endproc\n"
        ".size rd_lazy, . - rd_lazy\n");

// Loads the runtime into the program's namespace. Two threads may do so at the same time: both get
// the same library.
static void *load(struct target *target)
{
    void *handle = __atomic_load_n(&target->loaded, __ATOMIC_ACQUIRE);
    if (handle)
        return handle;
    handle = dlmopen(LM_ID_BASE, target->path, RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        fprintf(stderr, "cardless: cannot load the runtime for a program that brings its own: %s\n",
                dlerror());
        abort();
    }
    __atomic_store_n(&target->loaded, handle, __ATOMIC_RELEASE);
    return handle;
}

void *rd_resolve(void *const *cell)
{
    struct target *target = NULL;
    for (int i = 0; i < RD_VERSIONS && !target; i++)
        if (cell >= (void *const *)targets[i].cells &&
            cell < (void *const *)targets[i].cells + targets[i].count)
            target = &targets[i];
    if (!target) {
        fprintf(stderr, "cardless: a redirected call went through %p, which is no stub's cell\n",
                (const void *)cell);
        abort();
    }
    const size_t index = (size_t)(cell - (void *const *)target->cells);
    void *function = dlsym(load(target), target->names[index]);
    if (!function) {
        fprintf(stderr, "cardless: %s has no %s\n", target->path, target->names[index]);
        abort();
    }
    __atomic_store_n(&target->cells[index], function, __ATOMIC_RELEASE);
    return function;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int rd_neighbour(const char *soname, char *path, size_t size)
{
    Dl_info own;
    if (!dladdr((void *)targets, &own) || !own.dli_fname)
        return -1;
    const char *slash = strrchr(own.dli_fname, '/');
    const int folder = slash ? (int)(slash - own.dli_fname) + 1 : 0;
    if ((size_t)snprintf(path, size, "%.*s%s", folder, own.dli_fname, soname) >= size)
        return -1;
    return access(path, R_OK);
}

static void add_name(void *context, const char *name, const Elf64_Sym *symbol)
{
    struct target *target = context;
    if (symbol->st_shndx && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
        (!strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6)) && target->count < TARGETS_MAX)
        target->names[target->count++] = name;
}

static int target_read(struct target *target, const char *soname)
{
    if (rd_neighbour(soname, target->path, sizeof target->path) ||
        rd_file_open(&target->file, target->path)) {
        target->path[0] = 0;
        return -1;
    }
    rd_file_symbols(&target->file, SHT_DYNSYM, add_name, target);
    qsort(target->names, target->count, sizeof *target->names, by_name);
    for (size_t i = 0; i < target->count; i++)
        target->cells[i] = (void *)rd_lazy;
    return 0;
}

int rd_targets_read(void)
{
    static int tried, result = -1;
    if (tried)
        return result;
    tried = 1;
    for (int i = 0; i < RD_VERSIONS; i++)
        if (!target_read(&targets[i], sonames[i]))
            result = 0;
    return result;
}

const char *rd_target_path(enum rd_version version)
{
    return *targets[version].path ? targets[version].path : NULL;
}

void *const *rd_target_cell(enum rd_version version, const char *name)
{
    const struct target *target = &targets[version];
    const char *const *found =
        bsearch(&name, target->names, target->count, sizeof *target->names, by_name);
    return found ? &target->cells[found - target->names] : NULL;
}
