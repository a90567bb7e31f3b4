/* openapi: the OpenAPI 3.1 document, written from the route table and the registry of analyses, so that it cannot lag
 * behind either. */
#ifndef HS_HTTP_OPENAPI_H
#define HS_HTTP_OPENAPI_H

#include "base/mem.h"

struct hs_server;

void hs_openapi_write(struct hs_buf *out);

/* Once, at start: into s->openapi and its ETag. */
void hs_openapi_build(struct hs_server *s);

#endif
