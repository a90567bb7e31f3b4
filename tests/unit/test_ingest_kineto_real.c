/* Every real trace, given back event by event and compared with its source, token by token: keys in their order, types,
 * digits. The other side is a tokeniser of its own (below), with jansson for the texts, so nothing of the reader judges
 * itself. Does nothing where the traces are not there. */
#include "tests/unit/rebuild.h"
#include "tests/unit/test.h"

#include <ftw.h>
#include <jansson.h>
#include <stdio.h>
#include <zlib.h>

/* ---- a tokeniser: brackets, colons, commas; texts as decoded; all else verbatim ---- */

struct tokens {
    const char *p, *end;
    char kind;          /* the first byte of the token; 0 at the end */
    const char *at;     /* where it stands */
    struct hs_str text; /* verbatim, quotes and all */
};

static bool blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool mark(char c)
{
    return c == '{' || c == '}' || c == '[' || c == ']' || c == ':' || c == ',';
}

static void next_token(struct tokens *t)
{
    while (t->p < t->end && blank(*t->p))
        t->p++;
    t->at = t->p;
    t->kind = t->p < t->end ? *t->p : 0;
    if (!t->kind)
        return;
    if (t->kind == '"') {
        t->p++;
        while (t->p < t->end && *t->p != '"')
            t->p += *t->p == '\\' ? 2 : 1;
        t->p++;
    } else if (mark(t->kind)) {
        t->p++;
    } else {
        while (t->p < t->end && !blank(*t->p) && !mark(*t->p) && *t->p != '"')
            t->p++;
    }
    t->text = hs_str(t->at, (size_t)(t->p - t->at));
}

static bool same_text(struct hs_str a, struct hs_str b)
{
    json_t *x = json_loadb(a.p, a.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    json_t *y = json_loadb(b.p, b.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    bool same = x && y && json_equal(x, y);
    json_decref(x);
    json_decref(y);
    return same;
}

static bool same_token(const struct tokens *a, const struct tokens *b)
{
    if (a->kind != b->kind)
        return false;
    if (!a->kind || hs_str_eq(a->text, b->text))
        return true;
    return a->kind == '"' && same_text(a->text, b->text);
}

/* Behind the opening bracket of traceEvents; false: there is none. */
static bool find_events(struct tokens *t)
{
    int depth = 0;
    bool key = false;
    for (next_token(t); t->kind; next_token(t)) {
        if (t->kind == '[' && (depth == 0 || key))
            return true;
        key = key && t->kind == ':';
        if (depth == 1 && hs_str_is(t->text, "\"traceEvents\""))
            key = true;
        depth += t->kind == '{' || t->kind == '[' ? 1 : t->kind == '}' || t->kind == ']' ? -1 : 0;
    }
    return false;
}

/* The source's event, which begins at the token in hand, against ours. */
static void compare_event(const char *path, size_t i, struct tokens *source, struct hs_str ours)
{
    struct tokens mine = {.p = ours.p, .end = ours.p + ours.n};
    int depth = 0;
    next_token(&mine);
    do {
        if (!same_token(source, &mine)) /* no ck_assert for each: it would write a line for each */
            ck_abort_msg("%s, event %zu: %.*s, not %.*s", path, i, (int)mine.text.n, mine.text.p, (int)source->text.n,
                         source->text.p);
        depth += mine.kind == '{' || mine.kind == '[' ? 1 : mine.kind == '}' || mine.kind == ']' ? -1 : 0;
        next_token(source);
        next_token(&mine);
    } while (depth);
    if (mine.kind)
        ck_abort_msg("%s, event %zu: more than in the file", path, i);
}

/* ---- files ---- */

/* Sanitizers make this twenty times slower: they see the start of the large ones only. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MOST = 3 << 20 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { MOST = 3 << 20 };
#else
enum { MOST = INT32_MAX };
#endif
#else
enum { MOST = INT32_MAX };
#endif

static struct hs_buf slurp(const char *path)
{
    struct hs_buf b = HS_BUF_INIT((size_t)1 << 30);
    char part[1 << 16];
    gzFile f = gzopen(path, "rb"); /* reads plain files, too */
    ck_assert(f != NULL);
    for (int n; (n = gzread(f, part, sizeof part)) > 0;)
        hs_buf_put(&b, part, (size_t)n);
    gzclose(f);
    return b;
}

static size_t odd_windows(void *ctx, size_t left, size_t number)
{
    (void)ctx;
    (void)left;
    return (1 << 20) + number % 1013;
}

static void compare_counts(const char *path, const struct hs_buf *text, const struct rebuilt *r)
{
    json_error_t e;
    json_t *doc = json_loadb(text->p, text->n, 0, &e);
    ck_assert_msg(doc != NULL, "%s: %s", path, e.text);
    json_t *events = json_is_array(doc) ? doc : json_object_get(doc, "traceEvents");
    ck_assert_uint_eq(json_array_size(events), r->at.n);
    json_t *dist = json_object_get(doc, "distributedInfo");
    json_t *rank = json_object_get(dist, "rank");
    ck_assert_int_eq(r->trace.rank, json_is_integer(rank) ? json_integer_value(rank) : -1);
    size_t device = 0, correlated = 0, ours = 0;
    for (size_t i = 0; i < json_array_size(events); i++) {
        json_t *ev = json_array_get(events, i), *args = json_object_get(ev, "args");
        const char *cat = json_string_value(json_object_get(ev, "cat")),
                   *ph = json_string_value(json_object_get(ev, "ph"));
        bool is = cat && (!strcmp(cat, "kernel") || !strncmp(cat, "gpu_", 4) || !strcmp(cat, "mtia_ccp_events") ||
                          !strcmp(cat, "cuda_sync") || !strcmp(cat, "cuda_profiler_range"));
        device += is || (ph && *ph != 'M' && (json_object_get(args, "stream") || json_object_get(args, "device")));
        json_t *corr = json_object_get(args, "correlation"), *id = json_object_get(ev, "id");
        if (ph && strchr("stf", *ph)) { /* linked by their id */
            if (r->trace.rows.corr[i] != json_integer_value(id))
                ck_abort_msg("%s, event %zu: not its id", path, i);
            continue;
        }
        correlated += (json_is_integer(corr) && json_integer_value(corr) > 0) || json_is_string(corr);
        ours += r->trace.rows.corr[i] != HS_NO_VALUE;
    }
    ck_assert_msg(device == r->trace.device_rows.n, "%s: %zu device rows, not %zu", path, r->trace.device_rows.n,
                  device);
    ck_assert_uint_eq(ours, correlated);
    json_decref(doc);
}

static int one_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    bool trace = type == FTW_F && (strstr(path, ".json")) && !strstr(path, "/et.json");
    if (!trace)
        return 0;
    struct hs_buf text = slurp(path);
    bool cut = text.n > MOST || strstr(path, "truncated");
    text.n = text.n > MOST ? MOST : text.n;
    struct rebuilt r;
    rebuild(&r, text.p, text.n, NULL, odd_windows, NULL);
    ck_assert_msg(r.rc == HS_OK, "%s: %s", path, r.err.text);
    struct tokens source = {.p = text.p, .end = text.p + text.n};
    if (find_events(&source)) {
        next_token(&source);
        for (size_t i = 0; i < r.at.n; i++) {
            compare_event(path, i, &source, rebuilt_event(&r, i));
            if (source.kind == ',')
                next_token(&source);
        }
        ck_assert_msg(cut || source.kind == ']', "%s: more events in the file", path);
    }
    for (int q = 0; q < HS_QUALITY_KINDS; q++) {
        bool fine =
            hs_quality_infos[q].severity == HS_SEV_info || (cut && q == HS_Q_TRUNCATED) || strstr(path, "/synth/");
        ck_assert_msg(fine || !r.trace.quality.count[q], "%s: %s", path, hs_quality_infos[q].name);
    }
    if (!cut)
        compare_counts(path, &text, &r);
    rebuilt_free(&r);
    hs_buf_free(&text);
    return 0;
}

START_TEST(real_traces_come_back)
{
    const char *dir = hs_test_traces();
    if (dir)
        ck_assert_int_eq(nftw(dir, one_file, 16, FTW_PHYS), 0);
}
END_TEST

HS_SUITE(ingest_kineto_real)
{
    HS_TEST(real_traces_come_back);
}
