#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Static files, some of them compressed, to clients on this machine. In an empty folder; says when
# it is ready, and ends with its input.
set -eu
chmod 755 .
mkdir files
for size in 1 100 1000; do
    seq $((size * 100)) >files/$size.txt
done
port=$((20000 + $$ % 10000))
cat >nginx.conf <<END
daemon off;
worker_processes 2;
pid $PWD/pid;
error_log $PWD/errors;
events {}
http {
    access_log $PWD/access;
    gzip on;
    gzip_types text/plain;
    types { text/plain txt; }
    server { listen 127.0.0.1:$port; root $PWD/files; }
}
END
nginx -c "$PWD/nginx.conf" 2>nginx.log &
server=$!
until ab -n 1 "http://127.0.0.1:$port/1.txt" >ab.log 2>&1; do sleep 0.1; done
while :; do
    ab -k -c 8 -n 5000 "http://127.0.0.1:$port/1.txt"
    ab -c 4 -n 1000 "http://127.0.0.1:$port/100.txt"
    ab -k -c 4 -n 200 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/1000.txt"
done >ab.log 2>&1 &
load=$!
echo ready
read -r _ || true
kill $load
kill $server
wait
