// SPDX-License-Identifier: MIT
// Prepares textures: chooses the functions of their fetches.
#include "kn_cpu.h"

#include "fast.h"
#include "lod.h"
#include "texel.h"

static kn_fetch_fn *fast_choose(const struct kn_texture *t, unsigned flags)
{
#if KN_HAVE_LANES_SETS
    if (flags & KN_CPU_AVX512)
        return kn_fast_choose_avx512(t);
    if (flags & KN_CPU_AVX2)
        return kn_fast_choose_avx2(t);
#else
    (void)flags;
#endif
    return kn_fast_choose_c(t);
}

static kn_fetch_fn *fast_integer_choose(const struct kn_texture *t, unsigned flags)
{
#if KN_HAVE_LANES_SETS
    if (flags & KN_CPU_AVX512)
        return kn_fast_integer_choose_avx512(t);
    if (flags & KN_CPU_AVX2)
        return kn_fast_integer_choose_avx2(t);
#else
    (void)flags;
#endif
    return kn_fast_integer_choose_c(t);
}

void kn_texture_prepare(struct kn_texture *t)
{
    kn_texture_prepare_for(t, kn_cpu_flags());
}

void kn_texture_prepare_for(struct kn_texture *t, unsigned flags)
{
    kn_fetch_fn *fast;

    t->element_B = kn_texel_B(t->texel, t->channels);
    t->filter = t->linear;
    kn_lod_prepare(t);
    // [random_views, packed] Three-dimensional textures have no anisotropic filter.
    t->sums = t->filter || t->mip_linear || (t->anisotropy_256 && t->shape != KN_TEXTURE_3D);
    kn_texel_border(t, t->border_value);
    t->base_level = kn_lod_base(t).level;
    // The fast functions take a single texel as it is.
    fast = kn_lod_base(t).fraction || (t->sums && !t->filter) ? 0 : fast_choose(t, flags);
    t->run = fast ? fast : kn_fetch_base;
    t->run_level = kn_fetch_level;
    t->run_gradient = kn_fetch_gradient;
    t->run_gather = kn_fetch_gather;
    if (t->levels == 1) { // no LOD leads to another level
        t->run_level = t->run;
        t->run_gradient = t->anisotropy_256 ? kn_fetch_gradient : t->run;
    }
    fast = fast_integer_choose(t, flags);
    t->run_integer = fast ? fast : kn_fetch_integer;
    if (t->shape == KN_TEXTURE_LINEAR)
        t->run = t->run_level = t->run_gradient = t->run_gather = kn_fetch_nothing;
}
