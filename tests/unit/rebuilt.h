/* What tests of the reader look at in a rebuilt document. */
#ifndef HS_TESTS_REBUILT_H
#define HS_TESTS_REBUILT_H

#include "tests/unit/rebuild.h"

/* A document as text: read, whatever comes of it; or the test fails. */
struct rebuilt rebuilt_read(const char *text);
struct rebuilt rebuilt_read_ok(const char *text);
int64_t rebuilt_count(const struct rebuilt *r, enum hs_quality_kind kind);
/* Of all kinds of defects only this one was counted, n times. */
void rebuilt_only(const struct rebuilt *r, enum hs_quality_kind kind, int64_t n);
void rebuilt_event_is(const struct rebuilt *r, size_t i, const char *want); /* event i, as JSON */
struct hs_str rebuilt_sym(const struct rebuilt *r, uint32_t id);

#endif
