/* The naive way, as a yardstick: `bench_naive IN.json[.gz] OUT.db` reads the whole trace with jansson's DOM and puts
 * one SQLite row an event into a table, in one transaction with a prepared statement. */
#include <jansson.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static char *read_all(const char *path, size_t *n)
{
    gzFile f = gzopen(path, "rb");
    size_t cap = 1 << 20;
    char *p = malloc(cap);
    *n = 0;
    if (!f || !p)
        return NULL;
    for (int got; (got = gzread(f, p + *n, (unsigned)(cap - *n))) > 0;) {
        *n += (size_t)got;
        if (*n == cap && !(p = realloc(p, cap *= 2)))
            return NULL;
    }
    gzclose(f);
    return p;
}

static void bind(sqlite3_stmt *st, int i, const json_t *v)
{
    if (json_is_integer(v))
        sqlite3_bind_int64(st, i, json_integer_value(v));
    else if (json_is_real(v))
        sqlite3_bind_double(st, i, json_real_value(v));
    else if (json_is_string(v))
        sqlite3_bind_text(st, i, json_string_value(v), -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(st, i);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return fprintf(stderr, "usage: %s IN OUT.db\n", argv[0]), 2;
    size_t n, i;
    char *text = read_all(argv[1], &n);
    json_t *doc = text ? json_loadb(text, n, 0, NULL) : NULL, *e;
    free(text);
    if (!doc)
        return fprintf(stderr, "%s: not JSON\n", argv[1]), 1;
    sqlite3 *db;
    sqlite3_stmt *st;
    unlink(argv[2]);
    if (sqlite3_open(argv[2], &db))
        return 1;
    sqlite3_exec(
        db,
        "pragma journal_mode=off; pragma synchronous=off; create table events(ph,cat,name,pid,tid,ts,dur,args);begin",
        0, 0, 0);
    sqlite3_prepare_v2(db, "insert into events values(?,?,?,?,?,?,?,?)", -1, &st, 0);
    static const char *const keys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur"};
    json_array_foreach(json_object_get(doc, "traceEvents"), i, e)
    {
        for (int k = 0; k < 7; k++)
            bind(st, k + 1, json_object_get(e, keys[k]));
        char *args = json_dumps(json_object_get(e, "args"), JSON_COMPACT);
        sqlite3_bind_text(st, 8, args, -1, free);
        sqlite3_step(st);
        sqlite3_reset(st);
    }
    sqlite3_exec(db, "commit", 0, 0, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    json_decref(doc);
    return 0;
}
