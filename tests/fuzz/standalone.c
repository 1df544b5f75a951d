// SPDX-License-Identifier: MIT
// Runs a fuzz target without libFuzzer: the files that are named, or random inputs, which are made
// by the target's mutator if it has one.
//
//     fuzz_copy FILE…                    repeats these inputs
//     fuzz_copy --runs N [--seed S]      N random inputs
#include "fuzz.h"

enum {
    MOST_B = 1024,
    CHANGED_MOST_B = 1 << 14,
    CHANGES_MOST = 3, // of one input, one on top of the other
};

// Of targets that have one.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
    __attribute__((weak));

static uint64_t draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void run_random(unsigned long runs, uint64_t state)
{
    static uint8_t input[MOST_B];
    for (unsigned long n = 0; n < runs; n++) {
        size_t size = draw(&state) % MOST_B;
        for (size_t i = 0; i < size; i++)
            input[i] = (uint8_t)draw(&state);
        LLVMFuzzerTestOneInput(input, size);
    }
}

static void run_changed(unsigned long runs, uint64_t state)
{
    static uint8_t input[CHANGED_MOST_B];
    size_t size = 0;
    for (unsigned long n = 0; n < runs; n++) {
        if (n % CHANGES_MOST == 0)
            size = 0;
        size = LLVMFuzzerCustomMutator(input, size, sizeof input, (unsigned)draw(&state));
        LLVMFuzzerTestOneInput(input, size);
    }
}

static bool run_file(const char *path)
{
    static uint8_t input[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return false;
    }
    size_t size = fread(input, 1, sizeof input, file);
    fclose(file);
    LLVMFuzzerTestOneInput(input, size);
    return true;
}

int main(int argc, char **argv)
{
    unsigned long runs = 0;
    uint64_t seed = 1;
    bool good = true;
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && !strcmp(argv[i], "--runs"))
            runs = strtoul(argv[++i], NULL, 0);
        else if (i + 1 < argc && !strcmp(argv[i], "--seed"))
            seed = strtoull(argv[++i], NULL, 0);
        else
            good &= run_file(argv[i]);
    }
    if (LLVMFuzzerCustomMutator)
        run_changed(runs, seed);
    else
        run_random(runs, seed);
    return good ? 0 : 1;
}
