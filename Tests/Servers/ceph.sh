#!/usr/bin/env bash
# Ceph's RADOS Gateway (Debian's packages) on a cluster of one monitor, manager and object store, in memory, without cephx.
NAME=ceph; . "$(dirname "$0")/lib.sh"
install() { apt_need radosgw radosgw ceph-mon ceph-osd ceph-mgr ceph-common; }
start() {
  local fsid m1 m2 c uuid
  fsid=$(cat /proc/sys/kernel/random/uuid); m1=$(free_port); m2=$(free_port)
  mkdir -p "$DIR/mon" "$DIR/mgr" "$DIR/osd" "$DIR/rgw" "$DIR/run"
  cat > "$DIR/ceph.conf" <<C
[global]
fsid = $fsid
mon host = [v2:127.0.0.1:$m1,v1:127.0.0.1:$m2]
mon initial members = a
public network = 127.0.0.0/8
cluster network = 127.0.0.0/8
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv4 = true
ms bind ipv6 = false
auth cluster required = none
auth service required = none
auth client required = none
auth supported = none
ms mon client mode = crc
ms client mode = crc
ms cluster mode = crc
ms service mode = crc
run dir = $DIR/run
admin socket = $DIR/run/\$name.asok
pid file = $DIR/run/\$name.pid
log file = $DIR/\$name.log
mon cluster log file = $DIR/cluster.log
crash dir = $DIR/run
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon warn on pool no redundancy = false
mon data avail warn = 1
mon data avail crit = 1
mon max pg per osd = 1000
osd objectstore = memstore
memstore device bytes = 4294967296
osd memory target = 939524096
mon osd full ratio = 0.99
mon osd backfillfull ratio = 0.985
mon osd nearfull ratio = 0.98
osd failsafe full ratio = 0.999
[mon]
mon data = $DIR/mon
[mgr]
mgr data = $DIR/mgr
mgr initial modules =
[osd]
osd data = $DIR/osd
[client]
rgw data = $DIR/rgw
rgw enable usage log = false
rgw run sync thread = false
rgw enable ops log = false
rgw thread pool size = 64
rgw num rados handles = 1
rgw gc obj min wait = 60
C
  c="-c $DIR/ceph.conf"
  monmaptool --create --clobber --fsid "$fsid" --addv a "[v2:127.0.0.1:$m1,v1:127.0.0.1:$m2]" "$DIR/monmap" >"$DIR/setup.log" 2>&1
  ceph-mon $c --mkfs -i a --monmap "$DIR/monmap" >>"$DIR/setup.log" 2>&1
  daemon mon ceph-mon $c -i a -f
  daemon mgr ceph-mgr $c -i x -f
  uuid=$(cat /proc/sys/kernel/random/uuid)
  timeout 30 ceph $c osd new "$uuid" >>"$DIR/setup.log" 2>&1
  ceph-osd $c -i 0 --mkfs --osd-uuid "$uuid" >>"$DIR/setup.log" 2>&1
  timeout 20 ceph $c osd crush add osd.0 1.0 root=default host=lab >>"$DIR/setup.log" 2>&1
  daemon osd ceph-osd $c -i 0 -f
  daemon rgw radosgw $c -n client.rgw -f --rgw-frontends "beast endpoint=127.0.0.1:$PORT"
  local rgw=$DPID
  wait_http "http://127.0.0.1:$PORT/" 90
  radosgw-admin $c user create --uid="$SERVER_USER" --display-name=quire --access-key="$SERVER_USER" --secret-key="$SERVER_PASSWORD" >>"$DIR/setup.log" 2>&1
  put URL "http://127.0.0.1:$PORT/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$rgw"; ready
}
main "$@"
