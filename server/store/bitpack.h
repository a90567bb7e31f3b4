/* bitpack: unsigned numbers of a fixed width of bits, without gaps, in groups of eight (so a group of width w is
 * exactly w bytes), least significant bit first, independent of the machine's byte order.
 *
 * One straight-line routine per width, with constant shifts: a value costs about a load, a shift and a mask. */
#ifndef HS_STORE_BITPACK_H
#define HS_STORE_BITPACK_H

#include <stddef.h>
#include <stdint.h>

#define HS_PACK_SLACK 8 /* bytes that hs_unpack may read (and ignore) behind the packed ones, hs_pack may write */

/* The width that holds numbers of `bits` bits: 0..56 as they are, above that 64 (the unaligned 64-bit loads of the
 * decoder end at 57 bits, and numbers that long are rare). */
static inline unsigned hs_pack_width(unsigned bits)
{
    return bits <= 56 ? bits : 64;
}
static inline size_t hs_pack_bytes(size_t n, unsigned width)
{
    return (n + 7) / 8 * width;
}
static inline unsigned hs_bits(uint64_t v)
{
    return v ? 64u - (unsigned)__builtin_clzll(v) : 0;
}

/* `n` is rounded up to a multiple of eight: in[] must be readable, out[] writable that far. Numbers must fit `width`,
 * which hs_pack_width gave. Bytes written: hs_pack_bytes(n, width). */
void hs_pack(const uint64_t *in, size_t n, unsigned width, uint8_t *out);
void hs_unpack(const uint8_t *in, size_t n, unsigned width, uint64_t *out);

#endif
