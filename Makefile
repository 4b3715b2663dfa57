# `make demo` and `make test` do all set-up on a fresh Debian 12/13 or Ubuntu 24.04 machine (root or sudo).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SUDO   := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: demo test nightly test-fast lint reference bench venv host-packages clean

demo: host-packages venv
	$(BIN)/python -m virtual.demo

test: host-packages venv lint
	$(BIN)/python -m tests.both

# With what takes hours: the ring of four, and what the dead-man switch, adoption and rails do in every other way.
nightly: host-packages venv lint
	$(BIN)/python -m tests.both --nightly

test-fast: venv lint
	$(BIN)/pytest -m "not virtual"

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The pages that are made from the code.
reference: venv
	$(BIN)/python -m lab.reference
	$(BIN)/python -m tests.simulated.transcripts

bench: host-packages venv
	$(BIN)/python benchmarks/round_trips.py

venv: $(VENV)/.made

# The .pth puts this folder first on sys.path: an installed `facts` or `operations` must not win over ours.
$(VENV)/.made: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "expected Python 3.11 or newer, found $$($(PYTHON) --version)"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "installing python3-venv"; $(SUDO) apt-get update -qq && $(SUDO) apt-get install -qq -y python3-venv; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --disable-pip-version-check -e '.[test]'
	$(BIN)/python -c 'import sysconfig, pathlib; pathlib.Path(sysconfig.get_path("purelib"), "aa_sparks_root.pth").write_text("import sys; sys.path.insert(0, %r)\n" % str(pathlib.Path.cwd()))'
	@touch $@

# What the virtual Sparks need of this machine; installs only what is missing.
host-packages:
	@missing=$$(for p in $$(cat virtual/host-packages.txt); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	[ -z "$$missing" ] || { echo "installing" $$missing; $(SUDO) apt-get update -qq && DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -qq -y --no-install-recommends $$missing; }

clean:
	-$(BIN)/sparks virtual down
	rm -rf $(VENV) .virtual .virtual-side .mypy_cache .ruff_cache .pytest_cache .hypothesis
