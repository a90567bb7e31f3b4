/* JSON out: an append-only writer over hs_buf. Everything the program answers as JSON goes through here, so that the
 * promises hold everywhere: valid UTF-8 (bad bytes become U+FFFD), no NaN or Inf (null instead), integers beyond 2^53
 * as strings (JavaScript would round them), and "<", ">", "&" escaped so that JSON can stand inside HTML.
 *
 *     struct hs_json j = HS_JSON_INIT(&buf);
 *     hs_json_obj(&j); hs_json_key(&j, "rows"); hs_json_arr(&j); ... hs_json_end(&j); hs_json_end(&j);
 *
 * Commas are the writer's business. Depth is limited to HS_JSON_DEPTH; deeper is a programming error (assert). */
#ifndef HS_BASE_JSON_H
#define HS_BASE_JSON_H

#include "base/mem.h"

#define HS_JSON_DEPTH 64

struct hs_json {
    struct hs_buf *out;
    int depth;
    char close[HS_JSON_DEPTH];
    bool comma, after_key;
};
#define HS_JSON_INIT(buf)           \
    {                               \
        (buf), 0, {0}, false, false \
    }

void hs_json_obj(struct hs_json *j);
void hs_json_arr(struct hs_json *j);
void hs_json_end(struct hs_json *j);
void hs_json_key(struct hs_json *j, const char *key);
void hs_json_key_n(struct hs_json *j, struct hs_str key);
void hs_json_str(struct hs_json *j, struct hs_str s);
void hs_json_cstr(struct hs_json *j, const char *s); /* NULL writes null */
void hs_json_i64(struct hs_json *j, int64_t v);      /* a string beyond +-2^53 */
void hs_json_f64(struct hs_json *j, double v);       /* shortest text that reads back the same; null if not finite */
void hs_json_us(struct hs_json *j, int64_t ns);      /* nanoseconds as exact microseconds: 1234567 -> 1234.567 */
void hs_json_bool(struct hs_json *j, bool v);
void hs_json_null(struct hs_json *j);
void hs_json_raw(struct hs_json *j, struct hs_str json); /* text that is JSON already */

/* The pieces, for other writers: the quoted, escaped string; ns as µs text; the shortest round-trip double. */
void hs_json_quote(struct hs_buf *out, struct hs_str s);
void hs_put_us(struct hs_buf *out, int64_t ns);
void hs_put_f64(struct hs_buf *out, double v);
void hs_put_utf8(struct hs_buf *out, struct hs_str s); /* no quotes, no escapes: only bad bytes become U+FFFD */

#endif
