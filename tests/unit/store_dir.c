#include "tests/unit/store_dir.h"

#include "tests/unit/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct hs_store *dir_open(const char *dir)
{
    struct hs_store *s = NULL;
    struct hs_err err = HS_ERR_INIT;
    struct hs_store_options o = {.dir = dir, .keep_original = true};
    ck_assert_msg(!hs_store_open(&s, &o, &err), "%s", err.text);
    return s;
}

/* A trace of one event whose clock starts at base + ts. */
void dir_write_trace_of(const char *path, const char *id, const char *run, int64_t base, int64_t ts)
{
    struct hs_trace t;
    struct hs_links l;
    struct hs_writer *w;
    struct hs_err err = HS_ERR_INIT;
    struct hs_trace_info info = {.name = "x.json", .rank = 7, .run = run};
    uint32_t parent = HS_NO_EVENT;
    uint16_t depth = 0;
    int32_t step = -1;
    memcpy(info.id, id, 33);
    hs_trace_init(&t, NULL);
    hs_links_init(&l);
    struct hs_segment *s = hs_segment_new();
    hs_segment_reset(s, 0);
    s->rows = 1;
    s->ts[0] = ts;
    s->dur[0] = 5;
    s->shape[0] = s->name[0] = s->cat[0] = s->lane[0] = 0;
    s->ph[0] = 'X';
    s->digits[0] = 0;
    ck_assert(hs_vec_push(&t.lanes, ((struct hs_lane){{1, HS_ID_INT}, {2, HS_ID_INT}})));
    ck_assert(hs_vec_push(&t.shapes, ((struct hs_shape){0, 0})));
    t.events = 1;
    t.bytes_in = 100;
    t.bytes_json = 1000;
    hs_quality_add(&t.quality, HS_Q_BOM, 1, 0);
    t.has_base = base != 0;
    t.base_ns = base;
    l.n = 1;
    l.parent = &parent;
    l.depth = &depth;
    l.step = &step;
    l.sum.events = 1;
    l.sum.first_ts = ts;
    l.sum.last_end = ts + 5;
    ck_assert(!hs_writer_new(&w, path, &err));
    ck_assert(!hs_writer_segment(w, s, &err));
    ck_assert_msg(!hs_writer_finish(w, &t, &l, &info, &err), "%s", err.text);
    hs_writer_free(w);
    hs_segment_free(s);
    l.parent = NULL;
    l.depth = NULL;
    l.step = NULL;
    hs_links_free(&l);
    hs_trace_free(&t);
}

void dir_write_trace(const char *path, const char *id, int64_t base, int64_t ts)
{
    dir_write_trace_of(path, id, NULL, base, ts);
}

void dir_write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

int dir_commit(struct hs_store *s, const char *id, const char *run, const char *name, int64_t rank, bool original,
               bool *existed)
{
    struct hs_trace_row row = {.run = (char *)(uintptr_t)run,
                               .name = (char *)(uintptr_t)name,
                               .rank = rank,
                               .bytes_in = 100,
                               .bytes_json = 1000,
                               .events = 1,
                               .quality_json = (char[]){"{\"bom\": 1}"}};
    struct hs_err err = HS_ERR_INIT;
    char *db = hs_store_temp_path(s, ".db"), *orig = original ? hs_store_temp_path(s, ".orig") : NULL;
    memcpy(row.id, id, 33);
    dir_write_trace_of(db, id, run, 0, 1000);
    if (orig)
        dir_write_text(orig, "original bytes");
    int rc = hs_store_commit(s, &row, db, orig, existed, &err);
    ck_assert(access(db, F_OK)); /* moved or removed */
    ck_assert(!orig || access(orig, F_OK));
    free(db);
    free(orig);
    return rc;
}

/* Names in dir/traces, sorted, joined by blanks. */
char *dir_listing(const char *dir)
{
    static char out[4096];
    struct dirent **names;
    char *traces = hs_asprintf("%s/traces", dir);
    int n = scandir(traces, &names, NULL, alphasort);
    out[0] = 0;
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.')
            strcat(strcat(out, names[i]->d_name), " ");
        free(names[i]);
    }
    free(names);
    free(traces);
    return out;
}

void dir_touch(const char *dir, const char *name)
{
    char *p = hs_asprintf("%s/traces/%s", dir, name);
    dir_write_text(p, "left over");
    free(p);
}

void dir_forget(const char *dir, const char *name)
{
    char *p = hs_asprintf("%s/traces/%s", dir, name);
    ck_assert(!unlink(p));
    free(p);
}
