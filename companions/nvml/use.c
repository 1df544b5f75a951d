// SPDX-License-Identifier: MIT
// The use of a card: memory, utilisation and processes, from the books of all processes.
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "ml.h"
#include "nvml_bodies.h"

enum { NO_INSTANCE = -1, PERCENT = 100 };

// Lists the processes of a card. The caller should free the list, which is never NULL on success.
static nvmlReturn_t list_processes(int device, cardlessProcess **out, unsigned *count)
{
    unsigned capacity = 64;
    for (;;) {
        cardlessProcess *list = calloc(capacity, sizeof *list);
        if (!list)
            return NVML_ERROR_MEMORY;
        *count = capacity;
        const nvmlReturn_t r = ml_result(cardlessCardGetProcesses(device, count, list));
        if (!r && *count <= capacity) {
            *out = list;
            return NVML_SUCCESS;
        }
        free(list);
        if (r)
            return r;
        capacity = *count * 2; // more may start before the next call
    }
}

// What processes use of a card. The parts of `nvmlMemory_v2_t` add up to the total, as far as
// processes do not use more than there is: each of them has a whole card of its own.
static nvmlReturn_t sum_memory(int device, nvmlMemory_v2_t *out)
{
    cardlessCard card;
    cardlessProcess *list;
    unsigned count;
    nvmlReturn_t r = ml_result(cardlessCardGet(&card, device));
    if (!r)
        r = list_processes(device, &list, &count);
    if (r)
        return r;
    const unsigned long long most = card.total - card.reserved;
    unsigned long long used = 0;
    for (unsigned i = 0; i < count; i++)
        used += list[i].memory < most - used ? list[i].memory : most - used;
    free(list);
    out->total = card.total;
    out->reserved = card.reserved;
    out->used = used;
    out->free = most - used;
    return NVML_SUCCESS;
}

nvmlReturn_t ml_nvmlDeviceGetMemoryInfo(int device, nvmlMemory_t *memory)
{
    nvmlMemory_v2_t sum = {0};
    nvmlReturn_t r = sum_memory(device, &sum);
    if (!r)
        *memory = (nvmlMemory_t){sum.total, sum.free, sum.used + sum.reserved};
    return r;
}

nvmlReturn_t ml_nvmlDeviceGetMemoryInfo_v2(int device, nvmlMemory_v2_t *memory)
{
    return memory->version == nvmlMemory_v2 ? sum_memory(device, memory)
                                            : NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
}

static unsigned percent(const cardlessProcess *process)
{
    return process->period_ns ? (unsigned)(process->busy_ns * PERCENT / process->period_ns) : 0;
}

// "Percent of time over the past sample period during which one or more kernels was executing".
nvmlReturn_t ml_nvmlDeviceGetUtilizationRates(int device, nvmlUtilization_t *utilization)
{
    cardlessProcess *list;
    unsigned count, sum = 0;
    nvmlReturn_t r = list_processes(device, &list, &count);
    if (r)
        return r;
    for (unsigned i = 0; i < count; i++)
        sum += percent(&list[i]);
    free(list);
    *utilization = (nvmlUtilization_t){.gpu = sum < PERCENT ? sum : PERCENT};
    return NVML_SUCCESS;
}

// The first of the lists of processes: each version of the struct begins with the first one's
// members.
static nvmlReturn_t write_processes(int device, unsigned *count, void *infos, size_t size)
{
    cardlessProcess *list;
    unsigned found;
    const unsigned capacity = *count;
    if (!infos && capacity)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvmlReturn_t r = list_processes(device, &list, &found);
    if (r)
        return r;
    // "NVML_ERROR_INSUFFICIENT_SIZE if infoCount indicates that the infos array is too small;
    // infoCount will contain minimal amount of space necessary".
    *count = found;
    for (unsigned i = 0; i < found && found <= capacity; i++) {
        const nvmlProcessInfo_v1_t first = {list[i].pid, list[i].memory};
        char *at = (char *)infos + i * size;
        if (size == sizeof first)
            *(nvmlProcessInfo_v1_t *)(void *)at = first;
        else
            *(nvmlProcessInfo_v2_t *)(void *)at = (nvmlProcessInfo_v2_t){
                .pid = first.pid,
                .usedGpuMemory = first.usedGpuMemory,
                .gpuInstanceId = (unsigned)NO_INSTANCE,
                .computeInstanceId = (unsigned)NO_INSTANCE,
            };
    }
    free(list);
    return found <= capacity ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

#define RUNNING(version, type)                                                                     \
    nvmlReturn_t ml_nvmlDeviceGetComputeRunningProcesses##version(int device, unsigned *infoCount, \
                                                                  type *infos)                     \
    {                                                                                              \
        return write_processes(device, infoCount, infos, sizeof *infos);                           \
    }                                                                                              \
    nvmlReturn_t ml_nvmlDeviceGetGraphicsRunningProcesses##version(                                \
        int device, unsigned *infoCount, type *infos)                                              \
    {                                                                                              \
        *infoCount = 0;                                                                            \
        return NVML_SUCCESS;                                                                       \
    }                                                                                              \
    nvmlReturn_t ml_nvmlDeviceGetMPSComputeRunningProcesses##version(                              \
        int device, unsigned *infoCount, type *infos)                                              \
    {                                                                                              \
        *infoCount = 0;                                                                            \
        return NVML_SUCCESS;                                                                       \
    }
RUNNING(, nvmlProcessInfo_v1_t)
RUNNING(_v2, nvmlProcessInfo_v2_t)
RUNNING(_v3, nvmlProcessInfo_t)

static unsigned long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (unsigned long long)now.tv_sec * 1000000 + (unsigned long long)now.tv_nsec / 1000;
}

// "One utilization sample structure is returned per process running, that had some non-zero
// utilization during the last sample period." Samples are as old as the call.
nvmlReturn_t ml_nvmlDeviceGetProcessUtilization(int device,
                                                nvmlProcessUtilizationSample_t *utilization,
                                                unsigned *processSamplesCount,
                                                unsigned long long lastSeenTimeStamp)
{
    cardlessProcess *list;
    unsigned count, used = 0;
    const unsigned capacity = *processSamplesCount;
    const unsigned long long now = now_us();
    nvmlReturn_t r = list_processes(device, &list, &count);
    if (r)
        return r;
    for (unsigned i = 0; i < count; i++) {
        const unsigned busy = percent(&list[i]);
        if (!busy || now <= lastSeenTimeStamp)
            continue;
        if (utilization && used < capacity)
            utilization[used] = (nvmlProcessUtilizationSample_t){
                .pid = list[i].pid, .timeStamp = now, .smUtil = busy};
        used++;
    }
    free(list);
    *processSamplesCount = used;
    // "If no valid sample entries are found since the lastSeenTimeStamp, NVML_ERROR_NOT_FOUND is
    // returned"; "first determine the size of buffer […] with utilization set to NULL".
    if (!used)
        return NVML_ERROR_NOT_FOUND;
    return utilization && used <= capacity ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}
