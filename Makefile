# Every target works on a fresh clone with python3.11+, make and network access to PyPI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# What only the checks need comes on top.
DEV := $(VENV)/.installed-dev
DATA ?= ../shared/data
# Tests wait now and then, so three processes fill two cores.
PYTEST := $(BIN)/python -m pytest --numprocesses 3 --dist worksteal

.PHONY: demo test test-slow versitygw install lint format types check bench soak protos clean

demo: $(STAMP)  ## set everything up and tune on real data
	$(BIN)/svddtune demo

test: $(DEV)  ## the tests, against a real Redis-compatible server
	$(PYTEST)

test-slow: $(DEV) versitygw  ## those that take long: end to end, idle waits, installations
	$(PYTEST) -m slow

versitygw:  ## an S3-compatible server for the slow tests, if Go is there
	@test -x .tools/versitygw || { command -v go >/dev/null && GOTOOLCHAIN=local GOBIN=$(CURDIR)/.tools go install github.com/versity/versitygw/cmd/versitygw@v1.8.0; } || echo "No versitygw: tests with an S3-compatible server are skipped"

install: $(DEV)  ## set-up alone; leaves .venv/bin/svddtune

$(STAMP): pyproject.toml evaluation/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "svddtune needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "This python3 cannot make virtual environments; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) (once, about a minute) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-warn-script-location "pip>=25.1" -c constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all]' -e './evaluation[competitors]'
	@touch $(STAMP)

$(DEV): $(STAMP)
	@echo "Setting up what the checks need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group dev
	@touch $(DEV)

lint: $(DEV)  ## format, lint, strict types, import contracts
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(DEV)  ## blocking client and pictures generated anew, and all code formatted
	$(BIN)/python tools/generate_sync.py
	$(BIN)/python tools/draw_architecture.py
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: export SVDDTUNE_TEST_PROFILE = ci
check: lint versitygw  ## what CI runs: lint and all tests in one run
	$(PYTEST) -m ""

bench: $(DEV)  ## figures of docs/performance.md
	$(BIN)/python benchmarks/bench_numerics.py --data $(DATA)
	$(BIN)/python benchmarks/bench_session.py --strategy lama
	$(BIN)/python benchmarks/bench_session.py --strategy knowledge_gradient
	$(BIN)/python benchmarks/bench_streams.py --answers 3000
	$(BIN)/python benchmarks/bench_streams.py --idle 1000

soak: $(DEV)  ## half an hour of short sessions; fails if the memory of a process grows
	$(BIN)/python benchmarks/soak.py

protos: $(DEV)  ## generate the Python code beside the .proto files, and what tells of the settings
	$(BIN)/python tools/describe_settings.py
	$(BIN)/python tools/generate_protos.py

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache svddtune-demo
