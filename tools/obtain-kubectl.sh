#!/bin/sh
# Fetches kubectl where the machine has none, or one that is too old: Debian 12 has 1.20. Debian 13's package needs nothing
# but Debian 12's libc, so it is taken from there, through apt and its signatures, without touching the machine's sources.
#
#   obtain-kubectl.sh install        installs the package (as root)
#   obtain-kubectl.sh unpack FOLDER  leaves the program alone in FOLDER
set -eu

root=$(dirname "$(dirname "$(readlink -f "$0")")")
suite=trixie
apt=$root/.cache/apt
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() { printf 'polyvirt: %s\n' "$*" >&2; exit 1; }

[ -e "$keyring" ] || fail "cannot fetch kubectl: $keyring is missing, so this is no Debian; install kubectl 1.30 or newer yourself."

# The mirror that this machine already uses.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Component: main' 2>/dev/null | grep -v security | head -n 1)

apt_here() {
  apt-get -q -o Dir::Etc::SourceList="$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$apt/lists" -o Dir::State::Status="$apt/status" -o Dir::Cache="$apt/cache" \
    -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/packages"
: >"$apt/status"
printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "${mirror:-http://deb.debian.org/debian/}" "$suite" >"$apt/sources.list"
if ! ls "$apt"/packages/kubectl_*.deb >/dev/null 2>&1; then
  apt_here update >/dev/null || fail "cannot read Debian's list of packages ($suite); is the network there?"
  (cd "$apt/packages" && apt_here download kubectl >/dev/null) || fail "cannot fetch the package kubectl from Debian ($suite)."
  rm -rf "$apt/lists" "$apt/cache"
fi
package=$(ls "$apt"/packages/kubectl_*.deb | tail -n 1)

case "${1-}" in
  install) DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$package" ;;
  unpack)
    unpacked=$(mktemp -d)
    dpkg -x "$package" "$unpacked"
    mkdir -p "$2"
    mv "$unpacked/usr/bin/kubectl" "$2/kubectl"
    rm -rf "$unpacked"
    ;;
  *) fail "usage: obtain-kubectl.sh install | unpack FOLDER" ;;
esac
