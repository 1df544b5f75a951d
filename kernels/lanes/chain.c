// SPDX-License-Identifier: MIT
// Links of chains: arithmetic of f32 and of integers of 32 bits. And copies of registers.
#include "chain.inc.h"

#include "families.h"
#include "kn_register.h"

#pragma GCC visibility push(hidden)
kn_register_add_fn KN_JOIN(kn_register_add, KN_SET);
#pragma GCC visibility pop

void KN_JOIN(kn_register_add, KN_SET)(void *to, size_t to_step_B, const void *from,
                                      size_t from_step_B, uint32_t base, uint32_t count)
{
    for (; count--; to = (char *)to + to_step_B, from = (const char *)from + from_step_B) {
        uint32_t *const d = __builtin_assume_aligned(to, 64);
        const uint32_t *const a = __builtin_assume_aligned(from, 64);
        KN_EACH_LANE
        d[i] = a[i] + base;
    }
}

#if KN_HAVE_CHAINS
#define FLOATS(x) ((kn_floats)(x))
#define FLOAT_2(name, operator)                                                                    \
    KN_LINK_BODY(name, 2, kn_result_parts, FLOATS(a) operator FLOATS(b))                           \
    KN_ABREAST_BODY(name, 2, kn_result_parts, FLOATS(a) operator FLOATS(b))                        \
    KN_LINKS_2(name)
FLOAT_2(add, +)
FLOAT_2(sub, -)
FLOAT_2(mul, *)
KN_LINK_BODY(fma, 3, kn_result_parts, kn_fma_parts(a, b, c))
KN_ABREAST_BODY(fma, 3, kn_result_parts, kn_fma_parts(a, b, c))
KN_LINKS_3(fma)

#define BITS_2(name, operator)                                                                     \
    KN_LINK_BODY(name, 2, KN_UNFIXED, a operator b)                                                \
    KN_ABREAST_BODY(name, 2, KN_UNFIXED, a operator b)                                             \
    KN_LINKS_2(name)
BITS_2(add_bits, +)
BITS_2(sub_bits, -)
BITS_2(mul_bits, *)
BITS_2(and_bits, &)
BITS_2(or_bits, |)
BITS_2(xor_bits, ^)
KN_ABREAST_BODY(mov_bits, 1, KN_UNFIXED, a)
KN_LINK_BODY(mad_bits, 3, KN_UNFIXED, a *b + c)
KN_ABREAST_BODY(mad_bits, 3, KN_UNFIXED, a *b + c)
KN_LINKS_3(mad_bits)

#define FLOAT_ROW(name, sources, text) KN_CHAIN_ROW(name, sources, text, true, false)
#define BITS_ROW(name, sources, text) KN_CHAIN_ROW(name, sources, text, false, true)

const struct kn_chain KN_JOIN(kn_chains_arithmetic, KN_SET)[] = {
    FLOAT_ROW(add, 2, "add.rn.f32"),    FLOAT_ROW(sub, 2, "sub.rn.f32"),
    FLOAT_ROW(mul, 2, "mul.rn.f32"),    FLOAT_ROW(fma, 3, "fma.rn.f32"),
    BITS_ROW(add_bits, 2, "add.32"),    BITS_ROW(sub_bits, 2, "sub.32"),
    BITS_ROW(mul_bits, 2, "mul.lo.32"), BITS_ROW(mad_bits, 3, "mad.lo.32"),
    BITS_ROW(and_bits, 2, "and.32"),    BITS_ROW(or_bits, 2, "or.32"),
    BITS_ROW(xor_bits, 2, "xor.32"),    {0},
};
#define ABREAST(name, text)                                                                        \
    {                                                                                              \
        text, name##_abreast                                                                       \
    }
const struct kn_abreast KN_JOIN(kn_abreast_arithmetic, KN_SET)[] = {
    ABREAST(add, "add.rn.f32"),
    ABREAST(sub, "sub.rn.f32"),
    ABREAST(mul, "mul.rn.f32"),
    ABREAST(fma, "fma.rn.f32"),
    ABREAST(add_bits, "add.32"),
    ABREAST(sub_bits, "sub.32"),
    ABREAST(mul_bits, "mul.lo.32"),
    ABREAST(mad_bits, "mad.lo.32"),
    ABREAST(and_bits, "and.32"),
    ABREAST(mov_bits, "mov.32"),
    ABREAST(or_bits, "or.32"),
    ABREAST(xor_bits, "xor.32"),
    {0},
};
#else
const struct kn_chain KN_JOIN(kn_chains_arithmetic, KN_SET)[] = {{0}};
const struct kn_abreast KN_JOIN(kn_abreast_arithmetic, KN_SET)[] = {{0}};
#endif
