#!/usr/bin/env bash
# A throw-away ClamAV on loopback for the test suites: the real clamd with signatures of our own, so that nothing is
# downloaded from ClamAV's servers. It knows the EICAR test file, in whatever it is packed, and one marker string.
#   clamd.sh install    puts Debian's package on the machine, unless it is there (needs root)
#   clamd.sh start      starts it and prints WHARF_TEST_CLAMD=HOST:PORT
#   clamd.sh stop       stops what `start` started and removes its folder
#   clamd.sh signatures FOLDER    writes its signatures, for another clamd
# Several can run side by side: give each its own CLAMD_PORT (default 3310) and CLAMD_DIR. CLAMD_MAX_FILE and
# CLAMD_MAX_STREAM set how much of a file it scans and takes (default 25M), CLAMD_ALERTS=no lets it pass in silence what
# is larger than it scans, and CLAMD_THREADS is how many files it scans at one time.
set -euo pipefail
# clamd is in /usr/sbin, which the PATH of a plain user lacks
PATH=$PATH:/usr/sbin

PORT=${CLAMD_PORT:-3310}
DIR=${CLAMD_DIR:-/tmp/wharf-clamd-$PORT}
CONF=$DIR/clamd.conf
MAX_FILE=${CLAMD_MAX_FILE:-25M}
MAX_STREAM=${CLAMD_MAX_STREAM:-25M}
ALERTS=${CLAMD_ALERTS:-yes}
THREADS=${CLAMD_THREADS:-10}
START_SECONDS=30

install_package() {
  if command -v clamd >/dev/null; then return; fi
  . "$(dirname "$0")/apt.sh"
  apt_install clamav-daemon
}

stop_daemon() {
  if [ -f "$DIR/clamd.pid" ]; then
    local pid
    pid=$(<"$DIR/clamd.pid")
    # Only a process that was started with our own configuration.
    if grep -qaF "$CONF" "/proc/$pid/cmdline" 2>/dev/null; then
      kill "$pid" 2>/dev/null || true
      for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
      done
    fi
  fi
  rm -rf "$DIR"
}

hex() { od -An -v -tx1 | tr -d ' \n'; }

# The test file is put together here: a file that holds the string would itself be found by antivirus programs.
write_signatures() { # folder
  local eicar md5
  eicar="X5O!P%@AP[4\\PZX54(P^)7CC)7}\$EICAR-STANDARD-"
  eicar+="ANTIVIRUS-TEST-FILE!\$H+H*"
  md5=$(printf '%s' "$eicar" | md5sum | cut -d' ' -f1)
  echo "$md5:${#eicar}:Wharf.Test.Eicar" >"$1/test.hdb"
  echo "Wharf.Test.Marker:0:*:$(printf 'WHARF-TEST-MALWARE-' | hex)$(printf 'MARKER' | hex)" >"$1/test.ndb"
}

write_conf() {
  cat >"$CONF" <<INI
DatabaseDirectory $DIR/db
TemporaryDirectory $DIR/tmp
TCPSocket $PORT
TCPAddr 127.0.0.1
LogFile $DIR/clamd.log
StreamMaxLength $MAX_STREAM
MaxScanSize $MAX_FILE
MaxFileSize $MAX_FILE
AlertExceedsMax $ALERTS
MaxThreads $THREADS
Foreground yes
INI
  if [ "$(id -u)" = 0 ]; then echo 'User root' >>"$CONF"; fi
}

answers() {
  (exec 3<>"/dev/tcp/127.0.0.1/$PORT" && printf 'PING\n' >&3 && IFS= read -r -t 5 reply <&3 && [ "$reply" = PONG ]) 2>/dev/null
}

start_daemon() {
  mkdir -p "$DIR/db" "$DIR/tmp"
  write_signatures "$DIR/db"
  write_conf
  clamd --config-file="$CONF" >"$DIR/out.log" 2>&1 </dev/null &
  echo $! >"$DIR/clamd.pid"
  local until=$((SECONDS + START_SECONDS))
  while [ $SECONDS -lt $until ]; do
    if answers; then
      echo "WHARF_TEST_CLAMD=127.0.0.1:$PORT"
      return
    fi
    sleep 0.1
  done
  echo "clamd does not answer on port $PORT:" >&2
  tail -n 20 "$DIR/out.log" "$DIR/clamd.log" >&2 || true
  return 1
}

case ${1:-} in
  install) install_package ;;
  start) stop_daemon; start_daemon ;;
  stop) stop_daemon ;;
  signatures) write_signatures "${2:?a folder}" ;;
  *) echo "usage: $0 install|start|stop|signatures FOLDER" >&2; exit 2 ;;
esac
