#include "analysis/reweight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word;
    enum hs_crit_cause cause;
} classes[] = {
    {"compute", HS_CRIT_COMPUTE},      {"communication", HS_CRIT_COMM},
    {"memory", HS_CRIT_MEMORY},        {"cpu", HS_CRIT_CPU},
    {"data_loading", HS_CRIT_LOADING}, {"launch", HS_CRIT_LAUNCH},
    {"kernel_gap", HS_CRIT_KERNEL},    {"sync", HS_CRIT_SYNC},
    {"cpu_idle", HS_CRIT_CPU_IDLE},
};

static int parse_class(struct hs_reweight *r, const char *word, struct hs_err *err)
{
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (!strcmp(word, classes[i].word)) {
            r->what = HS_REWEIGHT_CLASS;
            r->cause = classes[i].cause;
            return HS_OK;
        }
    return hs_fail(err, HS_EUSAGE,
                   "reweight: there is no class '%.40s'; there are compute, communication, memory, cpu, data_loading, "
                   "launch, kernel_gap, sync and cpu_idle",
                   word);
}

static int parse_event(struct hs_reweight *r, const char *word, struct hs_err *err)
{
    char *end;
    unsigned long long v = strtoull(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end || v >= HS_NO_EVENT)
        return hs_fail(err, HS_EUSAGE, "reweight: '%.40s' is no event number", word);
    r->what = HS_REWEIGHT_EVENT;
    r->event = (uint32_t)v;
    return HS_OK;
}

static int parse_factor(struct hs_reweight *r, const char *text, struct hs_err *err)
{
    char *end;
    r->factor = strtod(text, &end);
    if (end == text || *end || !isfinite(r->factor) || r->factor < 0 || r->factor > HS_REWEIGHT_FACTOR_MAX)
        return hs_fail(err, HS_EUSAGE, "reweight: '%.40s' is no factor from 0 to %.0f", text, HS_REWEIGHT_FACTOR_MAX);
    return HS_OK;
}

/* One item; `text` is the parser's own copy. */
static int parse_item(struct hs_reweight *r, char *text, struct hs_err *err)
{
    char *equals = strrchr(text, '='), *colon = strchr(text, ':');
    if (!equals || !colon || colon > equals)
        return hs_fail(err, HS_EUSAGE,
                       "reweight: '%.80s' should be class:WORD=FACTOR, name:REGEX=FACTOR or event:N=FACTOR", text);
    *equals = *colon = 0;
    const char *word = colon + 1;
    int rc = parse_factor(r, equals + 1, err);
    if (rc)
        return rc;
    if (!strcmp(text, "class"))
        return parse_class(r, word, err);
    if (!strcmp(text, "event"))
        return parse_event(r, word, err);
    if (strcmp(text, "name"))
        return hs_fail(err, HS_EUSAGE, "reweight: '%.40s' should be class, name or event", text);
    r->what = HS_REWEIGHT_NAME;
    rc = hs_name_filter_new(&r->name, word, err);
    return rc ? hs_err_prefix(err, "reweight") : HS_OK;
}

int hs_reweights_parse(struct hs_reweights *out, const char *text, struct hs_err *err)
{
    char *copy = hs_strdup(text ? text : ""), *save = NULL;
    int rc = HS_OK;
    out->n = 0;
    for (char *item = strtok_r(copy, ";", &save); item && !rc; item = strtok_r(NULL, ";", &save)) {
        if (out->n == HS_REWEIGHTS) {
            rc = hs_fail(err, HS_EUSAGE, "reweight: more than %d items", HS_REWEIGHTS);
            break;
        }
        out->p[out->n] = (struct hs_reweight){.factor = 1};
        rc = parse_item(&out->p[out->n++], item, err);
    }
    free(copy);
    return rc;
}

void hs_reweights_free(struct hs_reweights *r)
{
    for (size_t i = 0; i < r->n; i++)
        hs_name_filter_free(r->p[i].name);
    r->n = 0;
}
