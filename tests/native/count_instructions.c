/* A plugin of QEMU 7 and 8 that prints how many instructions a program executed: unlike time, the same on every
   machine. QEMU's header is not packaged, so the few functions that are used are declared here. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

struct qemu_plugin_tb;
typedef void block_function (uint64_t, struct qemu_plugin_tb *);
typedef void end_function (uint64_t, void *);
void qemu_plugin_register_vcpu_tb_trans_cb (uint64_t, block_function *);
size_t qemu_plugin_tb_n_insns (const struct qemu_plugin_tb *);
void qemu_plugin_register_vcpu_tb_exec_inline (struct qemu_plugin_tb *, int operation, void *, uint64_t);
void qemu_plugin_register_atexit_cb (uint64_t, end_function *, void *);

int qemu_plugin_version = 1;
static uint64_t executed;

static void count_block (uint64_t id, struct qemu_plugin_tb *block) {
  enum { add = 0 };
  (void) id;
  qemu_plugin_register_vcpu_tb_exec_inline (block, add, &executed, qemu_plugin_tb_n_insns (block));
}

static void report (uint64_t id, void *unused) {
  (void) id;
  (void) unused;
  fprintf (stderr, "%" PRIu64 "\n", executed);
}

int qemu_plugin_install (uint64_t id, const void *info, int count, char **arguments) {
  (void) info;
  (void) count;
  (void) arguments;
  qemu_plugin_register_vcpu_tb_trans_cb (id, count_block);
  qemu_plugin_register_atexit_cb (id, report, NULL);
  return 0;
}
