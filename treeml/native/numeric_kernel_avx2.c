/* For AVX2; the rest of the library is compiled without it, and the choice is made at run time. */
#if defined(__x86_64__) && defined(__GNUC__)
#ifdef __clang__
#pragma clang attribute push(__attribute__ ((target ("avx2,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx2,popcnt")
#endif
#include <immintrin.h>
#define NUMERIC_AVX2
#define KERNEL "avx2"
#define VECTOR 32
#define SET numeric_avx2
#include "numeric_kernel_all.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int no_avx2;
#endif
