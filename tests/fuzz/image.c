// SPDX-License-Identifier: MIT
// Fuzzes images: fat binaries, ELF files and libraries are loaded and linked in every way. Nothing
// may crash, leak or hang, and every refusal has a code and one sentence. If the target has built
// the image itself (image_planned.c), it predicts the loaded part, too.
//
// The first byte of an input is its route; the rest is the image, or numbers of which one is built.
// image_mutate.c makes inputs. Not fuzzed are images that the driver must trust: shared objects of
// the host, which the dynamic loader runs, and structs with pointers.
#include <cardless.h>

#include "image_copy.h"
#include "image_mutate.h"
#include "said.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setenv("CARDLESS_DEVICES", "h100,t4,rtx3080", 0); // of several architectures
    said_start();
    fuzz_start();
    return 0;
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

static void load_file(const struct copy *c, bool library)
{
    char path[64];
    CUmodule m;
    CUlibrary l;
    const int fd = copy_file(c, path);
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
        const int fd = copy_file(c, path);
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
    if (data[0] == IMAGE_PLANNED) {
        struct fuzz_input in = {data + 1, data + size};
        image_planned(&in);
        return 0;
    }
    CUcontext context = fuzz_context();
    const struct copy c = copy_make(data + 1, size - 1);
    run(&c, data[0] % IMAGE_ROUTES);
    copy_end(&c);
    FUZZ_OK(cuCtxDestroy(context));
    return 0;
}
