/* SPDX-License-Identifier: MIT */
/* The types of the made-up API. */
#ifndef TOY_TYPES_H
#define TOY_TYPES_H

typedef enum toyError_enum {
    toySuccess = 0,
    toyErrorNull = 1,
    toyErrorAsleep = 2,
    toyErrorQueue = 3,
    toyErrorMissing = 4,
    toyErrorUnreadable = 5
} toyError;

typedef struct toyQueue_st *toyQueue;
#define toyQueueDefault ((toyQueue)0x1)
#define toyQueueOfThread ((toyQueue)0x2)

#define TOY_OPEN_FRAGILE 0x1
#define TOY_OPEN_HEAVY 0x2

typedef enum toyShape_enum { TOY_ROUND = 1, TOY_SQUARE = 2 } toyShape;

typedef struct toyBox_st {
    toyShape shape;
    union {
        int radius;
        struct {
            int width, height;
        } sides;
    } size;
} toyBox;

#endif
