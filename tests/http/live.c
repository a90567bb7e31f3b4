#include "tests/http/live.h"

#include "tests/unit/test.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the server ---- */

static void read_url(struct live *l, int fd)
{
    char line[256] = "";
    size_t n = 0;
    while (n < sizeof line - 1 && !strchr(line, '\n')) {
        ssize_t got = read(fd, line + n, sizeof line - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
        line[n] = 0;
    }
    ck_assert_msg(sscanf(line, "holoscope: listening on %63s", l->url) == 1, "the server said '%s'", line);
    l->port = atoi(strrchr(l->url, ':') + 1);
}

void live_start_again(struct live *l, const char *config)
{
    char file[640];
    int out[2];
    snprintf(file, sizeof file, "%s/config.toml", l->dir);
    FILE *f = fopen(file, "w");
    fputs(config ? config : "", f);
    fclose(f);
    ck_assert_int_eq(pipe(out), 0);
    l->pid = fork();
    if (l->pid == 0) {
        char log[640];
        snprintf(log, sizeof log, "%s/log", l->dir);
        int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(out[1], STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
        close(out[0]);
        close(out[1]);
        execl(hs_test_binary(), "holoscope", "serve", "--config", file, "--listen", "127.0.0.1:0", "--data", l->data,
              (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    read_url(l, out[0]);
    close(out[0]);
}

void live_start(struct live *l, const char *config)
{
    *l = (struct live){.dir = hs_test_tmpdir()};
    snprintf(l->data, sizeof l->data, "%s/data", l->dir);
    live_start_again(l, config);
}

int live_kill(struct live *l, int signal)
{
    int status = 0;
    kill(l->pid, signal);
    while (waitpid(l->pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void live_cleanup(struct live *l)
{
    hs_test_rmdir(l->dir);
    free(l->dir);
}

/* What a sanitizer of the server found stands in its log, and why it ended otherwise than it should. */
static void check_log(const struct live *l, int status)
{
    char path[640], line[2048];
    snprintf(path, sizeof path, "%s/log", l->dir);
    FILE *f = fopen(path, "r");
    bool bad = false;
    while (f && fgets(line, sizeof line, f)) {
        bad |= strstr(line, "Sanitizer") != NULL || strstr(line, "runtime error") != NULL;
        if (bad || status)
            fputs(line, stderr);
    }
    if (f)
        fclose(f);
    ck_assert_msg(!bad, "the server's log has a sanitizer's report");
}

int live_stop(struct live *l)
{
    int rc = live_kill(l, SIGTERM);
    check_log(l, rc);
    live_cleanup(l);
    return rc;
}

/* ---- libcurl ---- */

struct sink {
    char *p;
    size_t n;
};

static size_t keep(char *p, size_t size, size_t count, void *ctx)
{
    struct sink *s = ctx;
    size_t n = size * count;
    s->p = realloc(s->p, s->n + n + 1);
    memcpy(s->p + s->n, p, n);
    s->n += n;
    s->p[s->n] = 0;
    return n;
}

struct answer ask(const struct live *l, const char *method, const char *path, const char *const *headers,
                  const void *body, size_t n)
{
    struct sink text = {strdup(""), 0}, head = {strdup(""), 0};
    struct curl_slist *list = NULL;
    struct answer a = {0};
    CURL *c = curl_easy_init();
    size_t len = strlen(l->url) + strlen(path) + 1;
    char *url = malloc(len);
    snprintf(url, len, "%s%s", l->url, path);
    for (; headers && *headers; headers++)
        list = curl_slist_append(list, *headers);
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
    if (!strcmp(method, "HEAD"))
        curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    if (body) {
        curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
        curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
    }
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, keep);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &text);
    curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, keep);
    curl_easy_setopt(c, CURLOPT_HEADERDATA, &head);
    curl_easy_setopt(c, CURLOPT_TIMEOUT, 200L);
    CURLcode rc = curl_easy_perform(c);
    if (rc == CURLE_OK)
        curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &a.status);
    curl_slist_free_all(list);
    curl_easy_cleanup(c);
    free(url);
    a.body = text.p;
    a.n = text.n;
    a.headers = head.p;
    return a;
}

struct answer get(const struct live *l, const char *path)
{
    return ask(l, "GET", path, NULL, NULL, 0);
}

void answer_free(struct answer *a)
{
    free(a->body);
    free(a->headers);
    *a = (struct answer){0};
}

const char *header_of(const struct answer *a, const char *name)
{
    static char value[1024];
    size_t n = strlen(name);
    value[0] = 0;
    for (const char *p = a->headers; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        if (!strncasecmp(p, name, n) && p[n] == ':') {
            p += n + 1 + strspn(p + n + 1, " ");
            snprintf(value, sizeof value, "%.*s", (int)strcspn(p, "\r\n"), p);
            break;
        }
    return value;
}

json_t *json_of(const struct answer *a)
{
    json_error_t e;
    json_t *j = json_loadb(a->body, a->n, JSON_REJECT_DUPLICATES, &e);
    ck_assert_msg(j != NULL, "no JSON (%s): %.300s", e.text, a->body);
    return j;
}

void check_problem(const struct answer *a, long status, const char *code)
{
    ck_assert_msg(a->status == status, "status %ld instead of %ld: %.300s", a->status, status, a->body);
    ck_assert_str_eq(header_of(a, "Content-Type"), "application/problem+json");
    json_t *j = json_of(a);
    ck_assert_int_eq(json_integer_value(json_object_get(j, "status")), status);
    ck_assert_str_eq(json_string_value(json_object_get(j, "code")), code);
    ck_assert_uint_gt(strlen(json_string_value(json_object_get(j, "title"))), 0);
    ck_assert_uint_gt(strlen(json_string_value(json_object_get(j, "detail"))), 0);
    json_decref(j);
}

struct answer put_trace(const struct live *l, const char *query, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "/api/v1/traces?%s", query);
    return ask(l, "PUT", path, NULL, text, strlen(text));
}

/* ---- a plain socket ---- */

int dial(const struct live *l)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)l->port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval t = {.tv_sec = 60};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

size_t raw(const struct live *l, const char *bytes, size_t n, char *out, size_t cap)
{
    int fd = dial(l);
    for (size_t done = 0; done < n;) {
        ssize_t w = send(fd, bytes + done, n - done, MSG_NOSIGNAL);
        if (w <= 0)
            break;
        done += (size_t)w;
    }
    size_t got = 0;
    for (ssize_t r; got < cap - 1 && (r = recv(fd, out + got, cap - 1 - got, 0)) > 0;)
        got += (size_t)r;
    out[got] = 0;
    close(fd);
    return got;
}

/* ---- traces ---- */

char *small_trace(int rank, int kernels)
{
    size_t cap = 1024 + (size_t)kernels * 700, n;
    char *t = malloc(cap);
    n = (size_t)snprintf(t, cap, "{\"schemaVersion\": 1, \"traceEvents\": [\n");
    for (int i = 0; i < kernels; i++) {
        int at = 1000 + i * 100, dur = 10 * (i % 3 + 1);
        n += (size_t)snprintf(
            t + n, cap - n,
            "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::op%d\", \"pid\": 1, \"tid\": 2, \"ts\": %d, "
            "\"dur\": 50},\n"
            "{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 2, "
            "\"ts\": %d, "
            "\"dur\": 5, \"args\": {\"correlation\": %d}},\n"
            "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k%d\", \"pid\": 0, \"tid\": 7, \"ts\": %d, \"dur\": %d, "
            "\"args\": {\"device\": 0, \"stream\": 7, \"correlation\": %d}}%s\n",
            i % 3, at, at + 1, i + 1, i % 3, at + 20, dur, i + 1, i + 1 < kernels ? "," : "");
    }
    n += (size_t)snprintf(t + n, cap - n, "]");
    if (rank >= 0)
        n += (size_t)snprintf(t + n, cap - n, ", \"distributedInfo\": {\"rank\": %d, \"world_size\": 8}", rank);
    snprintf(t + n, cap - n, "}\n");
    return t;
}

size_t files_in(const char *dir, const char *ending)
{
    size_t n = 0, e = strlen(ending);
    DIR *d = opendir(dir);
    for (struct dirent *f; d && (f = readdir(d));)
        n += strlen(f->d_name) >= e && !strcmp(f->d_name + strlen(f->d_name) - e, ending) && f->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}
