// SPDX-License-Identifier: MIT
// The ordering checker: the texts and the number of its reports.
#include "../order.h"

// The command that was submitted first runs last. The advice is an order that the program can add.
TEST(later_call_runs_first)
{
    order_begin();
    EXPECT_OK(cuMemsetD8(order_q, 0, 4));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_OK(cuStreamWaitValue32(order_a, order_q, 1, CU_STREAM_WAIT_VALUE_EQ));
    unsigned first = order_write(order_a), second = order_write(order_b);
    EXPECT_OK(cuStreamWriteValue32(order_stream(CU_STREAM_NON_BLOCKING), order_q, 1, 0));
    EXPECT_OK(cuCtxSynchronize());
    EXPECT_UNORDERED(O01, second, first);
    char text[256];
    snprintf(text, sizeof text,
             "record an event in CUstream #1 after cuMemsetD8Async (call %u), and let CUstream #2 "
             "wait for it before cuMemsetD8Async (call %u)",
             first, second);
    EXPECT(strstr(order_line("O01"), text));
}

static unsigned count_reports(unsigned older)
{
    char line[8192], text[64];
    unsigned count = 0;
    snprintf(text, sizeof text, "(call %u)", older);
    FILE *f = fopen(test_diagnostics, "r");
    while (f && fgets(line, sizeof line, f))
        count += strstr(line, "\"id\":\"O01\"") && strstr(line, text);
    if (f)
        fclose(f);
    return count;
}

// Two accesses are one mistake, even if a third one has replaced the middle of the older one.
TEST(split_record)
{
    order_begin();
    unsigned older = order_write(order_a), third = order_next();
    EXPECT_OK(cuMemsetD8Async(order_p + 16, 1, 16, order_a));
    order_write(order_b);
    EXPECT_EQ(count_reports(older), 1);
    EXPECT_EQ(count_reports(third), 1);
}

TESTS(CASE(later_call_runs_first), CASE(split_record))
