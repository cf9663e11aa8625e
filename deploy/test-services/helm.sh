#!/usr/bin/env bash
# What `helm template` prints, for tests on machines where Helm itself cannot be had: Go's templates and sprig, which
# Helm is made of, from Debian's packages.
#   helm.sh install                                puts Debian's packages on the machine, unless they are there (needs root)
#   helm.sh template CHART RELEASE NAMESPACE       reads values from standard input, prints the manifests
set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
GO=/usr/lib/go-1.19/bin/go
# built once for each state of the source
BINARY=/tmp/wharf-helm-$(sha256sum "$HERE/helm/main.go" | cut -c1-16)

install_packages() {
  . "$HERE/apt.sh"
  apt_install golang-1.19-go golang-github-masterminds-sprig-dev golang-k8s-sigs-yaml-dev
}

build() {
  (
    flock 9
    if [ -x "$BINARY" ]; then return; fi
    # Debian's Go packages are a GOPATH, not modules
    GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=/tmp/wharf-go-cache GOFLAGS=-p=2 \
      "$GO" build -o "$BINARY.new" "$HERE/helm/main.go"
    mv "$BINARY.new" "$BINARY"
  ) 9>/tmp/wharf-helm.lock
}

case ${1:-} in
  install) install_packages ;;
  template)
    shift
    [ -x "$BINARY" ] || build
    exec "$BINARY" "$@"
    ;;
  *) echo "usage: $0 install | template CHART RELEASE NAMESPACE" >&2; exit 2 ;;
esac
