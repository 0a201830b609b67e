/* For any processor: registers of 16 bytes, which every compiler can make of something. */
#define KERNEL "portable"
#define VECTOR 16
#define SET numeric_portable
#include "numeric_kernel_all.h"
