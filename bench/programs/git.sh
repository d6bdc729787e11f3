#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The history of a repository that is made here, read and packed over and over. In an empty folder;
# says when it is ready, and ends with its input.
set -eu
export HOME="$PWD" GIT_CONFIG_NOSYSTEM=1
git init -q repository
cd repository
awk 'BEGIN {
    srand(1)
    for (commit = 1; commit <= 1500; commit++) {
        text = ""
        for (line = 0; line < 400; line++)
            text = text int(line + commit * rand() / 100) " of file " commit % 40 "\n"
        printf "commit refs/heads/main\ncommitter A <a@b> %d +0000\ndata 2\nx\n", commit
        printf "M 644 inline file%d\ndata %d\n%s\n", commit % 40, length(text), text
    }
}' | git fast-import --quiet
echo ready
while :; do
    git log -p --stat main >/dev/null
    git repack -adfq
    git blame main -- file1 >/dev/null
done &
load=$!
read -r _ || true
kill $load
wait
