/* Time as all limits measure it: seconds since some fixed moment, never running backwards. */
#ifndef TREEML_CLOCK_H
#define TREEML_CLOCK_H

double clock_seconds (void);

#endif
