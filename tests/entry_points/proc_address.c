// SPDX-License-Identifier: MIT
// Compares cuGetProcAddress with the recorded answers of the card: proc_address LIBRARY RECORDING.
// Asks for every name of the recording at every version that was asked on the card, in both forms
// of the function and for each kind of default stream, because the answer depends on all of these.
#include <cuda.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef cuGetProcAddress

static const int versions[] = {
    0,     1,     1000,  2000,  2010,  2020,  2030,  3000,  3010,  3020,  4000,  4010,
    4020,  5000,  5050,  6000,  6050,  7000,  7050,  8000,  9000,  9010,  9020,  10000,
    10010, 10020, 11000, 11010, 11020, 11030, 11040, 11050, 11060, 11070, 11080, 12000,
    12010, 12020, 12030, 12040, 12050, 12060, 12080, 12090, 13000, 13010, 14000, INT_MAX};

typedef CUresult (*proc_v2)(const char *, void **, int, cuuint64_t,
                            CUdriverProcAddressQueryResult *);
typedef CUresult (*proc_v1)(const char *, void **, int, cuuint64_t);

static void *library;
static proc_v2 ask_v2;
static proc_v1 ask_v1;
static unsigned checks, failures;
static char untouched;

// Returns the recorded answer for a version: a symbol, or NULL if the recording has no symbol.
// `forms` is for example "2000 3020_v2".
static void *expected(const char *name, const char *forms, int version)
{
    void *symbol = NULL;
    char buffer[200];
    for (const char *p = forms; *p;) {
        char *end;
        int since = (int)strtol(p, &end, 10);
        if (end == p)
            break;
        size_t suffix = strcspn(end, " \n");
        if (version >= since) {
            snprintf(buffer, sizeof buffer, "%s%.*s", name, (int)suffix, end);
            symbol = dlsym(library, buffer);
            if (!symbol) {
                printf("%s is not exported\n", buffer);
                failures++;
            }
        }
        p = end + suffix;
        p += strspn(p, " ");
    }
    return symbol;
}

static void check(const char *what, const char *name, int version, unsigned flags, long long got,
                  long long want)
{
    checks++;
    if (got != want && failures++ < 20)
        printf("%s at version %d, flags %u: %s is 0x%llx, not 0x%llx\n", name, version, flags, what,
               got, want);
}

static void check_name(const char *name, const char *forms, unsigned flags)
{
    bool known = forms[strspn(forms, " \n")];
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        int version = versions[i];
        bool too_new = version > 13000;
        void *want = too_new ? NULL : expected(name, forms, version), *got = &untouched;
        CUdriverProcAddressQueryResult status = 77, want_status = want ? 0 : known ? 2 : 1;
        CUresult r = ask_v2(name, &got, version, flags, &status);
        check("result", name, version, flags, r, too_new ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
        check("status", name, version, flags, status, too_new ? 77 : want_status);
        check("function", name, version, flags, (intptr_t)got,
              (intptr_t)(too_new ? &untouched : want));
        got = &untouched;
        r = ask_v1(name, &got, version, flags);
        check("v1 result", name, version, flags, r,
              too_new ? CUDA_ERROR_INVALID_VALUE
              : want  ? CUDA_SUCCESS
                      : CUDA_ERROR_NOT_FOUND);
        check("v1 function", name, version, flags, (intptr_t)got,
              (intptr_t)(want ? want : &untouched));
    }
}

// Flags that do not exist, missing pointers, odd versions.
static void check_arguments(void)
{
    void *got = &untouched;
    CUdriverProcAddressQueryResult status = 77;
    for (unsigned bit = 2; bit < 64; bit++)
        check("result", "cuInit", 13000, 1u << (bit & 31),
              ask_v2("cuInit", &got, 13000, 1ull << bit, &status), CUDA_ERROR_INVALID_VALUE);
    check("result", "no name, bad flags", 13000, 64, ask_v2(NULL, &got, 13000, 64, &status),
          CUDA_ERROR_INVALID_VALUE);
    check("result", "no name", 13000, 0, ask_v2(NULL, &got, 13000, 0, &status),
          CUDA_ERROR_INVALID_VALUE);
    check("result", "no result pointer", 13000, 0, ask_v2("cuInit", NULL, 13000, 0, &status),
          CUDA_ERROR_INVALID_VALUE);
    check("function", "refused calls", 13000, 0, (intptr_t)got, (intptr_t)&untouched);
    check("status", "refused calls", 13000, 0, status, 77);
    check("result", "no status pointer", 13000, 0, ask_v2("cuInit", &got, 13000, 0, NULL),
          CUDA_SUCCESS);
    check("result", "negative version", -1, 0, ask_v2("cuInit", &got, -1, 0, &status),
          CUDA_SUCCESS);
    check("status", "negative version", -1, 0, status, 0);
    static char name[5000];
    memset(name, 'a', sizeof name - 1);
    check("result", "long name", 13000, 0, ask_v2(name, &got, 13000, 0, &status), CUDA_SUCCESS);
    check("status", "long name", 13000, 0, status, 1);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    setenv("CARDLESS_DIAGNOSTICS", "off", 1);
    library = dlopen(argv[1], RTLD_NOW);
    if (!library) {
        printf("%s\n", dlerror());
        return 1;
    }
    ask_v1 = (proc_v1)dlsym(library, "cuGetProcAddress");
    ask_v2 = (proc_v2)dlsym(library, "cuGetProcAddress_v2");
    FILE *recording = fopen(argv[2], "r");
    if (!recording || !ask_v1 || !ask_v2)
        return 1;
    char line[400];
    while (fgets(line, sizeof line, recording)) {
        char *bar = strchr(line, '|'), *space = strchr(line, ' ');
        if (line[0] == '#' || !bar || !space)
            continue;
        *space = *bar = 0;
        check_name(line, space + 1, CU_GET_PROC_ADDRESS_DEFAULT);
        check_name(line, space + 1, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
        check_name(line, bar + 1 + strspn(bar + 1, " "),
                   CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    }
    fclose(recording);
    check_arguments();
    printf("%u checks, %u failures\n", checks, failures);
    return failures || checks < 10000;
}
