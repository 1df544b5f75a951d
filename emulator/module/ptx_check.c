// SPDX-License-Identifier: MIT
// Checks of PTX kernels: finds memory for the checker of ptx/, and reports its findings.
#include "ptx_check.h"

#include <stdio.h>
#include <string.h>

#include "config.h"
#include "check_result.h"
#include "error.h"
#include "lock.h"
#include "memory.h"

bool em_ptx_check_on(void)
{
    return em_config()->check_memory || em_config()->check_race;
}

// ---- memory ----

// The map of an allocation's written bytes, or NULL if all of them count as written: memory that
// another process writes, too.
static uint8_t *written_of(struct em_ptx_check *check, const struct em_allocation *a)
{
    struct em_written *w = a->written;
    if (!w || __atomic_load_n(&w->all, __ATOMIC_RELAXED) || a->ipc_slot)
        return NULL;
    for (unsigned i = 0; i < check->held_count; i++)
        if (check->held[i] == w)
            return (uint8_t *)w->words;
    if (check->held_count == EM_PTX_HELD) {
        em_written_note(a, a->base, a->size);
        return NULL;
    }
    check->held[check->held_count++] = em_written_ref(w);
    return (uint8_t *)w->words;
}

// The range is that of the allocation, so that most accesses need no lock.
static bool find(void *context, uint64_t address, uint32_t size_B, struct px_range *out)
{
    em_lock();
    const struct em_allocation *a = em_memory_find(address, size_B);
    if (a)
        *out = (struct px_range){
            .first = a->base, .end = a->base + a->size, .written = written_of(context, a)};
    em_unlock();
    return a != NULL;
}

// ---- findings ----

// One thread runs a grid that is checked.
static void found(void *context, const struct px_finding *finding)
{
    struct em_ptx_check *check = context;
    for (unsigned i = 0; i < check->count; i++) {
        const struct px_finding *f = &check->findings[i];
        if (px_finding_same(f->kind, (const unsigned[]){f->by.line, f->older.line}, finding))
            return;
    }
    if (check->count < EM_PTX_FINDINGS)
        check->findings[check->count++] = *finding;
}

void em_ptx_check_start(struct em_ptx_check *check)
{
    *check = (struct em_ptx_check){.checks = {.memory = em_config()->check_memory,
                                              .race = em_config()->check_race,
                                              .context = check,
                                              .find = find,
                                              .found = found}};
}

size_t em_ptx_line_text(const struct px_program *program, unsigned line, char *out, size_t size_B)
{
    char source[128];
    int n = snprintf(out, size_B, ", PTX line %u", line);
    if (px_source_line(program->module, program, line, source, sizeof source))
        n += snprintf(out + n, size_B - (size_t)n, " (%s)", source);
    return (size_t)n;
}

static const char *act_text(const struct px_party *p)
{
    return p->atomic ? "updates" : p->write ? "writes" : "reads";
}

static bool is_block(const struct px_party *p, const uint32_t block[3])
{
    return !memcmp(p->block, block, sizeof p->block);
}

// Threads of different blocks of a cluster.
static void report_cluster_race(const struct px_finding *f, const char *kernel, const char *where,
                                const char *memory, const char *older)
{
    const uint32_t *a = f->by.block, *b = f->older.block, *s = f->block;
    em_mistake(K03, CUDA_SUCCESS,
               "kernel %s%s: thread (%u,%u,%u) of block (%u,%u,%u) %s %u bytes at %s of block "
               "(%u,%u,%u), which thread (%u,%u,%u) of block (%u,%u,%u) %s at %s, and nothing "
               "orders the two",
               kernel, where, f->by.thread[0], f->by.thread[1], f->by.thread[2], a[0], a[1], a[2],
               act_text(&f->by), f->size_B, memory, s[0], s[1], s[2], f->older.thread[0],
               f->older.thread[1], f->older.thread[2], b[0], b[1], b[2], act_text(&f->older),
               older);
}

static void report_race(const struct px_finding *f, const char *kernel, const char *where,
                        const struct px_program *program)
{
    char older[192], memory[160];
    em_ptx_line_text(program, f->older.line, older, sizeof older);
    px_shared_text(program, f->address, memory, sizeof memory);
    if (!is_block(&f->by, f->block) || !is_block(&f->older, f->block)) {
        report_cluster_race(f, kernel, where, memory, older + 2);
        return;
    }
    em_mistake(K03, CUDA_SUCCESS,
               "kernel %s%s, block (%u,%u,%u): thread (%u,%u,%u) %s %u bytes at %s, which thread "
               "(%u,%u,%u) %s at %s, and nothing orders the two",
               kernel, where, f->block[0], f->block[1], f->block[2], f->by.thread[0],
               f->by.thread[1], f->by.thread[2], act_text(&f->by), f->size_B, memory,
               f->older.thread[0], f->older.thread[1], f->older.thread[2], act_text(&f->older),
               older + 2);
}

static void report_unwritten(const struct px_finding *f, const char *kernel, const char *where,
                             const struct px_program *program)
{
    char memory[320], text[224];
    if (f->kind == PX_FOUND_UNWRITTEN_SHARED) {
        px_shared_text(program, f->address, text, sizeof text);
        snprintf(memory, sizeof memory, "at %s, which the block has not written", text);
    } else {
        em_lock();
        em_memory_text(f->address, text, sizeof text);
        em_unlock();
        snprintf(memory, sizeof memory, "that nothing has written; %s", text);
    }
    em_mistake(K02, CUDA_SUCCESS,
               "kernel %s%s, block (%u,%u,%u), thread (%u,%u,%u): a read of %u bytes %s", kernel,
               where, f->block[0], f->block[1], f->block[2], f->by.thread[0], f->by.thread[1],
               f->by.thread[2], f->size_B, memory);
}

// Whether the kernel was reported for these lines before.
static bool is_repeated(struct em_ptx_said *said, const struct px_finding *f)
{
    em_lock();
    bool repeated = said->count == EM_PTX_SAID;
    for (unsigned i = 0; i < said->count; i++)
        repeated |= px_finding_same(said->pairs[i].kind, said->pairs[i].lines, f);
    if (!repeated)
        said->pairs[said->count++] =
            (struct em_ptx_pair){.kind = f->kind, .lines = {f->by.line, f->older.line}};
    em_unlock();
    return repeated;
}

void em_ptx_check_report(struct em_ptx_check *check, const char *kernel,
                         const struct px_program *program, struct em_ptx_said *said)
{
    em_assert_unlocked();
    for (unsigned i = 0; i < check->count; i++) {
        const struct px_finding *f = &check->findings[i];
        char where[192];
        if (is_repeated(said, f))
            continue;
        em_ptx_line_text(program, f->by.line, where, sizeof where);
        if (f->kind == PX_FOUND_RACE)
            report_race(f, kernel, where, program);
        else
            report_unwritten(f, kernel, where, program);
        em_check_found();
    }
    em_lock();
    while (check->held_count)
        em_written_unref(check->held[--check->held_count]);
    em_unlock();
}
