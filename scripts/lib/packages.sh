# Sourced by scripts/setup: chooses packages by what is installed and by what the system offers.
#
# An alternative such as "postgresql|postgresql-17" is satisfied by one of its packages.

# Prints each alternative of which no package is installed.
missing_of() {
  local alternative name
  local -A installed
  # dpkg-query fails if a package is unknown to it, but its list of the others is still valid.
  while read -r name; do installed[$name]=1; done < <(
    dpkg-query -W -f='${db:Status-Status} ${Package}\n' $(tr '|' ' ' <<<"$*") 2>/dev/null | sed -n 's/^installed //p'
  )
  for alternative in "$@"; do
    for name in ${alternative//|/ }; do [[ -n ${installed[$name]:-} ]] && continue 2; done
    echo "$alternative"
  done
}

# Prints the first package of an alternative that apt offers; the first of all if it offers none.
offered_of() {
  local name
  for name in ${1//|/ }; do
    if apt-cache show --no-all-versions "$name" >/dev/null 2>&1; then
      echo "$name"
      return
    fi
  done
  echo "${1%%|*}"
}

# Boost with its library for JSON, 1.81 or newer. The development packages of Boost's versions exclude each other:
# a version that is installed comes first, then the tested ones.
boost_package() {
  local version installed
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' 'libboost1.*-dev' 2>/dev/null |
    sed -nE 's/^installed libboost(1\.8[1-8])-dev$/\1/p' | sort -V | tail -n 1)
  if [[ -n $installed ]]; then
    echo "libboost-json$installed-dev"
    return
  fi
  local -a names
  for version in 83 81 88 87 86 85 84 82; do names+=("libboost-json1.$version-dev"); done
  (IFS='|' && echo "${names[*]}")
}

# The packages that an installation would remove, one a line.
removed_by() { apt-get -s install --no-install-recommends "$@" 2>/dev/null | sed -n 's/^Remv \([^ ]*\).*/\1/p'; }

# What a system without apt needs, in its own names where they are known. Only Debian's names are tested.
needs_elsewhere() {
  local id=''
  # shellcheck disable=SC1091
  id=$(. /etc/os-release 2>/dev/null && echo " ${ID:-} ${ID_LIKE:-} ")
  case $id in
    *" fedora "*)
      echo "These are the names of Fedora's packages, which are untested:
    dnf install gcc-c++ cmake ninja-build pkgconf-pkg-config git ccache mold file boost-devel libpqxx-devel libpq-devel \\
      libcbor-devel json-devel spdlog-devel fmt-devel openssl-devel libsecp256k1-devel cli11-devel tomlplusplus-devel \\
      libzstd-devel zlib-devel c-ares-devel libicu-devel postgresql-server postgresql"
      ;;
    *" arch "*)
      echo "These are the names of Arch's packages, which are untested:
    pacman -S base-devel cmake ninja git ccache mold file boost libpqxx postgresql-libs libcbor nlohmann-json spdlog fmt \\
      openssl libsecp256k1 cli11 tomlplusplus zstd zlib c-ares icu postgresql"
      ;;
    *)
      echo "    a compiler for C++20 (GCC from 12, or clang: 19 is tested), CMake 3.25, Ninja, pkg-config, git
    Boost from 1.81 with Boost.JSON, libpqxx, libpq, libcbor, nlohmann-json, spdlog, fmt, OpenSSL 3, libsecp256k1,
    CLI11, toml++, zstd, zlib, c-ares, ICU, each with its headers
    PostgreSQL from 15 with initdb and psql"
      ;;
  esac
  echo "    Chart.js 3 or 4: set the CMake variable SKUA_CHARTS to its file chart.min.js or chart.umd.js"
}
