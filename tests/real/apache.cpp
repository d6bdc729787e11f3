// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/apache.h"

#include "tests/real/ab.h"
#include "tests/support/wait.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <sstream>
#include <stdexcept>

namespace auger::test {

namespace {

std::string configuration(const TemporaryFolder& folder, int port, int pool) {
    std::ostringstream text;
    text << "ServerName localhost\nListen 127.0.0.1:" << port << "\nServerRoot " << folder.path("")
         << "\nPidFile pid\nErrorLog errors\nDocumentRoot " << folder.path("") << "\n";
    for (const char* name : {"mpm_event", "authz_core", "filter", "deflate"})
        text << "LoadModule " << name << "_module /usr/lib/apache2/modules/mod_" << name << ".so\n";
    text << "User nobody\nGroup nogroup\nServerLimit 1\nStartServers 1\nThreadsPerChild " << pool
         << "\nMaxRequestWorkers " << pool
         << "\nSetOutputFilter DEFLATE\n"
         // Every request is logged, with how many microseconds it took.
         << "LogFormat %D duration\nCustomLog log duration\n";
    return text.str();
}

// The least of many times, in nanoseconds.
double open_ns(const std::string& path) {
    using Clock = std::chrono::steady_clock;
    Clock::duration least = Clock::duration::max();
    for (int i = 0; i < 1000; i++) {
        const auto begin = Clock::now();
        const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        least = std::min(least, Clock::now() - begin);
        if (file < 0)
            throw std::runtime_error("no " + path);
        close(file);
    }
    return std::chrono::duration<double, std::nano>(least).count();
}

} // namespace

Apache::Apache() : port_(free_port()) {
    folder_.file("small", "hello\n");
    std::ostringstream numbers;
    for (int i = 0; i < 100'000; i++)
        numbers << i << '\n';
    folder_.file("large", numbers.str());
    // -X: its threads are in the process that was started here, which is no daemon.
    start(programs[0],
          {"-X", "-f", folder_.file("configuration", configuration(folder_, port_, pool))});
    // The one request so far is logged behind its answer.
    if (!wait_until([this] { return !logged_durations().empty(); }))
        throw std::runtime_error("Apache does not log its requests");
}

void Apache::request(const std::string& file, int requests, int clients) const {
    request_by_ab(port_, file, requests, clients);
}

uint64_t Apache::load() {
    auto large =
        std::async(std::launch::async, [this] { request("large", large_requests, large_clients); });
    request("small", small_requests, small_clients);
    large.get();
    return small_requests + large_requests;
}

void Apache::expect_answer() {
    request("small", 1, 1);
}

std::vector<uint64_t> Apache::logged_durations() {
    std::vector<uint64_t> durations;
    for (const std::string& line : new_lines(folder_.path("log")))
        durations.push_back(std::stoull(line) * 1000);
    return durations;
}

// A small answer wakes ab, which may take the CPU until it has read whatever came for all its
// clients and sent their next requests: most of what is logged can be that, but the handler has at
// least opened the file. Nearly all of a large request is compression, in the handler.
double Apache::least_inner_ns(double q, double logged_ns) const {
    constexpr double large_from =
        1 - static_cast<double>(large_requests) / (small_requests + large_requests);
    return q > large_from ? logged_ns / 2 : open_ns(folder_.path("small"));
}

bool Apache::is_cause(std::string_view function) const {
    return function.starts_with("libz"); // its inner functions have no names in Debian
}

} // namespace auger::test
