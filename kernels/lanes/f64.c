// SPDX-License-Identifier: MIT
// Forms of f64 arithmetic in four rounding modes.
#include "f64.inc.h"

#include "families.h"

#define IN(x) kn_f64((x)[i])

KN_FORM2(add_rn, uint64_t, uint64_t, uint64_t, kn_f64_result2(IN(a) + IN(b), IN(b), IN(a)))
KN_FORM2(sub_rn, uint64_t, uint64_t, uint64_t, kn_f64_result2(IN(a) - IN(b), IN(b), IN(a)))
// The operands of sub exchanged: b - a.
KN_FORM2(subr_rn, uint64_t, uint64_t, uint64_t, kn_f64_result2(IN(b) - IN(a), IN(b), IN(a)))
KN_FORM2(mul_rn, uint64_t, uint64_t, uint64_t, kn_f64_result2(IN(a) * IN(b), IN(b), IN(a)))
#if defined(__FMA__) || defined(__aarch64__)
KN_FORM3(fma_rn, uint64_t, uint64_t, uint64_t, uint64_t,
         kn_f64_result3(__builtin_fma(IN(a), IN(b), IN(c)), IN(b), IN(c), IN(a)))
#else
KN_CALLED3(fma_rn, uint64_t, uint64_t, uint64_t, uint64_t, kn_fma_f64(a[i], b[i], c[i], KN_RN))
#endif
KN_CALLED2(div_rn, uint64_t, uint64_t, uint64_t, kn_f64_result2(IN(a) / IN(b), IN(a), IN(b)))
KN_CALLED1(rcp_rn, uint64_t, uint64_t, kn_f64_result1(1 / IN(a), IN(a)))
KN_CALLED1(sqrt_rn, uint64_t, uint64_t, kn_f64_result1(__builtin_sqrt(IN(a)), IN(a)))

#define SIGN 0x8000000000000000u
#define DIRECTED(mode, MODE)                                                                       \
    KN_CALLED2(add_##mode, uint64_t, uint64_t, uint64_t, kn_add_f64(a[i], b[i], MODE))             \
    KN_CALLED2(sub_##mode, uint64_t, uint64_t, uint64_t, kn_sub_f64(a[i], b[i], MODE))             \
    KN_CALLED2(subr_##mode, uint64_t, uint64_t, uint64_t, kn_subr_f64(a[i], b[i], MODE))           \
    KN_CALLED2(mul_##mode, uint64_t, uint64_t, uint64_t, kn_mul_f64(a[i], b[i], MODE))             \
    KN_CALLED3(fma_##mode, uint64_t, uint64_t, uint64_t, uint64_t,                                 \
               kn_fma_f64(a[i], b[i], c[i], MODE))                                                 \
    KN_CALLED2(div_##mode, uint64_t, uint64_t, uint64_t, kn_div_f64(a[i], b[i], MODE))             \
    KN_CALLED1(rcp_##mode, uint64_t, uint64_t, kn_div_f64(0x3ff0000000000000u, a[i], MODE))        \
    KN_CALLED1(sqrt_##mode, uint64_t, uint64_t, kn_sqrt_f64(a[i], MODE))
DIRECTED(rz, KN_RZ)
DIRECTED(rm, KN_RM)
DIRECTED(rp, KN_RP)

// A NaN keeps its sign.
KN_FORM1(neg, uint64_t, uint64_t, kn_f64_result1(-IN(a), IN(a)))
KN_FORM1(abs, uint64_t, uint64_t, kn_f64_result1(fabs(IN(a)), IN(a)))
KN_FORM2(copysign, uint64_t, uint64_t, uint64_t, (a[i] & SIGN) | (b[i] & ~SIGN))

#define ROWS(mode)                                                                                 \
    KN_ROW(add_##mode, "add." #mode ".f64", "l=ll"),                                               \
        KN_ROW(sub_##mode, "sub." #mode ".f64", "l=ll"),                                           \
        KN_ROW(subr_##mode, "subr." #mode ".f64", "l=ll"),                                         \
        KN_ROW(mul_##mode, "mul." #mode ".f64", "l=ll"),                                           \
        KN_ROW(fma_##mode, "fma." #mode ".f64", "l=lll"),                                          \
        KN_ROW(div_##mode, "div." #mode ".f64", "l=ll"),                                           \
        KN_ROW(rcp_##mode, "rcp." #mode ".f64", "l=l"),                                            \
        KN_ROW(sqrt_##mode, "sqrt." #mode ".f64", "l=l")

const struct kn_form KN_FAMILY(f64)[] = {
    ROWS(rn),
    ROWS(rz),
    ROWS(rm),
    ROWS(rp),
    KN_ROW(neg, "neg.f64", "l=l"),
    KN_ROW(abs, "abs.f64", "l=l"),
    KN_ROW(copysign, "copysign.f64", "l=ll"),
    {0},
};
