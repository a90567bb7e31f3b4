/* dispatch: what happens to a request between its headers and its answer: checks, routing, the way to a worker and
 * back. Called by MHD through server.c. */
#ifndef HS_HTTP_DISPATCH_H
#define HS_HTTP_DISPATCH_H

#include "http/request.h"

#include <microhttpd.h>

/* MHD's access handler and completion callback, and the callback that makes a request of its first line. */
enum MHD_Result hs_on_access(void *cls, struct MHD_Connection *c, const char *url, const char *method,
                             const char *version, const char *data, size_t *n, void **con_cls);
void hs_on_completed(void *cls, struct MHD_Connection *c, void **con_cls, enum MHD_RequestTerminationCode why);
void *hs_on_uri(void *cls, const char *uri, struct MHD_Connection *c);

/* Suspends or resumes the request's connection. */
void hs_request_suspend(void *request);
void hs_request_resume(void *request);

#endif
