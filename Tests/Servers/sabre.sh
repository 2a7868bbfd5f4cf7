#!/usr/bin/env bash
# sabre/dav (Debian's php-sabre-dav 1.8.12) under 'php -S', with Digest authentication.
# PHP_CLI_SERVER_WORKERS gives php -S several processes, or every request waits for the one before.
# A process that remembers what a path was (realpath_cache) answers wrongly about what another has made there since.
NAME=sabre; . "$(dirname "$0")/lib.sh"
install() { apt_need php php-cli php-xml php-mbstring php-sqlite3 php-sabre-dav; [ -f /usr/share/php/Sabre/autoload.php ] || apt_need no-such-program php-sabre-dav; }
start() {
  mkdir -p "$DIR/data" "$DIR/tmp" "$DIR/www"
  cat > "$DIR/www/index.php" <<'C'
<?php
error_reporting(E_ALL & ~E_DEPRECATED & ~E_NOTICE & ~E_WARNING & ~E_STRICT); ini_set('display_errors', '0');
require getenv('SABRE_AUTOLOAD') ?: '/usr/share/php/Sabre/autoload.php';
$d = getenv('SERVER_DIR');
$auth = new Sabre\HTTP\DigestAuth();
$auth->setRealm('documents');
$auth->init();
if ($auth->getUserName() !== getenv('SERVER_USER') || !$auth->validatePassword(getenv('SERVER_PASSWORD'))) {
  $auth->requireLogin();
  exit;
}
$root = class_exists('Sabre\DAV\FSExt\Directory') ? new Sabre\DAV\FSExt\Directory("$d/data") : new Sabre\DAV\FS\Directory("$d/data");
$server = new Sabre\DAV\Server($root);
$server->setBaseUri('/');
// The backend of one file forgets locks that are asked for at the same moment.
$pdo = new PDO("sqlite:$d/tmp/locks.db");
$pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$pdo->setAttribute(PDO::ATTR_TIMEOUT, 10);
$pdo->exec('CREATE TABLE IF NOT EXISTS locks (id integer primary key asc, owner text, timeout integer, created integer, token text, scope integer, depth integer, uri text)');
$server->addPlugin(new Sabre\DAV\Locks\Plugin(new Sabre\DAV\Locks\Backend\PDO($pdo)));
if (class_exists('Sabre\DAV\PartialUpdate\Plugin')) $server->addPlugin(new Sabre\DAV\PartialUpdate\Plugin());
if (class_exists('Sabre\DAV\PropertyStorage\Plugin')) {
  $pdo = new PDO("sqlite:$d/tmp/props.db"); $pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION); $pdo->setAttribute(PDO::ATTR_TIMEOUT, 10);
  $pdo->exec('CREATE TABLE IF NOT EXISTS propertystorage (id integer primary key asc NOT NULL, path text NOT NULL, name text NOT NULL, valuetype integer NOT NULL, value string NOT NULL)');
  $pdo->exec('CREATE UNIQUE INDEX IF NOT EXISTS path_property ON propertystorage (path, name)');
  $server->addPlugin(new Sabre\DAV\PropertyStorage\Plugin(new Sabre\DAV\PropertyStorage\Backend\PDO($pdo)));
}
if (class_exists('Sabre\DAV\Sync\Plugin')) $server->addPlugin(new Sabre\DAV\Sync\Plugin());
$server->exec();
C
  daemon php env SERVER_DIR="$DIR" SERVER_USER="$SERVER_USER" SERVER_PASSWORD="$SERVER_PASSWORD" SABRE_AUTOLOAD="${SABRE_AUTOLOAD:-}" PHP_CLI_SERVER_WORKERS="${WORKERS:-8}" TMPDIR="$DIR/tmp" \
    php -d realpath_cache_size=0 -d upload_max_filesize=0 -d post_max_size=0 -d memory_limit=512M -d enable_post_data_reading=0 -d log_errors=0 \
    -S "127.0.0.1:$PORT" -t "$DIR/www" "$DIR/www/index.php"
  wait_tcp "$PORT" 20
  put URL "http://127.0.0.1:$PORT/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$DPID"; ready
}
main "$@"
