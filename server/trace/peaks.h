/* peaks: what a device could do at best, by the name that its driver gives it. One table, in peaks.c: a new device is one
 * line there. */
#ifndef HS_TRACE_PEAKS_H
#define HS_TRACE_PEAKS_H

#include "base/mem.h"

enum hs_dtype {
    HS_DTYPE_OTHER,
    HS_DTYPE_F64,
    HS_DTYPE_F32,  /* on the ordinary units */
    HS_DTYPE_TF32, /* float operands on tensor cores */
    HS_DTYPE_F16,  /* half and bfloat16 */
    HS_DTYPE_F8,
    HS_DTYPES
};
extern const char *const hs_dtype_names[HS_DTYPES];

struct hs_peaks {
    const char *name;         /* a whole word or more of the device's name */
    int sms;                  /* multiprocessors or compute units; 0: not known */
    double gbps;              /* of its memory, 10^9 bytes per second */
    double tflops[HS_DTYPES]; /* dense (no sparsity), at boost clock; 0: not known, or there are no such units */
    double cache_bytes;       /* its last cache: what fits may be faster than the memory */
};

/* sms: the multiprocessors that the trace tells, 0 if it does not. NULL: a device that the table does not have, or a part of one (MIG,
 * a partition of an MI300X), told by other multiprocessors. Of an MI250 a trace's device is one of its two dies, and so is the row. */
const struct hs_peaks *hs_peaks_of(struct hs_str device_name, int64_t sms);

#endif
