/* kill -9 of an import at moments spread over its run: afterwards the store has the whole trace or nothing of it, the next
 * start clears what was left, and importing again works. */
#include "base/log.h"
#include "store/store.h"

#include "tests/http/live.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KERNELS = 20000, EVENTS = 3 * KERNELS, MOMENTS = 50 };

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static pid_t start_import(const char *file, const char *data)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execl(hs_test_binary(), "holoscope", "import", file, "--run", "r", "--data", data, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* What the store holds now, after an opening that recovers: events of run r, -1 for no such run. */
static int64_t events_in(const char *data)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_store *s = NULL;
    struct hs_store_options o = {.dir = data};
    struct hs_trace_row *rows = NULL;
    struct hs_view *v = NULL;
    size_t n = 0;
    int64_t events = -1;
    ck_assert_msg(!hs_store_open(&s, &o, &err), "%s", err.text);
    if (!hs_store_traces(s, "r", &rows, &n, &err)) {
        ck_assert_uint_eq(n, 1);
        ck_assert_msg(!hs_store_pin_trace(s, rows[0].id, &v, &err), "%s", err.text);
        struct hs_events ev;
        struct hs_gpu gpu;
        ck_assert_msg(!hs_view_events(v, HS_EV_TS | HS_EV_NAME | HS_EV_PARENT, &ev, &err), "%s", err.text);
        ck_assert_msg(!hs_view_gpu(v, &gpu, &err), "%s", err.text);
        ck_assert_uint_eq(gpu.n, KERNELS);
        events = (int64_t)ev.n;
        hs_store_unpin_trace(s, v);
        hs_trace_rows_free(rows, n);
    }
    hs_store_close(s);
    return events;
}

START_TEST(a_killed_import_leaves_all_or_nothing)
{
    char *dir = hs_test_tmpdir(), file[600], data[600], traces[700];
    char *t = small_trace(0, KERNELS);
    hs_log_set_level(HS_LOG_ERROR); /* that recovery removes files is what is tested, not news */
    snprintf(file, sizeof file, "%s/t.json", dir);
    FILE *f = fopen(file, "w");
    fputs(t, f);
    fclose(f);
    free(t);

    /* how long one takes here, to spread the moments over it */
    snprintf(data, sizeof data, "%s/first", dir);
    int64_t began = now_us();
    ck_assert_int_eq(wait_for(start_import(file, data)), 0);
    int64_t whole = now_us() - began;
    ck_assert_int_eq(events_in(data), EVENTS);

    unsigned seed = (unsigned)now_us();
    const char *given = getenv("HOLOSCOPE_SEED");
    if (given)
        seed = (unsigned)strtoul(given, NULL, 10);
    printf("fault_kill: HOLOSCOPE_SEED=%u repeats these moments\n", seed);
    snprintf(data, sizeof data, "%s/data", dir);
    snprintf(traces, sizeof traces, "%s/traces", data);
    int nothing = 0, all = 0;
    for (int i = 0; i < MOMENTS; i++) {
        seed = seed * 1103515245u + 12345u;
        int64_t moment = whole * 11 / 10 * i / MOMENTS + (int64_t)(seed >> 8) % (whole / MOMENTS + 1);
        pid_t pid = start_import(file, data);
        struct timespec nap = {.tv_sec = moment / 1000000, .tv_nsec = moment % 1000000 * 1000};
        nanosleep(&nap, NULL);
        kill(pid, SIGKILL);
        wait_for(pid);
        int64_t events = events_in(data);
        ck_assert_msg(events == -1 || events == EVENTS, "moment %d (%lld us): %lld events", i, (long long)moment,
                      (long long)events);
        ck_assert_uint_eq(files_in(traces, ".tmp"), 0);
        ck_assert_uint_eq(files_in(traces, ".db"), events == EVENTS);
        if (events == EVENTS) { /* begin the next one with an empty store again */
            char cmd[800];
            snprintf(cmd, sizeof cmd, "rm -rf '%s'", data);
            ck_assert_int_eq(system(cmd), 0);
            all++;
        } else {
            nothing++;
        }
    }
    printf("fault_kill: %d times nothing, %d times the whole trace\n", nothing, all);
    ck_assert_int_eq(wait_for(start_import(file, data)), 0);
    ck_assert_int_eq(events_in(data), EVENTS);
    hs_test_rmdir(dir);
    free(dir);
}
END_TEST

HS_SUITE(fault_kill)
{
    HS_TEST(a_killed_import_leaves_all_or_nothing);
}
