#include "http/resources.h"
#include "http/server.h"

#include <stdlib.h>
#include <string.h>

static void put_run_members(struct hs_json *j, const struct hs_run_row *run)
{
    const struct {
        const char *name;
        int64_t v;
    } numbers[] = {{"ranks", run->ranks},
                   {"events", run->events},
                   {"bytes_in", run->bytes_in},
                   {"bytes_stored", run->bytes_stored}};
    hs_json_key(j, "run");
    hs_json_cstr(j, run->name);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        hs_json_key(j, numbers[i].name);
        hs_json_i64(j, numbers[i].v);
    }
    hs_json_key(j, "created");
    hs_json_time(j, run->created_ns);
    hs_json_key(j, "updated");
    hs_json_time(j, run->updated_ns);
}

void hs_get_runs(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    struct hs_run_row *rows = NULL;
    size_t n = 0;
    if (hs_request_check_query(r, &err) || hs_store_runs(r->server->o.store, &rows, &n, &err)) {
        hs_request_fail(r, &err);
        return;
    }
    struct hs_buf b = HS_BUF_INIT(64u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    hs_json_key(&j, "runs");
    hs_json_arr(&j);
    for (size_t i = 0; i < n; i++) {
        hs_json_obj(&j);
        put_run_members(&j, &rows[i]);
        hs_json_key(&j, "traces");
        hs_json_i64(&j, rows[i].traces);
        hs_json_end(&j);
    }
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_run_rows_free(rows, n);
    hs_reply_json(&r->reply, 200, &b);
}

/* What the traces of a run are together, as the catalogue's own sums tell it. */
static void sum_up(struct hs_run_row *run, const struct hs_trace_row *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        run->events += t[i].events;
        run->bytes_in += t[i].bytes_in;
        run->bytes_stored += t[i].bytes_stored;
        run->ranks += i == 0 || t[i].rank != t[i - 1].rank; /* sorted by rank */
        if (i == 0 || t[i].created_ns < run->created_ns)
            run->created_ns = t[i].created_ns;
        if (i == 0 || t[i].created_ns > run->updated_ns)
            run->updated_ns = t[i].created_ns;
    }
}

/* Rows as the catalogue has them, of a run that is only in memory. */
static int rows_in_memory(struct hs_mounts *m, const char *name, struct hs_trace_row **out, size_t *n,
                          struct hs_err *err)
{
    struct hs_run *run;
    int rc = hs_mounts_pin(m, name, &run, err);
    if (rc)
        return rc;
    *n = run->n;
    *out = hs_calloc(run->n, sizeof **out);
    for (size_t i = 0; i < run->n; i++) {
        const struct hs_view *v = run->ranks[i].view;
        struct hs_trace_row *row = &(*out)[i];
        *row = (struct hs_trace_row){.run = hs_strdup(name),
                                     .name = hs_strdup(v->name),
                                     .rank = run->ranks[i].rank,
                                     .events = v->sum.events,
                                     .quality_json = hs_store_quality_json(&v->quality)};
        memcpy(row->id, v->id, sizeof row->id);
    }
    hs_mounts_unpin(m, run);
    return HS_OK;
}

void hs_get_run(struct hs_request *r)
{
    const char *name = hs_request_var(r, 0);
    struct hs_err err = HS_ERR_INIT;
    struct hs_trace_row *rows = NULL;
    enum hs_mount_state state;
    size_t n = 0;
    int rc = hs_request_check_query(r, &err);
    if (!rc)
        rc = hs_request_prepare(r, name, &err);
    if (!rc && (rc = hs_store_traces(r->server->o.store, name, &rows, &n, &err)) == HS_ENOTFOUND)
        rc = rows_in_memory(r->server->mounts, name, &rows, &n, &err);
    if (rc) {
        hs_request_fail(r, &err);
        return;
    }
    char *copy = hs_strdup(name);
    struct hs_run_row run = {.name = copy};
    sum_up(&run, rows, n);
    struct hs_buf b = HS_BUF_INIT(64u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    put_run_members(&j, &run);
    hs_json_key(&j, "state");
    if (hs_mounts_state_of(r->server->mounts, name, &state))
        hs_json_cstr(&j, hs_mount_state_word(state));
    else
        hs_json_null(&j);
    hs_json_key(&j, "traces");
    hs_json_arr(&j);
    for (size_t i = 0; i < n; i++) {
        hs_json_obj(&j);
        hs_json_trace_members(&j, &rows[i]);
        hs_json_end(&j);
    }
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_trace_rows_free(rows, n);
    free(copy);
    hs_reply_json(&r->reply, 200, &b);
}

void hs_delete_run(struct hs_request *r)
{
    struct hs_err err = HS_ERR_INIT;
    if (hs_request_check_query(r, &err) || hs_store_delete_run(r->server->o.store, hs_request_var(r, 0), &err))
        hs_request_fail(r, &err);
    else
        r->reply.status = 204;
}
