/* Clocks, all in int64 nanoseconds. */
#ifndef HS_BASE_CLOCK_H
#define HS_BASE_CLOCK_H

#include <stdint.h>

int64_t hs_now_ns(void);  /* monotonic: for durations and deadlines */
int64_t hs_unix_ns(void); /* wall clock, since 1970 */

#endif
