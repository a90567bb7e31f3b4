#include "store/bitpack.h"

#include <endian.h>
#include <string.h>

static inline uint64_t load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

/* Value i of a group starts at bit i * W. `W` is a literal everywhere below, so every shift and branch here is decided
 * by the compiler; the double shift avoids a shift by 64. */
#define PUT(W, i)                                                            \
    do {                                                                     \
        word[(i) * (W) / 64] |= in[i] << ((i) * (W) % 64);                   \
        if ((i) * (W) % 64 + (W) > 64)                                       \
            word[(i) * (W) / 64 + 1] |= in[i] >> 1 >> (63 - (i) * (W) % 64); \
    } while (0)
#define GET(W, i) out[i] = load64(in + (i) * (W) / 8) >> ((i) * (W) % 8) & mask

#define WIDTH(W)                                                            \
    static void pack_##W(const uint64_t *in, size_t groups, uint8_t *out)   \
    {                                                                       \
        for (; groups; groups--, in += 8, out += (W)) {                     \
            uint64_t word[((W) + 7) / 8 + 1] = {0};                         \
            PUT(W, 0);                                                      \
            PUT(W, 1);                                                      \
            PUT(W, 2);                                                      \
            PUT(W, 3);                                                      \
            PUT(W, 4);                                                      \
            PUT(W, 5);                                                      \
            PUT(W, 6);                                                      \
            PUT(W, 7);                                                      \
            for (size_t k = 0; k < sizeof word / sizeof word[0]; k++)       \
                word[k] = htole64(word[k]);                                 \
            memcpy(out, word, (W));                                         \
        }                                                                   \
    }                                                                       \
    static void unpack_##W(const uint8_t *in, size_t groups, uint64_t *out) \
    {                                                                       \
        const uint64_t mask = (UINT64_C(1) << (W)) - 1;                     \
        for (; groups; groups--, in += (W), out += 8) {                     \
            GET(W, 0);                                                      \
            GET(W, 1);                                                      \
            GET(W, 2);                                                      \
            GET(W, 3);                                                      \
            GET(W, 4);                                                      \
            GET(W, 5);                                                      \
            GET(W, 6);                                                      \
            GET(W, 7);                                                      \
        }                                                                   \
    }

/* clang-format off */
#define WIDTHS(X) \
    X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) \
    X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) \
    X(29) X(30) X(31) X(32) X(33) X(34) X(35) X(36) X(37) X(38) X(39) X(40) X(41) X(42) \
    X(43) X(44) X(45) X(46) X(47) X(48) X(49) X(50) X(51) X(52) X(53) X(54) X(55) X(56)
/* clang-format on */
WIDTHS(WIDTH)

#define PACK_OF(W) pack_##W,
#define UNPACK_OF(W) unpack_##W,
static void (*const packers[57])(const uint64_t *, size_t, uint8_t *) = {NULL, WIDTHS(PACK_OF)};
static void (*const unpackers[57])(const uint8_t *, size_t, uint64_t *) = {NULL, WIDTHS(UNPACK_OF)};

void hs_pack(const uint64_t *in, size_t n, unsigned width, uint8_t *out)
{
    size_t groups = (n + 7) / 8;
    if (width >= 1 && width <= 56) {
        packers[width](in, groups, out);
    } else if (width == 64) {
        for (size_t i = 0; i < groups * 8; i++) {
            uint64_t v = htole64(in[i]);
            memcpy(out + i * 8, &v, 8);
        }
    }
}

void hs_unpack(const uint8_t *in, size_t n, unsigned width, uint64_t *out)
{
    size_t groups = (n + 7) / 8;
    if (width >= 1 && width <= 56) {
        unpackers[width](in, groups, out);
    } else if (width == 64) {
        for (size_t i = 0; i < groups * 8; i++)
            out[i] = load64(in + i * 8);
    } else {
        memset(out, 0, groups * 8 * sizeof *out);
    }
}
