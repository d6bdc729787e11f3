// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/nginx.h"

#include "tests/real/ab.h"
#include "tests/support/wait.h"

#include <future>
#include <sstream>
#include <stdexcept>

namespace auger::test {

namespace {

constexpr int small_requests = 1'000, large_requests = 40, large_clients = 2;
constexpr int small_clients = Nginx::clients - large_clients;
constexpr int paced_requests = 40;

std::string configuration(const TemporaryFolder& folder, int port) {
    std::ostringstream text;
    text << "daemon off;\nmaster_process off;\nworker_processes 1;\nuser root;\n"
         << "pid " << folder.path("pid") << ";\nerror_log " << folder.path("errors") << ";\n"
         << "events { worker_connections 64; }\n"
         << "http {\n log_format duration $request_time;\n access_log " << folder.path("log")
         << " duration;\n limit_req_zone $binary_remote_addr zone=paced:1m rate=20r/s;\n gzip "
            "on;\n gzip_comp_level 9;\n gzip_types *;\n gzip_http_version 1.0;\n";
    for (const char* kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
        text << " " << kind << "_temp_path " << folder.path(kind) << ";\n";
    text << " server {\n  listen 127.0.0.1:" << port << ";\n  root " << folder.path("")
         << ";\n  default_type text/plain;\n  location /paced { limit_req zone=paced burst=100; }\n"
         << " }\n}\n";
    return text.str();
}

} // namespace

Nginx::Nginx() : port_(free_port()) {
    folder_.file("small", "hello\n");
    folder_.file("paced", "hello\n");
    std::ostringstream numbers;
    for (int i = 0; i < 100'000; i++)
        numbers << i << '\n';
    folder_.file("large", numbers.str());
    start(programs[0], {"-p", folder_.path(""), "-e", folder_.path("errors"), "-c",
                        folder_.file("configuration", configuration(folder_, port_))});
    // A request is logged behind its answer.
    if (!wait_until([this] { return logged_requests() > 0; }))
        throw std::runtime_error("nginx does not log its requests");
}

void Nginx::request(const std::string& file, int requests, int clients) const {
    request_by_ab(port_, file, requests, clients);
}

uint64_t Nginx::load() const {
    auto large =
        std::async(std::launch::async, [this] { request("large", large_requests, large_clients); });
    request("small", small_requests, small_clients);
    large.get();
    return small_requests + large_requests;
}

uint64_t Nginx::paced_load() const {
    request("paced", paced_requests, clients);
    return paced_requests;
}

std::vector<double> Nginx::logged_durations() {
    std::vector<double> durations;
    for (const std::string& line : new_lines(folder_.path("log")))
        durations.push_back(std::stod(line));
    return durations;
}

} // namespace auger::test
