// SPDX-License-Identifier: GPL-3.0-or-later
// A function that ends by a jump where nobody knows who called it: each figure of its times says
// that what it jumps to is not in them, and those of others do not.
#include "tests/unit/metrics_reader.h"
#include "tests/unit/panes_fixture.h"
#include "views/exports/export.h"
#include "views/json/json_views.h"
#include "views/screen/calls_pane.h"
#include "views/text/views.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <array>
#include <map>
#include <sstream>

namespace auger {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// One probe, a glob, that times both.
class Tails : public testing::Test {
  protected:
    Tails() {
        stream.edit_probe(1, "ends_*", {whole, jumps}, stream.fixed(ms));
        model.on_exit_changed(jumps, ObservedExit::parse("ret, without its tail; jumps to other"));
        stream.stats(100 * ms, whole, {2 * ms, 3 * ms});
        stream.stats(100 * ms, jumps, {2 * ms, 3 * ms});
        for (const SpecId function : {whole, jumps}) {
            const CallKey call = stream.call(function, 50 * ms);
            model.on_slow_call({{60 * ms, 10 * ms, stream.thread(1), call, 8, false, {}},
                                ms,
                                stream.stack({"main", "ends"}),
                                {},
                                {},
                                {}});
        }
        model.on_time(200 * ms);
    }
    // The lines of a text that have it in them.
    static std::string lines_with(const std::string& text, std::string_view what) {
        std::string found;
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            if (line.find(what) != line.npos)
                found += line + "\n";
        return found;
    }
    std::string write(std::string_view format) {
        StringSink sink;
        EXPECT_TRUE(find_export_format(format)->write(model, {}, sink));
        return sink.text;
    }
    // A line of CSV, by the names of its columns.
    static std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
        const auto fields_of = [](const std::string& line) {
            std::vector<std::string> fields;
            std::istringstream all(line.substr(0, line.find('\r')) + ",");
            for (std::string field; std::getline(all, field, ',');)
                fields.push_back(field);
            return fields;
        };
        std::vector<std::map<std::string, std::string>> rows;
        std::vector<std::string> names;
        std::istringstream lines(csv);
        for (std::string line; std::getline(lines, line);) {
            const std::vector<std::string> fields = fields_of(line);
            if (line.starts_with('#'))
                continue;
            if (names.empty()) {
                names = fields;
                continue;
            }
            EXPECT_EQ(fields.size(), names.size()) << line;
            auto& row = rows.emplace_back();
            for (size_t i = 0; i < std::min(fields.size(), names.size()); i++)
                row[names[i]] = fields[i];
        }
        return rows;
    }

    Model model;
    SyntheticStream stream{model};
    SpecId whole = stream.add_spec(1, "ends_whole"), jumps = stream.add_spec(1, "ends_by_jump");
    const std::string advice = "without its tail: what it jumps to at its end, other, is not in "
                               "these times; time that to see it";
};

TEST_F(Tails, AreSaidInRowsOfFunctions) {
    ViewOptions options;
    for (const size_t width : {90, 200}) { // in which the name has no room, and has
        options.width = width;
        const std::string text = to_text(functions_view(model, options));
        EXPECT_EQ(std::ranges::count(lines_with(text, "(without its tail)"), '\n'), 1) << text;
        EXPECT_THAT(lines_with(text, "whole"), Not(HasSubstr("tail")));
    }
    const json told = json::parse(functions_json(model, {}));
    for (const json& row : told["functions"])
        EXPECT_EQ(row.at("tail"), row["function"] == "ends_by_jump" ? json(advice) : json(nullptr));
}

TEST_F(Tails, AreSaidOfPartsOfExplainedCalls) {
    const SpecId handle = stream.probe(2, "handle");
    model.on_exit_changed(handle, ObservedExit::parse("ret, in callers; jumps to next"));
    for (uint64_t i = 0; i < 100; i++) {
        CallPartsEvent event;
        event.end = {(i + 1) * 10 * ms, 2 * ms + i * us, stream.thread(1),
                     stream.call(handle, i * 10 * ms)};
        event.set = 1;
        event.stands_for = 1;
        const std::array parts = {CallPart{whole, 1, 500'000},
                                  CallPart{jumps, 1, 500'000 + static_cast<int64_t>(i) * 500}};
        event.parts = parts;
        model.on_call_parts(event);
    }
    ViewOptions options;
    options.width = 140;
    const std::string text = to_text(explain_view(model, options, ProbeId{2}));
    EXPECT_THAT(lines_with(text, "jump"), HasSubstr("ends_by_jump (without its tail)")) << text;
    EXPECT_THAT(lines_with(text, "whole"), Not(HasSubstr("tail")));
    EXPECT_THAT(lines_with(text, "the rest"), HasSubstr("handle (tail: of known callers)"));
    const json told = json::parse(explain_json(model, {}, ProbeId{2}));
    EXPECT_THAT(told.at("tail").get<std::string>(),
                HasSubstr("next, is in the times of calls from"));
    for (const json& part : told["functions"])
        if (!part["rest"].get<bool>()) {
            EXPECT_EQ(part.at("tail"),
                      part["function"] == "ends_by_jump" ? json(advice) : json(nullptr));
        }
}

TEST_F(Tails, AreSaidOfSlowCalls) {
    for (const size_t width : {64, 110}) {
        auto pane = make_calls_pane({});
        settle(*pane, model);
        const std::string text = drawn(*pane, width, 9); // without details
        EXPECT_EQ(std::ranges::count(lines_with(text, "(without its tail)"), '\n'), 1) << text;
        EXPECT_EQ(std::ranges::count(lines_with(text, "10.0 ms"), '\n'), 2) << text;
    }
    const std::string text = to_text(*calls_view(model, {}));
    EXPECT_EQ(std::ranges::count(lines_with(text, "(without its tail)"), '\n'), 1) << text;
    size_t said = 0, calls = 0;
    const json exported = json::parse(write("calls-json"));
    for (const json& call : exported["calls"]) {
        said += call.at("tail") == advice;
        calls += call.at("tail").is_null();
    }
    EXPECT_EQ(said, 1u);
    EXPECT_EQ(calls, 1u);
    const json trace = json::parse(write("chrome-trace"));
    for (const json& event : trace["traceEvents"])
        if (event["ph"] == "X") {
            EXPECT_EQ(event.at("args").value("tail", ""),
                      event["name"] == "ends_by_jump" ? "without its tail" : "");
        }
}

TEST_F(Tails, AreSaidInTables) {
    const auto calls = rows_of(write("calls-csv")), histogram = rows_of(write("histogram-csv"));
    ASSERT_EQ(calls.size(), 2u);
    EXPECT_EQ(calls[0].at("tail"), "");
    EXPECT_EQ(calls[1].at("tail"), "without its tail");
    EXPECT_FALSE(histogram.empty());
    for (const auto& row : histogram) // of both functions together
        EXPECT_EQ(row.at("tail"), "without its tail");
}

TEST_F(Tails, AreSaidInMetrics) {
    const Values values = metrics(model);
    EXPECT_EQ(values.at("auger_call_duration_seconds_count{probe=\"ends_*\","
                        "function=\"ends_by_jump\",tail=\"without its tail\"}"),
              2);
    EXPECT_EQ(values.at("auger_call_duration_seconds_count{probe=\"ends_*\","
                        "function=\"ends_whole\"}"),
              2);
    EXPECT_TRUE(values.contains("auger_call_duration_quantile_seconds{probe=\"ends_*\",q=\"0.99\","
                                "tail=\"without its tail\"}"));
    // How many there were has nothing to do with it.
    EXPECT_EQ(values.at("auger_calls_entered_total{probe=\"ends_*\",function=\"ends_by_jump\"}"),
              2);
}

TEST_F(Tails, AreSaidOfTheSplit) {
    stream.split(1, stream.fixed(ms));
    EXPECT_EQ(json::parse(flame_json(model, {}))["split"].at("tail"), advice);
}

} // namespace
} // namespace auger
