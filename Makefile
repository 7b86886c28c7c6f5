# demo: a fresh machine to a printed result card, without torch.  test: everything that must pass.  Both make their own environment.
PYTHON ?= python3
VENV ?= .venv
DEMO_VENV ?= .venv-demo
RUN = $(VENV)/bin/python -m
export MEDFAITH_DATA ?= $(wildcard ../shared/data)
# A variable that is set but empty would name the current folder.
ifeq ($(strip $(MEDFAITH_DATA)),)
unexport MEDFAITH_DATA
endif
# The tests start pytest some three hundred times; without compiled modules each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test attack matrix lint bench pages docs clean

demo: $(DEMO_VENV)/.ready
	@$(DEMO_VENV)/bin/python examples/demo.py

# Two workers on two cores: the threads of numpy's and torch's products would fight for them.
test: $(VENV)/.ready
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 $(RUN) pytest -n 2 --dist worksteal

# What tries to get a green that should not be; make test runs it too. The page docs/soundness.md holds the counts: tests/attack/table.py.
attack: $(VENV)/.ready
	$(RUN) pytest -m attack tests/attack

# Every Python from 3.10 to 3.13 that is here, with pytest 8 and 9: minutes each.
matrix:
	$(PYTHON) bench/matrix.py

lint: $(VENV)/.ready
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy

bench: $(VENV)/.ready
	$(VENV)/bin/python bench/load.py

# The committed pages of docs/, with what the code knows written in; a test holds them current.
pages: $(VENV)/.ready
	$(VENV)/bin/python docs/tables.py

docs: pages
	$(RUN) mkdocs build --strict

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install -q -c constraints.txt -e '.[dev]'
	touch $@

$(DEMO_VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/python -m pip install -q .
	touch $@

clean:
	rm -rf $(VENV) $(DEMO_VENV) .venv-matrix-* build dist .medfaith_cache
