// SPDX-License-Identifier: MIT
// The model of the fuzz target `egl`, for its files.
#pragma once
#include <cardless.h>

#include "../egl_functions.h"
#include "fuzz.h"

enum {
    STREAMS = 2,
    LINKS = 10,
    BUFFERS = 4,
    PLANES = 3,
    WIDTH = 32,
    HEIGHT = 16,
    PLANE_B = WIDTH * HEIGHT * 4,
    KEPT = 64, // frames that are presented in an input
    STEPS = 48,
};
enum role { CONSUMER, PRODUCER };
enum type { TYPE_ARRAY, TYPE_PITCH };
enum refusal { CONNECTED, TOO_EARLY, REFUSED };

struct buffer {
    enum type type;
    CUdeviceptr memory[PLANES];
    CUarray array[PLANES];
    uint8_t value; // of all bytes of the first plane
};

// A frame from its presentation to its return.
struct frame {
    CUeglFrame data;
    unsigned buffer;
    bool listed; // it has not come back
    bool held;
    CUgraphicsResource view;
    unsigned owner; // the link of the consumer that has held it last
};

struct queue {
    unsigned frames[KEPT], length;
};

struct stream {
    void *handle; // or NULL
    unsigned fifo;
    bool ended;          // one side has disconnected, or the program has destroyed it
    bool handle_is_dead; // destroyed
    bool refuses_producers;
    unsigned end[2]; // numbers of links, or 0
    struct queue forth, back;
    unsigned current; // or 0
};

struct link {
    CUeglStreamConnection handle;
    bool alive;
    enum role role;
    enum refusal refusal;
    unsigned stream;
};

struct model {
    struct stream streams[STREAMS];
    struct link links[LINKS];  // from 1 on
    struct frame frames[KEPT]; // from 1 on
    struct buffer buffers[BUFFERS];
    unsigned link_count, frame_count;
    CUstream in, out;
};

// Colour formats by their number in cudaEGL.h: planes, channels (0: any, up to 4), and the formats
// of the samples (recorded: colors).
struct color {
    unsigned color, planes, channels, formats[4];
};
enum { EGL_COLORS = 7 };
extern const struct color eg_colors[EGL_COLORS];

// ---- rules (egl_rules.c)

bool eg_as_driver(void);
void eg_push(struct queue *q, unsigned frame);
unsigned eg_pop(struct queue *q);
CUresult eg_judge_frame(const struct model *m, const CUeglFrame *f);
bool eg_can_be_acquired(const CUeglFrame *f);
bool eg_same(const CUeglFrame *a, const CUeglFrame *b);
bool eg_is_in_stream(const struct model *m, unsigned stream, const CUeglFrame *f);
bool eg_is_busy(const struct model *m, unsigned buffer);
CUresult eg_judge_link(const struct model *m, unsigned number, enum role role);
void eg_cut(struct model *m, unsigned number);
