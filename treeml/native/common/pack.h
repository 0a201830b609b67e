/* Bytes of 0 and 1 -> bits. */
#ifndef TREEML_PACK_H
#define TREEML_PACK_H

#include "common/bits.h"

#include <string.h>

/* Packs bytes of 0 or 1 into bits, the first byte into the lowest bit. One multiplication packs eight bytes.
   Returns 0 if a byte is neither. */
static inline int pack_bits (const uint8_t *bytes, int64_t count, uint64_t *words) {
  const uint64_t ones = 0x0101010101010101u;
  uint64_t strange = 0;
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    uint64_t word = 0;
    for (int part = 0; part < 8; part++) {
      uint64_t eight = 0;
      memcpy (&eight, bytes + i + 8 * part, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
      eight = reverse_bytes (eight);
#endif
      strange |= eight & ~ones;
      word |= (eight * 0x0102040810204080u >> 56) << (8 * part);
    }
    *words++ = word;
  }
  if (i < count) {
    uint64_t word = 0;
    for (int64_t k = 0; i + k < count; k++) {
      strange |= bytes[i + k] & 254u;
      word |= (uint64_t) (bytes[i + k] & 1) << k;
    }
    *words = word;
  }
  return strange == 0;
}

#endif
