// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/real/haproxy.h"

#include "tests/real/ab.h"
#include "tests/support/run.h"

#include <sstream>
#include <stdexcept>

namespace auger::test {
namespace {

constexpr int quick_requests = 500;

std::string configuration(int port) {
    std::ostringstream text;
    text << "global\n nbthread 2\n"
         << "defaults\n mode http\n timeout client 20s\n timeout server 20s\n timeout connect 20s\n"
         << " timeout tarpit " << Haproxy::held_ms << "ms\n"
         << "frontend all\n bind 127.0.0.1:" << port << "\n"
         << " http-request tarpit if { path /held }\n"
         // What it has counted.
         << " http-request return content-type text/plain lf-string %rt if { path /count }\n"
         << " http-request return content-type text/plain string answer\n";
    return text.str();
}

} // namespace

Haproxy::Haproxy() : port_(free_port()) {
    start(programs[0], {"-db", "-f", folder_.file("configuration", configuration(port_))});
}

std::string Haproxy::get(const std::string& path) const {
    const Outcome outcome = run({programs[2], "--silent", "--show-error",
                                 "http://127.0.0.1:" + std::to_string(port_) + "/" + path});
    if (outcome.code != 0)
        throw std::runtime_error("HAProxy: " + outcome.err);
    return outcome.out;
}

void Haproxy::expect_answer() {
    requests();
}

uint64_t Haproxy::requests() const {
    return std::stoull(get("count"));
}

uint64_t Haproxy::load() const {
    request_by_ab(port_, "quick", quick_requests, 4);
    for (int i = 0; i < held_requests; ++i)
        get("held");
    return quick_requests + held_requests;
}

} // namespace auger::test
