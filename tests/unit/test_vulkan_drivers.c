// SPDX-License-Identifier: MIT
// The search for Vulkan's drivers: the variables, paths and manifests of Vulkan's loader.
#include "../harness.h"

#include <limits.h>
#include <sys/stat.h>

#include "alloc.h"
#include "json_read.h"
#include "vulkan_drivers.h"

enum { TEXT_B = 8192 };

static char top[64]; // the case's folder

// Each case begins without the variables, in a folder of its own.
static void begin(void)
{
    static const char *const variables[] = {"VK_DRIVER_FILES",
                                            "VK_ICD_FILENAMES",
                                            "VK_ADD_DRIVER_FILES",
                                            "VK_LOADER_DRIVERS_SELECT",
                                            "VK_LOADER_DRIVERS_DISABLE",
                                            "XDG_CONFIG_HOME",
                                            "XDG_CONFIG_DIRS",
                                            "XDG_DATA_HOME",
                                            "XDG_DATA_DIRS",
                                            "HOME"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    snprintf(top, sizeof top, "/tmp/cardless-drivers-XXXXXX");
    EXPECT(mkdtemp(top) != NULL);
    EXPECT_EQ(chdir(top), 0);
}

static void end(void)
{
    char command[96];
    snprintf(command, sizeof command, "rm -r '%s'", top);
    EXPECT_EQ(system(command), 0);
}

// Writes a file below the case's folder, and makes the folders on the way.
static void put_bytes(const char *name, const char *text, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", name);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    EXPECT(file && fwrite(text, 1, size, file) == size);
    if (file)
        fclose(file);
}

static void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

// `more`: further members of "ICD".
static void put_driver(const char *name, const char *library, const char *more)
{
    char text[TEXT_B];
    snprintf(text, sizeof text,
             "{\n  \"file_format_version\": \"1.0.1\",\n  \"ICD\": {\n    \"library_path\": \"%s\","
             "\n    \"api_version\": \"1.3.0\"%s\n  }\n}\n",
             library, more);
    put(name, text);
}

// The libraries of the test, with % for the case's folder. Others belong to the computer.
static const char *found(void)
{
    static char list[TEXT_B];
    struct em_vulkan_drivers drivers;
    size_t used = 0;
    *list = 0;
    em_vulkan_drivers_find(&drivers);
    for (unsigned i = 0; i < drivers.count; i++) {
        const char *path = drivers.library[i];
        const bool here = !strncmp(path, top, strlen(top));
        if (here || strstr(path, "test"))
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s%s", used ? " " : "",
                                     here ? "%" : "", here ? path + strlen(top) : path);
    }
    em_vulkan_drivers_free(&drivers);
    return list;
}

// Sets a variable; % stands for the case's folder.
static void set(const char *name, const char *value)
{
    char text[TEXT_B] = "";
    for (size_t used = 0; *value && used < sizeof text - sizeof top; value++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%.*s",
                                 *value == '%' ? (int)sizeof top : 1, *value == '%' ? top : value);
    setenv(name, text, 1);
}

// ---- the places of manifests

TEST(library_paths)
{
    begin();
    put_driver("folder/absolute.json", "/opt/test/libone.so", "");
    put_driver("folder/relative.json", "../lib/test_two.so", "");
    put_driver("folder/bare.json", "libtest.so", "");
    set("VK_DRIVER_FILES", "%/folder/absolute.json");
    EXPECT_STR(found(), "/opt/test/libone.so");
    set("VK_DRIVER_FILES", "%/folder/relative.json");
    EXPECT_STR(found(), "%/folder/../lib/test_two.so");
    set("VK_DRIVER_FILES", "%/folder/bare.json");
    EXPECT_STR(found(), "libtest.so");
    // Manifests relative to the current folder.
    put_driver("here.json", "./libtest.so", "");
    set("VK_DRIVER_FILES", "here.json");
    EXPECT_STR(found(), "./libtest.so");
    set("VK_DRIVER_FILES", "folder/relative.json");
    EXPECT_STR(found(), "folder/../lib/test_two.so");
    end();
}

TEST(lists)
{
    begin();
    put_driver("a/a.json", "./test_a.so", "");
    put_driver("b/b.json", "./test_b.so", "");
    put_driver("b/b.txt", "./test_text.so", "");
    put_driver("c.json", "./test_c.so", "");
    set("VK_DRIVER_FILES", "%/a:%/b");
    EXPECT_STR(found(), "%/a/./test_a.so %/b/./test_b.so");
    set("VK_DRIVER_FILES", ":%/b/::%/nothing:%/c.json:%/nothing.json:");
    EXPECT_STR(found(), "%/b//./test_b.so %/./test_c.so");
    // A library counts once, at its first place.
    set("VK_DRIVER_FILES", "%/b/b.json:%/a:%/b/b.json");
    EXPECT_STR(found(), "%/b/./test_b.so %/a/./test_a.so");
    set("VK_DRIVER_FILES", "%/b/b.txt");
    EXPECT_STR(found(), "");
    end();
}

TEST(precedence)
{
    begin();
    put_driver("data/vulkan/icd.d/data.json", "test_data.so", "");
    put_driver("new.json", "test_new.so", "");
    put_driver("old.json", "test_old.so", "");
    put_driver("more.json", "test_more.so", "");
    set("XDG_DATA_DIRS", "%/data");
    EXPECT_STR(found(), "test_data.so");
    set("VK_ADD_DRIVER_FILES", "%/more.json");
    EXPECT_STR(found(), "test_more.so test_data.so");
    set("VK_ICD_FILENAMES", "%/old.json");
    EXPECT_STR(found(), "test_old.so");
    set("VK_DRIVER_FILES", "%/new.json");
    EXPECT_STR(found(), "test_new.so");
    set("VK_DRIVER_FILES", "");
    EXPECT_STR(found(), "");
    end();
}

TEST(standard_folders)
{
    begin();
    put_driver("home/.config/vulkan/icd.d/1.json", "test1.so", "");
    put_driver("dirs1/vulkan/icd.d/2.json", "test2.so", "");
    put_driver("dirs2/vulkan/icd.d/3.json", "test3.so", "");
    put_driver("home/.local/share/vulkan/icd.d/4.json", "test4.so", "");
    put_driver("data/vulkan/icd.d/5.json", "test5.so", "");
    put_driver("config/vulkan/icd.d/6.json", "test6.so", "");
    put_driver("share/vulkan/icd.d/7.json", "test7.so", "");
    put_driver("data/8.json", "test8.so", "");
    set("HOME", "%/home");
    set("XDG_CONFIG_DIRS", "%/dirs1:%/dirs2");
    set("XDG_DATA_DIRS", "%/data");
    EXPECT_STR(found(), "test1.so test2.so test3.so test4.so test5.so");
    set("XDG_CONFIG_HOME", "%/config");
    set("XDG_DATA_HOME", "%/share");
    EXPECT_STR(found(), "test6.so test2.so test3.so test7.so test5.so");
    set("XDG_CONFIG_HOME", ""); // as if it were not set
    EXPECT_STR(found(), "test1.so test2.so test3.so test7.so test5.so");
    unsetenv("HOME");
    EXPECT_STR(found(), "test2.so test3.so test7.so test5.so");
    end();
}

TEST(no_manifest)
{
    begin();
    set("VK_DRIVER_FILES", "%:%/nothing.json:/dev/null");
    EXPECT_STR(found(), "");
    put("a.json/b", "not a file");
    EXPECT_EQ(mkfifo("pipe.json", 0600), 0);
    set("VK_DRIVER_FILES", "%/a.json:%/pipe.json");
    EXPECT_STR(found(), "");
    char *long_list = malloc(2 * PATH_MAX);
    EXPECT(long_list != NULL);
    memset(long_list, 'a', 2 * PATH_MAX);
    put_driver("test.json", "test.so", "");
    strcpy(long_list + PATH_MAX + 5, ":test.json");
    setenv("VK_DRIVER_FILES", long_list, 1);
    EXPECT_STR(found(), "test.so");
    free(long_list);
    end();
}

TEST(too_many)
{
    begin();
    for (int i = 0; i < EM_VULKAN_DRIVERS_MAX + 6; i++) {
        char name[32], library[32];
        snprintf(name, sizeof name, "many/%d.json", i);
        snprintf(library, sizeof library, "test%d.so", i);
        put_driver(name, library, "");
    }
    struct em_vulkan_drivers drivers;
    set("VK_DRIVER_FILES", "%/many");
    em_vulkan_drivers_find(&drivers);
    EXPECT_EQ(drivers.count, EM_VULKAN_DRIVERS_MAX);
    em_vulkan_drivers_free(&drivers);
    EXPECT_EQ(drivers.count, 0);
    end();
}

TEST(filters)
{
    static const struct {
        const char *select, *disable, *want;
    } examples[] = {
        {"lvp_icd.json", NULL, "test_lvp.so"},
        {"LVP*", NULL, "test_lvp.so"},
        {"*_ICD.json", NULL, "test_lvp.so test_swift.so"},
        {"*WIFT*", NULL, "test_swift.so"},
        {"lvp", NULL, ""},
        {"vp*", NULL, ""},
        {"*.jso", NULL, ""},
        {"*", NULL, "test_lvp.so test_swift.so"},
        {"**", NULL, "test_lvp.so test_swift.so"},
        {"nothing,,swift*", NULL, "test_swift.so"},
        {",", NULL, "test_lvp.so test_swift.so"},
        {"", NULL, "test_lvp.so test_swift.so"},
        {NULL, "lvp*", "test_swift.so"},
        {NULL, "*", ""},
        {NULL, "~all~", ""},
        {NULL, "nothing", "test_lvp.so test_swift.so"},
        {"lvp*", "*", "test_lvp.so"},
        {"lvp*", "lvp*", "test_lvp.so"},
        {"lvp*", "swift*", "test_lvp.so"},
    };
    begin();
    put_driver("lvp_icd.json", "test_lvp.so", "");
    put_driver("swift_icd.json", "test_swift.so", "");
    set("VK_DRIVER_FILES", "%/lvp_icd.json:%/swift_icd.json");
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        unsetenv("VK_LOADER_DRIVERS_SELECT");
        unsetenv("VK_LOADER_DRIVERS_DISABLE");
        if (examples[i].select)
            set("VK_LOADER_DRIVERS_SELECT", examples[i].select);
        if (examples[i].disable)
            set("VK_LOADER_DRIVERS_DISABLE", examples[i].disable);
        EXPECT_STR(found(), examples[i].want);
    }
    end();
}

// ---- manifests

static const char *found_in(const char *text)
{
    put("manifest.json", text);
    set("VK_DRIVER_FILES", "%/manifest.json");
    return found();
}

#define VERSION "\"file_format_version\": \"1.0.0\""
#define API "\"api_version\": \"1.1.0\""

TEST(valid_json)
{
    begin();
    EXPECT_STR(found_in("{" VERSION ",\"ICD\":{" API ",\"library_path\":\"test.so\"}}"), "test.so");
    EXPECT_STR(found_in("\xef\xbb\xbf\r\n\t {\"ICD\" :\n{\"library_path\"\t: \"test.so\" , " API
                        "\r} , " VERSION " } \n"),
               "test.so");
    EXPECT_STR(
        found_in("{\"more\":[{\"ICD\":{\"library_path\":\"/test/no.so\"}},[],{},[[-0.5e+10,"
                 "1E3,0,12],true,false,null,\"}]\\\"\"]],\"Icd\":{\"deep\":{\"library_path\":"
                 "\"/test/no.so\"},\"LIBRARY_PATH\":\"test.so\"," API "}," VERSION "}"),
        "test.so");
    EXPECT_STR(found_in("{" VERSION ",\"ICD\":{" API ",\"library\\u005fpath\":\"\\u0074est\\/"
                        "\\\\\\\"\\b\\f\\n\\r\\t\\u00e9\\u20AC\\ud83d\\ude00.so\"}}"),
               "%/test/\\\"\b\f\n\r\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80.so");
    // The first one of two members counts.
    EXPECT_STR(found_in("{" VERSION ",\"ICD\":{" API ",\"library_path\":\"test.so\","
                        "\"library_path\":\"/test/no.so\"},\"ICD\":{}}"),
               "test.so");
    end();
}

TEST(unusable)
{
    static const char *const texts[] = {
        "{\"ICD\":{" API ",\"library_path\":\"test.so\"}}",
        "{" VERSION ",\"ICD\":{\"library_path\":\"test.so\"}}",
        "{" VERSION ",\"ICD\":{" API "}}",
        "{" VERSION ",\"ICD\":{" API ",\"library_path\":\"\"}}",
        "{" VERSION ",\"ICD\":{" API ",\"library_path\":7}}",
        "{" VERSION ",\"ICD\":["
        "\"library_path\",\"test.so\"]}",
        "{" VERSION ",\"ICD\":\"test.so\"}",
        "{" VERSION ",\"ICDs\":{" API ",\"library_path\":\"test.so\"}}",
        "{" VERSION ",\"layer\":{" API ",\"library_path\":\"test.so\"}}",
        "[{" VERSION ",\"ICD\":{" API ",\"library_path\":\"test.so\"}}]",
        "{" VERSION ",\"ICD\":{" API ",\"library_path\":\"test\\u0000.so\"}}",
        "{" VERSION ",\"ICD\":{" API ",\"library_path\":\"test\\ud83d.so\"}}",
        "{" VERSION ",\"ICD\":{" API ",\"library_path\":\"test\\ude00\\ud83d.so\"}}",
        "{" VERSION ",\"ICD\":{" API ",\"library_path\":\"test\\ud83d\\u0041.so\"}}",
    };
    begin();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        EXPECT_STR(found_in(texts[i]), "");
    end();
}

TEST(other_members)
{
    static const struct {
        const char *more, *want;
    } examples[] = {
        {", \"library_arch\": \"64\"", sizeof(void *) == 8 ? "test.so" : ""},
        {", \"library_arch\": \"32\"", sizeof(void *) == 4 ? "test.so" : ""},
        {", \"library_arch\": 32", "test.so"},
        {", \"library_arch\": \"\"", "test.so"},
        {", \"is_portability_driver\": true", ""},
        {", \"is_portability_driver\": false", "test.so"},
        {", \"is_portability_driver\": \"true\"", "test.so"},
    };
    begin();
    set("VK_DRIVER_FILES", "%/manifest.json");
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        put_driver("manifest.json", "test.so", examples[i].more);
        EXPECT_STR(found(), examples[i].want);
    }
    end();
}

static const char whole[] =
    "{" VERSION ",\"a\":[1.5e-3,true,{\"b\":null}],\"ICD\":{\"library_path\":\"test\\u0041.so\","
    "\"library_arch\":\""
    "64"
    "\"," API "}}";

// A text that ends too early has no value.
TEST(cut_short)
{
    begin();
    EXPECT_STR(found_in(whole), sizeof(void *) == 8 ? "testA.so" : "");
    for (size_t length = 0; length < sizeof whole - 1; length++) {
        char text[sizeof whole] = "";
        memcpy(text, whole, length);
        EXPECT(!em_json_end(text));
        EXPECT_STR(found_in(text), "");
    }
    end();
}

TEST(damaged)
{
    static const char *const texts[] = {
        "",    " ",    "{,}",     "{\"a\":1,}",  "{\"a\" 1}", "{a:1}",     "[1,]", "[1 2]", "[",
        "tru", "nul",  "-",       "+1",          ".5",        "1.",        "1e",   "1e+",   "[01]",
        "\"",  "\"\\", "\"\\x\"", "\"\\u12g4\"", "\"\n\"",    "{\"a\":1]", "}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (em_json_end(texts[i])) {
            test_failed(__FILE__, __LINE__);
            printf("\"%s\" counts as valid\n", texts[i]);
        }
    }
    // Any byte at any place, in memory of the exact size, so that AddressSanitizer sees its end.
    for (size_t at = 0; at < sizeof whole - 1; at++) {
        for (int byte = 0; byte < 256; byte++) {
            char out[16], *text = malloc(sizeof whole);
            EXPECT(text != NULL);
            memcpy(text, whole, sizeof whole);
            text[at] = (char)byte;
            const char *stop = em_json_end(text);
            const char *icd = stop ? em_json_find(text, "ICD") : NULL;
            const char *path = icd ? em_json_find(icd, "library_path") : NULL;
            EXPECT(!stop || stop <= text + sizeof whole);
            if (path && em_json_string(path, out, sizeof out))
                EXPECT(strlen(out) < sizeof out);
            free(text);
        }
    }
}

// Values nested deeper than the limit are refused, and need no more stack.
TEST(nesting)
{
    enum { LIMIT = 1000, DEEP = 100000 };
    char *text = calloc(1, 2 * DEEP + 1);
    EXPECT(text != NULL);
    memset(text, '[', LIMIT);
    memset(text + LIMIT, ']', LIMIT);
    EXPECT(em_json_end(text) == text + 2 * (size_t)LIMIT);
    memset(text, '[', LIMIT + 1);
    memset(text + LIMIT + 1, ']', LIMIT + 1);
    EXPECT(!em_json_end(text));
    memset(text, '[', DEEP);
    memset(text + DEEP, ']', DEEP);
    EXPECT(!em_json_end(text));
    free(text);
}

TEST(string_capacity)
{
    char out[5];
    EXPECT(em_json_string("\"abcd\"", out, sizeof out));
    EXPECT_STR(out, "abcd");
    EXPECT(!em_json_string("\"abcde\"", out, sizeof out));
    EXPECT(em_json_string("\"ab\\u00e9\"", out, sizeof out));
    EXPECT(!em_json_string("\"abc\\u00e9\"", out, sizeof out));
    EXPECT(!em_json_string("7", out, sizeof out));
}

// ---- failing allocations

TEST(out_of_memory)
{
    begin();
    put_driver("a.json", "test_a.so", "");
    put_driver("b.json", "test_b.so", "");
    set("VK_DRIVER_FILES", "%/a.json:%/b.json");
    dm_alloc_count();
    for (uint64_t n = 1;; n++) {
        dm_alloc_fail_after(n);
        const char *list = found();
        if (!dm_alloc_failed()) {
            EXPECT_EQ(n, 5); // each driver needs two
            EXPECT_STR(list, "test_a.so test_b.so");
            break;
        }
        EXPECT_STR(list, n <= 2 ? "test_b.so" : "test_a.so");
        EXPECT_EQ(dm_alloc_live().count, 0);
    }
    end();
}

TESTS(CASE(library_paths), CASE(lists), CASE(precedence), CASE(standard_folders), CASE(no_manifest),
      CASE(too_many), CASE(filters), CASE(valid_json), CASE(unusable), CASE(other_members),
      CASE(cut_short), CASE(damaged), CASE(nesting), CASE(string_capacity), CASE(out_of_memory))
