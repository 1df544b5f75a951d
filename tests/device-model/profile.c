// SPDX-License-Identifier: MIT
// Device profiles: the compiled-in ones have the values of their files, and others may be based on
// them. The arguments are the files.
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "expect.h"

static char error[512];

static int parse(const char *text, struct dm_device_profile *out)
{
    return dm_device_parse("mine", text, strlen(text), out, error, sizeof error);
}

// Reads a file, and finds the compiled-in profile of its name: both fail, or both are the same.
static void same_as_file(const char *path)
{
    static char text[1 << 16];
    struct dm_device_profile from_file, compiled_in;
    char id[32];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    snprintf(id, sizeof id, "%.*s", (int)strcspn(name, "."), name);
    FILE *f = fopen(path, "r");
    EXPECT(f != NULL);
    size_t size = fread(text, 1, sizeof text, f);
    fclose(f);
    int found = dm_device_find(id, &compiled_in, error, sizeof error);
    EXPECT_EQ(dm_device_parse(id, text, size, &from_file, error, sizeof error), found);
    EXPECT(found == 0 || (found == -EINVAL && !strcmp(id, "generic")));
    if (found == 0)
        EXPECT(!memcmp(&from_file, &compiled_in, sizeof from_file));
}

static void based_on_another(void)
{
    struct dm_device_profile h100, p;
    EXPECT_EQ(dm_device_find("h100", &h100, error, sizeof error), 0);
    // Attributes may have any order.
    EXPECT_EQ(parse("base = h100\nattribute.warp_size = 64\nattribute.max_block_dim_x = 7\n"
                    "attribute.max_block_dim_y=8\n",
                    &p),
              0);
    EXPECT_EQ(p.attribute[DM_ATTRIBUTE_warp_size], 64);
    EXPECT_EQ(p.attribute[DM_ATTRIBUTE_max_block_dim_x], 7);
    EXPECT_EQ(p.attribute[DM_ATTRIBUTE_max_block_dim_y], 8);
    EXPECT_EQ(p.attribute[DM_ATTRIBUTE_max_block_dim_z],
              h100.attribute[DM_ATTRIBUTE_max_block_dim_z]);
    EXPECT(!strcmp(p.name, h100.name));
    EXPECT(!strcmp(p.id, "mine"));
}

static void mistakes(void)
{
    struct dm_device_profile p;
    EXPECT_EQ(dm_device_find("none of them", &p, error, sizeof error), -ENOENT);
    EXPECT_EQ(dm_device_find("generic", &p, error, sizeof error), -EINVAL);
    EXPECT(strstr(error, "\"name\" is missing") != NULL);
    EXPECT_EQ(parse("base = generic\n", &p), -EINVAL);
    EXPECT(strstr(error, "\"name\" is missing") != NULL);
    EXPECT_EQ(parse("base = mine\n", &p), -EINVAL);
    EXPECT(strstr(error, "line 1: base (mine) is not a compiled-in profile") != NULL);
    EXPECT_EQ(parse("name = a\n# and\nbase = h100\n", &p), -EINVAL);
    EXPECT(strstr(error, "line 3: base (h100) must be the first key") != NULL);
    EXPECT_EQ(parse("base = h100\nattribute.warp = 32\n", &p), -EINVAL);
    EXPECT(strstr(error, "line 2: attribute.warp is not an attribute") != NULL);
    EXPECT_EQ(parse("base = h100\nattribute.warp_size_ = 32\n", &p), -EINVAL);
    EXPECT_EQ(parse("base = h100\nattribute.warp_size = 0\n", &p), -EINVAL);
    EXPECT(strstr(error, "must be a number from 1") != NULL);
}

int main(int argc, char **argv)
{
    EXPECT(argc > 1);
    for (int i = 1; i < argc; i++)
        same_as_file(argv[i]);
    based_on_another();
    mistakes();
    return 0;
}
