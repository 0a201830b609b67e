/* Compares the integers of 128 bits of GCC and Clang with those of C23, which common/wide.h falls back to, on random
   numbers of every length: sums, products, quotients, remainders, shifts, comparisons, and as real numbers. Prints how
   many calculations agree; ends with 1 at the first that does not. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
typedef _BitInt (128) other_wide;
typedef unsigned _BitInt (128) other_unsigned;

static uint64_t state = 88172645463325252u;

static uint64_t draw (void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

/* A number of 1 to 128 bits. */
static unsigned_wide number (void) { return ((unsigned_wide) draw () << 64 | draw ()) >> (draw () >> 20) % 128; }

static int64_t agreed;

static void same (unsigned_wide one, other_unsigned two, int what) {
  if ((uint64_t) one == (uint64_t) two && (uint64_t) (one >> 64) == (uint64_t) (two >> 64)) {
    agreed++;
    return;
  }
  printf ("calculation %d differs\n", what);
  fflush (stdout);
  _Exit (1);
}

static other_unsigned other (unsigned_wide from) {
  return (other_unsigned) (uint64_t) (from >> 64) << 64 | (uint64_t) from;
}

static void compare_reals (wide a, other_wide b) {
  const double one = (double) a, two = (double) b;
  uint64_t bits[2];
  memcpy (bits, &one, sizeof one);
  memcpy (bits + 1, &two, sizeof two);
  same (bits[0], bits[1], 0);
}

static void compare_unsigned (unsigned_wide a, unsigned_wide b) {
  const other_unsigned c = other (a), d = other (b);
  same (a + b, c + d, 1);
  same (a - b, c - d, 2);
  same (a * b, c * d, 3);
  same (a < b, c < d, 4);
  if (b) {
    same (a / b, c / d, 5);
    same (a % b, c % d, 6);
  }
  const int by = (int) (draw () >> 30) % 128;
  same (a << by, c << by, 7);
  same (a >> by, c >> by, 8);
}

static void compare_signed (wide a, wide b) {
  const other_wide c = (other_wide) other ((unsigned_wide) a), d = (other_wide) other ((unsigned_wide) b);
  same (a < b, c < d, 9);
  same (a <= b, c <= d, 10);
  /* Halves, so that nothing overflows, which would be undefined. */
  const wide e = a / 2, f = b / 2, g = (int64_t) a, h = (int64_t) b;
  const other_wide i = c / 2, j = d / 2, k = (int64_t) c, l = (int64_t) d;
  same ((unsigned_wide) (e + f), (other_unsigned) (i + j), 11);
  same ((unsigned_wide) (e - f), (other_unsigned) (i - j), 12);
  same ((unsigned_wide) (g * h), (other_unsigned) (k * l), 13);
  same ((unsigned_wide) -e, (other_unsigned) -i, 14);
  same ((unsigned_wide) (a >> 7), (other_unsigned) (c >> 7), 15);
  if (f) {
    same ((unsigned_wide) (e / f), (other_unsigned) (i / j), 16);
    same ((unsigned_wide) (e % f), (other_unsigned) (i % j), 17);
  }
  if (h) {
    same ((unsigned_wide) (e / h), (other_unsigned) (i / l), 18);
    same ((unsigned_wide) (e % h), (other_unsigned) (i % l), 19);
  }
  compare_reals (a, c);
}

int main (void) {
  const unsigned_wide ends[] = {0, 1, 2, INT64_MAX, UINT64_MAX, (unsigned_wide) 1 << 64, (unsigned_wide) 1 << 126};
  enum { count = sizeof ends / sizeof *ends };
  for (int i = 0; i < 200000; i++) {
    const unsigned_wide a = i < count * count ? ends[i / count] : number (),
                        b = i < count * count ? ends[i % count] : number ();
    compare_unsigned (a, b);
    compare_signed ((wide) (draw () & 1 << 20 ? a : 0 - a), (wide) (draw () & 1 << 20 ? b : 0 - b));
  }
  printf ("%lld calculations with 128 bits agree\n", (long long) agreed);
  return 0;
}
