# `make demo` runs the main job, `make test` every check. Both need a Python with venv and a package
# registry, nothing else, and leave what they install in .venv. Another interpreter: make PYTHON=...

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

OLD := serving-sim needs Python 3.11 or later, $(PYTHON) is {}.{}; name another: make PYTHON=python3.12

.PHONY: demo test format lint types arrows kernel docs bench soak environments fuzz clean

demo: .venv/installed
	$(BIN)/serving-sim compare --preset demo --out demo-out

test: .venv/installed-dev
	$(MAKE) --no-print-directory --jobs 2 --output-sync=target types kernel lint format arrows
	$(BIN)/pytest -n 2 --cov

lint: .venv/installed-dev
	$(BIN)/ruff check .

format: .venv/installed-dev
	$(BIN)/ruff format --check .

types: .venv/installed-dev
	$(BIN)/mypy

arrows: .venv/installed-dev
	$(BIN)/lint-imports

# compiled once and kept on disk, so that not every process of the tests compiles it
kernel: .venv/installed-dev
	$(BIN)/python -c 'from policies import FCFS; from serving_sim import Workload, simulate; \
	    simulate(Workload([0], [1]), FCFS(), slots=1, engine="compiled")'

# docs/ as a site that needs no network; the tests build it as strictly. site/index.html opens from the
# disk, its search wants a server: python -m http.server -d site
docs: .venv/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: .venv/installed-dev
	$(BIN)/python benchmarks/run.py

# searches for what the tests did not find; each part makes a fixed number of attempts, and what each takes
# stands in docs/explanation/how-it-is-tested.md
soak: .venv/installed-dev
	$(BIN)/python tests/interruptions.py --attempts 200
	$(BIN)/python benchmarks/study_soak.py
	$(BIN)/python tests/mutation.py --sample 500
	$(BIN)/pytest -n 2 --hypothesis-profile=soak

# the tests against the wheel: oldest Python and packages, no extras, newest in hostile surroundings
environments: .venv/installed-dev
	$(BIN)/python tests/environments.py

# every reader for two minutes of computing, about an hour in all; Linux alone
fuzz: .venv/installed-dev
	$(INSTALL) --no-build-isolation -e '.[fuzz]'
	$(BIN)/python tests/fuzz.py --seconds 120

clean:
	rm -rf .venv demo-out dist fuzz-found site .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

.venv/made:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v < (3, 11) and sys.exit("$(OLD)".format(*v))'
	$(PYTHON) -m venv --clear .venv
	touch $@

# hatchling comes from constraints.txt as well: an isolated build would fetch its newest release
.venv/built-with: .venv/made constraints.txt
	$(INSTALL) hatchling
	touch $@

.venv/installed: .venv/built-with pyproject.toml
	$(INSTALL) --no-build-isolation -e '.[fast,optimum]'
	touch $@

.venv/installed-dev: .venv/built-with pyproject.toml
	$(INSTALL) --no-build-isolation -e '.[dev]'
	touch $@ .venv/installed
