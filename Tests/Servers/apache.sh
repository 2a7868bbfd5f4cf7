#!/usr/bin/env bash
# Apache 2.4 mod_dav + mod_dav_fs + mod_dav_lock. Locks: mod_dav_fs gives locks of its own (DavLockDB);
# mod_dav_lock is the generic lock module for other providers and is not used by mod_dav_fs.
NAME=apache; . "$(dirname "$0")/lib.sh"
install() { apt_need apache2 apache2; }
start() {
  local m=/usr/lib/apache2/modules user=""
  mkdir -p "$DIR/data" "$DIR/run"
  if [ "$(id -u)" = 0 ]; then user="User www-data
Group www-data"; chmod 755 "$DIR"; chown www-data:www-data "$DIR/data" "$DIR/run"; fi
  printf '%s:%s\n' "$SERVER_USER" "$(openssl passwd -apr1 "$SERVER_PASSWORD")" > "$DIR/htpasswd"; chmod 644 "$DIR/htpasswd"
  { for x in mpm_event authn_core authn_file authz_core authz_user auth_basic dir mime dav dav_fs dav_lock headers; do
      echo "LoadModule ${x}_module $m/mod_$x.so"; done
    cat <<C
$user
ServerName localhost
ServerRoot $DIR
PidFile $DIR/run/apache.pid
DefaultRuntimeDir $DIR/run
Mutex file:$DIR/run
Listen 127.0.0.1:$PORT
TypesConfig /etc/mime.types
ErrorLog $DIR/error.log
LogLevel warn
StartServers 1
MinSpareThreads 8
MaxSpareThreads 128
ThreadsPerChild 32
MaxRequestWorkers 128
KeepAlive On
MaxKeepAliveRequests 0
DocumentRoot $DIR/data
DavLockDB $DIR/run/DavLock
DavMinTimeout 1
DavDepthInfinity ${DAV_INFINITY:-on}
FileETag ${FILE_ETAG:-MTime Size INode}
LimitXMLRequestBody 10000000
<Directory $DIR/data>
  Dav On
  AuthType Basic
  AuthName documents
  AuthUserFile $DIR/htpasswd
  Require valid-user
  DirectoryIndex disabled
</Directory>
C
  } > "$DIR/apache.conf"
  [ -f /etc/mime.types ] || sed -i '/TypesConfig/d;/mod_mime/d' "$DIR/apache.conf"
  daemon apache /usr/sbin/apache2 -f "$DIR/apache.conf" -DFOREGROUND
  wait_tcp "$PORT" 20
  put URL "http://127.0.0.1:$PORT/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$DPID"; ready
}
main "$@"
