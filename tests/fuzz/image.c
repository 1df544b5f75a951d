// SPDX-License-Identifier: MIT
// Fuzzes images: fat binaries, ELF files and libraries are loaded and linked in every way. Nothing
// may crash, leak or hang, and every refusal has a code and one sentence.
//
// The first byte of an input is its route; the rest is the image. image_mutate.c makes inputs. Not
// fuzzed are images that the driver must trust: shared objects of the host, which the dynamic
// loader runs, and structs with pointers.
#include <cardless.h>
#include <elf.h>
#include <fcntl.h>

#include "image_mutate.h"
#include "said.h"

enum { PAGE_B = 4096 };
#define GUARD_B (UINT64_C(1) << 36) // damaged sizes do not lead to other memory of the process

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    said_start();
    fuzz_start();
    return 0;
}

// ---- memory that ends with the image ----

struct copy {
    char *memory, *image;
    size_t mapped_B, size_B;
};

// A copy after which nothing can be read, because most calls are not told an image's size.
static struct copy copy_make(const uint8_t *data, size_t size_B)
{
    const size_t pages_B = (size_B + PAGE_B - 1) / PAGE_B * PAGE_B;
    struct copy c = {.mapped_B = pages_B + GUARD_B, .size_B = size_B};
    c.memory =
        mmap(NULL, c.mapped_B, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    FUZZ_CHECK(c.memory != MAP_FAILED, "mmap of %zu bytes", c.mapped_B);
    FUZZ_CHECK(!mprotect(c.memory, pages_B, PROT_READ | PROT_WRITE), "mprotect");
    c.image = c.memory + pages_B - size_B;
    memcpy(c.image, data, size_B);
    return c;
}

static bool must_be_trusted(const struct copy *c)
{
    static const char wrapper[] = {(char)0xb1, 0x43, 0x62, 0x46};
    const cardlessModuleDesc table = {.magic = CARDLESS_MODULE_MAGIC};
    Elf64_Ehdr head = {.e_machine = 0};
    memcpy(&head, c->image, c->size_B < sizeof head ? c->size_B : sizeof head);
    return (!memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_machine != IMAGE_CUDA_MACHINE) ||
           !memcmp(&head, wrapper, sizeof wrapper) ||
           !memcmp(&head, table.magic, sizeof table.magic);
}

// ---- routes ----

static void use_module(CUmodule m)
{
    CUfunction f;
    CUdeviceptr address;
    size_t size_B;
    unsigned count = 0;
    FUZZ_OK(cuModuleGetFunctionCount(&count, m));
    SAID(cuModuleGetFunction(&f, m, "k"));
    SAID(cuModuleGetGlobal(&address, &size_B, m, "g"));
    FUZZ_OK(cuModuleUnload(m));
}

static void load(const void *image, bool fat)
{
    CUmodule m;
    if (fat ? !SAID(cuModuleLoadFatBinary(&m, image)) : !SAID(cuModuleLoadData(&m, image)))
        use_module(m);
}

static void use_library(CUlibrary l)
{
    CUkernel k;
    unsigned count = 0;
    FUZZ_OK(cuLibraryGetKernelCount(&count, l));
    SAID(cuLibraryGetKernel(&k, l, "k"));
    FUZZ_OK(cuLibraryUnload(l));
}

static void load_library(const struct copy *c)
{
    CUlibrary l;
    if (!SAID(cuLibraryLoadData(&l, c->image, NULL, NULL, 0, NULL, NULL, 0)))
        use_library(l);
}

// The struct that nvcc's programs have, of version 2 with a list of containers.
static void load_wrapped(const struct copy *c, bool linked)
{
    const void *const list[] = {c->image, image_other(), NULL};
    const struct {
        uint32_t magic, version;
        const void *data, *more;
    } wrapper = {0x466243b1, linked ? 2 : 1, c->image, linked ? list : NULL};
    load(&wrapper, true);
}

static int file_of(const struct copy *c, char path[64])
{
    const int fd = memfd_create("image", 0);
    FUZZ_CHECK(fd >= 0 && write(fd, c->image, c->size_B) == (ssize_t)c->size_B, "no memfd");
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static void load_file(const struct copy *c, bool library)
{
    char path[64];
    CUmodule m;
    CUlibrary l;
    const int fd = file_of(c, path);
    if (library) {
        if (!SAID(cuLibraryLoadFromFile(&l, path, NULL, NULL, 0, NULL, NULL, 0)))
            use_library(l);
    } else if (!SAID(cuModuleLoad(&m, path))) {
        use_module(m);
    }
    close(fd);
}

static void link_image(const struct copy *c, CUjitInputType type, bool from_file)
{
    CUlinkState state;
    char path[64];
    void *image;
    CUresult r;
    FUZZ_OK(cuLinkCreate(0, NULL, NULL, &state));
    if (from_file) {
        const int fd = file_of(c, path);
        r = SAID(cuLinkAddFile(state, type, path, 0, NULL, NULL));
        close(fd);
    } else {
        r = SAID(cuLinkAddData(state, type, c->image, c->size_B, "part", 0, NULL, NULL));
    }
    if (!r && !SAID(cuLinkComplete(state, &image, NULL)))
        load(image, false);
    FUZZ_OK(cuLinkDestroy(state));
}

static void run(const struct copy *c, unsigned route)
{
    if (route >= IMAGE_ROUTE_LINK) {
        link_image(c, (CUjitInputType)((route - IMAGE_ROUTE_LINK) / 2), route % 2);
        return;
    }
    if (must_be_trusted(c))
        return;
    switch ((enum image_route)route) {
    case IMAGE_ROUTE_LIBRARY:
        load_library(c);
        break;
    case IMAGE_ROUTE_WRAPPED:
    case IMAGE_ROUTE_WRAPPED_LINKED:
        load_wrapped(c, route == IMAGE_ROUTE_WRAPPED_LINKED);
        break;
    case IMAGE_ROUTE_FILE:
    case IMAGE_ROUTE_LIBRARY_FILE:
        load_file(c, route == IMAGE_ROUTE_LIBRARY_FILE);
        break;
    default:
        load(c->image, route == IMAGE_ROUTE_FAT_BINARY);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > IMAGE_INPUT_B)
        return 0;
    CUcontext context = fuzz_context();
    const struct copy c = copy_make(data + 1, size - 1);
    run(&c, data[0] % IMAGE_ROUTES);
    munmap(c.memory, c.mapped_B);
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
