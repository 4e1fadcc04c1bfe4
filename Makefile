# Everything a user or a developer does here, by name. `make` alone lists it.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
# Tests wait for other processes a quarter of the time, so twice as many as this machine has cores.
PROCESSES ?= $(shell expr 2 \* $$(nproc))

.PHONY: help install install-dev demo serve test quick check fix bench lock

help: ## list these targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: .venv/installed ## make .venv with the `podium` command, from the lock file
install-dev: .venv/installed-dev ## the same, with what tests and checks need

demo: install ## serve, and let a small agent win its medal (ARGS=--once: exit after the result)
	$(BIN)/podium demo $(ARGS)

serve: install ## run the service on port 7777, data in ./data
	$(BIN)/podium serve $(ARGS)

test: install-dev ## run all tests, on SQLite and on a real PostgreSQL (ARGS="-k medal" narrows)
	$(BIN)/pytest -n $(PROCESSES) $(ARGS)

quick: install-dev ## run the tests of the pure packages, without a database (less than half a minute)
	$(BIN)/pytest -n 2 -m "not simulation and not large" --hypothesis-profile few-examples \
	    $(foreach package,$(PURE),tests/$(package) app/$(package)) $(ARGS)
PURE := domain metrics grading resampling statistics review receipts

check: install-dev ## format, lint, types, import directions, migrations, competition folders
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/podium db check
	$(BIN)/podium check

fix: install-dev ## format, and mend what ruff can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: install-dev ## measure grading beside the reference way, HTTP, memory, workers (15 minutes)
	$(BIN)/python -m benchmarks $(ARGS)

lock: ## resolve the lock files anew (needs uv)
	uv pip compile pyproject.toml --group build $(LOCK) -o requirements.lock
	uv pip compile pyproject.toml --extra preparation --group build --group dev -c requirements.lock $(LOCK) -o requirements-dev.lock
LOCK := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --quiet

.venv/bin/pip:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Podium needs Python 3.11 or newer; this is %s. Try: make PYTHON=python3.12" % sys.version.split()[0])'
	@echo "Making .venv with $(PYTHON)."
	$(PYTHON) -m venv .venv

.venv/installed: requirements.lock pyproject.toml | .venv/bin/pip
	@echo "Installing about 90 packages into .venv (0.9 GB). This takes some minutes, once."
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/installed-dev: requirements-dev.lock .venv/installed
	@echo "Installing the packages of tests and checks into .venv. This takes a minute or two, once."
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@
