# The commands of Catena. Each works on a fresh clone: it installs the packages that are missing
# (apt, on Debian), configures, builds and runs. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
PYTHON ?= /usr/bin/python3

RELEASE := build/release
CATENA := $(RELEASE)/apps/catena/catena
# Sources that clang-format looks after: those in git and those about to be.
SOURCES = git ls-files -co --exclude-standard -- '*.h' '*.cpp' ':!tests/layering/fixture' | while read -r f; do [[ ! -f $$f ]] || echo "$$f"; done

# The demonstration and the verification need the program alone. The tests, once configured, stay.
define BUILD_PROGRAM
tools/install-deps.sh core
[[ -f $(RELEASE)/build.ninja ]] || cmake --preset release -DCATENA_BUILD_TESTS=OFF
cmake --build $(RELEASE) --parallel $(JOBS) --target catena_app_catena
endef

.PHONY: help
help:  ## list these targets
	@echo "Catena, dynamics of articulated mechanisms. Targets:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile
	@echo "Variables: JOBS=$(JOBS) PREFIX=$(PREFIX) PYTHON=$(PYTHON) FUZZ_SECONDS=$(FUZZ_SECONDS)"

.PHONY: demo
demo:  ## build, run the main job on a model and say where the result is
	@$(BUILD_PROGRAM)
	@tools/demo.sh $(CATENA)

.PHONY: test
test:  ## build and run the unit tests, the quick verification, the structure, format and install tests
	@tools/install-deps.sh core test python format
	@cmake --preset release
	@cmake --build $(RELEASE) --parallel $(JOBS)
	@rm -f $(RELEASE)/tests/consumer/report.txt
	@status=0; ctest --test-dir $(RELEASE) --output-on-failure --parallel $(JOBS) || status=$$?; \
	  cat $(RELEASE)/tests/consumer/report.txt 2>/dev/null || true; exit $$status

.PHONY: test-web
test-web:  ## open reports in a headless browser and look at them
	@tools/install-deps.sh core test web
	@cmake --preset release
	@cmake --build $(RELEASE) --parallel $(JOBS) --target catena_app_catena catena_write_run
	@tools/test-web.sh $(RELEASE)

.PHONY: contact-study
contact-study:  ## random drops and trees with stops, by events and by time-stepping (RUNS=100)
	@tools/install-deps.sh core bench
	@cmake --preset bench
	@cmake --build build/bench --target contact_study --parallel $(JOBS)
	@build/bench/benchmarks/contact_study $(or $(RUNS),100)

.PHONY: flexible-study
flexible-study:  ## what flexible bodies cost: 14 modes, chains, 141 modes for 300 s (SECONDS=300)
	@tools/install-deps.sh core bench
	@cmake --preset bench
	@cmake --build build/bench --target flexible_study --parallel $(JOBS)
	@build/bench/benchmarks/flexible_study $(or $(SECONDS),300)

.PHONY: bench
bench:  ## build and run the benchmarks
	@tools/install-deps.sh core bench
	@cmake --preset bench
	@cmake --build build/bench --parallel $(JOBS)
	@tools/bench.sh build/bench

.PHONY: control-study
control-study:  ## H-infinity synthesis on 1,000 plants, 10,000 norms, SLICOT and Octave beside it, a boom of 50,000 freedoms
	@tools/install-deps.sh core bench
	@cmake --preset bench
	@cmake --build build/bench --parallel $(JOBS) --target control_study boom_study
	@build/bench/benchmarks/control_study hinf 1000
	@build/bench/benchmarks/control_study hinf 1000 0.002
	@build/bench/benchmarks/control_study peers 1000 100
	@build/bench/benchmarks/control_study norms 10000
	@build/bench/benchmarks/control_study speed 500
	@build/bench/benchmarks/boom_study

.PHONY: verify
verify:  ## compare with published results, the quick cases
	@$(BUILD_PROGRAM)
	@$(CATENA) verify verification

.PHONY: verify-all
verify-all:  ## compare with published results, all cases
	@$(BUILD_PROGRAM)
	@$(CATENA) verify --all verification

.PHONY: references
references:  ## recompute the reference values of the verification cases by independent scripts
	@tools/install-deps.sh references
	@for script in verification/*/generate.py; do echo "== $$script"; $(PYTHON) $$script; done

.PHONY: asan
asan:  ## run the unit tests under the address and undefined-behaviour sanitizers
	@tools/install-deps.sh core test
	@cmake --preset asan
	@cmake --build build/asan --parallel $(JOBS)
	@ctest --test-dir build/asan --output-on-failure --parallel $(JOBS) -L unit --no-tests=error

.PHONY: fuzz
fuzz:  ## run each fuzz target for FUZZ_SECONDS
	@tools/install-deps.sh core fuzz
	@cmake --preset fuzz
	@cmake --build build/fuzz --parallel $(JOBS) --target catena_fuzzers
	@tools/fuzz.sh build/fuzz $(FUZZ_SECONDS)

.PHONY: format
format:  ## format the sources in place
	@tools/install-deps.sh format
	@$(SOURCES) | xargs -r clang-format -i

.PHONY: format-check
format-check:  ## fail when a source is not formatted
	@tools/install-deps.sh format
	@$(SOURCES) | xargs -r clang-format --dry-run --Werror

.PHONY: lint
lint:  ## clang-tidy, every header compiled on its own, cppcheck if installed
	@tools/install-deps.sh core test lint
	@cmake --preset release
	@tools/lint.sh $(RELEASE) $(JOBS)

.PHONY: help-files
help-files:  ## the manual page and the shell completions, from the program's own help
	@$(BUILD_PROGRAM)
	@tools/help-files.py $(CATENA)

.PHONY: package
package:  ## a Debian package of the program and the library, in build/package
	@$(BUILD_PROGRAM)
	@cmake --build $(RELEASE) --parallel $(JOBS) --target all
	@cpack --config $(RELEASE)/CPackConfig.cmake -B build/package
	@rm -rf build/package/_CPack_Packages

.PHONY: docs
docs:  ## the reference manual, in build/docs
	@tools/install-deps.sh docs
	@tools/docs.sh build/docs

# Without PREFIX into the user's own site-packages, which Python always looks at.
.PHONY: python
python: PACKAGES = $(if $(filter file,$(origin PREFIX)),$(shell $(PYTHON) -m site --user-site),$(PREFIX)/$(shell $(PYTHON) python/tools/packages_folder.py))
python:  ## build and install the Python package, for the user or under PREFIX
	@tools/install-deps.sh core python
	@[[ -f $(RELEASE)/build.ninja ]] || cmake --preset release -DCATENA_BUILD_TESTS=OFF
	@cmake -DCATENA_BUILD_PYTHON=ON -DCATENA_PYTHON=$(PYTHON) $(RELEASE)
	@cmake --build $(RELEASE) --parallel $(JOBS) --target catena_python
	@cmake --install $(RELEASE) --component python_package --prefix $(PACKAGES)
	@echo "catena for $(PYTHON) is in $(PACKAGES)"

.PHONY: install
install:  ## build and install under PREFIX (and DESTDIR)
	@tools/install-deps.sh core
	@[[ -f $(RELEASE)/build.ninja ]] || cmake --preset release -DCATENA_BUILD_TESTS=OFF
	@cmake --build $(RELEASE) --parallel $(JOBS)
	@cmake --install $(RELEASE) --prefix $(PREFIX)

.PHONY: deps
deps:  ## install the Debian packages that building and testing need
	@tools/install-deps.sh core test

.PHONY: clean
clean:  ## remove build/
	@rm -rf build
