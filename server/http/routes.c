#include "http/resources.h"
#include "http/upload.h"

#define PARAMS(p) p, sizeof(p) / sizeof((p)[0])
#define NO_PARAMS NULL, 0
#define JSON "application/json"
#define TABLE "application/json text/csv text/markdown"

static const struct hs_route_param upload_params[] = {
    {"name", "string", "the file's name; tells the rank where the trace does not (rank0, worker3, …)"},
    {"run", "string", "the run it belongs to; absent: named after the first file"},
    {"rank", "integer", "its rank; absent: distributedInfo, else the name, else the lowest that is free"},
    {"keep", "boolean",
     "true (default): in the store; false: analysed in memory and forgotten, [cache] idle_s after the last question"},
    {"original", "boolean", "whether the bytes as uploaded are kept beside the store; absent: [store] keep_original"},
};
static const struct hs_route_param delete_trace_params[] = {
    {"run", "string", "out of this run only; absent: out of every run that has it"},
};
static const struct hs_route_param format_params[] = {
    {"format", "string", "records (default), columns, csv or md; for flame also folded and speedscope"},
};
static const struct hs_route_param analysis_params[] = {
    {"format", "string", "records (default), columns, csv or md; for flame also folded and speedscope"},
    {"other", "string", "the second run, for the analyses that compare two"},
};
static const struct hs_route_param run_params[] = {
    {"cache", "boolean",
     "of a mounted run that is not kept: true keeps it in the store, false analyses and forgets it"},
};
static const struct hs_route_param compare_params[] = {
    {"cache", "boolean",
     "of a mounted run that is not kept: true keeps it in the store, false analyses and forgets it"},
    {"base", "string", "the run that is compared with"},
    {"test", "string", "the run that is judged"},
    {"analysis", "string", "diff (default) or diff-ops; their parameters may follow"},
    {"format", "string", "records (default), columns, csv or md"},
};
static const struct hs_route_param report_params[] = {
    {"cache", "boolean",
     "of a mounted run that is not kept: true keeps it in the store, false analyses and forgets it"},
    {"format", "string", "json (default), md or html"},
    {"part", "string", "overview: only what ingest has counted and the longest kernels, at once (json, md)"},
};

static const struct hs_route_param execution_trace_params[] = {
    {"cache", "boolean",
     "of a mounted run that is not kept: true keeps it in the store, false analyses and forgets it"},
    {"rank", "integer", "the rank that it is of; may be left out where the run has one trace"},
    {"format", "string", "records (default), columns, csv or md"},
};

static const struct hs_route_param export_params[] = {
    {"cache", "boolean",
     "of a mounted run that is not kept: true keeps it in the store, false analyses and forgets it"},
    {"rank", "integer", "the rank whose trace it is; may be left out where the run has one"},
    {"trace", "string", "id of the trace, or its first digits, where several have the rank"},
    {"overlay", "string",
     "what to add, joined by commas: queue-length and memory-bandwidth as counter tracks, kernel-sequences as "
     "args.Patterns = {pattern_id: count} of calls of an operator and the work they launched, critical-path as "
     "args.critical = 1 of what is on it and flow events (category critical_path) between threads and streams"},
    {"operator_name", "string", "of kernel-sequences: a part of the operator's name"},
    {"min_pattern_len", "integer", "of kernel-sequences: leave out calls that launch fewer device activities (3)"},
    {"top_k", "integer", "of kernel-sequences: so many sequences, the most frequent (5); 0: all"},
    {"compress_other_kernels", "boolean",
     "of kernel-sequences: leave out the args of spans that are in none of them (false)"},
    {"annotation", "string", "of critical-path: a part of the name of the annotation whose time is looked at"},
    {"instance_id", "integer", "of critical-path: which of them, from 0; several: from the least to the greatest"},
    {"data_load_events", "string", "of critical-path: regular expression of CPU events that load data"},
    {"only_show_critical_events", "boolean",
     "of critical-path: leave out spans that are not on it, but for annotations and python frames (true)"},
    {"show_all_edges", "boolean",
     "of critical-path: every edge of its graph (false; needs only_show_critical_events=false)"},
    {"from", "number", "start of a window, in microseconds on the run's clock: only what is in it"},
    {"to", "number", "end of the window"},
    {"gzip", "boolean", "a compressed file (default), or JSON as text"},
};

/* Literal paths stand before patterns that would match them too. */
const struct hs_route hs_routes[] = {
    {HS_PUT, "/api/v1/traces", HS_WORK_UPLOAD, hs_upload_reply, "upload", "Upload a trace: the body is the file",
     PARAMS(upload_params), "application/octet-stream multipart/form-data", JSON},
    {HS_POST, "/api/v1/traces", HS_WORK_UPLOAD, hs_upload_reply, "upload-form",
     "Upload traces: the body is a file, or a form with any number of files", PARAMS(upload_params),
     "application/octet-stream multipart/form-data", JSON},
    {HS_GET, "/api/v1/traces", HS_WORK_POOL, hs_get_traces, "traces", "All traces of all runs", NO_PARAMS, NULL, JSON},
    {HS_GET, "/api/v1/traces/{trace}", HS_WORK_POOL, hs_get_trace, "trace",
     "One trace, by its id or at least six digits of it", NO_PARAMS, NULL, JSON},
    {HS_DELETE, "/api/v1/traces/{trace}", HS_WORK_POOL, hs_delete_trace, "delete-trace", "Delete a trace",
     PARAMS(delete_trace_params), NULL, NULL},
    {HS_GET, "/api/v1/traces/{trace}/original", HS_WORK_POOL, hs_get_original, "original", "The bytes as uploaded",
     NO_PARAMS, NULL, "application/octet-stream"},
    {HS_GET, "/api/v1/traces/{trace}/events/{number}", HS_WORK_POOL, hs_get_event, "event",
     "One event, whole, as the file has it; numbered from 0", NO_PARAMS, NULL, JSON},
    {HS_POST, "/api/v1/traces/{trace}/sql", HS_WORK_BODY, hs_post_sql, "sql",
     "Read-only SQL over one trace: {\"query\": \"SELECT …\"}, or the query as text", PARAMS(format_params),
     "application/json text/plain", TABLE},
    {HS_GET, "/api/v1/runs", HS_WORK_POOL, hs_get_runs, "runs", "All runs", NO_PARAMS, NULL, JSON},
    {HS_GET, "/api/v1/runs/{run}", HS_WORK_POOL, hs_get_run, "run", "A run and its traces", PARAMS(run_params), NULL,
     JSON},
    {HS_DELETE, "/api/v1/runs/{run}", HS_WORK_POOL, hs_delete_run, "delete-run", "Delete a run and its traces",
     NO_PARAMS, NULL, NULL},
    {HS_GET, "/api/v1/runs/{run}/report", HS_WORK_POOL, hs_get_report, "report",
     "Summary, top kernels and the bottleneck of a run", PARAMS(report_params), NULL,
     "application/json text/markdown text/html"},
    {HS_GET, "/api/v1/mounts", HS_WORK_POOL, hs_get_mounts, "mounts",
     "Mounted folders and the runs in them: not_cached, cached, stale or in_memory", NO_PARAMS, NULL, JSON},
    {HS_POST, "/api/v1/runs/{run}/refresh", HS_WORK_BODY, hs_post_refresh, "refresh",
     "Forget what was kept of a mounted run and keep it anew", NO_PARAMS, NULL, NULL},
    {HS_POST, "/api/v1/runs/{run}/execution-trace", HS_WORK_BODY, hs_post_execution_trace, "execution-trace",
     "The nodes of an execution trace (PyTorch's ExecutionTraceObserver, Chakra) beside the events of a rank: the body "
     "is the "
     "execution trace, .json or .json.gz, of at most 1 MiB as sent (larger ones: holoscope execution-trace)",
     PARAMS(execution_trace_params), "application/json application/octet-stream", TABLE},
    {HS_GET, "/api/v1/runs/{run}/export", HS_WORK_POOL, hs_get_export, "export",
     "The trace of one rank as Chrome trace JSON for Perfetto, with overlays, or a window of it", PARAMS(export_params),
     NULL, "application/gzip application/json"},
    {HS_GET, "/api/v1/runs/{run}/{analysis}", HS_WORK_POOL, hs_get_analysis, "analysis", "An analysis of a run",
     PARAMS(analysis_params), NULL, TABLE},
    {HS_GET, "/api/v1/compare", HS_WORK_POOL, hs_get_compare, "compare", "Two runs compared", PARAMS(compare_params),
     NULL, TABLE},
    {HS_GET, "/api/v1/rules", HS_WORK_INLINE, hs_get_rules, "rules",
     "The rules of the report: figure, threshold in force and its source, advice, evidence", PARAMS(format_params),
     NULL, TABLE},
    {HS_GET, "/api/v1/analyses", HS_WORK_INLINE, hs_get_analyses, "analyses",
     "What can be asked: every analysis with its parameters and columns", NO_PARAMS, NULL, JSON},
    {HS_GET, "/api/v1/analyses/{analysis}", HS_WORK_INLINE, hs_get_analysis_entry, "analysis-entry",
     "One analysis: parameters, columns, how it is computed", NO_PARAMS, NULL, JSON},
    {HS_GET, "/api/v1/openapi.json", HS_WORK_INLINE, hs_get_openapi, "openapi", "This document", NO_PARAMS, NULL, JSON},
    {HS_GET, "/healthz", HS_WORK_INLINE, hs_get_healthz, "healthz", "200 while the process lives", NO_PARAMS, NULL,
     "text/plain"},
    {HS_GET, "/readyz", HS_WORK_POOL, hs_get_readyz, "readyz", "200 while it can answer questions", NO_PARAMS, NULL,
     "text/plain"},
    {HS_GET, "/version", HS_WORK_INLINE, hs_get_version, "version", "Name and version", NO_PARAMS, NULL, JSON},
    {HS_GET, "/{page*}", HS_WORK_INLINE, hs_get_page, "page", "The page", NO_PARAMS, NULL, "text/html"},
    {0},
};
