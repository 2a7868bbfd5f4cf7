#!/bin/bash
# Mounts drives from fstab in each of its forms, with Quire installed as `make install` does it. Run as root in a mount
# namespace of its own: what is laid over /usr, /etc/passwd and /etc/fstab is seen by this script alone.
# usage: unshare --mount fstab.sh QUIRE DIRECTORY
set -euo pipefail
quire=$(realpath "$1")
cd "$2"
directory=$PWD
sources=$(realpath "$(dirname "$0")/../../..")
mount --make-rprivate /

"$sources/Scripts/install" "$quire" "$directory/root" /usr
mount -t overlay -o "lowerdir=$directory/root/usr/bin:/usr/bin" overlay /usr/bin
mount -t overlay -o "lowerdir=$directory/root/usr/libexec:/usr/libexec" overlay /usr/libexec
mount -t overlay -o "lowerdir=$directory/root/sbin:/usr/sbin" overlay /usr/sbin
chmod 755 .
install -d -o 12345 -g 12345 ada ada/Drive
cp /etc/passwd passwd
echo "ada:x:12345:12345::$directory/ada:/bin/sh" >>passwd
mount --bind passwd /etc/passwd
mkdir drive 'a drive'
touch fstab
mount --bind fstab /etc/fstab

# as_ada COMMAND…   runs it as an ordinary user.
as_ada() { setpriv --reuid=12345 --regid=12345 --clear-groups env HOME="$directory/ada" "$@"; }

# ended HOME   waits until the daemon of a home is gone.
ended() {
    local process
    process=$(cat "$1/daemon.pid")
    [ -z "$process" ] || timeout 20 tail --pid="$process" -f /dev/null
}

# Whatever happens, no daemon is left.
trap 'for file in home*/daemon.pid ada/.local/share/quire/daemon.pid; do
    [ ! -s "$file" ] || kill "$(cat "$file")" || true
done' EXIT

# check NAME LINE MOUNTPOINT HOME [AS…]   mounts by a line of fstab and by `mount -a`, works as whom, and unmounts.
check() {
    echo "$2" >/etc/fstab
    mount "$3"
    "${@:5}" sh -c 'echo hello >"$1/f"' sh "$3"
    [ "$(cat "$4/drive/f")" = hello ] || { echo "$1: not the drive of $4"; exit 1; }
    # Nothing is done twice.
    mount -a
    [ "$(grep -cF " ${3// /\\040} " /proc/self/mountinfo)" = 1 ] || { echo "$1: mounted twice"; exit 1; }
    umount "$3"
    ended "$4"
    echo "ok $1"
}

check helper "$directory/home1 $directory/drive fuse.quire defaults,nofail,x-systemd.automount,_netdev 0 0" \
    "$directory/drive" "$directory/home1"
check blanks "$directory/home\\0401 $directory/a\\040drive fuse.quire rw,noatime,readers=1 0 0" \
    "$directory/a drive" "$directory/home 1"
check mount.fuse3 "quire#$directory/home2 $directory/drive fuse defaults,nofail,uid=1000 0 0" \
    "$directory/drive" "$directory/home2"
check setuid "none $directory/ada/Drive fuse.quire setuid=ada,nofail 0 0" \
    "$directory/ada/Drive" "$directory/ada/.local/share/quire" as_ada

# What ada wrote is ada's, and the commands find the same configuration as the daemon.
stat -c '%U %n' ada/.local/share/quire/drive ada/.config/quire/config.toml
test ! -e ada/.local/share/quire/config.toml
echo "ok owner"

# An ordinary user mounts and unmounts what fstab lets users mount.
echo "none $directory/ada/Drive fuse.quire noauto,user 0 0" >/etc/fstab
as_ada mount "$directory/ada/Drive"
as_ada cat "$directory/ada/Drive/f"
! cat "$directory/ada/Drive/f" 2>/dev/null
as_ada umount "$directory/ada/Drive"
ended ada/.local/share/quire
echo "ok user"

# A dead mount is replaced by mount(8), too; wrong options are refused with the reason.
echo "$directory/home1 $directory/drive fuse.quire defaults 0 0" >/etc/fstab
mount drive
kill -KILL "$(cat home1/daemon.pid)"
mount drive
cat drive/f
umount drive
ended home1
for option in frobnicate drop_privileges setuid=nobody-at-all; do
    ! mount -o "$option" drive 2>refusal
    cat refusal
done
echo "ok dead"
