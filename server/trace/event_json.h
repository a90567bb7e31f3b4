/* An event given back as JSON text: its fields in their order, each with the type and the digits it had. Whitespace and
 * the choice of escapes are not kept; bad UTF-8 becomes U+FFFD. */
#ifndef HS_TRACE_EVENT_JSON_H
#define HS_TRACE_EVENT_JSON_H

#include "trace/model.h"

/* The core columns of one event; pid and tid are those of its lane. */
struct hs_event_core {
    int64_t ts, dur; /* ns */
    struct hs_id pid, tid;
    uint32_t name, cat;
    uint8_t ph, digits;
};

/* `fields` [nfields] is the event's shape. `values` holds its argument values in the order of the fields: one number for
 * HS_V_INT, HS_V_STR and HS_V_RAW, two (mantissa, fraction digits) for HS_V_DEC, none for the other types;
 * hs_event_values tells how many that are. Symbols beyond `nsyms` read as "". */
void hs_event_json(struct hs_buf *out, const struct hs_event_core *core, const struct hs_field *fields, size_t nfields,
                   const int64_t *values, const struct hs_str *syms, size_t nsyms);
size_t hs_event_values(const struct hs_field *fields, size_t nfields);

/* A decimal from its mantissa and count of fraction digits: (-5, 1) is -0.5, (1500, 3) is 1.500. */
void hs_put_decimal(struct hs_buf *out, int64_t mantissa, unsigned digits);

#endif
