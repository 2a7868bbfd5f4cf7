# Shared by the server scripts. Usage of each:  NAME.sh start [DIR]   |   NAME.sh stop DIR   |   NAME.sh install
# 'start' prints KEY=VALUE lines (URL, USER, PASS, PID, DIR, START_MS, ...) and keeps them in DIR/env.
# Every server listens on 127.0.0.1 only. PORT, SERVER_USER and SERVER_PASSWORD may be set by the caller.
set -eu
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SERVER_USER=${SERVER_USER:-quire}
SERVER_PASSWORD=${SERVER_PASSWORD:-quire-secret-key}

say() { printf '%s\n' "$*" >&2; }
die() { say "$NAME: $*"; exit 1; }
now_ms() { date +%s%3N; }

free_port() { # a port the kernel says is free now
  python3 -c 'import socket
s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'
}

have() { PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null 2>&1; }

apt_need() { # apt_need PROGRAM PACKAGE...
  local prog=$1; shift
  have "$prog" && return 0
  [ "$(id -u)" = 0 ] || die "$prog is missing: install $*"
  export DEBIAN_FRONTEND=noninteractive
  # What a package starts by itself would hold a port, and is of no use here.
  local policy=/usr/sbin/policy-rc.d made=
  [ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod +x "$policy"; made=1; }
  apt-get install -y -q --no-install-recommends "$@" </dev/null >&2 \
    || { apt-get update -q </dev/null >&2 && apt-get install -y -q --no-install-recommends "$@" </dev/null >&2; } \
    || { [ -z "$made" ] || rm -f "$policy"; die "$* cannot be installed"; }
  [ -z "$made" ] || rm -f "$policy"
}

venv_need() { # venv_need VENV PROGRAM PIP-ARGS... ; sets VENV_BIN
  local venv="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/quire-servers/$1" program=$2; shift 2
  VENV_BIN="$venv/bin"
  [ -x "$VENV_BIN/$program" ] && return 0
  have python3 || apt_need python3 python3 python3-venv
  python3 -m venv "$venv" >&2 && "$VENV_BIN/pip" -q install --disable-pip-version-check "$@" >&2 \
    || die "$* cannot be installed"
}

wait_http() { # wait_http URL SECONDS: any HTTP answer below 500
  local url=$1 lim=$(( $2 * 10 )) i=0 code
  while [ $i -lt $lim ]; do
    code=$(curl -s -o /dev/null -m 2 -w '%{http_code}' "$url" || true)
    [ "$code" -ge 100 ] 2>/dev/null && [ "$code" -lt 500 ] && return 0
    sleep 0.1; i=$((i+1))
  done
  tail -q -n 4 "$DIR"/*.log >&2 || true
  stop_all "$DIR"
  die "no good answer from $url"
}

begin() { # begin DIR-or-empty
  DIR=${1:-$(mktemp -d "${TMPDIR:-/tmp}/quire-$NAME.XXXXXX")}
  mkdir -p "$DIR"; DIR=$(cd "$DIR" && pwd)
  [ ! -s "$DIR/pids" ] || die "$DIR already holds a started server"
  : > "$DIR/env"; : > "$DIR/pids"
  PORT=${PORT:-$(free_port)}
  T0=$(now_ms)
}

put() { printf '%s=%s\n' "$1" "$2" | tee -a "$DIR/env"; }

start_time_of() { # field 22 of /proc/PID/stat, so that a reused pid is not taken for ours
  sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

daemon() { # daemon LABEL COMMAND...: starts it in a session of its own, sets DPID
  local label=$1; shift
  setsid "$@" >"$DIR/$label.log" 2>&1 </dev/null &
  DPID=$!
  remember "$DPID" "$label"
}

remember() { printf '%s %s %s\n' "$1" "$(start_time_of "$1")" "$2" >> "$DIR/pids"; }

wait_tcp() { # wait_tcp PORT SECONDS
  local i=0 lim=$(( ${2:-20} * 20 ))
  while [ $i -lt $lim ]; do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
    sleep 0.05; i=$((i+1))
  done
  tail -q -n 4 "$DIR"/*.log >&2 || true
  stop_all "$DIR"
  die "nothing answers on port $1"
}

ready() { put START_MS $(( $(now_ms) - T0 )); put DIR "$DIR"; }

group_alive() { # does any process that is not a zombie remain in process group $1?
  local f r
  for f in /proc/[0-9]*/stat; do
    r=$(sed 's/.*) //' "$f" 2>/dev/null) || continue
    set -- "$1" $r
    [ "${4:-}" = "$1" ] && [ "${2:-}" != Z ] && return 0
  done
  return 1
}

stop_all() { # newest first. Each entry leads a process group of its own (setsid): TERM to the group, KILL after 10 s
  local d=$1 pid st label i
  [ -f "$d/pids" ] || return 0
  tac "$d/pids" | while read -r pid st label; do
    [ -n "$st" ] && [ "$(start_time_of "$pid")" = "$st" ] || continue
    kill -TERM "$pid" 2>/dev/null || true
    i=0
    while [ $i -lt 50 ] && [ "$(start_time_of "$pid")" = "$st" ]; do
      case "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -c1)" in Z|'') break;; esac
      sleep 0.1; i=$((i+1))
    done
    i=0
    while group_alive "$pid" && [ $i -lt 30 ]; do
      if [ $i = 0 ]; then kill -TERM -- "-$pid" 2>/dev/null || true; fi
      if [ $i = 20 ]; then kill -KILL -- "-$pid" 2>/dev/null || true; fi
      sleep 0.1; i=$((i+1))
    done
  done
  rm -f "$d/pids"
}

main() {
  case "${1:-}" in
    install) install ;;
    start) install; begin "${2:-}"; start ;;
    stop) [ -n "${2:-}" ] || die "stop needs DIR"; stop_all "$2" ;;
    *) say "usage: $NAME.sh start [DIR] | stop DIR | install"; exit 2 ;;
  esac
}
