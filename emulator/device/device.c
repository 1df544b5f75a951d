// SPDX-License-Identifier: MIT
// Makes the list of devices from CARDLESS_DEVICES.
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "config.h"
#include "error.h"
#include "hash.h"
#include "lock.h"
#include "startup.h"
#include "visible.h"

enum { DEVICES_MAX = DM_BOOK_CARDS, FILE_MAX_B = 1 << 16 };
static const char default_devices[] = "h100";

struct em_device *em_devices;
int em_device_count;

static CUresult fail_without(CUresult code, const char *name, int ordinal)
{
    return em_fail(code,
                   em_device_count == 1 ? "%s (%d) is not a device; the only device is 0"
                                        : "%s (%d) is not a device; use 0 to %d",
                   name, ordinal, em_device_count - 1);
}

CUresult em_device_bad_as(const char *name, CUdevice ordinal)
{
    return fail_without(CUDA_ERROR_INVALID_DEVICE, name, ordinal);
}

CUresult em_device_check_location(int id)
{
    return (unsigned)id < (unsigned)em_device_count
               ? CUDA_SUCCESS
               : fail_without(CUDA_ERROR_INVALID_VALUE, "location.id", id);
}

// Returns 0 if it is a regular file, or a negative errno. Others may have no end.
static int check_regular(int fd)
{
    struct stat status;
    if (fstat(fd, &status))
        return -errno;
    if (S_ISREG(status.st_mode))
        return 0;
    return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
}

// Reads a small file. Returns 0 or a negative errno. The caller should free the text with dm_free.
static int read_file(const char *path, char **out, size_t *size)
{
    size_t used = 0;
    char *text = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not wait for a writer
    if (fd < 0)
        return -errno;
    int e = check_regular(fd);
    if (e)
        goto close_fd;
    text = dm_alloc(FILE_MAX_B + 1);
    if (!text) {
        e = -ENOMEM;
        goto close_fd;
    }
    for (;;) {
        ssize_t n = read(fd, text + used, FILE_MAX_B + 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            e = -errno;
        if (n <= 0)
            break;
        used += (size_t)n;
        if (used > FILE_MAX_B) {
            e = -EFBIG;
            break;
        }
    }
    if (e) {
        dm_free(text);
    } else {
        *out = text;
        *size = used;
    }
close_fd:
    close(fd);
    return e;
}

// Lists the ids of the compiled-in profiles that can be named.
static void list_known(char *out, size_t size_B)
{
    size_t used = 0;
    *out = 0;
    for (const struct dm_device_profile *p = dm_device_profiles; *p->id; p++) {
        const char *separator = used ? ", " : "";
        const size_t length = strlen(separator) + strlen(p->id);
        if (!*p->name || length >= size_B - used)
            continue;
        snprintf(out + used, size_B - used, "%s%s", separator, p->id);
        used += length;
    }
}

// Reads the profile in a file.
static CUresult read_profile_file(const char *path, struct dm_device_profile *out)
{
    const char *slash = strrchr(path, '/'), *id = slash ? slash + 1 : path;
    char *text = NULL, error[1024];
    size_t size = 0;
    CUresult r = CUDA_SUCCESS;
    int e = read_file(path, &text, &size);
    if (e)
        return em_fail(e == -ENOMEM ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_NO_DEVICE,
                       "CARDLESS_DEVICES: cannot read the profile %s: %s", path,
                       e == -EINVAL ? "not a regular file" : strerror(-e));
    if (dm_device_parse(id, text, size, out, error, sizeof error))
        r = em_fail(CUDA_ERROR_NO_DEVICE, "%s", error);
    dm_free(text);
    return r;
}

// Reads the profile that `item` names: by the id of a compiled-in profile, or by the path of a
// file.
static CUresult read_profile(const char *item, struct dm_device_profile *out)
{
    size_t length = strlen(item);
    char known[256], error[1024];
    if (strchr(item, '/') || (length > 4 && !strcmp(item + length - 4, ".dev")))
        return read_profile_file(item, out);
    switch (dm_device_find(item, out, error, sizeof error)) {
    case 0:
        return CUDA_SUCCESS;
    case -ENOENT:
        list_known(known, sizeof known);
        return em_fail(CUDA_ERROR_NO_DEVICE,
                       "CARDLESS_DEVICES: '%s' is not a device; use %s, the path of a .dev file, "
                       "or 'none' for no device",
                       item, known);
    default:
        return em_fail(CUDA_ERROR_NO_DEVICE, "%s", error);
    }
}

// Gives each card its own address on the PCI bus, because programs distinguish cards of the same
// kind by it. If the address is taken, tries the next one.
static void choose_bus_address(struct em_device *device)
{
    int *bus = &device->profile.attribute[DM_ATTRIBUTE_pci_bus_id],
        *slot = &device->profile.attribute[DM_ATTRIBUTE_pci_device_id];
    for (const struct em_device *other = em_devices; other < device;) {
        bool same = em_device_attribute(other, DM_ATTRIBUTE_pci_bus_id) == *bus &&
                    em_device_attribute(other, DM_ATTRIBUTE_pci_device_id) == *slot &&
                    em_device_attribute(other, DM_ATTRIBUTE_pci_domain_id) ==
                        em_device_attribute(device, DM_ATTRIBUTE_pci_domain_id);
        if (!same) {
            other++;
            continue;
        }
        if (++*slot > 31) {
            *slot = 0;
            ++*bus;
        }
        other = em_devices; // check all again, because the new address may be taken too
    }
}

uint64_t em_device_key(const struct em_device *device)
{
    const struct dm_device_profile *profile = &device->profile;
    uint64_t key = dm_hash(DM_HASH_START, profile->id, strlen(profile->id));
    key = dm_hash(key, &profile->total_memory, sizeof profile->total_memory);
    return dm_hash(key, &device->card, sizeof device->card) | 1;
}

void em_device_open_book(struct em_device *device)
{
    em_assert_locked();
    static struct dm_book *book; // guarded by em_lock
    if (device->book || (!book && dm_book_create(&book)))
        return;
    device->book = &book->cards[device->card];
    __atomic_store_n(&device->book->key, em_device_key(device), __ATOMIC_RELAXED);
}

DM_STARTUP CUresult em_devices_start(void)
{
    if (em_devices)
        return CUDA_SUCCESS;
    const char *wanted = em_config()->devices ? em_config()->devices : default_devices;
    int count = 1;
    for (const char *c = wanted; *c; c++)
        count += *c == ',';
    if (!strcmp(wanted, "none"))
        return em_fail(CUDA_ERROR_NO_DEVICE,
                       "CARDLESS_DEVICES is none, so there is no device; unset it for one device");
    if (count > DEVICES_MAX)
        return em_fail(CUDA_ERROR_NO_DEVICE,
                       "CARDLESS_DEVICES names %d devices; it may name at most %d", count,
                       DEVICES_MAX);

    CUresult r = CUDA_SUCCESS;
    size_t size = strlen(wanted) + 1;
    char *list = dm_alloc(size);
    struct em_device *devices = dm_calloc((size_t)count, sizeof *devices);
    if (!list || !devices) {
        r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for the list of %d devices",
                    count);
        goto out;
    }
    memcpy(list, wanted, size);
    em_devices = devices;
    char *next = list;
    for (int i = 0; i < count && !r; i++) {
        char *item = strsep(&next, ",");
        r = read_profile(item, &devices[i].profile);
        devices[i].card = i;
        if (!r)
            choose_bus_address(&devices[i]);
    }
    if (!r)
        r = em_devices_choose(devices, &count);
    for (int i = 0; i < count; i++)
        devices[i].ordinal = i;
out:
    if (!r) {
        em_device_count = count;
        devices = NULL;
    } else {
        em_devices = NULL;
    }
    dm_free(devices);
    dm_free(list);
    return r;
}

uint64_t em_device_linear_texels(const struct em_device *device, uint64_t texel_B)
{
    // The attribute counts texels of the maximum size, 16 bytes. Smaller texels are more, but a
    // texture has at most 2^30, because texel indices end there.
    const uint64_t widest_B = 16, most = UINT64_C(1) << 30;
    uint64_t texels =
        (uint64_t)em_device_attribute(device, DM_ATTRIBUTE_maximum_texture1d_linear_width) *
        widest_B / (texel_B ? texel_B : 1);
    return texels < most ? texels : most;
}
