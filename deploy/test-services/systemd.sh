#!/usr/bin/env bash
# What systemd says about a unit, for tests; it need not run.
#   systemd.sh install           puts Debian's package on the machine, unless it is there (needs root)
#   systemd.sh verify UNIT       prints every fault of the unit, and fails if there is one
#   systemd.sh exposure UNIT     prints how exposed its process would be, in tenths: 0 is safest, 100 worst
set -euo pipefail

case ${1:-} in
  install)
    . "$(dirname "$0")/apt.sh"
    apt_install systemd
    ;;
  verify) systemd-analyze verify --man=no "$2" ;;
  exposure)
    systemd-analyze security --offline=true --no-pager "$2" |
      sed -n 's/.*Overall exposure level for .*: \([0-9]*\)\.\([0-9]\) .*/\1\2/p'
    ;;
  *) echo "usage: $0 install | verify UNIT | exposure UNIT" >&2; exit 2 ;;
esac
