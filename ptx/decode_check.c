// SPDX-License-Identifier: MIT
// Decodes the checks of programs whose accesses are checked.
#include "decode_state.h"

#include <string.h>

#include "access_form.h"
#include "checker.h"
#include "warp.h"

kn_lane_fn *px_check_of(const struct px_decoder *d, const struct px_op *op)
{
    struct px_access_form form;
    if (!d->checked)
        return NULL;
    if (op->code == PX_FORM_TOGETHER || op->code == PX_WARP_BARRIER)
        return px_op_members;
    if (op->code == PX_PHASE_WAIT)
        return px_op_passed;
    if (op->code != PX_FORM)
        return NULL;
    const char *name = d->forms[op->form].name;
    if (!strncmp(name, "fence", 5) || !strncmp(name, "mbarrier.", 9))
        return px_op_fence;
    return px_access_parse(name, &form) ? px_op_access : NULL;
}

struct kn_op *px_put_check(const struct px_decoder *d, const struct px_op *op, struct kn_op *to)
{
    kn_lane_fn *run = px_check_of(d, op);
    struct px_access_form form;
    if (!run)
        return to;
    px_op_start(op, to, run, run);
    if (run == px_op_access && px_access_parse(d->forms[op->form].name, &form)) {
        to->b = form.value_B;
        to->c = (form.read ? PX_FLAG_READ : 0) | (form.write ? PX_FLAG_WRITE : 0) |
                (form.atomic || op->strong ? PX_FLAG_STRONG : 0);
        to->d = form.space;
        to->i = form.register_B;
    }
    return to + 1;
}

struct kn_op *px_put_check_members(const struct px_decoder *d, const struct px_op *op,
                                   struct kn_op *to, uint32_t members)
{
    if (!d->checked)
        return to;
    px_op_start(op, to, px_op_members, px_op_members);
    to->a = members;
    return to + 1;
}
