/* The sweeps of the numeric search for any processor, with the compiler's own vectors of 16 bytes if it has them.
 */
#define KERNEL "portable"
#define VECTOR 16
#define SET numeric_portable
#include "simd/numeric_widths.h"
