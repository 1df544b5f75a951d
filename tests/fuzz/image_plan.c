// SPDX-License-Identifier: MIT
// Well-formed images: their contents, their bytes, and the rules of docs/reference/modules.md.
#include "image_plan.h"

#include "image_mutate.h"

// "PTX ISA Notes" of .target: the first version of PTX that has a target.
static const struct {
    unsigned architecture, version;
} targets[] = {{52, 41}, {60, 50}, {61, 50}, {70, 60}, {75, 63},  {80, 70},
               {86, 71}, {87, 74}, {89, 78}, {90, 78}, {100, 86}, {120, 87}};
static const unsigned versions[] = {41, 50, 63, 70, 78, 80, 84, 88, 90};
static const unsigned unknown_versions[] = {99, 69, 79};

static unsigned version_of(unsigned target)
{
    unsigned version = 0;
    for (unsigned i = 0; i < FUZZ_COUNT(targets); i++)
        version = targets[i].architecture == target ? targets[i].version : version;
    return version;
}

static bool is_unknown(unsigned version)
{
    for (unsigned i = 0; i < FUZZ_COUNT(unknown_versions); i++) {
        if (unknown_versions[i] == version)
            return true;
    }
    return false;
}

// ---- contents of an image ----

// Mostly a version that has the target.
static unsigned any_version(struct fuzz_input *in, unsigned target)
{
    const unsigned least = version_of(target);
    if (fuzz_chance(in, 16))
        return unknown_versions[fuzz_below(in, FUZZ_COUNT(unknown_versions))];
    const unsigned version = versions[fuzz_below(in, FUZZ_COUNT(versions))];
    return version < least && !fuzz_chance(in, 8) ? least : version;
}

// The parts of a container are for different architectures, in any order.
static void make_container(struct fuzz_input *in, struct plan_container *c, unsigned most)
{
    const unsigned begin = fuzz_below(in, FUZZ_COUNT(targets));
    const unsigned stride = fuzz_chance(in, 2) ? 5 : 7; // of 12: no number comes twice
    c->count = 1 + fuzz_below(in, most);
    for (unsigned i = 0; i < c->count; i++) {
        struct plan_part *part = &c->parts[i];
        part->architecture = targets[(begin + i * stride) % FUZZ_COUNT(targets)].architecture;
        part->target = fuzz_chance(in, 8)
                           ? targets[fuzz_below(in, FUZZ_COUNT(targets))].architecture
                           : part->architecture;
        part->version = any_version(in, part->target);
        part->packing = fuzz_below(in, IMAGE_PACKINGS);
        part->kernels = fuzz_below(in, 1u << PLAN_KERNELS);
        part->value = (uint32_t)fuzz_take(in, 2) << 8 | i;
        part->filler = fuzz_chance(in, 4) ? fuzz_below(in, 2048) : 0;
    }
    c->cubin = fuzz_chance(in, 3) ? targets[fuzz_below(in, FUZZ_COUNT(targets))].architecture : 0;
    c->cubin_at = fuzz_below(in, c->count + 1);
}

// ---- rules ----

// "Of the PTX in a fat binary, that of the highest architecture not above the device is loaded; if
// all are above it, the lowest."
static const struct plan_part *choose(const struct plan *p, const struct plan_container *c)
{
    const struct plan_part *highest = NULL, *lowest = NULL;
    for (unsigned i = 0; i < c->count; i++) {
        const struct plan_part *part = &c->parts[i];
        if (part->architecture > p->architecture) {
            if (!lowest || part->architecture < lowest->architecture)
                lowest = part;
        } else if (!highest || part->architecture > highest->architecture) {
            highest = part;
        }
    }
    return highest ? highest : lowest;
}

// "Machine code, alone or in a fat binary without PTX": CUDA_ERROR_NO_BINARY_FOR_GPU. "A text of a
// version that is not known is CUDA_ERROR_UNSUPPORTED_PTX_VERSION, and other mistakes
// are CUDA_ERROR_INVALID_PTX. .target is no obstacle … Under driver-580 it is refused", with
// CUDA_ERROR_NO_BINARY_FOR_GPU if the table of a fat binary says so.
static void judge(const struct plan *p, struct plan_container *c, bool fat)
{
    const struct plan_part *part = c->chosen = choose(p, c);
    if (!part || (fat && p->as_driver && part->architecture > p->architecture))
        c->verdict = CUDA_ERROR_NO_BINARY_FOR_GPU;
    else if (is_unknown(part->version))
        c->verdict = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    else if (part->version < version_of(part->target) ||
             (p->as_driver && part->target > p->architecture))
        c->verdict = CUDA_ERROR_INVALID_PTX;
    else
        c->verdict = CUDA_SUCCESS;
}

// Neither the manual nor a recording says how a linker of driver 580 refuses a fat binary that has
// PTX for newer devices only, nor a library with a text for one, so plans do not have them.
static void avoid_newer(const struct plan *p, struct plan_container *c, enum plan_form form)
{
    struct plan_part *part = &c->parts[choose(p, c) - c->parts];
    if (p->as_driver && form != PLAN_TEXT && part->architecture > p->architecture)
        part->architecture = targets[0].architecture; // no other part has it
    if (p->as_driver && form == PLAN_LIBRARY && part->target > p->architecture)
        part->target = targets[0].architecture;
}

void plan_one(struct fuzz_input *in, struct plan *p, enum plan_form *form)
{
    *form = fuzz_chance(in, 4) ? PLAN_TEXT : PLAN_FAT;
    p->count = 1;
    struct plan_container *c = &p->containers[0];
    make_container(in, c, *form == PLAN_TEXT ? 1 : PLAN_PARTS);
    if (*form == PLAN_FAT && c->cubin && fuzz_chance(in, 8))
        c->count = c->cubin_at = 0;
    judge(p, c, *form == PLAN_FAT);
}

// "An input with a mistake of its own is left out, and others can still be added." Functions are
// called only if all inputs are good, so no symbol is missing.
void plan_several(struct fuzz_input *in, struct plan *p, bool fat)
{
    p->calls = fuzz_below(in, 2);
    for (unsigned left = 1 + fuzz_below(in, PLAN_CONTAINERS); left;) {
        struct plan_input *input = &p->inputs[p->input_count++];
        input->form = fat ? PLAN_FAT : (enum plan_form)fuzz_below(in, PLAN_FORMS);
        input->first = p->count;
        input->count = input->form >= PLAN_OBJECT ? 1 + fuzz_below(in, left) : 1;
        input->good = true;
        for (unsigned i = 0; i < input->count; i++) {
            struct plan_container *c = &p->containers[p->count++];
            make_container(in, c, input->form == PLAN_TEXT ? 1 : PLAN_PARTS);
            avoid_newer(p, c, input->form);
            judge(p, c, input->form != PLAN_TEXT);
            input->good &= !c->verdict;
        }
        p->calls &= input->good;
        left -= input->count;
    }
}

// ---- bytes ----

static uint32_t value_of(const struct plan_part *part, unsigned kernel)
{
    return part->value ^ kernel * 0x01010101u;
}

static uint32_t function_value(const struct plan_part *part)
{
    return part->value + 7;
}

static size_t make_text(const struct plan *p, unsigned number, const struct plan_part *part,
                        char text[PLAN_TEXT_B])
{
    const unsigned next = (number + 1) % p->count;
    const bool calls = p->calls && next != number;
    size_t used =
        (size_t)snprintf(text, PLAN_TEXT_B, ".version %u.%u\n.target sm_%u\n.address_size 64\n",
                         part->version / 10, part->version % 10, part->target);
#define ADD(...) used += (size_t)snprintf(text + used, PLAN_TEXT_B - used, __VA_ARGS__)
    if (part->filler)
        ADD("//%0*u\n", (int)part->filler, 0);
    if (calls)
        ADD(".extern .func (.param .b32 r) f%u();\n", next);
    ADD(".visible .global .u32 g%u = %u;\n", number, part->value);
    ADD(".visible .func (.param .b32 r) f%u()\n{\n.reg .b32 %%q;\nmov.b32 %%q, %u;\n"
        "st.param.b32 [r], %%q;\nret;\n}\n",
        number, function_value(part));
    for (unsigned k = 0; k < PLAN_KERNELS; k++) {
        if (!(part->kernels & 1u << k))
            continue;
        ADD(".visible .entry k%u_%u(.param .u64 p)\n{\n.reg .b64 %%x;\n.reg .b32 %%r, %%q;\n"
            "ld.param.u64 %%x, [p];\nmov.b32 %%r, %u;\n",
            number, k, value_of(part, k));
        if (calls)
            ADD("{\n.param .b32 r;\ncall (r), f%u, ();\nld.param.b32 %%q, [r];\n}\n"
                "add.u32 %%r, %%r, %%q;\n",
                next);
        ADD("st.global.u32 [%%x], %%r;\nret;\n}\n");
    }
#undef ADD
    FUZZ_CHECK(used < PLAN_TEXT_B, "a text of %zu bytes", used);
    return used;
}

void plan_text_bytes(const struct plan *p, unsigned number, struct container *out)
{
    out->size_B = make_text(p, number, &p->containers[number].parts[0], (char *)out->bytes) + 1;
}

static void add_cubin(struct container *out, unsigned architecture)
{
    static unsigned char bytes[512];
    const size_t size_B = image_cubin(bytes, architecture);
    FUZZ_CHECK(size_B <= sizeof bytes, "a cubin of %zu bytes", size_B);
    image_add(out, IMAGE_CUBIN, architecture, bytes, size_B, 0, 0);
}

void plan_container_bytes(const struct plan *p, unsigned number, struct container *out)
{
    static char text[PLAN_TEXT_B];
    const struct plan_container *c = &p->containers[number];
    image_begin(out);
    for (unsigned i = 0; i <= c->count; i++) {
        if (c->cubin && c->cubin_at == i)
            add_cubin(out, c->cubin);
        if (i == c->count)
            break;
        make_text(p, number, &c->parts[i], text);
        image_add_text(out, text, c->parts[i].architecture, c->parts[i].packing);
    }
}

static size_t add_object(const struct plan *p, unsigned first, unsigned count, unsigned char *to)
{
    static struct container one;
    size_t at = sizeof(Elf64_Ehdr);
    for (unsigned i = 0; i < count; i++) {
        plan_container_bytes(p, first + i, &one);
        memcpy(to + at, one.bytes, one.size_B);
        at += one.size_B;
    }
    return image_object_end(to, at);
}

void plan_input_bytes(const struct plan *p, const struct plan_input *input, struct container *out)
{
    memset(out, 0, sizeof *out);
    switch (input->form) {
    case PLAN_TEXT:
        plan_text_bytes(p, input->first, out);
        break;
    case PLAN_OBJECT:
        out->size_B = add_object(p, input->first, input->count, out->bytes);
        break;
    case PLAN_LIBRARY: // a member for each container
        out->size_B = image_archive_begin(out->bytes);
        for (unsigned i = 0; i < input->count; i++)
            out->size_B =
                image_archive_member(out->bytes, out->size_B,
                                     add_object(p, input->first + i, 1,
                                                out->bytes + out->size_B + sizeof(struct ar_hdr)));
        break;
    default:
        plan_container_bytes(p, input->first, out);
    }
}

// ---- the loaded module ----

static uint32_t launch(CUfunction f, CUdeviceptr word)
{
    uint32_t got = 0xeeeeeeee;
    void *parameters[] = {&word};
    FUZZ_OK(cuMemcpyHtoD(word, &got, sizeof got));
    FUZZ_OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    FUZZ_OK(cuMemcpyDtoH(&got, word, sizeof got));
    return got;
}

static unsigned check_container(const struct plan *p, CUmodule module, unsigned number,
                                CUdeviceptr word)
{
    const struct plan_part *part = p->containers[number].chosen;
    const struct plan_part *next = p->containers[(number + 1) % p->count].chosen;
    const uint32_t added = p->calls && next != part ? function_value(next) : 0;
    CUdeviceptr variable;
    size_t size_B;
    uint32_t got;
    char name[16];
    unsigned count = 0;
    snprintf(name, sizeof name, "g%u", number);
    FUZZ_OK(cuModuleGetGlobal(&variable, &size_B, module, name));
    FUZZ_OK(cuMemcpyDtoH(&got, variable, sizeof got));
    FUZZ_CHECK(size_B == sizeof got && got == part->value, "%s: %zu bytes, %#x, expected %#x", name,
               size_B, got, part->value);
    for (unsigned k = 0; k < PLAN_KERNELS; k++) {
        const bool there = part->kernels >> k & 1;
        CUfunction f;
        snprintf(name, sizeof name, "k%u_%u", number, k);
        const CUresult r = cuModuleGetFunction(&f, module, name);
        FUZZ_CHECK(r == (there ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND),
                   "%s of sm_%u for sm_%u: %d, expected %d", name, part->architecture,
                   p->architecture, (int)r, there);
        if (!there)
            continue;
        count++;
        got = launch(f, word);
        FUZZ_CHECK(got == value_of(part, k) + added, "%s of sm_%u wrote %#x, expected %#x", name,
                   part->architecture, got, value_of(part, k) + added);
    }
    return count;
}

void plan_check(const struct plan *p, CUmodule module, const bool used[PLAN_CONTAINERS])
{
    CUdeviceptr word;
    unsigned expected = 0, count = 0;
    FUZZ_OK(cuMemAlloc(&word, sizeof(uint32_t)));
    for (unsigned i = 0; i < p->count; i++) {
        if (used[i])
            expected += check_container(p, module, i, word);
    }
    FUZZ_OK(cuModuleGetFunctionCount(&count, module));
    FUZZ_CHECK(count == expected, "%u kernels, expected %u", count, expected);
    FUZZ_OK(cuMemFree(word));
}
