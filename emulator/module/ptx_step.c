// SPDX-License-Identifier: MIT
// Steps PTX kernels: stops the warp that CARDLESS_STEP names, and executes commands.
#include "ptx_step.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ptx_step_text.h"
#include "number.h"
#include "ptx_step_request.h"

enum { QUIT_CODE = 130, COMMAND_B = 128 };

// How far to run before the next stop.
enum go {
    GO_STEP,     // one instruction of the warp
    GO_NEXT,     // until one of the same lanes is at the next instruction of the same function
    GO_CONTINUE, // until the line `until`, or until the next launch if it is 0
    GO_ON,       // the program runs on without stops
};

static atomic_uint_fast64_t launches; // of kernels that the pattern fits
static atomic_bool busy;              // a launch is stepped, and uses the rest

static struct session {
    const struct em_step_request *request;
    struct em_step_text text;
    const char *kernel;
    uint64_t launch;
    uint32_t threads[3];
    bool titled;
    uint32_t shown;          // the operation of the instruction that was printed last, or PX_NONE
    unsigned shown_line;     // its line
    uint32_t active, taking; // its lanes
    uint32_t function;       // whose text it is in
    uint64_t fragments;      // hash of those that were printed last
    char source[128];        // the CUDA line that was printed last
    enum go go;
    uint32_t go_lanes;
    unsigned until;
    unsigned left;           // GO_STEP: instructions before the stop
    char command[COMMAND_B]; // the last one, which an empty line repeats
} session;

// ---- printing ----

static void print_title(struct session *s, const struct px_step *step)
{
    const uint32_t *t = s->threads, first = step->warp * 32;
    uint32_t last = first + 31;
    if (last >= t[0] * t[1] * t[2])
        last = t[0] * t[1] * t[2] - 1;
    em_step_print(&s->text,
                  "%skernel %s, launch %llu, block (%u,%u,%u), warp %u: lanes 0 to %u are threads "
                  "(%u,%u,%u) to (%u,%u,%u)\n",
                  s->titled ? "\n" : "", s->kernel, (unsigned long long)s->launch, step->block[0],
                  step->block[1], step->block[2], step->warp, last - first, first % t[0],
                  first / t[0] % t[1], first / t[0] / t[1], last % t[0], last / t[0] % t[1],
                  last / t[0] / t[1]);
    em_step_title(&s->text);
    s->titled = true;
    if (dm_fd_still_ours(&s->request->note) && pwrite(s->request->note.fd, "1", 1, 0) != 1)
        s->text.failed = true; // the command that reads the text is gone
}

// The registers that the last instruction has written. Lanes that still wait at it have not run it.
static void print_results(struct session *s, const struct px_step *step)
{
    const struct px_program *program = step->program;
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < step->fragment_count; i++)
        if (step->fragments[i].state != PX_STEP_READY && step->fragments[i].line == s->shown_line)
            waiting |= step->fragments[i].lanes;
    for (px_register reg = 0; s->shown != PX_NONE && reg < program->register_count; reg++) {
        const struct px_register_info *r = &program->registers[reg];
        if (!r->name || r->fill != PX_FILL_BY_OPS)
            continue;
        const bool writes = px_step_writes(program, s->shown, reg);
        const uint32_t lanes = px_step_changed(step, reg) | (writes ? s->taking & ~waiting : 0);
        if (lanes)
            em_step_register(&s->text, step, reg, lanes, s->active);
    }
    s->shown = PX_NONE;
}

static void print_stop(struct session *s, const struct px_step *step)
{
    char source[sizeof s->source];
    if (px_source_line(step->program->module, step->program, step->line, source, sizeof source) &&
        strcmp(source, s->source)) {
        em_step_print(&s->text, "       %s\n", source);
        memcpy(s->source, source, sizeof source);
    }
    s->fragments = em_step_fragments(&s->text, step, s->fragments);
    em_step_instruction(&s->text, step);
    s->shown = step->op;
    s->shown_line = step->line;
    s->function = step->function;
    s->active = step->active;
    s->taking = step->taking;
}

// ---- commands ----

static const char step_help[] =
    "  step [N]        run one instruction of the warp, or N (s)\n"
    "  next            run until one of these lanes is at the next instruction of this function,\n"
    "                  past calls and past other lanes (n)\n"
    "  continue [LINE] run to a line, or to the end of the warp (c)\n"
    "  print [%R …]    print registers, or all that have a name (p)\n"
    "  lanes           draw which lanes are here, and where the others are (l)\n"
    "  off             let the program run on without stops\n"
    "  quit            end the program (q)\n"
    "  An empty line repeats the last command.\n";

// Reads a line. Returns false at the end of the input.
static bool read_line(const struct dm_fd_identity *in, char *out, size_t size_B)
{
    size_t used = 0;
    for (;;) {
        char c;
        const ssize_t n = dm_fd_still_ours(in) ? read(in->fd, &c, 1) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0 && !used)
            return false;
        if (n <= 0 || c == '\n') {
            out[used] = 0;
            return true;
        }
        if (used + 1 < size_B)
            out[used++] = c;
    }
}

static void print_registers(struct session *s, const struct px_step *step, char *names)
{
    const struct px_program *program = step->program;
    char *rest = NULL, *name = strtok_r(names, " ,\t", &rest);
    const bool every = !name;
    do {
        bool found = false;
        for (px_register reg = 0; reg < program->register_count; reg++) {
            const struct px_register_info *r = &program->registers[reg];
            const bool wanted = r->name && (every || !strcmp(r->name, name));
            found |= wanted;
            if (wanted)
                em_step_register(&s->text, step, reg, step->lanes, step->lanes);
        }
        if (!found)
            em_step_print(&s->text,
                          every ? "the kernel has no registers\n"
                                : "the kernel has no register %.60s\n",
                          name);
        name = every ? NULL : strtok_r(NULL, " ,\t", &rest);
    } while (name);
}

// A number from 1.
static bool parse_count(const char *text, uint32_t *out)
{
    return dm_parse_u32(&text, out) && !*text && *out;
}

static bool is_command(const char *word, size_t length, const char *name)
{
    return (length == 1 && *word == *name) ||
           (strlen(name) == length && !strncmp(word, name, length));
}

// Executes one command. Returns whether the warp runs on.
static bool step_execute_command(struct session *s, const struct px_step *step, char *line)
{
    const char *word = line + strspn(line, " \t");
    const size_t length = strcspn(word, " \t");
    char *rest = line + (word - line) + length;
    uint32_t n = 0;
    rest += strspn(rest, " \t");
    const bool counted = parse_count(rest, &n);
    if ((is_command(word, length, "step") || is_command(word, length, "continue")) && *rest &&
        !counted) {
        em_step_print(&s->text, "%.60s is not a number from 1\n", rest);
        return false;
    }
    s->go_lanes = step->active;
    s->until = counted ? n : 0;
    s->left = counted ? n : 1;
    if (is_command(word, length, "step"))
        s->go = GO_STEP;
    else if (is_command(word, length, "next"))
        s->go = GO_NEXT;
    else if (is_command(word, length, "continue"))
        s->go = GO_CONTINUE;
    else if (length == 3 && !strncmp(word, "off", 3))
        s->go = GO_ON;
    else if (is_command(word, length, "quit")) {
        em_step_flush(&s->text);
        _exit(QUIT_CODE);
    } else if (is_command(word, length, "print")) {
        print_registers(s, step, rest);
        return false;
    } else if (is_command(word, length, "lanes")) {
        em_step_instruction(&s->text, step);
        em_step_fragments(&s->text, step, UINT64_MAX);
        return false;
    } else {
        em_step_print(&s->text, "%s", step_help);
        return false;
    }
    return true;
}

static void step_execute_commands(struct session *s, const struct px_step *step)
{
    char line[COMMAND_B];
    do {
        em_step_print(&s->text, "(step) ");
        em_step_flush(&s->text);
        if (!read_line(&s->request->in, line, sizeof line)) {
            em_step_print(&s->text, "\n");
            s->go = GO_ON;
            return;
        }
        if (!isatty(s->request->in.fd)) // a terminal has shown it
            em_step_print(&s->text, "%s\n", line);
        if (!line[strspn(line, " \t")])
            memcpy(line, s->command, sizeof line);
        memcpy(s->command, line, sizeof line);
    } while (!step_execute_command(s, step, line));
}

// ---- stops ----

static uint32_t warp_of(void *context, const uint32_t block[3])
{
    const struct em_step_request *request = ((struct session *)context)->request;
    return memcmp(block, request->block, sizeof request->block) ? PX_NONE : request->warp;
}

static bool is_wanted(struct session *s, const struct px_step *step)
{
    const bool inside = step->line >= s->request->first_line && step->line <= s->request->last_line;
    if (!s->request->interactive)
        return inside;
    switch (s->go) {
    case GO_STEP:
        s->left -= s->left > 0;
        return !s->left && (inside || s->command[0]);
    case GO_NEXT:
        return (step->active & s->go_lanes) && step->function == s->function;
    case GO_CONTINUE:
        return s->until && step->line == s->until;
    default:
        return false;
    }
}

static void step_stop(void *context, const struct px_step *step)
{
    struct session *s = context;
    if (s->go == GO_ON)
        return;
    const bool follows = s->shown != PX_NONE; // the last instruction was printed
    print_results(s, step);
    if (step->op == PX_NONE) {
        if (s->titled && (follows || s->request->interactive))
            em_step_print(&s->text, "       the warp has ended\n");
        em_step_flush(&s->text);
        return;
    }
    if (!is_wanted(s, step))
        return;
    if (!s->titled)
        print_title(s, step);
    print_stop(s, step);
    if (s->request->interactive)
        step_execute_commands(s, step);
}

static const struct px_stepper stepper = {.context = &session, .warp = warp_of, .stop = step_stop};

const struct px_stepper *em_ptx_step_start(const struct em_grid *grid, const char *kernel)
{
    const struct em_step_request *request = em_step_request();
    if (!request || fnmatch(request->kernel, kernel, 0))
        return NULL;
    const uint64_t number = atomic_fetch_add(&launches, 1) + 1;
    if (number < request->launch || (number > request->launch && !request->interactive) ||
        atomic_exchange(&busy, true))
        return NULL;
    struct session *s = &session;
    if (s->go == GO_ON) {
        atomic_store(&busy, false);
        return NULL;
    }
    s->request = request;
    s->text.file = &request->out;
    s->kernel = kernel;
    s->launch = number;
    s->threads[0] = grid->threads.x;
    s->threads[1] = grid->threads.y;
    s->threads[2] = grid->threads.z;
    s->titled = false;
    s->shown = PX_NONE;
    s->fragments = 0;
    s->source[0] = s->command[0] = 0;
    s->go = GO_STEP;
    s->left = 1;
    return &stepper;
}

void em_ptx_step_finish(void)
{
    em_step_flush(&session.text);
    atomic_store(&busy, false);
}
