/* CPython 3.11's list.sort (Objects/listobject.c; the method is described in Objects/listsort.txt), written anew over
 * positions. Every comparison is made that CPython makes, in its order: with an order that is not transitive the result
 * depends on which pairs are asked. */
#include "analysis/hta_sort.h"

#include "base/mem.h"

#include <string.h>

#define MIN_GALLOP 7
#define MAX_RUNS 85

struct run {
    size_t base, len;
    int power;
};

struct sorter {
    uint32_t *a;
    uint32_t *tmp; /* as large as the smaller run of a merge */
    size_t n;
    hta_less *less;
    void *ctx;
    size_t min_gallop;
    struct run pending[MAX_RUNS];
    int runs;
};

static inline int lt(struct sorter *s, uint32_t a, uint32_t b)
{
    return s->less(s->ctx, a, b);
}

static void binary_sort(struct sorter *s, size_t lo, size_t hi, size_t start)
{
    uint32_t *a = s->a;
    for (start += start == lo; start < hi; start++) {
        uint32_t x = a[start];
        size_t l = lo, r = start;
        while (l < r) {
            size_t p = l + ((r - l) >> 1);
            if (lt(s, x, a[p]))
                r = p;
            else
                l = p + 1;
        }
        memmove(a + l + 1, a + l, (start - l) * sizeof *a);
        a[l] = x;
    }
}

static void reverse(uint32_t *a, size_t n)
{
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t x = a[i];
        a[i] = a[n - 1 - i];
        a[n - 1 - i] = x;
    }
}

/* Length of the run at lo; a strictly descending one is turned round. */
static size_t count_run(struct sorter *s, size_t lo, size_t hi)
{
    uint32_t *a = s->a;
    size_t n = 1;
    if (lo + 1 == hi)
        return 1;
    n = 2;
    if (lt(s, a[lo + 1], a[lo])) {
        for (size_t i = lo + 2; i < hi && lt(s, a[i], a[i - 1]); i++)
            n++;
        reverse(a + lo, n);
    } else {
        for (size_t i = lo + 2; i < hi && !lt(s, a[i], a[i - 1]); i++)
            n++;
    }
    return n;
}

/* Exponential search from a[hint] to one side, then binary: the insertion point of key in the sorted a[0..n), before
 * equal elements (left) or after them (right). Offsets are signed only so that -1 can be said. */
static size_t gallop(struct sorter *s, uint32_t key, const uint32_t *a, size_t n, size_t hint, bool right)
{
    ptrdiff_t last = 0, ofs = 1, h = (ptrdiff_t)hint;
/* "key belongs to the right of a[i]" */
#define AFTER(i) (right ? !lt(s, key, a[i]) : lt(s, a[i], key))
    if (AFTER(h)) {
        ptrdiff_t max = (ptrdiff_t)n - h;
        while (ofs < max && AFTER(h + ofs)) {
            last = ofs;
            ofs = (ofs << 1) + 1;
        }
        if (ofs > max)
            ofs = max;
        last += h;
        ofs += h;
    } else {
        ptrdiff_t max = h + 1;
        while (ofs < max && !AFTER(h - ofs)) {
            last = ofs;
            ofs = (ofs << 1) + 1;
        }
        if (ofs > max)
            ofs = max;
        ptrdiff_t k = last;
        last = h - ofs;
        ofs = h - k;
    }
    last++;
    while (last < ofs) {
        ptrdiff_t m = last + ((ofs - last) >> 1);
        if (AFTER(m))
            last = m + 1;
        else
            ofs = m;
    }
#undef AFTER
    return (size_t)ofs;
}

/* Merges a[0..na) with a[na..na+nb), na <= nb; the first element belongs to the right run, the last one to the left. */
static void merge_lo(struct sorter *s, uint32_t *a, size_t na, size_t nb)
{
    uint32_t *dest = a, *pb = a + na, *pa = s->tmp;
    size_t min_gallop = s->min_gallop;
    memcpy(s->tmp, a, na * sizeof *a);
    *dest++ = *pb++;
    if (--nb == 0)
        goto done;
    if (na == 1)
        goto copy_b;
    for (;;) {
        size_t ac = 0, bc = 0;
        for (;;) {
            if (lt(s, *pb, *pa)) {
                *dest++ = *pb++;
                bc++;
                ac = 0;
                if (--nb == 0)
                    goto done;
                if (bc >= min_gallop)
                    break;
            } else {
                *dest++ = *pa++;
                ac++;
                bc = 0;
                if (--na == 1)
                    goto copy_b;
                if (ac >= min_gallop)
                    break;
            }
        }
        min_gallop++;
        do {
            min_gallop -= min_gallop > 1;
            s->min_gallop = min_gallop;
            ac = gallop(s, *pb, pa, na, 0, true);
            if (ac) {
                memcpy(dest, pa, ac * sizeof *a);
                dest += ac;
                pa += ac;
                na -= ac;
                if (na == 1)
                    goto copy_b;
                if (na == 0) /* only when the comparison contradicts itself */
                    goto done;
            }
            *dest++ = *pb++;
            if (--nb == 0)
                goto done;
            bc = gallop(s, *pa, pb, nb, 0, false);
            if (bc) {
                memmove(dest, pb, bc * sizeof *a);
                dest += bc;
                pb += bc;
                nb -= bc;
                if (nb == 0)
                    goto done;
            }
            *dest++ = *pa++;
            if (--na == 1)
                goto copy_b;
        } while (ac >= MIN_GALLOP || bc >= MIN_GALLOP);
        min_gallop++;
        s->min_gallop = min_gallop;
    }
done:
    if (na)
        memcpy(dest, pa, na * sizeof *a);
    return;
copy_b: /* the last element of the left run belongs at the end */
    memmove(dest, pb, nb * sizeof *a);
    dest[nb] = *pa;
}

/* The same from the right, for na >= nb. */
static void merge_hi(struct sorter *s, uint32_t *a, size_t na, size_t nb)
{
    uint32_t *base_b = s->tmp;
    uint32_t *dest = a + na + nb - 1, *pa = a + na - 1, *pb;
    size_t min_gallop = s->min_gallop;
    memcpy(s->tmp, a + na, nb * sizeof *a);
    pb = s->tmp + nb - 1;
    *dest-- = *pa--;
    if (--na == 0)
        goto done;
    if (nb == 1)
        goto copy_a;
    for (;;) {
        size_t ac = 0, bc = 0;
        for (;;) {
            if (lt(s, *pb, *pa)) {
                *dest-- = *pa--;
                ac++;
                bc = 0;
                if (--na == 0)
                    goto done;
                if (ac >= min_gallop)
                    break;
            } else {
                *dest-- = *pb--;
                bc++;
                ac = 0;
                if (--nb == 1)
                    goto copy_a;
                if (bc >= min_gallop)
                    break;
            }
        }
        min_gallop++;
        do {
            min_gallop -= min_gallop > 1;
            s->min_gallop = min_gallop;
            ac = na - gallop(s, *pb, a, na, na - 1, true);
            if (ac) {
                dest -= ac;
                pa -= ac;
                memmove(dest + 1, pa + 1, ac * sizeof *a);
                na -= ac;
                if (na == 0)
                    goto done;
            }
            *dest-- = *pb--;
            if (--nb == 1)
                goto copy_a;
            bc = nb - gallop(s, *pa, base_b, nb, nb - 1, false);
            if (bc) {
                dest -= bc;
                pb -= bc;
                memcpy(dest + 1, pb + 1, bc * sizeof *a);
                nb -= bc;
                if (nb == 1)
                    goto copy_a;
                if (nb == 0) /* as above */
                    goto done;
            }
            *dest-- = *pa--;
            if (--na == 0)
                goto done;
        } while (ac >= MIN_GALLOP || bc >= MIN_GALLOP);
        min_gallop++;
        s->min_gallop = min_gallop;
    }
done:
    if (nb)
        memcpy(dest + 1 - nb, base_b, nb * sizeof *a);
    return;
copy_a: /* the first element of the right run belongs at the front */
    dest -= na;
    pa -= na;
    memmove(dest + 1, pa + 1, na * sizeof *a);
    *dest = *pb;
}

static void merge_at(struct sorter *s, int i)
{
    struct run *p = s->pending;
    uint32_t *a = s->a + p[i].base, *b = s->a + p[i + 1].base;
    size_t na = p[i].len, nb = p[i + 1].len;
    p[i].len = na + nb;
    if (i == s->runs - 3)
        p[i + 1] = p[i + 2];
    s->runs--;
    size_t k = gallop(s, *b, a, na, 0, true);
    a += k;
    na -= k;
    if (!na)
        return;
    nb = gallop(s, a[na - 1], b, nb, nb - 1, false);
    if (!nb)
        return;
    if (na <= nb)
        merge_lo(s, a, na, nb);
    else
        merge_hi(s, a, na, nb);
}

/* Depth in the ideal merge tree at which two neighbouring runs meet (powersort, Munro & Wild 2018). */
static int power(size_t base, size_t n1, size_t n2, size_t n)
{
    int result = 0;
    size_t a = 2 * base + n1, b = a + n1 + n2;
    for (;;) {
        result++;
        if (a >= n) {
            a -= n;
            b -= n;
        } else if (b >= n) {
            return result;
        }
        a <<= 1;
        b <<= 1;
    }
}

static void found_new_run(struct sorter *s, size_t n2)
{
    if (!s->runs)
        return;
    struct run *p = s->pending;
    int pw = power(p[s->runs - 1].base, p[s->runs - 1].len, n2, s->n);
    while (s->runs > 1 && p[s->runs - 2].power > pw)
        merge_at(s, s->runs - 2);
    p[s->runs - 1].power = pw;
}

static void force_collapse(struct sorter *s)
{
    while (s->runs > 1) {
        int i = s->runs - 2;
        if (i > 0 && s->pending[i - 1].len < s->pending[i + 1].len)
            i--;
        merge_at(s, i);
    }
}

void hta_timsort(uint32_t *order, size_t n, hta_less *less, void *ctx)
{
    if (n < 2)
        return;
    struct sorter s = {.a = order, .n = n, .less = less, .ctx = ctx, .min_gallop = MIN_GALLOP};
    s.tmp = hs_malloc((n / 2 + 1) * sizeof *s.tmp);
    size_t minrun = n, odd = 0;
    while (minrun >= 64) {
        odd |= minrun & 1;
        minrun >>= 1;
    }
    minrun += odd;
    for (size_t lo = 0; lo < n;) {
        size_t len = count_run(&s, lo, n);
        if (len < minrun) {
            size_t force = n - lo < minrun ? n - lo : minrun;
            binary_sort(&s, lo, lo + force, lo + len);
            len = force;
        }
        found_new_run(&s, len);
        s.pending[s.runs++] = (struct run){lo, len, 0};
        lo += len;
    }
    force_collapse(&s);
    hs_free_array((void **)&s.tmp);
}
