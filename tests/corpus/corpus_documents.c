/* Documents: where they begin, end and break; what is no trace. Ids (C1..) as in the usual list of defects of such files:
 * cut ends, commas, key order, marks, encodings. */
#include "tests/corpus/corpus.h"

#define CPU "\"no-gpu\":1,\"no-steps\":1}" /* a whole CPU event and nothing else */

const struct corpus_entry corpus_documents[] = {
    /* A cut leaves the whole events; the partial one is what "truncated" says and no bad event beside it. */
    {"cut_object.json", 0, 0, 1, 0, "{\"truncated\":1," CPU, {N_(TS, 0, 1000), S_(NAME, 0, "a")}},
    {"cut_string.json", 0, 0, 1, 0, "{\"truncated\":1," CPU, {S_(NAME, 0, "a")}},
    {"cut_number.json", 0, 0, 1, 0, "{\"truncated\":1," CPU, {S_(NAME, 0, "a")}}, /* "dur":1 may be the start of 15 */
    {"cut_after_events.json", 0, 0, 1, 0, "{\"truncated\":1," CPU, {N_(DUR, 0, 2000)}},
    {"bare_array.json", 0, 0, 1, 0, "{" CPU, {S_(PID_TEXT, 0, "CPU functions"), N_(OPS, 0, 1)}},
    /* The array form may lack its bracket: nothing was lost. */
    {"bare_array_open.json", 0, 0, 2, 0, "{\"no-closing-bracket\":1," CPU, {N_(TS, 1, 5000)}},
    {"trailing_comma.json", 0, 0, 1, 0, "{\"stray-comma\":1," CPU, {S_(NAME, 0, "a")}},
    /* after schemaVersion, before a, (missing) before b, after b, before the brace */
    {"commas.json", 0, 0, 3, 0, "{\"stray-comma\":5," CPU, {S_(NAME, 1, "b"), S_(NAME, 2, "c"), S_(HEADER, 0, "1")}},
    {"two_docs.json", 0, 0, 1, 0, "{\"second-document\":1," CPU, {S_(NAME, 0, "a")}}, /* the first counts */
    {"no_events.json", 0, 0, 0, 0, "{}", {S_(HEADER, 1, "[]"), N_(GPU, 0, 0)}}, /* a header alone: an empty trace */
    {"empty_events.json", 0, 0, 0, 0, "{}", {S_(HEADER, 0, "1")}},
    {"only_metadata.json", 0, 0, 2, 0, "{\"no-gpu\":1,\"no-cpu\":1,\"no-steps\":1}", {S_(THREAD, 1, "main")}},
    {"empty_file.json", 1, "empty", 0, 0, 0, {{0}}},
    {"blank_file.json", 1, "blanks", 0, 0, 0, {{0}}},
    {"keys_last.json", 0, 0, 1, 3, "{" CPU, {N_(WORLD, 0, 8), S_(HEADER, 1, "\"/tmp/x.json\"")}},
    /* one event with a doubled name and a doubled arg, one header key: two places; the last one counts */
    {"dup_keys.json",
     0,
     0,
     1,
     0,
     "{\"duplicate-key\":2," CPU,
     {S_(NAME, 0, "last"), S_(JSON, 0,
                              "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"last\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":"
                              "2,\"args\":{\"k\":2}}")}},
    {"crlf.json", 0, 0, 2, 0, "{" CPU, {N_(TS, 1, 5000)}},
    {"pretty.json",
     0,
     0,
     1,
     0,
     "{" CPU,
     {S_(JSON, 0,
         "{\"name\":\"a\",\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,\"args\":{}}")}},
    {"bom.json", 0, 0, 1, 0, "{\"bom\":1," CPU, {S_(NAME, 0, "a")}},
    {"utf16le.json", 0, 0, 1, 0, "{\"bom\":1,\"utf16\":1," CPU, {S_(NAME, 0, "na\xc3\xafve \xe2\x82\xac")}},
    {"utf16be_no_bom.json", 0, 0, 1, 0, "{\"utf16\":1," CPU, {S_(NAME, 0, "na\xc3\xafve \xe2\x82\xac")}},
    {"plain_named.json.gz", 0, 0, 1, 0, "{" CPU, {S_(NAME, 0, "a")}}, /* the name of a file says nothing */
    /* 7, "text", [1,2], null among the events: four things that are none */
    {"not_objects.json", 0, 0, 1, 0, "{\"bad-event\":4," CPU, {S_(NAME, 0, "a")}},
    {"empty_objects.json", 0, 0, 1, 0, "{\"empty-event\":2," CPU, {S_(NAME, 0, "a")}},
    /* five words that are no events, four of them without a comma before them */
    {"garbage_between.json", 0, 0, 2, 0, "{\"stray-comma\":4,\"bad-event\":5," CPU, {S_(NAME, 1, "b")}},
    /* the broken event alone is dropped: its 58 bytes, the comma and the line break are what is skipped */
    {"bad_event.json", 0, 0, 2, 0, "{\"bad-event\":1,\"skipped-bytes\":60," CPU, {S_(NAME, 0, "a"), S_(NAME, 1, "b")}},

    /* export_memory_timeline's raw list; the last three entries are none: a text, an object, three numbers */
    {"memory_timeline.json",
     0,
     0,
     4,
     0,
     "{\"bad-event\":3,\"no-gpu\":1,\"no-cpu\":1,\"no-steps\":1}",
     {S_(NAME, 0, "[memory]"), N_(TS, 0, -1), N_(TS, 2, 1700000000000001999),
      S_(JSON, 2,
         "{\"ph\":\"i\",\"cat\":\"memory_timeline\",\"name\":\"[memory]\",\"ts\":1700000000000001.999,\"args\":{"
         "\"Action\":3,"
         "\"Bytes\":-512,\"Category\":7}}"),
      S_(JSON, 0,
         "{\"ph\":\"i\",\"cat\":\"memory_timeline\",\"name\":\"[memory]\",\"ts\":-0.001,\"args\":{\"Action\":1,"
         "\"Bytes\":4096,\"Category\":7}}")}},
    /* events decide what the array is: a list of four integers behind one is no event */
    {"memory_among_events.json", 0, 0, 1, 0, "{\"bad-event\":1," CPU, {S_(NAME, 0, "a")}},

    {"page.html", 1, "HTML", 0, 0, 0, {{0}}},
    {"table.parquet", 1, "Parquet", 0, 0, 0, {{0}}},
    {"snapshot.pickle", 1, "memory snapshot", 0, 0, 0, {{0}}},
    {"execution_trace.json", 1, "execution trace", 0, 0, 0, {{0}}},
    {"lists.json", 1, "array of lists", 0, 0, 0, {{0}}}, /* export_memory_timeline's .json: times and sums */
    {"table.csv", 1, "CSV", 0, 0, 0, {{0}}},
    {"numbers.json", 1, "no trace events", 0, 0, 0, {{0}}},
    {"just_text.json", 1, "traceEvents", 0, 0, 0, {{0}}},
    {"native.pftrace", 1, "Perfetto", 0, 0, 0, {{0}}},
};
const size_t corpus_ndocuments = sizeof corpus_documents / sizeof *corpus_documents;
