#!/usr/bin/env bash
# The main job: decode and prefill of one layer of GPT-OSS 120B through the RTL and the twin, compared and reported.
set -euo pipefail
out=build/sim
mkdir -p $out
build/poblano trace --model gpt-oss-120b --phase decode --batch 8 --context 1024 --layers 1 --out $out/decode
build/poblano trace --model gpt-oss-120b --phase prefill --tokens 64 --layers 1 --out $out/prefill
build/poblano sim $out/decode $out/prefill --backend all --report $out/report --waves $out/waves.fst
