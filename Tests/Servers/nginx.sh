#!/usr/bin/env bash
# nginx core dav module (PUT DELETE MKCOL COPY MOVE) + dav-ext (PROPFIND OPTIONS LOCK UNLOCK).
NAME=nginx; . "$(dirname "$0")/lib.sh"
install() { apt_need nginx nginx-light libnginx-mod-http-dav-ext; [ -f /usr/lib/nginx/modules/ngx_http_dav_ext_module.so ] || apt_need no-such-program libnginx-mod-http-dav-ext; }
start() {
  local user=""
  mkdir -p "$DIR/data" "$DIR/tmp"
  if [ "$(id -u)" = 0 ]; then user="user www-data;"; chmod 755 "$DIR"; chown -R www-data:www-data "$DIR/data" "$DIR/tmp"; fi
  printf '%s:%s\n' "$SERVER_USER" "$(openssl passwd -apr1 "$SERVER_PASSWORD")" > "$DIR/htpasswd"; chmod 644 "$DIR/htpasswd"
  cat > "$DIR/nginx.conf" <<C
load_module /usr/lib/nginx/modules/ngx_http_dav_ext_module.so;
daemon off; worker_processes 2; pid $DIR/nginx.pid; error_log $DIR/error.log warn; $user
events { worker_connections 256; }
http {
  access_log off; client_max_body_size 0;
  client_body_temp_path $DIR/tmp/body; proxy_temp_path $DIR/tmp/proxy; fastcgi_temp_path $DIR/tmp/fcgi;
  uwsgi_temp_path $DIR/tmp/uwsgi; scgi_temp_path $DIR/tmp/scgi;
  dav_ext_lock_zone zone=locks:4m;
  server {
    listen 127.0.0.1:$PORT; root $DIR/data;
    auth_basic documents; auth_basic_user_file $DIR/htpasswd;
    location / {
      dav_methods PUT DELETE MKCOL COPY MOVE;
      dav_ext_methods PROPFIND OPTIONS ${DAV_LOCKS-LOCK UNLOCK};
      dav_ext_lock zone=locks;
      create_full_put_path off; min_delete_depth 0; autoindex on; dav_access user:rw group:r all:r;
    }
  }
}
C
  daemon nginx /usr/sbin/nginx -e "$DIR/error.log" -c "$DIR/nginx.conf"
  wait_tcp "$PORT" 20
  put URL "http://127.0.0.1:$PORT/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$DPID"; ready
}
main "$@"
