/* Texts: escapes, quotes, control bytes, encodings, size. Names are compared byte for byte. */
#include "tests/corpus/corpus.h"

#define CPU "\"no-gpu\":1,\"no-steps\":1}"

const struct corpus_entry corpus_texts[] = {
    /* \c \_ \u(sers) \x are no escapes of JSON: the backslashes stay */
    {"win_path.json",
     0,
     0,
     1,
     0,
     "{\"bad-escape\":1," CPU,
     {S_(NAME, 0, "torch\\cuda\\__init__.py(219): C:\\users\\x")}},
    /* \t \n \b are escapes: nothing tells that a path was meant, so they are read as JSON says */
    {"path_escapes.json", 0, 0, 1, 0, "{" CPU, {S_(NAME, 0, "C:\train\new\batch.py")}},
    {"quote_escape.json", 0, 0, 1, 0, "{\"bad-escape\":1," CPU, {S_(NAME, 0, "it\\'s")}},
    {"bare_quote.json",
     0,
     0,
     2,
     0,
     "{\"bare-quote\":1," CPU,
     {S_(NAME, 0, "{\"device\": \"cpu\"}(12): run"), S_(NAME, 1, "b")}},
    {"bare_quote_in_args.json",
     0,
     0,
     2,
     0,
     "{\"bare-quote\":1," CPU,
     {S_(JSON, 0,
         "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":2,"
         "\"args\":{\"shape\":\"say \\\"hi\\\" now\",\"n\":1}}"),
      S_(NAME, 1, "b")}},
    {"raw_newline.json", 0, 0, 1, 0, "{\"control-byte\":1," CPU, {S_(NAME, 0, "a\nb")}},
    {"ctrl_01.json", 0, 0, 1, 0, "{\"control-byte\":1," CPU, {S_(NAME, 0, "a\001b\tc")}},
    /* two names that differ only in bad bytes stay two names */
    {"bad_utf8.json", 0, 0, 2, 0, "{\"bad-utf8\":2," CPU, {S_(NAME, 0, "\xff\xfe"), S_(NAME, 1, "\xfe\xff")}},
    {"emoji_escape.json", 0, 0, 1, 0, "{" CPU, {S_(NAME, 0, "\xf0\x9f\x9a\x80 go")}}, /* U+1F680 */
    {"lone_surrogate.json", 0, 0, 1, 0, "{\"lone-surrogate\":1," CPU, {S_(NAME, 0, "\xef\xbf\xbdx")}},
    /* escaped it is valid JSON; raw it is the same name, and told; neither ends the text */
    {"nul_in_name.json",
     0,
     0,
     3,
     0,
     "{\"nul-byte\":1," CPU,
     {S_(NAME, 0, "a\0b"), S_(NAME, 1, "a\0b"), S_(NAME, 2, "a")}},
    {"long_name.json",
     0,
     0,
     1,
     0,
     "{" CPU,
     {N_(TS, 0, 1000)}}, /* 60 KB, below the limit; its length is checked apart */
    {"empty_strings.json", 0, 0, 1, 0, "{" CPU, {S_(NAME, 0, "")}}, /* a name that is there, though empty */
    {"xss_names.json",
     0,
     0,
     3,
     0,
     "{" CPU,
     {S_(NAME, 0, "</script><img src=x onerror=alert(1)>"), S_(NAME, 1, "<module>"),
      S_(NAME, 2, "=cmd()")}}, /* kept as they are; what writes pages and tables escapes them */
    {"unknown_name.json", 0, 0, 2, 0, "{" CPU, {S_(NAME, 0, "unknown"), S_(NAME, 1, "unknown")}},
    /* Operator, Runtime, Kernel, Memcpy of 2021: the kernel has its launch, the copy (correlation 2) none */
    {"old_keys.json",
     0,
     0,
     4,
     0,
     "{\"kernel-without-launch\":1,\"no-steps\":1}",
     {N_(OPS, 0, 1), N_(KERNELS, 1, 1), N_(PARENT, 2, 1), N_(GPU, 0, 2), N_(CLASS, 1, HS_CLASS_MEMCPY)}},
    {"vendor_args.json",
     0,
     0,
     1,
     0,
     "{\"kernel-without-launch\":1,\"no-cpu\":1,\"no-steps\":1}",
     {S_(JSON, 0,
         "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":10,\"dur\":5,\"args\":{\"device\":"
         "0,\"stream\":7,"
         "\"correlation\":1,\"hsa_queue\":3,\"l0 call\":\"zeCommandListAppend\",\"Communicator_id\":\"0xff\"}}")}},
};
const size_t corpus_ntexts = sizeof corpus_texts / sizeof *corpus_texts;
