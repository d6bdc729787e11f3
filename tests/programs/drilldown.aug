# The same way as demo/drilldown.aug, on the C program drilldown.c.

echo == 1. Sample everything, running or waiting, and time every call.
sample wall 999
time handle
wait until calls handle >= 1000 for 60s
assert samples >= 100

echo == 2. Split what was sampled by whether its call turned out slower than its own p95.
split handle > p95
diff slow fast
assert p99 handle > 2ms

echo == 3. Keep only the calls that took the branch.
split at drilldown.c:181
only at drilldown.c:181
wait until samples slow+taken >= 20 for 60s
flame slow+taken
assert share slow+taken recv > 30%

echo == 4. From where does it receive? Three places. Trace the second with its values.
sites recv in fetch
time recv@drilldown.c:98
slow recv@drilldown.c:104 > 1ms show fd, len, ret, errno
wait until slow recv@drilldown.c:104 >= 5 for 60s

echo == 5. Each late recv at that line, and one that fails, with its errno.
calls recv@drilldown.c:104 -n 3
slow recv@drilldown.c:112 > 1ns if ret < 0 show len, ret, errno
wait until slow recv@drilldown.c:112 >= 5 for 60s
calls recv@drilldown.c:112 -n 2
status
