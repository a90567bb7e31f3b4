#include "ingest/source.h"

#include "ingest/source_archive.h"
#include "ingest/source_gzip.h"
#include "ingest/source_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GZIP_LAYERS 2
#define SNIFF 512u

/* A pile of layers that ends in plain bytes: `top` looks ahead on the outermost gunzip, or on the bytes as they came. */
struct pile {
    struct hs_peek peek[GZIP_LAYERS + 1];
    struct hs_gunzip *gunzip[GZIP_LAYERS];
    int layers;
    struct hs_peek *top;
};

struct hs_source {
    struct hs_input *in;
    const struct hs_tee *tee;
    struct hs_budget budget;
    _Atomic uint64_t bytes_out;
    bool raw_ended;
    struct hs_quality defects; /* found, not yet told */
    bool started, single_done;
    struct pile outer;          /* over the input */
    struct hs_archive *archive; /* over outer; NULL: outer is the document */
    struct pile inner;          /* over the archive's member */
    struct hs_text text;
    uint32_t documents;
    uint64_t earlier; /* bytes of earlier documents of the archive */
    char format[48];
};

static int raw_read(void *self, void *buf, size_t cap, size_t *got, struct hs_err *err)
{
    struct hs_source *s = self;
    size_t n = 0;
    int rc = s->raw_ended ? HS_OK : s->in->read(s->in->ctx, buf, cap, &n, err);
    if (!rc && n) {
        uint64_t total = atomic_fetch_add_explicit(&s->budget.bytes_in, n, memory_order_relaxed) + n;
        if (total > s->budget.limits->bytes_in)
            rc = hs_fail(err, HS_ELIMIT, "%s is larger than %llu bytes, the configured limit", s->budget.name,
                         (unsigned long long)s->budget.limits->bytes_in);
        else if (s->tee)
            rc = s->tee->write(s->tee->ctx, buf, n, err);
    }
    if (rc)
        return rc;
    s->raw_ended = !n;
    *got = n;
    return HS_OK;
}

int hs_source_new(struct hs_source **out, struct hs_input *in, const struct hs_limits *limits, const struct hs_tee *tee,
                  struct hs_err *err)
{
    (void)err; /* nothing is read yet, nothing can fail */
    struct hs_source *s = hs_calloc(1, sizeof *s);
    s->in = in;
    s->tee = tee;
    s->budget.limits = limits;
    s->budget.name = in->name ? in->name : "the input";
    hs_quality_init(&s->defects);
    snprintf(s->format, sizeof s->format, "json");
    *out = s;
    return HS_OK;
}

static void pile_free(struct pile *p)
{
    while (p->layers)
        hs_gunzip_free(p->gunzip[--p->layers]);
}

void hs_source_free(struct hs_source *s)
{
    if (!s)
        return;
    pile_free(&s->inner);
    hs_archive_free(s->archive);
    pile_free(&s->outer);
    free(s);
}

/* Puts gunzip layers on as long as the bytes are gzip. */
static int pile_up(struct pile *p, struct hs_pull bottom, struct hs_source *s, struct hs_err *err)
{
    p->top = &p->peek[0];
    hs_peek_init(p->top, bottom);
    for (;;) {
        const unsigned char *b;
        size_t n;
        int rc = hs_peek_look(p->top, SNIFF, &b, &n, err);
        if (rc || !hs_is_gzip(b, n))
            return rc;
        if (p->layers == GZIP_LAYERS)
            return hs_fail(err, HS_EINPUT, "%s is gzip within gzip more than %d times; unpack it first", s->budget.name,
                           GZIP_LAYERS);
        struct hs_gunzip *g = hs_gunzip_new(hs_inflate_best, hs_peek_pull(p->top), &s->budget, &s->defects);
        p->gunzip[p->layers++] = g;
        p->top = &p->peek[p->layers];
        hs_peek_init(p->top, hs_gunzip_pull(g));
    }
}

static void name_format(struct hs_source *s, enum hs_archive_kind kind)
{
    static const char *const gz[] = {"", "gzip", "gzip in gzip"};
    const char *g = gz[s->outer.layers], *a = hs_archive_kind_name(kind);
    if (*g || *a)
        snprintf(s->format, sizeof s->format, "%s%s%s", a, *g && *a ? " in " : "", g);
}

static int start(struct hs_source *s, struct hs_err *err)
{
    s->started = true;
    int rc = pile_up(&s->outer, (struct hs_pull){raw_read, s}, s, err);
    const unsigned char *b;
    size_t n;
    if (rc || (rc = hs_peek_look(s->outer.top, SNIFF, &b, &n, err)))
        return rc;
    enum hs_archive_kind kind = hs_archive_sniff(b, n);
    name_format(s, kind);
    if (!kind)
        return HS_OK;
    for (int i = 0; i < s->outer.layers; i++) /* an archive may be larger than one document may */
        hs_gunzip_whole(s->outer.gunzip[i], false);
    return hs_archive_new(&s->archive, kind, hs_peek_pull(s->outer.top), &s->budget, &s->defects, s->budget.name, err);
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n >= k && !strcasecmp(name + n - k, suffix);
}

/* A member is taken for a trace by its name or by its first character; the reader has the last word. */
static int looks_like_trace(struct hs_source *s, const char *name, bool *yes, struct hs_err *err)
{
    *yes = ends_with(name, ".json") || ends_with(name, ".gz") || ends_with(name, ".tmp");
    const unsigned char *b;
    size_t n;
    int rc = hs_peek_look(s->inner.top, 64, &b, &n, err);
    for (size_t i = 0; !rc && !*yes && i < n; i++) {
        if (b[i] == '{' || b[i] == '[')
            *yes = true;
        else if (!strchr(" \t\r\n\xef\xbb\xbf\xff\xfe", b[i])) /* blanks, marks; strchr takes the NUL of UTF-16, too */
            break;
    }
    return rc;
}

static int next_member(struct hs_source *s, bool *more, const char **name, struct hs_err *err)
{
    for (;;) {
        pile_free(&s->inner);
        int rc = hs_archive_next(s->archive, more, name, err);
        if (rc || !*more)
            return rc;
        bool yes = false;
        if ((rc = pile_up(&s->inner, hs_archive_pull(s->archive), s, err)) ||
            (rc = looks_like_trace(s, *name, &yes, err)))
            return rc;
        if (!yes) {
            hs_quality_add(&s->defects, HS_Q_ARCHIVE_IGNORED, 1, -1);
            continue;
        }
        if (++s->documents > s->budget.limits->members)
            return hs_fail(err, HS_ELIMIT, "%s holds more than %u traces, the configured limit", s->budget.name,
                           s->budget.limits->members);
        return hs_text_init(&s->text, s->inner.top, &s->defects, err);
    }
}

int hs_source_next(struct hs_source *s, bool *more, const char **name, struct hs_err *err)
{
    *more = false;
    int rc = s->started ? HS_OK : start(s, err);
    if (rc)
        return rc;
    s->earlier += atomic_load_explicit(&s->bytes_out, memory_order_relaxed);
    atomic_store_explicit(&s->bytes_out, 0, memory_order_relaxed);
    if (s->archive)
        return next_member(s, more, name, err);
    if (s->single_done)
        return HS_OK;
    s->single_done = true;
    *more = true;
    *name = s->budget.name;
    return hs_text_init(&s->text, s->outer.top, &s->defects, err);
}

bool hs_source_is_archive(const struct hs_source *s)
{
    return s->archive && hs_archive_has_names(s->archive);
}

void hs_source_defects(struct hs_source *s, struct hs_quality *q)
{
    for (int k = 0; k < HS_QUALITY_KINDS; k++)
        if (s->defects.count[k])
            hs_quality_add(q, (enum hs_quality_kind)k, s->defects.count[k], s->defects.first[k]);
    hs_quality_init(&s->defects);
}

int hs_source_read(struct hs_source *s, void *buf, size_t cap, size_t *got, struct hs_quality *q, struct hs_err *err)
{
    int rc = hs_text_read(&s->text, buf, cap, got, &s->defects, err);
    if (rc)
        return rc;
    hs_source_defects(s, q);
    uint64_t out = atomic_fetch_add_explicit(&s->bytes_out, *got, memory_order_relaxed) + *got;
    rc = hs_budget_check(&s->budget, out, true, err);
    return rc ? rc : hs_budget_check(&s->budget, s->earlier + out, false, err);
}

int hs_source_drain(struct hs_source *s, struct hs_err *err)
{
    enum { N = 64 << 10 };
    char *scrap = hs_malloc(N);
    size_t got = 1;
    int rc = HS_OK;
    while (!rc && got)
        rc = raw_read(s, scrap, N, &got, err);
    free(scrap);
    return rc;
}

uint64_t hs_source_bytes_in(const struct hs_source *s)
{
    return atomic_load_explicit(&s->budget.bytes_in, memory_order_relaxed);
}

uint64_t hs_source_bytes_out(const struct hs_source *s)
{
    return atomic_load_explicit(&s->bytes_out, memory_order_relaxed);
}

const char *hs_source_format(const struct hs_source *s)
{
    return s->format;
}
