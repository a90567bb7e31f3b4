/* Texts to symbols, defects to counts. */
#include "ingest/kineto_in.h"

void hs_kineto_defect(struct hs_kineto *k, enum hs_quality_kind kind)
{
    hs_quality_add(&k->trace->quality, kind, 1, hs_kineto_offset(k, k->item));
}

void hs_kineto_count_texts(struct hs_kineto *k)
{
    uint8_t texts = k->values.texts;
    k->values.texts = 0;
    if (texts & HS_TEXT_LONE)
        hs_kineto_defect(k, HS_Q_LONE_SURROGATE);
    if (texts & HS_TEXT_LONG)
        hs_kineto_defect(k, HS_Q_LONG_STRING);
    if (texts & HS_TEXT_MANY)
        hs_kineto_defect(k, HS_Q_MANY_NAMES);
}

static bool could_be_non_finite(struct hs_str s)
{
    return s.n >= 3 && s.n <= 9 && hs_text_non_finite(s);
}

/* A text cut to the limit, not inside a UTF-8 sequence. */
static size_t cut_length(const char *p, size_t max)
{
    size_t n = max;
    while (n && max - n < 4 && ((unsigned char)p[n] & 0xc0) == 0x80)
        n--;
    return max - n < 4 ? n : max;
}

static uint32_t intern(struct hs_kineto *k, const char *p, size_t n, uint32_t bucket)
{
    struct hs_trace *t = k->trace;
    size_t before = t->syms.n;
    uint32_t sym = hs_intern_add(&t->syms, p, n);
    if (sym == HS_NO_SYM) {
        k->values.texts |= HS_TEXT_MANY;
        return bucket;
    }
    if (t->syms.n > before) {
        if (!hs_utf8_valid(p, n))
            hs_kineto_defect(k, HS_Q_BAD_UTF8);
        if (could_be_non_finite(hs_str(p, n)))
            hs_vec_push(&k->odd_texts, sym);
    }
    return sym;
}

uint32_t hs_kineto_sym_slow(struct hs_kineto *k, const char *p, size_t n)
{
    if (n > k->limits.string) {
        k->values.texts |= HS_TEXT_LONG;
        n = cut_length(p, k->limits.string);
    }
    return intern(k, p, n, k->many);
}

uint32_t hs_kineto_raw(struct hs_kineto *k, const char *p, size_t n)
{
    if (n > k->limits.string) {
        k->values.texts |= HS_TEXT_LONG;
        return k->long_raw;
    }
    size_t before = k->trace->syms.n;
    uint32_t sym = intern(k, p, n, k->many_raw);
    if (k->trace->syms.n > before)
        hs_kineto_hta_rank(k, p, n);
    return sym;
}

uint32_t hs_kineto_sym_escaped(struct hs_kineto *k, const char *p, size_t n)
{
    bool lone = false;
    hs_buf_clear(&k->text);
    hs_scan_decode(&k->text, p, n, &lone);
    if (lone)
        k->values.texts |= HS_TEXT_LONE;
    return hs_kineto_sym_slow(k, k->text.n ? k->text.p : "", k->text.n);
}

/* Categories are kept as 16-bit symbols in the rows, so the usual ones are named before a hundred thousand Python
 * functions can be; keys, too, so that `known` can be small. */
void hs_kineto_intern_known(struct hs_kineto *k)
{
    static const char *const keys[HS_KNOWN] = {[HS_KEY_NONE] = "",
                                               [HS_KEY_PH] = "ph",
                                               [HS_KEY_CAT] = "cat",
                                               [HS_KEY_NAME] = "name",
                                               [HS_KEY_PID] = "pid",
                                               [HS_KEY_TID] = "tid",
                                               [HS_KEY_TS] = "ts",
                                               [HS_KEY_DUR] = "dur",
                                               [HS_KEY_ARGS] = "args",
                                               [HS_KEY_CORRELATION] = "correlation",
                                               [HS_KEY_STREAM] = "stream",
                                               [HS_KEY_DEVICE] = "device",
                                               [HS_KEY_BYTES] = "bytes",
                                               [HS_KEY_SIZE] = "size",
                                               [HS_KEY_GRAPH] = "graph id",
                                               [HS_KEY_LABELS] = "labels",
                                               [HS_KEY_COLLECTIVE] = "Collective name",
                                               [HS_KEY_ID] = "id"};
    static const char *const cats[] = {"cpu_op",
                                       "user_annotation",
                                       "gpu_user_annotation",
                                       "gpu_memcpy",
                                       "gpu_memset",
                                       "kernel",
                                       "cuda_runtime",
                                       "cuda_driver",
                                       "cpu_instant_event",
                                       "python_function",
                                       "overhead",
                                       "mtia_runtime",
                                       "mtia_ccp_events",
                                       "mtia_insight",
                                       "cuda_sync",
                                       "cuda_event",
                                       "mtia_counters",
                                       "cuda_profiler_range",
                                       "hpu_op",
                                       "xpu_runtime",
                                       "xpu_driver",
                                       "collective_comm",
                                       "privateuse1_runtime",
                                       "privateuse1_driver",
                                       "xpu_scope_profiler",
                                       "xpu_sync",
                                       "hardware_counters",
                                       "Trace",
                                       "ac2g",
                                       "fwdbwd",
                                       "async_cpu_to_gpu",
                                       "Kernel",
                                       "Memcpy",
                                       "Memset",
                                       "Runtime",
                                       "Operator"};
    struct hs_intern *in = &k->trace->syms;
    for (uint32_t i = 1; i < HS_KNOWN; i++) {
        k->key[i] = hs_intern_add(in, keys[i], strlen(keys[i]));
        if (k->key[i] < sizeof k->known)
            k->known[k->key[i]] = (uint8_t)i;
    }
    k->many = hs_intern_add(in, "(too many names)", 16);
    k->many_raw = hs_intern_add(in, "\"(too many names)\"", 18);
    k->long_raw = hs_intern_add(in, "\"(too long)\"", 12);
    k->process_name = hs_intern_add(in, "process_name", 12);
    k->process_labels = hs_intern_add(in, "process_labels", 14);
    k->thread_name = hs_intern_add(in, "thread_name", 11);
    for (size_t i = 0; i < sizeof cats / sizeof cats[0]; i++)
        hs_intern_add(in, cats[i], strlen(cats[i]));
}
