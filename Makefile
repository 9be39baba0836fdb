# Headwater, for people: `make demo`. Everything here works on a fresh clone with Python >= 3.11 and Java 17 or 21.
# Paths are relative, so that a folder with spaces in its name is as good as any.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check fix docs lock clean
MAKEFLAGS += --no-print-directory

# The first Python that is new enough; name another with PYTHON=...
PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$python"; break; }; done)

# make demo: keep serving with SERVE=1; another folder and other ports (0 takes a free one).
SERVE ?=
HOME_DIR ?=
PORT ?=
BOLT_PORT ?=
DEMO_OPTIONS = $(if $(HOME_DIR),--home "$(HOME_DIR)") $(if $(PORT),--port $(PORT)) \
  $(if $(BOLT_PORT),--bolt-port $(BOLT_PORT)) $(if $(filter-out 0,$(SERVE)),--serve)
# make test: more for pytest, for example PYTEST='tests/schema -x'. Without it, all: so many files at a time, and after
# them, one by one, what kills, starves and times servers and wants the machine for itself.
PYTEST ?=
WORKERS ?= 2
alone := tests/faults tests/local

bin := .venv/bin/python -m
compile := .venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes \
  --no-header --no-annotate --quiet

help: ## Show this.
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' Makefile

setup: ## Make .venv with the headwater command in it, and fetch Neo4j's jars once.
	@if [ -z "$(PYTHON)" ]; then \
	  echo "No Python 3.11 or newer on this machine."; \
	  echo "  Debian, Ubuntu   apt install python3 python3-venv"; \
	  echo "  macOS            brew install python@3.12"; \
	  echo "  Fedora           dnf install python3"; \
	  exit 1; fi
	@"$(PYTHON)" scripts/setup.py

demo: setup ## Run a real Spark pipeline, trace its answer, show its failure (SERVE=1 HOME_DIR= PORT= BOLT_PORT=).
	@$(bin) headwater demo $(DEMO_OPTIONS)

test: setup ## Run all tests, against a real Neo4j and a real Spark (or some: PYTEST='tests/schema -x').
	@if [ -n "$(PYTEST)" ]; then exec $(bin) pytest $(PYTEST); fi; \
	  $(bin) pytest --numprocesses $(WORKERS) --dist loadfile $(addprefix --ignore=,$(alone)) && $(bin) pytest $(alone)

check: setup ## Lint, formatting, types, and what may import what.
	@$(bin) ruff check .
	@$(bin) ruff format --check .
	@$(bin) mypy
	@.venv/bin/python .venv/bin/lint-imports

fix: setup ## Format, and fix what can be fixed automatically.
	@$(bin) ruff check --fix .
	@$(bin) ruff format .

docs: setup ## Write the pages of docs/ that the program itself knows best.
	@$(bin) scripts.catalogue

lock: setup ## Write the lock files anew from pyproject.toml; versions that still fit stay.
	@$(compile) pyproject.toml --all-extras --group dev -o requirements.lock
	@$(compile) pyproject.toml --extra server -c requirements.lock -o requirements-server.lock
	@$(compile) --group pyproject.toml:build -c requirements.lock -o requirements-build.lock
	@$(compile) tests/producers/dbt.in -o tests/producers/dbt.lock
	@$(compile) tests/producers/airflow.in -o tests/producers/airflow.lock

clean: ## Remove .venv and caches of this folder; Neo4j's jars and the homes of data stay.
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
