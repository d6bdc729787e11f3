#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A database of its own and four clients that read and write. In an empty folder; says when it is
# ready, and ends with its input.
set -eu
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
chown nobody .
as_nobody() { setpriv --reuid nobody --regid nogroup --clear-groups "$@"; }
as_nobody "$bin/initdb" -D data -U nobody -A trust --no-sync >initdb.log
as_nobody "$bin/postgres" -D data -k "$PWD" -c listen_addresses= -c fsync=off 2>server.log &
server=$!
until as_nobody pgbench -h "$PWD" -i -q -s 5 postgres 2>load.log; do sleep 0.1; done
as_nobody pgbench -h "$PWD" -n -c 4 -j 2 -T 600 postgres >load.log 2>&1 &
echo ready
read -r _ || true
kill -INT $server
wait
