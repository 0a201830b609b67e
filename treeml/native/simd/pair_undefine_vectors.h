/* Removes the definitions of the compiler's own vectors for one lane width, so that those of the next width can follow.
 */
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
#undef BROADCAST
#undef HIGHEST
