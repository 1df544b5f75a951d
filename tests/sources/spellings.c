// SPDX-License-Identifier: MIT
// Ways to move bytes in bulk that bulk.py has to find (found_*), and code that only looks like it
// (other_*). Read by it, not compiled.

void found_sizeof_times_count(char *d, const char *s, uint64_t n)
{
    memcpy(d, s, sizeof *s * n);
}
void found_sizeof_parenthesised_times_count(char *d, const char *s, uint64_t n)
{
    memcpy(d, s, sizeof(*s) * n);
}
void found_sizeof_and_less(char *d, uint64_t n)
{
    memset(d, 0, sizeof *d * n - 4);
}
void found_member_size(struct copy *c)
{
    memmove(c->to, c->from, c->size_B);
}
void found_builtin(char *d, const char *s, uint64_t n)
{
    __builtin_memcpy(d, s, n);
}
void found_builtin_checked(char *d, const char *s, uint64_t n)
{
    __builtin___memmove_chk(d, s, n, 16);
}
void found_builtin_inline(char *d, const char *s, uint64_t n)
{
    __builtin_memset(d, 0, n);
}
void found_space_before_parenthesis(char *d, const char *s, uint64_t n)
{
    memcpy(d, s, n);
}
void found_over_two_lines(char *d, const char *s, uint64_t n)
{
    memcpy(d, s, /* a comment, with a parenthesis) in it */
           n);
}
void found_within_a_call(char *d, const char *s, uint64_t n)
{
    use(memcpy(d, s, n));
}
void found_size_by_a_call(char *d, const char *s)
{
    memcpy(d, s, size_of(s));
}
void found_old_names(char *d, const char *s, uint64_t n)
{
    bcopy(s, d, n);
}
void found_wide(wchar_t *d, const wchar_t *s, uint64_t n)
{
    wmemcpy(d, s, n);
}
void found_end_returned(char *d, const char *s, uint64_t n)
{
    d = mempcpy(d, s, n);
}
void found_pointer(char *d, const char *s, uint64_t n)
{
    void *(*move)(void *, const void *, size_t) = memcpy;
    move(d, s, n);
}
void found_address(char *d, const char *s, uint64_t n)
{
    run(&memcpy, d, s, n);
}
void found_parenthesised(char *d, const char *s, uint64_t n)
{
    (memcpy)(d, s, n);
}
void found_file(char *d, uint64_t n)
{
    pread(3, d, n, 0);
}
void found_file_written(const char *s, uint64_t n)
{
    if (write(3, s, n) < 0)
        return;
}
void found_process(struct iovec *d, struct iovec *s, uint64_t n)
{
    process_vm_readv(1, d, 1, s, n, 0);
}
void found_vectors(struct iovec *d)
{
    readv(3, d, 2);
}
void found_between_files(int d, int s, uint64_t n)
{
    copy_file_range(s, NULL, d, NULL, n, 0);
}
#define found_macro(d, s, n) memcpy(d, s, n)
#define found_macro_of_lines(d, s, n)                                                              \
    do {                                                                                           \
        memcpy(d, s, n);                                                                           \
    } while (0)

void found_pieces(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 16)
        memcpy(d + i, s + i, 16);
}
void found_pieces_by_pointer(char *d, const char *s, uint64_t n)
{
    for (; n; n--, d += 8, s += 8)
        memcpy(d, s, sizeof(uint64_t));
}

void found_index(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[i] = s[i];
}
void found_without_spaces(char *d, const char *s, uint64_t n)
{
    for (i = 0; i < n; i++) {
        d[i] = s[i];
    }
}
void found_offset(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[at + i] = s[i];
}
void found_pitch(char *d, const char *s, uint64_t n)
{
    for (y = 0; y < h; y++)
        for (x = 0; x < w; x++)
            d[y * pitch + x] = s[y * w + x];
}
void found_fill(char *d, char v, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[i] = v;
}
void found_fill_zero(char *d, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[i] = 0;
}
void found_fill_cast(char *d, int v, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[i] = (uint8_t)v;
}
void found_fill_of_two(short *d, int v, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[i] = (uint16_t)(v << 8 | v);
}
void found_pointers(char *d, const char *s, uint64_t n)
{
    while (n--)
        *d++ = *s++;
}
void found_pointers_before(char *d, const char *s, uint64_t n)
{
    while (n--)
        *++d = *++s;
}
void found_pointers_in_header(char *d, const char *s, uint64_t n)
{
    for (; n--; d++, s++)
        *d = *s;
}
void found_pointers_in_body(char *d, const char *s, uint64_t n)
{
    while (n) {
        *d = *s;
        d++;
        s++;
        n--;
    }
}
void found_pointers_added(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        *(d + i) = *(s + i);
}
void found_pointer_fill(char *d, char v, uint64_t n)
{
    while (n--)
        *d++ = v;
}
void found_pointer_with_end(char *d, char v, char *end)
{
    while (d < end) {
        *d = v;
        d += 1;
    }
}
void found_parentheses(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        (d[i]) = (s[i]);
}
void found_casts(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        ((uint32_t *)d)[i] = ((const uint32_t *)s)[i];
}
void found_words(char *d, const char *s, uint64_t n)
{
    for (; n >= 8; n -= 8, d += 8, s += 8)
        *(uint64_t *)d = *(const uint64_t *)s;
}
void found_cast_value(char *d, const int *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[i] = (char)s[i];
}
void found_reversed(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = n; i--;)
        d[i] = s[i];
}
void found_reversed_pointers(char *d, const char *s, uint64_t n)
{
    d += n, s += n;
    while (n--)
        *--d = *--s;
}
void found_turned_around(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[n - 1 - i] = s[i];
}
void found_do_while(char *d, const char *s, uint64_t n)
{
    do {
        d[n - 1] = s[n - 1];
    } while (--n);
}
void found_do_without_braces(char *d, const char *s, uint64_t n)
{
    do
        *d++ = *s++;
    while (--n);
}
void found_endless(char *d, const char *s, uint64_t n)
{
    for (;;) {
        if (!n--)
            break;
        d[n] = s[n];
    }
}
void found_in_header(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; d[i] = s[i], i++)
        ;
}
void found_in_condition(char *d, const char *s)
{
    while ((*d++ = *s++))
        ;
}
void found_under_condition(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (mask[i])
            d[i] = s[i];
}
void found_two_at_once(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 2)
        d[i] = s[i], d[i + 1] = s[i + 1];
}
void found_local_pointers(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        char *p = d + i;
        const char *q = s + i;
        *p = *q;
    }
}
void found_members(struct p *d, const struct p *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d->bytes[i] = s->bytes[i];
}
void found_member_of_element(struct p *d, const struct p *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[i].v = s[i].v;
}
void found_member_by_pointer(struct p *d, const struct p *s, uint64_t n)
{
    for (; n--; d++, s++)
        d->v = s->v;
}
void found_two_indices(char (*d)[64], char (*s)[64], uint64_t n)
{
    for (y = 0; y < n; y++)
        for (x = 0; x < 64; x++)
            d[y][x] = s[y][x];
}
void found_stepped_elsewhere(char *d, const char *s, uint64_t n)
{
    uint64_t i = 0;
    while (i < n) {
        d[i] = s[i];
        next(&i);
    }
}
void found_via_local(char *d, const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        char c = s[i];
        d[i] = c;
    }
}
#define found_loop_in_a_macro(d, s, n)                                                             \
    for (uint64_t i = 0; i < n; i++)                                                               \
    (d)[i] = (s)[i]
void found_unrolled(char *d, const char *s, uint64_t n)
{
    switch (n & 1)
    case 0:
        do {
            *d++ = *s++;
        case 1:
            *d++ = *s++;
        } while ((n -= 2) > 0);
}

void other_struct(struct p *d, const struct p *s)
{
    memcpy(d, s, sizeof *d);
}
void other_bytes(uint32_t *d, const char *s)
{
    memcpy(d, s, 4);
}
void other_several(char *d, const char *s)
{
    memcpy(d, s, sizeof(struct head) + 2 * sizeof(uint64_t));
}
void other_offset(struct p *d)
{
    memset(d, 0, offsetof(struct p, bytes));
}
void other_member(struct ops *o, char *d, uint64_t n)
{
    o->memcpy(d, n);
}
void other_kernel(char *d, const char *s, uint64_t n)
{
    kn_copy(d, s, n);
}
void other_text(void)
{
    say("memcpy(d, s, n); while (n--) *d++ = *s++;");
}
// void other_comment(void) { memcpy(d, s, n); }
void other_declaration(void)
{
    void *memcpy(void *d, const void *s, size_t n);
}
void other_sum(const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        sum += s[i];
}
void other_found(const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        last = s[i];
}
void other_array(uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        int parts[4] = {0};
        use(parts);
    }
}
void other_computed(struct p *d, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[i] = make(i);
}
void other_one(struct p *d, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (d[i] == gone) {
            d[i] = 0;
            break;
        }
}
void other_list(struct p **at, struct p *gone)
{
    while (*at) {
        if (*at == gone) {
            *at = gone->next;
            return;
        }
        at = &(*at)->next;
    }
}
void other_same_place(char *d, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[0] = 1;
}
void other_three(uint64_t *d, const uint64_t *s)
{
    for (int i = 0; i < 3; i++)
        d[i] = s[i];
}
void other_word_by_word(const char *s, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += 8) {
        memcpy(&word, s + i, 8);
        sum += word;
    }
}
void other_declared(node **path, uint64_t n)
{
    while (n--) {
        node *a = path[n], *b = a->slot[n];
        use(a, b);
    }
}
void other_returned(uint64_t *end, uint64_t n)
{
    for (*end = 0; n; n--)
        use(n);
}
void other_member_set(struct p *d, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        d[i].known = true;
}
void other_no_loop(char *d, const char *s, uint64_t i)
{
    d[i] = s[i];
}
void other_macro_block(char *d, uint64_t i)
{
    do {
        d[i] = v;
        i++;
    } while (0);
}
void other_initialised(uint64_t n)
{
    for (const char *p = list[n]; n--; p = next(p))
        use(p);
}
