#!/usr/bin/env bash
# rclone serve webdav.
NAME=rclone; . "$(dirname "$0")/lib.sh"
install() { apt_need rclone rclone; }
start() {
  mkdir -p "$DIR/data"
  daemon rclone env RCLONE_CONFIG="$DIR/rclone.conf" RCLONE_CACHE_DIR="$DIR/cache" /usr/bin/rclone serve webdav --addr "127.0.0.1:$PORT" \
    --user "$SERVER_USER" --pass "$SERVER_PASSWORD" --vfs-cache-mode "${VFS:-off}" ${RCLONE_ARGS:-} "$DIR/data"
  wait_tcp "$PORT" 20
  put URL "http://127.0.0.1:$PORT/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$DPID"; ready
}
main "$@"
