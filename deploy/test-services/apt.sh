#!/usr/bin/env bash
# Debian's packages for the scripts beside this one, which source it; `apt.sh update` by itself refreshes the lists.
# Several scripts install at one time, and a new machine may still be updating itself: apt gives up at once where
# another apt runs, so ours take turns, and wait up to 4 minutes for another's.
# A mirror that breaks a download off has it at the next try.

# What they install runs from here too, which the PATH of a plain user lacks.
PATH=$PATH:/usr/sbin:/sbin

APT_RETRIES=(-o Acquire::Retries=5)
APT_OPTIONS=(-qq -o DPkg::Lock::Timeout=240 "${APT_RETRIES[@]}")

# with_retries COMMAND…: three tries, for what downloads and does not try again by itself.
with_retries() {
  local tries=1
  until "$@"; do
    if [ $((tries += 1)) -gt 3 ]; then return 1; fi
    echo "again: $*" >&2
    sleep 5
  done
}

apt_update() {
  local tries=0 said
  until said=$(apt-get "${APT_OPTIONS[@]}" update 2>&1); do
    if [ $((tries += 1)) -ge 120 ] || ! grep -q 'Could not get lock' <<<"$said"; then
      echo "$said" >&2
      return 1
    fi
    sleep 2
  done
}

# apt_install PACKAGE…: puts them on the machine, unless they are there (needs root).
apt_install() {
  if dpkg -s "$@" >/dev/null 2>&1; then return; fi
  (
    flock 9
    apt_update
    DEBIAN_FRONTEND=noninteractive apt-get "${APT_OPTIONS[@]}" install -y --no-install-recommends "$@" >/dev/null
  ) 9>/tmp/wharf-apt.lock
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  set -euo pipefail
  case ${1:-} in
    update) apt_update ;;
    *) echo "usage: $0 update" >&2; exit 2 ;;
  esac
fi
