// SPDX-License-Identifier: MIT
// Programs: makes a kernel's operations when they are first needed.
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "body.h"
#include "decode.h"
#include "flow.h"
#include "fold.h"
#include "join.h"
#include "kn_float.h"
#include "kn_lanes.h"
#include "nan_order.h"
#include "nan_signs.h"
#include "outline.h"

// A program and its memory.
struct made {
    struct px_program program;
    struct px_arena arena;
    struct px_op *ops;
    struct px_register_info *registers;
};

void px_program_free(struct px_program *program)
{
    struct made *made = (struct made *)program;
    if (!made)
        return;
    for (unsigned i = 0; i < sizeof program->decoded / sizeof *program->decoded; i++)
        px_decoded_free(program->decoded[i]);
    px_arena_finish(&made->arena);
    dm_free(made->ops);
    dm_free(made->registers);
    dm_free(made);
}

// Places of the module's variables in local memory.
static uint32_t *local_places(struct px_lower *l)
{
    const struct px_module *m = l->module;
    uint32_t *at = px_arena_array(&l->arena, m->variable_count + 1ul, sizeof(*at));
    if (!at)
        px_lower_no_memory(l);
    for (unsigned i = 0; i < m->variable_count && !l->error; i++)
        if (m->variables[i].space == PX_LOCAL)
            at[i] = px_local_take(l, m->variables[i].size_B, m->variables[i].alignment_B);
    return at;
}

// Places of those variables in shared memory that the kernel uses: after those of bodies
// (recorded: sreg/shared-sizes-static).
static uint32_t *shared_places(struct px_lower *l)
{
    enum { UNUSED, USED };
    const struct px_module *m = l->module;
    uint32_t *at = px_arena_array(&l->arena, m->variable_count + 1ul, sizeof(*at));
    if (!at)
        px_lower_no_memory(l);
    for (size_t i = 0; i < l->register_count && !l->error; i++)
        if (l->registers[i].fill == PX_FILL_VARIABLE)
            at[l->registers[i].index] = USED;
    for (unsigned i = 0; i < m->variable_count && !l->error; i++) {
        const struct px_variable *v = &m->variables[i];
        if (v->space == PX_SHARED && v->size_B && at[i] == USED)
            at[i] = px_shared_take(l, v->name, strlen(v->name), v->size_B, v->alignment_B);
    }
    return at;
}

// Extern shared arrays begin at the end of static shared memory, which is padded for those that the
// kernel uses.
static void dynamic_place(struct px_lower *l, uint32_t *shared_at)
{
    const struct px_module *m = l->module;
    uint64_t mask = 0;
    for (size_t i = 0; i < l->register_count; i++) {
        const struct px_register_info *r = &l->registers[i];
        if (r->fill != PX_FILL_VARIABLE)
            continue;
        const struct px_variable *v = &m->variables[r->index];
        if (v->space == PX_SHARED && !v->size_B && v->alignment_B)
            mask |= v->alignment_B - 1;
    }
    l->shared_B = (l->shared_B + mask) & ~mask;
    for (unsigned i = 0; i < m->variable_count; i++)
        if (m->variables[i].space == PX_SHARED && !m->variables[i].size_B)
            shared_at[i] = (uint32_t)l->shared_B;
}

static void kernel_read(struct px_lower *l)
{
    struct px_body b;
    px_body_start(&b, l, NULL, l->kernel);
    const struct px_function *f = &l->module->functions[l->kernel];
    const struct px_formals *formals = &l->module->state->functions[l->kernel].parameters;
    for (size_t i = 0; i < formals->count && !l->error; i++) {
        struct px_slot *slot = px_slot_add(&b, &formals->list[i]);
        if (slot) {
            slot->kind = PX_SLOT_ARGUMENT;
            slot->at_B = f->parameters[i].offset_B;
        }
    }
    px_stack_start(l);
    if (!l->error)
        px_body_read(&b);
    px_body_finish(&b);
    px_emit_code(l, PX_EXIT, 0, NULL, 0, NULL, 0); // "a kernel's end is a return"
    px_outline_complete(l);
}

// ---- atomics without a result ----

// Compilers write atom instead of red if a program does not use the result.
static bool is_atomic(const struct px_op *op)
{
    unsigned count;
    return op->code == PX_FORM && !strncmp(kn_forms(&count)[op->form].name, "atom.", 5);
}

static void note_reads(const struct px_op *op, bool *reads, size_t registers)
{
    for (unsigned n = 0; n < op->sources; n++)
        if (op->operands[op->destinations + n] < registers)
            reads[op->operands[op->destinations + n]] = true;
    if (op->guard < registers)
        reads[op->guard] = true;
    if (op->code == PX_FORM_TOGETHER && op->members < registers)
        reads[op->members] = true;
}

// Such an atomic waits for nobody, and sums do not depend on the order of blocks.
static void find_unread(struct px_lower *l)
{
    bool *reads = dm_calloc(l->register_count + 1, sizeof *reads);
    if (!reads) {
        px_lower_no_memory(l);
        return;
    }
    for (size_t i = 0; i < l->op_count; i++)
        note_reads(&l->ops[i], reads, l->register_count);
    l->waits = false;
    for (size_t i = 0; i < l->op_count; i++) {
        struct px_op *op = &l->ops[i];
        if (is_atomic(op) && op->destinations == 1 && op->operands[0] < l->register_count &&
            !reads[op->operands[0]]) {
            op->unread = true;
            op->waits = false;
            l->ordered -= op->sum;
        }
        l->waits |= op->waits;
    }
    dm_free(reads);
}

// ---- accesses ----

// Whether a form reads and writes registers only. The list is not complete: other forms are rare in
// kernels that access no memory.
static bool is_of_registers(const char *form)
{
    static const char *const names[] = {"mov", "add", "sub",  "mul",  "mad", "min", "max", "and",
                                        "or",  "xor", "setp", "selp", "shl", "shr", "cvt"};
    const size_t length = strcspn(form, ".");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && !memcmp(names[i], form, length))
            return true;
    return false;
}

static bool never_faults(const struct px_lower *l)
{
    unsigned count;
    const struct kn_form *forms = kn_forms(&count);
    for (size_t i = 0; i < l->op_count; i++) {
        const struct px_op *op = &l->ops[i];
        if (op->code != PX_EXIT && op->code != PX_BRANCH &&
            (op->code != PX_FORM || !is_of_registers(forms[op->form].name)))
            return false;
    }
    return true;
}

// ---- all ----

static void program_fill(struct px_lower *l, struct made *made, const bool *meets,
                         const uint32_t *shared_at, const uint32_t *local_at)
{
    *made = (struct made){
        .program =
            {
                .module = l->module,
                .function = l->kernel,
                .ops = l->ops,
                .op_count = (uint32_t)l->op_count,
                .registers = l->registers,
                .register_count = (uint32_t)l->register_count,
                .meets = meets,
                .shared = l->shared,
                .shared_at = shared_at,
                .local_at = local_at,
                .static_shared_B = (uint32_t)l->shared_B,
                .local_B = (uint32_t)l->local_B,
                .uses_barriers = l->uses_barriers,
                .waits = l->waits,
                .prints = l->prints,
                .reads_workspace = l->reads_workspace,
                .reads_grid_id = l->reads_grid_id,
                .allocates = l->allocates,
                .recurses = l->recurses,
                .never_faults = never_faults(l),
                .has_stack = l->calls || l->allocas,
                .order_free = !l->ordered,
            },
        .arena = l->arena,
        .ops = l->ops,
        .registers = l->registers,
    };
}

static int program_make(struct px_module *module, unsigned function, struct px_program **out,
                        struct px_report *report)
{
    struct px_outline outline = {.instance = PX_MAIN};
    struct px_lower l = {.module = module,
                         .frame = PX_NONE,
                         .outline = &outline,
                         .report = report,
                         .guard = PX_NONE,
                         .function = function,
                         .kernel = function,
                         .stacks = px_stack_is_used(module)};
    struct made *made = dm_calloc(1, sizeof(*made));
    bool *meets = NULL;
    struct px_object_uses objects;
    if (!made)
        px_lower_no_memory(&l);
    uint32_t *local_at = local_places(&l);
    if (!l.error)
        kernel_read(&l);
    uint32_t *shared_at = shared_places(&l);
    if (!l.error)
        px_order_nans(&l);
    if (!l.error)
        px_select_signs(&l);
    if (!l.error)
        px_flow_order(&l, &meets);
    if (!l.error)
        px_join_products(&l, &meets);
    if (!l.error)
        px_fold_constants(&l, meets);
    if (!l.error)
        find_unread(&l);
    px_objects_find(&l, &objects);
    px_outline_finish(&l);
    dm_free(l.filled);
    dm_free(l.inlined);
    if (l.error) {
        px_arena_finish(&l.arena);
        dm_free(l.ops);
        dm_free(l.registers);
        dm_free(made);
        return l.error;
    }
    dynamic_place(&l, shared_at);
    program_fill(&l, made, meets, shared_at, local_at);
    made->program.objects = objects;
    *out = &made->program;
    return 0;
}

// Constants must be the same whatever the thread's rounding mode is.
static int program_made(struct px_module *module, unsigned function, struct px_program **out,
                        struct px_report *report)
{
    const struct kn_float_state state = kn_float_enter();
    const int rc = program_make(module, function, out, report);
    kn_float_leave(state);
    return rc;
}

int px_program_get(struct px_module *module, unsigned function, const struct px_program **out,
                   struct px_report *report)
{
    *report = (struct px_report){0};
    if (function >= module->function_count || !module->functions[function].is_kernel ||
        !module->functions[function].defined) {
        snprintf(report->text, sizeof(report->text), "function %u is not a kernel of the module",
                 function);
        return -EINVAL;
    }
    struct px_function *f = &module->functions[function];
    int rc = 0;
    dm_mutex_lock(&module->state->lock);
    if (!f->program)
        rc = program_made(module, function, &f->program, report);
    if (!rc)
        *out = f->program;
    dm_mutex_unlock(&module->state->lock);
    return rc;
}
