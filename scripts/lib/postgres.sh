# Sourced by scripts/pg: creates, starts, stops and removes a PostgreSQL cluster in a folder.
#
# A cluster is in $cluster: data/ (of the server), port, password, owner.log and, if the path is short
# enough, socket/. The server refuses to run as root; root runs it as the user postgres.

# Sets: bin (the server's programs), cluster, owner (who runs the server). $1 = folder.
open_cluster() {
  bin=$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | sort -V | tail -n 1)
  [[ -n $bin ]] || bin=$(dirname -- "$(command -v initdb || echo /none/initdb)")
  [[ -n $bin && -x $bin/initdb ]] || die "PostgreSQL is not installed: run scripts/setup first"
  cluster=$1
  if [[ -e $cluster/data/PG_VERSION ]]; then
    cluster=$(realpath -- "$cluster")
    owner=$(stat -c %U "$cluster/data")
  elif [[ $EUID -eq 0 ]]; then
    owner=postgres
  else
    owner=$(id -un)
  fi
  if [[ $EUID -ne 0 && $owner != "$(id -un)" ]]; then
    die "the cluster in $cluster belongs to $owner: run this as $owner or as root"
  fi
}

# Runs a command as the cluster's owner, from a directory that any user can enter.
as_owner() {
  if [[ $(id -un) == "$owner" ]]; then (cd / && "$@"); else (cd / && runuser -u "$owner" -- "$@"); fi
}

# Creates the folder in a place that the owner can use. If the owner cannot enter the home directory of the
# checkout, the folder is under /var/lib, and the requested folder is a link to it.
make_folder() {
  local real
  mkdir -p "$(dirname -- "$cluster")"
  [[ -e $cluster ]] || mkdir -m 0755 "$cluster"
  if ! as_owner test -x "$(realpath -- "$cluster")"; then
    real=/var/lib/skua-$(printf %s "$cluster" | sha256sum | cut -c1-12)
    note "$owner cannot enter $cluster: the cluster lies in $real, linked from there"
    rmdir "$cluster"
    mkdir -p -m 0755 "$real"
    ln -s "$real" "$cluster"
  fi
  cluster=$(realpath -- "$cluster")
  if [[ $EUID -eq 0 ]]; then chown "$owner" "$cluster"; fi
}

port_is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

choose_port() {
  local port
  for _ in {1..200}; do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000)) # below the ephemeral ports of Linux
    if port_is_free "$port"; then
      echo "$port"
      return
    fi
  done
  die "found no free port between 20000 and 32000"
}

# The socket's folder: only the owner may enter it, and connections through it need no password. A socket's
# path must stay below 108 characters.
socket_dir() {
  local path=$cluster/socket
  if ((${#path} > 80)); then path=/tmp/skua-$(printf %s "$cluster" | sha256sum | cut -c1-12); fi
  echo "$path"
}

# Where the folder of a throwaway cluster is. Each test creates a database, which creates about 700 files: on a
# measured machine 0.06 s in memory and 0.38 s on ext4.
throwaway_parent() {
  local needed_kb=$((8 * 1024 * 1024)) free_kb
  if [[ -n ${TMPDIR:-} ]]; then
    echo "$TMPDIR"
    return
  fi
  free_kb=$(df --output=avail /dev/shm 2>/dev/null | tail -n 1 || true)
  if [[ -w /dev/shm && ${free_kb:-0} -ge $needed_kb ]] && (($(memory_mb) >= 12 * 1024)); then
    echo /dev/shm
  else
    echo /tmp
  fi
}

# $1 = throwaway: not safe against a crash of the machine, for tests only.
write_settings() {
  local shared_mb
  shared_mb=$(($(memory_mb) / 4))
  ((shared_mb > 4096)) && shared_mb=4096
  ((shared_mb < 128)) && shared_mb=128
  local connections=100 wal_mb=8192 safety
  safety="fsync = on"
  if [[ ${1:-} == throwaway ]]; then
    safety=$'fsync = off\nfull_page_writes = off'
    connections=400
    wal_mb=1024
    ((shared_mb > 512)) && shared_mb=512
  fi
  cat <<SETTINGS
# Written by scripts/pg at each start. Your own settings: local.conf beside this file.
listen_addresses = '127.0.0.1'
port = $(cat "$cluster/port")
unix_socket_directories = '$(socket_dir)'
max_connections = $connections
max_locks_per_transaction = 256
shared_buffers = ${shared_mb}MB
work_mem = 16MB
maintenance_work_mem = 256MB
synchronous_commit = on
$safety
wal_compression = off
max_wal_size = ${wal_mb}MB
min_wal_size = 512MB
checkpoint_timeout = 15min
checkpoint_completion_target = 0.9
random_page_cost = 1.1
effective_io_concurrency = 200
jit = off
autovacuum_naptime = 20s
autovacuum_max_workers = 3
autovacuum_vacuum_scale_factor = 0.05
autovacuum_vacuum_insert_scale_factor = 0.1
autovacuum_analyze_scale_factor = 0.02
autovacuum_vacuum_cost_delay = 1ms
log_line_prefix = '%m [%p] %a '
include_if_exists = 'local.conf'
SETTINGS
}

# $1 = throwaway or nothing.
create_cluster() {
  [[ -e $cluster/data/PG_VERSION ]] && return
  id "$owner" >/dev/null 2>&1 || die "there is no user $owner to run PostgreSQL as"
  make_folder
  note "making a cluster in $cluster"
  choose_port >"$cluster/port"
  (umask 077 && head -c 18 /dev/urandom | base64 | tr '+/' '-_' >"$cluster/password")
  if [[ $EUID -eq 0 ]]; then chown "$owner" "$cluster/port" "$cluster/password"; fi
  if [[ ${1:-} == throwaway ]]; then touch "$cluster/throwaway"; fi
  as_owner "$bin/initdb" -D "$cluster/data" -U skua --pwfile="$cluster/password" \
    --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --lc-collate=C --lc-ctype=C.UTF-8 \
    --lc-messages=C --no-instructions >"$cluster/initdb.log" 2>&1 ||
    { cat "$cluster/initdb.log" >&2; die "initdb failed in $cluster"; }
  as_owner tee -a "$cluster/data/postgresql.conf" >/dev/null <<<"include = 'skua.conf'"
}

is_running() { as_owner "$bin/pg_ctl" -D "$cluster/data" status >/dev/null 2>&1; }

start_cluster() {
  local kind=''
  is_running && return
  if [[ -e $cluster/throwaway ]]; then kind=throwaway; fi
  if ! port_is_free "$(cat "$cluster/port")"; then
    note "port $(cat "$cluster/port") is taken by another program: choosing a new one"
    choose_port >"$cluster/port"
  fi
  write_settings $kind | as_owner tee "$cluster/data/skua.conf" >/dev/null
  as_owner mkdir -p -m 0700 "$(socket_dir)"
  [[ $(stat -c %U "$(socket_dir)") == "$owner" ]] ||
    die "$(socket_dir) belongs to another user: remove it, or set SKUA_STATE_DIR to a shorter path"
  as_owner "$bin/pg_ctl" -D "$cluster/data" -l "$cluster/data/server.log" -w -t 300 start \
    </dev/null >/dev/null 2>&1 ||
    { tail -n 20 "$cluster/data/server.log" >&2; die "PostgreSQL did not start; the end of its log is above"; }
  if [[ -z $("$bin/psql" -XAtq "$(cluster_url skua)" -c 'select 1' 2>/dev/null) ]]; then
    "$bin/psql" -XAtq "$(cluster_url postgres)" -c 'create database skua' >/dev/null
  fi
}

# $1 = smart, fast or immediate
stop_cluster() {
  is_running || return 0
  as_owner "$bin/pg_ctl" -D "$cluster/data" -m "$1" -w -t 300 stop >/dev/null ||
    die "PostgreSQL in $cluster did not stop"
}

destroy_cluster() {
  [[ -e $cluster/data/PG_VERSION ]] || return 0
  if is_running; then stop_cluster immediate; fi
  local sockets
  sockets=$(socket_dir)
  if [[ $sockets != "$cluster"/* ]]; then rm -rf -- "$sockets"; fi
  rm -rf -- "$cluster"
}

# The database of the last run, which users want to see: $cluster/database has its name.
default_database() { cat "$cluster/database" 2>/dev/null || echo skua; }

# $1 = database
set_default_database() { echo "$1" >"$cluster/database"; }

# Prints the URL of a database through the socket. $1 = database (default: the database of the last run).
cluster_url() {
  local host
  host=$(socket_dir | sed 's/%/%25/g; s/ /%20/g; s/&/%26/g; s/+/%2B/g; s/#/%23/g')
  printf 'postgresql://skua@/%s?host=%s&port=%s\n' "${1:-$(default_database)}" "$host" "$(cat "$cluster/port")"
}

cluster_tcp_url() {
  printf 'postgresql://skua:%s@127.0.0.1:%s/%s\n' "$(cat "$cluster/password")" "$(cat "$cluster/port")" \
    "${1:-$(default_database)}"
}
