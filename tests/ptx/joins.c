// SPDX-License-Identifier: MIT
// Products and sums that become one operation, where operations are put between others: branches
// must go on to the right places, and the results are those of fma, which do not round the product.
#include <math.h>
#include <string.h>

#include "expect.h"
#include "guard.h"
#include "run_text.h"

enum { THREADS = 32 };

static float words[THREADS * 4]; // by thread: a, b, c and the result

// Runs statements in 32 threads: %a, %b and %c are numbers, and %d is the result; %t is the thread.
static void run(const char *body)
{
    char text[2048];
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p)\n{\n"
             ".reg .f32 %%a, %%b, %%c, %%d, %%e, %%p, %%q;\n.reg .b32 %%t, %%n;\n"
             ".reg .pred %%half, %%more;\n.reg .b64 %%m, %%x;\n"
             "ld.param.u64 %%m, [p];\nmov.u32 %%t, %%tid.x;\nmad.wide.u32 %%x, %%t, 16, %%m;\n"
             "ld.global.f32 %%a, [%%x];\nld.global.f32 %%b, [%%x+4];\n"
             "ld.global.f32 %%c, [%%x+8];\nmov.f32 %%d, 0f00000000;\nmov.f32 %%e, %%d;\n"
             "setp.lt.u32 %%half, %%t, 16;\n%s\nst.global.f32 [%%x+12], %%d;\nret;\n}\n",
             body);
    for (unsigned i = 0; i < THREADS; i++) {
        words[4 * i] = 1.0f + (float)(i + 1) / 8191.0f;
        words[4 * i + 1] = 1.0f + (float)(3 * i + 1) / 65521.0f;
        words[4 * i + 2] = -1.0f - (float)i / 4093.0f;
        words[4 * i + 3] = -77.0f;
    }
    EXPECT_EQ(run_text(text, THREADS, words, sizeof words), 0);
}

static uint32_t bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

#define EXPECT_SAME(x, y) EXPECT_EQ(bits(x), bits(y))
#define A(i) words[4 * (i)]
#define B(i) words[4 * (i) + 1]
#define C(i) words[4 * (i) + 2]
#define D(i) words[4 * (i) + 3]

// Both factors change between the product and the difference.
static void factors_that_change(void)
{
    run("mul.f32 %p, %a, %b; mov.f32 %a, %c; mov.f32 %b, %c; sub.f32 %d, %p, %c;");
    for (unsigned i = 0; i < THREADS; i++)
        EXPECT_SAME(D(i), fmaf(A(i), B(i), -C(i)));
}

static void negative(void)
{
    run("mul.f32 %p, %a, %b; neg.f32 %p, %p; add.f32 %d, %p, %c;");
    for (unsigned i = 0; i < THREADS; i++)
        EXPECT_SAME(D(i), fmaf(-A(i), B(i), C(i)));
    run("mul.f32 %p, %a, %b; neg.f32 %q, %p; sub.f32 %d, %q, %c;");
    for (unsigned i = 0; i < THREADS; i++)
        EXPECT_SAME(D(i), fmaf(-A(i), B(i), -C(i)));
    // Something else reads the negative, so it is rounded.
    run("mul.f32 %p, %a, %b; neg.f32 %q, %p; add.f32 %d, %q, %c; max.f32 %d, %d, %q;");
    for (unsigned i = 0; i < THREADS; i++) {
        const volatile float product = A(i) * B(i);
        EXPECT_SAME(D(i), fmaxf(C(i) - product, -product));
    }
}

static void copy(void)
{
    run("mul.f32 %p, %a, %b; mov.f32 %q, %p; add.f32 %d, %q, %c; sub.f32 %e, %p, %c;\n"
        "mul.rn.f32 %d, %d, %e;");
    for (unsigned i = 0; i < THREADS; i++) {
        const volatile float d = fmaf(A(i), B(i), C(i)), e = fmaf(A(i), B(i), -C(i));
        EXPECT_SAME(D(i), d * e);
    }
    // The copy is read after a label too, where it should be the product.
    run("mul.f32 %p, %a, %b; mov.f32 %q, %p; add.f32 %d, %p, %c;\n"
        "@%half bra L; neg.f32 %d, %d;\nL: max.f32 %d, %d, %q;");
    for (unsigned i = 0; i < THREADS; i++) {
        const volatile float product = A(i) * B(i), sum = product + C(i);
        EXPECT_SAME(D(i), fmaxf(i < 16 ? sum : -sum, product));
    }
}

// The product is the first operation after a label, and operations are put before it.
static void after_labels(void)
{
    run("mov.u32 %n, 0;\n"
        "L: mul.f32 %p, %a, %b; mov.f32 %a, %p; mul.f32 %q, %a, %b; mov.f32 %a, %b;\n"
        "mov.f32 %b, %c; sub.f32 %e, %q, %c; add.rn.f32 %d, %d, %e;\n"
        "add.u32 %n, %n, 1; setp.lt.u32 %more, %n, 3; @%more bra L;");
    for (unsigned i = 0; i < THREADS; i++) {
        volatile float a = A(i), b = B(i), sum = 0;
        for (int n = 0; n < 3; n++) {
            const volatile float p = a * b, e = fmaf(p, b, -C(i));
            a = b;
            b = C(i);
            sum = sum + e;
        }
        EXPECT_SAME(D(i), sum);
    }
    run("@%half bra L; mov.f32 %c, %a;\n"
        "L: mul.f32 %p, %a, %b; sub.f32 %d, %p, %c; sub.f32 %e, %b, %p; @!%half bra M;\n"
        "mul.rn.f32 %d, %d, %e;\nM: add.rn.f32 %d, %d, %e;");
    for (unsigned i = 0; i < THREADS; i++) {
        const float c = i < 16 ? C(i) : A(i);
        volatile float d = fmaf(A(i), B(i), -c);
        const volatile float e = fmaf(-A(i), B(i), B(i));
        if (i < 16)
            d = d * e;
        EXPECT_SAME(D(i), d + e);
    }
}

int main(void)
{
    dm_guard_init();
    factors_that_change();
    negative();
    copy();
    after_labels();
    return 0;
}
