// SPDX-License-Identifier: MIT
// Sends a descriptor and some bytes to another process over a socket.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static inline bool send_fd(int socket, int fd, const void *bytes, size_t size)
{
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec io = {(void *)bytes, size};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    return sendmsg(socket, &m, 0) == (ssize_t)size;
}

// Returns -1 if the other process sent no descriptor.
static inline int receive_fd(int socket, void *bytes, size_t size)
{
    int fd = -1;
    char control[CMSG_SPACE(sizeof fd)];
    struct iovec io = {bytes, size};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) == (ssize_t)size && CMSG_FIRSTHDR(&m))
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof fd);
    return fd;
}
