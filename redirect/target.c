// SPDX-License-Identifier: MIT
// Reads the names of our runtime's functions, and finds the functions themselves at the first call.
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

static struct rd_file library; // stays mapped: the names are in it
static char path[4096];
static size_t count;
static const char *names[TARGETS_MAX]; // sorted
static void *cells[TARGETS_MAX];       // rd_lazy until the first call of any function
static void *loaded;                   // atomic

// Stubs jump here, with the address of the cell in r11, until the library is loaded. Keeps all
// registers that carry arguments, asks rd_resolve for the function and jumps to it.
void rd_lazy(void);
void *rd_resolve(void *const *cell);
__asm__(".text\n"
        ".p2align 4\n"
        ".type rd_lazy, @function\n"
        "rd_lazy:\n"
        "  endbr64\n"
        "  pushq %rbp\n"
        "  movq %rsp, %rbp\n"
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
        "  jmp *%r11\n"
        ".size rd_lazy, . - rd_lazy\n");

// Loads the runtime into the program's namespace. Two threads may do so at the same time: both get
// the same library.
static void *load(void)
{
    void *handle = __atomic_load_n(&loaded, __ATOMIC_ACQUIRE);
    if (handle)
        return handle;
    handle = dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_GLOBAL);
    if (!handle) {
        fprintf(stderr, "cardless: cannot load the runtime for a program that brings its own: %s\n",
                dlerror());
        abort();
    }
    __atomic_store_n(&loaded, handle, __ATOMIC_RELEASE);
    return handle;
}

void *rd_resolve(void *const *cell)
{
    const size_t index = (size_t)(cell - (void *const *)cells);
    void *function = dlsym(load(), names[index]);
    if (!function) {
        fprintf(stderr, "cardless: %s has no %s\n", path, names[index]);
        abort();
    }
    __atomic_store_n(&cells[index], function, __ATOMIC_RELEASE);
    return function;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int find_path(void)
{
    static const char name[] = "libcudart.so.13";
    Dl_info own;
    if (!dladdr((void *)cells, &own) || !own.dli_fname)
        return -1;
    const char *slash = strrchr(own.dli_fname, '/');
    const int folder = slash ? (int)(slash - own.dli_fname) + 1 : 0;
    if ((size_t)snprintf(path, sizeof path, "%.*s%s", folder, own.dli_fname, name) >= sizeof path)
        return -1;
    return access(path, R_OK);
}

static void add_name(void *context, const char *name, const Elf64_Sym *symbol)
{
    if (symbol->st_shndx && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
        (!strncmp(name, "cuda", 4) || !strncmp(name, "__cuda", 6)) && count < TARGETS_MAX)
        names[count++] = name;
}

int rd_targets_read(void)
{
    static int tried, result;
    if (tried)
        return result;
    tried = 1;
    result = find_path() || rd_file_open(&library, path) ? -1 : 0;
    if (result)
        return result;
    rd_file_symbols(&library, SHT_DYNSYM, add_name, NULL);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++)
        cells[i] = (void *)rd_lazy;
    return 0;
}

const char *rd_target_path(void)
{
    return path;
}

void *const *rd_target_cell(const char *name)
{
    const char *const *found = bsearch(&name, names, count, sizeof *names, by_name);
    return found ? &cells[found - names] : NULL;
}
