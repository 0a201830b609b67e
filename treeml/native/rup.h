/* A checker of clausal proofs by reverse unit propagation (DRUP). It shares no code with any solver.
 *
 * A clause follows by reverse unit propagation if making all its literals false leads, by unit propagation alone, to a
 * clause with no literal left. A proof is a list of such clauses, each allowed to use those before it, with deletions
 * in between, and ends in the empty clause. Deletions of clauses that are reasons of top-level units are ignored, as is
 * usual: that can only keep more clauses, and what follows by propagation follows.
 *
 *   char message[200];
 *   int code = treeml_rup_check("p cnf 1 2\n1 0\n-1 0\n", 20, "0\n", 2, message, sizeof message);   -> 0
 */
#ifndef TREEML_RUP_H
#define TREEML_RUP_H

#include <stddef.h>

#if defined(_WIN32)
#define TREEML_RUP_API __declspec(dllexport)
#else
#define TREEML_RUP_API __attribute__((visibility("default")))
#endif

enum {
  TREEML_RUP_PROVED = 0,   /* every step follows, and the last is the empty clause */
  TREEML_RUP_WRONG = 1,    /* a step does not follow, or the empty clause is never reached */
  TREEML_RUP_SYNTAX = 2,   /* the clauses or the proof are not what they should be */
  TREEML_RUP_MEMORY = 3
};

TREEML_RUP_API int treeml_rup_check(const char *clauses, size_t clauses_size, const char *proof, size_t proof_size,
                                    char *message, size_t message_size);

#endif
