// SPDX-License-Identifier: GPL-3.0-or-later
// Frames of a language and native ones apart from each other, in every view that can show either.
#include "tests/support/durations.h"
#include "tests/unit/panes_fixture.h"
#include "tests/unit/synthetic_stream.h"
#include "views/exports/collapsed.h"
#include "views/exports/export.h"
#include "views/json/json_views.h"
#include "views/model/flame_stream.h"
#include "views/model/language_places.h"
#include "views/screen/flame_colours.h"
#include "views/screen/flame_pane.h"
#include "views/screen/table_pane.h"
#include "views/text/views.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

class FrameChoiceTest : public testing::Test {
  protected:
    FrameChoiceTest() {
        const auto runs = [&](const std::vector<std::string>& path, int samples) {
            for (int i = 0; i < samples; i++)
                stream.sample(++now_ * ms, 100, stream.stack(path));
        };
        runs({"main", "p:serve", "eval", "sort", "p:key", "eval", "compare"}, 4);
        runs({"main", "p:serve", "eval"}, 2);
        runs({"main", "collect", "k:page_fault"}, 3);
    }
    std::string folded(FrameChoice frames, const std::string& under = {}) const {
        return collapsed_stacks(model, {{{}, GroupBy::process, under, frames}, {}});
    }
    FunctionId function(const std::string& name) const {
        return model.symbols()
            .frames(const_cast<SyntheticStream&>(stream).location(name))[0]
            .function;
    }

    Model model;
    SyntheticStream stream{model};

  private:
    uint64_t now_ = 0;
};

TEST_F(FrameChoiceTest, SamplesAddUpWhateverIsShown) {
    EXPECT_EQ(folded(FrameChoice::all), "service;main;collect;page_fault 3\n"
                                        "service;main;serve;eval 2\n"
                                        "service;main;serve;eval;sort;key;eval;compare 4\n");
    // A sample without any is of what is around it.
    EXPECT_EQ(folded(FrameChoice::language), "# frames: language.\n"
                                             "service 3\n"
                                             "service;serve 2\n"
                                             "service;serve;key 4\n");
    EXPECT_EQ(folded(FrameChoice::native), "# frames: native.\n"
                                           "service;main;collect;page_fault 3\n"
                                           "service;main;eval 2\n"
                                           "service;main;eval;sort;eval;compare 4\n");
    EXPECT_EQ(folded(FrameChoice::language, "serve;key"), "# frames: language.\nservice;key 4\n");
}

TEST_F(FrameChoiceTest, IsThatOfTheTextAndOfJson) {
    const std::string text =
        to_text(flame_view(model, {}, {}, GroupBy::process, {}, FrameChoice::language));
    EXPECT_THAT(text, HasSubstr("flame --language"));
    EXPECT_THAT(text, HasSubstr("serve  main.cc:14\n"));
    EXPECT_THAT(text, Not(HasSubstr("eval")));
    const auto json =
        nlohmann::json::parse(flame_json(model, {}, {}, GroupBy::process, {}, FrameChoice::native));
    EXPECT_EQ(json["frames"], "native");
    double samples = 0;
    for (const auto& stack : json["stacks"]) {
        EXPECT_FALSE(testing::Value(stack["stack"], testing::Contains("serve")));
        samples += stack["samples"].get<double>();
    }
    EXPECT_EQ(samples, 9);
    EXPECT_EQ(nlohmann::json::parse(flame_json(model, {}))["frames"], "all");
}

// What runs in frames that are not listed is the nearest listed function's own.
TEST_F(FrameChoiceTest, OwnTimeIsThatOfTheNearestFunctionShown) {
    const auto of = [&](FrameChoice frames) {
        std::map<std::string, std::pair<double, double>> functions; // samples: own, total
        for (const FunctionSums& sums : sum_functions(model, {}, {}, frames))
            functions[std::string(model.symbols().name(sums.function))] = {
                sums.self.sum().samples, sums.total.sum().samples};
        return functions;
    };
    using Functions = std::map<std::string, std::pair<double, double>>;
    EXPECT_EQ(of(FrameChoice::language), (Functions{{"key", {4, 4}}, {"serve", {2, 6}}}));
    EXPECT_EQ(of(FrameChoice::native), (Functions{{"main", {0, 9}},
                                                  {"eval", {2, 6}},
                                                  {"sort", {0, 4}},
                                                  {"compare", {4, 4}},
                                                  {"collect", {0, 3}},
                                                  {"page_fault", {3, 3}}}));
    const std::string text = to_text(top_view(model, {}, {}, FrameChoice::language));
    EXPECT_THAT(text, HasSubstr("top --language"));
    EXPECT_THAT(text, HasSubstr(" 44.4 %   4.00 ms    44.4 %  key"));
    EXPECT_THAT(text, Not(HasSubstr("compare")));
    const auto json = nlohmann::json::parse(top_json(model, {}, {}, {}, FrameChoice::language));
    EXPECT_EQ(json["frames"], "language");
    EXPECT_EQ(json["functions"].size(), 2u);
}

TEST_F(FrameChoiceTest, IsThatOfTheTableThatIsFollowed) {
    const auto pane = make_table_pane({});
    settle(*pane, model);
    EXPECT_THAT(drawn(*pane, 100, 12), HasSubstr("compare"));
    act(*pane, Action::frames, model);
    EXPECT_EQ(pane->command(), "top --language");
    std::string text = drawn(*pane, 100, 12);
    EXPECT_THAT(text, HasSubstr("function  --language"));
    EXPECT_THAT(text, HasSubstr("serve"));
    EXPECT_THAT(text, Not(HasSubstr("compare")));
    act(*pane, Action::callees, model); // of key, which has most
    EXPECT_EQ(pane->command(), "callees key --language");
    act(*pane, Action::back, model);
    act(*pane, Action::frames, model);
    text = drawn(*pane, 100, 12);
    EXPECT_THAT(text, HasSubstr("compare"));
    EXPECT_THAT(text, Not(HasSubstr("serve")));
    act(*pane, Action::frames, model);
    EXPECT_EQ(pane->command(), "top");
}

// Of exports that go sample by sample, too.
TEST_F(FrameChoiceTest, IsThatOfEveryExport) {
    for (const ExportFormat& format : export_formats()) {
        if (format.holds != "stacks" && format.holds != "samples")
            continue;
        StringSink sink;
        ASSERT_TRUE(
            format.write(model, {{{}, GroupBy::process, {}, FrameChoice::language}, {}}, sink));
        if (sink.text.starts_with("\x1f\x8b"))
            continue; // compressed
        EXPECT_THAT(sink.text, HasSubstr("serve")) << format.name;
        EXPECT_THAT(sink.text, Not(HasSubstr("page_fault"))) << format.name;
    }
}

// What is followed is what is folded at once.
TEST_F(FrameChoiceTest, OfALiveFlameIsThatOfAFoldedOne) {
    FlameStream live;
    for (const FrameChoice frames :
         {FrameChoice::all, FrameChoice::language, FrameChoice::native}) {
        while (live.refresh(model, {{}, {}, GroupBy::process, frames}))
            ;
        const FlameTree folded = fold(model, {}, {}, GroupBy::process, {}, frames);
        EXPECT_EQ(live.tree().frames(), folded.frames());
        EXPECT_EQ(live.tree().total().samples, folded.total().samples);
    }
}

TEST_F(FrameChoiceTest, ALiveViewGoesFromOneToTheNext) {
    const auto pane = make_flame_pane({});
    settle(*pane, model);
    EXPECT_EQ(pane->command(), "flame");
    EXPECT_THAT(drawn(*pane, 100, 12), HasSubstr("eval"));
    act(*pane, Action::frames, model);
    EXPECT_EQ(pane->command(), "flame --language");
    EXPECT_THAT(drawn(*pane, 100, 12), HasSubstr("language frames"));
    EXPECT_THAT(drawn(*pane, 100, 12), Not(HasSubstr("eval")));
    act(*pane, Action::frames, model);
    EXPECT_EQ(pane->command(), "flame --native");
    EXPECT_THAT(drawn(*pane, 100, 12), Not(HasSubstr("serve")));
    act(*pane, Action::frames, model);
    EXPECT_EQ(pane->command(), "flame");
}

TEST_F(FrameChoiceTest, ColoursTellLanguagesApart) {
    const FlameTree tree = fold(model, {});
    std::map<std::string, Fill> fills;
    for (uint32_t i = 0; i < tree.nodes.size(); i++)
        if (tree.nodes[i].depth >= 2)
            fills[std::string(node_name(model, tree, tree.nodes[i]))] =
                fills_of(model, tree, i, FlameColours::languages).at(0).fill;
    EXPECT_EQ(fills.at("serve"), fills.at("key"));
    EXPECT_EQ(fills.at("main"), fills.at("compare"));
    EXPECT_EQ((std::set{fills.at("serve"), fills.at("main"), fills.at("page_fault")}).size(), 3u);
    for (const auto& [name, kind] : {std::pair{"serve", "Python"}, std::pair{"main", "native"},
                                     std::pair{"page_fault", "kernel"}}) {
        const auto named = std::ranges::find(language_fills(), fills.at(name), &FillName::fill);
        ASSERT_NE(named, language_fills().end());
        EXPECT_EQ(named->name, kind);
    }
    const auto pane = make_flame_pane({});
    settle(*pane, model);
    EXPECT_THAT(drawn(*pane, 100, 12), Not(HasSubstr("kernel  native  Python")));
    act(*pane, Action::colour_by, model); // without waits or a split they tell modules at first
    EXPECT_THAT(
        drawn(*pane, 100, 12),
        HasSubstr("kernel  native  Python  Java  JavaScript  PHP  Ruby  Perl  generated code"));
}

TEST_F(FrameChoiceTest, PlacesAreTheLinesThatWereSeen) {
    const Frame again{"serve", "/srv/main.cc", 57, false};
    stream.location("p:serve");
    const LocationId more = stream.location("p:other");
    Model& sink = model;
    sink.on_frames(more, {&again, 1});
    const LanguagePlaces places(model.symbols());
    EXPECT_EQ(places.of(function("p:serve")), "main.cc:14-57");
    EXPECT_EQ(places.of(function("p:key")), "main.cc:12");
    EXPECT_EQ(places.of(function("main")), "");
    EXPECT_THAT(to_text(top_view(model, {})), HasSubstr("key  main.cc:12"));
}

// Samples weigh differently where the rate is another inside of a gate, and waits do.
TEST(CollapsedStacks, CountWhatSamplesWeigh) {
    constexpr uint64_t ms = 1'000'000;
    Model model;
    SyntheticStream stream(model);
    stream.sample(1 * ms, 1, stream.stack({"main", "inside"}), {}, 1 * ms);
    stream.sample(2 * ms, 1, stream.stack({"main", "inside"}), {}, 1 * ms);
    stream.sample(3 * ms, 1, stream.stack({"main", "outside"}), {}, 7 * ms);
    stream.sample(4 * ms, 1, stream.stack({"main", "waits"}), {}, 3000 * ms, SampleKind::blocked);
    // 9 ms of running threads in 3 samples: one stands for 3 ms. Counts are whole, and add up.
    const std::string text = collapsed_stacks(model, {{{}, GroupBy::process, ""}, {}});
    EXPECT_NE(text.find("inside 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find("outside 2\n"), std::string::npos) << text;
    EXPECT_NE(text.find("waits 1000\n"), std::string::npos) << text;
}

} // namespace
} // namespace auger
