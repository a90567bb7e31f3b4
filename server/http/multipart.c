#include "http/multipart.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum state {
    PREAMBLE, /* before the first delimiter: dropped */
    AFTER,    /* right after a delimiter: CR LF begins a part, -- ends the body */
    AFTER_CR,
    AFTER_DASH,
    HEADERS,
    BODY,
    EPILOGUE /* after the last delimiter: dropped */
};

static const size_t max_line = 4096;
static const unsigned max_headers = 32;

bool hs_is_multipart(const char *content_type)
{
    return content_type && !strncasecmp(content_type, "multipart/form-data", 19);
}

/* The value of `name` in "x; name=value; other=\"quoted\"", NULL if it is not there. */
static char *parameter(const char *header, const char *name)
{
    size_t nn = strlen(name);
    for (const char *p = strchr(header, ';'); p; p = strchr(p, ';')) {
        p++;
        p += strspn(p, " \t");
        if (strncasecmp(p, name, nn) || p[nn] != '=') {
            for (; *p && *p != ';'; p++) /* over a quoted value, which may hold semicolons */
                if (*p == '"') {
                    for (p++; *p && *p != '"'; p++)
                        if (*p == '\\' && p[1])
                            p++;
                    if (!*p) /* a quote that nobody closes: there is no parameter behind it */
                        return NULL;
                }
            if (!*p)
                break;
            continue;
        }
        p += nn + 1;
        if (*p != '"')
            return hs_strndup(p, strcspn(p, "; \t\r\n"));
        char *out = hs_malloc(strlen(p) + 1);
        size_t o = 0;
        for (p++; *p && *p != '"'; p++) {
            if (*p == '\\' && (p[1] == '"' || p[1] == '\\'))
                p++;
            out[o++] = *p;
        }
        out[o] = 0;
        return out;
    }
    return NULL;
}

int hs_multipart_init(struct hs_multipart *m, const char *content_type, const struct hs_multipart_sink *sink,
                      struct hs_err *err)
{
    char *boundary = parameter(content_type, "boundary");
    size_t n = boundary ? strlen(boundary) : 0;
    if (!n || n > 70 || strpbrk(boundary, "\r\n")) {
        free(boundary);
        return hs_fail(err, HS_EUSAGE,
                       "the multipart/form-data body has no boundary of 1 to 70 bytes in its Content-Type");
    }
    *m = (struct hs_multipart){.sink = sink, .line = HS_BUF_INIT(max_line), .state = PREAMBLE, .ndelim = n + 4};
    memcpy(m->delim, "\r\n--", 4);
    memcpy(m->delim + 4, boundary, n);
    free(boundary);
    m->matched = 2; /* the first delimiter may stand at the very start, without CR LF before it */
    return HS_OK;
}

void hs_multipart_free(struct hs_multipart *m)
{
    hs_buf_free(&m->line);
    free(m->field);
    free(m->file);
    m->field = m->file = NULL;
}

static int emit(struct hs_multipart *m, const char *p, size_t n, struct hs_err *err)
{
    return m->state == BODY && n ? m->sink->data(m->sink->ctx, p, n, err) : HS_OK;
}

/* Looks for the delimiter in data; *used bytes were consumed. CR stands only at a delimiter's start, so a failed match
 * never hides the start of another one except at the byte that failed. */
static int scan_data(struct hs_multipart *m, const char *p, size_t n, size_t *used, struct hs_err *err)
{
    int rc = HS_OK;
    size_t i = 0;
    while (i < n && !rc) {
        if (!m->matched) {
            const char *cr = memchr(p + i, '\r', n - i);
            size_t run = cr ? (size_t)(cr - p) - i : n - i;
            rc = emit(m, p + i, run, err);
            i += run;
            if (cr) {
                m->matched = 1;
                i++;
            }
        } else if (p[i] == m->delim[m->matched]) {
            i++;
            if (++m->matched == m->ndelim) {
                m->matched = 0;
                if (m->state == BODY)
                    rc = m->sink->end(m->sink->ctx, err);
                m->state = AFTER;
                break;
            }
        } else {
            size_t held = m->matched;
            m->matched = 0;
            rc = emit(m, m->delim, held, err);
        }
    }
    *used = i;
    return rc;
}

static int header_line(struct hs_multipart *m, struct hs_err *err)
{
    const char *line = m->line.p ? m->line.p : "";
    if (!*line) { /* the empty line: data follows */
        int rc = m->sink->begin(m->sink->ctx, m->field ? m->field : "", m->file, err);
        free(m->field);
        free(m->file);
        m->field = m->file = NULL;
        m->nheaders = 0;
        m->state = BODY;
        return rc;
    }
    if (++m->nheaders > max_headers)
        return hs_fail(err, HS_EINPUT, "a part of the multipart body has more than %u header lines", max_headers);
    if (!strncasecmp(line, "Content-Disposition:", 20)) {
        free(m->field);
        free(m->file);
        m->field = parameter(line, "name");
        m->file = parameter(line, "filename");
    }
    hs_buf_clear(&m->line);
    return HS_OK;
}

static int scan_header(struct hs_multipart *m, const char *p, size_t n, size_t *used, struct hs_err *err)
{
    const char *nl = memchr(p, '\n', n);
    size_t run = nl ? (size_t)(nl - p) : n;
    *used = run + (nl != NULL);
    hs_buf_put(&m->line, p, run);
    if (m->line.full || memchr(p, 0, run))
        return hs_fail(err, HS_EINPUT, "a header of the multipart body is longer than %zu bytes or has a NUL",
                       max_line);
    if (!nl)
        return HS_OK;
    if (m->line.n && m->line.p[m->line.n - 1] == '\r')
        m->line.p[--m->line.n] = 0;
    int rc = header_line(m, err);
    hs_buf_clear(&m->line);
    return rc;
}

/* What follows a delimiter: padding, then CR LF or --. */
static int scan_after(struct hs_multipart *m, char c, struct hs_err *err)
{
    if (m->state == AFTER && c == '-')
        m->state = AFTER_DASH;
    else if (m->state == AFTER_DASH && c == '-')
        m->state = EPILOGUE;
    else if (m->state == AFTER && c == '\r')
        m->state = AFTER_CR;
    else if (m->state == AFTER_CR && c == '\n')
        m->state = HEADERS;
    else if (m->state != AFTER || (c != ' ' && c != '\t'))
        return hs_fail(err, HS_EINPUT, "the multipart body has a broken delimiter");
    return HS_OK;
}

int hs_multipart_feed(struct hs_multipart *m, const char *p, size_t n, struct hs_err *err)
{
    int rc = HS_OK;
    for (size_t used; n && !rc; p += used, n -= used) {
        used = 1;
        switch ((enum state)m->state) {
        case PREAMBLE:
        case BODY: rc = scan_data(m, p, n, &used, err); break;
        case HEADERS: rc = scan_header(m, p, n, &used, err); break;
        case EPILOGUE: used = n; break;
        case AFTER:
        case AFTER_CR:
        case AFTER_DASH: rc = scan_after(m, *p, err); break;
        }
    }
    return rc;
}

int hs_multipart_finish(struct hs_multipart *m, struct hs_err *err)
{
    if (m->state != EPILOGUE)
        return hs_fail(err, HS_EINPUT, "the multipart body ends before its closing delimiter");
    return HS_OK;
}
