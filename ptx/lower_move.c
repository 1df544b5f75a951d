// SPDX-License-Identifier: MIT
// Lowering of mov, cvta and other instructions that move data without a calculation.
#include "lower.h"

// A copy of a register, by its width.
static void move(struct px_lower *l, px_register to, px_register from)
{
    static const char *const forms[] = {['p'] = "mov.pred",
                                        ['h'] = "mov.16",
                                        ['w'] = "mov.32",
                                        ['l'] = "mov.64",
                                        ['x'] = "mov.128"};
    if (!px_failed(l))
        px_emit(l, forms[(int)px_letter(l, to)], to, from);
}

void px_lower_mov(struct px_lower *l, const struct px_statement *s)
{
    const unsigned type = s->types[0];
    if (s->d[0].kind == PX_OPERAND_VECTOR || s->a[0].kind == PX_OPERAND_VECTOR)
        px_unsupported(l, "vectors are not supported yet");
    move(l, px_target(l, &s->d[0], type), px_value(l, &s->a[0], type));
}
