// SPDX-License-Identifier: MIT
// Semaphores and fences of Vulkan that two processes share, and processes that die.
#include <signal.h>

#include "../send_fd.h"
#include "../vulkan_sync.h"

// Starts a process that runs `side` with a socket to this one. Neither has called Vulkan before.
static pid_t start(void (*side)(int socket), int *socket)
{
    int pair[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        close(pair[0]);
        side(pair[1]);
        fflush(stdout);
        _exit(test_failures ? 1 : 0);
    }
    close(pair[1]);
    *socket = pair[0];
    return child;
}

static void finish(pid_t child, int expected_signal)
{
    int status;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    if (expected_signal)
        EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == expected_signal);
    else
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void send_semaphore(int socket, VkSemaphore s)
{
    int fd = vks_fd(s);
    EXPECT(send_fd(socket, fd, "s", 1));
    close(fd);
}

static int receive(int socket)
{
    char byte;
    int fd = receive_fd(socket, &byte, 1);
    EXPECT(fd >= 0);
    return fd;
}

enum { ROUNDS = 1000 };

// Vulkan's queue in the child answers CUDA's stream in the parent.
static void answer(int socket)
{
    vks_open();
    VkSemaphore s = vks_drivers(VK_SEMAPHORE_TYPE_TIMELINE);
    EXPECT_EQ(vks_import(s, receive(socket), false), VK_SUCCESS);
    for (uint64_t i = 0; i < ROUNDS; i++)
        vks_submit((struct vks_batch){
            .wait = s, .wait_value = 2 * i + 1, .signal = s, .signal_value = 2 * i + 2});
    EXPECT_EQ(vks_wait(s, 2 * ROUNDS, 4 * SECONDS_5), VK_SUCCESS);
    VK(vkDeviceWaitIdle(vk.device));
    vkDestroySemaphore(vk.device, s, NULL);
    vk_close();
}

TEST(ping_pong)
{
    int socket;
    pid_t child = start(answer, &socket);
    vks_open();
    test_context();
    VkSemaphore s = vks_timeline(0);
    CUexternalSemaphore c = vks_cuda(s, true);
    CUstream stream = new_stream();
    send_semaphore(socket, s);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        EXPECT_OK(cu_wait(c, 2 * i, stream));
        EXPECT_OK(cu_signal(c, 2 * i + 1, stream));
    }
    EXPECT_EQ(vks_wait(s, 2 * ROUNDS, 4 * SECONDS_5), VK_SUCCESS);
    finish(child, 0);
    EXPECT_OK(cuStreamSynchronize(stream));
    vkDestroySemaphore(vk.device, s, NULL);
    vk_close();
}

// Binary semaphores in both directions, and a fence.
static void alternate(int socket)
{
    vks_open();
    VkSemaphore to = vks_drivers(VK_SEMAPHORE_TYPE_BINARY), from = vks_binary();
    VkFence f = vks_fence(true, false);
    EXPECT_EQ(vks_import(to, receive(socket), false), VK_SUCCESS);
    send_semaphore(socket, from);
    int fd = vks_fence_fd(f);
    EXPECT(send_fd(socket, fd, "f", 1));
    close(fd);
    for (int i = 0; i < 100; i++)
        vks_submit((struct vks_batch){.wait = to, .signal = from, .fence = i == 99 ? f : NULL});
    VK(vkDeviceWaitIdle(vk.device));
    vkDestroyFence(vk.device, f, NULL);
    vkDestroySemaphore(vk.device, to, NULL);
    vkDestroySemaphore(vk.device, from, NULL);
    vk_close();
}

TEST(binary_both_ways)
{
    int socket;
    pid_t child = start(alternate, &socket);
    vks_open();
    VkSemaphore to = vks_binary(), from = vks_drivers(VK_SEMAPHORE_TYPE_BINARY);
    VkFence f = vks_fence(false, false);
    send_semaphore(socket, to);
    EXPECT_EQ(vks_import(from, receive(socket), false), VK_SUCCESS);
    EXPECT_EQ(vks_import_fence(f, receive(socket), false), VK_SUCCESS);
    for (int i = 0; i < 100; i++) {
        vks_submit((struct vks_batch){.signal = to});
        vks_submit((struct vks_batch){.wait = from});
    }
    EXPECT_EQ(vkWaitForFences(vk.device, 1, &f, VK_TRUE, 4 * SECONDS_5), VK_SUCCESS);
    VK(vkDeviceWaitIdle(vk.device));
    finish(child, 0);
    vkDestroyFence(vk.device, f, NULL);
    vkDestroySemaphore(vk.device, to, NULL);
    vkDestroySemaphore(vk.device, from, NULL);
    vk_close();
}

// The producer signals once, and is killed in the middle of its work.
static void die(int socket)
{
    vks_open();
    VkSemaphore s = vks_drivers(VK_SEMAPHORE_TYPE_TIMELINE), never = vks_timeline(0);
    EXPECT_EQ(vks_import(s, receive(socket), false), VK_SUCCESS);
    vks_submit((struct vks_batch){.signal = s, .signal_value = 1});
    vks_submit((struct vks_batch){.wait = never, .wait_value = 1, .signal = s, .signal_value = 2});
    EXPECT_EQ(vks_wait(s, 1, 4 * SECONDS_5), VK_SUCCESS);
    kill(getpid(), SIGKILL);
}

TEST(producer_dies)
{
    int socket;
    pid_t child = start(die, &socket);
    vks_open();
    VkSemaphore s = vks_timeline(0), second = vks_timeline(0);
    VkFence f = vks_fence(false, false);
    send_semaphore(socket, s);
    vks_submit((struct vks_batch){.wait = s, .wait_value = 1, .signal = second, .signal_value = 1});
    vks_submit((struct vks_batch){.wait = s, .wait_value = 2, .fence = f});
    EXPECT_EQ(vks_wait(second, 1, 4 * SECONDS_5), VK_SUCCESS);
    finish(child, SIGKILL);
    EXPECT_EQ(vkWaitForFences(vk.device, 1, &f, VK_TRUE, 20000000), VK_TIMEOUT);
    // The semaphore still works, so that anybody can take the producer's place.
    vks_signal(s, 2);
    EXPECT_EQ(vkWaitForFences(vk.device, 1, &f, VK_TRUE, SECONDS_5), VK_SUCCESS);
    VK(vkResetFences(vk.device, 1, &f));
    // The end of the device does not wait for a signal that never comes.
    vks_submit((struct vks_batch){.wait = s, .wait_value = 3, .fence = f});
    vkDestroyFence(vk.device, f, NULL);
    vkDestroySemaphore(vk.device, s, NULL);
    vkDestroySemaphore(vk.device, second, NULL);
    vk_close();
}

TESTS(CASE(ping_pong), CASE(binary_both_ways), CASE(producer_dies))
