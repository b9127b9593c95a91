#!/usr/bin/env bash
# Lint every RTL module alone in Verilator (-Wall), and the chip in Yosys (read_slang, check -assert) and Verible.
#   lint.sh CONFIG [verilator|yosys|verible]...      default: verilator
set -euo pipefail
config=$1; shift
tools=${*:-verilator}
gen=build/$config/gen
late=$(ls rtl/*/*_pkg.sv | grep -v '^rtl/common/' | tr '\n' ' ' || true)
packages="$gen/cfg_pkg.sv $gen/events_pkg.sv $gen/special_pkg.sv rtl/common/mem_pkg.sv rtl/common/noc_pkg.sv rtl/common/isa_pkg.sv $late"
search=$(printf -- '-y %s ' rtl/*)
count=0
for tool in $tools; do
  case $tool in
    verilator)
      for module in $(ls rtl/*/*.sv | grep -v _pkg.sv); do
        top=$(basename "$module" .sv)
        ${VERILATOR:-verilator} --lint-only -Wall --assert -Irtl/common $search --top-module "$top" $packages "$module"
        count=$((count + 1))
      done ;;
    yosys)
      sources=$(ls rtl/*/*.sv | grep -v _pkg.sv | tr '\n' ' ')
      build/venv-lint/bin/python - "$packages $sources" <<'PY'
import sys
import pyosys.libyosys as ys
design = ys.Design()
ys.run_pass("read_slang --keep-hierarchy --top chip -D SYNTHESIS -I rtl/common " + sys.argv[1], design)
ys.run_pass("hierarchy -check -top chip", design)
ys.run_pass("proc -noopt", design)
ys.run_pass("check -assert", design)
PY
      count=$((count + 1)) ;;
    verible)
      build/venv-lint/bin/verible-verilog-lint --rules_config .verible-rules rtl/*/*.sv
      count=$((count + 1)) ;;
  esac
done
echo "lint: $count clean"
