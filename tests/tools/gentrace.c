/* gentrace.c - writes Kineto traces of a made-up training job, and the true answers beside them. See gentrace.h.
 *
 *     gentrace --out DIR [--story NAME] [--seed N] [--ranks N] [--steps N] [--streams N] [--layers N] [--style us|ns]
 *              [--gzip] [--events N] [--stacks] [--memory] [--name PREFIX]
 *
 * DIR gets PREFIX0.json(.gz), one file a rank, and truth.json. */
#define _POSIX_C_SOURCE 200809L
#include "gentrace.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
    "usage: gentrace --out DIR [--story NAME] [--seed N] [--ranks N] [--steps N] [--streams N] [--layers N]\n"
    "                [--style us|ns] [--gzip] [--events N] [--stacks] [--memory] [--name PREFIX]\n"
    "  --streams  compute streams; NCCL has one of its own    --events  about so many events a rank, instead of "
    "--steps\n"
    "  stories:";

void die(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("gentrace: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static _Noreturn void wrong_usage(const char *why)
{
    fprintf(stderr, "gentrace: %s\n%s", why, usage);
    for (const struct story *s = story_table; s->name; s++)
        fprintf(stderr, " %s", s->name);
    fputc('\n', stderr);
    exit(2);
}

void *grow(void *array, size_t *capacity, size_t needed, size_t element)
{
    if (needed <= *capacity)
        return array;
    size_t n = *capacity ? *capacity * 2 : 64;
    n = n < needed ? needed : n;
    array = realloc(array, n * element);
    if (!array)
        die("out of memory");
    *capacity = n;
    return array;
}

/* splitmix64: small, and the same everywhere */
uint64_t prng_next(struct prng *p)
{
    uint64_t z = p->state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

int64_t prng_below(struct prng *p, int64_t n)
{
    return (int64_t)(prng_next(p) % (uint64_t)n);
}

int64_t prng_jitter(struct prng *p, int64_t value, int64_t percent)
{
    int64_t per_mille = prng_below(p, percent * 20 + 1) - percent * 10;
    return value + value / 1000 * per_mille + value % 1000 * per_mille / 1000;
}

/* ---- options ---- */

static int64_t number(const char *text, const char *name, int64_t min, int64_t max)
{
    char *end, why[128];
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text || *end || v < min || v > max) {
        snprintf(why, sizeof why, "%s wants a number from %" PRId64 " to %" PRId64, name, min, max);
        wrong_usage(why);
    }
    return v;
}

static bool flag(struct options *o, const char *name)
{
    if (!strcmp(name, "--gzip"))
        o->gzip = true;
    else if (!strcmp(name, "--stacks"))
        o->stacks = true;
    else if (!strcmp(name, "--memory"))
        o->memory = true;
    else
        return false;
    return true;
}

static void option(struct options *o, const char *name, const char *value)
{
    if (!strcmp(name, "--out"))
        o->dir = value;
    else if (!strcmp(name, "--name"))
        o->prefix = value;
    else if (!strcmp(name, "--story")) {
        if (!(o->story = story_find(value)))
            wrong_usage("no such story");
    } else if (!strcmp(name, "--style")) {
        if (strcmp(value, "us") && strcmp(value, "ns"))
            wrong_usage("--style is us or ns");
        o->style = *value == 'u' ? STYLE_US : STYLE_NS;
    } else if (!strcmp(name, "--seed"))
        o->seed = (uint64_t)number(value, name, 0, INT64_MAX);
    else if (!strcmp(name, "--ranks"))
        o->ranks = number(value, name, 1, MAX_RANKS);
    else if (!strcmp(name, "--steps"))
        o->steps = number(value, name, 1, 100000000);
    else if (!strcmp(name, "--streams"))
        o->streams = number(value, name, 1, MAX_STREAMS - 1);
    else if (!strcmp(name, "--layers"))
        o->layers = number(value, name, 1, 10000);
    else if (!strcmp(name, "--events"))
        o->events = number(value, name, 1, 10000000000);
    else
        wrong_usage("unknown option");
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.prefix = "rank",
                        .story = story_find("healthy"),
                        .seed = 1,
                        .steps = 5,
                        .streams = 1,
                        .layers = 4,
                        .style = STYLE_NS};
    for (int i = 1; i < argc; i++) {
        if (flag(&o, argv[i]))
            continue;
        if (i + 1 == argc)
            wrong_usage("an option without its value, or an unknown one");
        option(&o, argv[i], argv[i + 1]);
        i++;
    }
    if (!o.dir)
        wrong_usage("--out is missing");
    if (!o.ranks)
        o.ranks = o.story->ranks;
    if (o.ranks < 2 && (o.story->straggler_pct != 100 || o.story->exposed))
        wrong_usage("this story needs two ranks or more");
    return o;
}

/* ---- ranks ---- */

static void rank_init(struct rank *r, const struct options *o, int64_t n, int64_t straggler)
{
    *r = (struct rank){
        .opt = o, .number = n, .device = n % GPUS_PER_NODE, .unit = o->style == STYLE_US ? 1000 : 1, .comm_stream = -1};
    r->rng.state = o->seed * 0x2545f4914f6cdd1dU + (uint64_t)n * 0x9e3779b97f4a7c15U;
    prng_next(&r->rng);
    r->compute_pct = o->story->compute_pct * (n == straggler ? o->story->straggler_pct : 100) / 100;
    r->pid = 21000 + n * 160 + prng_below(&r->rng, 100);
    r->main_tid = r->tid = r->pid;
    r->autograd_tid = r->pid + 120;
    r->correlation = 8000 + prng_below(&r->rng, 500);
    r->sequence = 1500;
    for (int i = 0; i < o->streams; i++)
        r->streams[r->n_streams++].number = i ? 20 + i * 4 : 7;
    if (o->ranks > 1) {
        r->comm_stream = r->n_streams;
        r->streams[r->n_streams++].number = o->style == STYLE_US ? 14 : 16;
    }
    /* Kineto's base is the clock cut to three months of 7889238 s */
    const int64_t base = INT64_C(222) * 7889238 * 1000000000;
    r->base = o->style == STYLE_NS ? base : 0;
    r->origin = base + (int64_t)(o->seed % 5000) * 1000000000000 + 1419247332500684000 % 1000000000000 +
                prng_below(&r->rng, 900) * 1000;
    r->now = r->origin + 2500000;
    snprintf(r->path, sizeof r->path, "%s/%s%" PRId64 ".json%s", o->dir, o->prefix, n, o->gzip ? ".gz" : "");
    snprintf(r->spill_path, sizeof r->spill_path, "%s/.%s%" PRId64 ".spill", o->dir, o->prefix, n);
    r->file = out_open(r->path, o->gzip);
    r->spill = out_open(r->spill_path, false);
    write_head(r);
}

static void rank_flush(struct rank *r)
{
    for (size_t i = 0; i < r->n_events; i++)
        write_cpu_event(r, &r->events[i]);
    r->n_events = 0;
    truth_settle(&r->truth, r->now);
}

static void append_spill(struct rank *r)
{
    char block[1 << 16];
    size_t n;
    out_close(r->spill);
    FILE *f = fopen(r->spill_path, "rb");
    if (!f)
        die("cannot read %s", r->spill_path);
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        out_bytes(r->file, block, n);
    fclose(f);
    remove(r->spill_path);
}

static void rank_end(struct rank *r)
{
    model_end(r);
    rank_flush(r);
    truth_settle(&r->truth, INT64_MAX);
    append_spill(r);
    write_tail(r);
    out_close(r->file);
    free(r->events);
    free(r->forwards);
    free(r->truth.pending);
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    struct prng shared = {o.seed ^ 0x5bf03635f0b7a54bU};
    int64_t straggler = o.story->straggler_pct == 100 ? -1 : prng_below(&shared, o.ranks);
    struct rank *ranks = calloc((size_t)o.ranks, sizeof *ranks);
    if (!ranks)
        die("out of memory");
    if (mkdir(o.dir, 0777) && errno != EEXIST)
        die("cannot make %s: %s", o.dir, strerror(errno));
    for (int64_t i = 0; i < o.ranks; i++)
        rank_init(&ranks[i], &o, i, straggler);
    int64_t steps = 0;
    for (; o.events ? ranks[0].truth.events < o.events : steps < o.steps; steps++) {
        model_step(ranks, &o, steps + 2, &shared);
        for (int64_t i = 0; i < o.ranks; i++)
            rank_flush(&ranks[i]);
    }
    for (int64_t i = 0; i < o.ranks; i++)
        rank_end(&ranks[i]);
    truth_write(&o, ranks, straggler, steps);
    for (int64_t i = 0; i < o.ranks; i++)
        free(ranks[i].truth.steps);
    free(ranks);
    return 0;
}
