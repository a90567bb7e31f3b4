/* Numbers and times: text to nanoseconds without a double between, whatever the spelling. */
#include "tests/corpus/corpus.h"

#define CPU "\"no-gpu\":1,\"no-steps\":1}"
#define HEAD "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"args\":"
#define KERNEL "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"

const struct corpus_entry corpus_numbers[] = {
    /* inf, -nan, NaN, -Infinity are four numbers without a value; N/A, None, undefined have none either, True is a boolean */
    {"inf_nan_NA.json",
     0,
     0,
     1,
     0,
     "{\"non-finite\":4,\"bare-word\":4," CPU,
     {S_(JSON, 0,
         HEAD "{\"a\":null,\"b\":null,\"c\":null,\"d\":null,\"e\":null,\"f\":null,\"g\":true,\"h\":null,\"i\":1}}")}},
    /* quoted they stay texts; "information" is only a word that begins alike */
    {"quoted_nan.json",
     0,
     0,
     1,
     0,
     "{\"non-finite\":2," CPU,
     {S_(JSON, 0, HEAD "{\"warps per SM\":\"inf\",\"blocks per SM\":\"nan\",\"note\":\"information\"}}")}},
    /* counted by event; ids that are texts stay texts; the stream is 7 */
    {"string_ts.json",
     0,
     0,
     2,
     0,
     "{\"text-number\":2,\"kernel-without-launch\":1,\"no-steps\":1}",
     {N_(TS, 0, 1747123456789123), N_(DUR, 0, 7000), S_(PID_TEXT, 0, "1"), N_(TS, 1, 1747123456790500),
      N_(GPU_DUR, 0, 2000), N_(STREAM, 0, 7)}},
    /* 1.7e15 µs as a double moves in steps of a quarter of a µs; here every digit stays */
    {"abs_ts.json",
     0,
     0,
     1,
     0,
     "{" CPU,
     {N_(TS, 0, 1726000000000000123), N_(DUR, 0, 250),
      S_(JSON, 0,
         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1726000000000000.123,\"dur\":0."
         "250}")}},
    {"rel_ts_ns.json",
     0,
     0,
     1,
     0,
     "{" CPU,
     {N_(TS, 0, 5000000000000123), N_(DUR, 0, 7424), N_(BASE, 0, 1711929600000000000)}},
    {"two_bases_0.json", 0, 0, 1, 0, "{" CPU, {N_(TS, 0, 5000), N_(BASE, 0, 1000000000)}},
    {"two_bases_1.json", 0, 0, 1, 1, "{" CPU, {N_(TS, 0, 0), N_(BASE, 0, 1000005000)}},
    {"exponent_ts.json",
     0,
     0,
     2,
     0,
     "{" CPU,
     {N_(TS, 0, 1700000), N_(DUR, 0, 2500), N_(TS, 1, 2000000), N_(DUR, 1, 1000)}},
    /* +3 .5 007 0x1f 1. are five numbers JSON does not allow */
    {"odd_numbers.json",
     0,
     0,
     2,
     0,
     "{\"odd-number\":5," CPU,
     {N_(TS, 0, 3000), N_(DUR, 0, 500),
      S_(JSON, 0,
         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":0.5,\"args\":{\"x\":7,"
         "\"y\":31,\"z\":1}}")}},
    /* below a nanosecond is cut off; the digits stay in the event */
    {"many_digits.json",
     0,
     0,
     1,
     0,
     "{" CPU,
     {N_(TS, 0, 1123), N_(DUR, 0, 2000),
      S_(JSON, 0,
         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1.123456,\"dur\":2.0005}")}},
    /* the kernel at 0 is no work and does not stretch the trace back to 1970 */
    {"ts_zero_kernels.json",
     0,
     0,
     3,
     0,
     "{\"ts-zero\":1,\"no-steps\":1}",
     {N_(GPU, 0, 1), N_(BUSY, 0, 5000), N_(TS, 2, 0), N_(PARENT, 2, -1)}},
    {"neg_dur.json",
     0,
     0,
     2,
     0,
     "{\"negative-dur\":2,\"kernel-without-launch\":1,\"no-steps\":1}",
     {N_(DUR, 0, -3000), N_(GPU_DUR, 0, 0), N_(BUSY, 0, 0)}}, /* as written in the event, 0 in answers */
    {"no_dur.json", 0, 0, 2, 0, "{\"missing-dur\":1," CPU, {N_(OPS, 0, 1), N_(TS, 0, 1000)}},
    {"no_ts.json", 0, 0, 2, 0, "{\"missing-ts\":1," CPU, {N_(OPS, 0, 1), N_(DUR, 0, 1000)}},
    /* 1.8e13 µs are 208 days: kept, used by nothing; the trace ends at 7 µs */
    {"huge_dur.json",
     0,
     0,
     2,
     0,
     "{\"huge-dur\":1," CPU,
     {N_(DUR, 0, 18000000000000000), N_(END_AT, 0, 7000), N_(PARENT, 1, -1)}},
    /* instants never stretch the range */
    {"record_window_end.json", 0, 0, 2, 0, "{" CPU, {N_(END_AT, 0, 3000), S_(PID_TEXT, 1, "")}},
    {"u64_comms_id.json",
     0,
     0,
     1,
     0,
     "{\"kernel-without-launch\":1,\"no-cpu\":1,\"no-steps\":1}",
     {S_(JSON, 0,
         KERNEL "\"ncclDevKernel_AllReduce\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":5,\"args\":{\"device\":0,\"stream\":"
                "7,\"correlation\":1,"
                "\"Comms Id\":17999999999999999999,\"Addr\":128803317743616,\"limit\":2147483647}}")}},
    /* -1, also where it was written as unsigned 32 bits, joins nothing */
    {"minus_one_ids.json",
     0,
     0,
     3,
     0,
     "{\"kernel-without-launch\":2,\"no-steps\":1}",
     {N_(PARENT, 1, -1), N_(PARENT, 2, -1)}},
};
const size_t corpus_nnumbers = sizeof corpus_numbers / sizeof *corpus_numbers;
