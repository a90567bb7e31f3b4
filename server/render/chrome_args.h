/* chrome_args: a member more in the args of an event's JSON, or none of them, as hs_view_ops.event_json writes it. */
#ifndef HS_RENDER_CHROME_ARGS_H
#define HS_RENDER_CHROME_ARGS_H

#include "base/mem.h"

/* The event stands in b from `at` to its end. `member` is "key":value; it becomes the last one of args, which are made where
 * the event has none. False, and nothing changed: its args are no object, or b is full. */
bool hs_chrome_add_arg(struct hs_buf *b, size_t at, struct hs_str member);

/* Takes the args away; an event without them, or with args that are no object, stays as it is. */
void hs_chrome_drop_args(struct hs_buf *b, size_t at);

#endif
