# Targets for users and developers. Each one sets up what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Tests and benchmarks start thousands of Python processes; without compiled modules, each compiles Accord again.
unexport PYTHONDONTWRITEBYTECODE

# On a terminal, pip shows its progress.
PIP_OUTPUT := $(shell [ -t 2 ] || echo --quiet)

# The prompt that `make run` sends to the built-in agent without a terminal.
PROMPT ?= what is this project?, then where is Conversation defined, then search for "outlives" in README.md

# Tests that start many processes or take long; `make test` runs them, `make check` doesn't.
LATER := cli coder/mcp coder/models coder/tools coder/test_cancellation.py coder/test_missing_resources.py coder/test_limits.py coder/test_login.py \
	coder/test_random_use.py coder/test_session.py coder/test_startup.py coder/test_with_providers.py docs evals examples faults fuzz model_based \
	process showcase store tui workspace schema/test_round_trip.py policy/shell/test_shells_agree.py

.DEFAULT_GOAL := help
.PHONY: docs help run tour test test-all lint check bench cuts fuzz orphans peers programs payloads eval-live session-cost screenshots snapshots schema-drift features ledger format dist clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Accord needs Python 3.11 or newer; choose one with make PYTHON=python3.12 …" >&2; exit 1; }
	@echo "Setting up Accord in $(VENV): once, about a minute."
	@echo "1/3 Creating the environment…"
	@$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed: on Debian and Ubuntu, apt-get install python3-venv" >&2; exit 1; }
	@echo "2/3 Updating pip…"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	@echo "3/3 Installing Accord and its dependencies…"
	@$(BIN)/python -m pip install $(PIP_OUTPUT) --disable-pip-version-check --editable ".[coder,http,serve,tui]"
	@touch $@

$(VENV)/.tools: $(VENV)/.installed
	@echo "Installing the development tools…"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

run: $(VENV)/.installed ## Open the terminal client with the built-in agent; without a terminal, run one turn
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/accord chat; else echo '$(PROMPT)' | $(BIN)/accord chat; fi

tour: $(VENV)/.installed ## Show an agent and a client: one prompt, streamed, with a tool call and a permission request
	@$(BIN)/python examples/tour.py

cuts: $(VENV)/.tools ## Cut connections to a remote agent at every message and byte, kill its server, and count what is lost
	@$(BIN)/python tests/remote/cuts.py $(ARGS)

peers: $(VENV)/.tools ## Install the official SDKs used by the tests, and Node if it is missing
	@$(BIN)/python tests/peers/install.py

programs: $(VENV)/.tools
	@$(BIN)/python tests/support/programs.py

$(VENV)/.local: $(VENV)/.tools
ifneq ($(ACCORD_OFFLINE),1)
	@echo "Installing the runtime for local models (extra: local)…"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[local]" || \
		{ echo "To run the tests without it: ACCORD_OFFLINE=1 make test" >&2; exit 1; }
	@touch $@
endif

test: peers programs $(VENV)/.local ## Run every test
	@$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

test-all: test ## Run every test on each supported Python installed here
	@for found in $$($(BIN)/python tests/support/interpreters.py); do \
		echo "Testing on Python $${found%%=*}…"; \
		$(MAKE) --no-print-directory test PYTHON="$${found#*=}" VENV=".cache/python$${found%%=*}" || exit 1; \
	done

lint: $(VENV)/.tools ## Check format, lint and types
	@$(BIN)/ruff format --quiet --check . || { echo "run: make format" >&2; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/mypy --no-error-summary --platform win32 --cache-dir .mypy_cache/win32
	@$(BIN)/mypy --no-error-summary --platform darwin --cache-dir .mypy_cache/darwin

check: lint peers ## The quick loop: format, lint, types and unit tests
	@$(BIN)/python -m pytest -q -n auto -m "not peer and not slow" --no-header $(LATER:%=--ignore=tests/%)

format: $(VENV)/.tools ## Format the code and apply lint fixes
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix .

bench: $(VENV)/.tools peers ## Run the benchmarks against the official SDKs and a raw msgspec loop
	@$(BIN)/python bench/run.py $(ARGS)
	@$(BIN)/python bench/store.py
	@$(BIN)/python bench/remote.py
	@$(BIN)/python bench/proxy.py
	@$(BIN)/python bench/first_byte.py
	@$(BIN)/python bench/agent_start.py
	@$(BIN)/python bench/tui.py

fuzz: $(VENV)/.tools ## Send a million hostile lines to both sides
	@$(BIN)/python tests/fuzz/lines.py 1000000

orphans: $(VENV)/.tools ## Kill clients at random moments, 200 times per kind, and count leftover processes
	@$(BIN)/python tests/process/orphans.py $(ARGS)

schema-drift: $(VENV)/.tools peers ## Compare our types with the published schemas
	@$(BIN)/python tests/schema/drift.py

snapshots: $(VENV)/.tools ## Write the snapshots of the terminal client again; review them with git diff
	@ACCORD_SNAPSHOTS=write $(BIN)/python -m pytest -q tests/tui/test_snapshots.py && git diff --stat -- tests/tui/snapshots

payloads: $(VENV)/.tools ## Write the golden requests to models again; review them with git diff
	@ACCORD_SNAPSHOTS=write $(BIN)/python -m pytest -q tests/coder/payloads/test_goldens.py && git diff --stat -- tests/coder/payloads/golden

BUDGET ?= 5
eval-live: $(VENV)/.tools ## Let models solve the tasks of tests/evals: MODEL=provider:name[,…], BUDGET=5, BASE_URL=…, CONFIG=a.toml,b.toml
	@PYTHONPATH=tests $(BIN)/python tests/evals/run.py --budget "$(BUDGET)" $(if $(MODEL),--model "$(MODEL)") $(if $(CONFIG),--config "$(CONFIG)") \
		$(if $(BASE_URL),--base-url "$(BASE_URL)") $(if $(TASKS),--tasks "$(TASKS)") $(ARGS)

session-cost: $(VENV)/.tools ## Print what a session of 100 requests costs by published prices, per provider
	@PYTHONPATH=tests $(BIN)/python -W ignore tests/evals/session_cost.py

docs: $(VENV)/.tools ## Build the documentation site in .cache/docs/site, and check its links
	@$(BIN)/python docs/site/build_site.py

screenshots: $(VENV)/.tools ## Create the screenshots of the terminal client from real runs
	@$(BIN)/python docs/screenshots.py

features: $(VENV)/.tools ## Write docs/features.md from the tests that show each feature
	@$(BIN)/python docs/features.py

ledger: peers programs $(VENV)/.local ## Run the tests that prove protocol rules, and write docs/requirements.md
	@rm -f .cache/proofs.json
	@$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder -m req --proofs .cache/proofs.json --no-header || true # the next line lists the failures
	@$(BIN)/python docs/ledger.py .cache/proofs.json

dist: $(VENV)/.tools ## Build the wheel and the source distribution, and check them for PyPI
	@rm -rf dist
	@$(BIN)/python -m build --no-isolation --outdir dist . >/dev/null
	@$(BIN)/python -m twine check --strict dist/*

clean: ## Remove everything that make created
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
