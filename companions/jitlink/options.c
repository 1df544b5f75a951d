// SPDX-License-Identifier: MIT
// The options of nvJitLinkCreate.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jl.h"

// The options without an effect: they speed up machine code, or describe how to make it. A name
// with `=` at its end takes a value.
static const char *const without_effect[] = {
    "-O0",
    "-O3",
    "-g",
    "-ftz=",
    "-prec-div=",
    "-prec-sqrt=",
    "-fma=",
    "-kernels-used=",
    "-variables-used=",
    "-optimize-unused-variables",
    "-optimize-unused-variables=",
    "-Xptxas=",
    "-Xnvvm=",
    "-split-compile=",
    "-split-compile-extended=",
    "-jump-table-density=",
};

// NVIDIA's library takes these with a value too, which it ignores: `-verbose=0` is `-verbose`.
static const char *const without_effect_or_value[] = {"-time", "-verbose", "-lineinfo",
                                                      "-no-cache"};

static bool is_flag(const char *option, const char *name)
{
    const size_t length = strlen(name);
    return !strncmp(option, name, length) && (!option[length] || option[length] == '=');
}

static bool has_no_effect(const char *option)
{
    for (size_t i = 0; i < sizeof without_effect / sizeof *without_effect; i++) {
        const char *name = without_effect[i];
        const size_t length = strlen(name);
        const bool takes_value = name[length - 1] == '=';
        if (takes_value ? !strncmp(option, name, length) : !strcmp(option, name))
            return true;
    }
    for (size_t i = 0; i < sizeof without_effect_or_value / sizeof *without_effect_or_value; i++)
        if (is_flag(option, without_effect_or_value[i]))
            return true;
    return false;
}

// The architectures of a CUjit_target without its suffix. NVIDIA's library of 13.0 knows those
// below 7.5, but does not link for them. That of 12.9 does, and it knows sm_101, which is sm_110
// in 13.0. Both know sm_88, which is not a CUjit_target.
enum {
    OLDEST = 20,
    OLDEST_SUPPORTED = CU_TARGET_COMPUTE_75,
    WITHOUT_TARGET = 88,
    FORMER_110 = 101
};
static const unsigned char architectures[] = {
    CU_TARGET_COMPUTE_75,  CU_TARGET_COMPUTE_80,  CU_TARGET_COMPUTE_86,  CU_TARGET_COMPUTE_87,
    CU_TARGET_COMPUTE_89,  CU_TARGET_COMPUTE_90,  CU_TARGET_COMPUTE_100, CU_TARGET_COMPUTE_103,
    CU_TARGET_COMPUTE_110, CU_TARGET_COMPUTE_120, CU_TARGET_COMPUTE_121};

static nvJitLinkResult check_number(unsigned long number)
{
    if (number >= OLDEST && number < OLDEST_SUPPORTED)
        return JL_MAJOR < 13 ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_UNSUPPORTED_ARCH;
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (architectures[i] == number)
            return NVJITLINK_SUCCESS;
    return number == WITHOUT_TARGET ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
}

// Reads "sm_90", "sm_90a", "sm_100f", "compute_90" … NVIDIA's library also takes "lto_90", which
// means "compute_90" to it. Without a number above 0, the option is one that does not exist.
static nvJitLinkResult read_arch(const char *value, unsigned *target, bool *virtual)
{
    static const char *const prefixes[] = {"sm_", "compute_", "lto_"};
    size_t prefix = 0, count = sizeof prefixes / sizeof *prefixes;
    while (prefix < count && strncmp(value, prefixes[prefix], strlen(prefixes[prefix])) != 0)
        prefix++;
    if (prefix == count)
        return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    *virtual = prefix != 0;
    const char *digits = value + strlen(prefixes[prefix]);
    char *end;
    unsigned long number = isdigit((unsigned char)*digits) ? strtoul(digits, &end, 10) : 0;
    if (!number)
        return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
    if (JL_MAJOR < 13 && number == FORMER_110)
        number = CU_TARGET_COMPUTE_110;
    const nvJitLinkResult r = check_number(number);
    if (r)
        return r;
    if (number < OLDEST_SUPPORTED || number == WITHOUT_TARGET)
        return *end ? NVJITLINK_ERROR_UNRECOGNIZED_ARCH : NVJITLINK_SUCCESS;
    *target = (unsigned)number;
    if (!strcmp(end, "a"))
        *target |= CU_COMPUTE_ACCELERATED_TARGET_BASE;
    else if (!strcmp(end, "f"))
        *target |= CU_COMPUTE_FAMILY_TARGET_BASE;
    else if (*end)
        return NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
    return NVJITLINK_SUCCESS;
}

// The beginning of a text, and "..." if it is longer, so that the sentence about it is not cut.
#define SHOWN(text) (int)SHOWN_MAX, (text), strlen(text) > SHOWN_MAX ? "..." : ""
enum { SHOWN_MAX = 100 };

nvJitLinkResult jl_options_read(uint32_t count, const char *const *options, struct jl_options *out,
                                char *why, size_t why_B)
{
    static const char arch[] = "-arch=", registers[] = "-maxrregcount=";
    const char *architecture = NULL;
    *out = (struct jl_options){0};
    for (uint32_t i = 0; i < count; i++) {
        const char *option = options[i];
        if (!option)
            return NVJITLINK_ERROR_NULL_INPUT;
        if (!strncmp(option, arch, sizeof arch - 1)) {
            architecture = option + sizeof arch - 1;
        } else if (!strncmp(option, registers, sizeof registers - 1)) {
            const int number = atoi(option + sizeof registers - 1);
            out->registers = number > 0 ? (unsigned)number : 0; // other values limit nothing
        } else if (is_flag(option, "-lto")) {
            out->lto = true;
        } else if (is_flag(option, "-ptx")) {
            out->ptx = true;
        } else if (!has_no_effect(option)) {
            snprintf(why, why_B, "%.*s%s is not an option of nvJitLink", SHOWN(option));
            return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
        }
    }
    bool virtual;
    // "This is a required option".
    if (!architecture) {
        snprintf(why, why_B, "-arch=sm_N is missing");
        return NVJITLINK_ERROR_MISSING_ARCH;
    }
    const nvJitLinkResult r = read_arch(architecture, &out->target, &virtual);
    if (r) {
        snprintf(why, why_B,
                 r == NVJITLINK_ERROR_UNSUPPORTED_ARCH
                     ? "-arch=%.*s%s: nvJitLink of CUDA 13 links for sm_75 and later"
                     : "-arch=%.*s%s is not an architecture; pass sm_N",
                 SHOWN(architecture));
        return r;
    }
    // "Emit ptx after linking instead of cubin; only supported with -lto".
    if (out->ptx && !out->lto) {
        snprintf(why, why_B, "-ptx needs -lto");
        return NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
    }
    // "Can use compute_<N> value instead if only generating PTX".
    if (virtual && !out->ptx) {
        snprintf(why, why_B, "-arch=%.*s%s needs -ptx; pass sm_N", SHOWN(architecture));
        return NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
    }
    return NVJITLINK_SUCCESS;
}
