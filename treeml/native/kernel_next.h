/* Forgets what an instruction set defines for one lane width before the next. */
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
