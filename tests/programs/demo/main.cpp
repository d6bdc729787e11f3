// SPDX-License-Identifier: GPL-3.0-or-later
//
// A small service with a tail. Clients in the same process ask it for account statements over
// loopback sockets; most answers take a fraction of a millisecond, and a few are much slower, for
// quite different reasons that averages do not show. Find them.
#include "common/truth.h"
#include "demo/call_log.h"
#include "demo/load.h"
#include "demo/quota.h"
#include "demo/service.h"

#include <iterator>

namespace {

uint64_t threads = 4, seed = 1;
double rate = 500;
const char* truth_path = nullptr;
const char* log_path = nullptr;

CallLog call_log;

void report(FILE* out) {
    call_log.report(out);
    if (truth_path && !call_log.write(truth_path)) {
        perror(truth_path);
        truth_expect(false, "the file of --truth could not be written");
    }
    if (log_path && !call_log.write_details(log_path)) {
        perror(log_path);
        truth_expect(false, "the file of --log could not be written");
    }
}

const truth_option options[] = {
    {"threads", TRUTH_NUMBER, &threads, "workers, and as many clients, 1 to 64"},
    {"rate", TRUTH_DECIMAL, &rate, "requests a second in all, at most 100000"},
    {"seed", TRUTH_NUMBER, &seed, "of the random numbers that choose the requests"},
    {"truth", TRUTH_TEXT, &truth_path, "write every call: start end tid kind in_start in_end"},
    {"log", TRUTH_TEXT, &log_path, "write all that is known of every call, as JSON"},
};
const truth_program program = {
    "demo_service",
    "answers requests, a few of them late; --calls counts requests in all",
    options,
    std::size(options),
    nullptr,
    0,
    report,
    nullptr,
    0,
    0};

} // namespace

int main(int argc, char** argv) {
    const Calibration calibration = Calibration::measure();
    truth_start(argc, argv, &program);
    if (threads < 1 || threads > 64 || rate <= 0 || rate > 100'000) {
        fprintf(stderr, "demo_service: --threads or --rate is out of range\n");
        return 2;
    }
    {
        const auto count = static_cast<unsigned>(threads);
        const QuotaServer quota(count);
        const Service service(count, calibration.index_entries, quota.port(), call_log);
        Load load({.clients = count, .rate = rate, .requests = truth_calls(), .seed = seed},
                  calibration, service.port());
        load.wait();
    }
    return truth_finish();
}
