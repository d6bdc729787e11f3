# The whole way on the bundled demo service: from "some requests are slow" to the one recv that is
# late, and what it was asked for. Nothing is restarted on the way, neither the service nor auger.
# Each step is asserted: the file fails if it finds something else.
#     build/release/auger --batch -f demo/drilldown.aug -- build/release/tests/programs/demo_service

echo == 1. Sample everything, running or waiting, and time every request.
sample wall 999
time handle_request
wait until calls handle_request >= 1500 for 60s
assert samples >= 100

echo == 2. Split what was sampled by whether its request turned out slower than its own p95.
split handle_request > p95
diff slow fast
assert p99 handle_request > 2ms
assert share slow recv > 20%

echo == 3. Some slow requests ask the quota server. Keep only the requests that took this branch.
split at service.cpp:92
only at service.cpp:92
wait until taken handle_request >= 100 for 60s
flame slow+taken
assert share slow+taken recv > 50%

echo == 4. From where does it receive? Two places. Time the one, trace the other with its values.
sites recv in fetch_quota
time recv@quota.cpp:52
slow recv@quota.cpp:60 > 1ms show fd, len, ret, errno
wait until slow recv@quota.cpp:60 >= 5 for 60s
wait until calls recv@quota.cpp:52 >= 20 for 60s
assert p50 recv@quota.cpp:52 < 1ms

echo == 5. Each late recv at that line: how long, from whom, what it asked for and what it got.
calls recv@quota.cpp:60 -n 3
status
