// SPDX-License-Identifier: MIT
// Long texts are skipped in steps of many bytes. Each passage that matters is found wherever in a
// step it stands, with its line; texts that a module takes over are neither copied nor lost.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "expect.h"
#include "module.h"
#include "program.h"

#define HEAD ".version 8.5\n.target sm_90\n.address_size 64\n"

enum { PLACES = 200, TEXT_B = 2048 };

// A kernel, with `places` bytes of filler, lines of 7 bytes, before the passage and `after` behind
// it. Returns the line of the passage.
static unsigned text_make(char *out, unsigned places, const char *passage, const char *after)
{
    unsigned line = 5;
    size_t length = (size_t)snprintf(out, TEXT_B, "%s", HEAD ".visible .entry k(.param .u64 p)\n{");
    for (unsigned i = 0; i < places; i++) {
        out[length++] = i % 7 == 6 ? '\n' : ' ';
        line += i % 7 == 6;
    }
    snprintf(out + length, TEXT_B - length, "%s%s", passage, after);
    return line;
}

static int load(const char *text, struct px_module **out, struct px_report *report)
{
    *out = NULL;
    return px_module_load(text, strlen(text), out, report);
}

// The text is refused in the line of the passage.
static void expect_refused(const char *passage, const char *after, const char *part)
{
    for (unsigned i = 0; i < PLACES; i++) {
        char text[TEXT_B], expected[64];
        const unsigned line = text_make(text, i, passage, after);
        struct px_module *m;
        struct px_report report;
        snprintf(expected, sizeof expected, "line %u: ", line);
        EXPECT_EQ(load(text, &m, &report), -EINVAL);
        EXPECT(!strncmp(report.text, expected, strlen(expected)));
        EXPECT(strstr(report.text, part));
    }
}

// The body ends at the end of the passage, and another function follows.
static void expect_end(const char *passage, unsigned variables)
{
    static const char filler[] = "\n// 34567890123456789012345678901234567890123456789012345678\n";
    for (unsigned i = 0; i < PLACES; i++) {
        char text[TEXT_B], after[256];
        struct px_module *m;
        struct px_report report;
        snprintf(after, sizeof after, "%s%s.func f() { ret; }\n", filler, filler);
        const unsigned line = text_make(text, i, passage, after);
        EXPECT_EQ(load(text, &m, &report), 0);
        EXPECT_EQ(m->function_count, 2);
        EXPECT_EQ(m->variable_count, variables);
        EXPECT_EQ(m->functions[0].body_line, 5);
        unsigned lines = 0;
        for (const char *p = passage; *p; p++)
            lines += *p == '\n';
        EXPECT_EQ(m->functions[1].line, line + lines + 4);
        px_module_free(m);
    }
}

static void places(void)
{
    expect_refused("\x80", "\n}", "the byte 0x80 is not ASCII");
    expect_refused("\xff\x80", "}", "the byte 0xff is not ASCII");
    expect_refused("} garbage", "", "\"garbage\" does not begin a declaration");
    expect_end("}", 0);
    expect_end("{}}", 0);
    expect_end("/* } */\n}", 0);
    expect_end("// }\n}", 0);
    expect_end(".pragma \"}\";\n}", 0);
    expect_end("{\n{\n}\n}\n}", 0);
    expect_end("{.global .u32 g; .const .u32 c;\n}}", 2);
    expect_end(";.global .u32 g;}", 1);
    expect_end("ld.global.u32 %r, [g]; .reg .u32 %r; }", 0);
}

// ---- texts that are taken over ----

// Loads a text that the module may take, and does so `surely`. Returns the code of the load.
static int take(const char *text, size_t size_B, bool surely)
{
    char *bytes = dm_alloc(strlen(text) + 1);
    if (!bytes)
        return -ENOMEM;
    strcpy(bytes, text);
    char *own = bytes;
    struct px_module *m = NULL;
    struct px_report report;
    const struct px_source source = {.text = bytes, .size_B = size_B, .taken = &own};
    const int rc = px_module_link(&source, 1, PX_LINK_USED, &m, &report);
    EXPECT(!own || own == bytes);
    EXPECT(!surely || !own);
    EXPECT(rc || (m->function_count == 1 && !strcmp(m->functions[0].name, "k")));
    px_module_free(m);
    dm_free(own);
    return rc;
}

static void taken(void)
{
    static const char good[] = HEAD ".entry k() { ret; }", wrong[] = HEAD ".entry k() {";
    EXPECT_EQ(take(good, strlen(good), true), 0);
    EXPECT_EQ(take(wrong, strlen(wrong), true), -EINVAL);
    EXPECT_EQ(take(good, SIZE_MAX, false), -ENOMEM); // more than a module can have
    for (uint64_t n = 1; n < 100; n++) {
        dm_alloc_fail_after(n);
        const int rc = take(good, strlen(good), false);
        if (!dm_alloc_failed()) {
            EXPECT_EQ(rc, 0);
            return;
        }
        EXPECT_EQ(rc, -ENOMEM);
    }
    EXPECT(!"it never succeeds");
}

int main(void)
{
    places();
    taken();
    return 0;
}
