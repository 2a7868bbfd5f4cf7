#!/usr/bin/env bash
# xandikos from PyPI: keeps each collection in a git repository, answers sync-collection (RFC 6578), has conditions but no
# LOCK. It asks for no password over plain HTTP.
NAME=xandikos; . "$(dirname "$0")/lib.sh"
install() { venv_need xandikos xandikos xandikos; }
start() {
  mkdir -p "$DIR/data" "$DIR/state"
  daemon xandikos "$VENV_BIN/xandikos" serve -d "$DIR/data" --state-dir "$DIR/state" --no-detect-systemd -l 127.0.0.1 -p "$PORT"
  wait_http "http://127.0.0.1:$PORT/" 30
  put URL "http://127.0.0.1:$PORT/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$DPID"; ready
}
main "$@"
