/* PyTorch's generic kernels (elementwise_kernel, reduce_kernel, cutlass::Kernel2, ...) are told apart only by a functor deep
 * in their template arguments: this digs it out. */
#include "trace/display_name.h"
#include "trace/names.h"

#include <string.h>

#define MAX_NESTING 6  /* wrappers in wrappers that are looked into */
#define MAX_LOOK 16384 /* longer names are not searched: that takes time that goes with the square of the length */

static const char *const wrappers[] = {"gpu_kernel_impl", "gpu_kernel_impl_nocast", "func_wrapper_t", "ReduceOp",
                                       "BinaryFunctor",   "AUnaryFunctor",          "BUnaryFunctor"};
static const char *const plain_types[] = {
    "int",       "float",         "double",  "bool",   "char",          "unsigned",
    "signed",    "long",          "short",   "void",   "true",          "false",
    "c10::Half", "c10::BFloat16", "half",    "__half", "__nv_bfloat16", "std::integral_constant",
    "size_t",    "int64_t",       "uint32_t"};

static bool in_list(struct hs_str s, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (hs_str_is(s, list[i]))
            return true;
    return false;
}

static struct hs_str trim(struct hs_str s)
{
    while (s.n && s.p[0] == ' ')
        s = hs_str(s.p + 1, s.n - 1);
    while (s.n && s.p[s.n - 1] == ' ')
        s.n--;
    return s;
}

/* Where the piece that starts at `i` ends: at one of `stops` outside all brackets, at a closing bracket that it did not open,
 * or at the end. "->" closes nothing. */
static size_t piece_end(struct hs_str s, size_t i, const char *stops)
{
    size_t depth = 0;
    for (; i < s.n; i++) {
        char c = s.p[i];
        if (!depth && c && strchr(stops, c))
            return i;
        if (c == '<' || c == '(' || c == '{' || c == '[')
            depth++;
        else if (c == '>' && i && s.p[i - 1] == '-')
            continue;
        else if (c == '>' || c == ')' || c == '}' || c == ']') {
            if (!depth)
                return i;
            depth--;
        }
    }
    return s.n;
}

static struct hs_str head_of(struct hs_str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] && !strchr("<({[ *&", s.p[n]))
        n++;
    return hs_str(s.p, n);
}

/* The last component of a::b::c that is neither a lambda nor its operator(). */
static struct hs_str last_component(struct hs_str s)
{
    struct hs_str best = {NULL, 0};
    for (size_t i = 0; i < s.n;) {
        size_t end = piece_end(s, i, ":");
        struct hs_str part = hs_str(s.p + i, end - i);
        if (part.n && part.p[0] != '{' && part.p[0] != '(' && !hs_str_starts(part, "operator"))
            best = part;
        i = end + 1;
    }
    return best;
}

/* What the template arguments that start at args.p work on: the first that is no number and no plain type; of a wrapper, what
 * that wraps. Empty if there is none. */
static struct hs_str subject(struct hs_str args)
{
    struct hs_str found = {NULL, 0};
    for (int nesting = 0; nesting < MAX_NESTING; nesting++) {
        struct hs_str part = {NULL, 0};
        for (size_t i = 0; i < args.n && !part.n;) {
            size_t end = piece_end(args, i, ",");
            struct hs_str arg = trim(hs_str(args.p + i, end - i)), head = head_of(arg);
            bool word = arg.n && (arg.p[0] == '_' || (arg.p[0] | 0x20) >= 'a') && (arg.p[0] | 0x20) <= 'z';
            if (word && !in_list(head, plain_types, sizeof plain_types / sizeof plain_types[0]))
                part = last_component(arg);
            if (end >= args.n || args.p[end] != ',')
                break;
            i = end + 1;
        }
        if (!part.n)
            break;
        found = head_of(part);
        const char *open = memchr(part.p, '<', part.n);
        if (!open || !in_list(found, wrappers, sizeof wrappers / sizeof wrappers[0]))
            break;
        args = hs_str(open + 1, part.n - (size_t)(open + 1 - part.p));
    }
    return found;
}

/* The template arguments that follow the short name's last component in the full name. */
static struct hs_str arguments(struct hs_str name, struct hs_str shorter)
{
    size_t i = shorter.n;
    while (i && shorter.p[i - 1] != ':')
        i--;
    struct hs_str last = hs_str(shorter.p + i, shorter.n - i);
    for (const char *p = name.p; last.n && (p = memmem(p, name.n - (size_t)(p - name.p), last.p, last.n)); p++) {
        const char *after = p + last.n;
        if (after < name.p + name.n && *after == '<')
            return hs_str(after + 1, name.n - (size_t)(after + 1 - name.p));
    }
    return hs_str("", 0);
}

/* Never inside a UTF-8 sequence. */
static size_t char_border(struct hs_str s, size_t at)
{
    while (at && at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80)
        at--;
    return at;
}

void hs_put_display_name(struct hs_buf *out, struct hs_str name, size_t max)
{
    struct hs_buf scratch = HS_BUF_INIT(name.n + 1), full = HS_BUF_INIT(2 * name.n + 8);
    struct hs_str shorter = hs_short_name(name, &scratch), about = {NULL, 0};
    size_t colons = 0;
    for (size_t i = 0; i < shorter.n; i++) { /* "::::" is what an anonymous namespace leaves */
        colons = shorter.p[i] == ':' ? colons + 1 : 0;
        if (colons < 3)
            hs_buf_putc(&full, shorter.p[i]);
    }
    if (shorter.n && shorter.n < name.n && name.n <= MAX_LOOK)
        about = subject(arguments(name, shorter));
    if (about.n) {
        hs_buf_putc(&full, '<');
        hs_buf_put(&full, about.p, about.n);
        hs_buf_putc(&full, '>');
    }
    struct hs_str s = hs_str(full.p ? full.p : "", full.n);
    if (s.n <= max) {
        hs_buf_put(out, s.p, s.n);
    } else {
        size_t head = char_border(s, max * 2 / 3), tail = char_border(s, s.n - (max - max * 2 / 3));
        hs_buf_put(out, s.p, head);
        hs_buf_puts(out, "…");
        hs_buf_put(out, s.p + tail, s.n - tail);
    }
    hs_buf_free(&scratch);
    hs_buf_free(&full);
}
