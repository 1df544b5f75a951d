// SPDX-License-Identifier: MIT
// The stack of a thread: registers that calls save, and alloca, stacksave and stackrestore.
//
// The local memory of a thread:
//
//     │ variables │ frames of functions ──▶      ◀── alloca │
//                                                ▲ top      ▲ the end of the stack
//
// The top is a register that all functions share. A function gives its allocations back when it
// returns.
#include <string.h>

#include "lower_state.h"
#include "module_state.h"
#include "outline.h"

bool px_stack_is_used(struct px_module *module)
{
    struct px_module_state *state = module->state;
    for (unsigned i = 0; state->stack == PX_STACK_UNKNOWN && i < state->part_count; i++)
        if (memmem(state->parts[i].text, state->parts[i].text_B, "alloca", strlen("alloca")))
            state->stack = PX_STACK_USED;
    if (state->stack == PX_STACK_UNKNOWN)
        state->stack = PX_STACK_UNUSED;
    return state->stack == PX_STACK_USED;
}

static px_register top_of(struct px_lower *l)
{
    return px_outline_shared(l, 'w', PX_SHARED_TOP);
}

void px_stack_start(struct px_lower *l)
{
    if (l->stacks)
        px_emit(l, "mov.32", top_of(l),
                px_filled(l, &(struct px_register_info){.letter = 'w', .fill = PX_FILL_STACK}));
}

px_register px_stack_enter(struct px_lower *l)
{
    const px_register saved = l->stacks ? px_temporary(l, 'w') : PX_NONE;
    if (l->stacks)
        px_emit(l, "mov.32", saved, top_of(l));
    return saved;
}

void px_stack_leave(struct px_lower *l, px_register saved)
{
    if (saved != PX_NONE)
        px_emit(l, "mov.32", top_of(l), saved);
}

void px_stack_spill(struct px_lower *l, px_register reg, px_register frame, uint64_t *at_B,
                    bool restore)
{
    static const unsigned widths[] = {['h'] = 16, ['w'] = 32, ['l'] = 64, ['x'] = 128};
    const char letter = px_letter(l, reg);
    const int64_t offset = (int64_t)*at_B;
    *at_B += letter == 'x' ? 16 : 8;
    if (letter != 'p') {
        const unsigned bits = widths[(int)letter];
        const char *form = px_name(l, "%s.local.%u:%u", restore ? "ld" : "st", bits, bits);
        if (restore)
            px_emit_immediate(l, form, offset, reg, frame);
        else
            px_emit_immediate(l, form, offset, frame, reg);
        return;
    }
    const px_register word = px_temporary(l, 'w'), zero = px_constant(l, 'w', 0);
    if (restore) {
        px_emit_immediate(l, "ld.local.32:32", offset, word, frame);
        px_emit(l, "setp.ne.32", reg, word, zero);
    } else {
        px_emit(l, "selp.32", word, px_constant(l, 'w', 1), zero, reg);
        px_emit_immediate(l, "st.local.32:32", offset, frame, word);
    }
}

// "alloca: size bytes of local memory, aligned to immAlign, by default 8; freed when the function
// returns." Without enough space, the launch fails.
void px_lower_alloca(struct px_lower *l, const struct px_statement *s)
{
    const int64_t alignment = px_integer(l, &s->a[1], 8);
    const px_register size = px_widen(l, px_source(l, s, 0), 'l');
    const px_register top = px_widen(l, top_of(l), 'l');
    const px_register left = px_temporary(l, 'l'), at = px_temporary(l, 'l');
    const px_register low = px_temporary(l, 'w'), full = px_temporary(l, 'p');
    const px_register aligned = px_temporary(l, 'w'), least = px_temporary(l, 'l');
    if (alignment <= 0 || alignment & (alignment - 1) || alignment > 1 << 20) {
        px_refuse(l, "the alignment (%lld) must be a power of two", (long long)alignment);
        return;
    }
    l->allocas = true;
    px_emit(l, "sub.64", left, top, px_widen(l, px_outline_frame_end(l), 'l'));
    px_emit(l, "min.u64", least, size, px_constant(l, 'l', UINT64_C(1) << 32));
    px_emit(l, "setp.lt.s64", full, left, least); // frames may have gone past the top
    px_trap_if(l, full, PX_TRAP_STACK);
    px_emit(l, "sub.64", at, top, size);
    px_emit(l, "cvt.u32.u64", low, at);
    px_emit(l, "and.32", aligned, low, px_constant(l, 'w', (uint64_t)-alignment));
    px_emit(l, "mov.32", top_of(l), aligned);
    px_move(l, px_destination(l, s, 0), px_widen(l, aligned, px_type_letter(s->types[0])));
}

void px_lower_stacksave(struct px_lower *l, const struct px_statement *s)
{
    px_move(l, px_destination(l, s, 0), px_widen(l, top_of(l), px_type_letter(s->types[0])));
}

void px_lower_stackrestore(struct px_lower *l, const struct px_statement *s)
{
    px_move(l, top_of(l), px_widen(l, px_source(l, s, 0), 'w'));
}
