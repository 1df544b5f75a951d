// SPDX-License-Identifier: MIT
// The scheduler from inside: order, waiting across streams, and errors. The command `gate` holds up
// a stream until the test opens it.
#include <stdatomic.h>
#include <unistd.h>

#include "bare_context.h"
#include "condition.h"
#include "event.h"
#include "outside.h"
#include "policy.h"

// ---- commands ----

struct gate {
    struct em_command command;
    atomic_bool *open;
};
static bool gate_ready(struct em_command *c)
{
    return atomic_load(((struct gate *)c)->open);
}
static CUresult gate_run(struct em_command *c)
{
    (void)c;
    return CUDA_SUCCESS;
}
static const struct em_command_ops gate_ops = {
    .name = "gate", .ready = gate_ready, .run = gate_run};
static struct em_condition gates; // for all gates that are opened with a notification

static void push_gate(CUstream h, atomic_bool *open)
{
    struct gate g = {.command = {.ops = &gate_ops, .size_B = sizeof g, .condition = &gates},
                     .open = open};
    CHECK_EQ(submit(h, &g, EM_SUBMIT_ASYNC), CUDA_SUCCESS);
}
// A gate that is opened without a notification.
static void push_polled_gate(CUstream h, atomic_bool *open)
{
    struct gate g = {.command = {.ops = &gate_ops,
                                 .size_B = sizeof g,
                                 .condition = &em_outside_memory.condition},
                     .open = open};
    CHECK_EQ(submit(h, &g, EM_SUBMIT_ASYNC), CUDA_SUCCESS);
}
static void open_gate(atomic_bool *open)
{
    em_lock();
    atomic_store(open, true);
    em_condition_notify(&gates);
    em_progress();
    em_unlock();
}

static int noted[100000];
static atomic_int notes;
static atomic_int finished;
struct note {
    struct em_command command;
    int value;
    CUresult result;
};
static CUresult note_run(struct em_command *c)
{
    struct note *n = (struct note *)c;
    noted[atomic_fetch_add(&notes, 1)] = n->value;
    return n->result;
}
static void note_finish(struct em_command *c)
{
    (void)c;
    atomic_fetch_add(&finished, 1);
}
static const struct em_command_ops note_ops = {
    .name = "note", .run = note_run, .finish = note_finish};
static const struct em_command_ops host_note_ops = {
    .name = "host note", .run = note_run, .finish = note_finish, .place = EM_HOST_THREAD};

static CUresult put_as(const struct em_command_ops *ops, CUstream h, int value, CUresult result,
                       int how)
{
    struct note n = {.command = {.ops = ops, .size_B = sizeof n}, .value = value, .result = result};
    return submit(h, &n, how);
}
static void put(CUstream h, int value)
{
    CHECK_EQ(put_as(&note_ops, h, value, CUDA_SUCCESS, EM_SUBMIT_ASYNC), CUDA_SUCCESS);
}
static void expect_notes(const char *want)
{
    char got[512] = "";
    for (int i = 0; i < notes; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%d", i ? " " : "", noted[i]);
    if (strcmp(got, want)) {
        fprintf(stderr, "ran [%s], not [%s]\n", got, want);
        exit(1);
    }
    notes = 0;
}

// ---- tests ----

static void test_at_once(void)
{
    struct em_context *c = new_context();
    put(NULL, 1);
    put(CU_STREAM_PER_THREAD, 2);
    put(create(0), 3);
    expect_notes("1 2 3");
    CHECK_EQ(query(NULL), CUDA_SUCCESS);
    CHECK_EQ(em_context_synchronize(c), CUDA_SUCCESS);
    end_context(c);
}

static void test_order(void)
{
    struct em_context *c = new_context();
    CUstream a = create(0), b = create(0), n = create(CU_STREAM_NON_BLOCKING);
    atomic_bool open = false;
    push_gate(a, &open);
    put(a, 1);
    put(b, 2);                    // not held: no relation between blocking streams
    put(NULL, 3);                 // held: the legacy stream waits for a
    put(b, 4);                    // held by the legacy stream
    put(n, 5);                    // never held
    put(CU_STREAM_PER_THREAD, 6); // held by the legacy stream
    put(NULL, 7);
    CHECK_EQ(query(a), CUDA_ERROR_NOT_READY);
    CHECK_EQ(query(b), CUDA_ERROR_NOT_READY);
    CHECK_EQ(query(NULL), CUDA_ERROR_NOT_READY);
    CHECK_EQ(query(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
    CHECK_EQ(query(n), CUDA_SUCCESS);
    expect_notes("2 5");
    open_gate(&open);
    CHECK_EQ(em_context_synchronize(c), CUDA_SUCCESS);
    CHECK_EQ(noted[0], 1);
    CHECK_EQ(noted[1], 3);
    CHECK_EQ(noted[4], 7);
    CHECK_EQ(notes, 5);
    notes = 0;
    end_context(c);
}

static void test_query_of_legacy(void)
{
    struct em_context *c = new_context();
    CUstream a = create(0), n = create(CU_STREAM_NON_BLOCKING);
    atomic_bool open = false, other = false;
    push_gate(a, &open);
    CHECK_EQ(query(NULL), CUDA_ERROR_NOT_READY); // the pending blocking stream counts
    CHECK_EQ(query(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    open_gate(&open);
    push_gate(n, &other);
    CHECK_EQ(query(NULL), CUDA_SUCCESS); // a non-blocking one does not
    CHECK_EQ(synchronize(NULL), CUDA_SUCCESS);
    CHECK_EQ(query(n), CUDA_ERROR_NOT_READY);
    open_gate(&other);
    end_context(c);
}

static void test_destroy_with_work(void)
{
    struct em_context *c = new_context();
    CUstream a = create(0);
    struct em_stream *s;
    atomic_bool open = false;
    push_gate(a, &open);
    put(a, 1);
    CHECK_EQ(em_stream_destroy(a), CUDA_SUCCESS);
    CHECK_EQ(em_stream_destroy(a), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQ(em_stream_get(a, &s), CUDA_ERROR_INVALID_HANDLE);
    expect_notes("");
    open_gate(&open);
    CHECK_EQ(em_context_synchronize(c), CUDA_SUCCESS);
    expect_notes("1");
    CHECK_EQ(c->streams == NULL, 1);
    end_context(c);
}

static void test_errors(void)
{
    struct em_context *c = new_context();
    CUstream a = create(0);
    // A synchronous command returns its error, and nobody else does.
    CHECK_EQ(put_as(&note_ops, a, 1, CUDA_ERROR_UNKNOWN, EM_SUBMIT_SYNC), CUDA_ERROR_UNKNOWN);
    CHECK_EQ(synchronize(a), CUDA_SUCCESS);
    // The error of an asynchronous command is kept until something synchronises. The first one
    // counts.
    CHECK_EQ(put_as(&note_ops, a, 2, CUDA_ERROR_UNKNOWN, EM_SUBMIT_ASYNC), CUDA_SUCCESS);
    CHECK_EQ(put_as(&note_ops, a, 3, CUDA_ERROR_OUT_OF_MEMORY, EM_SUBMIT_ASYNC), CUDA_SUCCESS);
    CHECK_EQ(query(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    CHECK_EQ(synchronize(a), CUDA_ERROR_UNKNOWN);
    CHECK_EQ(synchronize(a), CUDA_SUCCESS);
    // The legacy stream returns the error of a blocking stream.
    CHECK_EQ(put_as(&note_ops, a, 4, CUDA_ERROR_UNKNOWN, EM_SUBMIT_ASYNC), CUDA_SUCCESS);
    CHECK_EQ(synchronize(NULL), CUDA_ERROR_UNKNOWN);
    // A synchronous command that had to wait returns its error too.
    atomic_bool open = false;
    push_polled_gate(a, &open);
    CHECK_EQ(put_as(&note_ops, a, 5, CUDA_ERROR_UNKNOWN, EM_SUBMIT_ASYNC), CUDA_SUCCESS);
    atomic_store(&open, true);
    CHECK_EQ(put_as(&note_ops, NULL, 6, CUDA_ERROR_NOT_FOUND, EM_SUBMIT_SYNC),
             CUDA_ERROR_NOT_FOUND);
    expect_notes("1 2 3 4 5 6");
    CHECK_EQ(em_context_synchronize(c), CUDA_ERROR_UNKNOWN);
    CHECK_EQ(em_context_synchronize(c), CUDA_SUCCESS);
    end_context(c);
}

static void test_sticky(void)
{
    struct em_context *c = new_context();
    CUstream a = create(0);
    struct em_stream *s = get(a);
    atomic_bool open = false;
    push_gate(CU_STREAM_PER_THREAD, &open);
    put(CU_STREAM_PER_THREAD, 9);
    finished = 0;
    CHECK_EQ(put_as(&note_ops, a, 1, CUDA_ERROR_ILLEGAL_ADDRESS, EM_SUBMIT_ASYNC), CUDA_SUCCESS);
    CHECK_EQ(em_stream_synchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK_EQ(em_stream_query(s), CUDA_ERROR_ILLEGAL_ADDRESS);
    struct note n = {.command = {.ops = &note_ops, .size_B = sizeof n}};
    CHECK_EQ(em_submit(s, &n.command, EM_SUBMIT_SYNC), CUDA_ERROR_ILLEGAL_ADDRESS);
    em_stream_put(s);
    CHECK_EQ(em_context_synchronize(c), CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK_EQ(finished, 3); // the gated one was dropped, not run
    expect_notes("1");
    end_context(c);
}

static void test_end_of_context(void)
{
    struct em_context *c = new_context();
    CUstream a = create(0);
    struct em_stream *s = get(a);
    atomic_bool open = false;
    finished = 0;
    push_gate(a, &open);
    put(a, 1);
    put(NULL, 2);
    put_as(&host_note_ops, CU_STREAM_PER_THREAD, 3, CUDA_SUCCESS, EM_SUBMIT_ASYNC);
    em_streams_finish(c);
    CHECK_EQ(finished, 3);
    CHECK_EQ(em_stream_query(s), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    struct note n = {.command = {.ops = &note_ops, .size_B = sizeof n}};
    CHECK_EQ(em_submit(s, &n.command, EM_SUBMIT_ASYNC), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_EQ(finished, 4);
    em_stream_put(s);
    notes = 0;
    end_context(c);
}

static void test_host_thread(void)
{
    struct em_context *c = new_context();
    CUstream a = create(0);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(put_as(i % 3 ? &host_note_ops : &note_ops, a, i, CUDA_SUCCESS, EM_SUBMIT_ASYNC),
                 CUDA_SUCCESS);
    CHECK_EQ(synchronize(a), CUDA_SUCCESS);
    CHECK_EQ(notes, 1000);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(noted[i], i);
    notes = 0;
    end_context(c);
}

static void test_polled(void)
{
    struct em_context *c = new_context();
    CUstream a = create(CU_STREAM_NON_BLOCKING);
    atomic_bool open = false;
    push_polled_gate(a, &open);
    put(a, 1);
    CHECK_EQ(query(a), CUDA_ERROR_NOT_READY);
    atomic_store(&open, true);
    for (int i = 0; i < 5000 && !notes; i++) // the driver's thread notices it
        usleep(1000);
    CHECK_EQ(notes, 1);
    CHECK_EQ(synchronize(a), CUDA_SUCCESS);
    expect_notes("1");
    end_context(c);
}

// More waits than the driver asks at a time: all of them end, also the last ones.
static void test_many_polled(void)
{
    enum { MANY = 100 };
    struct em_context *c = new_context();
    atomic_bool open[MANY] = {false};
    CUstream h[MANY];
    for (int i = 0; i < MANY; i++) {
        h[i] = create(CU_STREAM_NON_BLOCKING);
        push_polled_gate(h[i], &open[i]);
        put(h[i], i);
    }
    expect_notes("");
    for (int i = MANY - 1; i >= 0; i -= 33) {
        atomic_store(&open[i], true);
        CHECK_EQ(synchronize(h[i]), CUDA_SUCCESS);
    }
    expect_notes("99 66 33 0");
    for (int i = 0; i < MANY; i++)
        atomic_store(&open[i], true);
    CHECK_EQ(em_context_synchronize(c), CUDA_SUCCESS);
    CHECK_EQ(notes, MANY - 4);
    notes = 0;
    end_context(c);
}

static struct em_event *new_event(void)
{
    CUevent h;
    struct em_event *e;
    CHECK_EQ(em_event_create(em_self.current, CU_EVENT_DISABLE_TIMING, &h), CUDA_SUCCESS);
    CHECK_EQ(em_event_get(h, &e), CUDA_SUCCESS);
    em_event_put(e); // the context keeps it
    return e;
}

// cuCtxRecordEvent waits for the commands that the context holds, but not for later ones.
// cuCtxWaitEvent holds up the later commands of all streams, but not the earlier ones.
static void test_whole_context(void)
{
    struct em_context *c = new_context();
    struct em_event *all = new_event(), *first = new_event();
    CUstream a = create(0), n = create(CU_STREAM_NON_BLOCKING), m = create(CU_STREAM_NON_BLOCKING);
    atomic_bool open_a = false, open_n = false, open_m = false;
    push_gate(a, &open_a);
    push_gate(n, &open_n);
    struct em_stream *s = get(n);
    CHECK_EQ(em_event_record(first, s), CUDA_SUCCESS);
    em_stream_put(s);
    CHECK_EQ(em_event_record_context(all, c), CUDA_SUCCESS);
    push_gate(m, &open_m);
    put(m, 1);
    CHECK_EQ(em_event_wait_context(first, c), CUDA_SUCCESS);
    put(m, 2);
    put(NULL, 3);
    put(CU_STREAM_PER_THREAD, 4);
    open_gate(&open_m);
    expect_notes("1");
    CHECK_EQ(em_event_query(all), CUDA_ERROR_NOT_READY);
    open_gate(&open_a); // the legacy stream waits for it, and for the barrier
    expect_notes("");
    CHECK_EQ(em_event_query(all), CUDA_ERROR_NOT_READY);
    CHECK_EQ(em_event_query(first), CUDA_ERROR_NOT_READY);
    open_gate(&open_n);
    CHECK_EQ(em_event_query(all), CUDA_SUCCESS);
    CHECK_EQ(em_event_query(first), CUDA_SUCCESS);
    CHECK_EQ(em_context_synchronize(c), CUDA_SUCCESS);
    CHECK_EQ(notes, 3);
    notes = 0;
    end_context(c);
}

// A policy may put off everything until a thread synchronises, and may choose any of the ready
// commands: this one chooses the command that was submitted last.
static uint64_t rank_latest(const struct em_command *c)
{
    return UINT64_MAX - c->sequence;
}
static void set_policy(const struct em_policy *policy) // which the driver's threads read
{
    em_lock();
    em_scheduler.policy = policy;
    em_unlock();
}
static void test_other_policy(void)
{
    static const struct em_policy late = {.name = "late", .rank = rank_latest};
    struct em_context *c = new_context();
    CUstream a = create(CU_STREAM_NON_BLOCKING), b = create(CU_STREAM_NON_BLOCKING);
    set_policy(&late);
    put(a, 1);
    put(a, 2);
    put(b, 3);
    put(CU_STREAM_PER_THREAD, 4);
    put(NULL, 5); // waits for 4
    expect_notes("");
    CHECK_EQ(query(a), CUDA_ERROR_NOT_READY); // runs one command
    expect_notes("4");
    CHECK_EQ(synchronize(a), CUDA_SUCCESS);
    expect_notes("5 3 1 2");
    CHECK_EQ(put_as(&note_ops, b, 6, CUDA_ERROR_UNKNOWN, EM_SUBMIT_SYNC), CUDA_ERROR_UNKNOWN);
    put(a, 7);
    while (query(a) == CUDA_ERROR_NOT_READY)
        ;
    put(b, 8);
    end_context(c); // runs the command first, because it can
    expect_notes("6 7 8");
    set_policy(&em_policy_eager);
}

int main(void)
{
    setenv("CARDLESS_DIAGNOSTICS", "off", 1);
    __atomic_store_n(&em_driver_state, EM_DRIVER_READY, __ATOMIC_RELEASE);
    alarm(60);
    test_at_once();
    test_order();
    test_query_of_legacy();
    test_destroy_with_work();
    test_errors();
    test_sticky();
    test_end_of_context();
    test_host_thread();
    test_polled();
    test_many_polled();
    test_whole_context();
    test_other_policy();
    em_lock();
    CHECK_EQ(em_object_count(EM_STREAM), 0);
    em_unlock();
    printf("ok\n");
    return 0;
}
