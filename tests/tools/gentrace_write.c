/* gentrace_write.c - Kineto's text for each kind of event, in the layouts of its two eras.
 *
 * The old era (before PyTorch 2.3) writes absolute integer microseconds and spreads args over lines; the new one
 * writes three decimals relative to baseTimeNanoseconds and has the line breaks taken out of GPU args. */
#include "gentrace.h"

#include <stdio.h>
#include <string.h>

const char *const category_name[CAT_COUNT] = {
    "",
    "cpu_op",
    "user_annotation",
    "python_function",
    "cpu_instant_event",
    "cuda_runtime",
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "gpu_user_annotation",
    "ac2g",
    "fwdbwd",
    "overhead",
    "Trace",
};

/* ---- numbers ---- */

/* A few results may stand in one call of out_text. */
static char *scratch(void)
{
    static char texts[8][48];
    static unsigned next;
    return texts[next++ % 8];
}

const char *time_text(const struct rank *r, int64_t ns)
{
    char *t = scratch();
    if (r->opt->style == STYLE_US)
        snprintf(t, 48, "%" PRId64, ns / 1000);
    else
        snprintf(t, 48, "%" PRId64 ".%03d", ns / 1000, (int)(ns % 1000));
    return t;
}

const char *stamp_text(const struct rank *r, int64_t ns)
{
    return time_text(r, ns - r->base);
}

/* part/whole as a decimal: six digits in the new era, the shortest form in the old. */
const char *ratio_text(const struct rank *r, int64_t part, int64_t whole)
{
    char *t = scratch();
    int64_t millionths = whole ? (part / whole) * 1000000 + (part % whole) * 1000000 / whole : 0;
    int n = snprintf(t, 48, "%" PRId64 ".%06d", millionths / 1000000, (int)(millionths % 1000000));
    if (r->opt->style == STYLE_US) {
        while (t[n - 1] == '0')
            t[--n] = 0;
        if (t[n - 1] == '.')
            t[--n] = 0;
    }
    return t;
}

void count(struct rank *r, char phase, enum category cat)
{
    r->truth.events++;
    r->truth.phases[(unsigned char)phase]++;
    r->truth.categories[cat]++;
}

/* ---- CPU ---- */

static void write_flow(struct rank *r, struct out *o, char phase, enum category cat, int64_t id, int64_t pid,
                       int64_t tid, int64_t ts)
{
    const char *name = category_name[cat];
    count(r, phase, cat);
    out_text(o,
             "  {\n    \"ph\": \"%c\", \"id\": %" PRId64 ", \"pid\": %" PRId64 ", \"tid\": %" PRId64
             ", \"ts\": %s,\n    \"cat\": \"%s\", \"name\": \"%s\"%s\n  },\n",
             phase, id, pid, tid, stamp_text(r, ts), name, name, phase == 'f' ? ", \"bp\": \"e\"" : "");
}

static void write_memory(struct rank *r, const struct cpu_event *e)
{
    struct out *o = r->file;
    count(r, 'i', CAT_INSTANT);
    out_text(o,
             "  {\n    \"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", \"name\": \"[memory]\",\n    "
             "\"pid\": %" PRId64 ", \"tid\": %" PRId64 ",\n"
             "    \"ts\": %s,\n    \"args\": {\n      ",
             r->pid, e->tid, stamp_text(r, e->ts));
    if (r->opt->style == STYLE_US)
        out_text(o,
                 "\"Ev Idx\": %" PRId64 ", \"Device Type\": 1, \"Device Id\": %" PRId64 ", \"Addr\": %" PRId64
                 ", \"Bytes\": %" PRId64 ", \"Total Allocated\": %" PRId64 ", \"Total Reserved\": %" PRId64,
                 e->index, r->device, e->addr, e->bytes, e->allocated, e->reserved);
    else
        out_text(o,
                 "\"Total Reserved\": %" PRId64 ", \"Total Allocated\": %" PRId64 ", \"Bytes\": %" PRId64
                 ", \"Addr\": %" PRId64 ", \"Device Id\": %" PRId64 ", \"Device Type\": 1, \"Ev Idx\": %" PRId64,
                 e->reserved, e->allocated, e->bytes, e->addr, r->device, e->index);
    out_text(o, "\n    }\n  },\n");
}

static void write_group(struct rank *r, struct out *o)
{
    out_text(
        o,
        "\"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\", \"Process Group Ranks\": \"[");
    for (int64_t i = 0; i < r->opt->ranks; i++)
        out_text(o, "%s%" PRId64, i ? ", " : "", i);
    out_text(o, "]\"");
}

/* What record_param_comms knows of the collective, and what Kineto copies to the kernel. */
static void write_collective(struct rank *r, struct out *o, int64_t seq, int64_t elements)
{
    out_text(o,
             "\"Collective name\": \"allreduce\", \"In msg nelems\": %" PRId64 ", \"Out msg nelems\": %" PRId64
             ", \"Group size\": %" PRId64
             ", \"dtype\": \"%s\", \"In split size\": \"[]\", \"Out split size\": \"[]\", ",
             elements, elements, r->opt->ranks, r->opt->style == STYLE_NS ? "BFloat16" : "Float");
    write_group(r, o);
    out_text(o, ", \"Seq\": %" PRId64, seq);
}

/* B sequences of 1024, T tokens of them, R rows of the loss: as many as a V100 or an H100 could do in the time that kernels
 * take here. */
static void write_dims(struct rank *r, const char *dims)
{
    bool old = r->opt->style == STYLE_US;
    out_text(r->file, ", \"Input Dims\": ");
    for (const char *p = dims; *p; p++) {
        int n = *p == 'B' ? 8 : *p == 'T' ? 8192 : *p == 'R' ? 1024 : 0;
        if (n)
            out_text(r->file, "%d", old ? n / 4 : n);
        else
            out_text(r->file, "%c", *p);
    }
}

/* One type an input: what has a shape is a tensor, what has none a number. */
static void write_types(struct rank *r, const char *dims)
{
    const char *tensor = r->opt->style == STYLE_US ? "c10::Half" : "c10::BFloat16", *comma = "";
    out_text(r->file, ", \"Input type\": [");
    for (const char *p = dims + 1; (p = strchr(p, '[')); p++) {
        out_text(r->file, "%s\"%s\"", comma, p[1] == ']' ? "Scalar" : tensor);
        comma = ", ";
    }
    out_text(r->file, "]");
}

static void write_cpu_args(struct rank *r, const struct cpu_event *e)
{
    struct out *o = r->file;
    bool old = r->opt->style == STYLE_US;
    out_text(o, "\"External id\": %" PRId64 ",", e->external);
    if (old)
        out_text(o, "\"Ev Idx\": %" PRId64, e->index);
    else
        out_text(o, "\"Record function id\": 0");
    if (e->comm_elements) {
        out_text(o, ", ");
        write_collective(r, o, e->comm_seq, e->comm_elements);
        out_text(o, ", \"Rank\": %" PRId64, r->number);
    }
    if (e->dims) {
        write_dims(r, e->dims);
        write_types(r, e->dims);
    }
    if (e->sequence >= 0) {
        int thread = e->backward ? 1 : 0;
        if (old)
            out_text(o, ", \"Fwd thread id\": %d, \"Sequence number\": %" PRId64, thread, e->sequence);
        else
            out_text(o, ", \"Sequence number\": %" PRId64 ", \"Fwd thread id\": %d", e->sequence, thread);
    }
    if (!old)
        out_text(o, ", \"Ev Idx\": %" PRId64, e->index);
}

static void write_python_args(struct rank *r, const struct cpu_event *e)
{
    struct out *o = r->file;
    if (e->py_parent < 0)
        out_text(o, "\"Python parent id\": null");
    else
        out_text(o, "\"Python parent id\": %" PRId64, e->py_parent);
    out_text(o, ", \"Python id\": %" PRId64, e->py_id);
    if (!strncmp(e->name, "nn.Module: ", 11))
        out_text(o, ", \"Python module id\": %" PRId64, e->number);
    out_text(o, ", \"Ev Idx\": %" PRId64, e->index);
}

void write_cpu_event(struct rank *r, const struct cpu_event *e)
{
    struct out *o = r->file;
    if (e->cat == CAT_INSTANT) {
        write_memory(r, e);
        return;
    }
    char number[24] = "";
    if (e->number >= 0)
        snprintf(number, sizeof number, "%" PRId64, e->number);
    count(r, 'X', e->cat);
    out_text(o,
             "  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s%s%s\", \"pid\": %" PRId64 ", \"tid\": %" PRId64
             ",\n    \"ts\": %s, \"dur\": %s,\n    \"args\": {\n      ",
             category_name[e->cat], e->prefix ? e->prefix : "", e->name, number, r->pid, e->tid, stamp_text(r, e->ts),
             time_text(r, e->dur));
    if (e->cat == CAT_PYTHON)
        write_python_args(r, e);
    else
        write_cpu_args(r, e);
    out_text(o, "\n    }\n  },\n");
    if (e->flow)
        write_flow(r, o, e->backward ? 'f' : 's', CAT_FWDBWD, e->flow, r->pid, e->tid, e->ts);
}

/* ---- runtime and GPU: into the spill file ---- */

/* In the old era the runtime's External id repeats the correlation; in the new one it names the CPU op. */
static int64_t shown_external(const struct rank *r, const struct activity *a)
{
    return r->opt->style == STYLE_US ? a->correlation : a->external;
}

void write_call(struct rank *r, const char *name, int cbid, const struct activity *a, bool launches)
{
    struct out *o = r->spill;
    const char *line = r->opt->style == STYLE_US ? "\n" : "";
    count(r, 'X', CAT_RUNTIME);
    out_text(o,
             "  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"%s\", \"pid\": %" PRId64
             ", \"tid\": %" PRId64 ",\n    \"ts\": %s, \"dur\": %s,\n    \"args\": {\n",
             name, r->pid, r->tid, stamp_text(r, a->launch_ts), time_text(r, a->launch_end - a->launch_ts));
    if (a->external)
        out_text(o, "      \"External id\": %" PRId64 ",%s", shown_external(r, a), line);
    out_text(o, "      \"cbid\": %d, \"correlation\": %" PRId64 "\n    }\n  },\n", cbid, a->correlation);
    write_flow(r, o, launches ? 's' : 'f', CAT_AC2G, a->correlation, r->pid, r->tid, a->launch_ts);
}

static void write_kernel_args(struct rank *r, const struct activity *a, const char *line)
{
    struct out *o = r->spill;
    const struct kernel_info *k = &kernel_table[a->id];
    int64_t grid = (int64_t)k->grid[0] * a->scale, blocks = grid * k->grid[1] * k->grid[2];
    int64_t warps = ((int64_t)k->block[0] * k->block[1] * k->block[2] + 31) / 32, sms = sm_count(r->opt->style);
    out_text(o,
             "      \"queued\": 0, \"device\": %" PRId64 ", \"context\": 1,%s      \"stream\": %" PRId64
             ", \"correlation\": %" PRId64 ",%s",
             r->device, line, r->streams[a->stream].number, a->correlation, line);
    out_text(o,
             "      \"registers per thread\": %d,%s      \"shared memory\": %d,%s      \"blocks per SM\": %s,%s      "
             "\"warps per SM\": %s,%s",
             k->registers, line, k->shared, line, ratio_text(r, blocks, sms), line, ratio_text(r, blocks * warps, sms),
             line);
    out_text(o,
             "      \"grid\": [%" PRId64
             ", %d, %d],%s      \"block\": [%d, %d, %d],%s      \"est. achieved occupancy %%\": %d",
             grid, k->grid[1], k->grid[2], line, k->block[0], k->block[1], k->block[2], line, k->occupancy);
    if (a->graph_node && r->opt->style == STYLE_NS)
        out_text(o, ",%s      \"graph id\": %d, \"graph node id\": %" PRId64, line, 3, a->graph_node);
    if (a->comm_elements) {
        out_text(o, ",%s      ", line);
        write_collective(r, o, a->comm_seq, a->comm_elements);
    }
}

void write_activity(struct rank *r, const struct activity *a)
{
    struct out *o = r->spill;
    const char *line = r->opt->style == STYLE_US ? "\n" : "";
    const char *name = a->cat == CAT_KERNEL ? kernel_table[a->id].name[r->opt->style] : copy_table[a->id].name;
    int64_t stream = r->streams[a->stream].number;
    count(r, 'X', a->cat);
    out_text(o,
             "  {\n    \"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\", \"pid\": %" PRId64 ", \"tid\": %" PRId64
             ",\n    \"ts\": %s, \"dur\": %s,\n    \"args\": {\n",
             category_name[a->cat], name, r->device, stream, stamp_text(r, a->ts), time_text(r, a->end - a->ts));
    out_text(o, "      \"External id\": %" PRId64 ",%s", shown_external(r, a), line);
    if (a->cat == CAT_KERNEL)
        write_kernel_args(r, a, line);
    else
        out_text(o,
                 "      \"device\": %" PRId64 ", \"context\": 1,%s      \"stream\": %" PRId64
                 ", \"correlation\": %" PRId64 ",%s      \"bytes\": %" PRId64 ", \"memory bandwidth (GB/s)\": %s",
                 r->device, line, stream, a->correlation, line, a->bytes, ratio_text(r, a->bytes, a->end - a->ts));
    out_text(o, "\n    }\n  },\n");
    write_flow(r, o, 'f', CAT_AC2G, a->correlation, r->device, stream, a->ts);
}

/* Kineto lets the GPU's copy of an annotation start 1 ns before its work and last 2 ns longer. */
void write_gpu_annotation(struct rank *r, const char *name, int64_t number, struct span at, int64_t external)
{
    int64_t pad = r->opt->style == STYLE_NS ? 1 : 0;
    char text[24] = "";
    if (number >= 0)
        snprintf(text, sizeof text, "%" PRId64, number);
    count(r, 'X', CAT_GPU_ANNOTATION);
    out_text(r->spill,
             "  {\n    \"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": \"%s%s\", \"pid\": %" PRId64
             ", \"tid\": %" PRId64 ",\n    \"ts\": %s, \"dur\": %s,\n    \"args\": {\n      \"External id\": %" PRId64
             "\n    }\n  },\n",
             name, text, r->device, r->streams[0].number, stamp_text(r, at.ts - pad),
             time_text(r, at.end - at.ts + 2 * pad), external);
}
