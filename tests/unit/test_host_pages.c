// SPDX-License-Identifier: MIT
// Both ways to ask for the mappings of a range give the same answer, and the right one.
#include "host_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_B = 4096, PAGES = 12 };

static void check(uint64_t address, uint64_t size, uint64_t mapped, bool all_writable)
{
    struct em_host_pages by_query, by_text;
    if (!em_host_pages(address, size, &by_query) ||
        !em_host_pages_from_text(address, size, &by_text)) {
        fprintf(stderr, "/proc/self/maps cannot be read\n");
        exit(1);
    }
    if (by_query.mapped != mapped || by_text.mapped != mapped ||
        by_query.all_writable != all_writable || by_text.all_writable != all_writable) {
        fprintf(stderr,
                "%#llx+%llu: mapped %llu (query) and %llu (text), expected %llu; "
                "all writable %d and %d, expected %d\n",
                (unsigned long long)address, (unsigned long long)size,
                (unsigned long long)by_query.mapped, (unsigned long long)by_text.mapped,
                (unsigned long long)mapped, by_query.all_writable, by_text.all_writable,
                all_writable);
        exit(1);
    }
}

// Pages without a file, with one, and a hole. On kernels before 6.11 each answer is "no".
static void check_anonymous(void)
{
    static const char kinds[PAGES + 1] = "aaapspaa-aaa"; // p: private, s: shared, both of a file
    int file = memfd_create("pages", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, PAGE_B))
        exit(1);
    unsigned char *p =
        mmap(NULL, PAGES * PAGE_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < PAGES; i++)
        if (kinds[i] == 'p' || kinds[i] == 's')
            mmap(p + i * PAGE_B, PAGE_B, PROT_READ | PROT_WRITE,
                 MAP_FIXED | (kinds[i] == 'p' ? MAP_PRIVATE : MAP_SHARED), file, 0);
        else if (kinds[i] == '-')
            munmap(p + i * PAGE_B, PAGE_B);
    const bool known = em_host_pages_are_anonymous((uintptr_t)p, PAGE_B);
    for (int first = 0; first < PAGES; first++)
        for (int count = 1; first + count <= PAGES; count++) {
            bool all = known;
            for (int i = first; i < first + count; i++)
                all &= kinds[i] == 'a';
            if (em_host_pages_are_anonymous((uintptr_t)p + (uint64_t)first * PAGE_B + 1,
                                            (uint64_t)count * PAGE_B - 2) == all)
                continue;
            fprintf(stderr, "%d pages from page %d: expected %d\n", count, first, all);
            exit(1);
        }
}

int main(void)
{
    check_anonymous();
    static const char rights[PAGES + 1] = "wwwrrw-wwrww"; // '-': no rights; a hole follows page 8
    enum { HOLE = 8 };
    unsigned char *p =
        mmap(NULL, PAGES * PAGE_B, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    for (int i = 0; i < PAGES; i++)
        mprotect(p + i * PAGE_B, PAGE_B,
                 rights[i] == 'w'   ? PROT_READ | PROT_WRITE
                 : rights[i] == 'r' ? PROT_READ
                                    : 0);
    munmap(p + HOLE * PAGE_B, PAGE_B);
    for (int first = 0; first < PAGES; first++)
        for (int count = 1; first + count <= PAGES; count++)
            for (int shift = 0; shift < 2; shift++) { // also ranges that do not begin with a page
                uint64_t address = (uintptr_t)p + (uint64_t)first * PAGE_B + (shift ? 100 : 0);
                uint64_t size = (uint64_t)count * PAGE_B - (shift ? 200 : 0);
                uint64_t end = address;
                bool writable = true;
                for (int i = first; i < first + count && rights[i] != '-' && i != HOLE; i++) {
                    writable &= rights[i] == 'w';
                    end = (uintptr_t)p + (uint64_t)(i + 1) * PAGE_B;
                }
                uint64_t mapped = end - address < size ? end - address : size;
                check(address, size, mapped, writable);
            }
    check((UINT64_C(1) << 47) - 2 * PAGE_B, PAGE_B, 0, true); // nothing is mapped from there on
    return 0;
}
