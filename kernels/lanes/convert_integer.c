// SPDX-License-Identifier: MIT
// Forms of conversions between integers: with and without saturation, and
// packed (cvt.pack).
//
// A result of 8 bits is extended to the 16 bits of its register.
#include "float.inc.h"

#include "families.h"

// TYPE(name, operand letter, type of the register, type of the value, least and
// greatest value)
#define EACH_TYPE(X, ...)                                                                          \
    X(u8, "h", uint16_t, uint8_t, 0, UINT8_MAX, __VA_ARGS__)                                       \
    X(s8, "h", uint16_t, int8_t, INT8_MIN, INT8_MAX, __VA_ARGS__)                                  \
    X(u16, "h", uint16_t, uint16_t, 0, UINT16_MAX, __VA_ARGS__)                                    \
    X(s16, "h", uint16_t, int16_t, INT16_MIN, INT16_MAX, __VA_ARGS__)                              \
    X(u32, "w", uint32_t, uint32_t, 0, UINT32_MAX, __VA_ARGS__)                                    \
    X(s32, "w", uint32_t, int32_t, INT32_MIN, INT32_MAX, __VA_ARGS__)                              \
    X(u64, "l", uint64_t, uint64_t, 0, UINT64_MAX, __VA_ARGS__)                                    \
    X(s64, "l", uint64_t, int64_t, INT64_MIN, INT64_MAX, __VA_ARGS__)
// The sources: with s or u for their sign. (Another list, because no macro
// expands in itself.)
#define EACH_SOURCE(X, ...)                                                                        \
    X(u8, "h", uint16_t, uint8_t, u, __VA_ARGS__)                                                  \
    X(s8, "h", uint16_t, int8_t, s, __VA_ARGS__)                                                   \
    X(u16, "h", uint16_t, uint16_t, u, __VA_ARGS__)                                                \
    X(s16, "h", uint16_t, int16_t, s, __VA_ARGS__)                                                 \
    X(u32, "w", uint32_t, uint32_t, u, __VA_ARGS__)                                                \
    X(s32, "w", uint32_t, int32_t, s, __VA_ARGS__)                                                 \
    X(u64, "l", uint64_t, uint64_t, u, __VA_ARGS__)                                                \
    X(s64, "l", uint64_t, int64_t, s, __VA_ARGS__)

// ".sat limits the result to MININT … MAXINT of the destination."
#define CLAMP_u(V, LEAST, MOST, x) ((uint64_t)(x) > (uint64_t)(MOST) ? (V)(MOST) : (V)(x))
#define CLAMP_s(V, LEAST, MOST, x)                                                                 \
    ((int64_t)(x) < (int64_t)(LEAST)               ? (V)(LEAST)                                    \
     : (x) > 0 && (uint64_t)(x) > (uint64_t)(MOST) ? (V)(MOST)                                     \
                                                   : (V)(x))

#define FORMS(source, letter, A, S, sign, to, to_letter, D, V, LEAST, MOST)                        \
    KN_FORM1(to##_##source, D, A, (V)(S)a[i])                                                      \
    KN_CALLED1(sat_##to##_##source, D, A, CLAMP_##sign(V, LEAST, MOST, (S)a[i]))
#define FORMS_TO(to, letter, D, V, LEAST, MOST, ...)                                               \
    EACH_SOURCE(FORMS, to, letter, D, V, LEAST, MOST)
EACH_TYPE(FORMS_TO, )

// "cvt.pack: converts a and b, packs them, and shifts c to make space for
// them": a above b.
#define PACK(bits, LEAST, MOST)                                                                    \
    (((uint32_t)CLAMP_s(int32_t, LEAST, MOST, (int32_t)a[i]) & ((1u << (bits)) - 1)) << (bits) |   \
     ((uint32_t)CLAMP_s(int32_t, LEAST, MOST, (int32_t)b[i]) & ((1u << (bits)) - 1)))
KN_FORM2(pack_u16, uint32_t, uint32_t, uint32_t, PACK(16, 0, 65535))
KN_FORM2(pack_s16, uint32_t, uint32_t, uint32_t, PACK(16, -32768, 32767))
#define PACK_MORE(type, bits, LEAST, MOST)                                                         \
    KN_FORM3(pack_##type, uint32_t, uint32_t, uint32_t, uint32_t,                                  \
             c[i] << (2 * (bits)) | PACK(bits, LEAST, MOST))
PACK_MORE(u8, 8, 0, 255)
PACK_MORE(s8, 8, -128, 127)
PACK_MORE(u4, 4, 0, 15)
PACK_MORE(s4, 4, -8, 7)
PACK_MORE(u2, 2, 0, 3)
PACK_MORE(s2, 2, -2, 1)

#define ROWS(source, letter, A, S, sign, to, to_letter)                                            \
    KN_ROW(to##_##source, "cvt." #to "." #source, to_letter "=" letter),                           \
        KN_ROW(sat_##to##_##source, "cvt.sat." #to "." #source, to_letter "=" letter),
#define ROWS_TO(to, letter, D, V, LEAST, MOST, ...) EACH_SOURCE(ROWS, to, letter)
#define PACK_ROW(type) KN_ROW(pack_##type, "cvt.pack.sat." #type ".s32.b32", "w=www")

const struct kn_form KN_FAMILY(convert_integer)[] = {
    // clang-format off
    EACH_TYPE(ROWS_TO, )
    // clang-format on
    KN_ROW(pack_u16, "cvt.pack.sat.u16.s32", "w=ww"),
    KN_ROW(pack_s16, "cvt.pack.sat.s16.s32", "w=ww"),
    PACK_ROW(u8),
    PACK_ROW(s8),
    PACK_ROW(u4),
    PACK_ROW(s4),
    PACK_ROW(u2),
    PACK_ROW(s2),
    {0},
};
