// SPDX-License-Identifier: MIT
// Recognises images by their first bytes.
#include "image.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "call.h"
#include "context.h"
#include "cubin.h"
#include "device.h"
#include "error.h"
#include "fat_binary.h"
#include "host_table.h"
#include "linked_image.h"
#include "lock.h"
#include "pointer_check.h"
#include "quirk.h"
#include "record_content.h"
#include "record_image.h"
#include "text_image.h"

#if defined(__x86_64__)
enum { HOST_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { HOST_MACHINE = EM_AARCH64 };
#else
enum { HOST_MACHINE = EM_NONE };
#endif
enum { CUDA_MACHINE = 190 }; // EM_CUDA

// ---- references ----

static struct em_image *unused; // under em_lock

void em_image_ref(struct em_image *image)
{
    em_assert_locked();
    image->references++;
}

void em_image_unref(struct em_image *image)
{
    em_assert_locked();
    if (--image->references)
        return;
    image->next_unused = unused;
    unused = image;
}

void em_images_free(void)
{
    em_assert_unlocked();
    em_lock();
    struct em_image *image = unused;
    unused = NULL;
    em_unlock();
    while (image) {
        struct em_image *next = image->next_unused;
        image->free(image);
        image = next;
    }
}

int em_image_find_code(const struct em_image *image, const char *name)
{
    for (unsigned i = 0; i < image->code_count; i++)
        if (!strcmp(image->codes[i]->name, name))
            return (int)i;
    return -1;
}

int em_image_find_variable(const struct em_image *image, const char *name)
{
    for (unsigned i = 0; i < image->variable_count; i++)
        if (image->variables[i].kind != EM_VARIABLE_INNER && !image->variables[i].hidden &&
            !strcmp(image->variables[i].name, name))
            return (int)i;
    return -1;
}

// ---- shared objects ----

static const struct em_host_library no_library = {NULL, -1};

// Takes over `library`, whose handle is NULL if the loader has refused.
static CUresult load_library(struct em_host_library library, const char *name,
                             struct em_image **out)
{
    if (!library.handle) {
        const char *why = dlerror();
        em_host_library_close(library);
        return em_fail(CUDA_ERROR_INVALID_IMAGE, "the dynamic loader refuses %s: %s", name,
                       why ? why : "no reason given");
    }
    const cardlessModuleDesc *table = dlsym(library.handle, "cardlessModule");
    if (table)
        return em_host_table_image(table, library, CUDA_ERROR_INVALID_IMAGE, out);
    em_host_library_close(library);
    return em_fail(CUDA_ERROR_INVALID_IMAGE,
                   "%s exports no cardlessModuleDesc named cardlessModule (cardless.h), so it has "
                   "no kernels",
                   name);
}

enum { OBJECT_MOST_B = 1 << 30 }; // of a shared object in memory

// The size of an ELF file in memory: the end of its last section or segment.
static CUresult elf_size(const Elf64_Ehdr *head, const char *image, size_t *out)
{
    const uint64_t tables_B = (uint64_t)head->e_phnum * sizeof(Elf64_Phdr);
    uint64_t end = (uint64_t)head->e_shnum * head->e_shentsize;
    bool intact = head->e_phentsize == sizeof(Elf64_Phdr) && head->e_phoff < OBJECT_MOST_B &&
                  head->e_shoff < OBJECT_MOST_B;
    CUresult r = intact ? em_readable_else(CUDA_ERROR_INVALID_IMAGE, "the image", image,
                                           head->e_phoff + tables_B)
                        : CUDA_SUCCESS;
    if (r)
        return r;
    end += head->e_shoff;
    for (unsigned i = 0; intact && i < head->e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, image + head->e_phoff + i * sizeof segment, sizeof segment);
        intact = segment.p_offset < OBJECT_MOST_B && segment.p_filesz < OBJECT_MOST_B;
        if (segment.p_offset + segment.p_filesz > end)
            end = segment.p_offset + segment.p_filesz;
    }
    *out = end;
    if (intact)
        return em_readable_else(CUDA_ERROR_INVALID_IMAGE, "the image", image, end);
    return em_fail(CUDA_ERROR_INVALID_IMAGE, "the image is a damaged or truncated shared object");
}

static bool write_whole(int fd, const char *bytes, size_t size_B)
{
    while (size_B) {
        ssize_t n = write(fd, bytes, size_B);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        size_B -= (size_t)n;
    }
    return true;
}

// The loader reads files only, so the image becomes one.
static CUresult load_elf(const Elf64_Ehdr *head, const void *image, struct em_image **out)
{
    size_t size_B = 0;
    char path[32];
    CUresult r = elf_size(head, image, &size_B);
    if (r)
        return r;
    int fd = memfd_create("cardless module", MFD_CLOEXEC);
    if (fd >= 0 && write_whole(fd, image, size_B)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        return load_library((struct em_host_library){dlopen(path, RTLD_NOW | RTLD_LOCAL), fd},
                            "the image", out);
    }
    r = em_fail(CUDA_ERROR_OUT_OF_MEMORY, "cannot make a file of the shared object (%zu bytes): %s",
                size_B, strerror(errno));
    if (fd >= 0)
        close(fd);
    return r;
}

// ---- recognition ----

const struct em_device *em_image_device(void)
{
    const struct em_context *current = em_self.current;
    struct em_device *device = current ? current->device : NULL;
    if (!device)
        em_device_get(0, &device);
    return device;
}

unsigned em_image_architecture(void)
{
    const struct em_device *device = em_image_device();
    return device ? em_device_architecture(device) : 0;
}

// A text, or the texts of an image, as one module.
static CUresult load_texts(CUresult r, struct em_texts *texts, const struct em_load *load,
                           struct em_image **out)
{
    if (!r)
        r = em_text_image(texts, load, out);
    em_texts_finish(texts);
    return r;
}

static CUresult load_text(const struct em_bytes *bytes, const struct em_load *load,
                          struct em_image **out)
{
    struct em_texts texts = {.registers = load->registers};
    uint64_t size_B = bytes->size_B;
    if (size_B == EM_UNKNOWN_SIZE) {
        CUresult r = em_readable_text(CUDA_ERROR_INVALID_IMAGE, "the image", bytes->at, &size_B);
        if (r)
            return r;
    }
    // (recorded: load_ptx/empty-string-and-next, no-version)
    if (!em_text_begins(bytes->at))
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "the image is not PTX text (which begins with .version), an ELF file, a fat "
                       "binary or a cardlessModuleDesc");
    return load_texts(em_texts_add(&texts, NULL, bytes->at, size_B), &texts, load, out);
}

// "Binary code is compatible within a major version, with the same or a later minor version."
static CUresult check_linked(unsigned architecture, const struct em_load *load)
{
    if (!em_quirk(PTX_ABOVE_DEVICE) ||
        (architecture / 10 == load->architecture / 10 && architecture <= load->architecture))
        return CUDA_SUCCESS;
    return em_fail(CUDA_ERROR_NO_BINARY_FOR_GPU,
                   "the image was linked for sm_%u, and the device is sm_%u", architecture,
                   load->architecture);
}

static CUresult load_cubin(const struct em_bytes *bytes, const struct em_load *load,
                           struct em_image **out)
{
    struct em_texts texts = {0};
    bool linked = false;
    unsigned architecture = 0;
    CUresult r = em_linked_image_texts(bytes, &linked, &architecture, &texts);
    if (linked && !r)
        r = check_linked(architecture, load);
    if (linked)
        return load_texts(r, &texts, load, out);
    if (!r)
        r = em_cubin_check(bytes, 0, EM_UNKNOWN_SIZE);
    return r ? r
             : em_fail(CUDA_ERROR_NO_BINARY_FOR_GPU,
                       "the image is machine code of a real card (a cubin), which Cardless cannot "
                       "run; " EM_CUBIN_ADVICE);
}

static CUresult load_object(const struct em_bytes *bytes, const struct em_load *load,
                            struct em_image **out)
{
    Elf64_Ehdr head;
    CUresult r = em_bytes_check(bytes, 0, sizeof head);
    if (r)
        return r;
    memcpy(&head, bytes->at, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
        (head.e_machine != HOST_MACHINE && head.e_machine != CUDA_MACHINE))
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "the image is an ELF file for another machine (%u)", head.e_machine);
    if (head.e_machine == CUDA_MACHINE)
        return load_cubin(bytes, load, out);
    if (head.e_type != ET_DYN)
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "the image is an ELF file of type %u; only a shared object can have kernels",
                       head.e_type);
    return load_elf(&head, bytes->at, out);
}

static const cardlessModuleDesc model_table = {.magic = CARDLESS_MODULE_MAGIC};

// The first bytes of an image, which may end anywhere.
struct head {
    char bytes[sizeof model_table.magic];
};

static struct head read_head(const void *image)
{
    struct head head;
    em_read_head(image, &head, sizeof head);
    return head;
}

static bool is_table(const struct head *head)
{
    return !memcmp(head, model_table.magic, sizeof model_table.magic);
}

// Everything but a table.
static CUresult load_bytes(const struct em_bytes *bytes, const struct head *head,
                           const struct em_load *load, struct em_image **out)
{
    struct em_texts texts = {.registers = load->registers};
    if (!memcmp(head, ELFMAG, SELFMAG))
        return load_object(bytes, load, out);
    if (em_is_fat_binary(head->bytes))
        return load_texts(em_fat_binary_texts(bytes, load->architecture, &texts), &texts, load,
                          out);
    return load_text(bytes, load, out);
}

CUresult em_image_load(const void *image, const struct em_load *load, struct em_image **out)
{
    em_assert_unlocked();
    CUresult r = em_readable("the image", image, 1, 1);
    if (r)
        return r;
    const struct head head = read_head(image);
    if (em_recording_contents)
        em_record_image(image);
    if (!is_table(&head))
        return load_bytes(&(struct em_bytes){image, EM_UNKNOWN_SIZE}, &head, load, out);
    r = em_readable("the image", image, sizeof(cardlessModuleDesc), 1);
    return r ? r : em_host_table_image(image, no_library, CUDA_ERROR_INVALID_IMAGE, out);
}

// ---- files ----

// Reads a file with zeros after it, so that its head can be looked at.
static CUresult read_file(int fd, const char *path, char **out, uint64_t *size_B)
{
    enum { MORE_B = sizeof(Elf64_Ehdr) };
    struct stat info;
    if (fstat(fd, &info) || S_ISDIR(info.st_mode))
        // (recorded: load_file/directory)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "%s is a directory, or cannot be read", path);
    char *bytes = dm_alloc((size_t)info.st_size + MORE_B);
    if (!bytes)
        return em_fail(CUDA_ERROR_OUT_OF_MEMORY, "out of host memory for %s (%lld bytes)", path,
                       (long long)info.st_size);
    size_t used = 0;
    while (used < (size_t)info.st_size) {
        ssize_t n = read(fd, bytes + used, (size_t)info.st_size - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    memset(bytes + used, 0, (size_t)info.st_size + MORE_B - used);
    *out = bytes;
    *size_B = used;
    return CUDA_SUCCESS;
}

// Loads the bytes of a file. A table consists of pointers, which mean nothing in a file, so they
// must not be followed.
static CUresult load_file_bytes(const char *path, const struct em_bytes *bytes,
                                const struct em_load *load, struct em_image **out)
{
    const struct head head = read_head(bytes->at);
    if (is_table(&head))
        return em_fail(CUDA_ERROR_INVALID_IMAGE,
                       "%s begins like a cardlessModuleDesc, whose pointers a file cannot hold; "
                       "make a shared object that exports the table as cardlessModule",
                       path);
    return load_bytes(bytes, &head, load, out);
}

CUresult em_image_read_file(const char *path, struct em_bytes *out)
{
    em_assert_unlocked();
    char *bytes = NULL;
    if (!*path)
        return em_fail(CUDA_ERROR_INVALID_VALUE, "the name of the file is empty");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return em_fail(CUDA_ERROR_FILE_NOT_FOUND, "cannot open %s: %s", path, strerror(errno));
    CUresult r = read_file(fd, path, &bytes, &out->size_B);
    if (em_recording_contents)
        em_record_path(fd, path);
    close(fd);
    out->at = bytes;
    return r;
}

CUresult em_image_load_file(const char *path, const struct em_load *load, struct em_image **out)
{
    em_assert_unlocked();
    struct em_bytes bytes = {NULL, 0};
    CUresult r = em_image_read_file(path, &bytes);
    if (r)
        return r;
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)bytes.at;
    // A shared object is loaded from its own file, so that debuggers find it.
    char *full = !strncmp(bytes.at, ELFMAG, SELFMAG) && head->e_machine == HOST_MACHINE
                     ? realpath(path, NULL)
                     : NULL;
    r = full ? load_library((struct em_host_library){dlopen(full, RTLD_NOW | RTLD_LOCAL), -1}, full,
                            out)
             : load_file_bytes(path, &bytes, load, out);
    free(full);
    dm_free((char *)(uintptr_t)bytes.at);
    return r;
}
