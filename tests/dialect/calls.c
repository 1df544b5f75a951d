// SPDX-License-Identifier: MIT
// Calls the made-up API through its exported, versioned symbols.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "toy_types.h"

static int failures;
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("line %d: %s does not hold\n", __LINE__, #condition);                           \
        }                                                                                          \
    } while (0)

typedef toyError pack(toyQueue, const toyBox *, int, double *);

int main(int argc, char **argv)
{
    toyBox boxes[2] = {{TOY_ROUND, {.radius = 7}}, {TOY_SQUARE, {.sides = {20, 3}}}};
    toyQueue queue = NULL;
    double weight = 0;
    void *toy = dlopen(argv[1], RTLD_NOW);
    if (!toy) {
        printf("%s\n", dlerror());
        return 1;
    }
    toyError (*open)(toyQueue *, unsigned) =
        (toyError(*)(toyQueue *, unsigned))dlvsym(toy, "toyOpen", "TOY_1.0");
    pack *plain = (pack *)dlvsym(toy, "toyPack", "TOY_1.0");
    pack *twin = (pack *)dlvsym(toy, "toyPack_ptsz", "TOY_1.0");
    pack *old = (pack *)dlvsym(toy, "toyPackOld", "TOY_1.0");
    toyError (*fly)(int) = (toyError(*)(int))dlvsym(toy, "toyFly", "TOY_1.0");
    EXPECT(open && plain && twin && old && fly);
    EXPECT(!dlsym(toy, "toy_need_awake")); // helpers are not exported
    if (failures)
        return 1;
    EXPECT(plain(NULL, boxes, 2, &weight) == toyErrorAsleep); // checks in the row's order
    EXPECT(open(NULL, 0) == toyErrorNull);
    setenv("TOY_TRACE", "1", 1);
    EXPECT(open(&queue, TOY_OPEN_FRAGILE | TOY_OPEN_HEAVY) == toySuccess);
    EXPECT(plain(queue, NULL, 2, &weight) == toyErrorNull);
    EXPECT(plain((toyQueue)9, boxes, 2, &weight) == toyErrorQueue);
    EXPECT(plain(queue, boxes, -1, &weight) == toyErrorUnreadable);
    EXPECT(plain(queue, boxes, 2, &weight) == toySuccess && (int)weight == 27);
    EXPECT(twin(NULL, boxes, 1, &weight) == toySuccess && (int)weight == 1007);
    EXPECT(old(queue, boxes, 1, &weight) == toySuccess && (int)weight == 7);
    EXPECT(fly(3) == toyErrorMissing);
    return failures;
}
