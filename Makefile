# Every target works straight after the clone on Debian 12; what is missing is installed first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CONSTRAINTS := constraints.txt
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint $(CONSTRAINTS)
LAB_TOOLS := iperf3 fio sshd ssh ip tc nft unshare nsenter losetup mkfs.ext4 ethtool tmux lldpd sudo \
  ping mpirun hpcc munged slurmctld slurmd srun nuttcp qperf sockperf traceroute bonnie++ sysbench h5perf_serial \
  smartctl numactl hwloc-info dmidecode ipmitool ipmi_sim ibstat ibsim opensm lshw cpupower \
  ksh mksh zsh yash busybox chromium
LAB_PACKAGES := iperf3 fio openssh-server openssh-client iproute2 nftables util-linux e2fsprogs ethtool dmidecode tmux lldpd sudo \
  iputils-ping openmpi-bin hpcc python3-mpi4py munge slurmctld slurmd slurm-client libpmi2-0 \
  nuttcp qperf sockperf traceroute bonnie++ sysbench hdf5-tools smartmontools numactl \
  ipmitool openipmi infiniband-diags ibsim-utils opensm lshw linux-cpupower \
  ksh mksh zsh yash busybox chromium
# Debian starts daemons as it installs them; this file is asked before, and says no. One that is there stays.
NO_DAEMONS := /usr/sbin/policy-rc.d

# Two test runs write to one terminal at once: each line says whose it is, and comes out when it is written.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
export PYTHONUNBUFFERED := 1
WORKERS ?= 2
LABORATORIES ?= 2

.PHONY: demo serve test check lint types contracts dead unit unit-lab unit-rest lab lab-down crash-loop tools clean

# With a terminal: the console on a simulated cluster. Without one: the same run, summarised.
demo: $(BIN)/.run
	@$(BIN)/benchconsole demo

# The demo with Textual's development console: `.venv/bin/textual console` in another terminal shows events and prints.
serve: $(BIN)/.dev
	@$(BIN)/textual run --dev --command $(BIN)/benchconsole demo

# Dead code is looked for by one of the tests.
test: $(BIN)/.dev tools lint types contracts unit

check: $(BIN)/.dev lint types contracts dead

lint: $(BIN)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(BIN)/.dev
	$(BIN)/mypy

contracts: $(BIN)/.dev
	$(BIN)/lint-imports

# Product code that nothing in the product uses, by itself. The allow-list with its reasons is in the test.
dead: $(BIN)/.dev
	$(BIN)/python -m pytest tests/architecture/test_dead_code.py

# What waits for the laboratory's cables runs beside what needs the processor.
unit: $(BIN)/.dev
	@$(MAKE) --no-print-directory --jobs 2 unit-lab unit-rest

unit-lab: $(BIN)/.dev
	@$(BIN)/python -m pytest -m lab tests/lab tests/scenarios tests/benchmarks --numprocesses $(LABORATORIES) --dist loadfile 2>&1 | sed -u 's/^/laboratory: /'

unit-rest: $(BIN)/.dev
	@$(BIN)/python -m pytest -m "not lab" --numprocesses $(WORKERS) --dist worksteal 2>&1 | sed -u 's/^/others: /'

# The laboratory: namespaces with real sshd, iperf3 and fio. Needs root.
lab: $(BIN)/.dev tools
	$(BIN)/python -m tests.lab up

# The console killed two hundred times at random instants of a laboratory run, and resumed. Takes some twenty minutes.
crash-loop: $(BIN)/.dev tools
	$(BIN)/python -m tests.scenarios.crash_loop 200

lab-down: $(BIN)/.dev
	$(BIN)/python -m tests.lab down

# Tools of the laboratory; installed only where one is missing and this is root. Their daemons are not started.
tools:
	@missing=; for tool in $(LAB_TOOLS); do PATH="$$PATH:/usr/sbin:/sbin" command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	[ -d /usr/lib/python3/dist-packages/mpi4py ] || missing="$$missing mpi4py"; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ]; then \
	    echo "installing what the laboratory needs:$$missing"; \
	    if [ ! -e $(NO_DAEMONS) ]; then \
	      trap 'rm -f $(NO_DAEMONS)' EXIT; trap 'exit 1' HUP INT TERM; \
	      printf '#!/bin/sh\nexit 101\n' >$(NO_DAEMONS) && chmod 755 $(NO_DAEMONS) || exit 1; \
	    fi; \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(LAB_PACKAGES) \
	      $$(case "$$missing" in *hwloc-info*) echo hwloc-nox;; esac) >/dev/null; \
	  else echo "the laboratory needs$$missing: apt-get install $(LAB_PACKAGES)" >&2; fi; \
	fi

$(BIN)/python:
	@if ! $(PYTHON) -m venv $(VENV) >/dev/null 2>&1; then \
	  rm -rf $(VENV); \
	  if [ "$$(id -u)" = 0 ]; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null && $(PYTHON) -m venv $(VENV); \
	  else echo "python3-venv is missing: apt-get install python3-venv" >&2; exit 1; fi; \
	fi

$(BIN)/.run: $(BIN)/python pyproject.toml $(CONSTRAINTS)
	@echo "installing benchconsole into $(VENV) (once)"
	@$(PIP) --editable .
	@touch $@

$(BIN)/.dev: $(BIN)/python pyproject.toml $(CONSTRAINTS)
	@echo "installing benchconsole and its development tools into $(VENV) (once)"
	@$(PIP) --editable '.[dev]'
	@touch $@ $(BIN)/.run

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .hypothesis .import_linter_cache
