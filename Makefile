# Two commands do all set-up on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard treeml/native/*.c treeml/native/*.h) treeml/native/CMakeLists.txt CMakeLists.txt
SANITIZED := build/sanitized

.PHONY: demo test slow-share lint docs bench fuzz clean native-sanitized

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
native-sanitized: $(VENV)/.installed
	$(BIN)/cmake -S . -B $(SANITIZED) -DTREEML_SANITIZE=address,undefined -DTREEML_CHECK=ON \
	  -DTREEML_OUTPUT=$(CURDIR)/$(SANITIZED) -DCMAKE_C_FLAGS=-Werror
	$(BIN)/cmake --build $(SANITIZED) --parallel 2
	LD_PRELOAD=$$($(CC) -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 \
	  TREEML_LIBRARY=$(CURDIR)/$(SANITIZED)/libtreeml_native.so $(BIN)/python -m pytest tests/native tests/numeric

clean:
	rm -rf $(VENV) build dist treeml/native/*.so
