/* Mounted folders over HTTP: asking before caching, both ways, what is stale, what goes by itself, two at once. */
#include "tests/http/live.h"
#include "tests/unit/test.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static struct live g;
static char folder[64];

static void write_trace(const char *name, int rank, int kernels)
{
    char path[200], *text = small_trace(rank, kernels);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
    free(text);
}

/* A mount "m" with two ranks in its folder job. */
static void start(const char *cache)
{
    char config[500], job[100];
    curl_global_init(CURL_GLOBAL_DEFAULT);
    snprintf(folder, sizeof folder, "/tmp/holoscope-mount-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(job, sizeof job, "%s/job", folder);
    ck_assert_int_eq(mkdir(job, 0755), 0);
    write_trace("job/rank0.json", 0, 3);
    write_trace("job/rank1.json", 1, 3);
    snprintf(config, sizeof config, "[cache]\n%s\n[[mount]]\nname = \"m\"\npath = \"%s\"\n", cache, folder);
    live_start(&g, config);
}

static void stop(void)
{
    char command[100];
    ck_assert_int_eq(live_stop(&g), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static long status_of(const char *path)
{
    struct answer a = get(&g, path);
    long status = a.status;
    answer_free(&a);
    return status;
}

/* The state of the mounted run; "" if it is not listed. Static memory. */
static const char *state_of(const char *run)
{
    static char state[40];
    struct answer a = get(&g, "/api/v1/mounts");
    json_t *doc = json_of(&a), *list = json_object_get(json_array_get(json_object_get(doc, "mounts"), 0), "runs"), *x;
    size_t i;
    state[0] = 0;
    json_array_foreach(list, i, x)
    {
        if (!strcmp(json_string_value(json_object_get(x, "run")), run))
            snprintf(state, sizeof state, "%s", json_string_value(json_object_get(x, "state")));
    }
    json_decref(doc);
    answer_free(&a);
    return state;
}

static size_t runs_kept(void)
{
    struct answer a = get(&g, "/api/v1/runs");
    json_t *doc = json_of(&a);
    size_t n = json_array_size(json_object_get(doc, "runs"));
    json_decref(doc);
    answer_free(&a);
    return n;
}

static json_t *kernels(const char *query)
{
    char path[200];
    snprintf(path, sizeof path, "/api/v1/runs/m:job/overview%s", query);
    struct answer a = get(&g, path);
    ck_assert_msg(a.status == 200, "%ld %.300s", a.status, a.body);
    json_t *doc = json_of(&a);
    answer_free(&a);
    return doc;
}

/* The ETag of an answer about the mounted run, and whether it has a note about changed files. Static memory. */
static const char *etag_of(const char *path, bool *stale)
{
    static char etag[80];
    struct answer a = get(&g, path);
    ck_assert_msg(a.status == 200, "%ld %.300s", a.status, a.body);
    snprintf(etag, sizeof etag, "%s", header_of(&a, "etag"));
    *stale = strstr(a.body, "have changed in the mounted folder since it was kept") != NULL;
    answer_free(&a);
    return etag;
}

/* Nothing is kept unasked: 428 tells both ways and the size, and leaves the store empty. */
START_TEST(asks_first)
{
    start("policy = \"ask\"");
    ck_assert_str_eq(state_of("m:job"), "not_cached");
    struct answer a = get(&g, "/api/v1/runs/m:job/report?format=md");
    check_problem(&a, 428, "choose");
    json_t *doc = json_of(&a);
    json_t *ways = json_object_get(doc, "cache");
    ck_assert_str_eq(json_string_value(json_object_get(ways, "true")),
                     "/api/v1/runs/m:job/report?format=md&cache=true");
    ck_assert_str_eq(json_string_value(json_object_get(ways, "false")),
                     "/api/v1/runs/m:job/report?format=md&cache=false");
    ck_assert_int_gt(json_integer_value(json_object_get(doc, "bytes")), 0);
    ck_assert_int_gt(json_integer_value(json_object_get(doc, "stored_bytes_estimate")), 0);
    json_decref(doc);
    answer_free(&a);
    ck_assert_int_eq(status_of("/api/v1/runs/m:job/export?rank=0"), 428);
    ck_assert_int_eq(status_of("/api/v1/runs/m:job/kernels"), 428);
    ck_assert_int_eq(status_of("/api/v1/runs/m:none/kernels"), 404);
    ck_assert_int_eq(status_of("/api/v1/runs/m:job/kernels?cache=perhaps"), 400);
    ck_assert_uint_eq(runs_kept(), 0);
    stop();
}
END_TEST

START_TEST(analysed_and_forgotten)
{
    start("idle_s = 1");
    json_t *doc = kernels("?cache=false");
    ck_assert_uint_eq(json_array_size(json_object_get(doc, "rows")), 2); /* two ranks */
    json_decref(doc);
    ck_assert_uint_eq(runs_kept(), 0);
    ck_assert_str_eq(state_of("m:job"), "in_memory");
    ck_assert_int_eq(status_of("/api/v1/runs/m:job/kernels"), 200); /* while it is there nobody is asked again */
    ck_assert_int_eq(status_of("/api/v1/runs/m:job/export?rank=1"), 200);
    for (int i = 0; i < 600 && !strcmp(state_of("m:job"), "in_memory"); i++)
        nanosleep(&(struct timespec){0, 50000000}, NULL);
    ck_assert_str_eq(state_of("m:job"), "not_cached");
    ck_assert_int_eq(status_of("/api/v1/runs/m:job/temporal"), 428);
    stop();
}
END_TEST

START_TEST(kept_stale_and_refreshed)
{
    start("policy = \"ask\"");
    json_decref(kernels("?cache=true"));
    ck_assert_uint_eq(runs_kept(), 1);
    ck_assert_str_eq(state_of("m:job"), "cached");
    ck_assert_int_eq(status_of("/api/v1/runs/m:job/temporal"), 200); /* kept: it just opens */
    /* younger, with the same bytes: not stale */
    char path[200];
    snprintf(path, sizeof path, "%s/job/rank0.json", folder);
    struct utimbuf later = {time(NULL) + 1000, time(NULL) + 1000};
    ck_assert_int_eq(utime(path, &later), 0);
    ck_assert_str_eq(state_of("m:job"), "cached");
    /* other bytes */
    write_trace("job/rank0.json", 0, 5);
    ck_assert_int_eq(utime(path, &later), 0);
    ck_assert_str_eq(state_of("m:job"), "stale");
    struct answer a = ask(&g, "POST", "/api/v1/runs/m:job/refresh", NULL, "", 0);
    ck_assert_msg(a.status == 204, "%ld %.300s", a.status, a.body);
    answer_free(&a);
    ck_assert_str_eq(state_of("m:job"), "cached");
    json_t *doc = kernels(""), *row = json_array_get(json_object_get(doc, "rows"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(row, "kernels")), 5);
    json_decref(doc);
    /* a file more */
    write_trace("job/rank2.json", 2, 3);
    ck_assert_str_eq(state_of("m:job"), "stale");
    /* deleting what was kept deletes no source */
    a = ask(&g, "DELETE", "/api/v1/runs/m:job", NULL, NULL, 0);
    ck_assert_int_eq(a.status, 204);
    answer_free(&a);
    ck_assert_str_eq(state_of("m:job"), "not_cached");
    ck_assert_int_eq(access(path, R_OK), 0);
    stop();
}
END_TEST

/* What the run itself says of its state. Static memory. */
static const char *state_in_run(void)
{
    static char state[40];
    struct answer a = get(&g, "/api/v1/runs/m:job");
    json_t *doc = json_of(&a);
    snprintf(state, sizeof state, "%s", json_string_value(json_object_get(doc, "state")));
    json_decref(doc);
    answer_free(&a);
    return state;
}

/* An answer about what was kept says that the files are others by now, in every kind of answer, until it is refreshed. */
START_TEST(answers_say_that_they_are_stale)
{
    static const char *const paths[] = {"/api/v1/runs/m:job/temporal", "/api/v1/runs/m:job/report?format=md",
                                        "/api/v1/runs/m:job/report"};
    enum { N = sizeof paths / sizeof paths[0] };
    char before[N][80];
    bool stale;
    start("policy = \"always\"");
    for (size_t i = 0; i < N; i++) {
        snprintf(before[i], sizeof before[i], "%s", etag_of(paths[i], &stale));
        ck_assert(!stale);
    }
    ck_assert_str_eq(state_in_run(), "cached");
    write_trace("job/rank2.json", 2, 3);
    ck_assert_str_eq(state_in_run(), "stale");
    for (size_t i = 0; i < N; i++) {
        ck_assert_str_ne(etag_of(paths[i], &stale), before[i]);
        ck_assert_msg(stale, "%s", paths[i]);
    }
    struct answer a = ask(&g, "POST", "/api/v1/runs/m:job/refresh", NULL, "", 0);
    ck_assert_int_eq(a.status, 204);
    answer_free(&a);
    for (size_t i = 0; i < N; i++) {
        etag_of(paths[i], &stale);
        ck_assert(!stale);
    }
    stop();
}
END_TEST

static void shell(const char *command)
{
    char text[900];
    snprintf(text, sizeof text, "cd '%s' && %s", folder, command);
    ck_assert_int_eq(system(text), 0);
}

/* What only looks the same (size and time kept, other bytes) is stale; what only looks changed is not, once it is refreshed. */
START_TEST(times_alone_do_not_decide)
{
    start("policy = \"always\"");
    json_decref(kernels(""));
    shell("touch -r job/rank0.json stamp && sed -i 's/\"k1\"/\"k9\"/' job/rank0.json && touch -r stamp job/rank0.json");
    ck_assert_str_eq(state_of("m:job"), "stale");
    shell("sed -i 's/\"k9\"/\"k1\"/' job/rank0.json && touch -r stamp job/rank0.json");
    ck_assert_str_eq(state_of("m:job"), "cached");
    shell("mkdir z && tar cf z/ranks.tar -C job rank0.json rank1.json");
    ck_assert_int_eq(status_of("/api/v1/runs/m:z/overview"), 200);
    ck_assert_str_eq(state_of("m:z"), "cached");
    shell("touch -d '+1 day' z/ranks.tar");
    ck_assert_str_eq(state_of("m:z"), "stale"); /* an archive is judged by its time */
    shell("touch z/ranks.tar && sleep 0.02");
    ck_assert_str_eq(state_of("m:z"), "stale");
    struct answer a = ask(&g, "POST", "/api/v1/runs/m:z/refresh", NULL, "", 0);
    ck_assert_int_eq(a.status, 204);
    answer_free(&a);
    ck_assert_str_eq(state_of("m:z"), "cached"); /* the same traces, kept later */
    stop();
}
END_TEST

/* A page that asks again and again is told when something has come. */
START_TEST(a_listing_that_did_not_change)
{
    char etag[100];
    start("policy = \"ask\"");
    struct answer a = get(&g, "/api/v1/mounts");
    snprintf(etag, sizeof etag, "If-None-Match: %s", header_of(&a, "etag"));
    answer_free(&a);
    a = ask(&g, "GET", "/api/v1/mounts", (const char *const[]){etag, NULL}, NULL, 0);
    ck_assert_int_eq(a.status, 304);
    answer_free(&a);
    write_trace("job/rank2.json", 2, 3);
    a = ask(&g, "GET", "/api/v1/mounts", (const char *const[]){etag, NULL}, NULL, 0);
    ck_assert_int_eq(a.status, 200);
    snprintf(etag, sizeof etag, "If-None-Match: %s", header_of(&a, "etag"));
    answer_free(&a);
    json_decref(kernels("?cache=true"));
    a = ask(&g, "GET", "/api/v1/mounts", (const char *const[]){etag, NULL}, NULL, 0);
    ck_assert_int_eq(a.status, 200); /* not_cached has become cached */
    answer_free(&a);
    stop();
}
END_TEST

START_TEST(policies_always_and_never)
{
    start("policy = \"always\"");
    json_decref(kernels(""));
    ck_assert_uint_eq(runs_kept(), 1);
    stop();
    start("policy = \"never\"");
    json_decref(kernels(""));
    ck_assert_uint_eq(runs_kept(), 0);
    ck_assert_str_eq(state_of("m:job"), "in_memory");
    stop();
    start("policy = \"never\"\nmemory_bytes = 10");
    struct answer a = get(&g, "/api/v1/runs/m:job/kernels");
    check_problem(&a, 413, "limit");
    answer_free(&a);
    stop();
}
END_TEST

/* The store cannot be written: a file stands where its folder of traces should be. The analysis answers all the same. */
START_TEST(a_store_that_cannot_be_written)
{
    char command[1400];
    start("policy = \"ask\"");
    snprintf(command, sizeof command, "rm -rf '%s/traces' && touch '%s/traces'", g.data, g.data);
    ck_assert_int_eq(system(command), 0);
    json_t *doc = kernels("?cache=true"), *notes = json_object_get(doc, "notes");
    ck_assert_uint_eq(json_array_size(json_object_get(doc, "rows")), 2);
    const char *last = json_string_value(json_array_get(notes, json_array_size(notes) - 1));
    ck_assert_ptr_nonnull(strstr(last, "could not be kept in the store, so it was analysed in memory: "));
    json_decref(doc);
    ck_assert_uint_eq(runs_kept(), 0);
    ck_assert_str_eq(state_of("m:job"), "in_memory");
    stop();
}
END_TEST

static void *open_it(void *status)
{
    *(long *)status = status_of("/api/v1/runs/m:job/kernels?cache=true");
    return NULL;
}

/* Eight at once: one import, eight answers, each of the whole run. */
START_TEST(many_at_once_import_once)
{
    enum { N = 8 };
    pthread_t t[N];
    long status[N];
    start("policy = \"ask\"");
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, open_it, &status[i]), 0);
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        ck_assert_int_eq(status[i], 200);
    }
    struct answer a = get(&g, "/api/v1/runs/m:job");
    json_t *doc = json_of(&a);
    ck_assert_uint_eq(json_array_size(json_object_get(doc, "traces")), 2);
    json_decref(doc);
    answer_free(&a);
    stop();
}
END_TEST

/* Links lead nowhere, and hidden files and others are no traces. */
START_TEST(only_what_is_in_the_folder)
{
    char link[200], command[500];
    start("policy = \"ask\"");
    snprintf(link, sizeof link, "%s/job/rank9.json", folder);
    ck_assert_int_eq(symlink("/etc/passwd", link), 0);
    snprintf(link, sizeof link, "%s/outside", folder);
    ck_assert_int_eq(symlink("/etc", link), 0);
    snprintf(command, sizeof command, "mkdir -p '%s/a/b' && cp '%s/job/rank0.json' '%s/a/b/' && touch '%s/a/notes.txt'",
             folder, folder, folder, folder);
    ck_assert_int_eq(system(command), 0);
    ck_assert_str_eq(state_of("m:a:b"), "not_cached");
    ck_assert_str_eq(state_of("m:a"), "");
    ck_assert_str_eq(state_of("m:outside"), "");
    json_t *doc = kernels("?cache=false");
    ck_assert_uint_eq(json_array_size(json_object_get(doc, "rows")), 2);
    json_decref(doc);
    stop();
}
END_TEST

/* An upload that is not kept: two ranks, one after the other, are one run in memory; then it is gone. */
START_TEST(uploads_that_are_forgotten)
{
    start("idle_s = 1");
    for (int rank = 0; rank < 2; rank++) {
        char query[100], *text = small_trace(rank, 3);
        snprintf(query, sizeof query, "name=rank%d.json&run=once&keep=false", rank);
        struct answer a = put_trace(&g, query, text);
        ck_assert_msg(a.status == 201, "%ld %.300s", a.status, a.body);
        answer_free(&a);
        free(text);
        struct answer b = get(&g, "/api/v1/runs/once/overview");
        json_t *doc = json_of(&b);
        ck_assert_uint_eq(json_array_size(json_object_get(doc, "rows")), (size_t)rank + 1);
        json_decref(doc);
        answer_free(&b);
    }
    ck_assert_int_eq(status_of("/api/v1/runs/once/temporal?cache=true"), 200); /* no mounted run: nothing to choose */
    ck_assert_uint_eq(runs_kept(), 0);
    ck_assert_uint_eq(files_in(g.data, ".db"), 1); /* the catalogue alone */
    long status = 200;
    for (int i = 0; i < 600 && status == 200; i++) {
        nanosleep(&(struct timespec){i < 40 ? 2 : 4, 0}, NULL);
        status = status_of("/api/v1/runs/once/overview");
    }
    ck_assert_int_eq(status, 404);
    struct answer a = put_trace(&g, "name=x.json&keep=perhaps", "{}");
    check_problem(&a, 400, "usage");
    answer_free(&a);
    stop();
}
END_TEST

HS_SUITE(http_mounts)
{
    HS_TEST(asks_first);
    HS_TEST(analysed_and_forgotten);
    HS_TEST(kept_stale_and_refreshed);
    HS_TEST(answers_say_that_they_are_stale);
    HS_TEST(times_alone_do_not_decide);
    HS_TEST(a_listing_that_did_not_change);
    HS_TEST(policies_always_and_never);
    HS_TEST(a_store_that_cannot_be_written);
    HS_TEST(many_at_once_import_once);
    HS_TEST(only_what_is_in_the_folder);
    HS_TEST(uploads_that_are_forgotten);
}
