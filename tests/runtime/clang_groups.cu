// SPDX-License-Identifier: MIT
// cooperative_groups.h, reduce.h and scan.h: groups of all kinds, with the sizes, ranks and results
// that the host computes. Prints the first values that differ.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

enum { THREADS = 96, VALUES = 16, BLOCKS = 5, ROUNDS = 8 };

static int failures;

static void expect(const char *what, int number, long long value, long long wanted)
{
    if (value != wanted && failures++ < 5)
        std::printf("%s %d is %lld, not %lld\n", what, number, value, wanted);
}

struct large {
    double number;
    short more[3];
};

// ---- blocks and tiles

__device__ int any_group(const cg::thread_group &g)
{
    g.sync();
    return (int)(g.size() * 100 + g.thread_rank());
}

__device__ int any_tile(const cg::thread_block_tile<8> &t)
{
    return (int)(t.meta_group_rank() * 100 + t.thread_rank());
}

__global__ void tiles(long long *all)
{
    const cg::thread_block block = cg::this_thread_block();
    const cg::thread_block_tile<16, cg::thread_block> sixteen = cg::tiled_partition<16>(block);
    const auto eight = cg::tiled_partition<8>(sixteen);
    const auto warp = cg::tiled_partition<32>(block);
    const cg::thread_group four = cg::tiled_partition(block, 4);
    const int rank = (int)block.thread_rank();
    long long *o = all + rank * VALUES;
    const large value = {rank + 0.5, {1, 2, (short)rank}};
    const large other = sixteen.shfl(value, 5);
    *o++ = any_group(block);
    *o++ = any_group(sixteen);
    *o++ = any_group(four);
    *o++ = any_tile(eight);
    *o++ = sixteen.meta_group_rank() * 100 + sixteen.meta_group_size();
    *o++ = eight.meta_group_size();
    *o++ = (long long)(other.number * 2) * 1000 + other.more[2];
    *o++ = sixteen.shfl_up(rank, 3) * 1000 + sixteen.shfl_down(rank, 14);
    *o++ = eight.shfl_xor((long long)rank << 40, 5) >> 40;
    *o++ = warp.ballot(rank % 3 == 0);
    *o++ = eight.ballot(rank & 1) << 8 | (unsigned)eight.any(rank == 17) << 1 |
           (unsigned)eight.all(rank < 90);
    *o++ = sixteen.match_any((long long)(rank % 5) << 33);
    int same, others;
    const unsigned equal = eight.match_all(rank / 8, same);
    eight.match_all(rank, others);
    *o++ = equal << 2 | (unsigned)(same != 0) << 1 | (unsigned)(others != 0);
    *o++ = cg::reduce(sixteen, rank, cg::plus<int>()) * 1000 +
           cg::reduce(warp, (rank * 37) % 64, cg::greater<int>());
    *o++ = cg::inclusive_scan(warp, rank) * 10000LL + cg::exclusive_scan(warp, rank);
    *o++ = block.group_index().x * 100 + block.thread_index().y * 10 + block.dim_threads().z;
}

static void check_tiles(const long long *all)
{
    for (int i = 0; i < THREADS; i++) {
        const long long *o = all + i * VALUES;
        const int in16 = i % 16, first = i - in16, lane = i % 32, warp = i - lane;
        int n = 0, fifths = 0, most = 0, sum = 0, before = 0, thirds = 0;
        for (int k = 0; k < 16; k++) {
            fifths |= ((first + k) % 5 == i % 5) << k;
            sum += first + k;
        }
        for (int k = 0; k < 32; k++) {
            most = (warp + k) * 37 % 64 > most ? (warp + k) * 37 % 64 : most;
            before += k < lane ? warp + k : 0;
            thirds = (int)((unsigned)thirds | (unsigned)((warp + k) % 3 == 0) << k);
        }
        expect("block", i, o[n++], 9600 + i);
        expect("tile", i, o[n++], 1600 + in16);
        expect("tile of a size", i, o[n++], 400 + i % 4);
        expect("tile of a tile", i, o[n++], i / 8 % 2 * 100 + i % 8);
        expect("tiles", i, o[n++], i / 16 * 100 + 6);
        expect("tiles of a tile", i, o[n++], 2);
        expect("shfl", i, o[n++], ((first + 5) * 2 + 1) * 1000 + first + 5);
        expect("shfl_up, shfl_down", i, o[n++],
               (in16 < 3 ? i : i - 3) * 1000 + (in16 < 2 ? i + 14 : i));
        expect("shfl_xor", i, o[n++], i ^ 5);
        expect("ballot", i, o[n++], (unsigned)thirds);
        expect("votes", i, o[n++], 0xaa00 | (i / 8 == 2) << 1 | (i < 88));
        expect("match_any", i, o[n++], fifths);
        expect("match_all", i, o[n++], 0xff << 2 | 2);
        expect("reduce", i, o[n++], sum * 1000 + most);
        expect("scan", i, o[n++], (before + i) * 10000LL + before);
        expect("block's place", i, o[n++], 0 * 100 + i / 8 % 4 * 10 + 3);
    }
}

// ---- threads that run together, and parts of groups

__global__ void parts(long long *all)
{
    const int rank = (int)cg::this_thread_block().thread_rank();
    long long *o = all + rank * VALUES;
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const cg::coalesced_group labels = cg::labeled_partition(warp, rank % 5);
    const cg::coalesced_group odd = cg::binary_partition(warp, rank & 1);
    *o++ = labels.size() * 10000 + labels.thread_rank() * 100 + labels.meta_group_rank() * 10 +
           labels.meta_group_size();
    *o++ = cg::reduce(labels, rank, cg::plus<int>());
    *o++ = odd.meta_group_rank() * 1000 + odd.shfl(rank, 3);
    *o++ = cg::exclusive_scan(odd, rank, cg::less<int>());
    *o++ = cg::inclusive_scan(labels, 1u << rank % 32, cg::bit_xor<unsigned>());
    *o++ = (long long)cg::reduce(labels, (rank * 29) % 31 - 0.5, cg::less<double>());
    const cg::coalesced_group whole = cg::tiled_partition(labels, 8); // they have 7 lanes at most
    *o++ = whole.meta_group_rank() * 10 + whole.meta_group_size();
    if (rank % 3 == 1) {
        const cg::coalesced_group third = cg::coalesced_threads();
        const cg::coalesced_group pairs = cg::tiled_partition(third, 4);
        third.sync();
        *o++ = third.size() * 1000 + third.thread_rank();
        *o++ = third.shfl_up(rank, 1) * 1000 + third.shfl_down(rank, 2);
        *o++ = third.ballot(rank % 2);
        *o++ = pairs.size() * 1000 + pairs.thread_rank() * 100 + pairs.meta_group_rank() * 10 +
               pairs.meta_group_size();
        *o++ = cg::reduce(pairs, (long long)rank << 32, cg::greater<long long>()) >> 32;
    }
}

static void check_parts(const long long *all)
{
    for (int i = 0; i < THREADS; i++) {
        const long long *o = all + i * VALUES;
        const int lane = i % 32, warp = i - lane;
        int size = 0, at = 0, number = 0, sum = 0, smallest = 1000, n = 0;
        unsigned ranks = 0;
        for (int k = 0; k < 32; k++)
            if ((warp + k) % 5 == i % 5) {
                number = size ? number : k;
                size++;
                at += k < lane;
                sum += warp + k;
                ranks |= k <= lane ? 1u << k : 0;
                smallest = (warp + k) * 29 % 31 < smallest ? (warp + k) * 29 % 31 : smallest;
            }
        expect("labeled_partition", i, o[n++], size * 10000 + at * 100 + number * 10 + 5);
        expect("its reduce", i, o[n++], sum);
        expect("binary_partition", i, o[n++], (i & 1) * 1000 + warp + 6 + (i & 1));
        expect("its scan", i, o[n++], lane < 2 ? 0 : warp + (i & 1));
        expect("scan of bits", i, o[n++], ranks);
        expect("least", i, o[n++], (long long)(smallest - 0.5));
        expect("a tile that is its parent", i, o[n++], number * 10 + 5);
        if (i % 3 != 1)
            continue;
        int together[32], count = 0, mine = 0;
        unsigned odd = 0;
        for (int k = 0; k < 32; k++)
            if ((warp + k) % 3 == 1) {
                odd |= (unsigned)((warp + k) % 2) << count;
                mine = k == lane ? count : mine;
                together[count++] = warp + k;
            }
        const int part = mine / 4, last = part * 4 + 4 < count ? part * 4 + 4 : count;
        expect("coalesced_threads", i, o[n++], count * 1000 + mine);
        expect("its shfl", i, o[n++],
               together[mine ? mine - 1 : 0] * 1000 + together[mine + 2 < count ? mine + 2 : mine]);
        expect("its ballot", i, o[n++], odd);
        expect("its parts", i, o[n++],
               (last - part * 4) * 1000 + (mine - part * 4) * 100 + part * 10 + (count + 3) / 4);
        expect("a part's reduce", i, o[n++], together[last - 1]);
    }
}

// ---- the grid: in each round a block adds the number that its neighbour wrote in the round before

__global__ void rounds(long long *numbers, long long *facts)
{
    const cg::grid_group grid = cg::this_grid();
    const int me = (int)grid.block_rank();
    for (int round = 0; round < ROUNDS; round++) {
        const long long neighbour = numbers[round % 2 * BLOCKS + (me + 1) % BLOCKS];
        if (threadIdx.x == 0)
            numbers[(round + 1) % 2 * BLOCKS + me] = numbers[round % 2 * BLOCKS + me] + neighbour;
        cg::sync(grid);
    }
    if (grid.thread_rank() == grid.size() - 1) {
        facts[0] = (long long)grid.size();
        facts[1] = grid.is_valid();
        facts[2] = (long long)grid.num_blocks() * 100 + grid.block_index().x;
    }
}

__global__ void not_cooperative(long long *valid)
{
    *valid = cg::this_grid().is_valid();
    cg::this_grid().sync();
}

static void check_rounds(const long long *numbers, const long long *facts)
{
    long long now[BLOCKS], next[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        now[i] = i + 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BLOCKS; i++)
            next[i] = now[i] + now[(i + 1) % BLOCKS];
        std::memcpy(now, next, sizeof now);
    }
    for (int i = 0; i < BLOCKS; i++)
        expect("round", i, numbers[i], now[i]);
    expect("grid", 0, facts[0], BLOCKS * 64);
    expect("grid", 1, facts[1], 1);
    expect("grid", 2, facts[2], BLOCKS * 100 + BLOCKS - 1);
}

int main()
{
    void *memory;
    if (cudaMallocManaged(&memory, THREADS * VALUES * sizeof(long long)) != cudaSuccess)
        return 1;
    long long *const all = (long long *)memory;
    tiles<<<1, dim3(8, 4, 3)>>>(all);
    expect("tiles", -1, (int)cudaDeviceSynchronize(), 0);
    check_tiles(all);
    parts<<<1, THREADS>>>(all);
    expect("parts", -1, (int)cudaDeviceSynchronize(), 0);
    check_parts(all);

    long long *facts = all + 2 * BLOCKS, *numbers = all;
    void *arguments[] = {&numbers, &facts};
    for (int i = 0; i < BLOCKS; i++)
        numbers[i] = i + 1;
    expect("launch", 0,
           (int)cudaLaunchCooperativeKernel((const void *)rounds, dim3(BLOCKS), dim3(64), arguments,
                                            0, 0),
           0);
    expect("rounds", -1, (int)cudaDeviceSynchronize(), 0);
    check_rounds(numbers, facts);
    not_cooperative<<<1, 1>>>(all);
    expect("a grid that cannot wait", 0, (int)cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    if (!failures)
        std::puts("all groups agree");
    return failures != 0;
}
