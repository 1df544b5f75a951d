// SPDX-License-Identifier: MIT
// Lowering of integer arithmetic that is not one form by its name: carries.
#include <string.h>

#include "lower.h"

// "The condition code register (CC) has a single carry flag bit, which is set by instructions with
// .cc and read by addc, subc and madc." The carry is a register of the kernel's own.
void px_lower_carry(struct px_lower *l, const struct px_statement *s)
{
    const char *root = s->row->root;
    const unsigned type = s->types[0];
    const bool product = root[0] == 'm', reads = root[strlen(root) - 1] == 'c';
    const bool writes = px_has(s, PX_MOD_CC), high = px_has(s, PX_MOD_HI);
    px_register operands[6];
    unsigned count = 0;

    operands[count++] = px_destination(l, s, 0);
    if (writes)
        operands[count++] = px_carry(l);
    for (unsigned i = 0; i < (product ? 3 : 2); i++)
        operands[count++] = px_source(l, s, i);
    if (reads)
        operands[count++] = px_carry(l);
    const char *width = high ? px_modifier_name(type) : px_name(l, "%u", px_type_bits(type));
    px_emit_form(l,
                 px_name(l, "%s%s%s.%s", root,
                         high      ? ".hi"
                         : product ? ".lo"
                                   : "",
                         writes ? ".cc" : "", width),
                 0, PX_NONE, operands, count);
}
