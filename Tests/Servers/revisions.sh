#!/usr/bin/env bash
# sabre/dav (Debian's php-sabre-dav 1.8.12) under 'php -S', with what Nextcloud and ownCloud have beside it: a stand-in for their
# versions of documents, after their documentation. What a PUT replaces is kept, and listed at
#   /remote.php/dav/versions/USER/versions/FILEID            as by Nextcloud, the present content included, which cannot be read there
#   /owncloud/remote.php/dav/meta/FILEID/v                   as by ownCloud 10, without the times of versions but in their names
# The files are at dav/files/USER and webdav below remote.php; USER is another name than the one to log in with. /plain/… is a
# server whose app for versions is switched off. A write is dated a second after the one before at least, so that none has to wait.
NAME=revisions; . "$(dirname "$0")/lib.sh"
install() { apt_need php php-cli php-xml php-mbstring php-sqlite3 php-sabre-dav; [ -f /usr/share/php/Sabre/autoload.php ] || apt_need no-such-program php-sabre-dav; }
start() {
  mkdir -p "$DIR/data" "$DIR/versions" "$DIR/tmp" "$DIR/www"
  cat > "$DIR/www/index.php" <<'C'
<?php
error_reporting(E_ALL & ~E_DEPRECATED & ~E_NOTICE & ~E_WARNING & ~E_STRICT); ini_set('display_errors', '0');
require getenv('SABRE_AUTOLOAD') ?: '/usr/share/php/Sabre/autoload.php';
use Sabre\DAV;

const OWNCLOUD = '{http://owncloud.org/ns}';
$d = getenv('SERVER_DIR');
$user = 'quire@example';
$auth = new Sabre\HTTP\BasicAuth();
$auth->setRealm('documents');
if ($auth->getUserPass() != [getenv('SERVER_USER'), getenv('SERVER_PASSWORD')]) {
  $auth->requireLogin();
  exit;
}

/** The user's files. */
class Home extends DAV\FSExt\Directory {
  private $user;
  function __construct($path, $user) { parent::__construct($path); $this->user = $user; }
  function getName() { return $this->user; }
}

/** One version; its entity tag has no quotes. */
class Revision extends DAV\File {
  private $path; private $isDated;
  function __construct($path, $isDated) { $this->path = $path; $this->isDated = $isDated; }
  function getName() { return basename($this->path); }
  function getSize() { return filesize($this->path); }
  function getETag() { return $this->isDated ? $this->getName() : null; }
  function getLastModified() { return $this->isDated ? (int)$this->getName() : null; }
  function getContentType() { return 'application/octet-stream'; }
  function get() { return fopen($this->path, 'r'); }
}

/** What a document holds now, as Nextcloud has it among its versions. */
class Present extends Revision {
  private $file;
  function __construct($file) { parent::__construct($file, true); $this->file = $file; }
  function getName() { return (string)filemtime($this->file); }
  function get() { throw new DAV\Exception\NotFound(); }
}

/** The versions of one document. */
class Revisions extends DAV\Collection {
  private $name; private $children;
  function __construct($name, $children) { $this->name = $name; $this->children = $children; }
  function getName() { return $this->name; }
  function getChildren() { return $this->children; }
}

/** A collection for each document, none of which is listed. */
class Histories extends DAV\Collection {
  private $name; private $find;
  function __construct($name, $find) { $this->name = $name; $this->find = $find; }
  function getName() { return $this->name; }
  function getChildren() { throw new DAV\Exception\MethodNotAllowed('Listing members of this collection is disabled'); }
  function getChild($id) {
    $found = ($this->find)($id);
    if (!$found) throw new DAV\Exception\NotFound();
    return $found;
  }
}

/** Moves what is moved, with its properties: sabre's own copies it into another directory. */
class Tree extends DAV\ObjectTree {
  private $top; private $files;
  function __construct($top, $root, $files) { parent::__construct($root); $this->top = $top; $this->files = $files; }
  private function place($path) { return $this->top . substr($path, strlen($this->files)); }
  function move($source, $destination) {
    list($from) = DAV\URLUtil::splitPath($source);
    list($to) = DAV\URLUtil::splitPath($destination);
    if ($from === $to) return parent::move($source, $destination);
    $node = $this->getNodeForPath($source);
    $properties = $node->getProperties([]);
    $node->deleteResourceData();
    rename($this->place($source), $this->place($destination));
    $this->markDirty($from);
    $this->markDirty($to);
    $this->getNodeForPath($destination)->updateProperties($properties);
  }
}

/** Keeps what is replaced, and tells which document is which. */
class Keeper extends DAV\ServerPlugin {
  private $top; private $kept; private $files; private $principal; private $before = 0;
  function __construct($top, $kept, $files, $principal) {
    $this->top = $top; $this->kept = $kept; $this->files = $files; $this->principal = $principal;
  }
  function initialize(DAV\Server $server) {
    $server->subscribeEvent('beforeWriteContent', [$this, 'replacing']);
    $server->subscribeEvent('afterWriteContent', [$this, 'replaced']);
    $server->subscribeEvent('afterCreateFile', [$this, 'created']);
    $server->subscribeEvent('beforeGetProperties', [$this, 'tell']);
  }
  private function place($uri) { return $this->top . substr($uri, strlen($this->files)); }
  function replacing($uri) {
    $path = $this->place($uri);
    $kept = $this->kept . '/' . fileinode($path);
    @mkdir($kept);
    $this->before = filemtime($path);
    copy($path, "$kept/{$this->before}");
  }
  function replaced($uri) {
    touch($this->place($uri), max(time(), $this->before + 1));
    clearstatcache();
  }
  // The number may have been another document's.
  function created($uri) {
    $kept = $this->kept . '/' . fileinode($this->place($uri));
    foreach (glob("$kept/*") as $old) unlink($old);
    @rmdir($kept);
  }
  function tell($uri, DAV\INode $node, &$asked, &$told) {
    $isFile = $node instanceof DAV\FSExt\Node;
    if ($isFile && ($key = array_search(OWNCLOUD . 'fileid', $asked)) !== false) {
      unset($asked[$key]);
      $told[200][OWNCLOUD . 'fileid'] = (string)fileinode($this->place($uri));
    }
    if ($uri === '' && $this->principal && ($key = array_search('{DAV:}current-user-principal', $asked)) !== false) {
      unset($asked[$key]);
      $told[200]['{DAV:}current-user-principal'] = new DAV\Property\Href($this->principal);
    }
    return true;
  }
}

/** The document of that number. */
$document = function ($id) use ($d) {
  foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator("$d/data", FilesystemIterator::SKIP_DOTS)) as $file) {
    if ($file->isFile() && (string)$file->getInode() === (string)$id) return $file->getPathname();
  }
  return null;
};
$kept = function ($id, $isDated) use ($d) {
  return array_map(fn($path) => new Revision($path, $isDated), glob("$d/versions/$id/*"));
};

preg_match('#^(/owncloud|/plain)?(/remote\.php/(?:dav|webdav))(/|$)#', $_SERVER['REQUEST_URI'], $parts);
$form = $parts[1] ?? '';
$address = $parts[2] ?? '';
if ($address === '/remote.php/dav') {
  $children = [new DAV\SimpleCollection('files', [new Home("$d/data", $user)])];
  if ($form === '/owncloud') {
    $children[] = new Histories('meta', fn($id) => $document($id)
      ? new DAV\SimpleCollection($id, [new Revisions('v', $kept($id, false))]) : null);
  } elseif ($form === '') {
    $children[] = new DAV\SimpleCollection('versions', [new DAV\SimpleCollection($user, [
      new Histories('versions', fn($id) => ($path = $document($id))
        ? new Revisions($id, array_merge([new Present($path)], $kept($id, true))) : null)])]);
  }
  $root = new DAV\SimpleCollection('root', $children);
  $files = "files/$user";
  $principal = "principals/users/$user/";
} else {
  $root = new DAV\FSExt\Directory("$d/data");
  $files = '';
  $principal = null;
}
$top = $files === '' ? "$d/data/" : "$d/data";
$server = new DAV\Server(new Tree($top, $root, $files));
$server->setBaseUri("$form$address/");
$pdo = new PDO("sqlite:$d/tmp/locks.db");
$pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
$pdo->setAttribute(PDO::ATTR_TIMEOUT, 10);
$pdo->exec('CREATE TABLE IF NOT EXISTS locks (id integer primary key asc, owner text, timeout integer, created integer, token text, scope integer, depth integer, uri text)');
$server->addPlugin(new DAV\Locks\Plugin(new DAV\Locks\Backend\PDO($pdo)));
$server->addPlugin(new Keeper($top, "$d/versions", $files, $principal));
$server->exec();
C
  daemon php env SERVER_DIR="$DIR" SERVER_USER="$SERVER_USER" SERVER_PASSWORD="$SERVER_PASSWORD" SABRE_AUTOLOAD="${SABRE_AUTOLOAD:-}" PHP_CLI_SERVER_WORKERS="${WORKERS:-8}" TMPDIR="$DIR/tmp" \
    php -d realpath_cache_size=0 -d upload_max_filesize=0 -d post_max_size=0 -d memory_limit=512M -d enable_post_data_reading=0 -d log_errors=0 \
    -S "127.0.0.1:$PORT" -t "$DIR/www" "$DIR/www/index.php"
  wait_tcp "$PORT" 20
  put URL "http://127.0.0.1:$PORT/remote.php/dav/files/quire%40example/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$DPID"; ready
}
main "$@"
