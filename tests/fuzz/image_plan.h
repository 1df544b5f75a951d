// SPDX-License-Identifier: MIT
// Well-formed images that the fuzz targets `image` and `jitlink` build of an input's bytes, and a
// model that knows their contents. It follows docs/reference/modules.md.
#pragma once
#include "../api/images.h"
#include "fuzz.h"

enum {
    PLAN_PARTS = 4,      // texts of a container, for several architectures
    PLAN_CONTAINERS = 3, // of an image, or of all inputs of a linker
    PLAN_KERNELS = 4,    // names of kernels in a container
    PLAN_TEXT_B = 4096,
};

// A text in a container. Texts for other architectures have the same names, but other kernels and
// values.
struct plan_part {
    unsigned architecture; // in the container's table
    unsigned target;       // in the text
    unsigned version;      // of PTX: 78 for 7.8
    unsigned packing;      // enum image_packing
    unsigned kernels;      // bit mask of the kernels that it has
    uint32_t value;
    unsigned filler; // length of a comment, in characters
};

// A fat binary, or only the text of its single part.
struct plan_container {
    unsigned count; // of parts
    struct plan_part parts[PLAN_PARTS];
    unsigned cubin;                 // the architecture of machine code that is in it too, or 0
    unsigned cubin_at;              // before the part of this number
    const struct plan_part *chosen; // or NULL
    CUresult verdict;
};

// An input of a linker.
enum plan_form { PLAN_TEXT, PLAN_FAT, PLAN_OBJECT, PLAN_LIBRARY, PLAN_FORMS };
struct plan_input {
    enum plan_form form;
    unsigned first, count; // of its containers
    bool good;             // it is accepted
};

struct plan {
    unsigned architecture; // for which a part is chosen
    bool as_driver;
    bool calls; // kernels of a container call a function of the next one
    unsigned count;
    struct plan_container containers[PLAN_CONTAINERS];
    unsigned input_count;
    struct plan_input inputs[PLAN_CONTAINERS];
};

// One container with at least one part: a fat binary, or a text if `form` says so.
void plan_one(struct fuzz_input *in, struct plan *p, enum plan_form *form);
// Inputs for a linker, or (`fat`) fat binaries that are linked when they are loaded.
void plan_several(struct fuzz_input *in, struct plan *p, bool fat);

// The bytes of an input, or of a container.
void plan_container_bytes(const struct plan *p, unsigned number, struct container *out);
void plan_text_bytes(const struct plan *p, unsigned number, struct container *out);
void plan_input_bytes(const struct plan *p, const struct plan_input *input, struct container *out);

// The module should have the kernels and variables of the chosen parts of these containers, with
// their values, and no others.
void plan_check(const struct plan *p, CUmodule module, const bool used[PLAN_CONTAINERS]);
