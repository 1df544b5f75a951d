// SPDX-License-Identifier: MIT
// Prepares textures: chooses the functions of their fetches.
#include "fetch.h"
#include "lod.h"
#include "texel.h"

void kn_texture_prepare(struct kn_texture *t)
{
    t->element_B = kn_texel_B(t->texel, t->channels);
    // 32-bit integers are never filtered (recorded: tex/linear-of-integer-refused).
    t->filter = t->linear && kn_texel_class(t, 0) != KN_SAMPLE_WORD;
    kn_lod_prepare(t);
    kn_texel_border(t, t->border_value);
    t->run = kn_fetch_base;
    t->run_level = kn_fetch_level;
    t->run_gradient = kn_fetch_gradient;
    t->run_gather = kn_fetch_gather;
    t->run_integer = kn_fetch_integer;
}
