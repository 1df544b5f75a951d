// SPDX-License-Identifier: MIT
// Checks fills as the card does, and runs them as commands.
#include "fill.h"

#include "access.h"
#include "arithmetic.h"
#include "call.h"
#include "captured.h"
#include "context.h"
#include "command.h"
#include "copy_command.h"
#include "error.h"
#include "in_place.h"
#include "kn_fill.h"
#include "lock.h"
#include "memory.h"
#include "memory_fault.h"
#include "pkey.h"
#include "quirk.h"
#include "workers.h"
#include "stream.h"

struct fill_command {
    struct em_command command;
    struct em_fill fill;
    bool may_fault; // someone else may take the bytes away while the fill runs
    enum em_residence residence;
    struct em_access access;
};

// The first `period` bytes of a pattern repeat: fills one column of all repetitions after the
// other.
static void fill_periodic(uint64_t at, uint64_t width, uint32_t pattern, unsigned period)
{
    for (unsigned i = 0; i < period && i < width; i++)
        kn_fill8_rows((void *)(uintptr_t)(at + i), period, (uint8_t)(pattern >> 8 * i), 1,
                      (width - i + period - 1) / period);
}

enum { MIXED_ALIGNMENT = 32 }; // more than 16, and at most 256

// (recorded: graph_rules, memsets; x_streams graph_build/memset-element-size-1)
static void fill_mixed_row(const struct em_fill *f, uint64_t at)
{
    const uint64_t pattern_B = 4ul * f->mixed, tail_B = f->width % 4;
    const bool whole = !(f->width % pattern_B || f->address % pattern_B || f->pitch_B % pattern_B);
    if (f->height == 1 || whole || (f->mixed == 2 && at % MIXED_ALIGNMENT == 0)) {
        fill_periodic(at, f->width, f->value, 4);
    } else if (at % MIXED_ALIGNMENT == 0) {
        const uint32_t swapped = (uint8_t)(f->value >> 8) | (uint8_t)f->value << 8;
        fill_periodic(at, f->width - tail_B, f->value, 4);
        fill_periodic(at + f->width - tail_B, tail_B, tail_B == 2 ? f->value : swapped, 2);
    } else {
        fill_periodic(at, f->width, f->value, 2);
    }
}

static void fill_mixed(const struct em_fill *f)
{
    for (uint64_t y = 0; y < f->height; y++)
        fill_mixed_row(f, f->address + y * f->pitch_B);
}

static void fill_bytes(void *argument)
{
    const struct em_fill *f = argument;
    void *at = (void *)(uintptr_t)f->address;
    if (em_unlikely(f->mixed)) {
        fill_mixed(f);
        return;
    }
    switch (f->value_B) {
    case 1:
        kn_fill8_rows(at, f->pitch_B, (uint8_t)f->value, f->width, f->height);
        break;
    case 2:
        kn_fill16_rows(at, f->pitch_B, (uint16_t)f->value, f->width, f->height);
        break;
    default:
        kn_fill32_rows(at, f->pitch_B, f->value, f->width, f->height);
    }
}

// Splits a large fill, parts[0], into rows, or into pages if there is only one row. Returns the
// number of parts.
static unsigned split_fill(struct em_fill parts[EM_PARTS_MAX])
{
    const struct em_fill all = *parts;
    uint64_t bytes = all.width * all.value_B * all.height;
    if (bytes < EM_WORKERS_MIN_B || all.mixed)
        return 1;
    bool rows = all.height > 1;
    unsigned count = em_parts(bytes, rows ? all.height : all.width / 4096);
    for (unsigned i = 0; i < count && count > 1; i++) {
        uint64_t from, some;
        parts[i] = all;
        em_part(rows ? all.height : all.width, rows ? 1 : 4096, i, count, &from, &some);
        if (rows) {
            parts[i].address += from * all.pitch_B;
            parts[i].height = some;
        } else {
            parts[i].address += from * all.value_B;
            parts[i].width = some;
        }
    }
    return count;
}

static CUresult run_fill(struct em_command *command)
{
    struct fill_command *c = (struct fill_command *)command;
    struct em_fill parts[EM_PARTS_MAX];
    struct dm_fault fault;
    parts[0] = c->fill;
    unsigned count = split_fill(parts);
    uint32_t rights = dm_pkey_enter();
    em_guarded_fn *guarded = c->may_fault ? dm_guarded_foreign : dm_guarded;
    int r = count == 1
                ? guarded(fill_bytes, parts, &fault)
                : em_workers_run_guarded(guarded, fill_bytes, parts, sizeof *parts, count, &fault);
    dm_pkey_leave(rights);
    return r ? em_device_fault("a fill", &fault, c->may_fault) : CUDA_SUCCESS;
}

static const struct em_command_ops fill_ops = {.name = "memset", .run = run_fill};

// ---- checks ----

// The bytes from the first to the last one of the fill. Returns false if they exceed 64 bits.
static bool fill_span(const struct em_fill *f, uint64_t *size_B)
{
    uint64_t rows_B, width_B;
    return dm_mul(f->width, f->value_B, &width_B) && dm_mul(f->height - 1, f->pitch_B, &rows_B) &&
           dm_add(rows_B, width_B, size_B);
}

// The driver computes the end of the last row modulo 2^64 and checks nothing else, so a fill that
// exceeds 64 bits succeeds if this end lies in the memory. Cardless does not imitate the writes
// outside of the memory: it writes the first row only.
static bool wraps_into(struct em_fill *f, const struct em_allocation *a)
{
    uint64_t width_B;
    if (!em_quirk(MEMSET_PITCH_WRAPS) || f->height < 2 || !dm_mul(f->width, f->value_B, &width_B) ||
        width_B > a->size)
        return false;
    uint64_t end = f->address + (f->height - 1) * f->pitch_B + width_B;
    if (end < a->base || end - a->base > a->size)
        return false;
    f->height = 1;
    return true;
}

static CUresult check_fill_memory(struct fill_command *c, struct em_context *context)
{
    struct em_fill *f = &c->fill;
    struct em_allocation *a = em_memory_find(f->address, 0);
    struct em_pointer_range checked;
    uint64_t size_B;
    if (!fill_span(f, &size_B) && (!a || !wraps_into(f, a) || !fill_span(f, &size_B)))
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "the last address of %llu rows of %llu values, with a pitch of %llu bytes, "
                       "exceeds 64 bits",
                       (unsigned long long)f->height, (unsigned long long)f->width,
                       (unsigned long long)f->pitch_B);
    CUresult r = em_memory_check(context, f->address, size_B, CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
                                 "dstDevice", CUDA_ERROR_INVALID_VALUE, &checked);
    if (r)
        return r;
    bool gaps = size_B != f->width * f->value_B * f->height;
    c->may_fault = checked.may_fault;
    c->residence = checked.residence;
    em_memory_access(&c->access, checked.first, f->address, size_B,
                     gaps ? EM_ACCESS_WRITE_SOME : EM_ACCESS_WRITE);
    if (gaps) {
        c->access.form = EM_FORM_ROWS;
        c->access.row_B = f->width * f->value_B;
        c->access.pitch_B = f->pitch_B;
        c->access.slice_rows_B = c->access.slice_B = size_B;
    }
    return CUDA_SUCCESS;
}

CUresult em_fill_check(const struct em_fill *f)
{
    uint64_t width_B;
    // "dstDevice … must be aligned", to the size of a value. The pitch does not matter if there is
    // only one row.
    if (f->address % f->value_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dstDevice (%#llx) is not a multiple of the size of a value (%u bytes)",
                       (unsigned long long)f->address, f->value_B);
    if (f->height < 2)
        return CUDA_SUCCESS;
    if (f->pitch_B % f->value_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dstPitch (%llu) is not a multiple of the size of a value (%u bytes)",
                       (unsigned long long)f->pitch_B, f->value_B);
    if (!dm_mul(f->width, f->value_B, &width_B) || f->pitch_B < width_B)
        return em_fail(CUDA_ERROR_INVALID_VALUE,
                       "dstPitch (%llu bytes) is less than a row (%llu values of %u bytes)",
                       (unsigned long long)f->pitch_B, (unsigned long long)f->width, f->value_B);
    return CUDA_SUCCESS;
}

// ---- the command ----

static bool fills_nothing(const struct em_fill *fill)
{
    return !fill->width || !fill->height;
}

static void init_fill(struct fill_command *c, const struct em_fill *fill)
{
    em_command_init(&c->command, &fill_ops, sizeof *c);
    c->command.accesses_at = offsetof(struct fill_command, access);
    c->command.access_count = 1;
    c->fill = *fill;
}

// Checks a fill that is not empty. The command owns nothing. Precondition: em_lock held.
static CUresult prepare_fill(const struct em_fill *fill, struct em_context *context,
                             struct fill_command *c)
{
    em_assert_locked();
    init_fill(c, fill);
    CUresult r = em_fill_check(fill);
    return r ? r : check_fill_memory(c, context);
}

CUresult em_fill_prepare(const struct em_fill *fill, struct em_context *context,
                         struct em_command **out)
{
    em_assert_locked();
    struct fill_command c;
    *out = NULL;
    if (fills_nothing(fill))
        return CUDA_SUCCESS;
    CUresult r = prepare_fill(fill, context, &c);
    return r ? r : em_command_clone(&c.command, out);
}

// The memory is not checked before the graph is instantiated (recorded:
// capture/unmapped-pointer-while-capturing).
static CUresult capture_fill(const struct em_fill *f, struct em_stream *stream)
{
    CUresult r = em_fill_check(f);
    if (r)
        return r;
    const CUgraphNodeParams p = {.type = CU_GRAPH_NODE_TYPE_MEMSET,
                                 .memset = {.dst = f->address,
                                            .pitch = f->pitch_B,
                                            .value = f->value,
                                            .elementSize = f->value_B,
                                            .width = f->width,
                                            .height = f->height,
                                            .ctx = em_context_handle(stream->object.context)}};
    return em_capture->add(stream, &p);
}

// "The synchronous memset functions are asynchronous with respect to the host except when the
// target is pinned host memory or a Unified Memory region, in which case they are fully
// synchronous."
static int submission(const struct fill_command *c, int how)
{
    return c->residence == EM_ON_DEVICE ? EM_SUBMIT_ASYNC : how;
}

static bool is_one_short_row(const struct em_fill *f)
{
    return f->height == 1 && !f->mixed && f->width <= EM_SHARED_MOST_B / 4 &&
           f->address % f->value_B == 0;
}

// Runs the fill and returns true, or leaves and returns false if it cannot be shared.
static __attribute__((noinline)) bool run_shared(struct em_share *share, const struct em_fill *fill,
                                                 struct em_stream *stream, int how,
                                                 CUresult *result)
{
    struct fill_command c;
    const uint64_t size_B = fill->width * fill->value_B;
    struct em_allocation *a =
        is_one_short_row(fill)
            ? em_memory_find_plain(fill->address, size_B, CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            : NULL;
    if (!a) {
        em_share_leave(share);
        return false;
    }
    init_fill(&c, fill);
    c.may_fault = false;
    c.residence = em_memory_residence(a);
    em_memory_access(&c.access, a, fill->address, size_B, EM_ACCESS_WRITE);
    return em_issue_shared(share, stream, &c.command, submission(&c, how), result);
}

CUresult em_memory_fill(const struct em_fill *fill, struct em_stream *stream, int how)
{
    struct fill_command c;
    CUresult r;
    if (fills_nothing(fill)) // the address is not checked then
        return CUDA_SUCCESS;
    if (em_stream_is_captured(stream))
        return capture_fill(fill, stream);
    struct em_share *share = em_share_or_lock_briefly();
    if (em_unlikely(share)) {
        if (run_shared(share, fill, stream, how, &r))
            return r;
        em_lock();
    } else if (em_likely(em_fill_in_place(fill, stream))) {
        return CUDA_SUCCESS;
    }
    em_cancel_off();
    r = prepare_fill(fill, stream->object.context, &c);
    if (!r)
        r = em_issue(stream, &c.command, submission(&c, how));
    em_offer_sharing(stream);
    em_unlock();
    return r;
}
