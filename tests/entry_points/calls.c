// SPDX-License-Identifier: MIT
// Calls before cuInit through the generated entry points: the checks come in the table's order,
// errors have names, the trace has a line for each call. calls LIBRARY
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned checks, failures;

static void check(const char *what, long long got, long long want)
{
    checks++;
    if (got != want) {
        failures++;
        printf("%s: %lld, not %lld\n", what, got, want);
    }
}

#define CALL(library, name, type, ...) ((CUresult(*) type)dlsym(library, name))(__VA_ARGS__)

static void errors(void *library)
{
    static const struct {
        int code;
        const char *name, *text;
    } known[] = {{0, "CUDA_SUCCESS", "no error"},
                 {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
                 {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
                 {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};
    unsigned found = 0;
    for (int code = -2; code < 1002; code++) {
        const char *name = "", *text = "";
        CUresult a =
            CALL(library, "cuGetErrorName", (CUresult, const char **), (CUresult)code, &name);
        CUresult b =
            CALL(library, "cuGetErrorString", (CUresult, const char **), (CUresult)code, &text);
        check("name and text agree", a, b);
        check("NULL exactly for an unknown code", !name, a != CUDA_SUCCESS);
        check("NULL exactly for an unknown code", !text, b != CUDA_SUCCESS);
        found += a == CUDA_SUCCESS;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            if (known[i].code == code) {
                check(known[i].name, strcmp(name, known[i].name), 0);
                check(known[i].text, strcmp(text, known[i].text), 0);
            }
    }
    check("result codes", found, 101);
    check("cuGetErrorName(0, NULL)",
          CALL(library, "cuGetErrorName", (CUresult, const char **), CUDA_SUCCESS, NULL),
          CUDA_ERROR_INVALID_VALUE);
}

static void order_of_checks(void *library)
{
    int value = 7;
    check("version", CALL(library, "cuDriverGetVersion", (int *), &value), CUDA_SUCCESS);
    check("version", value, 13000);
    check("version of NULL", CALL(library, "cuDriverGetVersion", (int *), NULL),
          CUDA_ERROR_INVALID_VALUE);
    check("init before NULL", CALL(library, "cuDeviceGet", (int *, int), NULL, 0),
          CUDA_ERROR_NOT_INITIALIZED);
    check("NULL before init", CALL(library, "cuDeviceGetAttribute", (int *, int, int), NULL, 0, 99),
          CUDA_ERROR_INVALID_VALUE);
    check("init", CALL(library, "cuDeviceGetAttribute", (int *, int, int), &value, 1, 0),
          CUDA_ERROR_NOT_INITIALIZED);
    check("NULL handle before init", CALL(library, "cuEventQuery", (void *), NULL),
          CUDA_ERROR_INVALID_HANDLE);
    check("init before NULL handle", CALL(library, "cuArrayDestroy", (void *), NULL),
          CUDA_ERROR_NOT_INITIALIZED);
    check("twin", CALL(library, "cuMemcpy_ptds", (CUdeviceptr, CUdeviceptr, size_t), 0, 0, 0),
          CUDA_ERROR_NOT_INITIALIZED);
    check("old name", CALL(library, "cuMemAlloc", (unsigned *, unsigned), NULL, 0),
          CUDA_ERROR_NOT_INITIALIZED);
}

static void export_table(void *library)
{
    const void *table = &table;
    CUuuid id = {{1, 2, 3}};
    check("private table",
          CALL(library, "cuGetExportTable", (const void **, const CUuuid *), &table, &id),
          CUDA_ERROR_INVALID_VALUE);
    check("private table", table != NULL, 0);
    check("no table", CALL(library, "cuGetExportTable", (const void **, const CUuuid *), NULL, &id),
          CUDA_ERROR_INVALID_VALUE);
    check("no id", CALL(library, "cuGetExportTable", (const void **, const CUuuid *), &table, NULL),
          CUDA_ERROR_INVALID_VALUE);
}

// Every call above has its line. If a string argument is invalid, the trace shows its address.
static void trace(void *library, const char *path)
{
    void *function = NULL;
    CALL(library, "cuGetProcAddress_v2", (const char *, void **, int, cuuint64_t, void *),
         "cuInit\n", &function, 13000, 0, NULL);
    CALL(library, "cuGetProcAddress_v2", (const char *, void **, int, cuuint64_t, void *),
         (const char *)16, NULL, 13000, 0, NULL);
    FILE *file = fopen(path, "r");
    check("trace file", file != NULL, 1);
    if (!file)
        return;
    char line[4096];
    unsigned string = 0, address = 0, version = 0, lines = 0;
    while (fgets(line, sizeof line, file)) {
        lines++;
        version +=
            strstr(line, "cuDriverGetVersion(driverVersion=NULL) = CUDA_ERROR_INVALID_VALUE\n") !=
            NULL;
        string += strstr(line, "symbol=\"cuInit\\x0a\", ") != NULL;
        address += strstr(line, "symbol=0x10, pfn=NULL, cudaVersion=13000, "
                                "flags=CU_GET_PROC_ADDRESS_DEFAULT, symbolStatus=NULL) = "
                                "CUDA_ERROR_INVALID_VALUE\n") != NULL;
    }
    fclose(file);
    check("lines of the trace", lines > 2000, 1);
    check("version line", version, 1);
    check("string argument", string, 1);
    check("bad string argument", address, 1);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    char path[] = "calls-trace-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    setenv("CARDLESS_TRACE", path, 1);
    setenv("CARDLESS_DIAGNOSTICS", "off", 1);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library) {
        errors(library);
        order_of_checks(library);
        export_table(library);
        trace(library, path);
    } else {
        printf("%s\n", dlerror());
    }
    unlink(path);
    printf("%u checks, %u failures\n", checks, failures);
    return !library || failures;
}
