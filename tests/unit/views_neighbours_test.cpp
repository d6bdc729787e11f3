// SPDX-License-Identifier: GPL-3.0-or-later
// Callers and callees of one function, with recursion counted once.
#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/json/json_views.h"
#include "views/model/neighbours.h"
#include "views/text/views.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

using Times = std::map<std::string, double>; // ms by function

class NeighboursTest : public testing::Test {
  protected:
    NeighboursTest() {
        sample({"main", "a", "f"}, 3);
        sample({"main", "b", "f", "g"}, 5);
        sample({"main", "b", "f", "f", "g", "k:read"}, 7);            // direct recursion
        sample({"main", "a", "f", "b", "f", "g", "a", "f", "h"}, 11); // from a twice, g once
        sample({"f", "g"}, 13);                                       // nobody called it
        sample({"main", "g"}, 100);
    }
    void sample(const std::vector<std::string>& path, uint64_t weight_ms) {
        stream.sample(++now * ms, 1, stream.stack(path), {}, weight_ms * ms);
    }
    Neighbours of(const std::string& name, FunctionFocus::Kind kind) const {
        return sum_neighbours(model, {}, {}, {find_functions(model.symbols(), name).at(0), kind});
    }
    Times times(const Neighbours& found) const {
        Times times;
        for (const FunctionSums& of : found.neighbours)
            times[std::string(model.symbols().name(of.function))] = of.total.sum().weight_ns / ms;
        times["none"] = found.none.sum().weight_ns / ms;
        times["whole"] = found.function.sum().weight_ns / ms;
        return times;
    }
    Model model;
    SyntheticStream stream{model};
    uint64_t now = 0;
};

TEST_F(NeighboursTest, CountEachSampleOnceANeighbour) {
    Neighbours callers = of("f", FunctionFocus::Kind::callers);
    EXPECT_EQ(times(callers), (Times{{"a", 14}, {"b", 23}, {"none", 13}, {"whole", 39}}));
    EXPECT_EQ(model.symbols().name(callers.neighbours[0].function), "b"); // most time first
    EXPECT_EQ(times(of("f", FunctionFocus::Kind::callees)),
              (Times{{"b", 11}, {"g", 36}, {"h", 11}, {"none", 3}, {"whole", 39}}));
    EXPECT_EQ(times(of("read", FunctionFocus::Kind::callees)), (Times{{"none", 7}, {"whole", 7}}));
}

TEST_F(NeighboursTest, MayBeThoseOfALanguageAlone) {
    sample({"main", "p:serve", "eval", "z", "eval", "p:key", "compare"}, 2);
    sample({"main", "z"}, 4);
    const FunctionId z = find_functions(model.symbols(), "z").at(0);
    const auto of_language = [&](FunctionFocus::Kind kind) {
        return times(sum_neighbours(model, {}, {}, {z, kind}, FrameChoice::language));
    };
    EXPECT_EQ(of_language(FunctionFocus::Kind::callers),
              (Times{{"serve", 2}, {"none", 4}, {"whole", 6}}));
    EXPECT_EQ(of_language(FunctionFocus::Kind::callees),
              (Times{{"key", 2}, {"none", 4}, {"whole", 6}}));
    EXPECT_THAT(to_text(neighbours_view(model, {}, {z, FunctionFocus::Kind::callers}, {},
                                        FrameChoice::language)),
                HasSubstr("callers of z --language"));
}

TEST_F(NeighboursTest, FunctionsAreFoundAsTheyAreShown) {
    auto names = [&](const std::string& text) {
        std::set<std::string> names;
        for (FunctionId id : find_functions(model.symbols(), text))
            names.insert(std::string(model.symbols().name(id)));
        return names;
    };
    using Names = std::set<std::string>;
    sample({"ns::T<int>::run(int)", "ns::T<long>::run(int)", "parse(char const*)", "parse"}, 1);
    EXPECT_EQ(names("parse"), (Names{"parse"})); // in full before shortened
    EXPECT_EQ(names("ns::T<>::run").size(), 2u);
    EXPECT_EQ(names("ns::T<int>::run(int)").size(), 1u);
    EXPECT_EQ(names("run").size(), 2u) << "as gdb does";
    EXPECT_EQ(names("T<int>::run"), (Names{"ns::T<int>::run(int)"}));
    EXPECT_EQ(names("service:main"), (Names{"main"}));
    EXPECT_EQ(names("/usr/bin/service:main"), (Names{"main"}));
    EXPECT_EQ(names("libc:main"), Names{});
    EXPECT_EQ(names("ns::nothing"), Names{});
}

TEST_F(NeighboursTest, AreDrawnWithWhatRecursionMeans) {
    FunctionFocus callers{find_functions(model.symbols(), "f")[0], FunctionFocus::Kind::callers};
    std::string text = to_text(neighbours_view(model, {}, callers), ColourMode::none);
    EXPECT_THAT(text, HasSubstr("callers of f"));
    EXPECT_THAT(text, HasSubstr("5 samples with it on the stack, about 39.0 ms of thread time"));
    EXPECT_THAT(text, HasSubstr(" 59.0 %   23.0 ms         3"));
    EXPECT_THAT(text, HasSubstr("(no caller: the stack begins with it)"));
    EXPECT_THAT(text, HasSubstr("more than 100 % together"));
    FunctionFocus callees{find_functions(model.symbols(), "g")[0], FunctionFocus::Kind::callees};
    text = to_text(neighbours_view(model, {}, callees), ColourMode::none);
    EXPECT_THAT(text, HasSubstr("(itself)"));
    EXPECT_THAT(text, Not(HasSubstr("Recursion")));
    EXPECT_THAT(neighbours_json(model, {}, callees),
                HasSubstr(R"("function":"g","module":"/usr/bin/service","total":{"samples":5,)"));
}

} // namespace
} // namespace auger
