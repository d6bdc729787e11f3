# auger's main job, on the bundled demo service: a small server with a known tail.
# About 3 % of its requests rebuild an index (CPU), about 1 % wait for a late answer (blocked).
# Run by `./run demo`; every line is a command that can be typed at the prompt as well.

echo == 1. Sample everything, and time every request.
sample 999
time handle_request
wait until calls handle_request >= 1500 for 60s
flame

echo == 2. How long do requests take? The tail is far from the middle.
hist handle_request

echo == 3. Split what was sampled by whether its request turned out slower than its own p95.
split handle_request > p95
flame slow
flame fast

echo == 4. What do slow requests do that fast ones do not, per request?
diff slow fast
assert share slow rebuild_index > 50%

echo == 5. Some slow requests hardly use the CPU. Trace those, and what they call.
slow handle_request > 8ms
slow fetch_quota > 8ms
wait until slow fetch_quota >= 3 for 60s
calls fetch_quota -n 3

echo == 6. The same samples, split at another threshold: nothing is restarted.
threshold handle_request p99
diff slow fast

echo == The account: every call, every sample, every loss.
status
