#!/usr/bin/env bash
# The balancer of docker-compose.yml for `npm run soak:replicas`.
#   haproxy.sh install    puts Debian's package on the machine, unless it is there (needs root)
set -euo pipefail

case ${1:-} in
  install)
    if command -v haproxy >/dev/null; then exit; fi
    . "$(dirname "$0")/apt.sh"
    apt_install haproxy
    ;;
  *) echo "usage: $0 install" >&2; exit 2 ;;
esac
