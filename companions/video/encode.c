// SPDX-License-Identifier: MIT
// libnvidia-encode.so.1 of a card without a video encoder. The list of functions can be had, as on
// such a card, and no session opens.
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

// NVENCSTATUS.
enum status {
    SUCCESS = 0,
    UNSUPPORTED_DEVICE = 2,
    INVALID_ENCODER = 3,
    INVALID_PTR = 6,
    INVALID_VERSION = 15,
};

enum {
    MAJOR = 13, // of driver 580
    MINOR = 0,
    STRUCT_MARK = 7,  // bits 28 to 31 of the version of each struct
    MEMBERS = 43,     // the functions and one reserved pointer
    OPEN_SESSION = 0, // their positions in the list
    OPEN_SESSION_EX = 29,
    RESERVED = 33,
    LAST_ERROR_STRING = 37,
};

// NV_ENCODE_API_FUNCTION_LIST.
struct functions {
    uint32_t version, reserved;
    void (*function[MEMBERS])(void);
    void *reserved2[275];
};

// A session's functions. Nobody has one, so every encoder is an invalid one.
static enum status no_encoder(void)
{
    return INVALID_ENCODER;
}

static enum status open_session(void *device, uint32_t kind, void **encoder)
{
    return encoder ? UNSUPPORTED_DEVICE : INVALID_PTR;
}

static enum status open_session_ex(void *parameters, void **encoder)
{
    return parameters && encoder ? UNSUPPORTED_DEVICE : INVALID_PTR;
}

static const char *last_error_string(void *encoder)
{
    return "the card has no encoder";
}

// "version: (major << 4) | minor of the newest API that the driver supports".
enum status NvEncodeAPIGetMaxSupportedVersion(uint32_t *version);
EXPORT enum status NvEncodeAPIGetMaxSupportedVersion(uint32_t *version)
{
    if (!version)
        return INVALID_PTR;
    *version = MAJOR << 4 | MINOR;
    return SUCCESS;
}

// The version of a struct: bits 0 to 7 the API's major, 24 to 27 its minor number, 16 to 23 the
// struct's own version.
static int is_known(uint32_t version)
{
    const uint32_t major = version & 0xff, minor = version >> 24 & 0xf;
    return version >> 28 == STRUCT_MARK && major && (major << 4 | minor) <= (MAJOR << 4 | MINOR) &&
           (version >> 16 & 0xff) >= 1;
}

enum status NvEncodeAPICreateInstance(struct functions *list);
EXPORT enum status NvEncodeAPICreateInstance(struct functions *list)
{
    if (!list)
        return INVALID_PTR;
    if (!is_known(list->version))
        return INVALID_VERSION;
    // A program with an older header has a list of the same size: the new functions take the place
    // of reserved members.
    for (int i = 0; i < MEMBERS; i++)
        list->function[i] = i == RESERVED ? 0 : (void (*)(void))no_encoder;
    list->function[OPEN_SESSION] = (void (*)(void))open_session;
    list->function[OPEN_SESSION_EX] = (void (*)(void))open_session_ex;
    list->function[LAST_ERROR_STRING] = (void (*)(void))last_error_string;
    return SUCCESS;
}
