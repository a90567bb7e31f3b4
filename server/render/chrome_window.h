/* chrome_window: which events of a trace belong to a window of it, so that they stand as a small trace by themselves.
 *
 *   metadata (M)           always: names of processes and threads
 *   X                      what touches the window (begins before `to`, ends after `from`; without length: begins in it)
 *   B and E, b and e       both or none, as a span; a begin that never ends lasts for ever, a lone end is an instant
 *   s, t, f                what lies in the window, of those flows of which a start and an end lie in it
 *   i, C and all others    what lies in the window */
#ifndef HS_RENDER_CHROME_WINDOW_H
#define HS_RENDER_CHROME_WINDOW_H

#include "trace/view.h"

/* One bit an event, bit i % 8 of byte i / 8; free() it. from, to: ns as in the file. */
int hs_chrome_window(struct hs_view *v, int64_t from, int64_t to, uint8_t **bits, struct hs_err *err);

static inline bool hs_chrome_window_has(const uint8_t *bits, size_t event)
{
    return bits[event / 8] >> event % 8 & 1;
}

#endif
