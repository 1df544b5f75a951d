// SPDX-License-Identifier: MIT
// Lowering of logic that is not one form by its name: lop3.
#include "lower.h"

// "lop3.BoolOp d|p: p = (d != 0) BoolOp q", where d may be `_`.
void px_lower_lop3(struct px_lower *l, const struct px_statement *s)
{
    const px_register d = px_destination(l, s, 0);
    const int64_t table = px_integer(l, &s->a[3], 0);

    if (table < 0 || table > 255)
        px_refuse(l, "the look-up table %lld is not in the range 0 to 255", (long long)table);
    px_emit_immediate(l, "lop3.32", table, d, px_source(l, s, 0), px_source(l, s, 1),
                      px_source(l, s, 2));
    if (!px_has(s, PX_MOD_AND) && !px_has(s, PX_MOD_OR))
        return;
    const px_register any = px_temporary(l, 'p');
    px_emit(l, "setp.ne.32", any, d, px_constant(l, 'w', 0));
    px_emit(l, px_has(s, PX_MOD_AND) ? "and.pred" : "or.pred", px_destination(l, s, 1), any,
            px_source(l, s, 4));
}
