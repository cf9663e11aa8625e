#!/usr/bin/env bash
# A throw-away Redis on loopback for the test suites.
#   redis.sh install    puts Debian's package on the machine, unless it is there (needs root)
#   redis.sh start      starts it and prints WHARF_TEST_REDIS_URL=…
#   redis.sh stop       stops what `start` started and removes its folder
# Several can run side by side: give each its own REDIS_PORT (default 6390) and REDIS_DIR.
set -euo pipefail

PORT=${REDIS_PORT:-6390}
DIR=${REDIS_DIR:-/tmp/wharf-redis-$PORT}

install_package() {
  if command -v redis-server >/dev/null; then return; fi
  . "$(dirname "$0")/apt.sh"
  apt_install redis-server
}

stop_server() {
  if [ -f "$DIR/redis.pid" ]; then
    local pid
    pid=$(<"$DIR/redis.pid")
    # A number left over from before a reboot may by now belong to another process.
    if grep -qa redis-server "/proc/$pid/cmdline" 2>/dev/null; then
      kill "$pid" 2>/dev/null || true
      # its port is free only once it has gone
      for _ in $(seq 100); do
        [ -d "/proc/$pid" ] || break
        sleep 0.1
      done
    fi
  fi
  rm -rf "$DIR"
}

start_server() {
  mkdir -p "$DIR"
  redis-server --bind 127.0.0.1 --port "$PORT" --dir "$DIR" --save '' --appendonly no \
    --daemonize yes --pidfile "$DIR/redis.pid" --logfile "$DIR/redis.log" >/dev/null
  for _ in $(seq 100); do
    if redis-cli -p "$PORT" ping 2>/dev/null | grep -q PONG; then
      echo "WHARF_TEST_REDIS_URL=redis://127.0.0.1:$PORT"
      return
    fi
    sleep 0.1
  done
  echo "Redis does not answer on port $PORT:" >&2
  tail -n 20 "$DIR/redis.log" >&2 || true
  return 1
}

case ${1:-} in
  install) install_package ;;
  start) stop_server; start_server ;;
  stop) stop_server ;;
  *) echo "usage: $0 install|start|stop" >&2; exit 2 ;;
esac
