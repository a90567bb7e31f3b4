#include "store/column_jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define ALONE 8u /* fewer jobs than this are not worth a thread */

struct shared {
    struct hs_column_jobs *j;
    _Atomic size_t next; /* the job that nobody has taken yet; what a job holds belongs to who took it */
};

struct hs_column_jobs *hs_column_jobs_new(void)
{
    struct hs_column_jobs *j = hs_calloc(1, sizeof *j);
    for (int i = 0; i < 2; i++) {
        j->encoder[i] = hs_encoder_new();
        j->numbers[i] = hs_malloc(HS_SEG_ROWS * sizeof *j->numbers[i]);
    }
    for (size_t i = 0; i < HS_JOBS; i++)
        j->job[i].blob = (struct hs_buf)HS_BUF_INIT(HS_SEG_ROWS * 32u);
    return j;
}

void hs_column_jobs_free(struct hs_column_jobs *j)
{
    if (!j)
        return;
    for (int i = 0; i < 2; i++) {
        hs_encoder_free(j->encoder[i]);
        free(j->numbers[i]);
    }
    for (size_t i = 0; i < HS_JOBS; i++)
        hs_buf_free(&j->job[i].blob);
    free(j);
}

void hs_column_jobs_add(struct hs_column_jobs *j, enum hs_tbl tbl, uint32_t col, uint64_t segment, const void *rows,
                        size_t at, size_t n, hs_fill_fn *fill)
{
    struct hs_column_job *job = &j->job[j->n++];
    struct hs_buf blob = job->blob;
    hs_buf_clear(&blob);
    *job = (struct hs_column_job){tbl, col, segment, rows, at, n, fill, blob, 0, 0};
}

static void work(struct shared *s, int thread)
{
    struct hs_column_jobs *j = s->j;
    for (size_t i; (i = atomic_fetch_add(&s->next, 1u)) < j->n;) {
        struct hs_column_job *job = &j->job[i];
        job->fill(job->rows, job->at, job->n, job->col, j->numbers[thread]);
        hs_encode(j->encoder[thread], j->numbers[thread], job->n, &job->blob, &job->min, &job->max);
    }
}

static void *second(void *arg)
{
    work(arg, 1);
    return NULL;
}

void hs_column_jobs_run(struct hs_column_jobs *j)
{
    struct shared s = {.j = j};
    pthread_t helper;
    bool helped = j->n >= ALONE && !pthread_create(&helper, NULL, second, &s);
    work(&s, 0); /* without a helper, all of it */
    if (helped)
        pthread_join(helper, NULL);
}
