/* Integers of 128 bits, for products of 64-bit numbers. ISO C has none; GCC and Clang do. */
#ifndef TREEML_WIDE_H
#define TREEML_WIDE_H

__extension__ typedef __int128 wide;

#endif
