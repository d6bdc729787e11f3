// SPDX-License-Identifier: GPL-3.0-or-later
// PHP's frames in samples of short requests, whose functions die with them.
#include "tests/kernel/php_chains.h"
#include "tests/kernel/program.h"
#include "tests/support/free_port.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

namespace auger::test {
namespace {

using std::chrono::seconds;

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/php_requests.php";

// Asks the server for a page, and waits for all of it. False: nobody listens.
bool get_page(uint16_t port, const std::string& page) {
    const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    const std::string request = fmt::format("GET /{} HTTP/1.0\r\n\r\n", page);
    bool answered = false;
    if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
        send(connection, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
        char bytes[4096];
        while (recv(connection, bytes, sizeof bytes, 0) > 0)
            answered = true;
    }
    close(connection);
    return answered;
}

class PhpRequests : public PhpTest {};

// Each request begins with empty memory, so that the functions of its files, which are other ones
// and of the same form, lie where those of the request before lay. None is taken for another one,
// although many of a short request's die before their names are read.
TEST_P(PhpRequests, HaveTheirOwnFrames) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    const uint16_t port = free_port();
    setenv("AUGER_STRETCHES", path.c_str(), 1);
    Program program(GetParam().program,
                    arguments({"-S", fmt::format("127.0.0.1:{}", port), program_source}));
    unsetenv("AUGER_STRETCHES");
    bool listens = false;
    for (int i = 0; i < 1000 && !listens; i++) {
        listens = get_page(port, "begin");
        usleep(10'000);
    }
    ASSERT_TRUE(listens);
    Session session;
    session.observe(program.pid());
    await_tables(session);
    must(session.backend().set_sampling({.rate_hz = 999}));
    // Names are read while requests go on.
    std::atomic<int> answered = 0;
    std::atomic<bool> done = false;
    {
        const std::jthread client([&] {
            for (int i = 0; i < 600; i++)
                answered += get_page(port, fmt::format("page_{}", i % 7));
            done = true;
        });
        EXPECT_TRUE(session.pump_until([&] { return done.load(); }));
    }
    EXPECT_EQ(answered, 600);
    must(session.backend().set_sampling({}));
    await_samples(session);
    program.signal(SIGTERM);
    session.pump_to_end();
    session.backend().settle_symbols(seconds(60));

    const auto stretches = read_python_stretches(path);
    EXPECT_GE(stretches.size(), 600u);
    uint64_t named = 0, unnamed = 0;
    for (const SampleEvent& sample : session.log.samples) {
        const auto stretch = std::ranges::find_if(stretches, [&](const PythonStretch& one) {
            return one.begin_ns <= sample.time_ns && sample.time_ns <= one.end_ns;
        });
        if (stretch == stretches.end())
            continue;
        const PhpStack seen = look_at_php(session, sample.stack);
        const Agreement agreement = compare_php(seen, *stretch);
        named += agreement == Agreement::equal;
        unnamed += agreement == Agreement::lacking;
        EXPECT_NE(agreement, Agreement::wrong) << stretch->phase << "\n" << seen.all.text;
    }
    fmt::print("of requests: {} samples with all names, {} without some\n", named, unnamed);
    EXPECT_GE(named + unnamed, 300u);
    EXPECT_GT(named, 0u);
}

INSTANTIATE_TEST_SUITE_P(Modes, PhpRequests, testing::ValuesIn(php_modes()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
