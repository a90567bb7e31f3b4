#include "ingest/sniff.h"

#include <ctype.h>
#include <string.h>

#define WANTED "a PyTorch profiler (Kineto) trace is JSON with a traceEvents array"

static bool starts_nocase(struct hs_str s, const char *lower)
{
    size_t i = 0;
    for (; lower[i]; i++)
        if (i >= s.n || tolower((unsigned char)s.p[i]) != lower[i])
            return false;
    return true;
}

static struct hs_str trimmed(struct hs_str s)
{
    while (s.n && isspace((unsigned char)*s.p)) {
        s.p++;
        s.n--;
    }
    return s;
}

/* By their first bytes. */
static const struct {
    const char *magic;
    unsigned char n;
    const char *says;
} g_magic[] = {
    {"PAR1", 4,
     "this is a Parquet file, a table without the events of a trace; export the trace as JSON and upload that"},
    {"SQLite format 3", 15,
     "this is a SQLite database (perhaps an Nsight Systems or rocprof export), not a Kineto trace; record with "
     "torch.profiler and export_chrome_trace"},
    {"\x89PNG", 4, "this is a PNG picture, not a trace; upload the .json or .json.gz that the profiler wrote"},
    {"\xff\xd8\xff", 3, "this is a JPEG picture, not a trace; upload the .json or .json.gz that the profiler wrote"},
    {"%PDF", 4, "this is a PDF document, not a trace; upload the .json or .json.gz that the profiler wrote"},
    {"\x7f"
     "ELF",
     4, "this is a program or library (ELF), not a trace; upload the .json or .json.gz that the profiler wrote"},
    {"PK\x03\x04", 4, "this is a zip archive inside of what was unpacked; unpack it and upload the trace itself"},
    {"\x1f\x8b", 2, "this is still gzip after unpacking; it was compressed more often than can be unpacked"},
    {"\x28\xb5\x2f\xfd", 4, "this is still zstd after unpacking; unpack it and upload the trace itself"},
    {"Rar!", 4, "this is a RAR archive; unpack it and upload the trace itself"},
    {"7z\xbc\xaf\x27\x1c", 6, "this is a 7z archive; unpack it and upload the trace itself"},
    {"\x80\x02", 2,
     "this is a pickle (perhaps a CUDA memory snapshot), not a trace; export the profile as Chrome trace JSON"},
    {"\x80\x03", 2,
     "this is a pickle (perhaps a CUDA memory snapshot), not a trace; export the profile as Chrome trace JSON"},
    {"\x80\x04", 2,
     "this is a pickle (perhaps a CUDA memory snapshot), not a trace; export the profile as Chrome trace JSON"},
    {"\x80\x05", 2,
     "this is a pickle (perhaps a CUDA memory snapshot), not a trace; export the profile as Chrome trace JSON"},
};

static bool looks_like_csv(struct hs_str s)
{
    const char *line = memchr(s.p, '\n', s.n);
    size_t n = line ? (size_t)(line - s.p) : s.n, commas = 0;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s.p[i] < 0x20 && s.p[i] != '\r' && s.p[i] != '\t')
            return false;
        commas += s.p[i] == ',' || s.p[i] == ';' || s.p[i] == '\t';
    }
    return line && commas >= 1;
}

static bool binary(struct hs_str s)
{
    size_t odd = 0;
    for (size_t i = 0; i < s.n && i < 512; i++)
        odd += (unsigned char)s.p[i] < 0x20 && !isspace((unsigned char)s.p[i]);
    return odd > 0;
}

const char *hs_sniff_bytes(struct hs_str head)
{
    struct hs_str text = trimmed(head);
    if (!head.n)
        return "the file is empty (0 bytes); the profiler may not have finished writing it, record it again";
    for (size_t i = 0; i < sizeof g_magic / sizeof g_magic[0]; i++)
        if (head.n >= g_magic[i].n && !memcmp(head.p, g_magic[i].magic, g_magic[i].n))
            return g_magic[i].says;
    if (!text.n)
        return "the file holds nothing but blanks; " WANTED;
    if (starts_nocase(text, "<!doctype html") || starts_nocase(text, "<html") || starts_nocase(text, "<head"))
        return "this is an HTML page, not a trace; if it was downloaded, it may be a login or error page: " WANTED;
    if (*text.p == '<')
        return "this is XML, not a trace; " WANTED;
    if ((unsigned char)head.p[0] == 0x0a && binary(head)) /* field 1 (packet) of perfetto.protos.Trace */
        return "this is a Perfetto protobuf trace (.pftrace); export the profile as Chrome trace JSON instead";
    if (binary(head))
        return "this is binary data of a kind unknown here, not JSON; " WANTED;
    if (starts_nocase(text, "version https://git-lfs"))
        return "this is a Git LFS pointer, not the trace it points to; fetch the file with git lfs pull";
    if (looks_like_csv(text))
        return "this looks like a CSV table, not a trace; " WANTED;
    return "this is text but not JSON; " WANTED;
}

static bool has(const struct hs_str *keys, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (hs_str_is(keys[i], key))
            return true;
    return false;
}

const char *hs_sniff_object(const struct hs_str *keys, size_t n)
{
    static const char *const header[] = {"schemaVersion",       "deviceProperties",       "distributedInfo",
                                         "displayTimeUnit",     "baseTimeNanoseconds",    "traceName",
                                         "otherData",           "systemTraceEvents",      "stackFrames",
                                         "record_shapes",       "profile_memory",         "with_stack",
                                         "with_flops",          "with_modules",           "trace_id",
                                         "cupti_version",       "cuda_runtime_version",   "cuda_driver_version",
                                         "hip_runtime_version", "controllerTraceDataKey", "samples",
                                         "traceEvents"};
    if (has(keys, n, "nodes") && (has(keys, n, "schema") || has(keys, n, "start_ts")))
        return "this is an execution trace (Chakra, ExecutionTraceObserver): it has nodes but no times of kernels; "
               "upload the "
               "Kineto trace of the same run (export_chrome_trace)";
    if (has(keys, n, "segments") || has(keys, n, "device_traces"))
        return "this is a CUDA memory snapshot, not a trace of events; record with torch.profiler and "
               "profile_memory=True";
    if (has(keys, n, "entries") &&
        (has(keys, n, "pg_config") || has(keys, n, "version") || has(keys, n, "nccl_version")))
        return "this is a NCCL flight recorder dump, not a profiler trace; record with torch.profiler";
    if (has(keys, n, "$schema") && has(keys, n, "profiles"))
        return "this is a speedscope profile, not a Kineto trace; record with torch.profiler";
    if (has(keys, n, "cells") && has(keys, n, "nbformat"))
        return "this is a notebook, not a trace; upload the .json or .json.gz that the profiler wrote";
    for (size_t i = 0; i < sizeof header / sizeof header[0]; i++)
        if (has(keys, n, header[i]))
            return NULL;
    return "this is JSON, but an object without traceEvents; " WANTED;
}

const char *hs_sniff_array(struct hs_str head)
{
    struct hs_str s = trimmed(head);
    if (s.n && *s.p == '[')
        s = trimmed(hs_str(s.p + 1, s.n - 1));
    if (s.n && *s.p == '[')
        return "this is a JSON array of lists, but not of [time, action, bytes, category]: of what "
               "export_memory_timeline "
               "writes only the raw form (.raw.json.gz) can be read";
    return "this is a JSON array, but of things that are no trace events (none has a phase, ph); " WANTED;
}
