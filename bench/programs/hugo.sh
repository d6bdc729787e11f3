#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A site of many pages, built over and over. In an empty folder; says when it is ready, and ends
# with its input.
set -eu
mkdir -p content layouts/_default
echo 'baseURL = "http://localhost/"' >config.toml
echo '<html>{{ .Title }} {{ .Content }} {{ range .Site.RegularPages }}{{ .Title }}{{ end }}</html>' \
    >layouts/_default/single.html
cp layouts/_default/single.html layouts/_default/list.html
for page in $(seq 300); do
    {
        printf -- '---\ntitle: page %s\n---\n' "$page"
        seq 200 | sed 's/.*/# Heading &\n* some *text* of `line` & in a list, with [a link](&)\n/'
    } >"content/$page.md"
done
echo ready
while :; do hugo --quiet -d public >/dev/null 2>&1; done &
load=$!
read -r _ || true
kill $load
wait
