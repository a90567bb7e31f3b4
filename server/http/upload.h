/* upload: a request body that streams into the importer while it arrives: raw bytes, or multipart/form-data with any
 * number of files. Each file is an import of its own on the import pool, fed through a bounded pipe (http/pipe.h); when
 * the pipe is full the connection sleeps, and TCP makes the client wait.
 *
 * When the client goes away the imports are cancelled and leave nothing. `lock` protects the list of files and the
 * count of running imports; everything else belongs to the thread that MHD calls on. */
#ifndef HS_HTTP_UPLOAD_H
#define HS_HTTP_UPLOAD_H

#include "http/request.h"

struct hs_upload;

/* Checks parameters and limits before a byte of the body is read. */
int hs_upload_begin(struct hs_request *r, struct hs_err *err);

/* Some of the body. *n is how many bytes there are, on return how many were not taken: then the connection is suspended.
 * False: far more than the limit came; the connection is to be closed. */
bool hs_upload_data(struct hs_request *r, const char *p, size_t *n);

/* The body is complete. True: imports still run, the connection is suspended until the last one ends. */
bool hs_upload_end(struct hs_request *r);

/* The answer, once all imports ended. A route's handler. */
void hs_upload_reply(struct hs_request *r);

/* The connection is gone: what had not come whole is cancelled and leaves nothing; files that had are kept. stopping: the
 * server's grace time is over, everything is cancelled. */
void hs_upload_abort(struct hs_upload *u, bool stopping);
void hs_upload_free(struct hs_upload *u);

#endif
