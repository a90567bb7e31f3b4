/* Uploads while they arrive: slowly, side by side, broken off; the server's end; requests that are not quite HTTP. */
#include "tests/http/live.h"
#include "tests/unit/test.h"

#include <curl/curl.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct live g;

static void start(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    live_start(&g, NULL);
}

static void nap(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static bool send_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = send(fd, p, n, MSG_NOSIGNAL);
        if (w <= 0)
            return false;
        p += w;
        n -= (size_t)w;
    }
    return true;
}

static void send_text(int fd, const char *text)
{
    ck_assert(send_all(fd, text, strlen(text)));
}

/* The whole answer of a connection that ends after it. */
static size_t read_answer(int fd, char *out, size_t cap)
{
    size_t n = 0;
    for (ssize_t r; n < cap - 1 && (r = recv(fd, out + n, cap - 1 - n, 0)) > 0;)
        n += (size_t)r;
    out[n] = 0;
    return n;
}

/* Nothing of an upload is left: no run, no file but the catalogue's. Waits, since a cancelled import ends a little later. */
static void check_nothing_left(void)
{
    char traces[700];
    snprintf(traces, sizeof traces, "%s/traces", g.data);
    for (int i = 0; i < 200 && files_in(traces, ""); i++)
        nap(50);
    ck_assert_uint_eq(files_in(traces, ""), 0);
    struct answer a = get(&g, "/api/v1/runs");
    ck_assert_str_eq(a.body, "{\"runs\":[]}\n");
    answer_free(&a);
}

START_TEST(a_slow_chunked_upload_arrives_and_others_are_served_meanwhile)
{
    start();
    char *t = small_trace(2, 60), head[200], out[8192];
    size_t n = strlen(t);
    int fd = dial(&g);
    send_text(fd,
              "PUT /api/v1/traces?name=slow.json&run=slow HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
              "Connection: close\r\n\r\n");
    for (size_t at = 0, piece = 1; at < n; at += piece, piece = piece * 3 % 4001 + 1) {
        size_t k = n - at < piece ? n - at : piece;
        snprintf(head, sizeof head, "%zx\r\n", k);
        send_text(fd, head);
        ck_assert(send_all(fd, t + at, k));
        send_text(fd, "\r\n");
        nap(5);
        struct answer a = get(&g, "/healthz");
        ck_assert_int_eq(a.status, 200);
        answer_free(&a);
    }
    send_text(fd, "0\r\n\r\n");
    read_answer(fd, out, sizeof out);
    close(fd);
    ck_assert_msg(strstr(out, "201 Created") != NULL, "%s", out);
    ck_assert_ptr_nonnull(strstr(out, "\"events\":180"));
    free(t);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

/* Larger than pipe, socket buffers and queues together, so that back-pressure must work for it to arrive at all. */
static char *large_trace(size_t *n)
{
    char *t = small_trace(0, 60000);
    *n = strlen(t);
    return t;
}

START_TEST(a_large_upload_passes_through_small_buffers)
{
    start();
    size_t n;
    char *t = large_trace(&n);
    ck_assert_uint_gt(n, 16u << 20);
    struct answer a = ask(&g, "PUT", "/api/v1/traces?name=l.json&run=l", NULL, t, n);
    ck_assert_msg(a.status == 201, "%ld %.200s", a.status, a.body);
    ck_assert_ptr_nonnull(strstr(a.body, "\"events\":180000"));
    answer_free(&a);
    /* what is refused early is read to its end, so that the client sees why */
    memcpy(t, "<html>", 6);
    a = ask(&g, "PUT", "/api/v1/traces?name=l.html&run=l", NULL, t, n);
    check_problem(&a, 422, "input");
    answer_free(&a);
    free(t);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

struct client {
    int number;
    long status[3];
};

static void *upload_and_ask(void *arg)
{
    struct client *c = arg;
    char query[64], path[64], *t = small_trace(c->number, 3000 + c->number);
    snprintf(query, sizeof query, "name=rank%d.json&run=many", c->number);
    struct answer a = put_trace(&g, query, t);
    c->status[0] = a.status;
    answer_free(&a);
    snprintf(path, sizeof path, "/api/v1/runs/many/kernels?rank=%d", c->number);
    a = get(&g, path);
    c->status[1] = a.status;
    answer_free(&a);
    a = get(&g, "/api/v1/runs/many/idle?format=columns");
    c->status[2] = a.status;
    answer_free(&a);
    free(t);
    return NULL;
}

START_TEST(many_clients_upload_and_ask_at_once)
{
    enum { CLIENTS = 12 };
    start();
    pthread_t threads[CLIENTS];
    struct client clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.number = i};
        pthread_create(&threads[i], NULL, upload_and_ask, &clients[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(clients[i].status[0], 201);
        ck_assert_int_eq(clients[i].status[1], 200);
        ck_assert_int_eq(clients[i].status[2], 200);
    }
    struct answer a = get(&g, "/api/v1/runs/many/overview");
    json_t *j = json_of(&a), *rows = json_object_get(j, "rows");
    json_int_t events = 0;
    ck_assert_uint_eq(json_array_size(rows), CLIENTS); /* a row a rank, in order */
    for (size_t i = 0; i < CLIENTS; i++) {
        json_t *row = json_array_get(rows, i);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "rank")), (json_int_t)i);
        ck_assert_int_eq(json_integer_value(json_object_get(row, "ranks")), CLIENTS);
        events += json_integer_value(json_object_get(row, "events"));
    }
    ck_assert_int_eq(events, 3 * (CLIENTS * 3000 + CLIENTS * (CLIENTS - 1) / 2));
    json_decref(j);
    answer_free(&a);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

static void *same_upload(void *arg)
{
    char *t = small_trace(0, 3000);
    struct answer a = put_trace(&g, "name=x.json&run=same", t);
    *(long *)arg = a.status;
    answer_free(&a);
    free(t);
    return NULL;
}

START_TEST(one_file_uploaded_at_once_by_many_is_kept_once)
{
    enum { CLIENTS = 6 };
    start();
    pthread_t threads[CLIENTS];
    long status[CLIENTS];
    int created = 0;
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&threads[i], NULL, same_upload, &status[i]);
    for (int i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_msg(status[i] == 201 || status[i] == 200, "status %ld", status[i]);
        created += status[i] == 201;
    }
    ck_assert_int_eq(created, 1);
    struct answer a = get(&g, "/api/v1/runs/same");
    json_t *j = json_of(&a);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "traces")), 1);
    json_decref(j);
    answer_free(&a);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

START_TEST(an_upload_broken_off_leaves_nothing)
{
    start();
    size_t n;
    char *t = large_trace(&n), head[256];
    for (int round = 0; round < 3; round++) {
        int fd = dial(&g);
        snprintf(head, sizeof head,
                 "PUT /api/v1/traces?name=x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", n);
        send_text(fd, head);
        ck_assert(send_all(fd, t, n / 4 * (size_t)(round + 1)));
        if (round == 1) { /* a reset instead of an end */
            struct linger hard = {.l_onoff = 1, .l_linger = 0};
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        }
        close(fd);
    }
    /* a form broken off within its second file keeps the first, which was whole */
    check_nothing_left();
    char *small = small_trace(0, 6);
    int fd = dial(&g);
    send_text(fd, "POST /api/v1/traces?run=half HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
                  "Content-Type: multipart/form-data; boundary=B\r\n\r\n");
    char *part = malloc(strlen(small) + 300);
    int k = sprintf(part,
                    "--B\r\nContent-Disposition: form-data; name=f; filename=a.json\r\n\r\n%s\r\n"
                    "--B\r\nContent-Disposition: form-data; name=f; filename=b.json\r\n\r\n{\"traceEvents\": [",
                    small);
    snprintf(head, sizeof head, "%x\r\n", (unsigned)k);
    send_text(fd, head);
    send_text(fd, part);
    send_text(fd, "\r\n");
    for (int i = 0; i < 200; i++) { /* the first file has arrived once its run is there */
        struct answer a = get(&g, "/api/v1/runs/half");
        bool there = a.status == 200;
        answer_free(&a);
        if (there)
            break;
        nap(50);
    }
    close(fd);
    struct answer a = get(&g, "/api/v1/runs/half");
    ck_assert_int_eq(a.status, 200);
    json_t *j = json_of(&a);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "traces")), 1);
    json_decref(j);
    answer_free(&a);
    free(part);
    free(small);
    free(t);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

START_TEST(sigterm_waits_for_a_running_upload)
{
    start();
    char *t = small_trace(0, 300), head[256], out[8192];
    size_t n = strlen(t);
    int fd = dial(&g), status = 0;
    snprintf(head, sizeof head,
             "PUT /api/v1/traces?name=x.json&run=late HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n"
             "Connection: close\r\n\r\n",
             n);
    send_text(fd, head);
    ck_assert(send_all(fd, t, n / 2));
    nap(200);
    kill(g.pid, SIGTERM);
    nap(300);
    ck_assert(send_all(fd, t + n / 2, n - n / 2));
    read_answer(fd, out, sizeof out);
    close(fd);
    ck_assert_msg(strstr(out, "201 Created") != NULL, "%s", out);
    status = live_kill(&g, 0);
    ck_assert_int_eq(status, 0);
    live_start_again(&g, NULL);
    struct answer a = get(&g, "/api/v1/runs/late/overview");
    ck_assert_int_eq(a.status, 200);
    answer_free(&a);
    free(t);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

START_TEST(sigterm_ends_a_stalled_upload_after_its_grace)
{
    live_start(&g, "[server]\ngrace_s = 1\n");
    int fd = dial(&g);
    send_text(fd, "PUT /api/v1/traces?name=x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
                  "1000\r\n\r\n{\"traceEvents\": [");
    nap(200);
    ck_assert_int_eq(live_kill(&g, SIGTERM), 0);
    close(fd);
    live_start_again(&g, NULL);
    check_nothing_left();
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

/* Its own limit is a day. */
START_TEST(sigterm_ends_a_running_query_after_its_grace)
{
    static const char query[] =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    live_start(&g, "[server]\ngrace_s = 1\n[sql]\ntime_ms = 86400000\n");
    char *t = small_trace(0, 3), head[512];
    struct answer a = put_trace(&g, "name=x.json&run=r", t);
    ck_assert_int_eq(a.status, 201);
    json_t *j = json_of(&a);
    const char *id = json_string_value(json_object_get(json_array_get(json_object_get(j, "traces"), 0), "id"));
    ck_assert_ptr_nonnull(id);
    int fd = dial(&g);
    snprintf(head, sizeof head,
             "POST /api/v1/traces/%s/sql HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             id, sizeof query - 1, query);
    send_text(fd, head);
    nap(300);
    ck_assert_int_eq(live_stop(&g), 0);
    close(fd);
    json_decref(j);
    answer_free(&a);
    free(t);
}
END_TEST

/* The whole first file stays whatever becomes of the body behind it, and the answer says so: cut, or a bad field. */
static const struct {
    const char *tail;
    long status;
} bad_tails[] = {
    {"--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"rank1.json\"\r\n\r\n{\"traceEvents\":[", 422},
    {"--B\r\nContent-Disposition: form-data; name=\"rank\"\r\n\r\nminus\r\n--B--\r\n", 400},
};

START_TEST(a_form_that_goes_wrong_tells_what_it_kept)
{
    start();
    char *t = small_trace(0, 6);
    size_t cap = strlen(t) + 2000;
    char *body = malloc(cap);
    int n = snprintf(body, cap,
                     "--B\r\nContent-Disposition: form-data; name=\"run\"\r\n\r\nkept\r\n"
                     "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"rank0.json\"\r\n\r\n%s\r\n%s",
                     t, bad_tails[_i].tail);
    const char *const type[] = {"Content-Type: multipart/form-data; boundary=B", NULL};
    struct answer a = ask(&g, "POST", "/api/v1/traces", type, body, (size_t)n);
    ck_assert_msg(a.status == bad_tails[_i].status, "%ld: %.300s", a.status, a.body);
    ck_assert_msg(strstr(a.body, "1 trace that came whole before it is kept in run kept"), "%.300s", a.body);
    answer_free(&a);
    a = get(&g, "/api/v1/runs/kept");
    json_t *j = json_of(&a);
    ck_assert_uint_eq(json_array_size(json_object_get(j, "traces")), 1);
    json_decref(j);
    answer_free(&a);
    free(body);
    free(t);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

START_TEST(a_dead_server_leaves_nothing_half)
{
    start();
    size_t n;
    char *t = large_trace(&n), head[256];
    int fd = dial(&g);
    snprintf(head, sizeof head,
             "PUT /api/v1/traces?name=x.json HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", n);
    send_text(fd, head);
    send_all(fd, t, n / 2);
    ck_assert_int_eq(live_kill(&g, SIGKILL), -SIGKILL);
    close(fd);
    live_start_again(&g, NULL);
    check_nothing_left();
    free(t);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

START_TEST(what_is_hardly_http_does_no_harm)
{
    static const char *const requests[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        "PUT /api/v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\nConnection: close\r\n\r\nx",
        "PUT /api/v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\nConnection: "
        "close\r\n\r\nx",
        "PUT /api/v1/traces HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: "
        "close\r\n\r\nZZ\r\nabc\r\n",
        "POST /api/v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Type: multipart/form-data\r\n"
        "Connection: close\r\n\r\nabcd",
        "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: \x01\x02\xff\r\nConnection: close\r\n\r\n",
    };
    static char out[65536];
    start();
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        int fd = dial(&g);
        send_text(fd, requests[i]);
        shutdown(fd, SHUT_WR);
        read_answer(fd, out, sizeof out);
        ck_assert_msg(!strstr(out, " 500 "), "request %zu: %.200s", i, out);
        close(fd);
    }
    /* a URL and a header line of 100 kB, and many header lines */
    char *big = malloc(300000);
    for (int kind = 0; kind < 3; kind++) {
        size_t n =
            (size_t)sprintf(big, kind == 0 ? "GET /api/v1/runs/" : "GET /healthz HTTP/1.1\r\nHost: localhost\r\n");
        if (kind == 1)
            n += (size_t)sprintf(big + n, "X-Long: ");
        for (int i = 0; i < 100000; i++)
            big[n++] = 'a';
        if (kind == 2) {
            n = (size_t)sprintf(big, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n");
            for (int i = 0; i < 9000; i++)
                n += (size_t)sprintf(big + n, "X-%d: abcdefghij\r\n", i);
        }
        n += (size_t)sprintf(big + n, kind == 0 ? " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                                                : "\r\nConnection: close\r\n\r\n");
        raw(&g, big, n, out, sizeof out);
        ck_assert_msg(!strstr(out, " 500 ") && !strstr(out, "200 OK\r\n\r\n"), "kind %d: %.200s", kind, out);
        if (kind == 0)
            ck_assert_msg(!*out || strstr(out, " 414 "), "%.200s", out);
    }
    /* just over our own limit, well below libmicrohttpd's */
    size_t n = (size_t)sprintf(big, "GET /");
    while (n < 9000)
        big[n++] = 'a';
    n += (size_t)sprintf(big + n, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    raw(&g, big, n, out, sizeof out);
    ck_assert_msg(strstr(out, " 414 ") != NULL, "%.200s", out);
    free(big);
    struct answer a = get(&g, "/healthz");
    ck_assert_int_eq(a.status, 200);
    answer_free(&a);
    ck_assert_int_eq(live_stop(&g), 0);
}
END_TEST

HS_SUITE(http_stream)
{
    HS_TEST(a_slow_chunked_upload_arrives_and_others_are_served_meanwhile);
    HS_TEST(a_large_upload_passes_through_small_buffers);
    HS_TEST(many_clients_upload_and_ask_at_once);
    HS_TEST(one_file_uploaded_at_once_by_many_is_kept_once);
    HS_TEST(an_upload_broken_off_leaves_nothing);
    HS_LOOP_TEST(a_form_that_goes_wrong_tells_what_it_kept, 0, sizeof bad_tails / sizeof bad_tails[0]);
    HS_TEST(sigterm_waits_for_a_running_upload);
    HS_TEST(sigterm_ends_a_stalled_upload_after_its_grace);
    HS_TEST(sigterm_ends_a_running_query_after_its_grace);
    HS_TEST(a_dead_server_leaves_nothing_half);
    HS_TEST(what_is_hardly_http_does_no_harm);
}
