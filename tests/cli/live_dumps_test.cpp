// SPDX-License-Identifier: GPL-3.0-or-later
// A second witness of what `stacks --language` shows: the runtime's own dump of a thread that
// waits, function by function and line by line.
#include "tests/cli/live_auger.h"
#include "tests/support/javas.h"
#include "tests/support/run.h"
#include "tests/support/text.h"

#include <gmock/gmock.h>

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ostream>
#include <regex>
#include <sstream>

namespace auger::test {
namespace {

// "handle waits_within.py:17", without what only one of the two says: classes, folders; no line
// where there is none.
using Frames = std::vector<std::string>;

struct Runtime {
    std::string name, program, script;
    // Of the process, with `path` for what it writes; innermost first.
    std::function<Frames(Program&, const std::string& path)> dump;
};

std::ostream& operator<<(std::ostream& out, const Runtime& runtime) {
    return out << runtime.name;
}

std::string base_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// Behind the class: of Shop.handle, Shop#handle.
std::string own_name(const std::string& function) {
    const size_t end = function.find_last_of(".#");
    return end == std::string::npos ? function : function.substr(end + 1);
}

// The matches of each line, as frames of their groups.
Frames frames_in(const std::string& dump, const std::regex& line, size_t function, size_t file,
                 size_t number) {
    Frames frames;
    std::istringstream lines(dump);
    for (std::string text; std::getline(lines, text);) {
        std::smatch found;
        if (!std::regex_search(text, found, line))
            continue;
        std::string frame = own_name(found[function]);
        if (found[number].matched)
            frame += " " + base_name(found[file]) + ":" + found[number].str();
        frames.push_back(frame);
    }
    return frames;
}

std::string written(const std::string& path, const std::string& end) {
    EXPECT_TRUE(wait_until([&] {
        return std::filesystem::exists(path) && content(path).find(end) != std::string::npos;
    })) << path;
    return content(path);
}

Frames by_faulthandler(Program& program, const std::string& path) {
    program.signal(SIGUSR1);
    static const std::regex line(R"re(File "(.*)", line (\d+) in (.+))re");
    return frames_in(written(path, "in <module>"), line, 3, 1, 2);
}

Frames by_backtrace(Program&, const std::string& path) {
    std::ofstream(path + ".wanted") << "now";
    static const std::regex line(R"re(^(.*):(\d+):in `(?:block in |rescue in )?(.+)'$)re");
    Frames frames = frames_in(written(path, "<main>"), line, 3, 1, 2);
    // Functions in C have their caller's place there.
    for (std::string& frame : frames)
        if (frame.starts_with("gets ") || frame.starts_with("each "))
            frame.resize(frame.find(' '));
    return frames;
}

// "main::inner called at FILE line 9": of each function where its caller is. The first two are what
// writes that, and the eval in which Perl calls it.
Frames by_caller(Program& program, const std::string& path) {
    program.signal(SIGUSR1);
    static const std::regex line(R"re(^(\S+) called at (.*) line (\d+)$)re");
    Frames frames;
    std::string place;
    for (const std::string& frame : frames_in(written(path, "end\n"), line, 1, 2, 3)) {
        const size_t end = frame.find(' ');
        if (!place.empty())
            frames.push_back(frame.substr(0, end) + place);
        place = frame.substr(end);
    }
    frames.push_back("(main)" + place);
    frames.erase(frames.begin());
    return frames;
}

Frames by_jstack(Program& program, const std::string&) {
    const std::string java = javas().front();
    const std::string all =
        run({java.substr(0, java.rfind('/')) + "/jstack", std::to_string(program.pid())}).out;
    const size_t main = all.find("\n\"main\"");
    EXPECT_NE(main, std::string::npos) << all;
    static const std::regex line(R"re(^\tat (.+)\((?:.*/)?(?:(.+\.java):(\d+)|.*)\)$)re");
    return frames_in(all.substr(main + 1, all.find("\n\n", main + 1) - main), line, 1, 2, 3);
}

class LiveDumps : public LiveTest, public testing::WithParamInterface<Runtime> {
  protected:
    void SetUp() override {
        LiveTest::SetUp();
        if (!IsSkipped() && access(GetParam().program.c_str(), X_OK) != 0)
            GTEST_SKIP() << GetParam().program << " is not installed";
    }

    // Of the thread that has a function of that name.
    static Frames seen(LiveAuger& auger) {
        Frames frames;
        for (const json& thread : auger.all("stacks --language")) {
            const json& stack = thread["stack"];
            if (stack.dump().find("handle\"") == std::string::npos)
                continue;
            for (size_t i = 0; i < stack.size(); i++) {
                const auto function = stack[i].get<std::string>();
                if (function.starts_with('[')) // a stub: code of no function's
                    continue;
                std::string frame = own_name(function);
                if (const json& source = thread["source"][i]; source.is_string())
                    if (const std::string place = source; !place.ends_with(":0"))
                        frame += " " + base_name(place);
                frames.push_back(frame);
            }
        }
        return frames;
    }
};

TEST_P(LiveDumps, OfAThreadThatWaitsAreItsStack) {
    const std::string path = folder_.path("dump");
    Program program(GetParam().program,
                    {std::string(AUGER_SOURCE_DIR "/tests/programs/") + GetParam().script, path});
    program.wait_ready();
    LiveAuger auger({"-p", std::to_string(program.pid())});
    ASSERT_TRUE(wait_until([&] { return auger.ask("status")["unwinding"]["pending"] == json(0); }));
    // It may still be on its way there.
    Frames frames;
    ASSERT_TRUE(wait_until([&] {
        const Frames before = std::exchange(frames, seen(auger));
        return !frames.empty() && frames == before;
    }));
    const Frames dump = GetParam().dump(program, path);
    EXPECT_GE(dump.size(), 6u); // handle, four times, and inner
    EXPECT_EQ(frames, dump);
    program.go();
    EXPECT_EQ(program.wait_exit(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    Runtimes, LiveDumps,
    testing::Values(Runtime{"Python", "/usr/bin/python3", "waits_within.py", by_faulthandler},
                    Runtime{"Java", javas().front(), "WaitsWithin.java", by_jstack},
                    Runtime{"Perl", "/usr/bin/perl", "waits_within.pl", by_caller},
                    Runtime{"Ruby", "/usr/bin/ruby", "waits_within.rb", by_backtrace}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace auger::test
