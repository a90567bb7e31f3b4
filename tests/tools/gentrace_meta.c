/* gentrace_meta.c - what stands before and after the events: devices, job, names of processes and threads. */
#include "gentrace.h"

#include <stdio.h>

int64_t sm_count(enum style style)
{
    return style == STYLE_US ? 80 : 132;
}

static void write_devices(struct rank *r)
{
    struct out *o = r->file;
    bool old = r->opt->style == STYLE_US;
    out_text(o, "  \"deviceProperties\": [");
    for (int i = 0; i < GPUS_PER_NODE; i++) {
        out_text(o,
                 "%s\n    {\n      \"id\": %d, \"name\": \"%s\", \"totalGlobalMem\": %s,\n      \"computeMajor\": %d, "
                 "\"computeMinor\": 0,\n"
                 "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n",
                 i ? "," : "", i, old ? "Tesla V100-SXM2-32GB" : "NVIDIA H100 80GB HBM3",
                 old ? "34089730048" : "85018279936", old ? 7 : 9);
        if (old)
            out_text(o, "      \"regsPerBlock\": 65536, \"regsPerMultiprocessor\": 65536, \"warpSize\": 32,\n"
                        "      \"sharedMemPerBlock\": 49152, \"sharedMemPerMultiprocessor\": 98304,\n      \"numSms\": "
                        "80, \"sharedMemPerBlockOptin\": 98304\n    }");
        else
            out_text(o, "      \"regsPerBlock\": 65536, \"warpSize\": 32,\n      \"sharedMemPerBlock\": 49152, "
                        "\"numSms\": 132\n"
                        "    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
                        "\"sharedMemPerMultiprocessor\": 233472\n    }");
    }
    out_text(o, "\n  ],\n");
}

static void write_job(struct rank *r)
{
    struct out *o = r->file;
    int64_t n = r->opt->ranks;
    out_text(o, "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %" PRId64 ", \"world_size\": %" PRId64,
             r->number, n);
    if (r->opt->style == STYLE_NS) {
        out_text(o,
                 ", \"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", "
                 "\"backend_config\": \"cuda:nccl\", \"pg_size\": %" PRId64 ", \"ranks\": [",
                 n);
        for (int64_t i = 0; i < n; i++)
            out_text(o, "%s%" PRId64, i ? ", " : "", i);
        out_text(o, "]}], \"nccl_version\": \"2.21.5\"");
    }
    out_text(o, "},\n");
}

void write_head(struct rank *r)
{
    struct out *o = r->file;
    out_text(o, "\n{\n  \"schemaVersion\": 1,\n");
    write_devices(r);
    write_job(r);
    out_text(o, "  \"record_shapes\": 1,\n");
    if (r->opt->stacks)
        out_text(o, "  \"with_stack\": 1,\n");
    if (r->opt->memory)
        out_text(o, "  \"profile_memory\": 1,\n");
    if (r->opt->style == STYLE_NS) {
        out_text(o,
                 "  \"cuda_runtime_version\": 12040,\n  \"cuda_driver_version\": 12090,\n  \"cupti_version\": 22,\n");
        uint64_t id = prng_next(&r->rng); /* drawn one by one: the order of two arguments would be the compiler's */
        out_text(o, "  \"trace_id\": \"%016" PRIX64 "%016" PRIX64 "\",\n", id, prng_next(&r->rng));
        out_text(o, "  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": %" PRId64 ",\n", r->base);
    }
    out_text(o, "  \"traceEvents\": [\n");
}

static void metadata(struct rank *r, const char *kind, int64_t pid, int64_t tid, const char *key, const char *text,
                     int64_t number)
{
    struct out *o = r->file;
    count(r, 'M', CAT_NONE);
    out_text(o,
             "  {\n    \"name\": \"%s\", \"ph\": \"M\", \"ts\": %s, \"pid\": %" PRId64 ", \"tid\": %" PRId64
             ",\n    \"args\": {\n      \"%s\": ",
             kind, stamp_text(r, r->origin), pid, tid, key);
    if (text && number >= 0)
        out_text(o, "\"%s%" PRId64 "%s\"", text, number,
                 *text == 's' ? " " : ""); /* Kineto leaves a blank after a stream's number */
    else if (text)
        out_text(o, "\"%s\"", text);
    else
        out_text(o, "%" PRId64, number);
    out_text(o, "\n    }\n  },\n");
}

static void write_processes(struct rank *r)
{
    metadata(r, "process_name", r->pid, 0, "name", "python3", -1);
    metadata(r, "process_labels", r->pid, 0, "labels", "CPU", -1);
    metadata(r, "process_sort_index", r->pid, 0, "sort_index", NULL, r->pid);
    for (int64_t i = 0; i < GPUS_PER_NODE; i++) {
        metadata(r, "process_name", i, 0, "name", "python3", -1);
        metadata(r, "process_labels", i, 0, "labels", "GPU ", i);
        metadata(r, "process_sort_index", i, 0, "sort_index", NULL, 0x1000000 + i);
    }
}

static void write_threads(struct rank *r)
{
    for (int i = 0; i < r->n_streams; i++) {
        metadata(r, "thread_name", r->device, r->streams[i].number, "name", "stream ", r->streams[i].number);
        metadata(r, "thread_sort_index", r->device, r->streams[i].number, "sort_index", NULL, r->streams[i].number);
    }
    int64_t tids[2] = {r->autograd_tid, r->main_tid};
    for (int i = 0; i < 2; i++) {
        char name[48];
        snprintf(name, sizeof name, "thread %" PRId64 " (python3)", tids[i]);
        metadata(r, "thread_name", r->pid, tids[i], "name", name, -1);
        metadata(r, "thread_sort_index", r->pid, tids[i], "sort_index", NULL, tids[i]);
    }
}

void write_tail(struct rank *r)
{
    struct out *o = r->file;
    const char *start = stamp_text(r, r->origin);
    if (r->opt->style == STYLE_NS) {
        count(r, 'X', CAT_OVERHEAD);
        out_text(o,
                 "  {\n    \"ph\": \"X\", \"cat\": \"overhead\", \"name\": \"Activity Buffer Request\", \"pid\": -1, "
                 "\"tid\": 0,\n    \"ts\": %s, \"dur\": 1842.117,\n    \"args\": {\n    }\n  },\n",
                 start);
    }
    write_processes(r);
    write_threads(r);
    count(r, 'X', CAT_TRACE);
    start = stamp_text(r, r->origin);
    out_text(o,
             "  {\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": %s, \"dur\": %s,\n    \"pid\": \"Spans\", \"tid\": "
             "\"PyTorch Profiler\",\n    \"name\": \"PyTorch Profiler (0)\",\n"
             "    \"args\": {\n      \"Op count\": 0\n    }\n  },\n",
             start, time_text(r, r->now - r->origin));
    count(r, 'M', CAT_NONE);
    out_text(o,
             "  {\n    \"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": %s,\n    \"pid\": \"Spans\", \"tid\": "
             "0,\n    \"args\": {\n      \"sort_index\": 536870912\n    }\n  },\n",
             start);
    count(r, 'i', CAT_NONE);
    out_text(o,
             "  {\n    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": "
             "\"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": %s\n  },\n",
             start);
    count(r, 'i', CAT_NONE);
    out_text(o,
             "  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", \"tid\": "
             "\"\", \"ts\": %s\n  }\n  ],\n",
             stamp_text(r, r->now + 250000));
    out_text(o, "  \"traceName\": \"/tmp/%s%" PRId64 ".json\"\n}\n", r->opt->prefix, r->number);
}
