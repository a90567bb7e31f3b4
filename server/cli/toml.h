/* toml: a small, strict reader of the part of TOML 1.0 that a configuration needs: comments, [tables] and [[arrays of
 * tables]] of one level,
 * bare keys, basic and literal strings, integers (with _ and signs), floats, booleans, arrays of one type over any
 * number of lines. No dates, no inline tables, no dotted keys, no multi-line strings: they are refused with a sentence.
 * Every error names file and line. */
#ifndef HS_CLI_TOML_H
#define HS_CLI_TOML_H

#include "base/mem.h"

enum hs_toml_type { HS_TOML_STRING, HS_TOML_INT, HS_TOML_FLOAT, HS_TOML_BOOL, HS_TOML_ARRAY };

struct hs_toml_value {
    enum hs_toml_type type;
    const char *s; /* terminated, valid until the callback returns */
    int64_t i;
    double f;
    bool b;
    const struct hs_toml_value *items; /* of an array */
    size_t n;
};

/* One key, in the order of the file; with key and v NULL the next table of an array of them begins. A status other than 0 ends the reading; its text is prefixed with file and line. */
typedef int hs_toml_key(void *ctx, const char *table, const char *key, const struct hs_toml_value *v,
                        struct hs_err *err);

int hs_toml_parse(const char *text, size_t n, const char *file, hs_toml_key *on_key, void *ctx, struct hs_err *err);

const char *hs_toml_type_name(enum hs_toml_type t);

#endif
