/* The smaller parts of the HTTP room: pipe, cache, routes, OpenAPI against the route table. */
#include "analysis/registry.h"
#include "http/cache.h"
#include "http/openapi.h"
#include "http/pipe.h"
#include "http/router.h"

#include "tests/unit/test.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- pipe ---- */

struct flow {
    struct hs_pipe pipe;
    pthread_mutex_t lock;
    pthread_cond_t resumed;
    bool suspended;
    int suspensions, resumptions;
    size_t total, most;
    uint32_t sum;
};

static void suspend(void *ctx)
{
    struct flow *f = ctx;
    pthread_mutex_lock(&f->lock);
    f->suspended = true;
    f->suspensions++;
    pthread_mutex_unlock(&f->lock);
}

static void resume(void *ctx)
{
    struct flow *f = ctx;
    pthread_mutex_lock(&f->lock);
    f->suspended = false;
    f->resumptions++;
    pthread_cond_signal(&f->resumed);
    pthread_mutex_unlock(&f->lock);
}

static void wait_resumed(struct flow *f)
{
    pthread_mutex_lock(&f->lock);
    while (f->suspended)
        pthread_cond_wait(&f->resumed, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

static void flow_init(struct flow *f, size_t cap)
{
    *f = (struct flow){0};
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->resumed, NULL);
    hs_pipe_init(&f->pipe, cap, suspend, resume, f);
}

static void *read_all(void *arg)
{
    struct flow *f = arg;
    unsigned char buf[777];
    size_t got;
    while (!hs_pipe_read(&f->pipe, buf, sizeof buf, &got, NULL) && got) {
        f->most = got > f->most ? got : f->most;
        for (size_t i = 0; i < got; i++)
            f->sum = f->sum * 31 + buf[i];
        f->total += got;
    }
    return NULL;
}

START_TEST(a_pipe_passes_every_byte_in_order_and_pushes_back)
{
    enum { TOTAL = 1 << 20, CAP = 4096 };
    struct flow f;
    pthread_t reader;
    flow_init(&f, CAP);
    pthread_create(&reader, NULL, read_all, &f);
    uint32_t sum = 0;
    unsigned char piece[1000];
    for (size_t done = 0; done < TOTAL;) {
        size_t room = hs_pipe_room(&f.pipe);
        ck_assert_uint_le(room, CAP);
        if (room < 100 && TOTAL - done >= 100) {
            if (hs_pipe_pause(&f.pipe, 100))
                wait_resumed(&f);
            continue;
        }
        size_t n = room < sizeof piece ? room : sizeof piece;
        n = n < TOTAL - done ? n : TOTAL - done;
        for (size_t i = 0; i < n; i++) {
            piece[i] = (unsigned char)((done + i) * 7 >> 3);
            sum = sum * 31 + piece[i];
        }
        hs_pipe_write(&f.pipe, piece, n);
        done += n;
    }
    hs_pipe_end(&f.pipe);
    pthread_join(reader, NULL);
    ck_assert_uint_eq(f.total, TOTAL);
    ck_assert_uint_eq(f.sum, sum);
    ck_assert_int_eq(f.suspensions, f.resumptions);
    hs_pipe_destroy(&f.pipe);
}
END_TEST

START_TEST(a_full_pipe_sleeps_until_half_is_read)
{
    struct flow f;
    char buf[1024];
    size_t got;
    flow_init(&f, 1024);
    memset(buf, 'x', sizeof buf);
    hs_pipe_write(&f.pipe, buf, 1024);
    ck_assert_uint_eq(hs_pipe_room(&f.pipe), 0);
    ck_assert(hs_pipe_pause(&f.pipe, 10));
    ck_assert(f.suspended);
    hs_pipe_read(&f.pipe, buf, 511, &got, NULL);
    ck_assert(f.suspended);
    hs_pipe_read(&f.pipe, buf, 1, &got, NULL);
    ck_assert(!f.suspended);
    ck_assert(!hs_pipe_pause(&f.pipe, 10)); /* there is room by now */
    hs_pipe_destroy(&f.pipe);
}
END_TEST

START_TEST(a_broken_pipe_is_an_error_and_a_left_one_swallows)
{
    struct flow f;
    struct hs_err err = HS_ERR_INIT;
    char buf[64] = {0};
    size_t got;
    flow_init(&f, 64);
    hs_pipe_write(&f.pipe, buf, 64);
    ck_assert(hs_pipe_pause(&f.pipe, 1));
    hs_pipe_break(&f.pipe);
    ck_assert(!f.suspended);
    ck_assert_int_eq(hs_pipe_read(&f.pipe, buf, 64, &got, &err), HS_ECANCELLED);
    hs_pipe_destroy(&f.pipe);

    flow_init(&f, 64);
    hs_pipe_write(&f.pipe, buf, 64);
    ck_assert(hs_pipe_pause(&f.pipe, 1));
    hs_pipe_leave(&f.pipe);
    ck_assert(!f.suspended);
    ck_assert_uint_eq(hs_pipe_room(&f.pipe), SIZE_MAX);
    hs_pipe_write(&f.pipe, buf, 64);
    ck_assert(!hs_pipe_pause(&f.pipe, 1000));
    hs_pipe_destroy(&f.pipe);
}
END_TEST

/* ---- cache ---- */

static void keep(struct hs_cache *c, const char *key, size_t n)
{
    char *p = calloc(1, n);
    struct hs_blob *b = hs_blob_new(p, n);
    hs_cache_put(c, key, b, NULL);
    hs_blob_unref(b);
    free(p);
}

static bool has(struct hs_cache *c, const char *key)
{
    struct hs_blob *body = NULL, *gz = NULL;
    bool there = hs_cache_get(c, key, &body, &gz);
    hs_blob_unref(body);
    hs_blob_unref(gz);
    return there;
}

START_TEST(the_least_recently_used_answer_goes_first)
{
    struct hs_cache *c = hs_cache_new(10000);
    keep(c, "a", 2200);
    keep(c, "b", 2200);
    keep(c, "c", 2200);
    keep(c, "d", 2200);
    ck_assert(has(c, "a")); /* which makes b the oldest */
    keep(c, "e", 2200);
    ck_assert(has(c, "a") && has(c, "c") && has(c, "d") && has(c, "e"));
    ck_assert(!has(c, "b"));
    ck_assert_uint_le(hs_cache_bytes(c), 10000);
    keep(c, "huge", 5000); /* more than a quarter: not worth the others */
    ck_assert(!has(c, "huge") && has(c, "a"));
    hs_cache_free(c);
}
END_TEST

START_TEST(a_body_in_use_outlives_its_cache)
{
    struct hs_cache *c = hs_cache_new(100000);
    struct hs_blob *b = hs_blob_new("hello", 5), *got = NULL, *gz = NULL;
    hs_cache_put(c, "k", b, NULL);
    hs_blob_unref(b);
    ck_assert(hs_cache_get(c, "k", &got, &gz));
    hs_cache_free(c);
    ck_assert_uint_eq(got->n, 5);
    ck_assert(!memcmp(got->p, "hello", 5));
    hs_blob_unref(got);
}
END_TEST

/* ---- routes ---- */

static int find(const char *target, unsigned method, const struct hs_route **r, unsigned *allowed)
{
    struct hs_uri u;
    const char *vars[HS_ROUTE_VARS] = {NULL};
    ck_assert_int_eq(hs_uri_parse(&u, target, NULL), HS_OK);
    int rc = hs_route_find(hs_routes, &u, method, r, vars, allowed, NULL);
    hs_uri_free(&u);
    return rc;
}

START_TEST(routes_are_found_by_path_and_method)
{
    const struct hs_route *r = NULL;
    unsigned allowed = 0;
    ck_assert_int_eq(find("/api/v1/runs/x/report", HS_GET, &r, &allowed), HS_OK);
    ck_assert_str_eq(r->id, "report"); /* the literal wins over {analysis} */
    ck_assert_int_eq(find("/api/v1/runs/x/kernels", HS_HEAD, &r, &allowed), HS_OK);
    ck_assert_str_eq(r->id, "analysis");
    ck_assert_int_eq(find("/api/v1/traces", HS_PUT, &r, &allowed), HS_OK);
    ck_assert_str_eq(r->id, "upload");
    ck_assert_int_eq(find("/api/v1/traces", HS_DELETE, &r, &allowed), HS_EUSAGE);
    char *text = hs_methods_text(allowed);
    ck_assert_str_eq(text, "GET, HEAD, POST, PUT, OPTIONS");
    free(text);
    ck_assert_int_eq(find("/api/v1/nothing", HS_GET, &r, &allowed), HS_ENOTFOUND);
    ck_assert_int_eq(find("/api", HS_GET, &r, &allowed), HS_ENOTFOUND);
    ck_assert_int_eq(find("/js/main.js", HS_GET, &r, &allowed), HS_OK);
    ck_assert_str_eq(r->id, "page");
    ck_assert_int_eq(find("/", HS_GET, &r, &allowed), HS_OK);
    ck_assert_str_eq(r->id, "page");
}
END_TEST

START_TEST(openapi_tells_of_every_route_and_analysis)
{
    struct hs_buf b = HS_BUF_INIT(16 << 20);
    hs_openapi_write(&b);
    json_t *doc = json_loadb(b.p, b.n, JSON_REJECT_DUPLICATES, NULL);
    ck_assert_ptr_nonnull(doc);
    json_t *paths = json_object_get(doc, "paths");
    for (const struct hs_route *r = hs_routes; r->path; r++) {
        if (strchr(r->path, '*') || strstr(r->path, "/{analysis}"))
            continue;
        json_t *item = json_object_get(paths, r->path);
        ck_assert_msg(json_object_size(item) > 0, "%s is missing", r->path);
    }
    for (size_t i = 0; hs_analyses[i]; i++) {
        char path[256];
        snprintf(path, sizeof path, "/api/v1/runs/{run}/%s", hs_analyses[i]->name);
        json_t *get = json_object_get(json_object_get(paths, path), "get");
        ck_assert_str_eq(json_string_value(json_object_get(get, "operationId")), hs_analyses[i]->name);
        /* run, format, the other run where two are compared, its own and the common ones */
        ck_assert_uint_eq(json_array_size(json_object_get(get, "parameters")),
                          2 + hs_analyses[i]->two_runs + hs_analyses[i]->nparams + hs_common_nparams);
    }
    json_decref(doc);
    hs_buf_free(&b);
}
END_TEST

HS_SUITE(http_parts)
{
    HS_TEST(a_pipe_passes_every_byte_in_order_and_pushes_back);
    HS_TEST(a_full_pipe_sleeps_until_half_is_read);
    HS_TEST(a_broken_pipe_is_an_error_and_a_left_one_swallows);
    HS_TEST(the_least_recently_used_answer_goes_first);
    HS_TEST(a_body_in_use_outlives_its_cache);
    HS_TEST(routes_are_found_by_path_and_method);
    HS_TEST(openapi_tells_of_every_route_and_analysis);
}
