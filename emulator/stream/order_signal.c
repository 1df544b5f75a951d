// SPDX-License-Identifier: MIT
// The ordering checker: semaphores, and words that streams wait for.
#include "order_signal.h"

#include <sys/random.h>

#include "alloc.h"
#include "lock.h"
#include "order_state.h"
#include "rangemap.h"

static struct dm_rangemap words; // of struct em_order_signals, by address
static struct em_clock *outside; // work for which others may have waited

static struct em_order_signal *signal_at(const struct em_order_signals *s, uint32_t number)
{
    return (struct em_order_signal *)&s->last[number % EM_ORDER_SIGNALS];
}

void em_order_signal(struct em_order_signals **signals, struct em_command *by, uint64_t value)
{
    em_assert_locked();
    struct em_order_signals *s = *signals;
    if (em_order.stopped)
        return;
    if (!s)
        s = *signals = dm_calloc(1, sizeof *s);
    if (!s) {
        em_clock_failed = true;
        return;
    }
    struct em_clock *before = s->count ? em_clock_ref(signal_at(s, s->count - 1)->before) : NULL;
    struct em_order_signal *at = signal_at(s, s->count++);
    em_clock_unref(at->before);
    *at = (struct em_order_signal){.value = value, .before = before};
    if (by)
        em_order_release(by, &at->before);
    else
        em_order_host_release(&at->before);
    em_clock_join(&outside, at->before);
}

static void acquire(struct em_command *c, struct em_clock *from)
{
    if (c)
        em_order_acquire(c, from);
    else
        em_order_host_acquire(from);
}

uint64_t em_order_new_mark(void)
{
    static uint64_t last;
    em_assert_locked();
    if (!last && getrandom(&last, sizeof last, 0) != sizeof last)
        last = UINT64_C(1) << 32; // marks of processes may be equal
    last++;
    if (last < 2) // 1 is the mark of those who do not choose one
        last = 2;
    return last;
}

void em_order_signal_replaced(struct em_order_signals *s, uint64_t value, uint64_t replaced)
{
    em_assert_locked();
    if (!s || !s->count || signal_at(s, s->count - 1)->value != value)
        return;
    struct em_order_signal *at = signal_at(s, s->count - 1);
    at->others = s->count == 1 || signal_at(s, s->count - 2)->value != replaced;
    at->replaced = replaced;
}

static void wait_ended(struct em_command *waits, const struct em_order_signal *by, bool others)
{
    if (em_order.stopped)
        return;
    if (by)
        acquire(waits, by->before);
    if (!others)
        return;
    acquire(waits, outside);
    if (waits)
        acquire(waits, em_order.host);
}

void em_order_await(const struct em_order_signals *s, struct em_command *waits,
                    bool (*ends)(uint64_t value, const void *argument), const void *argument)
{
    em_assert_locked();
    const struct em_order_signal *found = NULL;
    uint32_t count = s ? s->count : 0, kept = count < EM_ORDER_SIGNALS ? count : EM_ORDER_SIGNALS;
    for (uint32_t i = 1; i <= kept; i++) {
        const struct em_order_signal *at = signal_at(s, count - i);
        // Values grow. If one does not, the word was reset in between by other means.
        if (found && at->value >= found->value)
            break;
        if (ends(at->value, argument))
            found = at;
        else if (found)
            break;
    }
    wait_ended(waits, found, !found || (found->others && ends(found->replaced, argument)));
}

void em_order_await_mark(const struct em_order_signals *s, struct em_command *waits, uint64_t mark)
{
    em_assert_locked();
    const struct em_order_signal *found = NULL;
    for (unsigned i = 0; s && i < EM_ORDER_SIGNALS && i < s->count; i++)
        if (s->last[i].value == mark)
            found = &s->last[i];
    wait_ended(waits, found, !found);
}

void em_order_signals_free(struct em_order_signals *s)
{
    em_assert_locked();
    for (unsigned i = 0; s && i < EM_ORDER_SIGNALS; i++)
        em_clock_unref(s->last[i].before);
    dm_free(s);
}

void em_order_release_outside(struct em_command *c)
{
    em_assert_locked();
    em_order_release(c, &outside);
}

void em_order_acquire_outside(struct em_command *c)
{
    em_assert_locked();
    em_order_acquire(c, outside);
}

void em_order_host_acquire_outside(void)
{
    em_assert_locked();
    em_order_host_acquire(outside);
}

// ---- words ----

void em_order_word_written(uint64_t address, struct em_command *by, uint64_t value, bool visible)
{
    em_assert_locked();
    struct em_order_signals *s = dm_rangemap_owner(&words, address);
    bool is_new = !s;
    em_order_signal(&s, by, value);
    if (is_new && s && dm_rangemap_insert(&words, address, 1, s)) {
        em_order_signals_free(s);
        em_clock_failed = true;
    }
    // A thread of the program may look at the word, and go on when it changes.
    if (visible)
        em_order_host_waited(by);
}

void em_order_word_awaited(uint64_t address, struct em_command *waits,
                           bool (*ends)(uint64_t value, const void *argument), const void *argument)
{
    em_assert_locked();
    em_order_await(dm_rangemap_owner(&words, address), waits, ends, argument);
}

void em_order_forget_words(uint64_t first, uint64_t size_B)
{
    em_assert_locked();
    struct dm_range word;
    while (dm_rangemap_next(&words, first, &word) && word.start - first < size_B) {
        dm_rangemap_remove(&words, word.start, &word);
        em_order_signals_free(word.owner);
    }
}
