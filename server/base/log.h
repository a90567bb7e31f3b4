/* Log lines to stderr, logfmt: ts=… level=… msg="…" key=value. One write(2) a line, so lines of several threads never mix. */
#ifndef HS_BASE_LOG_H
#define HS_BASE_LOG_H

enum hs_log_level { HS_LOG_DEBUG, HS_LOG_INFO, HS_LOG_WARN, HS_LOG_ERROR };

void hs_log_set_level(enum hs_log_level lowest); /* default: HS_LOG_INFO; set before threads start */

/* `fields` is a printf format of ` key=value` pairs that follows the message; "" for none. */
void hs_log(enum hs_log_level level, const char *msg, const char *fields, ...) __attribute__((format(printf, 3, 4)));

#endif
