# A web server under load: why are some of its requests slow?
#     auger -p $(pidof apache2) -f apache.aug
# The load comes twice: 3,000 requests for a small file and 60 for a large one.

echo == 1. Time every request, its handler, and the compression of what is sent.
time ap_process_async_request
time ap_run_handler
time libz:deflate
echo ready
wait until calls ap_process_async_request >= 3060 for 60s
hist ap_process_async_request
hist ap_run_handler
status

echo == 2. Sample, and split the samples by whether the request turned out slow.
sample 999
split ap_process_async_request > p95
slow ap_run_handler > p99
echo ready
wait until calls ap_process_async_request >= 6120 for 60s
diff slow fast
calls ap_run_handler -n 20
flame
status

echo == 3. The same samples, split at another threshold.
threshold ap_process_async_request p99
status

assert lost == 0
