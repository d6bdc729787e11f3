// SPDX-License-Identifier: GPL-3.0-or-later
// OpenTelemetry's profiles as Google's protobuf reads them by OpenTelemetry's own .proto files: no
// field that those do not have, nothing that they say must not be, and the model's totals.
#include "tests/importers/exported_model.h"

#include <gmock/gmock.h>
#include <protozero/pbf_writer.hpp>

#include <filesystem>
#include <regex>

namespace auger::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class OpenTelemetry : public Importers {
  protected:
    void SetUp() override {
        if (!std::filesystem::exists(proto + "/opentelemetry"))
            GTEST_SKIP() << "its .proto files are not there. " << text_of(proto + "/reason");
        if (find_tool("protoc").empty())
            GTEST_SKIP() << "protoc is not installed (package protobuf-compiler)";
        if (run({"/usr/bin/env", python, "-c", "import google.protobuf"}).code != 0)
            GTEST_SKIP() << "python3-protobuf is not installed";
    }
    // As text.
    std::string decoded(const std::string& file) {
        const Outcome outcome =
            run({"/bin/sh", "-c",
                 find_tool("protoc") + " -I '" + proto +
                     "' --decode=opentelemetry.proto.profiles.v1development.ProfilesData "
                     "opentelemetry/proto/profiles/v1development/profiles.proto <'" +
                     file + "'"});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return outcome.out;
    }
    // See check_otlp.py.
    nlohmann::json checked(const std::string& file) {
        const Outcome outcome =
            run({"/usr/bin/env", python, std::string(AUGER_IMPORTERS_DIR) + "/check_otlp.py", proto,
                 file});
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        return nlohmann::json::parse(outcome.out, nullptr, false);
    }
    void add_waits() {
        const StackId stack = stream.stack({"_start", "idle", "s:poll"});
        stream.sample(2'000 * ms, 102, stack, {}, 30 * ms, SampleKind::blocked);
        stream.sample(2'001 * ms, 102, stack, {}, ms, SampleKind::runnable);
        stream.sample(2'040 * ms, 103, stack, {}, 20 * ms, SampleKind::blocked);
    }

    const std::string proto = AUGER_OPENTELEMETRY_DIR;
    const std::string python = "/usr/bin/python3"; // Debian's, which has the package
};

TEST_F(OpenTelemetry, HasTheFieldsOfItsProtoFiles) {
    add_waits();
    const std::string text = decoded(write("otlp", "a.otlp"));
    EXPECT_FALSE(std::regex_search(text, std::regex(R"((^|\n) *\d+(:| \{))"))) << text;
    EXPECT_THAT(text, HasSubstr("string_table: \"off_cpu\""));
    EXPECT_THAT(text, HasSubstr("string_value: \"lost: 3 (samples: event ring full)\""));
    EXPECT_THAT(text, HasSubstr("string_table: \"bad\\\\xff\\\\xfe\""));
}

TEST_F(OpenTelemetry, IsAsItMustBe) {
    auto of_cpu = checked(write("otlp", "a.otlp"));
    EXPECT_THAT(of_cpu["faults"], IsEmpty());
    for (const CallClass one : {CallClass::slow, CallClass::fast, CallClass::outside}) {
        const std::string name(to_string(one));
        EXPECT_EQ(of_cpu["sums"]["cpu/nanoseconds"][name], ns(one));
        EXPECT_EQ(of_cpu["sums"]["samples/count"][name], ns(one) / ms);
    }
    add_waits();
    auto with_waits = checked(write("otlp", "b.otlp"));
    EXPECT_THAT(with_waits["faults"], IsEmpty());
    EXPECT_EQ(with_waits["sums"]["cpu/nanoseconds"], of_cpu["sums"]["cpu/nanoseconds"]);
    EXPECT_EQ(with_waits["sums"]["off_cpu/nanoseconds"]["outside"], 51 * ms);
    ExportQuery query;
    query.threads = false;
    query.service = "shop";
    query.filter = CallClass::outside;
    query.window = {Window::Kind::ewma, 100 * ms, 0};
    EXPECT_THAT(checked(write("otlp", "c.otlp", query))["faults"], IsEmpty());
    // Of nothing, and where rules make stacks the same or empty.
    query.under = "nowhere";
    EXPECT_THAT(checked(write("otlp", "d.otlp", query))["faults"], IsEmpty());
    model.set_rules(*Rules::compile({{Rule::Kind::rewrite_frame, "scan.*|.*parse", "same"},
                                     {Rule::Kind::drop_frame, "^(_start|idle|poll)$", {}},
                                     {Rule::Kind::fold_recursion, {}, {}}}));
    EXPECT_THAT(checked(write("otlp", "e.otlp"))["faults"], IsEmpty());
}

// Else anything would be.
TEST_F(OpenTelemetry, WhatMustNotBeIsNoticed) {
    StringSink sink;
    EXPECT_TRUE(find_export_format("otlp")->write(model, {}, sink));
    // What follows a message is merged into it.
    const auto faults_with = [&](auto put_more) {
        std::string bytes = sink.text;
        protozero::pbf_writer data(bytes);
        put_more(data);
        return checked(folder.file("changed.otlp", bytes))["faults"].dump();
    };
    const auto in_dictionary = [&](uint32_t table, const std::string& entry) {
        return faults_with([&](protozero::pbf_writer& data) {
            protozero::pbf_writer(data, 2).add_bytes(table, entry);
        });
    };
    EXPECT_THAT(in_dictionary(15, "?"), HasSubstr("data.dictionary: unknown fields"));
    EXPECT_THAT(in_dictionary(5, "samples"), HasSubstr("string_table has an entry twice"));
    EXPECT_THAT(in_dictionary(5, "nobody's"), HasSubstr("string_table: nobody refers to ["));
    EXPECT_THAT(in_dictionary(7, "\x0a\x02\xff\x7f"), HasSubstr("location_table has no 16383"));
    EXPECT_THAT(in_dictionary(4, "\x0a\x01x"), HasSubstr("ids of other lengths"));
    EXPECT_THAT(faults_with([](protozero::pbf_writer& data) { data.add_bytes(1, ""); }),
                HasSubstr("has no service.name"));
    EXPECT_THAT(faults_with([](protozero::pbf_writer&) {}), Not(HasSubstr("a")));
}

} // namespace
} // namespace auger::test
