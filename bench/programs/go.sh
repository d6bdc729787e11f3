#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A large package, compiled by Go's own compiler over and over. In an empty folder; says when it is
# ready, and ends with its input.
export HOME="$PWD" GOCACHE="$PWD/cache" GO111MODULE=off GOFLAGS=
echo ready
while :; do go build -a net/http; done >/dev/null 2>&1 &
load=$!
read -r _
kill $load
wait
