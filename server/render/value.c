#include "render/value.h"
#include "base/json.h"

#include <stdio.h>

void hs_put_pct(struct hs_buf *out, double v)
{
    if (v >= 1e15 || v <= -1e15) { /* no percentage any more, but still a number that readers can hold */
        hs_put_f64(out, v);
        return;
    }
    char t[32];
    int n = snprintf(t, sizeof t, "%.4f", v);
    while (n > 1 && t[n - 1] == '0')
        n--;
    if (n > 1 && t[n - 1] == '.')
        n--;
    if (n == 2 && t[0] == '-' && t[1] == '0')
        hs_buf_putc(out, '0');
    else
        hs_buf_put(out, t, (size_t)n);
}

void hs_put_number(struct hs_buf *out, const struct hs_cell *c, enum hs_type type)
{
    if (c->kind == HS_C_I64 && type == HS_T_TIME)
        hs_put_us(out, c->i);
    else if (c->kind == HS_C_I64)
        hs_buf_put_i64(out, c->i);
    else if (type == HS_T_PCT)
        hs_put_pct(out, c->f);
    else
        hs_put_f64(out, c->f == 0 ? 0 : c->f);
}
