# Sourced by the bash scripts: the paths of the checkout, and functions for messages.
# Sets: root (the checkout), state_dir (Skua's data: $SKUA_STATE_DIR, otherwise .skua in the checkout).

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
state_dir=${SKUA_STATE_DIR:-$root/.skua}

say() { printf '==> %s\n' "$*" >&2; }
note() { printf '    %s\n' "$*" >&2; }
die() {
  printf '%s: %s\n' "$(basename -- "$0")" "$*" >&2
  exit 1
}
usage_error() {
  printf '%s: %s\nTry: %s --help\n' "$(basename -- "$0")" "$*" "$0" >&2
  exit 2
}

# Ends the script after Ctrl-C, with a message if one is given. Without it, bash continues after a command that
# handles the signal or is in another process group.
end_on_ctrl_c() {
  interrupted=${1:-}
  trap 'if [[ -n $interrupted ]]; then note "$interrupted"; fi; exit 130' INT
}

# Prints the comment block at the top of a script as its help.
print_help() { sed -n '2,/^[^#]/{/^#/!q;s/^# \{0,1\}//;p}' "$0"; }

# Runs a command as root: directly, or through sudo.
as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    if [[ -t 0 ]]; then sudo "$@"; else sudo -n "$@"; fi
  else
    die "this needs root: run it as root, or install sudo. It wanted to run: $*"
  fi
}

# Asks a question on a terminal. Without one, or without an answer, the answer is no.
agree() {
  local answer=''
  [[ -t 0 ]] && { read -r -p "    $1 [y/N] " answer || true; }
  [[ $answer =~ ^[yY] ]]
}

# The memory of this machine or container, in MB.
memory_mb() {
  local mb limit
  mb=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || true)
  if [[ $limit =~ ^[0-9]+$ ]] && ((limit / 1048576 < mb)); then mb=$((limit / 1048576)); fi
  echo "$mb"
}

# How many compilers to run at once: one core and 2 GB for each.
job_count() {
  local jobs=$(($(memory_mb) / 2048)) cores
  cores=$(nproc)
  ((jobs > cores)) && jobs=$cores
  ((jobs < 1)) && jobs=1
  echo "$jobs"
}
