/* op_cost: what an operator must at least do, by the shapes of its arguments: floating-point operations and bytes of memory. Only
 * for operators whose shapes tell it; the others have no cost, which is not a cost of zero. */
#ifndef HS_ANALYSIS_OP_COST_H
#define HS_ANALYSIS_OP_COST_H

#include "trace/peaks.h"

enum hs_op_kind {
    HS_OP_MATMUL,
    HS_OP_ATTENTION,
    HS_OP_ELEMENTWISE,
    HS_OP_NORM, /* normalisations, softmax, sums: their input is read once at best */
    HS_OP_TRITON
};
extern const char *const hs_op_kind_names[];

struct hs_op_cost {
    enum hs_op_kind kind;
    enum hs_dtype dtype; /* of the operands of a product; HS_DTYPE_F32 for float, whatever units it ran on */
    double flops;        /* multiplications and additions of matrix products; 0 for kinds that are bound by memory */
    double bytes;        /* each operand read once, each result written once */
    double length;       /* attention of equal lengths: the sequence; else 0 */
};

/* `dims`, `types`, `concrete`: the arguments Input Dims, Input type, Concrete Inputs of the operator's event as JSON; concrete may be
 * empty. False: not told.
 *
 * Matrix product [M,K]x[K,N]: 2MNK (times the batch). Attention: 2 q·k (D + Dv) multiplications for each pair of a query and a key,
 * S(S+1)/2 pairs under a causal mask of equal lengths; without Concrete Inputs nobody knows the mask, and all pairs count. An
 * element-wise operator writes the broadcast of its operands; in place it writes the first. A Triton kernel of Inductor has its
 * inputs and its outputs among its arguments. */
bool hs_op_cost(struct hs_str name, struct hs_str dims, struct hs_str types, struct hs_str concrete,
                struct hs_op_cost *out);

#endif
