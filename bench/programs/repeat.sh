#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The command that its arguments are, over and over. Says when it is ready, and ends with its
# input.
echo ready
while :; do "$@" >/dev/null 2>&1 </dev/null; done &
load=$!
read -r _
kill $load
wait
