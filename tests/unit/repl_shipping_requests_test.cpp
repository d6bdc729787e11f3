// SPDX-License-Identifier: GPL-3.0-or-later
// What is sent for an interval in each protocol, and what is told of it.
#include "tests/support/gunzip.h"
#include "tests/unit/repl_fake_receiver.h"

#include "views/exports/prometheus.h"
#include "views/json/json_views.h"

#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <string>

namespace auger {
namespace {

using std::chrono::seconds;
using testing::ElementsAre, testing::HasSubstr, testing::Not;

std::string decoded(const std::string& base64) {
    const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    uint32_t bits = 0;
    int count = 0;
    for (const char c : base64) {
        if (c == '=')
            break;
        bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
        if ((count += 6) >= 8)
            bytes += static_cast<char>(bits >> (count -= 8));
    }
    return bytes;
}

// What each protocol has one interval be.
TEST_F(ShippingTest, RequestsAreTheProtocols) {
    const auto send = [&](const char* protocol, const std::string& url,
                          bool threads = false) -> FakePoster::Sent {
        Shipping settings = shipping(protocol);
        settings.url = url;
        settings.spool = folder.path(protocol);
        settings.service = "a \"shop\"";
        settings.threads = threads;
        EXPECT_TRUE(shipper->set(settings));
        write(1);
        return log.sent.back();
    };
    {
        const auto sent = send("pyroscope", "https://host/");
        EXPECT_EQ(sent.post.url, "https://host/push.v1.PusherService/Push");
        EXPECT_THAT(sent.post.headers,
                    ElementsAre("Content-Type: application/json", "Content-Encoding: gzip"));
        const auto json = nlohmann::json::parse(test::gunzip(sent.body));
        const auto& series = json["series"][0];
        EXPECT_EQ(series["labels"][0],
                  (nlohmann::json{{"name", "__name__"}, {"value", "process_cpu"}}));
        EXPECT_EQ(series["labels"][1],
                  (nlohmann::json{{"name", "service_name"}, {"value", "a \"shop\""}}));
        EXPECT_EQ(series["labels"][2]["name"], "hostname");
        const std::string id = series["samples"][0]["ID"];
        EXPECT_TRUE(std::regex_match(
            id, std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")))
            << id;
        const std::string profile = test::gunzip(decoded(series["samples"][0]["rawProfile"]));
        EXPECT_THAT(profile, HasSubstr("main"));
        EXPECT_THAT(profile, Not(HasSubstr("thread")));
        const auto again =
            nlohmann::json::parse(test::gunzip(send("pyroscope", "http://h", true).body));
        EXPECT_NE(again["series"][0]["samples"][0]["ID"], id);
        EXPECT_THAT(test::gunzip(decoded(again["series"][0]["samples"][0]["rawProfile"])),
                    HasSubstr("thread"));
    }
    {
        const auto sent = send("parca", "http://host:7070/api/profiles/writeraw");
        EXPECT_EQ(sent.post.url, "http://host:7070/api/profiles/writeraw");
        EXPECT_THAT(sent.post.headers, ElementsAre("Content-Type: application/json"));
        const auto json = nlohmann::json::parse(sent.body);
        EXPECT_EQ(json["normalized"], true);
        EXPECT_EQ(json["series"][0]["labels"]["labels"][1]["value"], "a \"shop\"");
        EXPECT_THAT(test::gunzip(decoded(json["series"][0]["samples"][0]["rawProfile"])),
                    HasSubstr("main"));
    }
    {
        const auto sent = send("pyroscope-ingest", "http://host:4040/base");
        EXPECT_TRUE(std::regex_match(
            sent.post.url, std::regex(R"(http://host:4040/base/ingest\?name=a--shop-&from=(\d+))"
                                      R"(&until=(\d+)&format=pprof&spyName=auger)")))
            << sent.post.url;
        EXPECT_THAT(test::gunzip(sent.body), HasSubstr("main"));
    }
    {
        const auto sent = send("otlp", "http://host:4318");
        EXPECT_EQ(sent.post.url, "http://host:4318/v1development/profiles");
        EXPECT_THAT(sent.post.headers,
                    ElementsAre("Content-Type: application/x-protobuf", "Content-Encoding: gzip"));
        EXPECT_THAT(test::gunzip(sent.body), testing::AllOf(HasSubstr("main"), HasSubstr("shop")));
    }
}

// A store keeps a series of each service, wherever it runs, and one of what the kernel does itself.
TEST_F(ShippingTest, ServicesAreSeriesOfTheirOwn) {
    using Labels = std::map<std::string, std::string>;
    const auto run = [&](uint32_t pid, const std::string& comm, const std::string& function,
                         const std::string& cgroup = {}, const ContainerNames& names = {},
                         bool kernel = false) {
        model.on_thread(stream.thread(pid, "service", pid),
                        {pid, pid, comm, cgroup, MachineId{0}, names, kernel});
        stream.sample(backend.clock() + 1, pid, stream.stack({function}));
    };
    const std::string id(64, 'a');
    for (const char* protocol : {"pyroscope", "parca"}) {
        Shipping settings = shipping(protocol);
        settings.spool = folder.path(protocol);
        ASSERT_TRUE(shipper->set(settings));
        run(10, "nginx", "accept");
        run(11, "nginx", "accept");
        run(12, "php", "render",
            "/kubepods/burstable/pod01234567-89ab-cdef-0123-456789abcdef/" + id,
            {"cart", "shop-7f", "default"});
        run(13, "kworker/3:1", "k:flush", {}, {}, true);
        run(14, "ksoftirqd/0", "k:flush", {}, {}, true);
        run(15, "kworker", "mine"); // which is but called so
        pass(seconds(60), 0);
        ASSERT_TRUE(written(1));
        EXPECT_EQ(shipper->status().written.samples, 6u);
        const std::string& body = log.sent.back().body;
        const bool parca = settings.protocol->name == "parca";
        const auto json = nlohmann::json::parse(parca ? body : test::gunzip(body));
        std::map<std::string, Labels> labels_of; // by a function in it
        for (const auto& series : json["series"]) {
            const std::string profile = test::gunzip(decoded(series["samples"][0]["rawProfile"]));
            Labels labels;
            for (const auto& label : parca ? series["labels"]["labels"] : series["labels"])
                EXPECT_TRUE(labels.emplace(label["name"], label["value"]).second);
            EXPECT_EQ(labels["__name__"], "process_cpu");
            labels.erase("__name__");
            EXPECT_NE(labels["hostname"], "");
            labels.erase("hostname");
            for (const char* function : {"accept", "render", "flush", "mine"})
                if (profile.find(function) != profile.npos) {
                    EXPECT_TRUE(labels_of.emplace(function, labels).second) << function;
                }
            EXPECT_THAT(profile, Not(HasSubstr("kworker/3:1")));
        }
        EXPECT_EQ(json["series"].size(), 4u);
        EXPECT_EQ(labels_of["accept"], (Labels{{"service_name", "nginx"}}));
        EXPECT_EQ(labels_of["render"], (Labels{{"service_name", "php"},
                                               {"namespace", "default"},
                                               {"pod", "shop-7f"},
                                               {"container", "cart"}}));
        EXPECT_EQ(labels_of["flush"], (Labels{{"service_name", "kernel"}}));
        EXPECT_EQ(labels_of["mine"], (Labels{{"service_name", "kworker"}}));
    }
}

// What hosts have run was not run on the console's machine.
TEST_F(ShippingTest, OfHostsTheConsolesNameIsNotTold) {
    const auto sent = [&](const char* protocol) {
        Shipping settings = shipping(protocol);
        settings.spool = folder.path(std::string(protocol) + std::to_string(log.sent.size()));
        EXPECT_TRUE(shipper->set(settings));
        write(1);
        return test::gunzip(log.sent.back().body);
    };
    for (const auto& [protocol, key] :
         {std::pair("otlp", "host.name"), std::pair("pyroscope", "hostname")}) {
        backend.observed_hosts.clear();
        EXPECT_THAT(sent(protocol), HasSubstr(key));
        backend.observed_hosts.resize(2);
        EXPECT_THAT(sent(protocol), Not(HasSubstr(key)));
    }
}

TEST_F(ShippingTest, TheAccountIsInStatusAndMetrics) {
    log.reply = [](const HttpPost&) { return HttpOutcome{503, 0, 0, "bu\x1bsy"}; };
    ASSERT_TRUE(shipper->set(shipping()));
    write(2);
    ExportQuery query;
    query.shipping = {shipper->status()};
    StringSink text;
    ASSERT_TRUE(write_prometheus(model, query, text));
    const std::string receiver = R"({receiver="pyroscope-ingest http://receiver:4040")";
    EXPECT_THAT(text.text,
                HasSubstr("auger_shipping_intervals_total" + receiver + ",fate=\"written\"} 2\n"));
    EXPECT_THAT(text.text, HasSubstr("auger_shipping_waiting_samples" + receiver + "} 8\n"));
    StatusContext context;
    context.shipping = {shipper->status()};
    const auto json = nlohmann::json::parse(status_json(model, context))["shipping"][0];
    EXPECT_EQ(json["written"], (nlohmann::json{{"intervals", 2}, {"samples", 8}}));
    EXPECT_EQ(json["waiting"], json["written"]);
    EXPECT_EQ(json["problem"], "HTTP 503: bu\\x1bsy");
    ViewOptions options;
    options.width = 160;
    const std::string shown = to_text(status_view(model, options, context), ColourMode::none);
    EXPECT_THAT(shown, HasSubstr("intervals: 0 found + 2 written = 0 shipped + 0 refused + 0 given "
                                 "up + 2 waiting"));
    EXPECT_THAT(shown, HasSubstr("the receiver takes none now: HTTP 503: bu\\x1bsy"));
    context.shipping[0].unwritten = query.shipping[0].unwritten = 3;
    EXPECT_EQ(nlohmann::json::parse(status_json(model, context))["shipping"][0]["unwritten"], 3);
    StringSink later;
    ASSERT_TRUE(write_prometheus(model, query, later));
    EXPECT_THAT(later.text, HasSubstr("auger_shipping_intervals_total" + receiver +
                                      ",fate=\"unwritten\"} 3\n"));
    EXPECT_THAT(later.text,
                Not(HasSubstr("auger_shipping_samples_total" + receiver + ",fate=\"unwritten\"}")));
    query.shipping.push_back(query.shipping[0]);
    query.shipping[1].receiver = "otlp http://other:4318";
    StringSink both;
    ASSERT_TRUE(write_prometheus(model, query, both));
    EXPECT_THAT(both.text, HasSubstr("auger_shipping_waiting_samples" + receiver + "} 8\n"));
    EXPECT_THAT(both.text, HasSubstr("auger_shipping_waiting_samples{receiver=\"otlp "
                                     "http://other:4318\"} 8\n"));
    context.shipping = {};
    EXPECT_FALSE(nlohmann::json::parse(status_json(model, context)).contains("shipping"));
}

} // namespace
} // namespace auger
