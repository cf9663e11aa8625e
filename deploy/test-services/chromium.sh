#!/usr/bin/env bash
# A browser for the suites that look at pages.
#   chromium.sh install    puts Debian's packages on the machine, unless they are there (needs root)
set -euo pipefail

case ${1:-} in
  install)
    if command -v chromium >/dev/null; then exit; fi
    . "$(dirname "$0")/apt.sh"
    # both at once: a suite that finds one of them begins
    apt_install chromium chromium-headless-shell
    ;;
  *) echo "usage: $0 install" >&2; exit 2 ;;
esac
