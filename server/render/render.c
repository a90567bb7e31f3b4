#include "render/render.h"
#include "render/flame.h"
#include "render/table_json.h"
#include "render/table_text.h"

#include <string.h>

static const char *const format_names[] = {
    [HS_F_RECORDS] = "records", [HS_F_COLUMNS] = "columns", [HS_F_CSV] = "csv",
    [HS_F_MD] = "md",           [HS_F_FOLDED] = "folded",   [HS_F_SPEEDSCOPE] = "speedscope"};

int hs_format_parse(const char *name)
{
    for (int f = 0; f < (int)(sizeof format_names / sizeof format_names[0]); f++)
        if (name && !strcmp(name, format_names[f]))
            return f;
    return -1;
}

const char *hs_format_content_type(enum hs_format f)
{
    switch (f) {
    case HS_F_CSV: return "text/csv; charset=utf-8; header=present";
    case HS_F_MD: return "text/markdown; charset=utf-8";
    case HS_F_FOLDED: return "text/plain; charset=utf-8";
    case HS_F_RECORDS:
    case HS_F_COLUMNS:
    case HS_F_SPEEDSCOPE: break;
    }
    return "application/json";
}

int hs_render_table(const struct hs_table *t, const struct hs_envelope *e, enum hs_format f, struct hs_buf *out,
                    struct hs_err *err)
{
    switch (f) {
    case HS_F_RECORDS: hs_table_json(t, e, false, out); break;
    case HS_F_COLUMNS: hs_table_json(t, e, true, out); break;
    case HS_F_CSV: hs_table_csv(t, out); break;
    case HS_F_MD: hs_table_md(t, out); break;
    case HS_F_FOLDED: return hs_render_folded(t, out, err);
    case HS_F_SPEEDSCOPE: return hs_render_speedscope(t, e->run, out, err);
    }
    return hs_buf_check(out, "the answer", err);
}
