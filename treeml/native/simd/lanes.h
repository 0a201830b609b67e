/* Vectors of GCC and Clang, or else vectors of one lane, which are plain numbers: loops written for the first work with
   the second. Conditions on vectors have all bits set where they hold, and so have those on one number here. */
#ifndef TREEML_SIMD_LANES_H
#define TREEML_SIMD_LANES_H

#include "common/bits.h"

#ifdef TREEML_EXTENDED_C

#define DEFINE_LANES(NAME, TYPE, BYTES, ALIGNMENT) \
  typedef TYPE NAME __attribute__ ((vector_size (BYTES), aligned (ALIGNMENT), may_alias))
#define HOLDS(TYPE, CONDITION) ((TYPE) (CONDITION))
#define LANE(VECTOR, NUMBER) ((VECTOR)[NUMBER])
#define CONVERTED(VECTOR, TYPE) __builtin_convertvector (VECTOR, TYPE)
/* A number where a condition holds, and another one, or 0, elsewhere; MASK is its type. */
#define EITHER(TYPE, MASK, CONDITION, A, B) ((TYPE) (((CONDITION) & (MASK) (A)) | (~(CONDITION) & (MASK) (B))))
#define WHERE(TYPE, MASK, CONDITION, A) ((TYPE) ((CONDITION) & (MASK) (A)))

#else

#define DEFINE_LANES(NAME, TYPE, BYTES, ALIGNMENT) typedef TYPE NAME
#define HOLDS(TYPE, CONDITION) ((TYPE) - (CONDITION))
#define LANE(VECTOR, NUMBER) ((void) (NUMBER), (VECTOR))
#define CONVERTED(VECTOR, TYPE) ((TYPE) (VECTOR))
#define EITHER(TYPE, MASK, CONDITION, A, B) ((CONDITION) ? (TYPE) (A) : (TYPE) (B))
#define WHERE(TYPE, MASK, CONDITION, A) ((CONDITION) ? (TYPE) (A) : 0)

#endif

#endif
