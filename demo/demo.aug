# auger's main job, on the bundled demo service: a small server with a known tail.
# About 3 % of its requests rebuild an index (CPU), about 1 % wait for a late answer (blocked), and a
# few for a lock.
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

echo == 4. What do slow requests do that fast ones do not, per request?
diff slow fast
assert share slow rebuild_index > 50%

echo == 5. Some slow requests hardly use the CPU: they wait. What for?
sample wall
slow fetch_quota > 8ms
wait until slow fetch_quota >= 3 for 60s
calls fetch_quota -n 2

echo == 6. The same samples, split at another threshold: nothing is restarted.
threshold handle_request p99
top slow -n 5

echo == The account: every call, every sample, every loss.
status

echo
echo To go on by yourself:
echo   build/release/auger -- build/release/tests/programs/demo_service
echo and type "help", or the lines of demo/demo.aug.
