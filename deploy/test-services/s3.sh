#!/usr/bin/env bash
# A throw-away S3 on loopback for the test suites: Ceph's RADOS Gateway over one monitor and one storage daemon that
# keeps everything in memory. It checks signatures, ranges, multipart rules and lifecycle as the big ones do.
#   s3.sh install       puts Debian's packages on the machine, unless they are there (needs root; about 60 MB)
#   s3.sh start         starts it and prints WHARF_TEST_S3_ENDPOINT=…
#   s3.sh stop          stops what `start` started and removes its folder
# Several can run side by side: give each its own S3_PORT (default 7480), S3_MON_PORT (default 17480; the next one is
# used too) and S3_DIR. S3_ACCESS_KEY and S3_SECRET_KEY set the credentials. S3_LIFECYCLE_DAY_SECONDS makes a lifecycle
# rule's day that many seconds long.
set -euo pipefail

PORT=${S3_PORT:-7480}
# below the ports that the system gives to connections: one of those would keep the monitor from starting
MON_PORT=${S3_MON_PORT:-17480}
ACCESS_KEY=${S3_ACCESS_KEY:-testaccesskey}
SECRET_KEY=${S3_SECRET_KEY:-testsecretkey}
LIFECYCLE_DAY=${S3_LIFECYCLE_DAY_SECONDS:-0}
# The monitor syncs to disk all the time, so a RAM disk is used where there is one.
SHM=/dev/shm
[ -w "$SHM" ] || SHM=/tmp
DIR=${S3_DIR:-$SHM/wharf-s3-$PORT}
CONF=$DIR/ceph.conf
PACKAGES=(radosgw ceph-mon ceph-osd ceph-common curl)
START_SECONDS=40

stop_daemons() {
  local pid_file pid
  for pid_file in "$DIR"/{radosgw,ceph-osd,ceph-mon}.pid; do
    [ -f "$pid_file" ] || continue
    pid=$(<"$pid_file")
    # Only a process that was started with our own configuration.
    if grep -qaF "$CONF" "/proc/$pid/cmdline" 2>/dev/null; then kill -9 "$pid" 2>/dev/null || true; fi
  done
  rm -rf "$DIR"
}

write_conf() {
  cat >"$CONF" <<INI
[global]
fsid = $1
mon host = [v2:127.0.0.1:$((MON_PORT + 1)),v1:127.0.0.1:$MON_PORT]
public network = 127.0.0.0/8
ms bind ipv6 = false
# nothing here is secret, and everything stays on loopback
auth cluster required = none
auth service required = none
auth client required = none
ms mon cluster mode = crc
ms mon service mode = crc
ms mon client mode = crc
ms cluster mode = crc
ms service mode = crc
ms client mode = crc
run dir = $DIR/run
admin socket = $DIR/run/\$cluster-\$name.\$pid.asok
log file = $DIR/log/\$name.log
# one copy on one daemon
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pgp num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 2000

[mon]
mon data = $DIR/mon
mon initial members = a
paxos propose interval = 0.05
paxos min wait = 0.01
# the store must start even if the developer's disk is nearly full
mon data avail warn = 2
mon data avail crit = 1

[osd]
osd data = $DIR/osd
osd objectstore = memstore
memstore device bytes = ${S3_MEMORY_BYTES:-8589934592}
osd memory target = 1073741824
osd crush initial weight = 1

[client.rgw]
# without tcp_nodelay many requests take 40 ms longer
rgw frontends = beast endpoint=127.0.0.1:$PORT tcp_nodelay=1
rgw enable usage log = false
rgw thread pool size = 64
rgw lc debug interval = $LIFECYCLE_DAY
rgw lc max worker = 1
rgw gc obj min wait = 5
rgw gc processor period = 5
rgw gc processor max time = 5
INI
}

# daemon NAME COMMAND… : runs it in the background, with its output in log/ and its pid beside the configuration
daemon() {
  local name=$1
  setsid "$@" >"$DIR/log/$name.out" 2>&1 </dev/null &
  echo $! >"$DIR/$name.pid"
}

# wait_until COMMAND… : until it succeeds; fails once the start has taken START_SECONDS
wait_until() {
  until "$@" >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$DEADLINE" ]; then
      echo "gave up waiting for: $*" >&2
      return 1
    fi
    sleep 0.1
  done
}

storage_is_up() { timeout 5 ceph -c "$CONF" osd stat 2>/dev/null | grep -q '1 up'; }

start_daemons() {
  DEADLINE=$((SECONDS + START_SECONDS))
  mkdir -p "$DIR"/{mon,osd,run,log}
  local fsid osd
  fsid=$(</proc/sys/kernel/random/uuid)
  osd=$(</proc/sys/kernel/random/uuid)
  write_conf "$fsid"

  monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.1:$((MON_PORT + 1)),v1:127.0.0.1:$MON_PORT]" \
    "$DIR/monmap" >/dev/null || return 1
  ceph-mon -c "$CONF" -i a --mkfs --monmap "$DIR/monmap" || return 1
  daemon ceph-mon -c "$CONF" -i a -f
  wait_until ceph -c "$CONF" --connect-timeout 2 mon stat || return 1

  timeout 15 ceph -c "$CONF" osd new "$osd" 0 >/dev/null || return 1
  ceph-osd -c "$CONF" -i 0 --mkfs --osd-uuid "$osd" >/dev/null 2>&1 || return 1
  daemon ceph-osd -c "$CONF" -i 0 -f
  wait_until storage_is_up || return 1

  timeout 20 radosgw-admin -c "$CONF" -n client.rgw user create --uid=test --display-name=test \
    --access-key="$ACCESS_KEY" --secret-key="$SECRET_KEY" >"$DIR/log/user.json" || return 1
  daemon radosgw -c "$CONF" -n client.rgw -f
  wait_until curl -s -m 2 -o /dev/null "http://127.0.0.1:$PORT/" || return 1
}

# The daemons have been seen to hang while a machine's disk was busy; a second start from nothing has always helped.
start_patiently() {
  local attempt
  for attempt in 1 2 3; do
    stop_daemons
    if start_daemons; then
      echo "WHARF_TEST_S3_ENDPOINT=http://127.0.0.1:$PORT"
      return
    fi
    echo "attempt $attempt to start S3 on port $PORT failed" >&2
    tail -n 5 "$DIR"/log/*.out >&2 2>/dev/null || true
  done
  stop_daemons
  return 1
}

case ${1:-} in
  install) . "$(dirname "$0")/apt.sh"; apt_install "${PACKAGES[@]}" ;;
  start) start_patiently ;;
  stop) stop_daemons ;;
  *) echo "usage: $0 install|start|stop" >&2; exit 2 ;;
esac
