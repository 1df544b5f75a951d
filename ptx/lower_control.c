// SPDX-License-Identifier: MIT
// Lowering of control flow.
#include <errno.h>
#include <string.h>

#include "body.h"
#include "outline.h"

void px_lower_bra(struct px_lower *l, const struct px_statement *s)
{
    px_emit_code(l, PX_BRANCH, 0, NULL, 0, NULL, 0)->uniform = px_has(s, PX_MOD_UNI);
    px_label_use(l->body, &s->a[0].text, UINT32_MAX);
}

void px_lower_brx(struct px_lower *l, const struct px_statement *s)
{
    const px_register index = px_source(l, s, 0);
    const struct px_text *name = &s->a[1].text;
    const struct px_name *found = px_names_find(&l->body->names, name->at, name->length);
    if (!found || found->kind != PX_NAME_TARGETS) {
        px_refuse(l, "\"%.*s\" is not a list of .branchtargets",
                  (int)(name->length < 60 ? name->length : 60), name->at);
        return;
    }
    const struct px_targets *list = &l->body->targets[found->value];
    uint32_t *targets = px_arena_array(&l->arena, list->count, sizeof(*targets));
    if (!targets) {
        px_lower_no_memory(l);
        return;
    }
    struct px_op *op = px_emit_code(l, PX_BRANCH_TABLE, 0, NULL, 0, &index, 1);
    op->uniform = px_has(s, PX_MOD_UNI);
    op->targets = targets;
    op->target_count = (uint32_t)list->count;
    for (size_t i = 0; i < list->count; i++)
        px_label_use(l->body, &list->names[i], (uint32_t)i);
}

void px_lower_ret(struct px_lower *l, const struct px_statement *s)
{
    struct px_body *b = l->body;
    const bool uniform = px_has(s, PX_MOD_UNI);
    if (b->outlined) {
        px_outline_return(b);
        return;
    }
    if (!b->caller) {
        px_emit_code(l, PX_EXIT, 0, NULL, 0, NULL, 0)->uniform = uniform;
        return;
    }
    uint32_t *grown = px_grow(b->returns, b->return_count, &b->return_capacity, sizeof(*grown));
    if (!grown) {
        px_lower_no_memory(l);
        return;
    }
    b->returns = grown;
    px_emit_code(l, PX_BRANCH, 0, NULL, 0, NULL, 0)->uniform = uniform;
    if (!l->error)
        grown[b->return_count++] = (uint32_t)l->op_count - 1;
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
