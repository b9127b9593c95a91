#!/usr/bin/env bash
# Install what is missing on Debian 12: packages by apt, Python packages (pinned) in build/venv.
#   setup.sh [doctor]     doctor: only list each tool, its version and what is missing
set -euo pipefail
packages=(make gcc g++ python3 python3-venv verilator libsystemc-dev libcriterion-dev gtkwave ccache libjansson-dev
          zlib1g-dev liblz4-dev yosys clang-format xvfb lcov)

missing() {
  local p
  for p in "${packages[@]}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || echo "$p"
  done
}

if [ "${1:-}" = doctor ]; then
  status=0
  for p in "${packages[@]}"; do
    version=$(dpkg-query -W -f '${Version}' "$p" 2>/dev/null || true)
    if [ -n "$version" ]; then printf '%-18s %s\n' "$p" "$version"; else printf '%-18s MISSING\n' "$p"; status=1; fi
  done
  if [ -x build/venv/bin/python ]; then build/venv/bin/python -m pip list --format=freeze 2>/dev/null | sed 's/^/python: /'
  else echo "python packages    MISSING (build/venv)"; status=1; fi
  [ $status = 0 ] && echo "nothing is missing" || echo "run: make setup"
  exit $status
fi

list=$(missing)
if [ -n "$list" ]; then
  run=""
  if [ "$(id -u)" != 0 ]; then
    if sudo -n true 2>/dev/null; then run="sudo"
    else echo "missing packages; as root run: apt-get install --no-install-recommends" $list >&2; exit 2; fi
  fi
  echo "installing:" $list
  $run apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $run apt-get install -y -qq --no-install-recommends $list >/dev/null
fi
if [ ! -x build/venv/bin/python ] || ! cmp -s scripts/requirements.txt build/venv/requirements.txt; then
  python3 -m venv build/venv
  build/venv/bin/python -m pip install -q --disable-pip-version-check -r scripts/requirements.txt
  cp scripts/requirements.txt build/venv/requirements.txt
fi
