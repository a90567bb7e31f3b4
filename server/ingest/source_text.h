/* The text layer: UTF-8 out. A UTF-8 byte order mark is skipped (BOM); UTF-16, told by its mark or by the zero bytes of
 * a first "{" or "[", is transcoded (UTF16), halves of surrogate pairs becoming U+FFFD (LONE_SURROGATE). */
#ifndef HS_INGEST_SOURCE_TEXT_H
#define HS_INGEST_SOURCE_TEXT_H

#include "ingest/source_pull.h"

enum hs_encoding { HS_UTF8, HS_UTF16LE, HS_UTF16BE };

struct hs_text {
    struct hs_peek *below;
    enum hs_encoding encoding;
    uint64_t out;  /* bytes given */
    uint32_t high; /* a first half that waits for its second; 0 */
    size_t pos, n; /* unused input is in[pos .. n) */
    unsigned char in[16384];
};

/* Looks at the first bytes and counts what it finds. `below` must outlive it. */
int hs_text_init(struct hs_text *t, struct hs_peek *below, struct hs_quality *defects, struct hs_err *err);
/* As hs_pull's read; fills `buf` to the end as long as there is input. cap must be at least 8. */
int hs_text_read(struct hs_text *t, void *buf, size_t cap, size_t *got, struct hs_quality *defects, struct hs_err *err);

#endif
