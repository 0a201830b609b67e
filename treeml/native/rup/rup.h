/* rup/: a checker of clausal proofs by reverse unit propagation (DRUP). It shares no code with any solver except the
   functions that allocate memory.

   A clause follows by reverse unit propagation if making all its literals false leads, by unit propagation alone, to a
   clause with no literal left. A proof is a list of such clauses, each of which may use the previous ones, with
   deletions in between, and ends with the empty clause. Deletions of clauses that are reasons of top-level units are
   ignored, as is usual: more clauses never make a wrong step follow.

     char message[200];
     int code = treeml_rup_check ("p cnf 1 2\n1 0\n-1 0\n", 20, "0\n", 2, message, sizeof message);
     -> 0 */
#ifndef TREEML_RUP_H
#define TREEML_RUP_H

#include "treeml.h"

#include <stddef.h>

enum {
  TREEML_RUP_PROVED = 0, /* every step follows, and the last one is the empty clause */
  TREEML_RUP_WRONG = 1,  /* a step does not follow, or the empty clause is never reached */
  TREEML_RUP_SYNTAX = 2, /* the clauses or the proof cannot be read */
  TREEML_RUP_MEMORY = 3
};

TREEML_PUBLIC int treeml_rup_check (const char *clauses, size_t clauses_size, const char *proof, size_t proof_size,
                                    char *message, size_t message_size);

#endif
