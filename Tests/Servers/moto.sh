#!/usr/bin/env bash
# moto_server from PyPI: a stand-in for AWS, in memory. Credentials are not checked.
NAME=moto; . "$(dirname "$0")/lib.sh"
install() { venv_need moto moto_server 'moto[s3,server]'; }
start() {
  daemon moto "$VENV_BIN/python" "$HERE/moto-serial.py" "$PORT"
  wait_http "http://127.0.0.1:$PORT/" 30
  put URL "http://127.0.0.1:$PORT/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$DPID"; ready
}
main "$@"
