#!/usr/bin/env bash
# A browser for the suites that look at pages.
#   chromium.sh install    puts Debian's package on the machine, unless it is there (needs root)
set -euo pipefail

case ${1:-} in
  install)
    if command -v chromium >/dev/null; then exit; fi
    . "$(dirname "$0")/apt.sh"
    apt_install chromium
    ;;
  *) echo "usage: $0 install" >&2; exit 2 ;;
esac
