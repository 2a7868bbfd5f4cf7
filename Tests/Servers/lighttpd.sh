#!/usr/bin/env bash
# lighttpd mod_webdav (sqlite property and lock store).
NAME=lighttpd; . "$(dirname "$0")/lib.sh"
install() { apt_need lighttpd lighttpd lighttpd-mod-webdav; [ -f /usr/lib/lighttpd/mod_webdav.so ] || apt_need no-such-program lighttpd-mod-webdav; }
start() {
  mkdir -p "$DIR/data" "$DIR/run" "$DIR/up"
  local user=""
  if [ "$(id -u)" = 0 ]; then user='server.username = "www-data"
server.groupname = "www-data"'; chmod 755 "$DIR"; chown www-data:www-data "$DIR/data" "$DIR/run" "$DIR/up"; fi
  printf '%s:%s\n' "$SERVER_USER" "$SERVER_PASSWORD" > "$DIR/users"; chmod 644 "$DIR/users"
  cat > "$DIR/lighttpd.conf" <<C
server.modules = ( "mod_auth", "mod_authn_file", "mod_webdav" )
server.document-root = "$DIR/data"
server.bind = "127.0.0.1"
server.port = $PORT
server.upload-dirs = ( "$DIR/up" )
server.errorlog = "$DIR/run/error.log"
$user
auth.backend = "plain"
auth.backend.plain.userfile = "$DIR/users"
auth.require = ( "/" => ( "method" => "basic", "realm" => "documents", "require" => "valid-user" ) )
webdav.activate = "enable"
webdav.is-readonly = "disable"
webdav.sqlite-db-name = "$DIR/run/dav.db"
mimetype.assign = ( "" => "application/octet-stream" )
webdav.opts = ( "propfind-depth-infinity" => "enable" )
C
  daemon lighttpd /usr/sbin/lighttpd -D -f "$DIR/lighttpd.conf"
  wait_tcp "$PORT" 20
  put URL "http://127.0.0.1:$PORT/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$DPID"; ready
}
main "$@"
