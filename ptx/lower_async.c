// SPDX-License-Identifier: MIT
// Lowering of mbarrier, of asynchronous copies and stores, and of addresses in a cluster.
//
// Copies are complete at once, so commit_group and wait_group need no operation. If copies
// ever become late, those rows of the table should get one.
#include "lower.h"
#include "rank.h"

enum { VECTOR_MOST = 4 };

static bool is_shared(const struct px_statement *s)
{
    return px_has(s, PX_MOD_SHARED) || px_has(s, PX_MOD_SHARED_CTA) ||
           px_has(s, PX_MOD_SHARED_CLUSTER);
}

// An address operand as one register, in shared or generic memory.
static px_register whole(struct px_lower *l, const struct px_operand *operand, enum px_space space)
{
    const struct px_address a = px_generic_address(l, operand, space);
    if (!a.offset)
        return a.base;
    const px_register sum = px_temporary(l, 'l');
    px_emit(l, "add.64", sum, a.base, px_constant(l, 'l', (uint64_t)a.offset));
    return sum;
}

static px_register zero(struct px_lower *l)
{
    return px_constant(l, 'w', 0);
}

// ---- mbarrier ----

static struct px_address object(struct px_lower *l, const struct px_statement *s, unsigned n)
{
    return px_generic_address(l, &s->a[n], is_shared(s) ? PX_SHARED : PX_GENERIC);
}

void px_lower_mbarrier_init(struct px_lower *l, const struct px_statement *s)
{
    const struct px_address a = object(l, s, 0);
    px_emit_immediate(l, "mbarrier.init", a.offset, a.base, px_source(l, s, 1));
}

void px_lower_mbarrier_inval(struct px_lower *l, const struct px_statement *s)
{
    const struct px_address a = object(l, s, 0);
    px_emit_immediate(l, "mbarrier.inval", a.offset, a.base);
}

// "The count is 1 if it is absent"; with .expect_tx, the operand has bytes instead.
void px_lower_mbarrier_arrive(struct px_lower *l, const struct px_statement *s)
{
    const struct px_address a = object(l, s, 0);
    const bool bytes = px_has(s, PX_MOD_EXPECT_TX), given = s->a[1].kind != PX_OPERAND_NONE;
    const px_register value = given ? px_source(l, s, 1) : PX_NONE;
    if (bytes && !given)
        px_refuse(l, ".expect_tx needs the number of bytes");
    px_emit_immediate(l, px_has(s, PX_MOD_ARRIVE_DROP) ? "mbarrier.arrive_drop" : "mbarrier.arrive",
                      a.offset, px_destination(l, s, 0), a.base,
                      given && !bytes ? value : px_constant(l, 'w', 1), bytes ? value : zero(l));
}

void px_lower_mbarrier_bytes(struct px_lower *l, const struct px_statement *s)
{
    const struct px_address a = object(l, s, 0);
    px_emit_immediate(l,
                      px_has(s, PX_MOD_EXPECT_TX) ? "mbarrier.expect_tx" : "mbarrier.complete_tx",
                      a.offset, a.base, px_source(l, s, 1));
}

// "test_wait is non-blocking; try_wait is potentially blocking: the thread may be suspended until
// the phase completes, or a time limit passes". The time passes if no other thread can run.
void px_lower_mbarrier_wait(struct px_lower *l, const struct px_statement *s)
{
    const struct px_address a = object(l, s, 0);
    const px_register p = px_destination(l, s, 0);
    px_emit_immediate(l,
                      px_has(s, PX_MOD_PARITY) ? "mbarrier.test_wait.parity" : "mbarrier.test_wait",
                      a.offset, p, a.base, px_source(l, s, 1));
    px_waits(l);
    if (px_has(s, PX_MOD_TRY_WAIT))
        px_emit_code(l, PX_PHASE_WAIT, 0, NULL, 0, &p, 1);
}

// ---- cp.async ----

// "cp-size is 4, 8 or 16 for .ca, and 16 for .cg"; "src-size bytes are read, and the rest is filled
// with zeros; nothing is read if ignore-src is true".
void px_lower_cp_async(struct px_lower *l, const struct px_statement *s)
{
    const int64_t size_B = px_integer(l, &s->a[2], 0);
    const struct px_operand *source = &s->a[3];
    const px_register to = whole(l, &s->a[0], PX_SHARED), from = whole(l, &s->a[1], PX_GLOBAL);
    const px_register all = px_constant(l, 'w', (uint64_t)size_B);
    px_register bytes = all;
    if (size_B != 16 && (px_has(s, PX_MOD_CG) || (size_B != 4 && size_B != 8)))
        px_refuse(l, "the size (%lld) must be %s", (long long)size_B,
                  px_has(s, PX_MOD_CG) ? "16" : "4, 8 or 16");
    if (source->kind == PX_OPERAND_REGISTER && source->type == PX_PRED) {
        bytes = px_temporary(l, 'w');
        px_emit(l, "selp.32", bytes, zero(l), all, px_value(l, source, PX_PRED));
    } else if (source->kind != PX_OPERAND_NONE && // or else a cache policy
               !(source->kind == PX_OPERAND_REGISTER && px_type_bits(source->type) == 64)) {
        bytes = px_value(l, source, PX_U32);
    }
    px_emit_immediate(l, "cp.async", size_B, to, from, bytes);
}

// Copies of this thread are complete, so this arrives at once. Without .noinc "the pending count is
// incremented first": nothing changes.
void px_lower_cp_async_arrive(struct px_lower *l, const struct px_statement *s)
{
    const struct px_address a = object(l, s, 0);
    px_emit_immediate(l, "mbarrier.arrive", a.offset, px_temporary(l, 'l'), a.base,
                      px_constant(l, 'w', px_has(s, PX_MOD_NOINC)), zero(l));
}

// ---- cp.async.bulk ----

static void complete(struct px_lower *l, const struct px_operand *barrier, px_register bytes)
{
    const struct px_address a = px_generic_address(l, barrier, PX_SHARED);
    px_emit_immediate(l, "mbarrier.complete_tx", a.offset, a.base, bytes);
}

// An address in shared memory with another rank.
static px_register with_rank(struct px_lower *l, px_register address, unsigned rank)
{
    const px_register offset = px_temporary(l, 'l'), out = px_temporary(l, 'l');
    px_emit(l, "and.64", offset, address, px_constant(l, 'l', ~PX_RANK_MASK));
    px_emit(l, "or.64", out, offset, px_constant(l, 'l', (uint64_t)rank << PX_RANK_SHIFT));
    return out;
}

// ".multicast::cluster: copies to the same offset in the shared memory of each block whose bit is
// set in the mask, and signals the mbarrier at the same offset there." `in`: to, from, bytes, mask.
static void copy_to_rank(struct px_lower *l, const px_register in[4], struct px_address object,
                         unsigned rank)
{
    const px_register bit = px_temporary(l, 'w'), p = px_temporary(l, 'p');
    px_emit(l, "and.32", bit, in[3], px_constant(l, 'w', UINT64_C(1) << rank));
    px_emit(l, "setp.ne.32", p, bit, zero(l));
    const struct px_guard held = px_guard_also(l, p);
    px_emit(l, "cp.async.bulk", with_rank(l, in[0], rank), in[1], in[2]);
    px_emit_immediate(l, "mbarrier.complete_tx", object.offset, with_rank(l, object.base, rank),
                      in[2]);
    px_guard_set(l, held);
}

// choice[0] is the destination's space, unless it is .global.
void px_lower_cp_bulk(struct px_lower *l, const struct px_statement *s)
{
    const bool from_shared = px_has(s, PX_MOD_GLOBAL) && px_has(s, PX_MOD_BULK_GROUP);
    const bool within = !px_has(s, PX_MOD_GLOBAL);
    const px_register to = whole(l, &s->a[0], from_shared ? PX_GLOBAL : PX_SHARED);
    const px_register from = whole(l, &s->a[1], from_shared || within ? PX_SHARED : PX_GLOBAL);
    const px_register bytes = px_source(l, s, 2);
    if (within)
        px_need_cluster(l);
    if (px_has(s, PX_MOD_MULTICAST_CLUSTER)) {
        const struct px_address object = px_generic_address(l, &s->a[3], PX_SHARED);
        const px_register mask = px_widen(l, px_value(l, &s->a[4], PX_B16), 'w');
        for (unsigned rank = 0; rank < PX_CLUSTER_MOST; rank++)
            copy_to_rank(l, (px_register[]){to, from, bytes, mask}, object, rank);
        return;
    }
    if (px_has(s, PX_MOD_CP_MASK))
        px_emit(l, "cp.async.bulk.masked", to, from, bytes,
                px_value(l, &s->a[px_has(s, PX_MOD_L2_CACHE_HINT) ? 4 : 3], PX_B16));
    else
        px_emit(l, "cp.async.bulk", to, from, bytes);
    if (!from_shared)
        complete(l, &s->a[3], bytes);
}

static const char *name_of_type(struct px_lower *l, unsigned operation, unsigned type)
{
    const char kind = px_type_kind(type);
    if (operation == PX_MOD_MIN || operation == PX_MOD_MAX || kind == 'f' || kind == 'o')
        return px_modifier_name(type);
    return px_name(l, "%u", px_type_bits(type));
}

static unsigned operation_of(const struct px_statement *s)
{
    static const unsigned operations[] = {PX_MOD_ADD, PX_MOD_MIN, PX_MOD_MAX, PX_MOD_INC,
                                          PX_MOD_DEC, PX_MOD_AND, PX_MOD_OR,  PX_MOD_XOR};
    for (unsigned i = 0; i < sizeof(operations) / sizeof(*operations); i++)
        if (px_has(s, operations[i]))
            return operations[i];
    return 0;
}

void px_lower_cp_reduce(struct px_lower *l, const struct px_statement *s)
{
    const bool to_global = px_has(s, PX_MOD_BULK_GROUP);
    const unsigned operation = operation_of(s), type = s->types[0];
    if (!to_global)
        px_need_cluster(l);
    const px_register to = whole(l, &s->a[0], to_global ? PX_GLOBAL : PX_SHARED);
    const px_register from = whole(l, &s->a[1], PX_SHARED), bytes = px_source(l, s, 2);
    px_emit(l,
            px_name(l, "cp.reduce.bulk.%s.%s", px_modifier_name(operation),
                    name_of_type(l, operation, type)),
            to, from, bytes);
    if (to_global && (px_type_kind(type) == 'f' || px_type_kind(type) == 'o' ||
                      operation == PX_MOD_INC || operation == PX_MOD_DEC))
        px_ordered(l);
    if (!to_global)
        complete(l, &s->a[3], bytes);
}

void px_lower_tensor(struct px_lower *l, const struct px_statement *s)
{
    px_unsupported(l, "tensor maps are not supported; copy with cp.async.bulk or cp.async instead");
}

// ---- stores that an mbarrier counts ----

void px_lower_st_async(struct px_lower *l, const struct px_statement *s)
{
    px_register r[VECTOR_MOST + 1];
    const struct px_address a = px_generic_address(l, &s->a[0], PX_SHARED);
    const unsigned n = px_sources(l, s, 1, r + 1, VECTOR_MOST), bits = px_type_bits(s->types[0]);
    px_need_cluster(l);
    r[0] = a.base;
    px_emit_form(l, px_name(l, "st.generic.%u:%u%s", bits, bits, n > 1 ? ".v" : ""), a.offset,
                 PX_NONE, r, n + 1);
    complete(l, &s->a[2], px_constant(l, 'w', bits / 8 * n));
}

void px_lower_red_async(struct px_lower *l, const struct px_statement *s)
{
    const unsigned operation = operation_of(s), type = s->types[0];
    const struct px_address a = px_generic_address(l, &s->a[0], PX_SHARED);
    px_need_cluster(l);
    px_emit_immediate(l,
                      px_name(l, "red.generic.%s.%s", px_modifier_name(operation),
                              name_of_type(l, operation, type)),
                      a.offset, a.base, px_source(l, s, 1));
    complete(l, &s->a[2], px_constant(l, 'w', px_type_bits(type) / 8));
}

// ---- addresses in a cluster ----

// "mapa: the address in the shared memory of the block with this rank that corresponds to a";
// rank.h has the bits. The rank is not checked before the access (recorded: mapa cluster).
void px_lower_mapa(struct px_lower *l, const struct px_statement *s)
{
    const unsigned bits = px_type_bits(s->types[0]);
    const char letter = bits == 64 ? 'l' : 'w';
    const px_register rank = px_temporary(l, 'w'), offset = px_temporary(l, letter);
    px_emit(l, "shl.32", rank, px_value(l, &s->a[1], PX_U32), px_constant(l, 'w', PX_RANK_SHIFT));
    px_emit(l, px_name(l, "and.%u", bits), offset, px_value(l, &s->a[0], s->types[0]),
            px_constant(l, letter, ~PX_RANK_MASK));
    px_emit(l, px_name(l, "or.%u", bits), px_destination(l, s, 0), offset,
            px_widen(l, rank, letter));
}

void px_lower_getctarank(struct px_lower *l, const struct px_statement *s)
{
    const px_register address = px_value(l, &s->a[0], s->types[0]);
    const px_register low = px_temporary(l, 'w');
    if (px_type_bits(s->types[0]) == 64)
        px_emit(l, "cvt.u32.u64", low, address);
    px_emit(l, "shr.u32", px_destination(l, s, 0), px_type_bits(s->types[0]) == 64 ? low : address,
            px_constant(l, 'w', PX_RANK_SHIFT));
}
