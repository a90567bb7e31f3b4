#include "trace/peaks.h"

#include <ctype.h>
#include <string.h>

const char *const hs_dtype_names[HS_DTYPES] = {"", "float64", "float32", "tf32", "float16", "float8"};

#define MIB 1048576.0
/* name, multiprocessors, GB/s, TFLOP/s of float32, TF32, half, FP8, MiB of cache */
#define DEVICE(name, sms, gbps, f32, tf32, f16, f8, mib)      \
    {                                                         \
        name, sms, gbps, {0, 0, f32, tf32, f16, f8}, mib *MIB \
    }

/* First match wins, of name and multiprocessors: ROCm calls both "AMD Instinct MI250X / MI250". The makers' data sheets, their figures for sparse operands halved; AMD's float32 is that of its matrix units. */
static const struct hs_peaks g_peaks[] = {
    DEVICE("GB200", 0, 8000, 80, 1250, 2500, 5000, 126),
    DEVICE("B200", 148, 8000, 75, 1100, 2250, 4500, 126),
    DEVICE("GH200 144G", 132, 4900, 67, 494.7, 989.4, 1978.9, 50),
    DEVICE("GH200", 132, 4000, 67, 494.7, 989.4, 1978.9, 50),
    DEVICE("H200", 132, 4800, 67, 494.7, 989.4, 1978.9, 50),
    DEVICE("H100 NVL", 132, 3938, 60, 417.5, 835.5, 1671, 50),
    DEVICE("H100 PCIe", 114, 2039, 51.2, 378, 756, 1513, 50),
    DEVICE("H100", 132, 3352, 66.9, 494.7, 989.4, 1978.9, 50),
    DEVICE("H20", 78, 4000, 44, 74, 148, 296, 60),
    DEVICE("A100-SXM4-80GB", 108, 2039, 19.5, 156, 312, 0, 40),
    DEVICE("A100 80GB PCIe", 108, 1935, 19.5, 156, 312, 0, 40),
    DEVICE("A100-SXM4-40GB", 108, 1555, 19.5, 156, 312, 0, 40),
    DEVICE("A100-PCIE-40GB", 108, 1555, 19.5, 156, 312, 0, 40),
    DEVICE("A100-PG509-200", 108, 1555, 19.5, 156, 312, 0, 40), /* an SXM4 of 40 GB under its board's name */
    DEVICE("A10", 72, 600, 31.2, 62.5, 125, 0, 6),
    DEVICE("A30", 56, 933, 10.3, 82, 165, 0, 24),
    DEVICE("A40", 84, 696, 37.4, 74.8, 149.7, 0, 6),
    DEVICE("RTX A6000", 84, 768, 38.7, 77.4, 154.8, 0, 6),
    DEVICE("L4", 58, 300, 30.3, 60, 121, 242, 48),
    DEVICE("L40S", 142, 864, 91.6, 183, 362, 733, 96),
    DEVICE("L40", 142, 864, 90.5, 90.5, 181, 362, 96),
    DEVICE("V100S-PCIE-32GB", 80, 1134, 16.4, 0, 130, 0, 6),
    DEVICE("V100-PCIE", 80, 900, 14, 0, 112, 0, 6),
    DEVICE("V100", 80, 900, 15.7, 0, 125, 0, 6),
    DEVICE("T4", 40, 320, 8.1, 0, 65, 0, 4),
    DEVICE("MI100", 120, 1228.8, 46.1, 0, 184.6, 0, 8),
    DEVICE("MI210", 104, 1638.4, 45.3, 0, 181, 0, 8),
    DEVICE("MI250", 104, 1638.4, 45.3, 0, 181, 0, 8),
    DEVICE("MI250X", 110, 1638.4, 47.9, 0, 191.5, 0, 8),
    DEVICE("MI300X", 304, 5300, 163.4, 653.7, 1307.4, 2614.9, 256),
    DEVICE("MI325X", 304, 6000, 163.4, 653.7, 1307.4, 2614.9, 256),
};

static bool has_word(struct hs_str s, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= s.n; i++)
        if (!memcmp(s.p + i, word, n) && (!i || !isalnum((unsigned char)s.p[i - 1])) &&
            (i + n == s.n || !isalnum((unsigned char)s.p[i + n])))
            return true;
    return false;
}

const struct hs_peaks *hs_peaks_of(struct hs_str device_name, int64_t sms)
{
    for (size_t i = 0; i < sizeof g_peaks / sizeof g_peaks[0]; i++) {
        const struct hs_peaks *p = &g_peaks[i];
        if (has_word(device_name, p->name) && (sms <= 0 || !p->sms || sms == p->sms))
            return p;
    }
    return NULL;
}
