// SPDX-License-Identifier: GPL-3.0-or-later
// PHP's frames in samples, held against programs that know their own chains of calls. Debian's PHP
// always; others: AUGER_PHPS=/path/to/php7.4:/path/to/php8.4.
#include "bpf/unwind_table.h"
#include "loader/kernel/php_names.h"
#include "tests/kernel/program.h"
#include "tests/kernel/python_chains.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

namespace auger::test {
namespace {

using std::chrono::seconds;

const std::string program_source = AUGER_SOURCE_DIR "/tests/programs/php_chains.php";
const std::string requests_source = AUGER_SOURCE_DIR "/tests/programs/php_requests.php";

struct PhpMode {
    std::string name, php;
    std::vector<std::string> options;
};

// A sample's stack.
struct PhpStack {
    PythonStack all;
    // Of each run of execute_ex() the outermost function; and of frames that no native one runs.
    std::vector<std::string> entries;
};

PhpStack look_at_php(Session& session, StackId stack) {
    const SymbolTables& symbols = session.model().symbols();
    PhpStack seen;
    const auto locations = symbols.stack(stack);
    bool after_native = false, after_php = false;
    for (size_t i = locations.size(); i-- > 0;) {
        const auto kind = symbols.module(symbols.location(locations[i]).module).kind;
        const auto frames = symbols.found_frames(locations[i]);
        for (size_t k = frames.size(); k-- > 0;) {
            const std::string name(symbols.name(frames[k].function));
            const std::string file(symbols.text(frames[k].file));
            seen.all.text += fmt::format("  {} {}:{}\n", name, file, frames[k].line);
            seen.all.cut |= name.starts_with("[stack cut") || name.starts_with("[php: ");
            if (kind == ModuleKind::php && !name.starts_with("[php: ")) {
                if (!after_php)
                    seen.entries.push_back(after_native ? name : "(nobody)");
                seen.all.chain.push_back({name, file, frames[k].line});
            }
        }
        after_php = kind == ModuleKind::php;
        after_native = kind == ModuleKind::file;
    }
    seen.all.placed = std::ranges::find(seen.entries, "(nobody)") == seen.entries.end();
    return seen;
}

// Where C code begins to call a function, or has called it, its native frames are of another one
// than PHP's; a fiber's stack ends where the fiber begins.
bool has_places(const std::string& phase) {
    return phase != "calls from C" && phase != "fiber" && phase != "resumed fiber";
}

Agreement compare_php(const PhpStack& stack, const PythonStretch& truth) {
    const PythonStack& seen = stack.all;
    const auto lacks = seen.cut ? Agreement::lacking : Agreement::wrong;
    const size_t depth = truth.chain.size();
    if ((!seen.placed && has_places(truth.phase)) || seen.chain.size() < depth ||
        !std::equal(truth.chain.begin(), truth.chain.end() - 1, seen.chain.begin()))
        return lacks;
    const PythonFrame &innermost = seen.chain[depth - 1], &known = truth.chain.back();
    if (innermost.function != known.function || innermost.file != known.file ||
        innermost.line < truth.first_line || innermost.line > truth.last_line)
        return lacks;
    // In each phase it looks at clocks.
    const std::string& leaf = seen.chain.back().function;
    const bool reads_clock =
        seen.chain.size() == depth + 1 && (leaf == "hrtime" || leaf == "getrusage");
    for (size_t i = depth; i < seen.chain.size() && !reads_clock; i++)
        if (i - depth >= truth.inner.size() || seen.chain[i].function != truth.inner[i - depth])
            return lacks;
    return seen.cut && truth.phase != "fiber" && truth.phase != "resumed fiber" ? Agreement::lacking
                                                                                : Agreement::equal;
}

class PhpFrames : public KernelTest, public testing::WithParamInterface<PhpMode> {
  protected:
    void SetUp() override {
        KernelTest::SetUp();
        if (!std::filesystem::exists(GetParam().php))
            GTEST_SKIP() << GetParam().php << " is not installed";
    }
    static std::vector<std::string> arguments(std::initializer_list<std::string> more) {
        std::vector<std::string> all = GetParam().options;
        all.insert(all.end(), more);
        return all;
    }
    // Until a table is there, stacks through its module are cut, and PHP's frames are not known.
    static void await_tables(Session& session) {
        ASSERT_TRUE(
            session.pump_until([&] { return session.backend().unwind_status().pending.empty(); }));
    }
    // Until all is delivered.
    static void await_samples(Session& session) {
        ASSERT_TRUE(session.pump_until([&, before = size_t{0}]() mutable {
            return session.log.samples.size() == std::exchange(before, session.log.samples.size());
        }));
    }
};

TEST_P(PhpFrames, AreTheProgramsOwnChains) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    Program program(GetParam().php, arguments({program_source, path}));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    must(session.backend().set_sampling({.rate_hz = 999, .wall = true}));
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    must(session.backend().set_sampling({}));
    await_samples(session);
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));

    std::vector<std::string> wrong;
    std::map<std::string, PhaseCounts> phases;
    const auto stretches = read_python_stretches(path);
    EXPECT_GE(stretches.size(), 34u);
    for (const PythonStretch& stretch : stretches)
        phases[stretch.phase];
    for (const SampleEvent& sample : session.log.samples) {
        const ThreadInfo& thread = session.model().symbols().thread(sample.thread);
        const auto stretch = std::ranges::find_if(stretches, [&](const PythonStretch& one) {
            return one.tid == thread.tid && one.begin_ns <= sample.time_ns &&
                   sample.time_ns <= one.end_ns;
        });
        if (stretch == stretches.end())
            continue;
        PhaseCounts& counts = phases[stretch->phase];
        const PhpStack seen = look_at_php(session, sample.stack);
        if (stretch->phase == "deep recursion") {
            EXPECT_TRUE(seen.all.cut && seen.all.chain.size() > 450 &&
                        is_innermost_part(seen.all, *stretch))
                << seen.all.chain.size() << "\n"
                << seen.all.text;
            continue;
        }
        const Agreement agreement = compare_php(seen, *stretch);
        counts.equal += agreement == Agreement::equal;
        counts.lacking += agreement == Agreement::lacking;
        counts.wrong += agreement == Agreement::wrong;
        if (stretch->phase == "nested callbacks" && agreement == Agreement::equal) {
            EXPECT_EQ(seen.entries.size(), 4u) << seen.all.text;
        }
        if (agreement == Agreement::equal || wrong.size() >= 8)
            continue;
        std::string chain;
        for (const PythonFrame& frame : stretch->chain)
            chain += fmt::format("  {} {}:{}\n", frame.function, frame.file, frame.line);
        wrong.push_back(
            fmt::format("{}{}: {} ms after its begin, kind {}:\n{}but the chain was\n{}",
                        stretch->phase, agreement == Agreement::wrong ? "" : " (lacking)",
                        (sample.time_ns - stretch->begin_ns) / 1e6, static_cast<int>(sample.kind),
                        seen.all.text, chain));
    }
    PhaseCounts total;
    for (const auto& [phase, counts] : phases) {
        if (phase == "deep recursion")
            continue;
        fmt::print("{}: {} equal, {} lacking, {} wrong\n", phase, counts.equal, counts.lacking,
                   counts.wrong);
        EXPECT_GE(counts.all(), 20u) << phase;
        EXPECT_EQ(counts.wrong, 0u) << phase;
        total.equal += counts.equal;
        total.lacking += counts.lacking;
        total.wrong += counts.wrong;
    }
    EXPECT_GE(total.equal * 100, total.all() * 99) << total.lacking << " lack frames";
    if (HasFailure())
        fmt::print("{}\n", fmt::join(wrong, "\n"));
    for (const char* cause :
         {"unreadable", "gone before it was read", "memory that could not be read in time"})
        EXPECT_EQ(session.lost(fmt::format("PHP frames without a name: {}", cause)), 0u) << cause;
}

// What PHP calls in C is timed, and its callers are PHP's functions.
TEST_P(PhpFrames, AreTheCallersOfSlowCalls) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    Program program(GetParam().php, arguments({program_source, path}));
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    await_tables(session);
    session.time("libc:clock_nanosleep", {Threshold::Kind::fixed, 1, 0});
    program.go();
    ASSERT_TRUE(session.pump_until([&] { return std::filesystem::exists(path + ".done"); }));
    program.go();
    session.pump_to_end();
    EXPECT_EQ(program.wait_exit(), 0);
    session.backend().settle_symbols(seconds(60));

    const auto stretches = read_python_stretches(path);
    PhaseCounts sleeps;
    for (const SlowCall& call : session.model().slow_calls()) {
        const auto stretch = std::ranges::find_if(stretches, [&](const PythonStretch& one) {
            return one.phase == "usleep" && one.begin_ns <= call.end.call.start_ns &&
                   call.end.time_ns <= one.end_ns;
        });
        if (stretch == stretches.end())
            continue;
        const PhpStack seen = look_at_php(session, call.stack);
        const Agreement agreement = compare_php(seen, *stretch);
        sleeps.equal += agreement == Agreement::equal;
        sleeps.lacking += agreement == Agreement::lacking;
        EXPECT_NE(agreement, Agreement::wrong) << seen.all.text;
    }
    EXPECT_EQ(sleeps.all(), 40u);
    EXPECT_EQ(sleeps.equal, 40u);
}

uint16_t free_port() {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    close(listener);
    return ntohs(address.sin_port);
}

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

// Each request begins with empty memory, so that the functions of its files, which are other ones
// and of the same form, lie where those of the request before lay. None is taken for another one,
// although most of a short request's die before their names are read.
TEST_P(PhpFrames, OfRequestsAreTheirOwn) {
    TemporaryFolder folder;
    const std::string path = folder.path("stretches");
    const uint16_t port = free_port();
    setenv("AUGER_STRETCHES", path.c_str(), 1);
    Program program(GetParam().php,
                    arguments({"-S", fmt::format("127.0.0.1:{}", port), requests_source}));
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
    for (int i = 0; i < 300; i++) {
        ASSERT_TRUE(get_page(port, fmt::format("page_{}", i % 7)));
        session.pump_until([] { return true; });
    }
    must(session.backend().set_sampling({}));
    await_samples(session);
    program.signal(SIGTERM);
    session.pump_to_end();
    session.backend().settle_symbols(seconds(60));

    const auto stretches = read_python_stretches(path);
    EXPECT_GE(stretches.size(), 300u);
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
    EXPECT_GT(named, unnamed);
}

// In our own memory.
class PhpNamesTest : public testing::Test {
  protected:
    struct alignas(16) Object {
        char bytes[256] = {};
        void put(uint32_t offset, uint64_t word) {
            std::memcpy(bytes + offset, &word, sizeof word);
        }
        void text(const std::string& characters) {
            put(WIRE_PHP_TEXT_HASH, std::hash<std::string>{}(characters) | 1);
            put(WIRE_PHP_TEXT_LENGTH, characters.size());
            std::memcpy(bytes + WIRE_PHP_TEXT_CHARACTERS, characters.data(), characters.size());
        }
        uint64_t word(uint32_t offset) const {
            uint64_t word;
            std::memcpy(&word, bytes + offset, sizeof word);
            return word;
        }
        uint64_t address() const { return reinterpret_cast<uint64_t>(bytes); }
    };

    void SetUp() override {
        PhpFile file;
        file.version = 0x080224;
        file.loop.size = 1;
        const auto layout = php_layout(file);
        ASSERT_TRUE(layout.ok());
        layout_ = std::make_shared<const PhpLayout>(*layout);
        name_.text("handle");
        file_.text("/srv/app.php");
        function_.put(WIRE_PHP_FUNCTION_TYPE, WIRE_PHP_USER);
        function_.put(layout_->function_file, file_.address());
        function_.put(layout_->function_line, 7);
        names_.set_layout(getpid(), 0, layout_);
    }
    uint32_t cookie() const {
        const bool is_user = function_.bytes[0] == WIRE_PHP_USER;
        return wire_php_cookie(
            is_user ? 7 : 0, 0,
            function_.word(WIRE_PHP_FUNCTION_NAME) ? name_.word(WIRE_PHP_TEXT_HASH) : 0,
            is_user ? file_.word(WIRE_PHP_TEXT_HASH) : 0);
    }
    const FunctionName& name(uint64_t above = 0) {
        return names_.name(getpid(), WIRE_FRAME_PHP | function_.address(), above | cookie());
    }

    std::shared_ptr<const PhpLayout> layout_;
    Object name_, file_, function_;
    PhpNames names_;
};

TEST_F(PhpNamesTest, OfFunctionsAndOfTheCodeOfFiles) {
    function_.put(WIRE_PHP_FUNCTION_NAME, name_.address());
    EXPECT_EQ(name(uint64_t{42} << 32).frame.function, "handle");
    EXPECT_EQ(name(uint64_t{42} << 32).frame.line, 42u);
    EXPECT_EQ(name(uint64_t{42} << 32).file, "/srv/app.php");
    EXPECT_NE(name(uint64_t{42} << 32).address, name(uint64_t{43} << 32).address);
    function_.put(WIRE_PHP_FUNCTION_NAME, 0);
    EXPECT_EQ(name(uint64_t{9} << 32).frame.function, "{main}");
    EXPECT_EQ(name(WIRE_PHP_INCLUDED | uint64_t{9} << 32).frame.function, "include");
    EXPECT_EQ(name(WIRE_PHP_INCLUDED | uint64_t{9} << 32).frame.line, 9u);
    file_.text("/srv/app.php(9) : eval()'d code");
    EXPECT_EQ(name(WIRE_PHP_INCLUDED).frame.function, "eval");
    function_.put(WIRE_PHP_FUNCTION_NAME, name_.address());
    function_.bytes[0] = WIRE_PHP_INTERNAL;
    EXPECT_EQ(name().frame.function, "handle");
    EXPECT_EQ(name().file, "[php]");
    EXPECT_EQ(name().frame.file, "");
    EXPECT_THAT(names_.missing(), testing::Each(0u));
}

TEST_F(PhpNamesTest, FramesWithoutNamesAreCountedByCause) {
    function_.put(WIRE_PHP_FUNCTION_NAME, name_.address());
    const auto text = [&](uint64_t first, uint64_t second) {
        return names_.name(getpid(), first, second).frame.function;
    };
    EXPECT_EQ(text(WIRE_FRAME_PHP | WIRE_PHP_NO_FUNCTION, 0), "[php: unreadable]");
    EXPECT_EQ(text(WIRE_FRAME_PHP | function_.address(), cookie() ^ 1),
              "[php: gone before its name was read]");
    EXPECT_THAT(names_.missing(), testing::ElementsAre(1u, 1u, 0u));
    EXPECT_EQ(names_.memory_bytes(), 0u);
}

std::vector<PhpMode> php_modes() {
    const std::string debian = "/usr/bin/php8.2";
    std::vector<PhpMode> modes = {{"Debian", debian, {}},
                                  {"Opcache", debian, {"-d", "opcache.enable_cli=1"}}};
    const char* const others = std::getenv("AUGER_PHPS");
    std::istringstream paths(others ? others : "");
    for (std::string path; std::getline(paths, path, ':');) {
        std::string name = path.substr(path.rfind('/') + 1);
        for (char& letter : name)
            letter = std::isalnum(letter) ? letter : '_';
        if (!path.empty())
            modes.push_back({name, path, {}});
    }
    return modes;
}

INSTANTIATE_TEST_SUITE_P(Modes, PhpFrames, testing::ValuesIn(php_modes()),
                         [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
