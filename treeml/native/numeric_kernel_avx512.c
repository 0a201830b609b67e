/* For AVX-512 with byte, word and compress instructions; chosen at run time. */
#if defined(__x86_64__) && defined(__GNUC__)
#ifdef __clang__
#pragma clang attribute push(__attribute__ ((target ("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt")
#endif
#include <immintrin.h>
#define NUMERIC_AVX512
#define KERNEL "avx512"
#define VECTOR 64
#define SET numeric_avx512
#include "numeric_kernel_all.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#else
typedef int no_avx512;
#endif
