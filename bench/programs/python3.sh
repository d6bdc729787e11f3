#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Python and the C libraries behind it. Says when it is ready, and ends with its input.
cat >load.py <<'END'
import bz2, decimal, hashlib, json, random, re, sqlite3, zlib
words = [str(random.random()) for _ in range(5000)]
table = sqlite3.connect(":memory:")
table.execute("create table words (word text)")
print("ready", flush=True)
while True:
    text = json.dumps({word: list(word) for word in words})
    json.loads(text)
    re.findall(r"(\d)\d*\1", text)
    hashlib.sha256(zlib.compress(text.encode())).hexdigest()
    bz2.compress(text.encode()[:200_000])
    sum(decimal.Decimal(word) / 3 for word in words)
    sorted(words, key=lambda word: word[::-1])
    table.executemany("insert into words values (?)", [(word,) for word in words])
    table.execute("select word, count(*) from words group by word order by 2").fetchall()
    table.execute("delete from words")
END
/usr/bin/python3 load.py &
read -r _
kill $!
