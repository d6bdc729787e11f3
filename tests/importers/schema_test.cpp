// SPDX-License-Identifier: GPL-3.0-or-later
// What auger writes as JSON, XML and tables is what schemas say, in the eyes of Python's parsers.
#include "tests/importers/exported_model.h"
#include "views/json/json_views.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace auger::test {
namespace {

using testing::HasSubstr;

const std::string our_schema = std::string(AUGER_SOURCE_DIR) + "/schemas/auger.json";
const std::string speedscope_schema =
    std::string(AUGER_NPM_DIR) + "/node_modules/speedscope/dist/release/file-format-schema.json";

class Schemas : public Importers {
  protected:
    void SetUp() override {
        if (run({"/usr/bin/env", python, "-c", "import jsonschema"}).code != 0)
            GTEST_SKIP() << "python3-jsonschema is not installed";
    }
    // Faults, a line each.
    std::string faults(const std::string& schema, const std::vector<std::string>& files) {
        std::vector<std::string> command = {
            "/usr/bin/env", python, std::string(AUGER_IMPORTERS_DIR) + "/validate.py", schema};
        command.insert(command.end(), files.begin(), files.end());
        const Outcome outcome = run(command);
        return outcome.out + outcome.err;
    }
    const std::string python = "/usr/bin/python3"; // Debian's, which has the package
};

TEST_F(Schemas, DescribeDocuments) {
    EXPECT_EQ(faults(our_schema,
                     {write("calls-json", "all.json"),
                      write("calls-json", "slow.json", {{CallClass::slow, {}, {}}, {}}),
                      write("histogram-json", "histogram.json"),
                      write("histogram-json", "fading.json", {{}, {Window::Kind::ewma, ms}})}),
              "");
}

TEST_F(Schemas, DescribeReplies) {
    const Window all;
    StatusContext context;
    context.clients = {true, 7, {{"no token", 2}}, 1'000, 2'000};
    std::string lines;
    for (const std::string& line :
         {flame_json(model, all), top_json(model, all), status_json(model, context),
          summary_json(model, all, {{}, {{7, "demo", "user", true, ""}}}),
          *diff_json(model, all, CallClass::slow, CallClass::fast),
          *hist_json(model, all, ProbeId{1}), functions_json(model, all),
          functions_json(model, {Window::Kind::ewma, ms}, ProbeId{1}, FunctionColumn::p99, 1),
          calls_json(model, all)->front()})
        lines += line + "\n";
    for (const std::string_view key : GroupBy::names())
        lines += flame_json(model, all, {}, *GroupBy::named(key)) + "\n";
    EXPECT_EQ(faults(our_schema, {folder.file("replies.json", lines)}), "");
}

// Else they would describe anything.
TEST_F(Schemas, NoticeWhatDoesNotFit) {
    StringSink sink;
    EXPECT_TRUE(find_export_format("calls-json")->write(model, {}, sink));
    const auto document = nlohmann::json::parse(sink.text);
    const auto faults_of = [&](const nlohmann::json& changed) {
        return faults(our_schema, {folder.file("changed.json", changed.dump())});
    };
    auto changed = document;
    changed["calls"][0]["duration"] = "9 ms";
    EXPECT_THAT(faults_of(changed), HasSubstr("$.calls[0].duration: "));
    changed = document;
    changed["calls"][0]["novelty"] = 1;
    EXPECT_THAT(faults_of(changed), HasSubstr("'novelty' was unexpected"));
    changed = document;
    changed.erase("losses");
    EXPECT_THAT(faults_of(changed), HasSubstr("'losses' is a required property"));
}

TEST_F(Schemas, DescribeSpeedscopeFiles) {
    if (!std::ifstream(speedscope_schema))
        GTEST_SKIP() << "speedscope is not there";
    EXPECT_EQ(faults(speedscope_schema, {write("speedscope", "all.json")}), "");
}

TEST_F(Schemas, PicturesAreWellFormed) {
    // Wide enough to be seen, and "<0.1 %".
    stream.sample(2'000 * ms, 102, stream.stack({"_start", "crumb"}), {}, 70'000);
    EXPECT_EQ(faults("xml", {write("svg", "all.svg"),
                             write("svg", "slow.svg", {{CallClass::slow, {}, {}}, {}})}),
              "");
}

TEST_F(Schemas, TablesHaveAFieldAColumn) {
    EXPECT_EQ(
        faults("csv", {write("calls-csv", "calls.csv"), write("histogram-csv", "histogram.csv")}),
        "");
}

// A session of the program itself: every answer, and the documents that it saved.
TEST_F(Schemas, DescribeAWholeSession) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root: BPF programs are loaded";
    const Outcome outcome =
        run({AUGER_BINARY, "--json", "--batch", "--keep-going", "-e",
             "sample wall 999; split handle_request > p95; slow handle_request > 100us; "
             "wait until calls handle_request >= 150; functions; flame; flame slow; flame by cpu "
             "--folded; "
             "hist handle_request; top; diff; calls; window 1s; top; ewma 1s; flame; hist "
             "handle_request; "
             "top; calls slow; save " +
                 folder.path("a.calls.json") + "; save " + folder.path("a.histogram.json") +
                 "; save " + folder.path("a.svg") + "; hist nothing",
             "--", AUGER_DEMO});
    std::string replies; // and not what the demo prints
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("{\"schema\""))
            replies += line + "\n";
    EXPECT_THAT(replies, HasSubstr("\"command\":\"calls\""));
    EXPECT_EQ(faults(our_schema, {folder.file("replies.json", replies), folder.path("a.calls.json"),
                                  folder.path("a.histogram.json")}),
              "");
    EXPECT_EQ(faults("xml", {folder.path("a.svg")}), "");
}

} // namespace
} // namespace auger::test
