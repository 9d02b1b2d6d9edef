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

.PHONY: demo test test-slow test-clients versitygw kustomize install lint format types check bench soak fuzz audit protos clean

demo: $(STAMP)  ## set everything up and tune on real data
	$(BIN)/svddtune demo
	@command -v svddtune >/dev/null || echo "So that your shell finds svddtune: . $(BIN)/activate"

test: $(DEV) console-packages  ## the tests, against a real Redis-compatible server
	$(PYTEST)

test-slow: $(DEV) versitygw kustomize test-tools browser console-packages  ## those that take long: end to end, idle waits, installations
	$(PYTEST) -m "slow and not packages"

.PHONY: test-servers
test-servers: $(DEV) servers  ## the tests of state on each Redis and Valkey, alone and as a Cluster
	$(BIN)/python -m tools.test_servers -m "not slow"

test-clients: $(DEV)  ## clients in other languages: build them, run their tests and their quickstarts
	$(PYTEST) -m "" tests/clients

# One interpreter of each minor version that pyenv or PATH has and that starts.
PYTHONS = $(shell for minor in 11 12 13 14 15; do for python in $(HOME)/.pyenv/versions/3.$$minor.*/bin/python3.$$minor python3.$$minor; do $$python -c '' 2>/dev/null && echo $$python && break; done; done)

.PHONY: test-packages
test-packages: $(DEV)  ## build the release files of the clients in other languages
	$(PYTEST) -m packages tests/release

.PHONY: test-pythons
test-pythons: export SVDDTUNE_TEST_PYTHONS = $(PYTHONS)
test-pythons: $(DEV)  ## install and tune on every Python of the machine, 3.11 and newer
	$(BIN)/python -m pytest -m slow tests/install/test_install.py -k another_python

versitygw:  ## an S3-compatible server for the slow tests, if Go is there
	@test -x .tools/versitygw || { command -v go >/dev/null && GOTOOLCHAIN=local GOBIN=$(CURDIR)/.tools go install github.com/versity/versitygw/cmd/versitygw@v1.8.0; } || echo "No versitygw: tests with an S3-compatible server are skipped"

kustomize:  ## for the slow tests of the files for Kubernetes, if Go is there
	@test -x .tools/kustomize || { command -v go >/dev/null && GOTOOLCHAIN=local GOBIN=$(CURDIR)/.tools go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1; } || echo "No Kustomize: tests of what it makes of deploy/kubernetes are skipped"

.PHONY: console console-packages browser
console: console-packages  ## build the pages that the service serves, from console/
	cd console && npm run --silent check && npm run --silent build

console-packages:  ## what builds and checks the console, if npm is there
	@if command -v npm >/dev/null; then cd console && { test node_modules/.package-lock.json -nt package-lock.json || npm ci --ignore-scripts --no-audit --no-fund --silent || echo "npm cannot install what builds and checks the console; tests that need it are skipped"; }; else echo "No npm: the console is neither built anew nor checked by axe"; fi

browser:  ## Chromium for the tests of the console, from Debian's packages
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null; } || echo "No Chromium: its tests are skipped; on Debian: apt-get install chromium"

.PHONY: servers test-tools
servers:  ## Redis 8 and Valkey 8 from Debian's packages, for make test-servers
	@$(PYTHON) tools/debian.py redis-server-8 valkey-server-8

test-tools:  ## what tests of alert rules and of jumping clocks need, from Debian's packages
	@$(PYTHON) tools/debian.py promtool libfaketimeMT.so.1

install: $(DEV)  ## set-up alone; leaves .venv/bin/svddtune

$(STAMP): pyproject.toml client/pyproject.toml evaluation/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "svddtune needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "This python3 cannot make virtual environments; on Debian: apt-get install python3-venv"; exit 1; }
	@echo "Setting up $(VENV) (once, about a minute) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-warn-script-location "pip>=25.1" -c constraints.txt
	@# Until 0.1.0 the client's files were in svddtune itself; its removal must come first.
	@$(BIN)/python -m pip uninstall --quiet --yes --disable-pip-version-check svddtune 2>/dev/null
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ./client -e '.[all]' -e './evaluation[competitors]'
	@touch $(STAMP)

$(DEV): $(STAMP)
	@echo "Setting up what the checks need ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group dev
	@touch $(DEV)

lint: $(DEV)  ## format, lint, strict types, import contracts, wire contract
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tools.contract check

format: $(DEV)  ## blocking client and pictures generated anew, and all code formatted
	$(BIN)/python tools/generate_sync.py
	$(BIN)/python tools/draw_architecture.py
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: export SVDDTUNE_TEST_PROFILE = ci
check: lint versitygw browser console-packages  ## what CI runs: lint, and in one run all tests but the thorough ones
	$(PYTEST) -m "not packages and not thorough"

bench: $(DEV)  ## figures of docs/performance.md
	$(BIN)/python benchmarks/bench_numerics.py --data $(DATA)
	$(BIN)/python benchmarks/bench_session.py --strategy lama
	$(BIN)/python benchmarks/bench_session.py --strategy knowledge_gradient
	$(BIN)/python benchmarks/bench_streams.py --answers 3000
	$(BIN)/python benchmarks/bench_streams.py --idle 1000

# Inputs for each parser, and calls of the service.
FUZZ_RUNS ?= 40000
FUZZ_CALLS ?= 80000
fuzz: $(DEV)  ## a million damaged inputs to every parser and every method
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group fuzz
	$(BIN)/python -m tests.fuzz --runs $(FUZZ_RUNS) --calls $(FUZZ_CALLS)

audit: $(DEV)  ## known weaknesses of the packages in use, where a list of them can be reached
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --group audit
	$(BIN)/python -m tools.audit

soak: $(DEV)  ## half an hour of short sessions; fails if the memory of a process grows
	$(BIN)/python benchmarks/soak.py

.PHONY: chaos
SCHEDULES ?= 100
SEED ?= 1
chaos: $(DEV) test-tools  ## sessions under faults, each from its seed: make chaos SCHEDULES=1000 SEED=1
	$(BIN)/python -m tests.chaos --schedules $(SCHEDULES) --seed $(SEED)

.PHONY: release
release: $(DEV)  ## all files of a release, in dist/
	$(BIN)/python -m tools.release

.PHONY: docs
docs: $(DEV)  ## the site in site/; a warning is an error
	$(BIN)/python tools/build_docs.py

protos: $(DEV)  ## generate the Python and the Go code of the .proto files, and the pages made from code
	$(BIN)/python tools/describe_settings.py
	$(BIN)/python tools/describe_configuration.py
	$(BIN)/python -m tools.describe_contract
	$(BIN)/python -m tools.generate_protos
	@if command -v go >/dev/null; then $(BIN)/python -m tools.generate_clients go; else echo "No Go: client/go/svddtunepb stays as it is"; fi
	$(BIN)/python -m tools.generate_openapi

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache svddtune-demo
