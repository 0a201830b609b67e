# Two commands do all set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard treeml/native/*.h treeml/native/*/*.[ch]) treeml/native/CMakeLists.txt CMakeLists.txt
SANITIZED := build/sanitized
THREADED := build/threads
# Every test that is about the C code alone; those of back-ends that call it are run without sanitizers.
NATIVE_TESTS := tests/native tests/numeric tests/solvers/test_rup.py tests/solvers/test_cover_states.py \
  tests/backends/improve/test_shallow.py tests/forests/test_pairs.py tests/certificates/test_checkers.py

.PHONY: certificate-attack demo test slow-share lint docs bench fuzz clean native-sanitized native-fuzz native-threads

$(VENV)/.installed: pyproject.toml $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

demo: $(VENV)/.installed
	@echo "The spec, examples/plain/plain.tml:" && sed 's/^/    /' examples/plain/plain.tml && echo
	@$(BIN)/treeml compare examples/plain/plain.tml --within 20s

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2

# Slow tests for as long as SLOW_MINUTES, in an order that each commit shuffles anew: all have their turn in time.
SLOW_MINUTES ?= 8
slow-share: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 --slow-minutes $(SLOW_MINUTES) --slow-order "$$(git rev-parse HEAD 2>/dev/null)"

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')

# The site, without a warning, into build/site.
docs: $(VENV)/.installed
	$(BIN)/python -m mkdocs build --strict --quiet

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks

# Every goal with every requirement on every back-end, against an oracle and each other; SEED=7 repeats a run. Faults
# leave folders in build/found that show them again.
MINUTES ?= 10
fuzz: $(VENV)/.installed
	$(BIN)/python -m treeml.testing.attack --minutes $(MINUTES) --into build/found $(if $(SEED),--seed $(SEED))

# The C code once more, with every warning an error and under AddressSanitizer and UBSan. Python itself is not built
# for them, so the runtime is loaded first and leaks of the interpreter are not counted.
UNDER_SANITIZERS = LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TREEML_LIBRARY=$(CURDIR)/$(SANITIZED)/libtreeml_native.so

$(SANITIZED)/libtreeml_native.so: $(VENV)/.installed $(NATIVE)
	$(BIN)/cmake -S . -B $(SANITIZED) -DTREEML_SANITIZE=address,undefined -DTREEML_CHECK=ON \
	  -DTREEML_OUTPUT=$(CURDIR)/$(SANITIZED) -DCMAKE_C_FLAGS=-Werror
	$(BIN)/cmake --build $(SANITIZED) --parallel 2
	touch $@

native-sanitized: $(SANITIZED)/libtreeml_native.so
	$(UNDER_SANITIZERS) $(BIN)/python -m pytest $(NATIVE_TESTS)

# Random calls of every C entry point under the same sanitizers; SEED=7 repeats a run. What runs when it crashes is named
# in build/native-fuzz.
SECONDS ?= 60
native-fuzz: $(SANITIZED)/libtreeml_native.so
	$(UNDER_SANITIZERS) PYTHONMALLOC=malloc $(BIN)/python tests/native/fuzz_entry_points.py --seconds $(SECONDS) \
	  --at build/native-fuzz $(if $(SEED),--seed $(SEED)) || { cat build/native-fuzz; exit 1; }

# A share of the searches with several threads under ThreadSanitizer, which looks at nothing but the C code.
# It needs addresses that are not drawn at random, where the system may grant that.
FIXED_ADDRESSES = $(shell setarch -R true 2>/dev/null && echo setarch -R)
native-threads: $(VENV)/.installed
	$(BIN)/cmake -S . -B $(THREADED) -DTREEML_SANITIZE=thread -DTREEML_OUTPUT=$(CURDIR)/$(THREADED) -DCMAKE_C_FLAGS=-Werror
	$(BIN)/cmake --build $(THREADED) --parallel 2
	LD_PRELOAD=$$($(CC) -print-file-name=libtsan.so) TSAN_OPTIONS=halt_on_error=1 \
	  TREEML_LIBRARY=$(CURDIR)/$(THREADED)/libtreeml_native.so \
	  $(FIXED_ADDRESSES) $(BIN)/python tests/native/share_of_threads.py $(if $(SEED),--seed $(SEED))

# Attempts to have a false certificate accepted, and damaged files under sanitizers; SEED=7 repeats a run.
ATTEMPTS ?= 100000
certificate-attack: $(VENV)/.installed
	mkdir -p build
	$(CC) -O2 checker/checker.c -o build/checker -lm
	$(BIN)/python tests/certificates/certificate_attack.py --attempts $(ATTEMPTS) --program build/checker $(if $(SEED),--seed $(SEED))
	$(CC) -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all checker/checker.c -o build/checker-sanitized -lm
	ASAN_OPTIONS=detect_leaks=0 $(BIN)/python tests/certificates/certificate_attack.py --attempts 0 --damaged 10000 \
	  --program build/checker-sanitized $(if $(SEED),--seed $(SEED))

clean:
	rm -rf $(VENV) build dist treeml/native/*.so
