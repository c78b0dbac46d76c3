# `make run` and `make test` do all their set-up by themselves; they need Python 3.11 or newer, and nothing else.

# Python reads compiled code faster than it compiles; an environment that forbids it would slow every start down.
unexport PYTHONDONTWRITEBYTECODE

PY := .venv/bin/python
RUN_LOCK := packaging/requirements.lock
DEV_LOCK := packaging/requirements-dev.lock
BUNDLE_LOCK := packaging/requirements-bundle.lock
# Two more than there are processors: tests wait for processes and clocks.
WORKERS := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 2 )))
# What judges times, and what walks through all that is in memory, which is little only where no other test has run.
ALONE := tests/test_spare_memory.py tests/test_measurements.py
UNIT := tests $(addprefix --ignore=,tests/e2e tests/bench tests/faults tests/packaged $(ALONE))

# A machine that is busy with something else may fail a test that waits; a file that fails again by itself has failed.
AGAIN = files=$$($(PY) -m tests.failed_files $(1)) && echo "What failed is tried once more, by itself: $$files" && $(PY) -m pytest -q -n0 -m 'not long' $$files

.PHONY: help run test thorough journeys lint format bench faults bundle lock clean
.DEFAULT_GOAL := help

help: ## Say what can be made
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /|/' | awk -F'|' '{printf "make %-8s %s\n", $$1, $$2}'

run: .venv/.run ## Start the app; arguments go into ARGS="--port 9000"
	@$(PY) -m app $(ARGS)

test: .venv/.dev ## Check everything: style, types, layers, unit tests, the app in a real browser
	@{ $(PY) -m pytest -q --collect-only $(UNIT); $(PY) -m tests.browser; } >/dev/null & ready=$$!; $(MAKE) --no-print-directory lint; checked=$$?; wait $$ready && exit $$checked
	@$(PY) -m pytest -q -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m 'not long' $(UNIT) || { $(call AGAIN,$(UNIT)); }
	@$(PY) -m pytest -q $(ALONE) || { $(call AGAIN,$(ALONE)); }
	@CHROMIUM="$$($(PY) -m tests.browser)" && export CHROMIUM && { $(PY) -m pytest -q -n 3 --dist loadfile -m 'not long' tests/e2e || { $(call AGAIN,tests/e2e); }; }

thorough: .venv/.dev ## Run what make test leaves out: the long tests, and all journeys
	@$(PY) -m pytest -q -n $(WORKERS) --dist loadfile -m long $(UNIT)
	@$(MAKE) --no-print-directory journeys

journeys: .venv/.dev ## Do all journeys in a real browser, the long ones too
	@CHROMIUM="$$($(PY) -m tests.browser)" && export CHROMIUM && $(PY) -m pytest -q -n 3 --dist loadfile tests/e2e $(ARGS)

lint: .venv/.dev ## Check style, types and layers
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@.venv/bin/lint-imports & layers=$$!; $(PY) -m mypy; types=$$?; wait $$layers && exit $$types

format: .venv/.dev ## Bring the code into shape
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

bench: .venv/.dev ## Measure how fast it is; ARGS="append" picks some of it
	@CHROMIUM="$$($(PY) -m tests.browser)" && export CHROMIUM && $(PY) -m tests.bench $(ARGS)

faults: .venv/.dev ## Measure what it withstands; ARGS="door_walk" picks some of it
	@CHROMIUM="$$($(PY) -m tests.browser)" && export CHROMIUM && $(PY) -m tests.faults $(ARGS)

bundle: build/bundle/.ready .venv/.dev ## Build the executable, as one file and as a folder, and try both out
	@build/bundle/bin/python -m PyInstaller --noconfirm --log-level WARN packaging/agent_playground.spec
	@build/bundle/bin/python -m PyInstaller --noconfirm --log-level WARN packaging/single_file.spec
	@CHROMIUM="$$($(PY) -m tests.browser)" && export CHROMIUM && $(PY) -m pytest -q tests/packaged

lock: ## Choose the versions of all dependencies again
	@sh packaging/lock.sh

clean: ## Remove the environment and what was built
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

.venv/.run: $(RUN_LOCK)
	@sh packaging/setup.sh $(RUN_LOCK)
	@touch $@

build/bundle/.ready: $(BUNDLE_LOCK)
	@sh packaging/setup.sh $(BUNDLE_LOCK) build/bundle
	@touch $@

# The development lock holds all that the other one does.
.venv/.dev: $(DEV_LOCK) $(RUN_LOCK)
	@sh packaging/setup.sh $(DEV_LOCK)
	@touch .venv/.run $@
