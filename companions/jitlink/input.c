// SPDX-License-Identifier: MIT
// Recognises inputs by their first bytes.
#include <elf.h>
#include <string.h>

#include "jl.h"

enum { CUDA_MACHINE = 190 };

static bool begins_with(const void *data, size_t size, const void *with, size_t with_B)
{
    return size >= with_B && !memcmp(data, with, with_B);
}

// PTX begins with .version, after blanks and comments.
static bool is_ptx(const char *text, size_t size)
{
    static const char directive[] = ".version";
    const char *at = text, *end = text + size;
    while (at < end) {
        const size_t left = (size_t)(end - at);
        if (*at == ' ' || (*at >= '\t' && *at <= '\r')) {
            at++;
        } else if (begins_with(at, left, "//", 2)) {
            const char *newline = memchr(at, '\n', left);
            at = newline ? newline + 1 : end;
        } else if (begins_with(at, left, "/*", 2)) {
            const char *close = memmem(at + 2, left - 2, "*/", 2);
            at = close ? close + 2 : end;
        } else {
            return begins_with(at, left, directive, sizeof directive - 1);
        }
    }
    return false;
}

nvJitLinkInputType jl_input_type(const void *data, size_t size)
{
    static const unsigned char fat[] = {0x50, 0xed, 0x55, 0xba}, lto[] = {0xed, 0x43, 0x4e, 0x7f};
    Elf64_Ehdr elf;
    if (begins_with(data, size, ELFMAG, SELFMAG) && size >= sizeof elf) {
        memcpy(&elf, data, sizeof elf);
        return elf.e_machine == CUDA_MACHINE ? NVJITLINK_INPUT_CUBIN : NVJITLINK_INPUT_OBJECT;
    }
    if (begins_with(data, size, fat, sizeof fat))
        return NVJITLINK_INPUT_FATBIN;
    if (begins_with(data, size, "!<arch>\n", 8))
        return NVJITLINK_INPUT_LIBRARY;
    if (begins_with(data, size, lto, sizeof lto))
        return NVJITLINK_INPUT_LTOIR;
    return is_ptx(data, size) ? NVJITLINK_INPUT_PTX : NVJITLINK_INPUT_NONE;
}

bool jl_input_matches(nvJitLinkInputType found, nvJitLinkInputType wanted)
{
    // Index files are LTO-IR.
    if (wanted == NVJITLINK_INPUT_INDEX)
        return found == NVJITLINK_INPUT_LTOIR;
    // PTX is what nvrtcGetCUBIN gives here.
    if (wanted == NVJITLINK_INPUT_CUBIN && found == NVJITLINK_INPUT_PTX)
        return true;
    return found == wanted && found != NVJITLINK_INPUT_NONE;
}
