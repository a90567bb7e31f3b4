/* codec: a column of up to HS_SEG_ROWS int64 numbers as bytes, losslessly; store/encode.h writes, store/decode.h reads.
 *
 * A blob is one stream and HS_PACK_SLACK zero bytes (so that the decoder may load words at its end).
 *
 *   stream  := kind (1 byte: hs_codec_kind | flags) n (varint) base (zigzag varint, the smallest number)
 *              [divisor (varint, > 1) with HS_CODEC_DIVISOR] [length (varint), stream of run lengths with HS_CODEC_HOLES]
 *              body
 *
 * The body codes q = (number - base) / divisor as unsigned 64-bit numbers. int-µs traces have times that are multiples
 * of 1000 ns: the divisor gives the three digits back. Holes are rows that hold HS_NO_VALUE: run lengths of present and
 * absent rows in turn, present first; in the body a hole repeats the number before it.
 *
 *   HS_CODEC_CONST    all q are 0, no body
 *   HS_CODEC_FOR      blocks of q, each with its own base: frame of reference
 *   HS_CODEC_DELTA    start (varint), blocks of q[i] - q[i-1], each with its own (signed) base; q[-1] = start
 *   HS_CODEC_ZIGZAG   the same with deltas zigzagged, without a base: for those that leap both ways
 *   HS_CODEC_DELTA2   start, first delta (varints); zigzagged differences of deltas
 *   HS_CODEC_RUNS     count (varint), length (varint), stream of the q of each run, stream of their lengths less 1
 *   HS_CODEC_DICT     count (varint), length (varint), stream of the distinct q, stream of indices into them
 *
 *   block   := width (1 byte | 0x80 if patched) [base: varint for FOR, zigzag varint for DELTA]
 *              [exceptions (1 byte), width of their high parts (1 byte), positions (1 byte each), packed high parts]
 *              packed low parts (store/bitpack.h)
 *
 * Blocks hold HS_BLOCK numbers, the last one what is left. A number too wide for its block's width leaves its high bits
 * among the exceptions (patched frame of reference: Zukowski et al., ICDE 2006), so one outlier does not widen its
 * 127 neighbours. All arithmetic wraps modulo 2^64, so extremes of int64 need no special case. Streams inside a stream
 * are of the first five kinds only, which bounds the decoder's recursion. */
#ifndef HS_STORE_CODEC_H
#define HS_STORE_CODEC_H

#include "store/bitpack.h"

#define HS_BLOCK 128u

enum hs_codec_kind {
    HS_CODEC_CONST,
    HS_CODEC_FOR,
    HS_CODEC_DELTA,
    HS_CODEC_ZIGZAG,
    HS_CODEC_DELTA2,
    HS_CODEC_RUNS,
    HS_CODEC_DICT,
    HS_CODEC_KINDS
};
#define HS_CODEC_KIND_MASK 0x0fu
#define HS_CODEC_DIVISOR 0x10u
#define HS_CODEC_HOLES 0x20u
#define HS_BLOCK_PATCHED 0x80u

static inline uint64_t hs_zigzag(uint64_t v)
{
    return v << 1 ^ (0 - (v >> 63));
}
static inline uint64_t hs_unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

#endif
