// SPDX-License-Identifier: MIT
// Finds the manifests of Vulkan's drivers, and the libraries that they name. Quotations are from
// LoaderDriverInterface.md and LoaderInterfaceArchitecture.md of Vulkan's loader.
#include "vulkan_drivers.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "json_read.h"
#include "lock.h"

enum { MANIFEST_MAX_B = 1 << 20, MEMBER_MAX_B = 64 };
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && !strcmp(text + length - end_length, end);
}

// Writes a + b. Returns false if the path is too long.
static bool path_of(char out[PATH_MAX], const char *a, const char *b)
{
    const int length = snprintf(out, PATH_MAX, "%s%s", a, b);
    return length >= 0 && length < PATH_MAX;
}

// ---- filters

// "Acceptable globs are: Prefixes: "string*", Suffixes: "*string", Substrings: "*string*", Whole
// strings: "string"". "All of the filter environment variables assume the strings inside of the
// glob are not case-sensitive."
static bool glob_matches(const char *glob, size_t length, const char *name)
{
    const size_t name_length = strlen(name);
    const bool front = length && glob[0] == '*', back = length > front && glob[length - 1] == '*';
    glob += front;
    length -= (size_t)front + back;
    if (length > name_length || (!front && !back && length != name_length))
        return false;
    const size_t last = front ? name_length - length : 0;
    for (size_t at = back ? 0 : last; at <= last; at++) {
        if (!strncasecmp(name + at, glob, length))
            return true;
    }
    return false;
}

// "All of the filter environment variables accept comma-delimited input."
static bool list_matches(const char *list, const char *name)
{
    for (list += strspn(list, ","); *list; list += strspn(list, ",")) {
        const size_t length = strcspn(list, ",");
        const bool all = length == 5 && !strncasecmp(list, "~all~", length);
        if (all || glob_matches(list, length, name))
            return true;
        list += length;
    }
    return false;
}

// "it is possible to disable a layer/driver using the disable environment variable, only to have it
// be re-enabled by the enable/select environment variable."
static bool is_selected(const char *name)
{
    const char *select = secure_getenv("VK_LOADER_DRIVERS_SELECT");
    const char *disable = secure_getenv("VK_LOADER_DRIVERS_DISABLE");
    if (select && select[strspn(select, ",")])
        return list_matches(select, name);
    return !disable || !list_matches(disable, name);
}

// ---- manifests

static void add_library(struct em_vulkan_drivers *out, const char *library)
{
    for (unsigned i = 0; i < out->count; i++) {
        if (!strcmp(out->library[i], library))
            return;
    }
    const size_t bytes = strlen(library) + 1;
    char *copy = out->count < EM_VULKAN_DRIVERS_MAX ? dm_alloc(bytes) : NULL;
    if (copy)
        out->library[out->count++] = memcpy(copy, library, bytes);
}

// Returns the text, which ends with a 0 and is the caller's, or NULL. Reads regular files only,
// because others could block.
static char *read_manifest(const char *path)
{
    struct stat about;
    char *text = NULL;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return NULL;
    if (!dm_sys_stat(file, &about) && S_ISREG(about.st_mode) && about.st_size <= MANIFEST_MAX_B)
        text = dm_calloc(1, (size_t)about.st_size + 1);
    if (text && read(file, text, (size_t)about.st_size) != about.st_size) {
        dm_free(text);
        text = NULL;
    }
    close(file);
    return text;
}

// The member exists and is a string.
static bool has_string(const char *object, const char *name, char *out, size_t out_B)
{
    const char *value = em_json_find(object, name);
    return value && em_json_string(value, out, out_B);
}

// "library_arch: Optional field which specifies the architecture of the binary […] The only valid
// values are "32" and "64"." Vulkan's loader leaves out portability drivers, unless a program asks
// for them, and manifests without versions.
static bool is_usable(const char *manifest, const char *icd)
{
    char text[MEMBER_MAX_B];
    const char *portability = em_json_find(icd, "is_portability_driver");
    if (!has_string(manifest, "file_format_version", text, sizeof text) ||
        !has_string(icd, "api_version", text, sizeof text) ||
        (portability && em_json_is_true(portability)))
        return false;
    return !has_string(icd, "library_arch", text, sizeof text) ||
           strncmp(text, sizeof(void *) == 8 ? "32" : "64", 2) != 0;
}

// "If "library_path" specifies a relative pathname, it is relative to the path of the JSON manifest
// file. If "library_path" specifies a filename, the library must live in the system's shared object
// search path."
static void add_manifest_text(struct em_vulkan_drivers *out, const char *path, const char *text)
{
    char name[PATH_MAX], library[PATH_MAX];
    const char *icd = em_json_end(text) ? em_json_find(text, "ICD") : NULL;
    if (!icd || !is_usable(text, icd) || !has_string(icd, "library_path", name, sizeof name) ||
        !*name)
        return;
    const char *slash = name[0] != '/' && strchr(name, '/') ? strrchr(path, '/') : NULL;
    const int folder_length = slash ? (int)(slash - path) + 1 : 0;
    const int length = snprintf(library, sizeof library, "%.*s%s", folder_length, path, name);
    if (length >= 0 && length < PATH_MAX)
        add_library(out, library);
}

static void add_manifest(struct em_vulkan_drivers *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *text = is_selected(slash ? slash + 1 : path) ? read_manifest(path) : NULL;
    if (text)
        add_manifest_text(out, path, strncmp(text, BYTE_ORDER_MARK, 3) ? text : text + 3);
    dm_free(text);
}

// ---- folders

// The order inside a folder is "random due to the behavior of readdir", and the same for Vulkan's
// loader.
static void add_folder(struct em_vulkan_drivers *out, const char *path)
{
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char file[PATH_MAX];
        const int length = snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (ends_with(entry->d_name, ".json") && length >= 0 && length < PATH_MAX)
            add_manifest(out, file);
    }
    closedir(folder);
}

// "a list of paths to Driver Manifest files, […] and/or paths to folders containing Driver Manifest
// files. This list is colon-separated on Linux". `below` is added to folders.
static void add_list(struct em_vulkan_drivers *out, const char *list, const char *below)
{
    for (list += strspn(list, ":"); *list; list += strspn(list, ":")) {
        char item[PATH_MAX], path[PATH_MAX];
        const int length = (int)strcspn(list, ":");
        const int written = snprintf(item, sizeof item, "%.*s", length, list);
        list += length;
        if (written < 0 || written >= PATH_MAX)
            continue;
        if (ends_with(item, ".json"))
            add_manifest(out, item);
        else if (path_of(path, item, below))
            add_folder(out, path);
    }
}

// Adds the folders of an XDG variable, or of its default if it is not set.
static void add_folders(struct em_vulkan_drivers *out, const char *variable, const char *base,
                        const char *otherwise)
{
    char list[PATH_MAX];
    const char *value = secure_getenv(variable);
    if (value && *value)
        add_list(out, value, "/vulkan/icd.d");
    else if (base && path_of(list, base, otherwise))
        add_list(out, list, "/vulkan/icd.d");
}

// "Driver Discovery on Linux".
static void add_standard_folders(struct em_vulkan_drivers *out)
{
    const char *home = secure_getenv("HOME");
    add_folders(out, "XDG_CONFIG_HOME", home, "/.config");
    add_folders(out, "XDG_CONFIG_DIRS", "", "/etc/xdg");
    add_list(out, "/etc", "/vulkan/icd.d");
    add_folders(out, "XDG_DATA_HOME", home, "/.local/share");
    add_folders(out, "XDG_DATA_DIRS", "", "/usr/local/share:/usr/share");
}

// "If both VK_DRIVER_FILES and VK_ICD_FILENAMES environment variables are present, then the newer
// VK_DRIVER_FILES will be used". "If VK_DRIVER_FILES or VK_ICD_FILENAMES is present, then
// VK_ADD_DRIVER_FILES will not be used by the loader". All "are ignored if running the Vulkan
// application with elevated privileges".
void em_vulkan_drivers_find(struct em_vulkan_drivers *out)
{
    em_assert_unlocked();
    const char *newer = secure_getenv("VK_DRIVER_FILES");
    const char *only = newer ? newer : secure_getenv("VK_ICD_FILENAMES");
    const char *more = secure_getenv("VK_ADD_DRIVER_FILES");
    out->count = 0;
    add_list(out, only ? only : more ? more : "", "");
    if (!only)
        add_standard_folders(out);
}

void em_vulkan_drivers_free(struct em_vulkan_drivers *drivers)
{
    while (drivers->count)
        dm_free(drivers->library[--drivers->count]);
}
