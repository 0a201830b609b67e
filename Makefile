# Two commands do all set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
NATIVE := $(wildcard treeml/native/*.h treeml/native/*/*.[ch]) treeml/native/CMakeLists.txt CMakeLists.txt
SANITIZED := build/sanitized
THREADED := build/threads
# Every test that is about the C code alone; those of back-ends that call it are run without sanitizers.
NATIVE_TESTS := tests/native tests/numeric tests/solvers/test_rup.py tests/solvers/test_cover_states.py \
  tests/backends/improve/test_shallow.py tests/forests/test_pairs.py tests/certificates
# Orders tests of which only a share is run: another commit, another share, so that all have their turn in time.
COMMIT = $$(git rev-parse HEAD 2>/dev/null)
# Compiled modules are kept in the checkout and in $(VENV), also where the environment switches that off: otherwise every
# start of the command compiles all it imports again, which takes longer than a small solve.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: certificate-attack demo test slow-share lint docs vscode bench fuzz clean native-sanitized native-fuzz native-threads \
  wheel sdist wheel-check native-arm native-windows native-compilers native-alone

INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# What a user has. Modules are compiled when they are first imported, which is a small part of them.
$(VENV)/.runtime: pyproject.toml $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile --editable .
	touch $@

# The same and the developers' tools.
$(VENV)/.installed: pyproject.toml $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable '.[dev]'
	touch $(VENV)/.runtime $@

# A spec that every exact back-end but the exhaustive one proves within seconds.
DEMO := examples/perfect/perfect.tml
demo: $(VENV)/.runtime
	@echo "The spec, $(DEMO):" && sed 's/^/    /' $(DEMO) && echo
	@$(BIN)/treeml compare $(DEMO) --within 20s

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2

# Slow tests for as long as SLOW_MINUTES.
SLOW_MINUTES ?= 8
slow-share: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 --slow-minutes $(SLOW_MINUTES) --order "$(COMMIT)"

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $$(git ls-files '*.c' '*.h')

# The site, without a warning, into build/site.
docs: $(VENV)/.installed
	$(BIN)/python -m mkdocs build --strict --quiet

# The VS Code extension, into editors/vscode/treeml.vsix; npm fetches what it needs, and nothing of that is kept.
vscode:
	cd editors/vscode && npm install --no-package-lock --no-audit --no-fund --loglevel=error && npm run package

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks

# Every goal with every requirement on every back-end, against an oracle and each other; SEED=7 repeats a run. A quarter of
# the time is for requirements that couple the leaves. Faults leave files in build/found that show them again.
MINUTES ?= 10
QUARTER = $(shell $(BIN)/python -c "print($(MINUTES) / 4)")
REST = $(shell $(BIN)/python -c "print($(MINUTES) * 3 / 4)")
fuzz: $(VENV)/.installed
	$(BIN)/python -m treeml.testing.coupled --minutes $(QUARTER) --into build/found $(if $(SEED),--seed $(SEED))
	$(BIN)/python -m treeml.testing.attack --minutes $(REST) --into build/found \
	  $(if $(SEED),--seed $(SEED))

# The C code once more, with every warning an error and under AddressSanitizer and UBSan. Python itself is not built
# for them, so the runtime is loaded first and leaks of the interpreter are not counted.
# Exceptions of solvers in C++ pass through the sanitizer only if it finds their library when it starts.
UNDER_SANITIZERS = LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libstdc++.so.6)" \
  ASAN_OPTIONS=detect_leaks=0 \
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 TREEML_LIBRARY=$(CURDIR)/$(SANITIZED)/libtreeml_native.so

$(SANITIZED)/libtreeml_native.so: $(VENV)/.installed $(NATIVE)
	$(BIN)/cmake -S . -B $(SANITIZED) -DTREEML_SANITIZE=address,undefined -DTREEML_CHECK=ON \
	  -DTREEML_OUTPUT=$(CURDIR)/$(SANITIZED) -DCMAKE_C_FLAGS=-Werror
	$(BIN)/cmake --build $(SANITIZED) --parallel 2
	touch $@

native-sanitized: $(SANITIZED)/libtreeml_native.so
	$(UNDER_SANITIZERS) $(BIN)/python -m pytest -n 2 $(NATIVE_TESTS)

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
	$(CC) -O2 checker/checker.c -o build/checker
	$(BIN)/python tests/certificates/certificate_attack.py --attempts $(ATTEMPTS) --program build/checker $(if $(SEED),--seed $(SEED))
	$(CC) -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all checker/checker.c -o build/checker-sanitized
	ASAN_OPTIONS=detect_leaks=0 $(BIN)/python tests/certificates/certificate_attack.py --attempts 0 --damaged 10000 \
	  --program build/checker-sanitized $(if $(SEED),--seed $(SEED))

# One wheel for every Python of this platform, in dist/. auditwheel names the oldest C library that it runs with.
wheel: $(VENV)/.installed
	rm -rf dist/raw
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist/raw .
	rm -f dist/treeml-*.whl
	PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/auditwheel repair --wheel-dir dist dist/raw/treeml-*.whl
	rm -rf dist/raw

sdist: $(VENV)/.installed
	$(BIN)/python -m build --sdist --outdir dist .

# The wheel in an empty environment without a compiler runs the tutorial, and without any solver it runs `native`; the
# source distribution builds without a network.
wheel-check: wheel sdist
	$(BIN)/python tests/packaging/check_distributions.py dist

# `native` with its own packages and no solver, in an environment of its own, and a share of its tests. That is all that
# free-threaded Pythons and musl can install: some solvers have no wheels for them.
ALONE := build/alone
ALONE_BIN := $(ALONE)/$(notdir $(BIN))
ALONE_MINUTES ?= 4
native-alone:
	$(PYTHON) -m venv $(ALONE)
	$(ALONE_BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	$(ALONE_BIN)/python -m pip install --quiet --disable-pip-version-check numpy lark polars narwhals click rich \
	  pytest pytest-timeout hypothesis
	$(ALONE_BIN)/python tests/packaging/native_alone.py
	$(ALONE_BIN)/python -m pytest --quick-minutes $(ALONE_MINUTES) --order "$(COMMIT)" tests/native tests/numeric

# Cross-builds. They need Debian's packages gcc-aarch64-linux-gnu and qemu-user, or gcc-mingw-w64-x86-64 and, to load
# what was built, wine64. Under the emulator a test takes ten times as long: ARM_TESTS run there for ARM_MINUTES, and
# every week all native tests do.
ARM := build/arm
ARM_MINUTES ?= 1.5
ARM_TESTS ?= tests/native/test_native_sources.py tests/native/test_border.py tests/native/test_entry_points.py \
  tests/native/test_climb.py tests/native/test_coupled.py tests/numeric/test_numeric_kernels.py \
  tests/numeric/test_fees_of_many_digits.py tests/numeric/test_numeric_agreement.py
native-arm: $(VENV)/.installed
	$(BIN)/cmake -S . -B $(ARM) -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake -DTREEML_COMPARE=ON \
	  -DTREEML_OUTPUT=$(CURDIR)/$(ARM) -DCMAKE_C_FLAGS=-Werror
	$(BIN)/cmake --build $(ARM) --parallel 2
	$(BIN)/python tests/native/emulate_arm.py $(ARM) --quick-minutes $(ARM_MINUTES) --order "$(COMMIT)" $(ARM_TESTS)

WINDOWS := build/windows
native-windows: $(VENV)/.installed
	$(BIN)/cmake -S . -B $(WINDOWS) -DCMAKE_TOOLCHAIN_FILE=cmake/x86_64-w64-mingw32.cmake -DTREEML_COMPARE=ON \
	  -DTREEML_OUTPUT=$(CURDIR)/$(WINDOWS) -DCMAKE_C_FLAGS=-Werror
	$(BIN)/cmake --build $(WINDOWS) --parallel 2
	x86_64-w64-mingw32-gcc -O1 -Wall -Wextra -Werror tests/native/load_library.c -o $(WINDOWS)/load_library.exe
	$(BIN)/python tests/native/load_under_wine.py $(WINDOWS)

# Every C file with Clang, for this machine and, if the package `ziglang` is installed, for macOS on Apple silicon. Then
# the library by a compiler that keeps to ISO C, and native tests with it for PLAIN_MINUTES.
PLAIN := build/plain
PLAIN_MINUTES ?= 1
native-compilers: $(VENV)/.installed
	$(BIN)/python tests/native/other_compilers.py
	$(BIN)/cmake -S . -B $(PLAIN) -DCMAKE_C_COMPILER=clang -DTREEML_PLAIN_C=ON -DTREEML_OUTPUT=$(CURDIR)/$(PLAIN) \
	  -DCMAKE_C_FLAGS=-Werror
	$(BIN)/cmake --build $(PLAIN) --parallel 2
	TREEML_LIBRARY=$(CURDIR)/$(PLAIN)/libtreeml_native.so $(BIN)/python -m pytest -n 2 \
	  --quick-minutes $(PLAIN_MINUTES) --order "$(COMMIT)" $(NATIVE_TESTS)

clean:
	rm -rf $(VENV) build dist treeml/native/*.so
