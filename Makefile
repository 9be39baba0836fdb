# Start with `make demo`. Every target works on a fresh clone with Python >= 3.11 and Java 17 or 21.
# Paths are relative, so the folder's own path may contain spaces.
.DEFAULT_GOAL := help
.PHONY: help setup setup-demo demo test test-fast fuzz torture check fix docs pictures scenario-pictures site sbom advisories lock clean
MAKEFLAGS += --no-print-directory
# The tests start many processes. Without compiled files, each compiles all its modules, for seconds.
unexport PYTHONDONTWRITEBYTECODE

# The servers of fault tests live for seconds, which do not repay the second compiler of Java.
short_lived := JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1

# The first Python that is new enough. PYTHON=... names another one.
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)

# make demo: SERVE=1 keeps serving; HOME_DIR, PORT and BOLT_PORT choose folder and ports (0: a free port).
SERVE ?=
HOME_DIR ?=
PORT ?=
BOLT_PORT ?=
DEMO_OPTIONS = $(if $(HOME_DIR),--home "$(HOME_DIR)") $(if $(PORT),--port $(PORT)) \
  $(if $(BOLT_PORT),--bolt-port $(BOLT_PORT)) $(if $(filter-out 0,$(SERVE)),--serve)
# make test: PYTEST='tests/schema -x' chooses tests. Without it all tests run, WORKERS files at a time: first those that
# share a server, then those that kill, starve and time servers, and last the one that needs the machine for itself.
PYTEST ?=
WORKERS ?= 2
# These wait for servers more than they compute.
FAULT_WORKERS ?= 3
DURATIONS ?= 30
faults := tests/faults tests/local
alone := tests/faults/test_neo4j_away.py
together = $(bin) pytest --numprocesses $(1) --dist loadfile --durations $(DURATIONS)
torture := tests/faults tests/cypher/test_migrate_killed.py tests/lineage/traversal/test_hard_shapes.py tests/ingest/spool tests/properties \
  tests/scenarios/test_investigation.py tests/spark_hooks/test_session.py tests/cli/test_damaged_data.py \
  tests/pipelines/test_stream.py tests/pipelines/test_archive.py tests/pipelines/test_backfill.py
serverless := not neo4j and not spark and not slow and not producers

bin := .venv/bin/python -m
compile := .venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
  --no-header --no-annotate --quiet

help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile

# Stop with a hint on a machine without a Python that is new enough.
require_python = if [ -z "$(PYTHON)" ]; then \
	  echo "No Python 3.11 or newer on this machine."; \
	  echo "  Debian, Ubuntu   apt install python3 python3-venv"; \
	  echo "  macOS            brew install python@3.12"; \
	  echo "  Fedora           dnf install python3"; \
	  exit 1; fi

setup: ## Create .venv for development: the command `headwater`, tests, checks, docs. Fetch Neo4j's jars once.
	@$(require_python)
	@"$(PYTHON)" scripts/setup.py development

setup-demo: ## Create .venv with what the demo and the command `headwater` need: half of `setup`.
	@$(require_python)
	@"$(PYTHON)" scripts/setup.py demo

demo: setup-demo ## Run a real Spark pipeline, trace its answer, show its failure (SERVE=1 HOME_DIR= PORT= BOLT_PORT=).
	@$(bin) headwater demo $(DEMO_OPTIONS)

test: setup ## Run all tests but the longest, against a real Neo4j and a real Spark (or some: PYTEST='tests/schema -x').
	@if [ -n "$(PYTEST)" ]; then exec $(bin) pytest $(PYTEST); fi; \
	  $(call together,$(WORKERS)) $(addprefix --ignore=,$(faults)) \
	  && $(short_lived) $(call together,$(FAULT_WORKERS)) $(faults) --ignore=$(alone) \
	  && $(bin) pytest --durations $(DURATIONS) $(alone)

test-fast: setup ## Run the tests that need no server, in about a minute.
	@$(bin) pytest --numprocesses $(WORKERS) --dist loadfile --durations 10 --hypothesis-profile fast -m "$(serverless)" $(addprefix --ignore=,$(faults))

fuzz: setup ## Send random inputs to every reader of text from outside (FUZZ_EXAMPLES=100000 each; FUZZ_SEED=).
	@FUZZ_EXAMPLES="$(or $(FUZZ_EXAMPLES),100000)" FUZZ_SEED="$(or $(FUZZ_SEED),$$(date +%s))" $(bin) pytest tests/fuzz

# FAULT_SCALE multiplies the faults of CI, FAULT_SEED repeats a run with the seed that it printed.
torture: setup ## Run the fault matrix with ten times the faults of CI, and what CI leaves out (FAULT_SCALE=10 FAULT_SEED=).
	@FAULT_SCALE=$(or $(FAULT_SCALE),10) $(bin) pytest -s --timeout 86400 --durations $(DURATIONS) $(torture)

check: setup ## Check lint, formatting, types (Python, and JavaScript if Node is there), unused code, imports.
	@$(bin) ruff check .
	@$(bin) ruff format --check .
	@$(bin) mypy
	@$(bin) vulture
	@.venv/bin/python .venv/bin/lint-imports
	@$(bin) scripts.page_types

fix: setup ## Format, and fix lint automatically where possible.
	@$(bin) ruff check --fix .
	@$(bin) ruff format .

docs: setup ## Write the pages of docs/ that are generated from the program.
	@$(bin) scripts.catalogue

pictures: setup ## Take pictures of the page on a demo (HOME_DIR=...) into build/pictures and docs/pictures.
	@$(bin) scripts.pictures "$(or $(HOME_DIR),$(HOME)/.headwater-demo)" build/pictures

scenario-pictures: setup ## Take pictures of scenarios during their fault into docs/pictures (NAMES="schema-change ...").
	@$(bin) scripts.scenario_pictures $(NAMES)

site: setup ## Build docs/ as a site in docs/_build; a broken link fails.
	@$(bin) sphinx -W --keep-going -q -b html docs docs/_build

sbom: setup ## Write the list of all parts of the server with their hashes (CycloneDX) to build/sbom.json.
	@mkdir -p build
	@$(bin) cyclonedx_py requirements requirements-server.lock --pyproject pyproject.toml --output-reproducible \
	  --output-format JSON --output-file build/sbom.json

advisories: setup ## Check the server's packages for known weaknesses, if the advisory service answers.
	@$(bin) scripts.advisories

lock: setup ## Write the lock files from pyproject.toml; versions that still fit stay.
	@$(compile) pyproject.toml --all-extras --group dev -o requirements.lock
	@$(compile) pyproject.toml --extra demo --group setup --overrides requirements-demo.overrides \
	  -c requirements.lock -o requirements-demo.lock
	@$(compile) pyproject.toml --extra server -c requirements.lock -o requirements-server.lock
	@$(compile) --group pyproject.toml:build -c requirements.lock -o requirements-build.lock
	@$(compile) tests/producers/dbt.in -o tests/producers/dbt.lock
	@$(compile) tests/producers/airflow.in -o tests/producers/airflow.lock

clean: ## Remove .venv and the caches of this folder; Neo4j's jars and data homes stay.
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build docs/_build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
