// SPDX-License-Identifier: GPL-3.0-or-later
// What is shown can be typed: the names of real files' functions, as views show them, in full and
// shortened, through the key `t` and the console's language to the functions themselves.
#include "loader/probes/function_names.h"
#include "loader/reader/elf/function_index.h"
#include "loader/reader/matching/name_matcher.h"
#include "loader/reader/names/demangle.h"
#include "repl/language/lexer.h"
#include "tests/unit/synthetic_stream.h"
#include "views/model/fold.h"
#include "views/model/frame_kind.h"
#include "views/screen/drill.h"
#include "views/screen/pattern.h"
#include "views/short_name.h"
#include "views/spell.h"
#include "views/text/views.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

namespace auger {
namespace {

constexpr size_t most_names = 4000; // of one file, spread over it
constexpr size_t longest_probe = 4096;

struct Named {
    std::string symbol, shown;
};

std::vector<Named> names_of(const std::string& path) {
    auto file = ElfFile::open(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
    if (!file)
        return {};
    const FunctionIndex index(*file);
    const size_t step = std::max<size_t>(1, index.functions().size() / most_names);
    std::vector<Named> names;
    for (size_t i = 0; i < index.functions().size(); i += step) {
        const std::string symbol(index.best_name(index.functions()[i]));
        const std::string shown = demangle(symbol);
        // What was cut for its length, or has no end of its own (.cold), is nobody's to time.
        if (split_clone_name(symbol).kind != CloneKind::cold && shown.size() + 64 < longest_probe &&
            !shown.ends_with("..."))
            names.push_back({symbol, shown});
    }
    return names;
}

// The one word that is the command's probe.
std::string probe_in(const std::string& line) {
    const auto commands = lex(line);
    EXPECT_TRUE(commands) << line;
    if (!commands || commands->size() != 1 || (*commands)[0].words.size() != 2)
        return {};
    return (*commands)[0].words[1].text;
}

// Whether the text is a probe of this symbol's function. `whole`: also where its colon is the
// name's own and no library's.
bool finds(const std::string& text, const std::string& symbol) {
    const ParsedProbe parsed = parse_probe(text);
    if (!parsed.pattern || parsed.pattern->line || parsed.pattern->call_site)
        return false;
    ProbePattern pattern = *parsed.pattern;
    const std::string_view base = split_clone_name(symbol).base;
    if (NameMatcher(pattern).matches(base))
        return true;
    pattern.function = pattern.library + ":" + pattern.function;
    return NameMatcher(pattern).matches(base);
}

void expect_round_trip(const std::string& path) {
    if (access(path.c_str(), R_OK) != 0)
        GTEST_SKIP() << path << " is not installed";
    const std::vector<Named> names = names_of(path);
    ASSERT_GT(names.size(), 100u) << path;
    Model model(10);
    model.on_module(ModuleId{0}, {ModuleKind::file, path, ""});
    std::vector<std::string> pressed, typed;
    for (uint32_t i = 0; i < names.size(); i++) {
        model.on_location(LocationId{i}, {ModuleId{0}, 0x1000 + 16 * i, false});
        const Frame frame{names[i].shown, "", 0, false};
        model.on_frames(LocationId{i}, {&frame, 1});
    }
    for (uint32_t i = 0; i < names.size(); i++) {
        Subject subject;
        subject.function = model.symbols().frames(LocationId{i})[0].function;
        const Drill drill = drill_command(Action::time_it, model, {}, subject);
        if (!finds(probe_in(drill.command), names[i].symbol))
            pressed.push_back(names[i].shown + "\n    " + drill.command + drill.why_not);
        const std::string shown = short_name(names[i].shown);
        // These are typed in full: operators, thunks, and what is local to a function.
        std::string named = names[i].shown;
        constexpr std::string_view nameless = "(anonymous namespace)::";
        for (size_t at; (at = named.find(nameless)) != named.npos;)
            named.erase(at, nameless.size());
        bool in_full = named.find(")::") != std::string::npos;
        for (const char* part : {"operator", " thunk to ", " clone for ", "{lambda", "{unnamed"})
            in_full |= shown.find(part) != shown.npos;
        if (!in_full && !finds(probe_in("time " + spell_word(shown)), names[i].symbol))
            typed.push_back(names[i].shown + "\n    " + shown);
    }
    const auto some = [](const std::vector<std::string>& all) {
        std::string text;
        for (size_t i = 0; i < all.size() && i < 25; i++)
            text += "\n  " + all[i * all.size() / std::min<size_t>(25, all.size())];
        return text;
    };
    EXPECT_EQ(pressed.size(), 0u) << "of " << names.size() << some(pressed);
    EXPECT_EQ(typed.size(), 0u) << "of " << names.size() << some(typed);
}

TEST(ShownNames, OfTheCppLibraryCanBeTyped) {
    expect_round_trip("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
}

TEST(ShownNames, OfTheCLibraryCanBeTyped) {
    expect_round_trip("/usr/lib/x86_64-linux-gnu/libc.so.6");
}

// Templates, lambdas, operators, conversions.
TEST(ShownNames, OfThisProgramCanBeTyped) {
    expect_round_trip("/proc/self/exe");
}

TEST(ShownNames, OfGoCanBeTyped) {
    std::error_code none;
    expect_round_trip(std::filesystem::canonical("/usr/bin/go", none).string());
}

TEST(ShownNames, OfNodeCanBeTyped) {
    expect_round_trip("/usr/bin/node");
}

// Whoever types a name means the function of that name, however heavy others are that hold it.
TEST(Search, GoesToTheNameThatWasTyped) {
    const auto pattern = Pattern::compile("call");
    ASSERT_TRUE(pattern);
    using Fit = Pattern::Fit;
    EXPECT_EQ(pattern->fit("call"), Fit::whole);
    EXPECT_EQ(pattern->fit("ns::call(int, std::vector<int>)"), Fit::whole);
    EXPECT_EQ(pattern->fit("JS:*call /srv/app.js:12:3"), Fit::whole);
    EXPECT_EQ(pattern->fit("py::call:/srv/app.py"), Fit::whole);
    EXPECT_EQ(pattern->fit("ns::call_all()"), Fit::beginning);
    EXPECT_EQ(pattern->fit("main.(*call).serve"), Fit::words);
    EXPECT_EQ(pattern->fit("__libc_start_call_main"), Fit::inside);
    EXPECT_EQ(pattern->fit("other"), Fit::none);
    EXPECT_EQ(Pattern::compile("ca.+l_a")->fit("call_all"), Fit::beginning);
}

// Frames that nothing can be attached to say what they are, and lead to what can be timed.
class FramesWithoutCode : public testing::Test {
  protected:
    void SetUp() override {
        model_.on_module(ModuleId{0}, {ModuleKind::file, "/srv/app", ""});
        model_.on_module(ModuleId{1}, {ModuleKind::jit, "[jit]", ""});
        add(0, {{"parse", "", 0, true}, {"handle(int)", "", 0, false}});
        add(1, {{"JS:*onRequest /srv/app.js:12:3", "", 0, false}});
        add(1, {{"py::do_GET:/srv/app.py", "", 0, false}});
        add(0, {{"main", "", 0, false}});
        // main > handle > parse, main > onRequest, main > do_GET
        const std::vector<std::vector<uint32_t>> stacks = {{0, 3}, {1, 3}, {2, 3}};
        model_.on_thread(ThreadId{0}, {1, 1, "app"});
        for (uint32_t i = 0; i < stacks.size(); i++) {
            std::vector<LocationId> stack;
            for (const uint32_t location : stacks[i])
                stack.push_back(LocationId{location});
            model_.on_stack(StackId{i}, stack);
            SampleEvent sample;
            sample.time_ns = 1'000 + i;
            sample.weight_ns = 1'000'000;
            sample.thread = ThreadId{0};
            sample.stack = StackId{i};
            model_.on_sample(sample);
        }
        model_.on_time(2'000);
    }
    void add(uint32_t module, const std::vector<Frame>& frames) {
        model_.on_location(LocationId{locations_}, {ModuleId{module}, 16 * locations_, false});
        model_.on_frames(LocationId{locations_++}, frames);
    }
    Drill time(const std::string& name) {
        Subject subject;
        subject.function = functions_meant(model_.symbols(), name).at(0);
        return drill_command(Action::time_it, model_, {}, subject);
    }
    Model model_{100};
    uint32_t locations_ = 0;
};

TEST_F(FramesWithoutCode, LeadToTheFunctionAroundThem) {
    EXPECT_EQ(time("handle").note, "");
    const Drill inlined = time("parse");
    EXPECT_EQ(inlined.command, "time \"handle(int)\"");
    EXPECT_EQ(inlined.note, "parse is inlined wherever it was seen: this is of handle, around it");
    const Drill script = time("onRequest");
    EXPECT_EQ(script.command, "time main");
    EXPECT_EQ(script.note, "JS:*onRequest /srv/app.js:12:3 is JavaScript, which is compiled or "
                           "interpreted at run time: this is of main, around it");
    EXPECT_NE(time("do_GET").note.find("a Python function"), std::string::npos);
}

TEST_F(FramesWithoutCode, AreFoundByTheirNamesInTheSource) {
    FlameTree tree = fold(model_, {}, {}, GroupBy::process, "onRequest");
    EXPECT_EQ(tree.total().samples, 1);
    EXPECT_EQ(fold(model_, {}, {}, GroupBy::process, "do_GET").total().samples, 1);
    const std::string none = to_text(flame_view(model_, {}, {}, GroupBy::process, "Request"));
    EXPECT_NE(none.find("No frame is called \"Request\"; there are JS:*onRequest"),
              std::string::npos)
        << none;
}

} // namespace
} // namespace auger
