// SPDX-License-Identifier: MIT
// Lowering of control flow.
#include "lower.h"

void px_lower_bra(struct px_lower *l, const struct px_statement *s)
{
    px_emit_code(l, PX_BRANCH, 0, NULL, 0, NULL, 0)->uniform = px_has(s, PX_MOD_UNI);
}

void px_lower_ret(struct px_lower *l, const struct px_statement *s)
{
    px_emit_code(l, PX_EXIT, 0, NULL, 0, NULL, 0)->uniform = px_has(s, PX_MOD_UNI);
}

void px_lower_exit(struct px_lower *l, const struct px_statement *s)
{
    px_emit_code(l, PX_EXIT, 0, NULL, 0, NULL, 0);
}

void px_lower_trap(struct px_lower *l, const struct px_statement *s)
{
    px_emit_code(l, PX_TRAP, 0, NULL, 0, NULL, 0);
}

void px_lower_brkpt(struct px_lower *l, const struct px_statement *s)
{
    px_emit_code(l, PX_BREAKPOINT, 0, NULL, 0, NULL, 0);
}
