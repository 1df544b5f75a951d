// SPDX-License-Identifier: MIT
// docs/learn, lesson 8: two processes share memory by a file descriptor.
//
//   lesson_8 [wrong]     wrong: the importer passes the size that it needs, not the allocation's
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn.h"

enum { SIZE = 4 << 20, NEEDED = 1 << 20 };

// [descriptor]
// A descriptor is a number that means nothing in another process, so a socket must pass it on.
union control {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static void send_descriptor(int socket, int fd)
{
    char byte = 0;
    union control control = {{0}};
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(socket, &message, 0) != 1)
        exit(1);
}
// [end]

static int receive_descriptor(int socket)
{
    char byte;
    int fd = -1;
    union control control;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};
    if (recvmsg(socket, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
        exit(1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

// [importer]
static int importer(int socket, int wrong)
{
    unsigned char byte = 0;
    const int fd = receive_descriptor(socket); // waits for the exporter
    learn_start();
    CUexternalMemory memory = learn_import(fd, wrong ? NEEDED : SIZE);
    CUdeviceptr pointer = learn_map(memory, 0, NEEDED);
    CU(cuMemcpyDtoH(&byte, pointer, 1));
    printf("the importer reads %d\n", byte);
    CU(cuMemsetD8(pointer, 6, NEEDED));
    CU(cuCtxSynchronize()); // before the exporter may read
    CU(cuMemFree(pointer));
    CU(cuDestroyExternalMemory(memory));
    return byte != 5;
}
// [end]

// [exporter]
static void exporter(int socket, pid_t child)
{
    CUmemAllocationProp properties = {0};
    CUmemAccessDesc access = {0};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr pointer;
    unsigned char byte = 0;
    int fd;
    learn_start();
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CU(cuMemCreate(&handle, SIZE, &properties, 0));
    CU(cuMemAddressReserve(&pointer, SIZE, 0, 0, 0));
    CU(cuMemMap(pointer, SIZE, 0, handle, 0));
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CU(cuMemSetAccess(pointer, SIZE, &access, 1));
    CU(cuMemsetD8(pointer, 5, SIZE));
    CU(cuCtxSynchronize()); // before the importer may read
    CU(cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    send_descriptor(socket, fd);
    close(fd); // the importer has a copy
    waitpid(child, NULL, 0);
    CU(cuMemcpyDtoH(&byte, pointer, 1));
    printf("the exporter reads %d\n", byte);
    CU(cuMemUnmap(pointer, SIZE));
    CU(cuMemAddressFree(pointer, SIZE));
    CU(cuMemRelease(handle));
}
// [end]

int main(int argc, char **argv)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
        return 1;
    // [fork]
    const pid_t child = fork(); // before the first call of CUDA
    if (child < 0)
        return 1;
    if (!child)
        return importer(sockets[1], learn_wrong(argc, argv));
    exporter(sockets[0], child);
    // [end]
    return 0;
}
