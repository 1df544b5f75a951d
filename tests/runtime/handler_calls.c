// SPDX-License-Identifier: MIT
// Calls of signal handlers that interrupt a call of the runtime, and calls of other functions that
// a call runs. The signal comes before and after each lock that the interrupted call takes, also
// the driver's, and before and after it loads the driver. Whatever it has interrupted, each call of
// the handler should return: with success, or with one sentence that names the interrupted call.
// (A function that runs once is a lock, too.)
#include "expect.h"

#include <dirent.h>
#include <stddef.h>

#include "../signal_places.h"
#include "program.h"

enum { SECONDS = 20, MOST_SIGNALS = 2000 };

#define KERNEL(name) ".visible .entry " name "()\n{\nred.global.add.u32 [number], 1;\nret;\n}\n"
static const char text[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .u32 number = 5;\n" KERNEL("one") KERNEL("two");
static unsigned number;
static char one, two; // host functions

static struct program_wrapper wrapper;

static void **register_program(struct program_wrapper *w)
{
    void **binary = __cudaRegisterFatBinary(w);
    program_function(binary, &one, "one");
    program_function(binary, &two, "two");
    program_variable(binary, &number, "number", sizeof number);
    __cudaRegisterFatBinaryEnd(binary);
    return binary;
}

__attribute__((constructor)) static void register_at_start(void)
{
    wrapper = program_wrapper(text);
    register_program(&wrapper);
}

static cudaError_t launch(const void *kernel)
{
    return cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL);
}

// ---- the signals

// Counts of a child process, in memory that it shares with the test.
static struct {
    unsigned rounds, succeeded, refused, others;
    bool named; // a sentence has named the interrupted call; stays while a step is repeated
} * seen;

static void (*while_the_driver_loads)(void);

EXPORT void *dlopen(const char *path, int flags)
{
    void *(*real)(const char *, int) = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
    at_place();
    if (while_the_driver_loads)
        while_the_driver_loads();
    void *library = real(path, flags);
    at_place();
    return library;
}

static void count(cudaError_t r)
{
    if (r == cudaSuccess)
        seen->succeeded++;
    else if (r == cudaErrorNotPermitted)
        seen->refused++;
    else
        seen->others++;
}

static void make_calls(int signal)
{
    (void)signal;
    int devices;
    void *address;
    count(cudaGetDeviceCount(&devices));
    count(cudaGetSymbolAddress(&address, &number));
    // Not by launch(), from which the interrupted call may come: the driver knows calls of the
    // runtime by their names and the places that make them.
    count(cudaLaunchKernel(&one, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    count(cudaStreamSynchronize(NULL));
    if (cudaGetErrorName(cudaErrorNotPermitted) == NULL)
        seen->others++;
    seen->rounds++;
}

enum { CALLS = 4 }; // of the handler that are counted

// ---- the interrupted calls

static void first_call(void)
{
    int devices = 0;
    RT_OK(cudaGetDeviceCount(&devices));
    EXPECT(devices > 0);
}

static void first_launch(void)
{
    RT_OK(launch(&one));
}

static void second_launch(void)
{
    RT_OK(launch(&two));
}

static void find_variable(void)
{
    size_t size_B = 0;
    RT_OK(cudaGetSymbolSize(&size_B, &number));
    EXPECT_EQ(size_B, sizeof number);
}

static struct program_wrapper registered;

static void registration(void)
{
    static char host;
    void **binary = __cudaRegisterFatBinary(&registered);
    program_function(binary, &host, "one");
    RT_OK(launch(&host));
    __cudaUnregisterFatBinary(binary);
    RT_OK(cudaDeviceSynchronize());
}

struct step {
    const char *name; // of the interrupted call, in sentences of the runtime
    void (*before)(void), (*interrupted)(void);
};

static void nothing(void)
{
}

static void load(void)
{
    RT_OK(launch(&one));
    RT_OK(cudaDeviceSynchronize());
}

// Counts the sentences on stderr. Each should name two calls of the program, not those of the
// driver that the runtime makes for them.
static unsigned count_sentences(FILE *file, const struct step *step)
{
    char line[1024], own[128];
    unsigned sentences = 0;
    snprintf(own, sizeof own, "interrupted %s of the same thread", step->name);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        if (!strstr(line, "otPermitted: ") && !strstr(line, "NOT_PERMITTED: "))
            continue;
        sentences++;
        seen->named |= strstr(line, own) != NULL;
        EXPECT(strstr(line, "cardless: cuda") == line);
        EXPECT(strstr(line, "it has interrupted cuda"));
    }
    return sentences;
}

static void interrupt_once(const struct step *step)
{
    FILE *errors = tmpfile();
    int old = dup(STDERR_FILENO);
    const struct sigaction action = {.sa_handler = make_calls};
    EXPECT(errors && old >= 0 && dup2(fileno(errors), STDERR_FILENO) >= 0);
    EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    unsetenv("CARDLESS_DIAGNOSTICS");
    alarm(SECONDS);
    step->before();
    signal_armed = true;
    step->interrupted();
    signal_armed = false;
    fflush(stderr);
    EXPECT_EQ(count_sentences(errors, step), seen->refused);
    dup2(old, STDERR_FILENO);

    // The last error is the handler's, and nothing else has changed.
    RT_ERROR(cudaGetLastError(), seen->refused ? cudaErrorNotPermitted : cudaSuccess);
    unsigned before = 0, after = 0;
    RT_OK(cudaMemcpyFromSymbol(&before, &number, sizeof before, 0, cudaMemcpyDeviceToHost));
    RT_OK(launch(&two));
    RT_OK(cudaMemcpyFromSymbol(&after, &number, sizeof after, 0, cudaMemcpyDeviceToHost));
    EXPECT_EQ(after, before + 1);
}

// Repeats the step with a signal at the first place, the second one and so on.
static void interrupt(const struct step *step)
{
    unsigned refused = 0;
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(seen != MAP_FAILED);
    for (signal_at = 1; signal_at < MOST_SIGNALS; signal_at++) {
        int status = -1;
        memset(seen, 0, offsetof(__typeof__(*seen), named));
        fflush(stdout);
        const pid_t child = fork();
        if (!child) {
            interrupt_once(step);
            fflush(stdout);
            _exit(test_failures != 0);
        }
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        EXPECT_EQ(seen->others, 0);
        EXPECT_EQ(seen->succeeded + seen->refused, CALLS * seen->rounds);
        refused += seen->refused;
        if (test_failures)
            printf("# the signal came at place %u of %s\n", signal_at, step->name);
        if (!seen->rounds)
            break;
    }
    printf("# %u places, %u calls refused\n", signal_at - 1, refused);
    EXPECT(signal_at > 1 && signal_at < MOST_SIGNALS);
    EXPECT(refused > 0);
    EXPECT(seen->named);
}

TEST(first_call_interrupted)
{
    interrupt(&(struct step){"cudaGetDeviceCount", nothing, first_call});
}

TEST(load_interrupted)
{
    interrupt(&(struct step){"cudaLaunchKernel", first_call, first_launch});
}

// The driver records the program's calls of the runtime, for which it takes locks as well.
TEST(recorded_load_interrupted)
{
    char folder[] = "/tmp/cardless-test-XXXXXX", path[300];
    EXPECT(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run", folder);
    test_setting("CARDLESS_RECORD", path);
    interrupt(&(struct step){"cudaLaunchKernel", nothing, first_launch});
    DIR *files = opendir(folder);
    for (struct dirent *file = readdir(files); file; file = readdir(files)) {
        snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
        unlink(path);
    }
    closedir(files);
    EXPECT_EQ(rmdir(folder), 0);
}

TEST(lookup_interrupted)
{
    interrupt(&(struct step){"cudaLaunchKernel", load, second_launch});
}

TEST(variable_interrupted)
{
    interrupt(&(struct step){"cudaGetSymbolSize", load, find_variable});
}

TEST(registration_interrupted)
{
    registered = program_wrapper(text);
    interrupt(&(struct step){"cudaLaunchKernel", load, registration});
    program_finish(&registered);
}

// ---- calls that are not refused

static struct program_wrapper other_wrapper;
static void **other;
static char other_host;

static void register_other(void)
{
    while_the_driver_loads = NULL;
    other_wrapper = program_wrapper(text);
    other = __cudaRegisterFatBinary(&other_wrapper);
    program_function(other, &other_host, "one");
    __cudaRegisterFatBinaryEnd(other);
}

// A library that the loader opens with the driver should be able to register kernels.
TEST(registration_while_the_driver_loads)
{
    while_the_driver_loads = register_other;
    first_call();
    EXPECT(other && !while_the_driver_loads);
    RT_OK(launch(&other_host));
    RT_OK(cudaDeviceSynchronize());
}

static struct program_wrapper broken_wrapper;
static char broken_host;
static cudaError_t allocated, launched, launched_again;

static void make_calls_inside(void *data, cudaLogLevel level, char *message, size_t length)
{
    (void)data, (void)level, (void)message, (void)length;
    void *p = NULL;
    allocated = cudaMalloc(&p, 16);
    if (!allocated)
        allocated = cudaFree(p);
    launched = launch(&one);
    launched_again = launch(&broken_host);
}

// A callback runs while the thread loads kernels. It should be able to load others, and to fail to
// load these.
TEST(callback_while_kernels_load)
{
    cudaLogsCallbackHandle callback;
    broken_wrapper = program_wrapper(text);
    broken_wrapper.magic = 0;
    program_function(__cudaRegisterFatBinary(&broken_wrapper), &broken_host, "broken");
    RT_MUST(cudaLogsRegisterCallback(make_calls_inside, NULL, &callback));
    allocated = launched = launched_again = cudaErrorUnknown;
    const cudaError_t error = launch(&broken_host);
    EXPECT(error != cudaSuccess && error != cudaErrorNotPermitted);
    RT_OK(allocated);
    RT_OK(launched);
    RT_ERROR(launched_again, error);
    RT_OK(cudaLogsUnregisterCallback(callback));
    RT_ERROR(launch(&broken_host), error);
}

// ---- forks of signal handlers

static void fork_and_launch(int signal)
{
    (void)signal;
    int status = -1;
    seen->rounds++;
    const pid_t child = fork();
    if (!child)
        return; // the interrupted call goes on in the child, too
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

// The child of a fork that interrupts a registration should be able to register as well.
TEST(fork_inside_a_registration)
{
    const struct sigaction action = {.sa_handler = fork_and_launch};
    const pid_t parent = getpid();
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    for (signal_at = 1;; signal_at++) {
        const unsigned rounds = seen->rounds;
        struct program_wrapper w = program_wrapper(text);
        places = 0;
        signal_armed = true;
        void **binary = register_program(&w);
        __cudaUnregisterFatBinary(binary);
        signal_armed = false;
        program_finish(&w);
        if (getpid() != parent)
            _exit(!binary || test_failures);
        if (seen->rounds == rounds)
            break;
    }
    EXPECT(seen->rounds > 4);
    RT_OK(launch(&one));
}

// ---- forks while other threads register

enum { FORKS = SANITIZED ? 5 : 100, EVERY_US = SANITIZED ? 20000 : 1000 };

static pthread_t forking;
static volatile sig_atomic_t forks, lost, is_child, ended;

static void fork_and_wait(int signal)
{
    (void)signal;
    int status = -1;
    if (is_child)
        return;
    const pid_t child = fork();
    if (!child) {
        is_child = 1;
        alarm(SECONDS);
        return;
    }
    lost += waitpid(child, &status, 0) != child || status != 0;
    forks++;
}

static void *register_again(void *wrapper_of_thread)
{
    while (!ended)
        __cudaUnregisterFatBinary(__cudaRegisterFatBinary(wrapper_of_thread));
    return NULL;
}

static void *send_signals(void *unused)
{
    while (!ended) {
        pthread_kill(forking, SIGUSR1);
        usleep(EVERY_US);
    }
    return unused;
}

// Whatever the interrupted thread does or waits for, a child that returns from the handler should
// be able to go on.
TEST(forks_beside_registrations)
{
    const struct sigaction action = {.sa_handler = fork_and_wait};
    struct program_wrapper w[] = {program_wrapper(text), program_wrapper(text),
                                  program_wrapper(text)};
    pthread_t threads[3];
    sigset_t all, before;
    forking = pthread_self();
    EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    EXPECT_EQ(pthread_create(&threads[0], NULL, register_again, &w[0]), 0);
    EXPECT_EQ(pthread_create(&threads[1], NULL, register_again, &w[1]), 0);
    EXPECT_EQ(pthread_create(&threads[2], NULL, send_signals, NULL), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    while (forks < FORKS && !lost) {
        __cudaUnregisterFatBinary(__cudaRegisterFatBinary(&w[2]));
        if (is_child)
            _exit(0);
    }
    ended = 1;
    for (int i = 0; i < 3; i++)
        EXPECT_EQ(pthread_join(threads[i], NULL), 0);
    EXPECT_EQ(lost, 0);
    for (int i = 0; i < 3; i++)
        program_finish(&w[i]);
}

TESTS(CASE(first_call_interrupted), CASE(load_interrupted), CASE(recorded_load_interrupted),
      CASE(lookup_interrupted), CASE(variable_interrupted), CASE(registration_interrupted),
      CASE(registration_while_the_driver_loads), CASE(callback_while_kernels_load),
      CASE(fork_inside_a_registration), CASE(forks_beside_registrations))
