/* Loads the DLL as ctypes does, solves two small problems with it, one of them with two threads, and prints the
   answers: `make native-windows` runs it under Wine. It also asks for the memory of its own process and for a list
   of all, with the calls and records of treeml/system/windows_memory.py. */
#include <windows.h>

#include <psapi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tlhelp32.h>

_Static_assert (sizeof (PROCESS_MEMORY_COUNTERS) == 72 && offsetof (PROCESS_MEMORY_COUNTERS, WorkingSetSize) == 16,
                "MemoryCounters of windows_memory.py");
_Static_assert (sizeof (PROCESSENTRY32W) == 568 && offsetof (PROCESSENTRY32W, th32ProcessID) == 8 &&
                    offsetof (PROCESSENTRY32W, th32ParentProcessID) == 32,
                "ProcessEntry of windows_memory.py");

static HMODULE library;

/* Through an integer, since ISO C does not convert pointers to functions. */
#define FUNCTION(TYPE, NAME) ((TYPE) (uintptr_t) GetProcAddress (library, NAME))

typedef void *make_function (void);
typedef int tests_function (void *, const uint8_t *, int32_t, int32_t, const int32_t *);
typedef int labels_function (void *, const int32_t *, int32_t, const int64_t *);
typedef int set_function (void *, const char *, int64_t);
typedef int solve_function (void *);
typedef int64_t value_function (const void *);

static int solve (int32_t tests, int32_t rows, const uint8_t *bits, const int32_t *labels, int depth, int threads) {
  void *solver = FUNCTION (make_function *, "treeml_create") ();
  set_function *set = FUNCTION (set_function *, "treeml_set");
  int code = FUNCTION (tests_function *, "treeml_tests") (solver, bits, tests, rows, NULL);
  code |= FUNCTION (labels_function *, "treeml_labels") (solver, labels, 2, NULL);
  code |= set (solver, "depth", depth) | set (solver, "threads", threads);
  code |= FUNCTION (solve_function *, "treeml_solve") (solver);
  if (code)
    return 1;
  printf ("%d errors, bound %d\n", (int) FUNCTION (value_function *, "treeml_value") (solver),
          (int) FUNCTION (value_function *, "treeml_bound") (solver));
  FUNCTION (void (*) (void *), "treeml_destroy") (solver);
  return 0;
}

static int watch_memory (void) {
  PROCESS_MEMORY_COUNTERS counters = {.cb = sizeof counters};
  const HMODULE kernel = GetModuleHandleA ("kernel32");
  typedef WINBOOL WINAPI memory_function (HANDLE, PROCESS_MEMORY_COUNTERS *, DWORD);
  memory_function *memory = (memory_function *) (uintptr_t) GetProcAddress (kernel, "K32GetProcessMemoryInfo");
  const HANDLE process = OpenProcess (0x1000, 0, GetCurrentProcessId ());
  if (!memory || !process || !memory (process, &counters, sizeof counters) || counters.WorkingSetSize < 100000)
    return 1;
  CloseHandle (process);
  const HANDLE snapshot = CreateToolhelp32Snapshot (2, 0);
  PROCESSENTRY32W entry = {.dwSize = sizeof entry};
  int own = 0;
  for (WINBOOL more = Process32FirstW (snapshot, &entry); more; more = Process32NextW (snapshot, &entry))
    own |= entry.th32ProcessID == GetCurrentProcessId ();
  CloseHandle (snapshot);
  printf (own ? "memory and processes known\n" : "this process is not listed\n");
  return !own;
}

int main (int count, char **arguments) {
  enum { tests = 12, rows = 200 };
  static const uint8_t few_bits[] = {0, 0, 1, 1, 0, 1, 0, 1};
  static const int32_t few_labels[] = {0, 1, 1, 0};
  static uint8_t bits[tests * rows];
  static int32_t labels[rows];
  library = count == 2 ? LoadLibraryA (arguments[1]) : NULL;
  if (!library)
    return 2;
  uint32_t state = 7;
  for (int i = 0; i < tests * rows; i++)
    bits[i] = (state = state * 1664525u + 1013904223u) >> 31;
  for (int i = 0; i < rows; i++)
    labels[i] = bits[i] ^ (bits[rows + i] & bits[2 * rows + i]) ^ (i % 16 == 0);
  return solve (2, 4, few_bits, few_labels, 2, 1) || solve (tests, rows, bits, labels, 4, 2) || watch_memory ();
}
