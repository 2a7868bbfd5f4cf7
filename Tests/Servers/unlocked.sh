#!/usr/bin/env bash
# nginx without LOCK: neither locks nor conditions, so that an update may be lost.
DAV_LOCKS= exec "$(dirname "$0")/nginx.sh" "$@"
