// SPDX-License-Identifier: MIT
// The UUID of card 0 is that of the first software device of the Vulkan drivers.
#include "../harness.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

static char top[64]; // a folder with copies of the driver, each with its manifest

static void copy(const char *name)
{
    char library[128], manifest[128];
    struct stat about;
    snprintf(library, sizeof library, "%s/%s.so", top, name);
    snprintf(manifest, sizeof manifest, "%s/%s.json", top, name);
    const int in = open(VULKAN_DRIVER, O_RDONLY | O_CLOEXEC);
    const int out = open(library, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    EXPECT_EQ(fstat(in, &about), 0);
    EXPECT_EQ(sendfile(out, in, NULL, (size_t)about.st_size), about.st_size);
    close(in);
    close(out);
    FILE *text = fopen(manifest, "w");
    EXPECT(text != NULL);
    if (text) {
        fprintf(text,
                "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"./%s.so\", "
                "\"api_version\": \"1.1.0\"}}",
                name);
        fclose(text);
    }
}

static const struct {
    const char *drivers; // as Vulkan's loader finds them
    int uuid;            // each byte of it; 0: Cardless's own
    const char *not_asked;
} examples[] = {
    {"one", 1, NULL},
    {"two", 2, NULL},
    {"one two", 2, "one"}, // Vulkan's loader lists the devices of the last driver first
    {"two one", 1, "two"},
    {"one hardware", 1, NULL},
    {"one empty", 1, NULL},
    {"one fails", 1, "fails"},
    {"one refuses", 1, "refuses"},
    {"one missing", 1, NULL},
    {"hardware", 0, NULL},
    {"empty fails", 0, "fails"},
    {"missing", 0, NULL},
    {"", 0, NULL},
};

// Each instance was destroyed.
static void expect_instances(const char *name, bool asked)
{
    char path[128];
    snprintf(path, sizeof path, "%s/./%s.so", top, name);
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    const int *instances = library ? dlsym(library, "driver_instances") : NULL;
    EXPECT_EQ(instances ? instances[0] : 0, asked);
    EXPECT_EQ(instances ? instances[1] : 0, 0);
}

static void run_example(size_t example)
{
    char list[512] = "", names[64];
    size_t used = 0;
    CUuuid id, again;
    snprintf(names, sizeof names, "%s", examples[example].drivers);
    for (char *rest = NULL, *name = strtok_r(names, " ", &rest); name;
         name = strtok_r(NULL, " ", &rest))
        used += (size_t)snprintf(list + used, sizeof list - used, "%s/%s.json:", top, name);
    test_setting("VK_DRIVER_FILES", list);
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceGetUuid(&id, 0));
    EXPECT_OK(cuDeviceGetUuid(&again, 0));
    EXPECT_EQ(memcmp(&id, &again, sizeof id), 0);
    const int want = examples[example].uuid;
    for (int i = 0; want && i < 16; i++)
        EXPECT_EQ(id.bytes[i], want);
    if (!want)
        EXPECT_EQ(id.bytes[6] >> 4 & 0xf, 8); // the version of a UUID of Cardless's own
    if (examples[example].not_asked)
        expect_instances(examples[example].not_asked, false);
    if (want)
        expect_instances(want == 1 ? "one" : "two", true);
}

TEST(drivers)
{
    static const char *const names[] = {"one", "two", "hardware", "empty", "fails", "refuses"};
    unsetenv("VK_LOADER_DRIVERS_SELECT");
    unsetenv("VK_LOADER_DRIVERS_DISABLE");
    snprintf(top, sizeof top, "/tmp/cardless-uuid-XXXXXX");
    EXPECT(mkdtemp(top) != NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        copy(names[i]);
    test_each(sizeof examples / sizeof *examples, run_example);
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", top);
    EXPECT_EQ(system(command), 0);
}

TESTS(CASE(drivers))
