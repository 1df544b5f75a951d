// SPDX-License-Identifier: MIT
// Policies that decide: the same seed gives the same trace and the same order, a seed's decisions
// give that order again as a schedule, and every policy makes progress.
#include <cardless.h>
#include <fcntl.h>
#include <time.h>

#include "../harness.h"

enum { PROGRESS_SEEDS = 10, LOG_MOST_B = 1 << 16, WORDS = 64 };

#if SANITIZED
enum { SEEDS = 100 };
#else
enum { SEEDS = 1000 };
#endif

// ---- a program with everything that may be ordered in several ways ----

struct streams {
    CUstream a, b;
    CUevent event;
    unsigned *host; // page-locked
    CUdeviceptr device;
};

static void set_word(void *word)
{
    __atomic_store_n((unsigned *)word, 1, __ATOMIC_RELEASE);
}

static struct streams start(void)
{
    struct streams s;
    test_context();
    MUST(cuStreamCreate(&s.a, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreate(&s.b, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&s.event, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemHostAlloc((void **)&s.host, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
    memset(s.host, 0, WORDS * 4);
    MUST(cuMemAlloc(&s.device, WORDS * 4));
    MUST(cuMemsetD8(s.device, 0, WORDS * 4));
    return s;
}

// Imports a timeline that stands for one of another API.
static CUexternalSemaphore import_timeline(cardlessSemaphore *out)
{
    CUexternalSemaphore s;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d = {
        .type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD};
    MUST(cardlessSemaphoreCreate(out, CARDLESS_SEMAPHORE_TIMELINE, 0));
    MUST(cardlessSemaphoreExport(*out, &d.handle.fd));
    MUST(cuImportExternalSemaphore(&s, &d));
    return s;
}

static void signal_and_wait(const struct streams *s)
{
    cardlessSemaphore host;
    CUexternalSemaphore cuda = import_timeline(&host);
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 2};
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {.params.fence.value = 3};
    MUST(cuWaitExternalSemaphoresAsync(&cuda, &wait, 1, s->b));
    MUST(cuMemsetD32Async(s->device, 7, 1, s->b));
    MUST(cuSignalExternalSemaphoresAsync(&cuda, &signal, 1, s->b));
    MUST(cuMemsetD32Async(s->device + 4, 8, 1, s->a));
    MUST(cardlessSemaphoreSignal(host, 2));
    MUST(cardlessSemaphoreWait(host, 3, UINT64_MAX));
}

static void launch_graph(const struct streams *s)
{
    CUgraph graph;
    CUgraphExec exec;
    MUST(cuStreamBeginCapture(s->a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuMemsetD32Async(s->device + 8, 9, 1, s->a));
    MUST(cuLaunchHostFunc(s->a, set_word, &s->host[1]));
    MUST(cuStreamEndCapture(s->a, &graph));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, s->a));
    MUST(cuGraphLaunch(exec, s->b));
}

static void run_program(void)
{
    struct streams s = start();
    CUevent end;
    MUST(cuMemsetD32Async(s.device, 1, WORDS, s.a));
    MUST(cuMemcpyDtoHAsync(s.host + 32, s.device, 64, s.a));
    MUST(cuEventRecord(s.event, s.a));
    MUST(cuMemsetD32Async(s.device + 128, 2, 8, s.b));
    MUST(cuLaunchHostFunc(s.b, set_word, &s.host[0]));
    MUST(cuStreamWaitEvent(s.b, s.event, 0));
    MUST(cuMemcpyDtoDAsync(s.device, s.device + 128, 32, s.b));
    MUST(cuMemcpyDtoHAsync(s.host + 48, s.device, 64, s.a));
    CUresult r;
    while ((r = cuEventQuery(s.event)) == CUDA_ERROR_NOT_READY)
        ;
    MUST(r);
    signal_and_wait(&s);
    launch_graph(&s);
    MUST(cuEventCreate(&end, CU_EVENT_DISABLE_TIMING));
    MUST(cuStreamWaitValue32(s.a, (CUdeviceptr)(uintptr_t)&s.host[0], 1, CU_STREAM_WAIT_VALUE_EQ));
    MUST(cuEventRecord(end, s.a));
    MUST(cuEventSynchronize(end));
    MUST(cuMemsetD32Async(s.device, s.host[32] + s.host[48], 1, NULL));
    MUST(cuCtxSynchronize());
}

// In the process of the case, so that its allocations can fail (../failing.h).
TEST(program_by_a_seed)
{
    test_setting("CARDLESS_POLICY", "seed:1");
    run_program();
}

TEST(program_by_a_schedule)
{
    test_setting("CARDLESS_POLICY", "schedule:1=1");
    run_program();
}

TEST(program_when_lazy)
{
    test_setting("CARDLESS_POLICY", "lazy");
    run_program();
}

// ---- running it in other processes ----

// A program that runs in a process of its own.
struct run {
    pid_t child;
    int schedule, trace; // its logs: files in memory
};

static struct run new_run(void)
{
    return (struct run){.schedule = memfd_create("schedule", 0), .trace = memfd_create("trace", 0)};
}

static void log_to(const char *setting, int fd)
{
    char path[32];
    EXPECT(fd >= 0);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    test_setting(setting, path);
}

static void start_run(struct run *r, const char *policy, void (*program)(void))
{
    log_to("CARDLESS_SCHEDULE_LOG", r->schedule);
    if (!SANITIZED) // AddressSanitizer moves variables, whose addresses are in the trace
        log_to("CARDLESS_TRACE", r->trace);
    test_setting("CARDLESS_POLICY", policy);
    fflush(stdout);
    r->child = fork();
    if (r->child)
        return;
    program();
    _exit(test_failures > 0);
}

static size_t read_log(int fd, char *out, size_t size)
{
    ssize_t got = pread(fd, out, size, 0);
    EXPECT(got > 0 && got < (ssize_t)size);
    close(fd);
    return got < 0 ? 0 : (size_t)got;
}

// Waits for the end of the run. `log` receives its schedule and its trace.
static void finish_run(struct run *r, char log[LOG_MOST_B])
{
    int status = -1;
    EXPECT_EQ(waitpid(r->child, &status, 0), r->child);
    EXPECT_EQ(status, 0);
    size_t used = read_log(r->schedule, log, LOG_MOST_B - 1);
    if (!SANITIZED)
        used += read_log(r->trace, log + used, LOG_MOST_B - 1 - used);
    else
        close(r->trace);
    log[used] = 0;
}

static void run_under(const char *policy, void (*program)(void), char log[LOG_MOST_B])
{
    struct run r = new_run();
    start_run(&r, policy, program);
    finish_run(&r, log);
}

static char first[LOG_MOST_B], second[LOG_MOST_B];

static uint64_t hash_of(const char *text)
{
    uint64_t h = 14695981039346656037u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 1099511628211u;
    return h;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

TEST(the_same_seed_gives_the_same_trace)
{
    static uint64_t hash[SEEDS];
    unsigned different = 1;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        char policy[32];
        snprintf(policy, sizeof policy, "seed:%u", seed);
        // Both have the same descriptors, whose numbers are in the trace.
        struct run a = new_run(), b = new_run();
        start_run(&a, policy, run_program);
        start_run(&b, policy, run_program);
        finish_run(&a, first);
        finish_run(&b, second);
        EXPECT_STR(second, first);
        hash[seed] = hash_of(first);
    }
    qsort(hash, SEEDS, sizeof *hash, by_value);
    for (unsigned i = 1; i < SEEDS; i++)
        different += hash[i] != hash[i - 1];
    printf("# %d seeds gave %u different traces\n", SEEDS, different);
    EXPECT(different > SEEDS / 2);
}

// Writes the decisions of a log as a schedule.
static void schedule_of(const char *log, char *out, size_t size)
{
    int used = snprintf(out, size, "schedule:");
    const char *comma = "";
    for (const char *line = strstr(log, "decide\t"); line; line = strstr(line + 1, "\ndecide\t")) {
        unsigned number, options, option;
        sscanf(strstr(line, "decide"), "decide\t%u\t%u\t%u", &number, &options, &option);
        EXPECT(option < options && options > 1);
        if (!option)
            continue;
        used += snprintf(out + used, size - (size_t)used, "%s%u=%u", comma, number, option);
        comma = ",";
    }
}

TEST(decisions_of_a_seed_repeat_its_order)
{
    static char schedule[LOG_MOST_B];
    for (unsigned seed = 0; seed < 20; seed++) {
        char policy[32];
        snprintf(policy, sizeof policy, "seed:%u", seed);
        run_under(policy, run_program, first);
        schedule_of(first, schedule, sizeof schedule);
        run_under(schedule, run_program, second);
        EXPECT_STR(second, first);
    }
}

TEST(schedules_that_are_none_are_reported)
{
    static const struct {
        const char *policy, *says;
    } wrong[] = {{"schedule", "is ignored"},
                 {"schedule:1", "is ignored"},
                 {"schedule:2=1,1=1", "is ignored"},
                 {"schedule:1=1,", "is ignored"},
                 {"schedule:1=-1", "is ignored"},
                 {"schedule:x=1", "is ignored"},
                 {"schedule:@/nonexistent", "the file cannot be read: No such file"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[512] = "";
        int ends[2], status = -1;
        EXPECT_EQ(pipe(ends), 0);
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            dup2(ends[1], STDERR_FILENO);
            test_setting("CARDLESS_POLICY", wrong[i].policy);
            _exit(cuInit(0) != CUDA_SUCCESS);
        }
        close(ends[1]);
        EXPECT(read(ends[0], line, sizeof line - 1) > 0);
        EXPECT(strstr(line, wrong[i].policy) && strstr(line, wrong[i].says));
        close(ends[0]);
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
}

// The order is still one of the program's.
TEST(options_that_do_not_exist_are_reported)
{
    test_setting("CARDLESS_POLICY", "schedule:0=999");
    struct streams s = start();
    EXPECT_OK(cuMemsetD8Async(s.device, 1, 4, s.a));
    EXPECT_OK(cuMemsetD8Async(s.device + 8, 1, 4, s.b));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT(strstr(test_last_line(), "decision 0 has no option 999, because it has 2"));
}

// ---- progress ----

// Asks one stream again and again while others have work too, and one waits for another process.
static void poll_program(void)
{
    struct streams s = start();
    cardlessSemaphore host;
    CUexternalSemaphore cuda = import_timeline(&host);
    int fd;
    MUST(cardlessSemaphoreExport(host, &fd));
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {.params.fence.value = 1};
    MUST(cuWaitExternalSemaphoresAsync(&cuda, &wait, 1, s.b));
    MUST(cuMemsetD32Async(s.device, 7, 1, s.b));
    MUST(cuEventRecord(s.event, s.b));
    for (unsigned i = 0; i < 40; i++) {
        MUST(cuMemsetD32Async(s.device + 4, i, 1, s.a));
        MUST(cuLaunchHostFunc(NULL, set_word, &s.host[i]));
    }
    while (cuStreamQuery(s.a))
        ;
    EXPECT_EQ(cuEventQuery(s.event), CUDA_ERROR_NOT_READY);
    MUST(cardlessSemaphoreSignal(host, 1));
    // The wait for the semaphore must not starve although there is always other work.
    while (cuEventQuery(s.event))
        MUST(cuMemsetD32Async(s.device + 4, 1, 1, s.a));
    // The program waits for a word without a call.
    while (!__atomic_load_n(&s.host[39], __ATOMIC_ACQUIRE))
        usleep(1000);
    close(fd);
}

TEST(every_policy_makes_progress)
{
    run_under("lazy", poll_program, first);
    run_under("schedule:", poll_program, first);
    for (unsigned seed = 0; seed < PROGRESS_SEEDS; seed++) {
        char policy[32];
        snprintf(policy, sizeof policy, "seed:%u", seed);
        run_under(policy, poll_program, first);
    }
}

// A host function may wait for the thread that chose to run it.
static void wait_for_word(void *word)
{
    while (!__atomic_load_n((unsigned *)word, __ATOMIC_ACQUIRE))
        usleep(1000);
}

static void host_function_program(void)
{
    struct streams s = start();
    MUST(cuLaunchHostFunc(s.a, wait_for_word, &s.host[0]));
    set_word(&s.host[0]);
    MUST(cuStreamSynchronize(s.a));
}

TEST(a_host_function_may_wait_for_the_program)
{
    run_under("schedule:", host_function_program, first);
    run_under("lazy", host_function_program, first);
}

TESTS(CASE(program_by_a_seed), CASE(program_by_a_schedule), CASE(program_when_lazy),
      CASE(the_same_seed_gives_the_same_trace), CASE(decisions_of_a_seed_repeat_its_order),
      CASE(schedules_that_are_none_are_reported), CASE(options_that_do_not_exist_are_reported),
      CASE(every_policy_makes_progress), CASE(a_host_function_may_wait_for_the_program))
