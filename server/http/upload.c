#include "http/upload.h"

#include "base/log.h"
#include "http/dispatch.h"
#include "http/multipart.h"
#include "http/pipe.h"
#include "http/resources.h"
#include "http/server.h"
#include "ingest/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIPE_BYTES = 4 << 20, /* what one upload may be ahead of its import */
    MIN_ROOM = 64 << 10,  /* below that the connection sleeps */
    FIELD_MAX = 1024,     /* bytes of a form field that is no file */
    MAX_FILES = 4096      /* of one request */
};

struct file {
    struct file *next;
    struct hs_request *r;
    struct hs_pipe pipe;
    char *name, *run;
    int64_t rank, order;
    bool original, forget;
    struct hs_import_progress progress;
    struct hs_imported *out;
    size_t n;
    int rc;
    struct hs_err err;
};

struct hs_upload {
    pthread_mutex_t lock; /* the list of files, running, waiting, aborted */
    struct file *first, **last, *current;
    size_t nfiles;
    unsigned running;
    bool waiting; /* the connection is suspended until running is 0 */
    bool aborted;
    bool is_multipart;
    struct hs_multipart form;
    struct hs_multipart_sink sink;
    char *field; /* name of the form field that is being read, NULL in a file */
    struct hs_buf value;
    char *run; /* defaults of the files that follow: query, then form fields */
    int64_t rank;
    bool original; /* its bytes are kept, too */
    bool forget;   /* nothing is kept: analysed in memory, until nobody has asked for it for a while */
    uint64_t received;
    struct hs_err err; /* the body as a whole is wrong: what still comes is dropped */
};

/* ---- one file ---- */

/* The traces of an upload that is to be forgotten go to the runs in memory. */
static int hand_over(struct file *f, struct hs_mounts *m)
{
    struct hs_view **views = hs_calloc(f->n, sizeof *views);
    for (size_t i = 0; i < f->n; i++)
        views[i] = f->out[i].view;
    int rc = hs_mounts_adopt(m, f->run, views, f->n, (int64_t)f->progress.bytes_in, &f->err);
    for (size_t i = 0; i < f->n && !rc; i++) {
        f->out[i].view = NULL;
        if (!f->out[i].row.run)
            f->out[i].row.run = hs_strdup(f->run);
    }
    free(views);
    return rc;
}

static void import_file(void *arg)
{
    struct file *f = arg;
    struct hs_request *r = f->r;
    struct hs_server *s = r->server;
    struct hs_upload *u = r->upload;
    struct hs_input in = {.read = hs_pipe_read, .ctx = &f->pipe, .name = f->name, .size = -1};
    struct hs_import_options o = {.limits = &s->o.limits,
                                  .store = f->forget ? NULL : s->o.store,
                                  .run = f->run,
                                  .rank = f->rank,
                                  .order = f->order,
                                  .keep_original = f->original && !f->forget,
                                  .progress = &f->progress};
    f->rc = hs_import(&in, &o, &f->out, &f->n, &f->err);
    if (!f->rc && f->forget)
        f->rc = hand_over(f, s->mounts);
    hs_pipe_leave(&f->pipe);
    pthread_mutex_lock(&u->lock);
    if (--u->running == 0 && u->waiting) {
        u->waiting = false;
        hs_request_resume(r); /* suspended, therefore alive */
    }
    pthread_mutex_unlock(&u->lock);
    hs_request_unref(r);
    hs_server_job_done(s);
}

/* The last part of a path of either kind, since browsers and tools send both; never empty. */
static char *base_name(const char *name)
{
    const char *slash = strrchr(name, '/'), *back = strrchr(name, '\\');
    const char *from = slash > back ? slash : back;
    from = from ? from + 1 : name;
    size_t n = strlen(from);
    struct hs_buf b = HS_BUF_INIT(4096);
    hs_put_utf8(&b, hs_str(from, n < 255 ? n : 255));
    if (!b.n) {
        hs_buf_free(&b);
        return hs_strdup("trace");
    }
    return b.p;
}

static int begin_file(struct hs_request *r, const char *name, struct hs_err *err)
{
    struct hs_upload *u = r->upload;
    if (u->nfiles == MAX_FILES)
        return hs_fail(err, HS_ELIMIT, "one request takes at most %d files", MAX_FILES);
    struct file *f = hs_calloc(1, sizeof *f);
    f->r = r;
    f->name = base_name(name ? name : "trace");
    if (!u->run) /* the first file names the run of all that come with it */
        u->run = hs_run_name_of(f->name);
    f->run = hs_strdup(u->run);
    f->rank = u->rank;
    f->original = u->original;
    f->forget = u->forget;
    f->order = (int64_t)u->nfiles;
    f->err = (struct hs_err)HS_ERR_INIT;
    hs_pipe_init(&f->pipe, PIPE_BYTES, hs_request_suspend, hs_request_resume, r);
    pthread_mutex_lock(&u->lock);
    *u->last = f;
    u->last = &f->next;
    u->nfiles++;
    u->running++;
    bool ok = !u->aborted;
    pthread_mutex_unlock(&u->lock);
    r->refs++;
    u->current = f;
    u->rank = HS_RANK_AUTO; /* a rank names one file */
    if (ok && hs_server_submit(r->server, r->server->imports, import_file, f))
        return HS_OK;
    r->refs--;
    hs_pipe_leave(&f->pipe);
    f->rc = hs_fail(&f->err, HS_ECANCELLED, "too many uploads are waiting already; try again in a moment");
    pthread_mutex_lock(&u->lock);
    u->running--;
    pthread_mutex_unlock(&u->lock);
    return HS_OK; /* told for this file in the answer; the others may go on */
}

static void end_file(struct hs_upload *u)
{
    if (u->current)
        hs_pipe_end(&u->current->pipe);
    u->current = NULL;
}

/* ---- settings: the query's, then the form's ---- */

static int set(struct hs_upload *u, const char *name, const char *value, struct hs_err *err)
{
    if (!strcmp(name, "run")) {
        int rc = hs_run_name_check(value, err);
        if (rc)
            return rc;
        free(u->run);
        u->run = hs_strdup(value);
    } else if (!strcmp(name, "rank")) {
        char *end;
        errno = 0;
        long long v = strtoll(value, &end, 10);
        if (end == value || *end || errno || v < 0 || v > INT32_MAX)
            return hs_fail(err, HS_EUSAGE, "rank is '%.40s'; it must be an integer from 0 on", value);
        u->rank = v;
    } else if (!strcmp(name, "keep") || !strcmp(name, "original")) {
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return hs_fail(err, HS_EUSAGE, "%s is '%.40s'; it must be true or false", name, value);
        if (name[0] == 'k')
            u->forget = value[0] == 'f';
        else
            u->original = value[0] == 't';
    }
    return HS_OK; /* other fields of a form are none of our business */
}

/* ---- multipart ---- */

static int part_begin(void *ctx, const char *field, const char *file, struct hs_err *err)
{
    struct hs_request *r = ctx;
    if (file)
        return begin_file(r, file, err);
    free(r->upload->field);
    r->upload->field = hs_strdup(field);
    hs_buf_clear(&r->upload->value);
    return HS_OK;
}

static int part_data(void *ctx, const char *p, size_t n, struct hs_err *err)
{
    struct hs_upload *u = ((struct hs_request *)ctx)->upload;
    if (u->current)
        hs_pipe_write(&u->current->pipe, p, n);
    else
        hs_buf_put(&u->value, p, n);
    return hs_buf_check(&u->value, "a form field", err);
}

static int part_end(void *ctx, struct hs_err *err)
{
    struct hs_upload *u = ((struct hs_request *)ctx)->upload;
    if (u->current) {
        end_file(u);
        return HS_OK;
    }
    int rc = HS_OK;
    if (u->field)
        rc = set(u, u->field, u->value.p ? u->value.p : "", err);
    free(u->field);
    u->field = NULL;
    return rc;
}

/* ---- the body ---- */

int hs_upload_begin(struct hs_request *r, struct hs_err *err)
{
    int rc = hs_request_check_query(r, err);
    if (rc)
        return rc;
    struct hs_upload *u = hs_calloc(1, sizeof *u);
    pthread_mutex_init(&u->lock, NULL);
    u->last = &u->first;
    u->rank = HS_RANK_AUTO;
    u->original = r->server->o.keep_original;
    u->err = (struct hs_err)HS_ERR_INIT;
    u->value = (struct hs_buf)HS_BUF_INIT(FIELD_MAX);
    r->upload = u;
    for (size_t i = 0; i < r->uri.npairs && !rc; i++)
        rc = set(u, r->uri.pairs[i].name, r->uri.pairs[i].value, err);
    u->is_multipart = hs_is_multipart(r->content_type);
    u->sink = (struct hs_multipart_sink){part_begin, part_data, part_end, r};
    if (!rc && u->is_multipart)
        rc = hs_multipart_init(&u->form, r->content_type, &u->sink, err);
    if (!rc && !u->is_multipart)
        rc = begin_file(r, hs_uri_query(&r->uri, "name"), err);
    if (!rc)
        hs_watch_add(&r->server->watch, r);
    return rc;
}

/* The rest of the body is no good. What it cuts is dropped; files of a form that had come whole before are kept, like
 * any other upload, and the answer names them: otherwise it would depend on how fast each was imported. */
static void spoil(struct hs_upload *u, const struct hs_err *err)
{
    u->err = *err;
    if (u->current) {
        u->current->progress.cancel = true;
        hs_pipe_break(&u->current->pipe);
    }
    u->current = NULL;
}

static void take(struct hs_request *r, const char *p, size_t n)
{
    struct hs_upload *u = r->upload;
    struct hs_err err = HS_ERR_INIT;
    u->received += n;
    if (u->err.code)
        return;
    int rc = HS_OK;
    if (u->received > r->server->o.max_upload)
        rc = hs_fail(&err, HS_ELIMIT, "the upload is larger than the limit of %llu bytes ([server] max_upload)",
                     (unsigned long long)r->server->o.max_upload);
    else if (u->is_multipart)
        rc = hs_multipart_feed(&u->form, p, n, &err);
    else if (u->current)
        hs_pipe_write(&u->current->pipe, p, n);
    if (rc)
        spoil(u, &err);
}

bool hs_upload_data(struct hs_request *r, const char *p, size_t *n)
{
    struct hs_upload *u = r->upload;
    while (*n) {
        struct hs_pipe *pipe = u->current ? &u->current->pipe : NULL;
        size_t room = pipe ? hs_pipe_room(pipe) : SIZE_MAX;
        if (room < MIN_ROOM) {
            if (hs_pipe_pause(pipe, MIN_ROOM))
                return true;
            continue;
        }
        size_t some = *n < room - HS_MULTIPART_HELD ? *n : room - HS_MULTIPART_HELD;
        take(r, p, some);
        p += some;
        *n -= some;
    }
    /* An answer can only follow the body, so a refused one is read to its end; but not for ever. */
    return u->received / 2 <= r->server->o.max_upload;
}

bool hs_upload_end(struct hs_request *r)
{
    struct hs_upload *u = r->upload;
    struct hs_err err = HS_ERR_INIT;
    if (u->is_multipart && !u->err.code && hs_multipart_finish(&u->form, &err))
        spoil(u, &err);
    end_file(u);
    pthread_mutex_lock(&u->lock);
    u->waiting = u->running > 0;
    bool wait = u->waiting;
    if (wait)
        hs_request_suspend(r);
    pthread_mutex_unlock(&u->lock);
    return wait;
}

void hs_upload_abort(struct hs_upload *u, bool stopping)
{
    pthread_mutex_lock(&u->lock);
    u->aborted = true;
    for (struct file *f = u->first; f; f = f->next)
        if (hs_pipe_break(&f->pipe) || stopping)
            f->progress.cancel = true;
    pthread_mutex_unlock(&u->lock);
}

void hs_upload_free(struct hs_upload *u)
{
    if (!u)
        return;
    for (struct file *f = u->first, *next; f; f = next) {
        next = f->next;
        hs_imported_free(f->out, f->n);
        hs_pipe_destroy(&f->pipe);
        free(f->name);
        free(f->run);
        free(f);
    }
    if (u->is_multipart)
        hs_multipart_free(&u->form);
    hs_buf_free(&u->value);
    free(u->field);
    free(u->run);
    pthread_mutex_destroy(&u->lock);
    free(u);
}

/* ---- the answer ---- */

static void put_error(struct hs_json *j, const struct file *f)
{
    hs_json_obj(j);
    hs_json_key(j, "name");
    hs_json_cstr(j, f->name);
    hs_json_key(j, "code");
    hs_json_cstr(j, hs_status_code(f->err.code));
    hs_json_key(j, "status");
    hs_json_i64(j, hs_status_http(f->err.code));
    hs_json_key(j, "detail");
    hs_json_cstr(j, f->err.text);
    hs_json_end(j);
}

static void set_location(struct hs_reply *y, const char *run, const char *id)
{
    struct hs_buf b = HS_BUF_INIT(2048);
    hs_buf_puts(&b, id ? "/api/v1/traces/" : "/api/v1/runs/");
    hs_uri_encode(&b, id ? id : run);
    y->location = b.p;
}

static void put_traces(struct hs_request *r, unsigned status, const struct hs_imported *one, size_t total)
{
    struct hs_buf b = HS_BUF_INIT(64u << 20);
    struct hs_json j = HS_JSON_INIT(&b);
    hs_json_obj(&j);
    hs_json_key(&j, "run");
    hs_json_cstr(&j, one->row.run);
    hs_json_key(&j, "traces");
    hs_json_arr(&j);
    for (const struct file *f = r->upload->first; f; f = f->next)
        for (size_t i = 0; !f->rc && i < f->n; i++) {
            hs_json_obj(&j);
            hs_json_trace_members(&j, &f->out[i].row);
            hs_json_key(&j, "existed");
            hs_json_bool(&j, f->out[i].existed);
            hs_json_end(&j);
        }
    hs_json_end(&j);
    hs_json_key(&j, "errors");
    hs_json_arr(&j);
    for (const struct file *f = r->upload->first; f; f = f->next)
        if (f->rc)
            put_error(&j, f);
    hs_json_end(&j);
    hs_json_end(&j);
    hs_buf_putc(&b, '\n');
    hs_reply_json(&r->reply, status, &b);
    set_location(&r->reply, one->row.run, total == 1 ? one->row.id : NULL);
}

void hs_upload_reply(struct hs_request *r)
{
    struct hs_upload *u = r->upload;
    const struct hs_imported *one = NULL;
    const struct file *failed = NULL;
    size_t total = 0;
    bool fresh = false;
    for (const struct file *f = u->first; f; f = f->next) {
        if (f->rc && !failed)
            failed = f;
        for (size_t i = 0; !f->rc && i < f->n; i++) {
            one = one ? one : &f->out[i];
            fresh |= !f->out[i].existed;
            total++;
        }
    }
    if (u->err.code) {
        if (total) {
            size_t n = strlen(u->err.text);
            snprintf(u->err.text + n, sizeof u->err.text - n,
                     "; %zu trace%s that came whole before it %s kept in run %.200s", total, total == 1 ? "" : "s",
                     total == 1 ? "is" : "are", one->row.run);
        }
        hs_request_fail(r, &u->err);
    } else if (one)
        put_traces(r, fresh ? 201 : 200, one, total);
    else if (failed)
        hs_request_fail(r, &failed->err);
    else
        hs_reply_problem(&r->reply, 422, "input",
                         "the upload holds no file; send a trace as the body, or as a file of a form", -1);
    if (r->reply.status == 503)
        r->reply.retry_after = "5";
}
