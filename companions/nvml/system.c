// SPDX-License-Identifier: MIT
// The versions of the driver, and the names of processes.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ml.h"
#include "nvml_bodies.h"

// The driver whose behaviour Cardless has.
#define DRIVER_VERSION "580.159.04"

nvmlReturn_t ml_nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    return ml_copy_text(DRIVER_VERSION, version, length);
}

nvmlReturn_t ml_nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
    return ml_copy_text(NVML_API_VERSION_STR "." DRIVER_VERSION, version, length);
}

nvmlReturn_t ml_nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion)
{
    return ml_result(cuDriverGetVersion(cudaDriverVersion));
}

nvmlReturn_t ml_nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion)
{
    return ml_result(cuDriverGetVersion(cudaDriverVersion));
}

// "Returned process name is cropped to provided length."
nvmlReturn_t ml_nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length)
{
    char path[64];
    // "NVML_ERROR_INVALID_ARGUMENT if name is NULL or length is 0".
    if (!length)
        return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    // "NVML_ERROR_NOT_FOUND if process doesn't exists".
    if (fd < 0)
        return errno == EACCES ? NVML_ERROR_NO_PERMISSION : NVML_ERROR_NOT_FOUND;
    const ssize_t n = read(fd, name, length - 1); // its arguments, each with a final 0
    close(fd);
    name[n > 0 ? n : 0] = 0;
    return n < 0 ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
}

nvmlReturn_t ml_nvmlUnitGetCount(unsigned *unitCount)
{
    *unitCount = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t ml_nvmlGetExcludedDeviceCount(unsigned *deviceCount)
{
    *deviceCount = 0;
    return NVML_SUCCESS;
}
