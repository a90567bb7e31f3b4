#include "http/assets.h"

#include <string.h>

#define HTML "text/html; charset=utf-8"
#define JS "text/javascript; charset=utf-8"
#define CSS "text/css; charset=utf-8"
#define SVG "image/svg+xml"

/* ASSET(symbol, path under web/, type). The assembler finds the file from the root of the repository. */
#define ASSETS                                              \
    ASSET(css_base_css, "css/base.css", CSS)                \
    ASSET(css_pages_css, "css/pages.css", CSS)              \
    ASSET(css_table_css, "css/table.css", CSS)              \
    ASSET(css_timeline_css, "css/timeline.css", CSS)        \
    ASSET(favicon_svg, "favicon.svg", SVG)                  \
    ASSET(index_html, "index.html", HTML)                   \
    ASSET(js_analyses_js, "js/analyses.js", JS)             \
    ASSET(js_api_js, "js/api.js", JS)                       \
    ASSET(js_breakdown_js, "js/breakdown.js", JS)           \
    ASSET(js_cells_js, "js/cells.js", JS)                   \
    ASSET(js_dom_js, "js/dom.js", JS)                       \
    ASSET(js_files_js, "js/files.js", JS)                   \
    ASSET(js_filters_js, "js/filters.js", JS)               \
    ASSET(js_format_js, "js/format.js", JS)                 \
    ASSET(js_guard_js, "js/guard.js", JS)                   \
    ASSET(js_home_js, "js/home.js", JS)                     \
    ASSET(js_idle_js, "js/idle.js", JS)                     \
    ASSET(js_kernels_js, "js/kernels.js", JS)               \
    ASSET(js_mounts_js, "js/mounts.js", JS)                 \
    ASSET(js_main_js, "js/main.js", JS)                     \
    ASSET(js_palette_js, "js/palette.js", JS)               \
    ASSET(js_quality_js, "js/quality.js", JS)               \
    ASSET(js_report_js, "js/report.js", JS)                 \
    ASSET(js_run_js, "js/run.js", JS)                       \
    ASSET(js_table_js, "js/table.js", JS)                   \
    ASSET(js_timeline_data_js, "js/timeline-data.js", JS)   \
    ASSET(js_timeline_draw_js, "js/timeline-draw.js", JS)   \
    ASSET(js_timeline_input_js, "js/timeline-input.js", JS) \
    ASSET(js_timeline_mini_js, "js/timeline-mini.js", JS)   \
    ASSET(js_timeline_pin_js, "js/timeline-pin.js", JS)     \
    ASSET(js_timeline_js, "js/timeline.js", JS)             \
    ASSET(js_upload_js, "js/upload.js", JS)                 \
    ASSET(js_url_js, "js/url.js", JS)

#define ASSET(sym, path, type)           \
    __asm__(".section .rodata\n"         \
            ".balign 16\n"               \
            "hs_asset_" #sym "_begin:\n" \
            ".incbin \"web/" path "\"\n" \
            "hs_asset_" #sym "_end:\n"   \
            ".byte 0\n"                  \
            ".previous\n");              \
    extern const unsigned char hs_asset_##sym##_begin[], hs_asset_##sym##_end[];
ASSETS
#undef ASSET

#define ASSET(sym, path, type) {path, type, hs_asset_##sym##_begin, hs_asset_##sym##_end},
const struct hs_asset hs_assets[] = {ASSETS};
#undef ASSET
const size_t hs_nassets = sizeof hs_assets / sizeof hs_assets[0];

const char *hs_asset_type(const char *path)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".html", HTML}, {".js", JS}, {".css", CSS}, {".svg", SVG}};
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t e = strlen(types[i].ending);
        if (n > e && !strcmp(path + n - e, types[i].ending))
            return types[i].type;
    }
    return "application/octet-stream";
}
