#include "cli/load.h"

#include "base/clock.h"
#include "base/thread.h"
#include "cli/progress.h"
#include "http/uri.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One file on its way through the pool. Written by its job, read after the job told that it is done. */
struct job {
    struct loading *all;
    const struct hs_path *path;
    struct hs_import_options o;
    struct hs_import_progress progress;
    struct hs_imported *out;
    size_t n;
    int rc;
    struct hs_err err;
};

struct loading {
    struct hs_progress bar; /* counts finished jobs; has its own lock */
    struct job *jobs;
    size_t n;
};

static void import_one(void *arg)
{
    struct job *j = arg;
    struct hs_input in;
    j->rc = hs_input_open_file(&in, j->path->path, &j->err);
    if (!j->rc) {
        j->rc = hs_import(&in, &j->o, &j->out, &j->n, &j->err);
        hs_input_close_file(&in);
        if (j->rc && !strstr(j->err.text, j->path->path)) /* what is wrong is told; here, where */
            hs_err_prefix(&j->err, "%s", j->path->path);
    }
    hs_progress_done(&j->all->bar);
}

static void sum_progress(void *ctx, uint64_t *bytes, uint64_t *events)
{
    struct loading *l = ctx;
    for (size_t i = 0; i < l->n; i++) {
        *bytes += l->jobs[i].progress.bytes_in;
        *events += l->jobs[i].progress.events;
    }
}

static int run_jobs(struct loading *l, int64_t total, struct hs_err *err)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = cores > 0 && (size_t)cores < l->n ? (size_t)cores : l->n;
    struct hs_pool *pool = hs_pool_new((unsigned)workers, l->n);
    if (!pool)
        return hs_fail(err, HS_EINTERNAL, "no threads could be started");
    hs_progress_init(&l->bar, total, sum_progress, l);
    for (size_t i = 0; i < l->n; i++)
        hs_pool_submit(pool, import_one, &l->jobs[i]); /* the pool takes as many as there are */
    hs_progress_wait(&l->bar, l->n);
    hs_pool_free(pool);
    hs_progress_free(&l->bar);
    return HS_OK;
}

static void warn(const struct job *j)
{
    fprintf(stderr, "holoscope: warning: %s\n", j->err.text);
}

/* Is this file's failure the answer, or only a warning? */
static bool is_fatal(const struct job *j, bool others)
{
    return j->rc && (j->path->named || j->rc != HS_EINPUT || !others);
}

static int collect(struct loading *l, struct hs_loaded *out, struct hs_err *err)
{
    bool any = false;
    for (size_t i = 0; i < l->n; i++)
        any |= !l->jobs[i].rc && l->jobs[i].n > 0;
    for (size_t i = 0; i < l->n; i++) {
        struct job *j = &l->jobs[i];
        if (is_fatal(j, any)) {
            *err = j->err;
            return j->rc;
        }
        if (j->rc) {
            warn(j);
            out->refused++;
        }
        if (!j->n)
            continue;
        out->traces = hs_realloc_array(out->traces, out->n + j->n, sizeof *out->traces);
        memcpy(out->traces + out->n, j->out, j->n * sizeof *j->out);
        out->n += j->n;
        free(j->out); /* its elements moved */
        j->out = NULL;
        j->n = 0;
    }
    return out->n ? HS_OK : hs_fail(err, HS_EINPUT, "no trace was found");
}

int hs_load(const struct hs_paths *paths, const struct hs_config *c, struct hs_store *store, const char *run,
            struct hs_loaded *out, struct hs_err *err)
{
    struct hs_limits limits;
    struct loading l = {.jobs = hs_calloc(paths->n, sizeof *l.jobs), .n = paths->n};
    int64_t total = 0;
    *out = (struct hs_loaded){0};
    hs_config_limits(c, &limits);
    for (size_t i = 0; i < paths->n; i++) {
        struct job *j = &l.jobs[i];
        total = paths->p[i].size < 0 || total < 0 ? -1 : total + paths->p[i].size;
        j->all = &l;
        j->path = &paths->p[i];
        j->err = (struct hs_err)HS_ERR_INIT;
        j->o = (struct hs_import_options){.limits = &limits,
                                          .store = store,
                                          .run = run,
                                          .rank = HS_RANK_AUTO,
                                          .order = (int64_t)i,
                                          .progress = &j->progress};
    }
    int rc = run_jobs(&l, total, err);
    if (!rc)
        rc = collect(&l, out, err);
    for (size_t i = 0; i < l.n; i++)
        hs_imported_free(l.jobs[i].out, l.jobs[i].n);
    free(l.jobs);
    if (rc)
        hs_loaded_free(out);
    return rc;
}

void hs_loaded_free(struct hs_loaded *l)
{
    hs_imported_free(l->traces, l->n);
    *l = (struct hs_loaded){0};
}

/* ---- what is asked about ---- */

int hs_open_store(const char *data, const struct hs_config *c, bool read_only, struct hs_store **out,
                  struct hs_err *err)
{
    char *dir = data && *data ? hs_strdup(data) : *c->store.dir ? hs_strdup(c->store.dir) : hs_config_data_dir();
    struct hs_store_options o = {.dir = dir,
                                 .view_bytes = (size_t)c->store.view_bytes,
                                 .keep_original = c->store.keep_original,
                                 .read_only = read_only};
    int rc = hs_store_open(out, &o, err);
    free(dir);
    return rc;
}

static int build_run(struct hs_subject *s, const char *first_path, struct hs_err *err)
{
    struct hs_view **views = hs_calloc(s->loaded.n, sizeof(struct hs_view *));
    char *name = hs_run_name_of(first_path);
    for (size_t i = 0; i < s->loaded.n; i++)
        views[i] = s->loaded.traces[i].view;
    int rc = hs_run_build(name, views, s->loaded.n, &s->run, err);
    free(name);
    free(views);
    return rc;
}

int hs_load_into_store(char *const *args, int n, const char *run, const char *data, struct hs_loaded *out,
                       struct hs_err *err)
{
    struct hs_config c;
    struct hs_paths paths = {0};
    struct hs_store *s = NULL;
    *out = (struct hs_loaded){0};
    int rc = hs_config_open(&c, NULL, err);
    if (!rc)
        rc = hs_paths_expand(args, n, &paths, err);
    if (!rc)
        rc = hs_run_name_check(run, err);
    if (!rc)
        rc = hs_open_store(data, &c, false, &s, err);
    if (!rc)
        rc = hs_load(&paths, &c, s, run, out, err);
    if (s)
        hs_store_close(s);
    hs_paths_free(&paths);
    hs_config_free(&c);
    return rc;
}

int hs_subject_open(struct hs_subject *s, char *const *paths, int n, const char *run, const char *data,
                    struct hs_err *err)
{
    struct hs_config c;
    struct hs_paths list = {0};
    *s = (struct hs_subject){0};
    int rc = hs_config_open(&c, NULL, err);
    if (rc) {
        hs_config_free(&c);
        return rc;
    }
    if (run && n)
        rc = hs_fail(err, HS_EUSAGE, "a PATH and --run exclude each other");
    else if (data && !run)
        rc = hs_fail(err, HS_EUSAGE, "--data needs --run NAME, a run of that store");
    else if (run)
        rc = hs_open_store(data, &c, true, &s->store, err);
    else
        rc = hs_paths_expand(paths, n, &list, err);
    if (!rc && run)
        rc = hs_store_pin_run(s->store, run, &s->run, err);
    if (!rc && !run)
        rc = hs_load(&list, &c, NULL, NULL, &s->loaded, err);
    if (!rc && !run)
        rc = build_run(s, paths[0], err);
    hs_paths_free(&list);
    hs_config_free(&c);
    if (rc)
        hs_subject_close(s);
    return rc;
}

void hs_subject_close(struct hs_subject *s)
{
    if (s->store) {
        if (s->run)
            hs_store_unpin_run(s->store, s->run);
        hs_store_close(s->store);
    } else {
        hs_run_free(s->run);
    }
    hs_loaded_free(&s->loaded);
    *s = (struct hs_subject){0};
}
