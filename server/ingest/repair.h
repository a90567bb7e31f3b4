/* repair: one JSON value that is not quite JSON becomes JSON, or is given up.
 *
 * What real traces hold, and what is made of it (counted by the ids of trace/quality.def):
 *   BAD_ESCAPE    C:\users, torch\cuda     the backslash is kept as it stands
 *   BARE_QUOTE    "a "b" c"                a quote ends a text only where what follows fits: a comma and the next key, a
 *                                          closing bracket, a colon behind a key. A lost quote before a key, or at the
 *                                          end of a line before the next key, is put back.
 *   CONTROL_BYTE, NUL_BYTE                 kept, as escapes
 *   NON_FINITE    inf, -nan, Infinity      null
 *   BARE_WORD     N/A, None, True          null; true and false in any case stay booleans
 *   ODD_NUMBER    +3, .5, 5., 007, 0x1f    the number meant
 *   STRAY_COMMA   missing, doubled, trailing
 *
 * The work is linear: every byte is looked at once, and what stands behind a quote, a closing bracket or a run of blanks up
 * to the next token or two once more each; no byte is looked ahead to from more than a few places. `work` counts it, so
 * that tests can hold it to that. */
#ifndef HS_INGEST_REPAIR_H
#define HS_INGEST_REPAIR_H

#include "ingest/scan.h"
#include "trace/quality.h"

struct hs_repair {
    struct hs_buf out;                /* the JSON text; HS_SCAN_PAD bytes may be read behind it */
    uint32_t count[HS_QUALITY_KINDS]; /* defects of the last value */
    uint64_t work;                    /* bytes looked at, looking ahead included, by all values so far */
    uint64_t check_at;                /* `cancel` is asked again when work has come so far */
    const _Atomic bool *cancel;       /* may be NULL; the caller's. Once true, values are soon given up */
};

void hs_repair_init(struct hs_repair *r, size_t max_out);
void hs_repair_free(struct hs_repair *r);

enum hs_repair_mode {
    HS_REPAIR_EVENT, /* an event: the texts of its own members end only before a key that events have */
    HS_REPAIR_HEADER /* a header's value: bare text up to the end of the line is one bare word */
};

/* The value at *p, nested at most `depth` deep. HS_SCAN_OK: its JSON is r->out and *p is behind it; HS_SCAN_MORE: the
 * text ends inside, and it is not `final`; HS_SCAN_ODD: given up, *p is how far it looked. */
enum hs_scan hs_repair_value(struct hs_repair *r, const char **p, const char *end, bool final, unsigned depth,
                             enum hs_repair_mode mode);

/* Does an event seem to start at p: a brace and `"ph":`, or with `any` any key that events have? Adds to *work the bytes it
 * looked at. */
bool hs_repair_event_start(const char *p, const char *end, bool any, uint64_t *work);

/* Is [p, p+n) a key that events have at their top? */
bool hs_repair_event_key(const char *p, size_t n);

#endif
