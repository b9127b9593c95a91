#!/usr/bin/env bash
# The main job: decode and prefill of one layer of GPT-OSS 120B through the RTL and the twin, compared, counted, reported.
# Layer 1 attends to the whole context (layer 0 only to a window of 128). Arguments go to `poblano sim`.
set -euo pipefail
out=${SIM_OUT:-build/sim}
poblano=${POBLANO:-build/poblano}
mkdir -p "$out"
"$poblano" trace --model gpt-oss-120b --phase decode --batch 8 --context 1024 --layers 1 --out "$out/decode"
"$poblano" trace --model gpt-oss-120b --phase prefill --tokens 64 --layers 1 --share "${PREFILL_SHARE:-0.25}" --out "$out/prefill"
"$poblano" sim "$out/decode" "$out/prefill" --backend all --report "$out/report" --waves "$out/waves.fst" "$@"
echo "report: $out/report/report.html, report.json, power.csv; waves: $out/waves.fst (make waves)"
