/* Forgets the definitions for one lane width before those of the next. */
#undef BITS
#undef LANES
#undef T
#undef V
#undef LOAD
#undef STORE
#undef STORE_UNALIGNED
#undef ADD
#undef SUB
#undef SET
#undef ZERO
#undef ABS
#undef MAX
#undef KEEP
#undef POPCOUNT
#undef CHOOSE
