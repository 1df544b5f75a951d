// SPDX-License-Identifier: MIT
// Device queries: the answers, the writes, and the error that is returned if several apply.
#include <ctype.h>

#include "../harness.h"

TEST(ordinals)
{
    static const int bad[] = {1, 2, 99, 0x7fffffff, -1, -0x7fffffff - 1};
    CUdevice d = 777;
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceGet(&d, 0));
    EXPECT_EQ(d, 0);
    d = 777;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        EXPECT_ERROR(cuDeviceGet(&d, bad[i]), CUDA_ERROR_INVALID_DEVICE);
        EXPECT_EQ(d, 777);
    }
    EXPECT_ERROR(cuDeviceGet(NULL, 99), CUDA_ERROR_INVALID_VALUE);
}

TEST(name)
{
    char name[64];
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceGetName(name, sizeof name, 0));
    EXPECT_STR(name, "NVIDIA H100 80GB HBM3");
    memset(name, 'x', sizeof name);
    EXPECT_OK(cuDeviceGetName(name, 7, 0));
    EXPECT_STR(name, "NVIDIA");
    EXPECT_EQ(name[7], 'x');
    EXPECT_ERROR(cuDeviceGetName(name, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetName(name, -1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetName(name, 0, 99), CUDA_ERROR_INVALID_DEVICE);
}

// Every attribute of the list is the H100's, and those beside the list are refused without a write.
TEST(attributes)
{
    int v = 777;
    MUST(cuInit(0));
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++)
        EXPECT_OK(cuDeviceGetAttribute(&v, (CUdevice_attribute)i, 0));
    v = 777;
    EXPECT_ERROR(cuDeviceGetAttribute(&v, (CUdevice_attribute)0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetAttribute(&v, (CUdevice_attribute)-1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetAttribute(&v, (CUdevice_attribute)0, 99), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_EQ(v, 777);
    EXPECT_OK(cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    EXPECT_EQ(v, 132);
    EXPECT_OK(cuDeviceGetAttribute(&v, CU_DEVICE_ATTRIBUTE_NUMA_ID, 0));
    EXPECT_EQ(v, -1);
}

// The UUID of card 1 of two as CUDA_VISIBLE_DEVICES takes it, found by another process.
static void find_uuid(char text[40])
{
    int fds[2];
    MUST(pipe(fds));
    if (!fork()) {
        CUuuid id;
        char found[40] = "";
        MUST(cuInit(0));
        MUST(cuDeviceGetUuid(&id, 1));
        int n = snprintf(found, sizeof found, "GPU-");
        for (int i = 0; i < 16; i++)
            n += snprintf(found + n, sizeof found - (size_t)n, "%02x", (unsigned char)id.bytes[i]);
        _exit(write(fds[1], found, sizeof found) != sizeof found);
    }
    EXPECT_EQ(read(fds[0], text, 40), 40);
}

// A card keeps its UUID, whatever its number is.
TEST(visible_by_uuid)
{
    char text[40], again[40] = "GPU-";
    CUuuid id;
    int count = 0;
    test_setting("CARDLESS_DEVICES", "h100,h100");
    find_uuid(text);
    test_setting("CUDA_VISIBLE_DEVICES", text);
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceGetCount(&count));
    EXPECT_EQ(count, 1);
    MUST(cuDeviceGetUuid(&id, 0));
    for (int i = 0, n = 4; i < 16; i++)
        n += snprintf(again + n, sizeof again - (size_t)n, "%02x", (unsigned char)id.bytes[i]);
    EXPECT_STR(again, text);
}

TEST(visible_twice)
{
    test_setting("CARDLESS_DEVICES", "h100,h100");
    test_setting("CUDA_VISIBLE_DEVICES", "1,0,1");
    EXPECT_ERROR(cuInit(0), CUDA_ERROR_INVALID_DEVICE);
}

TEST(uuid)
{
    CUuuid first, again, second;
    test_setting("CARDLESS_DEVICES", "h100,h100");
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceGetUuid(&first, 0));
    EXPECT_OK(cuDeviceGetUuid(&again, 0));
    EXPECT_OK(cuDeviceGetUuid(&second, 1));
    EXPECT_EQ(memcmp(&first, &again, sizeof first), 0);
    EXPECT(memcmp(&first, &second, sizeof first) != 0);
}

TEST(uuid_setting)
{
    CUuuid uuid;
    test_setting("CARDLESS_UUID", "00112233-4455-6677-8899-aabbccddeeFF");
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceGetUuid(&uuid, 0));
    for (int i = 0; i < 16; i++)
        EXPECT_EQ((unsigned char)uuid.bytes[i], i * 0x11);
}

TEST(bus_id)
{
    char text[16], lower[16], spaced[32];
    CUdevice d = 777;
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceGetPCIBusId(text, 13, 0));
    EXPECT_STR(text, "0000:00:06.0");
    for (int i = 0; i < 13; i++)
        lower[i] = (char)tolower(text[i]);
    EXPECT_OK(cuDeviceGetByPCIBusId(&d, lower));
    EXPECT_EQ(d, 0);
    EXPECT_OK(cuDeviceGetByPCIBusId(&d, text + 5));
    text[10] = 0;
    EXPECT_OK(cuDeviceGetByPCIBusId(&d, text));
    snprintf(spaced, sizeof spaced, "%s.0 ", text);
    EXPECT_ERROR(cuDeviceGetByPCIBusId(&d, spaced), CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetByPCIBusId(&d, "fffe:fe:1e.0"), CUDA_ERROR_INVALID_DEVICE);
    EXPECT_ERROR(cuDeviceGetByPCIBusId(&d, ""), CUDA_ERROR_INVALID_VALUE);
    memset(text, 'x', sizeof text);
    EXPECT_ERROR(cuDeviceGetPCIBusId(text, 12, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(text[11], 0);
    EXPECT_EQ(text[12], 'x');
    memset(text, 'x', sizeof text);
    EXPECT_ERROR(cuDeviceGetPCIBusId(text, -1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(text[0], 'x'); // the manual's personality writes nothing
}

TEST(linear_texture_width)
{
    size_t width = 777;
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 4, 0));
    EXPECT_EQ(width, 1 << 28);
    EXPECT_OK(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_UNSIGNED_INT8, 1, 0));
    EXPECT_EQ(width, 1 << 30);
    EXPECT_ERROR(cuDeviceGetTexture1DLinearMaxWidth(&width, CU_AD_FORMAT_FLOAT, 3, 0),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_ERROR(cuDeviceGetTexture1DLinearMaxWidth(&width, (CUarray_format)0, 1, 0),
                 CUDA_ERROR_INVALID_VALUE);
}

TEST(peers)
{
    int v = 777;
    CUcontext a, b;
    CUatomicOperation bad = (CUatomicOperation)99, add = CU_ATOMIC_OPERATION_INTEGER_ADD;
    unsigned capability = 777;
    test_setting("CARDLESS_DEVICES", "h100,rtx3080");
    MUST(cuInit(0));
    EXPECT_OK(cuDeviceCanAccessPeer(&v, 0, 0));
    EXPECT_EQ(v, 0);
    EXPECT_OK(cuDeviceCanAccessPeer(&v, 0, 1));
    EXPECT_EQ(v, 1);
    EXPECT_ERROR(cuDeviceGetP2PAttribute(&v, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
                 CUDA_ERROR_INVALID_DEVICE);
    EXPECT_OK(cuDeviceGetP2PAttribute(&v, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    EXPECT_EQ(v, 1);
    EXPECT_ERROR(cuDeviceGetP2PAttribute(&v, (CUdevice_P2PAttribute)99, 0, 1),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuDeviceGetP2PAtomicCapabilities(&capability, &add, 1, 0, 1));
    EXPECT_ERROR(cuDeviceGetP2PAtomicCapabilities(&capability, &bad, 1, 0, 1),
                 CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuDeviceGetHostAtomicCapabilities(&capability, &add, 1, 0));
    EXPECT_EQ(capability, 0);
    MUST(cuCtxCreate(&b, NULL, 0, 1));
    MUST(cuCtxCreate(&a, NULL, 0, 0));
    EXPECT_ERROR(cuCtxDisablePeerAccess(b), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    EXPECT_ERROR(cuCtxEnablePeerAccess(a, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    EXPECT_ERROR(cuCtxEnablePeerAccess(b, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT_OK(cuCtxEnablePeerAccess(b, 0));
    EXPECT_ERROR(cuCtxEnablePeerAccess(b, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    EXPECT_OK(cuCtxDisablePeerAccess(b));
    EXPECT_OK(cuCtxEnablePeerAccess(b, 0));
    EXPECT_OK(cuCtxDestroy(b)); // takes the access with it
    EXPECT_ERROR(cuCtxDisablePeerAccess(b), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_OK(cuCtxDestroy(a));
}

TESTS(CASE(ordinals), CASE(name), CASE(attributes), CASE(visible_by_uuid), CASE(visible_twice),
      CASE(uuid), CASE(uuid_setting), CASE(bus_id), CASE(linear_texture_width), CASE(peers))
