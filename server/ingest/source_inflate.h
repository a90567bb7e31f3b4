/* Raw deflate, by ISA-L where it was there at build time (three times as fast) and by zlib everywhere. Tests hold the twins
 * equal byte for byte on sound input, to within one match (258 bytes) where it is cut or damaged; ISA-L accepts a few
 * malformed codes that zlib refuses, so it may notice damage later, at the checksum. */
#ifndef HS_INGEST_SOURCE_INFLATE_H
#define HS_INGEST_SOURCE_INFLATE_H

#include <stddef.h>
#include <stdint.h>

enum hs_inflate_status {
    HS_INFLATE_MORE, /* used up all input, or filled all output */
    HS_INFLATE_END,  /* the stream is complete */
    HS_INFLATE_BAD   /* damaged; what was written before is good */
};

struct hs_inflate_ops {
    const char *name;
    void *(*create)(void);
    void (*reset)(void *z); /* at the start of a deflate stream */
    /* Moves *in and *out. At HS_INFLATE_END *in is the first byte behind the stream, which may be up to 8 bytes before where
     * it stood at the call: the caller keeps the last 8 bytes of earlier input in front of it. */
    enum hs_inflate_status (*run)(void *z, const unsigned char **in, const unsigned char *in_end, unsigned char **out,
                                  unsigned char *out_end);
    uint32_t (*crc)(uint32_t crc, const unsigned char *p, size_t n); /* CRC-32 of gzip, 0 to begin with */
    void (*destroy)(void *z);
};

extern const struct hs_inflate_ops hs_inflate_zlib;
#ifdef HS_HAVE_ISAL
extern const struct hs_inflate_ops hs_inflate_isal;
#endif
extern const struct hs_inflate_ops *const hs_inflate_best;

#endif
