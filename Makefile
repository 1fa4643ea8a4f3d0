# Everything a developer or a user types. Each target makes what it needs first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# What the built-in agent is asked where nobody sits at a terminal.
PROMPT ?= outline this project, then where is Conversation defined, then search for "exactly once" in README.md

# What starts many processes, or looks long: left to make test, so that the quick loop stays quick.
LATER := cli coder/mcp coder/models coder/tools coder/test_cancelling.py coder/test_hardship.py coder/test_limits.py coder/test_login.py \
	coder/test_random.py coder/test_sessions.py coder/test_starting.py coder/test_with_providers.py docs examples faults fuzz model_based \
	process showcase store tui workspace schema/test_round_trip.py policy/test_shells_agree.py

.DEFAULT_GOAL := help
.PHONY: help run tour test lint check bench fuzz peers screenshots snapshots schema-drift ledger format clean

help: ## Show what there is to make
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Accord needs Python 3.11 or newer; say which with make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed: on Debian and Ubuntu, apt-get install python3-venv" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[coder,tui]"
	@touch $@

$(VENV)/.tools: $(VENV)/.installed
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

run: $(VENV)/.installed ## Open the terminal client on the built-in agent; without a terminal, one turn of it
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/accord chat; else echo '$(PROMPT)' | $(BIN)/accord chat; fi

tour: $(VENV)/.installed ## Play an agent and a client: one prompt, streamed, with a tool call and a permission
	@$(BIN)/python examples/tour.py

peers: $(VENV)/.tools ## Install the official SDKs that the tests talk to, and the terminal that they run in
	@$(BIN)/python tests/peers/install.py || true
	@$(BIN)/python tests/tui/install.py || true

test: $(VENV)/.tools peers ## Run every test
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[local]" || true
	@$(BIN)/python -m pytest -n auto --dist loadfile $(ARGS)

lint: $(VENV)/.tools ## Format, lint and types alone
	@$(BIN)/ruff format --quiet --check . || { echo "run: make format" >&2; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary

check: lint ## The quick loop: format, lint, types, unit tests
	@$(BIN)/python -m pytest -q -n auto -m "not peer and not slow" --no-header $(LATER:%=--ignore=tests/%)

format: $(VENV)/.tools ## Format the code and mend what lint can mend
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix .

bench: $(VENV)/.tools peers ## Run the benchmarks against the official SDKs and the raw floor
	@$(BIN)/python bench/run.py $(ARGS)
	@$(BIN)/python bench/store.py
	@$(BIN)/python bench/first_byte.py
	@$(BIN)/python bench/agent_start.py
	@$(BIN)/python bench/tui.py

fuzz: $(VENV)/.tools ## Send a million hostile lines to both sides
	@$(BIN)/python tests/fuzz/lines.py 1000000

schema-drift: $(VENV)/.tools peers ## Compare our types with the published schemas
	@$(BIN)/python tests/schema/drift.py

snapshots: $(VENV)/.tools ## Write the pictures of the terminal client's widgets anew, to be looked at with git diff
	@ACCORD_SNAPSHOTS=write $(BIN)/python -m pytest -q tests/tui/test_snapshots.py && git diff --stat -- tests/tui/snapshots

screenshots: $(VENV)/.tools ## Make the pictures of the terminal client, from real runs
	@$(BIN)/python docs/screenshots.py

ledger: $(VENV)/.tools ## Write docs/requirements.md: which test proves which rule of the protocol
	@$(BIN)/python docs/ledger.py

clean: ## Remove everything that was made
	@rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis dist
