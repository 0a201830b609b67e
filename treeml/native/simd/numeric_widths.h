/* The sweeps of one instruction set for cells of 16, 32 and 64 bits: included with SET, KERNEL and VECTOR defined. */
#include "simd/lanes.h"
#include "simd/numeric_kernel.h"

#define JOIN_(A, B) A##_##B
#define JOIN(A, B) JOIN_ (A, B)

#define CELL int16_t
#define NUMERIC_CELL 16
#define NAME(X) JOIN (X, 16)
#include "simd/numeric_body.h"
#undef CELL
#undef NUMERIC_CELL
#undef NAME

#define CELL int32_t
#define NUMERIC_CELL 32
#define NAME(X) JOIN (X, 32)
#include "simd/numeric_body.h"
#undef CELL
#undef NUMERIC_CELL
#undef NAME

#define CELL int64_t
#define NUMERIC_CELL 64
#define NAME(X) JOIN (X, 64)
#include "simd/numeric_body.h"
#undef CELL
#undef NUMERIC_CELL
#undef NAME

const struct numeric_kernel *SET (int cell) { return cell == 2 ? &table_16 : cell == 4 ? &table_32 : &table_64; }
