/* Removes the definitions for one lane width, so that those of the next width can follow. */
#undef BITS
#undef LANES
#undef T
#undef ADD
#undef SUB
#undef SET
#undef BROADCAST
#undef ABS
#undef MAX
#undef KEEP
#undef POPCOUNT
#undef CHOOSE
#undef HIGHEST
