// SPDX-License-Identifier: MIT
// Fuzzes cuImportExternalSemaphore with descriptors of every kind of file, and the signals and
// waits of imported timeline semaphores, whose values a model predicts. It waits only for values
// that the semaphore has, because others would end the input in a wait for ever.
#include <cardless.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

enum { SEMAPHORES = 3, IMPORTS = 4, STEPS = 48 };

struct semaphore {
    cardlessSemaphore handle;
    bool timeline;
    uint64_t value; // of a timeline semaphore; 0 or 1 of a binary one
};

struct imported {
    CUexternalSemaphore handle; // or NULL
    bool alive;
    struct semaphore *of;
};

struct model {
    struct semaphore semaphores[SEMAPHORES];
    struct imported imports[IMPORTS];
    CUstream stream;
};

// ---- imports ----

static int other_file(struct fuzz_input *in)
{
    int fd;
    switch (fuzz_below(in, 4)) {
    case 0:
        return -1;
    case 1:
        return open("/dev/null", O_RDWR | O_CLOEXEC);
    case 2:
        return open("/", O_RDONLY | O_CLOEXEC);
    default:
        fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        FUZZ_CHECK(fd >= 0 && !ftruncate(fd, (off_t)fuzz_take(in, 2)), "no memfd");
        for (unsigned i = fuzz_below(in, 4); i; i--) { // a header that looks like one
            uint64_t word = fuzz_take(in, 8);
            FUZZ_CHECK(pwrite(fd, &word, sizeof word, fuzz_below(in, 16) * 8) == sizeof word,
                       "pwrite");
        }
        if (fuzz_chance(in, 2))
            fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
        return fd;
    }
}

static void import(struct fuzz_input *in, struct model *m)
{
    struct imported *i = &m->imports[fuzz_below(in, IMPORTS)];
    struct semaphore *s = &m->semaphores[fuzz_below(in, SEMAPHORES)];
    if (i->alive)
        return;
    bool own = !fuzz_chance(in, 4);
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC d;
    memset(&d, 0, sizeof d);
    d.type = s->timeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                         : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    bool right = true;
    if (fuzz_chance(in, 6)) {
        d.type = (CUexternalSemaphoreHandleType)fuzz_take(in, 1);
        right = false;
    }
    if (fuzz_chance(in, 8))
        d.flags = (unsigned)fuzz_take(in, 4);
    if (fuzz_chance(in, 8))
        d.reserved[fuzz_below(in, 16)] = 1;
    if (own)
        FUZZ_OK(cardlessSemaphoreExport(s->handle, &d.handle.fd));
    else
        d.handle.fd = other_file(in);
    int fd = d.handle.fd;
    bool clean = !d.flags;
    for (unsigned n = 0; n < 16; n++)
        clean &= !d.reserved[n];
    CUexternalSemaphore handle = NULL;
    CUresult r = cuImportExternalSemaphore(&handle, &d);
    FUZZ_CHECK(!r == (handle != NULL), "result %d, handle %p", (int)r, (void *)handle);
    FUZZ_CHECK(!(own && right && clean) || !r, "a semaphore was refused: %d", (int)r);
    // Driver 580 takes memory that was exported, too. A file may look like it.
    const bool may_be_memory = !own && clean && fuzz_is_driver_580();
    FUZZ_CHECK((own && clean) || may_be_memory || r, "type %d, flags %#x, fd %d was accepted",
               (int)d.type, d.flags, fd);
    if (r && fd >= 0) {
        FUZZ_CHECK(fcntl(fd, F_GETFD) >= 0, "a refused descriptor was closed (result %d)", (int)r);
        close(fd);
    }
    if (r)
        return;
    if (!right || !own) { // the manual leaves open what it does with another type
        FUZZ_OK(cuDestroyExternalSemaphore(handle));
        return;
    }
    *i = (struct imported){handle, true, s};
}

static void destroy(struct fuzz_input *in, struct model *m)
{
    struct imported *i = &m->imports[fuzz_below(in, IMPORTS)];
    if (!i->handle)
        return;
    FUZZ_OK(
        cuStreamSynchronize(m->stream)); // "any outstanding signals or waits must have completed"
    CUresult r = cuDestroyExternalSemaphore(i->handle);
    FUZZ_CHECK(!r == i->alive, "cuDestroyExternalSemaphore: %d", (int)r);
    i->alive = false;
}

// ---- signals and waits ----

static void signal_value(struct fuzz_input *in, struct model *m)
{
    struct imported *i = &m->imports[fuzz_below(in, IMPORTS)];
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS p;
    if (!i->alive || (!i->of->timeline && i->of->value))
        return;
    memset(&p, 0, sizeof p);
    p.params.fence.value = i->of->timeline ? i->of->value + 1 + fuzz_below(in, 5) : 1;
    FUZZ_OK(cuSignalExternalSemaphoresAsync(&i->handle, &p, 1, m->stream));
    i->of->value = p.params.fence.value;
}

static void wait_value(struct fuzz_input *in, struct model *m)
{
    struct imported *i = &m->imports[fuzz_below(in, IMPORTS)];
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS p;
    if (!i->alive || (!i->of->timeline && !i->of->value))
        return;
    memset(&p, 0, sizeof p);
    p.params.fence.value = i->of->timeline ? fuzz_take(in, 1) % (i->of->value + 1) : 0;
    FUZZ_OK(cuWaitExternalSemaphoresAsync(&i->handle, &p, 1, m->stream));
    if (!i->of->timeline)
        i->of->value = 0; // a wait resets a binary semaphore
}

static void compare(struct model *m)
{
    FUZZ_OK(cuStreamSynchronize(m->stream));
    for (unsigned i = 0; i < SEMAPHORES; i++) {
        uint64_t value = ~UINT64_C(0);
        FUZZ_OK(cardlessSemaphoreGetValue(m->semaphores[i].handle, &value));
        FUZZ_CHECK(value == m->semaphores[i].value, "semaphore %u has %llu, expected %llu", i,
                   (unsigned long long)value, (unsigned long long)m->semaphores[i].value);
    }
}

static void step(struct fuzz_input *in, struct model *m)
{
    switch (fuzz_below(in, 8)) {
    case 0:
    case 1:
        import(in, m);
        break;
    case 2:
        destroy(in, m);
        break;
    case 3:
    case 4:
        signal_value(in, m);
        break;
    case 5:
    case 6:
        wait_value(in, m);
        break;
    default:
        compare(m);
    }
}

// ---- one input ----

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_start();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    struct model m;
    memset(&m, 0, sizeof m);
    CUcontext context = fuzz_context();
    FUZZ_OK(cuStreamCreate(&m.stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < SEMAPHORES; i++) {
        struct semaphore *s = &m.semaphores[i];
        s->timeline = i < 2;
        s->value = s->timeline ? fuzz_below(&in, 4) : 0;
        FUZZ_OK(cardlessSemaphoreCreate(
            &s->handle, s->timeline ? CARDLESS_SEMAPHORE_TIMELINE : CARDLESS_SEMAPHORE_BINARY,
            s->value));
    }
    for (unsigned i = 0; i < STEPS && fuzz_more(&in); i++)
        step(&in, &m);
    compare(&m);
    FUZZ_OK(cuCtxDestroy(context));
    for (unsigned i = 0; i < SEMAPHORES; i++)
        FUZZ_OK(cardlessSemaphoreDestroy(m.semaphores[i].handle));
    return 0;
}
