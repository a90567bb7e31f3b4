/* resources: the handlers that the route table names, one file a resource, and the JSON forms they share. A handler
 * fills r->reply and nothing else (http/request.h); where it runs is told by its route. */
#ifndef HS_HTTP_RESOURCES_H
#define HS_HTTP_RESOURCES_H

#include "base/json.h"
#include "http/request.h"
#include "store/store.h"

/* runs.c */
void hs_get_runs(struct hs_request *r);
void hs_get_run(struct hs_request *r);
void hs_delete_run(struct hs_request *r);

/* traces.c */
void hs_get_traces(struct hs_request *r);
void hs_get_trace(struct hs_request *r);
void hs_delete_trace(struct hs_request *r);
void hs_get_original(struct hs_request *r);
void hs_get_event(struct hs_request *r);

/* query.c */
void hs_post_sql(struct hs_request *r);
void hs_get_analysis(struct hs_request *r);
void hs_get_compare(struct hs_request *r);
void hs_get_report(struct hs_request *r);

/* mount_routes.c */
void hs_get_mounts(struct hs_request *r);
void hs_post_refresh(struct hs_request *r);

/* execution_trace.c */
void hs_post_execution_trace(struct hs_request *r);

/* export.c */
void hs_get_export(struct hs_request *r);

/* meta.c */
void hs_get_analyses(struct hs_request *r);
void hs_get_analysis_entry(struct hs_request *r);
void hs_get_rules(struct hs_request *r);
void hs_get_openapi(struct hs_request *r);
void hs_get_healthz(struct hs_request *r);
void hs_get_readyz(struct hs_request *r);
void hs_get_version(struct hs_request *r);

/* page.c */
void hs_get_page(struct hs_request *r);

/* Members of a JSON object that tell of a trace: id, run, name, rank, events, bytes, times, quality. The caller opens
 * and ends the object. */
void hs_json_trace_members(struct hs_json *j, const struct hs_trace_row *t);
void hs_json_time(struct hs_json *j, int64_t unix_ns); /* RFC 3339, UTC */

#endif
