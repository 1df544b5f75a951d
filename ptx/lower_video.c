// SPDX-License-Identifier: MIT
// Lowering of the video instructions: their modifiers become the immediate of a form.
#include <string.h>

#include "kn_video.h"
#include "lower.h"

static uint8_t operation_of(struct px_lower *l, const struct px_statement *s)
{
    static const struct {
        const char *root;
        enum kn_video_operation operation;
    } roots[] = {{"vadd", KN_VIDEO_ADD}, {"vsub", KN_VIDEO_SUB}, {"vabsdiff", KN_VIDEO_ABSDIFF},
                 {"vmin", KN_VIDEO_MIN}, {"vmax", KN_VIDEO_MAX}, {"vavrg", KN_VIDEO_AVRG},
                 {"vshl", KN_VIDEO_SHL}, {"vshr", KN_VIDEO_SHR}};
    static const struct {
        unsigned modifier;
        enum kn_video_operation operation;
    } comparisons[] = {{PX_MOD_EQ, KN_VIDEO_EQ}, {PX_MOD_NE, KN_VIDEO_NE},
                       {PX_MOD_LT, KN_VIDEO_LT}, {PX_MOD_LE, KN_VIDEO_LE},
                       {PX_MOD_GT, KN_VIDEO_GT}, {PX_MOD_GE, KN_VIDEO_GE}};
    const size_t length = strcspn(s->row->root, "24"); // vadd2, vadd4

    for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++)
        if (strlen(roots[i].root) == length && !strncmp(roots[i].root, s->row->root, length))
            return (uint8_t)roots[i].operation;
    for (size_t i = 0; i < sizeof(comparisons) / sizeof(*comparisons); i++)
        if (px_has(s, comparisons[i].modifier))
            return (uint8_t)comparisons[i].operation;
    px_unsupported(l, "this video instruction is not supported");
    return 0;
}

// Types and modifiers. vset has no type of the destination: it is a's.
static struct kn_video modifiers(const struct px_statement *s)
{
    const unsigned a = s->type_count < 3 ? 0 : 1;
    struct kn_video v = {0};

    if (s->types[0] == PX_S32)
        v.flags |= KN_VIDEO_SIGNED_D;
    if (s->types[a] == PX_S32)
        v.flags |= KN_VIDEO_SIGNED_A;
    if (s->types[a + 1] == PX_S32)
        v.flags |= KN_VIDEO_SIGNED_B;
    if (px_has(s, PX_MOD_SAT))
        v.flags |= KN_VIDEO_SATURATE;
    if (px_has(s, PX_MOD_WRAP))
        v.flags |= KN_VIDEO_WRAP;
    if (px_has(s, PX_MOD_ADD))
        v.second = KN_VIDEO_PLUS;
    if (px_has(s, PX_MOD_MIN))
        v.second = KN_VIDEO_LEAST;
    if (px_has(s, PX_MOD_MAX))
        v.second = KN_VIDEO_GREATEST;
    return v;
}

// A part's selector: b0 to b3, h0, h1, or nothing.
static uint8_t part(struct px_lower *l, const struct px_operand *operand)
{
    const char *selector = operand->selector;
    const int most = selector[0] == 'b' ? '3' : '1';

    if (!*selector)
        return KN_VIDEO_WORD;
    if ((selector[0] != 'b' && selector[0] != 'h') || selector[1] < '0' || selector[1] > most ||
        selector[2]) {
        px_refuse(l, "the selector .%s is not one of .b0 to .b3, .h0 and .h1", selector);
        return KN_VIDEO_WORD;
    }
    return (uint8_t)((selector[0] == 'b' ? KN_VIDEO_B0 : KN_VIDEO_H0) + selector[1] - '0');
}

void px_lower_video(struct px_lower *l, const struct px_statement *s)
{
    struct kn_video v = modifiers(s);
    const bool third = s->a[2].kind != PX_OPERAND_NONE;

    v.operation = operation_of(l, s);
    v.a = part(l, &s->a[0]);
    v.b = part(l, &s->a[1]);
    v.write = part(l, &s->d[0]);
    // "The secondary operation and the merge take operand c", and there is only one of them. The
    // card ignores c if there is neither (recorded: random_forms).
    if (!third && (v.second || v.write))
        px_refuse(l, "the third source is missing");
    if (v.second && v.write)
        px_refuse(l, "a secondary operation and a part of the destination exclude each other");
    const px_register c = third ? px_value(l, &s->a[2], PX_U32) : px_constant(l, 'w', 0);
    px_emit_immediate(l, "video", kn_video_pack(&v), px_target(l, &s->d[0], PX_U32),
                      px_value(l, &s->a[0], PX_U32), px_value(l, &s->a[1], PX_U32), c);
}

// A source of vmad, which may have a minus.
static px_register without_minus(struct px_lower *l, const struct px_operand *operand)
{
    struct px_operand plus = *operand;
    plus.minus = false;
    return px_value(l, &plus, PX_U32);
}

void px_lower_vmad(struct px_lower *l, const struct px_statement *s)
{
    struct kn_video v = modifiers(s);

    v.a = part(l, &s->a[0]);
    v.b = part(l, &s->a[1]);
    v.write = px_has(s, PX_MOD_SHR15) ? 15 : px_has(s, PX_MOD_SHR7) ? 7 : 0;
    if (part(l, &s->d[0]) || part(l, &s->a[2]))
        px_refuse(l, "the destination and the third source have no parts");
    if (px_has(s, PX_MOD_PO))
        v.flags |= KN_VIDEO_PLUS_ONE;
    if (s->a[0].minus != s->a[1].minus)
        v.flags |= KN_VIDEO_MINUS_AB;
    if (s->a[2].minus)
        v.flags |= KN_VIDEO_MINUS_C;
    // "-(a * b) + c, or a * b - c; .po and negation exclude each other".
    if ((s->a[0].minus || s->a[1].minus) + s->a[2].minus + px_has(s, PX_MOD_PO) > 1)
        px_refuse(l,
                  "the product or the third source can be negated, not both, and neither with .po");
    px_emit_immediate(l, "vmad", kn_video_pack(&v), px_target(l, &s->d[0], PX_U32),
                      without_minus(l, &s->a[0]), without_minus(l, &s->a[1]),
                      without_minus(l, &s->a[2]));
}

// The selector of halves or bytes of {b, a}, the upper one first: h10, b7531. Without one, a's own
// parts or b's own.
static uint16_t lanes(struct px_lower *l, const char *selector, unsigned count, unsigned first)
{
    uint16_t out = 0;

    if (!*selector) {
        for (unsigned i = 0; i < count; i++)
            out |= (uint16_t)((first + i) << 4 * i);
        return out;
    }
    if (selector[0] != (count == 2 ? 'h' : 'b') || strlen(selector) != count + 1)
        px_refuse(l, "the selector .%s does not have %u parts", selector, count);
    for (unsigned i = 0; i < count && !px_failed(l); i++) {
        const unsigned digit = (unsigned)(selector[count - i] - '0');
        if (digit >= 2 * count)
            px_refuse(l, "the selector .%s has parts that do not exist", selector);
        out |= (uint16_t)(digit << 4 * i);
    }
    return out;
}

// The parts of the destination that are written: h0, h1, h10, b0 … b3210.
static uint8_t written(struct px_lower *l, const char *selector, unsigned count)
{
    uint8_t out = 0;

    if (!*selector)
        return (uint8_t)((1u << count) - 1);
    for (const char *c = selector + 1; *c; c++) {
        const unsigned digit = (unsigned)(*c - '0');
        if (digit >= count || (out & ((2u << digit) - 1)))
            px_refuse(l, "the mask .%s does not have parts of the destination in falling order",
                      selector);
        else
            out |= (uint8_t)(1u << digit);
    }
    if (selector[0] != (count == 2 ? 'h' : 'b') || !out)
        px_refuse(l, "the mask .%s does not fit the instruction", selector);
    return out;
}

void px_lower_video_parts(struct px_lower *l, const struct px_statement *s)
{
    const unsigned count = strchr(s->row->root, '4') ? 4 : 2;
    struct kn_video v = modifiers(s);

    for (unsigned i = 0; i < 3; i++)
        if (s->a[i].kind == PX_OPERAND_INTEGER)
            px_refuse(l, "the sources of SIMD video instructions must be registers");
    v.operation = operation_of(l, s);
    v.a = lanes(l, s->a[0].selector, count, 0);
    v.b = lanes(l, s->a[1].selector, count, count);
    v.write = written(l, s->d[0].selector, count);
    px_emit_immediate(l, count == 4 ? "video4" : "video2", kn_video_pack(&v),
                      px_target(l, &s->d[0], PX_U32), px_value(l, &s->a[0], PX_U32),
                      px_value(l, &s->a[1], PX_U32), px_value(l, &s->a[2], PX_U32));
}
