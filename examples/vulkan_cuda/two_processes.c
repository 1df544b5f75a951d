// SPDX-License-Identifier: MIT
// The same as one_process, with Vulkan in one process and CUDA in another. The file descriptors of
// the memory travel through a Unix socket.
//
//   two_processes [picture.png]
//
// The Vulkan process starts the CUDA process as a new program (not as a fork that continues):
// `two_processes --cuda SOCKET`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu.h"
#include "interop.h"
#include "picture.h"

enum { WIDTH = 512, HEIGHT = 256, LAYERS = 2, LEVELS = 10 };

// The first message, from CUDA to Vulkan, names the device. The second, from Vulkan to CUDA, has
// the two descriptors and describes them.
struct hello {
    uint8_t uuid[16];
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void send_offer(int socket, const struct interop_offer *offer, int image_fd, int buffer_fd)
{
    struct iovec data = {(void *)offer, sizeof *offer};
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    int fds[2] = {image_fd, buffer_fd};
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(c), fds, sizeof fds);
    if (sendmsg(socket, &message, 0) != (ssize_t)sizeof *offer)
        fail("sendmsg");
}

static void receive_offer(int socket, struct interop_offer *offer, int fds[2])
{
    struct iovec data = {offer, sizeof *offer};
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    if (recvmsg(socket, &message, MSG_WAITALL) != (ssize_t)sizeof *offer)
        fail("recvmsg");
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(2 * sizeof(int))) {
        fprintf(stderr, "the message brought no file descriptors\n");
        exit(1);
    }
    memcpy(fds, CMSG_DATA(c), 2 * sizeof(int));
}

static int cuda_process(int socket)
{
    struct hello hello;
    struct interop_offer offer;
    int fds[2];
    CUdevice device = interop_open(hello.uuid);
    if (write(socket, &hello, sizeof hello) != (ssize_t)sizeof hello)
        fail("write");
    receive_offer(socket, &offer, fds);
    struct interop in;
    interop_import(&in, &offer, fds[0], fds[1]);
    interop_work(&in);
    interop_drop(&in);
    interop_close(device);
    return 0;
}

static pid_t start_cuda_process(int *socket_out)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        fail("socketpair");
    pid_t child = fork();
    if (child < 0)
        fail("fork");
    if (!child) {
        char number[16];
        close(pair[0]);
        snprintf(number, sizeof number, "%d", pair[1]);
        execl("/proc/self/exe", "two_processes", "--cuda", number, (char *)NULL);
        fail("exec");
    }
    close(pair[1]);
    *socket_out = pair[0];
    return child;
}

static uint64_t vulkan_process(const char *png)
{
    int socket;
    struct hello hello;
    pid_t child = start_cuda_process(&socket);
    if (recv(socket, &hello, sizeof hello, MSG_WAITALL) != (ssize_t)sizeof hello)
        fail("the CUDA process said nothing");
    struct gpu gpu;
    gpu_open(&gpu, hello.uuid);
    uint64_t chain_B = picture_chain_B(WIDTH, HEIGHT, LEVELS);
    struct gpu_image image;
    struct gpu_buffer shared, host;
    gpu_image_create(&gpu, &image, VK_FORMAT_R8G8B8A8_UINT, WIDTH, HEIGHT, LAYERS, LEVELS);
    gpu_buffer_create(&gpu, &shared, chain_B, 1);
    gpu_buffer_create(&gpu, &host, chain_B, 0);
    gpu_draw(&gpu, &image);

    struct interop_offer offer = {
        image.memory.size_B, shared.memory.size_B, chain_B, WIDTH, HEIGHT, LAYERS, LEVELS};
    int image_fd = gpu_memory_fd(&gpu, &image.memory),
        buffer_fd = gpu_memory_fd(&gpu, &shared.memory);
    send_offer(socket, &offer, image_fd, buffer_fd);
    close(image_fd); // closed because the other process has a duplicate
    close(buffer_fd);
    int status;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status)) {
        fprintf(stderr, "the CUDA process failed\n");
        exit(1);
    }
    close(socket);

    uint8_t *drawn = malloc(chain_B), *expected = malloc(chain_B);
    if (!drawn || !expected)
        exit(1);
    picture_drawn(drawn, WIDTH, HEIGHT, LEVELS);
    picture_expected(expected, drawn, WIDTH, HEIGHT, LEVELS);
    uint64_t wrong = 0;
    gpu_read_layer(&gpu, &image, 1, &host);
    wrong += picture_compare("layer 1, made by the CUDA process", host.mapped, expected, WIDTH,
                             HEIGHT, LEVELS);
    gpu_read_buffer(&gpu, &shared, &host);
    wrong += picture_compare("buffer, filled by the CUDA process", host.mapped, expected, WIDTH,
                             HEIGHT, LEVELS);
    if (picture_write_png(png, drawn, host.mapped, WIDTH, HEIGHT, LEVELS))
        wrong++;
    free(expected);
    free(drawn);
    gpu_buffer_destroy(&gpu, &host);
    gpu_buffer_destroy(&gpu, &shared);
    gpu_image_destroy(&gpu, &image);
    gpu_close(&gpu);
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "--cuda"))
        return cuda_process(atoi(argv[2]));
    const char *png = argc > 1 ? argv[1] : "vulkan_cuda_2.png";
    uint64_t wrong = vulkan_process(png);
    printf("two_processes: %s; picture in %s\n", wrong ? "WRONG PIXELS" : "all pixels are right",
           png);
    return wrong != 0;
}
