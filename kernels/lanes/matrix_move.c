// SPDX-License-Identifier: MIT
// Forms that move matrices: ldmatrix, stmatrix, movmatrix, wmma.load and wmma.store.
//
// A matrix of 8 x 8 elements of 16 bits: lane 4 g + u has the columns 2 u and 2 u + 1 of row g (of
// column g, with .trans). In memory each row is 16 bytes; lanes 8 n to 8 n + 7 have the addresses
// of the rows of matrix n.
#include <stddef.h>
#include <string.h>

#include "address.inc.h"
#include "families.h"
#include "matrix.inc.h"

enum { SIDE = 8, ROW_B = 16 };

// The rows' host addresses. Returns false after a fault.
static bool rows_of(const struct kn_op *op, struct kn_warp *w, unsigned matrices, bool write,
                    uint16_t **rows)
{
    const uint64_t *a = KN_REGISTER(uint64_t, op->a);
    for (unsigned i = 0; i < matrices * SIDE; i++) {
        rows[i] = kn_range(op, w, (int)i, a[i] + op->u, ROW_B, ROW_B, write);
        if (!rows[i])
            return false;
    }
    return true;
}

static inline const struct kn_op *load(const struct kn_op *op, struct kn_warp *w, bool transposed)
{
    const unsigned matrices = op->count;
    const uint32_t mask = kn_mask_of(op, w);
    uint16_t *rows[KN_LANES];
    if (matrices > KN_LANES / SIDE || !mask)
        KN_RETURN_NEXT;
    if (!rows_of(op, w, matrices, false, rows))
        return NULL;
    for (unsigned n = 0; n < matrices; n++) {
        uint32_t *d = KN_REGISTER(uint32_t, n ? op->more[n - 1] : op->d);
        KN_EACH_OF(mask, lane)
        {
            const int g = lane >> 2, u = 2 * (lane & 3);
            uint16_t *const *m = rows + n * SIDE;
            d[lane] = transposed ? m[u][g] | (uint32_t)m[u + 1][g] << 16
                                 : m[g][u] | (uint32_t)m[g][u + 1] << 16;
        }
    }
    KN_RETURN_NEXT;
}

static inline const struct kn_op *store(const struct kn_op *op, struct kn_warp *w, bool transposed)
{
    const unsigned matrices = op->count;
    const uint32_t mask = kn_mask_of(op, w);
    uint16_t *rows[KN_LANES];
    if (matrices > KN_LANES / SIDE || !mask)
        KN_RETURN_NEXT;
    if (!rows_of(op, w, matrices, true, rows))
        return NULL;
    for (unsigned n = 0; n < matrices; n++) {
        const uint32_t *from = KN_REGISTER(uint32_t, kn_matrix_register(op, 0, n + 1));
        KN_EACH_OF(mask, lane)
        {
            const int g = lane >> 2, u = 2 * (lane & 3);
            uint16_t *const *m = rows + n * SIDE;
            *(transposed ? &m[u][g] : &m[g][u]) = (uint16_t)from[lane];
            *(transposed ? &m[u + 1][g] : &m[g][u + 1]) = (uint16_t)(from[lane] >> 16);
        }
    }
    KN_RETURN_NEXT;
}

KN_OPERATION(ldmatrix)
{
    return load(op, w, false);
}

KN_OPERATION(ldmatrix_trans)
{
    return load(op, w, true);
}

KN_OPERATION(stmatrix)
{
    return store(op, w, false);
}

KN_OPERATION(stmatrix_trans)
{
    return store(op, w, true);
}

// Transposes a matrix in registers.
KN_OPERATION(movmatrix_trans)
{
    const uint32_t mask = kn_mask_of(op, w);
    const uint32_t *a = KN_REGISTER(uint32_t, op->a);
    uint32_t *d = KN_REGISTER(uint32_t, op->d);
    uint16_t m[SIDE][SIDE];
    for (int lane = 0; lane < KN_LANES; lane++) {
        m[lane >> 2][2 * (lane & 3)] = (uint16_t)a[lane];
        m[lane >> 2][2 * (lane & 3) + 1] = (uint16_t)(a[lane] >> 16);
    }
    KN_EACH_OF(mask, lane)
    d[lane] = m[2 * (lane & 3)][lane >> 2] | (uint32_t)m[2 * (lane & 3) + 1][lane >> 2] << 16;
    KN_RETURN_NEXT;
}

// ---- wmma: fragments that consist of those of mma, tile by tile ----

struct fragment {
    enum kn_matrix_fragment which;
    int bits; // of an element
    bool columns_first;
    bool tall;     // tiles of A and C have 16 rows
    int across;    // tiles of C beside each other
    int tiles;     // tile n has the registers from n * registers on; further registers repeat them
    int registers; // of a tile
};

static struct fragment fragment_of(int64_t i)
{
    const struct fragment f = {
        .which = (enum kn_matrix_fragment)(i >> KN_FRAGMENT_WHICH & 3),
        .bits = 1 << (i >> KN_FRAGMENT_WIDTH & 7),
        .columns_first = i >> KN_FRAGMENT_COLUMNS & 1,
        .tall = i >> KN_FRAGMENT_TALL & 1,
        .across = 1 + (int)(i >> KN_FRAGMENT_ACROSS & 7),
        .tiles = 1 + (int)(i >> KN_FRAGMENT_TILES & 7),
        .registers = 1 + (int)(i >> KN_FRAGMENT_REGISTERS & 7),
    };
    return f;
}

// The number of an element in memory, in which rows (or columns) are `stride` elements apart.
static uint64_t element_of(const struct fragment *f, int reg, int lane, int j, uint64_t stride)
{
    const int g = lane >> 2, u = lane & 3, n = f->bits < 32 ? 32 / f->bits : 1;
    const int tile = reg / f->registers % f->tiles, p = reg % f->registers;
    int row, column;
    switch (f->which) {
    case KN_FRAGMENT_A:
        row = g + (f->tall ? 8 * (p % 2) : 0) + 16 * tile;
        column = n * u + j + 4 * n * (f->tall ? p / 2 : p);
        break;
    case KN_FRAGMENT_B:
        row = n * u + j + 4 * n * p;
        column = g + 8 * tile;
        break;
    default:
        row = g + 8 * (f->bits == 16 ? p : p / 2) + 16 * (tile / f->across);
        column = 2 * u + (f->bits == 16 ? j : p % 2) + 8 * (tile % f->across);
        break;
    }
    return f->columns_first ? (uint64_t)column * stride + (uint64_t)row
                            : (uint64_t)row * stride + (uint64_t)column;
}

// Moves one register of a lane: as many elements as it has, or bytes of smaller ones.
static bool fragment_move(const struct kn_op *op, struct kn_warp *w, const struct fragment *f,
                          int reg, int lane, bool write, uint64_t *value)
{
    const int bits = f->bits < 8 ? 32 : f->bits; // smaller elements are neighbours in memory
    const uint64_t base = KN_REGISTER(uint64_t, op->a)[lane];
    const uint64_t stride = KN_REGISTER(uint32_t, op->b)[lane];
    const uint32_t size_B = (uint32_t)bits / 8;
    for (int j = 0; j < (bits < 32 ? 32 / bits : 1); j++) {
        const uint64_t element = element_of(f, reg, lane, j, stride);
        char *at =
            kn_range(op, w, lane, base + element * (unsigned)f->bits / 8, size_B, size_B, write);
        uint64_t part = *value >> bits * j % 64;
        if (!at)
            return false;
        if (write) {
            memcpy(at, &part, size_B);
        } else {
            part = 0;
            memcpy(&part, at, size_B);
            *value |= part << bits * j;
        }
    }
    return true;
}

#define WMMA(name, T)                                                                              \
    KN_OPERATION(wmma_load_##name)                                                                 \
    {                                                                                              \
        const struct fragment f = fragment_of(op->i);                                              \
        const uint32_t mask = kn_mask_of(op, w);                                                   \
        T values[KN_FRAGMENT_MOST][KN_LANES];                                                      \
        for (unsigned r = 0; r < op->count && r < KN_FRAGMENT_MOST; r++)                           \
            KN_EACH_OF(mask, lane)                                                                 \
            {                                                                                      \
                uint64_t value = 0;                                                                \
                if (!fragment_move(op, w, &f, (int)r, lane, false, &value))                        \
                    return NULL;                                                                   \
                values[r][lane] = (T)value;                                                        \
            }                                                                                      \
        for (unsigned r = 0; r < op->count && r < KN_FRAGMENT_MOST; r++)                           \
            KN_EACH_OF(mask, lane)                                                                 \
        KN_REGISTER(T, r ? op->more[r - 1] : op->d)[lane] = values[r][lane];                       \
        KN_RETURN_NEXT;                                                                            \
    }                                                                                              \
    KN_OPERATION(wmma_store_##name)                                                                \
    {                                                                                              \
        const struct fragment f = fragment_of(op->i);                                              \
        const uint32_t mask = kn_mask_of(op, w);                                                   \
        for (unsigned r = 0; r < op->count && r < KN_FRAGMENT_MOST; r++) {                         \
            const T *from = KN_REGISTER(T, kn_matrix_register(op, 0, r + 2));                      \
            KN_EACH_OF(mask, lane)                                                                 \
            {                                                                                      \
                uint64_t value = from[lane];                                                       \
                if (!fragment_move(op, w, &f, (int)r, lane, true, &value))                         \
                    return NULL;                                                                   \
            }                                                                                      \
        }                                                                                          \
        KN_RETURN_NEXT;                                                                            \
    }
WMMA(32, uint32_t)
WMMA(64, uint64_t)

const struct kn_form KN_FAMILY(matrix_move)[] = {
    KN_ROW_OF(ldmatrix, "ldmatrix", "w*=li"),
    KN_ROW_OF(ldmatrix_trans, "ldmatrix.trans", "w*=li"),
    KN_ROW_OF(stmatrix, "stmatrix", "=lw*i"),
    KN_ROW_OF(stmatrix_trans, "stmatrix.trans", "=lw*i"),
    KN_ROW_OF(wmma_load_32, "wmma.load.32", "w*=lwi"),
    KN_ROW_OF(wmma_load_64, "wmma.load.64", "l*=lwi"),
    KN_ROW_OF(wmma_store_32, "wmma.store.32", "=lww*i"),
    KN_ROW_OF(wmma_store_64, "wmma.store.64", "=lwl*i"),
    KN_ROW_OF(movmatrix_trans, "movmatrix.trans", "w=w"),
    {0},
};
