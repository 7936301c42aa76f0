# Sourced by the tests of this folder and by scripts/release: bare Debian and Ubuntu systems in folders, made by mmdebstrap.
#
# The programs of a root share the network of this machine and have their own processes. Nothing of them outlives the
# command that started them.

# Sets: roots (a new folder for them, removed at the end unless keep=1). $1 = its name.
open_roots() {
  [[ $EUID -eq 0 ]] || die "only root can run this"
  command -v mmdebstrap >/dev/null || die "mmdebstrap is missing: run scripts/setup --with-install"
  roots=$(mktemp -d "${TMPDIR:-/tmp}/skua-$1-XXXXXX")
  trap close_roots EXIT
}
close_roots() {
  if ((${keep:-0})); then note "kept: $roots"; else rm -rf --one-file-system -- "$roots"; fi
}

# The keys of Ubuntu's packages. Debian 12 has no package of them.
ubuntu_keyring() { echo "${SKUA_UBUNTU_KEYRING:-/usr/share/keyrings/ubuntu-archive-keyring.gpg}"; }

# make_root NAME SUITE [PACKAGE...]: a minimal system of Debian, or of Ubuntu (noble), with some packages and the lists of apt.
make_root() {
  local name=$1 suite=$2 packages mirror=${SKUA_DEBIAN_MIRROR:-}
  local -a options=()
  shift 2
  if [[ $suite == noble ]]; then
    # The smallest Ubuntu has no apt.
    set -- apt "$@"
    mirror=${SKUA_UBUNTU_MIRROR:-}
    options=(--components=main,universe "--keyring=$(ubuntu_keyring)")
  fi
  packages=$(IFS=, && echo "ca-certificates,$*")
  mmdebstrap --quiet --variant=minbase "${options[@]}" --include="${packages%,}" --skip=cleanup/apt "$suite" \
    "$roots/$name" ${mirror:+"$mirror"} || die "mmdebstrap failed for $suite"
  if [[ -e /etc/resolv.conf ]]; then cp -L /etc/resolv.conf "$roots/$name/etc/resolv.conf"; fi
  # No package may start a service in a folder.
  printf '#!/bin/sh\nexit 101\n' >"$roots/$name/usr/sbin/policy-rc.d"
  chmod +x "$roots/$name/usr/sbin/policy-rc.d"
}

# in_root NAME COMMAND [ARGUMENT...]: as root, with an environment of its own. Only what a compiler stores
# (SKUA_CCACHE_DIR) and the settings of a proxy come from outside.
in_root() {
  local root=$roots/$1 variable
  local -a environment=(HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb)
  shift
  for variable in http_proxy https_proxy no_proxy; do
    if [[ -n ${!variable:-} ]]; then environment+=("$variable=${!variable}"); fi
  done
  if [[ -n ${SKUA_CCACHE_DIR:-} ]]; then
    mkdir -p "$SKUA_CCACHE_DIR" "$root/var/cache/ccache"
    environment+=(CCACHE_DIR=/var/cache/ccache CCACHE_UMASK=000)
  fi
  # shellcheck disable=SC2016
  unshare --mount --pid --fork --kill-child -- bash -c '
    set -e
    root=$1 ccache=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    if [[ -n $ccache ]]; then mount --bind "$ccache" "$root/var/cache/ccache"; fi
    exec chroot "$root" /usr/bin/env -i "$@"' _ "$root" "${SKUA_CCACHE_DIR:-}" "${environment[@]}" "$@" </dev/null
}

# copy_checkout NAME FOLDER: the files of this checkout that git knows or would add, as they are now.
copy_checkout() {
  mkdir -p "$roots/$1$2"
  (cd "$root" && git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do if [[ -e $file || -L $file ]]; then printf '%s\0' "$file"; fi; done |
    tar --create --null --files-from=- --owner=0 --group=0) | tar --extract --directory="$roots/$1$2"
}
