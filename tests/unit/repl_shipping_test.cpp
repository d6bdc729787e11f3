// SPDX-License-Identifier: GPL-3.0-or-later
// Shipping, in a fake backend's time and to a receiver that the test plays: nothing is lost while
// it is away, nothing is sent twice, what waits is bounded, and the account adds up.
#include "repl_fake_backend.h"
#include "tests/support/temporary_folder.h"

#include "loader/process/safe_open.h"
#include "repl/services/header_file.h"
#include "repl/services/services.h"
#include "repl/services/shipper.h"
#include "views/exports/prometheus.h"
#include "views/json/json_views.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace auger {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds, std::chrono::seconds;
using test::TemporaryFolder;
using testing::Contains, testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using Count = ShippingStatus::Count;

constexpr uint64_t ns(nanoseconds time) {
    return static_cast<uint64_t>(time.count());
}

// Answers as the test says, by the time that somebody asks.
class FakePoster final : public HttpPoster {
  public:
    struct Sent {
        HttpPost post;
        std::string body;
        HttpOutcome outcome;
    };
    struct Log {
        std::vector<Sent> sent;
        std::function<HttpOutcome(const HttpPost&)> reply = [](const HttpPost&) {
            return HttpOutcome{200};
        };
        std::string certificates;
    };

    explicit FakePoster(Log& log) : log_(log) {}
    Result<void> start(const HttpPost& post, UniqueFd body) override {
        log_.sent.push_back({post, *read_all(body.get(), SIZE_MAX), log_.reply(post)});
        outcome_ = log_.sent.back().outcome;
        return {};
    }
    std::optional<HttpOutcome> take() override { return std::exchange(outcome_, std::nullopt); }
    int wake_fd() const override { return -1; }

  private:
    Log& log_;
    std::optional<HttpOutcome> outcome_;
};

// A shipper whose time passes as tests say.
class ShippingTest : public testing::Test {
  protected:
    static constexpr uint64_t start_utc_ns = 1'795'303'200 * second_ns;

    std::unique_ptr<Shipper> make_shipper() {
        return std::make_unique<Shipper>(
            backend, model,
            Shipper::Clocks{[this] { return start_utc_ns + backend.clock(); },
                            [this] { return backend.clock(); }},
            [this](const std::string& certificates) -> Result<std::unique_ptr<HttpPoster>> {
                log.certificates = certificates;
                return std::unique_ptr<HttpPoster>(std::make_unique<FakePoster>(log));
            });
    }
    Shipping shipping(const char* protocol = "pyroscope-ingest",
                      nanoseconds every = seconds(60)) const {
        Shipping settings;
        settings.protocol = find_receiver_protocol(protocol);
        settings.url = "http://receiver:4040";
        settings.every_ns = ns(every);
        settings.spool = folder.path("spool");
        settings.keep_ns = ns(hours(6));
        settings.bytes = 256 << 20;
        return settings;
    }
    // Samples come evenly, none of them at the begin or the end.
    void pass(nanoseconds time, uint64_t samples = 4) {
        for (uint64_t i = 1; i <= samples; i++)
            stream.sample(backend.clock() + ns(time) * (2 * i - 1) / (2 * samples), 1,
                          stream.stack({"main", "f" + std::to_string(i)}));
        (void)backend.poll(time, -1);
        work();
    }
    // Does all that is due; next to nothing of the backend's time passes.
    void work() {
        for (size_t sent = SIZE_MAX; sent != log.sent.size();) {
            sent = log.sent.size();
            shipper->work();
        }
        EXPECT_TRUE(shipper->status().adds_up());
    }
    // Until so many intervals have been written.
    bool written(uint64_t intervals) {
        const auto limit = std::chrono::steady_clock::now() + minutes(1);
        while (shipper->status().written.intervals < intervals) {
            if (std::chrono::steady_clock::now() > limit)
                return false;
            (void)backend.poll(nanoseconds(1), -1);
            shipper->work();
            std::vector<int> fds;
            shipper->add_wake_fds(fds);
            pollfd wake{fds.empty() ? -1 : fds[0], POLLIN, 0};
            poll(&wake, 1, 1);
        }
        work();
        return true;
    }
    // A minute's worth each.
    void write(size_t intervals) {
        for (size_t i = 0; i < intervals; i++) {
            const uint64_t before = shipper->status().written.intervals;
            pass(seconds(60));
            ASSERT_TRUE(written(before + 1));
        }
    }
    void be_down() {
        log.reply = [](const HttpPost&) { return HttpOutcome{.text = "connection refused"}; };
    }
    void be_up() {
        log.reply = [](const HttpPost&) { return HttpOutcome{200}; };
    }

    Model model{10'000, 100};
    FakeBackend backend{model};
    SyntheticStream stream{model};
    TemporaryFolder folder;
    FakePoster::Log log;
    std::unique_ptr<Shipper> shipper = make_shipper();
};

// Of the URL: when the interval began, s since 1970.
uint64_t from_of(const HttpPost& post) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(post.url, match, std::regex("&from=([0-9]+)"))) << post.url;
    return std::stoull(match[1]);
}

TEST_F(ShippingTest, ADayOfOutagesLosesNothing) {
    constexpr size_t day = 24 * 60;
    // What the receiver does at each hour of the day.
    const uint64_t began = backend.clock();
    log.reply = [&](const HttpPost&) -> HttpOutcome {
        const uint64_t minute = (backend.clock() - began) / ns(minutes(1)), hour = minute / 60;
        if (hour % 6 == 1)
            return {.text = "connection refused"};
        if (hour % 6 == 3)
            return {503, minute % 7 == 0 ? 200u : 0u, 0, "busy"};
        if (hour % 6 == 4 && minute % 2)
            return {429, 1};
        return {200};
    };
    ASSERT_TRUE(shipper->set(shipping()));
    size_t longest = 0;
    for (size_t i = 1; i <= day; i++) {
        pass(seconds(60), 40);
        ASSERT_TRUE(written(i)) << i;
        longest = std::max<size_t>(longest, shipper->status().waiting.intervals);
    }
    pass(hours(1), 0); // the last ones' turn
    work();
    const ShippingStatus status = shipper->status();
    EXPECT_GE(longest, 60u) << "nothing had to wait";
    EXPECT_EQ(status.waiting, Count{});
    EXPECT_EQ(status.shipped, status.written);
    EXPECT_EQ(status.shipped, (Count{day, day * 40}));
    std::vector<uint64_t> taken;
    size_t refused = 0;
    for (const FakePoster::Sent& sent : log.sent) {
        refused += sent.outcome.status != 200;
        if (sent.outcome.status == 200)
            taken.push_back(from_of(sent.post));
    }
    ASSERT_EQ(taken.size(), day);
    for (size_t i = 1; i < day; i++)
        ASSERT_EQ(taken[i], taken[i - 1] + 60) << "not once each, in their order";
    // Eight bad hours; 429 comes to each other attempt of four more.
    EXPECT_GT(refused, 8 * 60 * 0.8);
    EXPECT_LT(refused, 8 * 60 * 1.3 + 4 * 60 * 2);
    EXPECT_TRUE(shipper->outcome());
    const auto news = shipper->take_news();
    EXPECT_THAT(news, Contains(HasSubstr("connection refused")));
    EXPECT_THAT(news, Contains(HasSubstr("takes intervals again")));
    EXPECT_THAT(news, SizeIs(testing::Le(day / 4))) << "the same is said once in a row";
}

TEST_F(ShippingTest, WhatTheReceiverSaysDecides) {
    struct Case {
        uint32_t status;
        Count ShippingStatus::*fate;
    };
    const Case cases[] = {{200, &ShippingStatus::shipped}, {202, &ShippingStatus::shipped},
                          {204, &ShippingStatus::shipped}, {400, &ShippingStatus::refused},
                          {401, &ShippingStatus::refused}, {404, &ShippingStatus::refused},
                          {413, &ShippingStatus::refused}, {500, &ShippingStatus::refused},
                          {302, &ShippingStatus::refused}, {0, &ShippingStatus::waiting},
                          {429, &ShippingStatus::waiting}, {502, &ShippingStatus::waiting},
                          {503, &ShippingStatus::waiting}, {504, &ShippingStatus::waiting}};
    for (const Case& one : cases) {
        SCOPED_TRACE(one.status);
        log = {};
        log.reply = [&](const HttpPost&) { return HttpOutcome{one.status, 0, 0, "te\x1bxt"}; };
        Shipping settings = shipping();
        settings.spool = folder.path("spool-" + std::to_string(one.status));
        shipper = make_shipper();
        ASSERT_TRUE(shipper->set(settings));
        write(1);
        const ShippingStatus status = shipper->status();
        EXPECT_EQ(status.*one.fate, (Count{1, 4}));
        EXPECT_THAT(log.sent, SizeIs(1));
        const bool refused = one.fate == &ShippingStatus::refused;
        EXPECT_EQ(shipper->outcome().ok(), !refused);
        if (refused) {
            EXPECT_THAT(shipper->outcome().error().message(),
                        HasSubstr(std::to_string(one.status)));
        }
        EXPECT_EQ(status.problem.empty(), one.fate != &ShippingStatus::waiting);
    }
}

TEST_F(ShippingTest, APartialSuccessIsOneAndIsTold) {
    log.reply = [](const HttpPost& post) {
        EXPECT_TRUE(post.otlp);
        return HttpOutcome{200, 0, 3, "too many attributes"};
    };
    ASSERT_TRUE(shipper->set(shipping("otlp")));
    write(2);
    pass(hours(1), 0);
    EXPECT_THAT(log.sent, SizeIs(2)) << "sent again";
    EXPECT_EQ(shipper->status().shipped.intervals, 2u);
    EXPECT_EQ(shipper->status().rejected, 6u);
    EXPECT_THAT(shipper->take_news(),
                ElementsAre(HasSubstr("left 3 out of an interval: too many attributes")));
}

TEST_F(ShippingTest, WaitsAsLongAsItIsAskedTo) {
    log.reply = [](const HttpPost&) { return HttpOutcome{503, 600}; };
    ASSERT_TRUE(shipper->set(shipping()));
    write(5);
    EXPECT_THAT(log.sent, SizeIs(1));
    pass(seconds(400), 0);
    EXPECT_THAT(log.sent, SizeIs(2));
}

TEST(ShippingBackoff, IsTwiceAsLongEachTimeAndAtRandom) {
    std::set<uint64_t> firsts;
    for (uint32_t seed = 1; seed <= 20; seed++) {
        Backoff backoff(seed);
        for (const int most_s : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
            const uint64_t wait = backoff.next_ns(0);
            EXPECT_GE(wait, ns(seconds(most_s)) / 2);
            EXPECT_LE(wait, ns(seconds(most_s)));
            if (most_s == 1)
                firsts.insert(wait);
        }
        EXPECT_EQ(backoff.next_ns(ns(seconds(300))), ns(seconds(300)));
        EXPECT_EQ(backoff.next_ns(UINT64_MAX), ns(hours(1))) << "not for ever";
        backoff.reset();
        EXPECT_LE(backoff.next_ns(0), ns(seconds(1)));
    }
    EXPECT_GT(firsts.size(), 15u) << "they would come back together";
}

TEST_F(ShippingTest, WhatIsFoundAtTheBeginningIsSent) {
    be_down();
    ASSERT_TRUE(shipper->set(shipping()));
    write(3);
    shipper->finish();
    EXPECT_THAT(shipper->take_news(), Contains(HasSubstr("3 intervals wait in")));
    EXPECT_TRUE(shipper->outcome()) << "nothing is lost";
    log.sent.clear();
    be_up();
    shipper = make_shipper();
    ASSERT_TRUE(shipper->set(shipping()));
    EXPECT_EQ(shipper->status().found, (Count{3, 12}));
    work();
    EXPECT_EQ(shipper->status().shipped, (Count{3, 12}));
    EXPECT_THAT(log.sent, SizeIs(3));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path("spool")));
}

TEST_F(ShippingTest, TheEndSendsWhatThereIs) {
    ASSERT_TRUE(shipper->set(shipping()));
    pass(seconds(30));
    EXPECT_THAT(log.sent, IsEmpty());
    shipper->finish();
    EXPECT_THAT(log.sent, SizeIs(1));
    EXPECT_THAT(shipper->take_news(), IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path("spool")));
}

TEST_F(ShippingTest, IntervalsWithoutSamplesAreNotSent) {
    ASSERT_TRUE(shipper->set(shipping()));
    for (int i = 0; i < 5; i++)
        pass(seconds(60), 0);
    write(1);
    EXPECT_THAT(log.sent, SizeIs(1));
}

TEST_F(ShippingTest, WhatHasNoRoomIsGivenUpAndCounted) {
    be_down();
    Shipping settings = shipping();
    ASSERT_TRUE(shipper->set(settings));
    write(1);
    settings.bytes = shipper->status().bytes * 7 / 2;
    ASSERT_TRUE(shipper->set(settings));
    EXPECT_EQ(shipper->status().found, (Count{1, 4}));
    write(9);
    ShippingStatus status = shipper->status();
    EXPECT_LE(status.bytes, settings.bytes);
    EXPECT_EQ(status.waiting.intervals, 3u);
    EXPECT_EQ(status.given_up, (Count{7, 28}));
    EXPECT_THAT(shipper->outcome().error().message(), HasSubstr("7 were not taken"));
    settings.keep_ns = ns(minutes(5));
    ASSERT_TRUE(shipper->set(settings));
    pass(minutes(10), 0);
    status = shipper->status();
    EXPECT_EQ(status.given_up, (Count{3, 12}));
    EXPECT_EQ(status.bytes, 0u);
}

// Another protocol, an unreadable file, a folder in use: what was in force still is.
TEST_F(ShippingTest, AnEditIsWholeOrNotAtAll) {
    be_down();
    ASSERT_TRUE(shipper->set(shipping()));
    write(2);
    Shipping other = shipping("parca");
    const auto held = shipper->set(other);
    ASSERT_FALSE(held);
    EXPECT_THAT(held.error().message(), HasSubstr("it holds intervals for pyroscope-ingest"));
    other = shipping();
    other.header_file = folder.path("absent");
    EXPECT_FALSE(shipper->set(other));
    other = shipping();
    other.certificate_file = folder.file("ca", "no certificate");
    EXPECT_THAT(shipper->set(other).error().message(), HasSubstr("holds no certificates"));
    ASSERT_TRUE(shipper->active());
    EXPECT_EQ(shipper->status().waiting, (Count{2, 8}));
    const auto second = make_shipper();
    EXPECT_THAT(second->set(shipping()).error().message(), HasSubstr("another auger ships from"));
    be_up();
    write(1);
    EXPECT_EQ(shipper->status().shipped, (Count{3, 12}));
    ASSERT_TRUE(shipper->set({}));
    EXPECT_FALSE(shipper->active());
    EXPECT_TRUE(second->set(shipping()));
}

TEST_F(ShippingTest, HeadersAreReadAnewForEachRequest) {
    Shipping settings = shipping();
    settings.header_file = folder.file("headers", "# tenant\nX-Scope-OrgID: 1\n\n");
    settings.certificate_file = folder.file("ca", "-----BEGIN CERTIFICATE-----\n");
    chmod(settings.header_file.c_str(), 0600);
    ASSERT_TRUE(shipper->set(settings));
    EXPECT_EQ(log.certificates, "-----BEGIN CERTIFICATE-----\n");
    write(1);
    EXPECT_THAT(log.sent.back().post.headers,
                ElementsAre("Content-Type: application/octet-stream", "X-Scope-OrgID: 1"));
    folder.file("headers", "X-Scope-OrgID: 2\r\n");
    write(1);
    EXPECT_THAT(log.sent.back().post.headers, Contains("X-Scope-OrgID: 2"));
    chmod(settings.header_file.c_str(), 0644);
    write(1);
    EXPECT_THAT(log.sent, SizeIs(2)) << "what anybody may have written";
    EXPECT_THAT(shipper->status().problem, HasSubstr("others may read"));
    chmod(settings.header_file.c_str(), 0600);
    pass(minutes(2), 0);
    EXPECT_THAT(log.sent, SizeIs(3));
}

TEST(ShippingHeaders, WhatIsNoneIsRefusedAndNotRepeated) {
    const TemporaryFolder folder;
    const auto refusal = [&](const std::string& text, mode_t mode = 0600) {
        const std::string path = folder.file("headers", text);
        chmod(path.c_str(), mode);
        const auto headers = read_header_file(path);
        EXPECT_FALSE(headers) << text;
        const std::string message = headers ? "" : headers.error().message();
        EXPECT_THAT(message, Not(HasSubstr("secret")));
        return message;
    };
    EXPECT_THAT(refusal("A: b\n\nsecret\n"), HasSubstr("line 3 is no header"));
    EXPECT_THAT(refusal("A b: secret\n"), HasSubstr("line 1 is no header"));
    EXPECT_THAT(refusal("A: secret\x01\n"), HasSubstr("line 1 has control characters"));
    EXPECT_THAT(refusal("content-LENGTH: 7\n"), HasSubstr("line 1 is a header that auger makes"));
    EXPECT_THAT(refusal(std::string(70'000, 'a')), HasSubstr("too large"));
    std::string many;
    for (int i = 0; i < 65; i++)
        many += "A: b\n";
    EXPECT_THAT(refusal(many), HasSubstr("more than 64"));
    EXPECT_THAT(refusal("A: secret\n", 0604), HasSubstr("others may read or change it"));
    EXPECT_THAT(refusal("A: secret\n", 0620), HasSubstr("others may read or change it"));
    EXPECT_THAT(read_header_file(folder.path("none")).error().message(), HasSubstr("no such file"));
    const std::string path = folder.file("headers", "A: b\r\nC:d");
    chmod(path.c_str(), 0640);
    EXPECT_THAT(*read_header_file(path), ElementsAre("A: b", "C:d"));
}

class SpoolTest : public testing::Test {
  protected:
    Spool open(const char* protocol = "otlp") { return std::move(*Spool::open(path, protocol)); }
    static Spool::Entry entry(const Spool& spool, uint64_t written_ms) {
        Spool::Entry made;
        made.number = spool.next_number();
        made.written_ms = written_ms;
        made.begin_ms = 7;
        made.length_ms = 8;
        made.samples = 9;
        made.service = "a b/c_d.e";
        return made;
    }
    static void add(Spool& spool, uint64_t written_ms, size_t bytes) {
        const Spool::Entry one = entry(spool, written_ms);
        std::ofstream(spool.path_of(one)) << std::string(bytes, 'x');
        ASSERT_TRUE(spool.add(spool.name_of(one)));
    }
    static std::vector<uint64_t> numbers(const auto& entries) {
        std::vector<uint64_t> all;
        for (const Spool::Entry& one : entries)
            all.push_back(one.number);
        return all;
    }
    std::vector<std::string> files() const {
        std::vector<std::string> names;
        for (const auto& file : std::filesystem::directory_iterator(path))
            names.push_back(file.path().filename());
        return names;
    }

    TemporaryFolder folder;
    const std::string path = folder.path("a/b/spool");
};

TEST_F(SpoolTest, IsBoundedInSizeAndAge) {
    Spool spool = open();
    for (uint64_t i = 1; i <= 10; i++)
        add(spool, 1'000 * i, 100);
    EXPECT_EQ(spool.bytes(), 1'000u);
    const Spool::Limits limits{450, 5'500};
    EXPECT_THAT(numbers(spool.trim({1'000, 20'000}, 10'000, {})), IsEmpty());
    // The first one is being sent.
    EXPECT_THAT(numbers(spool.trim(limits, 10'000, 1)), ElementsAre(2, 3, 4, 5, 6, 7));
    EXPECT_THAT(numbers(spool.entries()), ElementsAre(1, 8, 9, 10));
    EXPECT_THAT(numbers(spool.trim(limits, 14'000, {})), ElementsAre(1, 8));
    EXPECT_EQ(spool.bytes(), 200u);
    EXPECT_THAT(files(), SizeIs(2));
    EXPECT_THAT(numbers(spool.trim(limits, 0, {})), IsEmpty()) << "a clock that was put back";
}

TEST_F(SpoolTest, OutlivesItsProcessAndIsOneOfThem) {
    {
        Spool spool = open();
        EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms::owner_all);
        add(spool, 5, 10);
        add(spool, 6, 11);
        EXPECT_THAT(Spool::open(path, "otlp").error().message(), HasSubstr("another auger"));
    }
    const std::vector<std::string> others = {"interval_1_2_3_4_5_s", "interval_1_2_3_4_s.otlp",
                                             "interval_9_99999999999999999999_3_4_5_s.otlp",
                                             "interval_9_2_3_4_5_a b.otlp", "notes"};
    for (const std::string& name : others)
        folder.file("a/b/spool/" + name, "mine");
    std::filesystem::create_symlink("/etc/passwd", path + "/interval_8_2_3_4_5_s.otlp");
    EXPECT_THAT(Spool::open(path, "parca").error().message(),
                HasSubstr("it holds intervals for otlp"));
    Spool spool = open();
    EXPECT_THAT(numbers(spool.entries()), ElementsAre(1, 2));
    const Spool::Entry& first = spool.entries().front();
    EXPECT_EQ(first.written_ms, 5u);
    EXPECT_EQ(first.begin_ms, 7u);
    EXPECT_EQ(first.length_ms, 8u);
    EXPECT_EQ(first.samples, 9u);
    EXPECT_EQ(first.bytes, 10u);
    EXPECT_EQ(first.service, "a-b-c_d.e");
    EXPECT_EQ(spool.next_number(), 3u);
    EXPECT_EQ(*read_all(spool.read(first)->get(), 100), "xxxxxxxxxx");
    ASSERT_TRUE(spool.remove(1));
    ASSERT_TRUE(spool.remove(2));
    EXPECT_THAT(files(), SizeIs(others.size() + 1)) << "others' are nobody's business";
    EXPECT_FALSE(spool.add("interval_7_1_1_1_1_s.otlp")) << "there is no such file";
}

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

std::string gunzipped(const std::string& bytes) {
    z_stream stream{};
    inflateInit2(&stream, MAX_WBITS + 16);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string text(1 << 20, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    text.resize(stream.total_out);
    inflateEnd(&stream);
    return text;
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
    const auto profile_of = [](const std::string& pprof) { return gunzipped(pprof); };
    {
        const auto sent = send("pyroscope", "https://host/");
        EXPECT_EQ(sent.post.url, "https://host/push.v1.PusherService/Push");
        EXPECT_THAT(sent.post.headers,
                    ElementsAre("Content-Type: application/json", "Content-Encoding: gzip"));
        const auto json = nlohmann::json::parse(gunzipped(sent.body));
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
        const std::string profile = profile_of(decoded(series["samples"][0]["rawProfile"]));
        EXPECT_THAT(profile, HasSubstr("main"));
        EXPECT_THAT(profile, Not(HasSubstr("thread")));
        const auto again =
            nlohmann::json::parse(gunzipped(send("pyroscope", "http://h", true).body));
        EXPECT_NE(again["series"][0]["samples"][0]["ID"], id);
        EXPECT_THAT(profile_of(decoded(again["series"][0]["samples"][0]["rawProfile"])),
                    HasSubstr("thread"));
    }
    {
        const auto sent = send("parca", "http://host:7070/api/profiles/writeraw");
        EXPECT_EQ(sent.post.url, "http://host:7070/api/profiles/writeraw");
        EXPECT_THAT(sent.post.headers, ElementsAre("Content-Type: application/json"));
        const auto json = nlohmann::json::parse(sent.body);
        EXPECT_EQ(json["normalized"], true);
        EXPECT_EQ(json["series"][0]["labels"]["labels"][1]["value"], "a \"shop\"");
        EXPECT_THAT(profile_of(decoded(json["series"][0]["samples"][0]["rawProfile"])),
                    HasSubstr("main"));
    }
    {
        const auto sent = send("pyroscope-ingest", "http://host:4040/base");
        EXPECT_TRUE(std::regex_match(
            sent.post.url, std::regex(R"(http://host:4040/base/ingest\?name=a--shop-&from=(\d+))"
                                      R"(&until=(\d+)&format=pprof&spyName=auger)")))
            << sent.post.url;
        EXPECT_THAT(profile_of(sent.body), HasSubstr("main"));
    }
    {
        const auto sent = send("otlp", "http://host:4318");
        EXPECT_EQ(sent.post.url, "http://host:4318/v1development/profiles");
        EXPECT_THAT(sent.post.headers,
                    ElementsAre("Content-Type: application/x-protobuf", "Content-Encoding: gzip"));
        EXPECT_THAT(gunzipped(sent.body), testing::AllOf(HasSubstr("main"), HasSubstr("shop")));
    }
}

TEST_F(ShippingTest, TheAccountIsInStatusAndMetrics) {
    log.reply = [](const HttpPost&) { return HttpOutcome{503, 0, 0, "bu\x1bsy"}; };
    ASSERT_TRUE(shipper->set(shipping()));
    write(2);
    ExportQuery query;
    query.shipping = shipper->status();
    StringSink text;
    ASSERT_TRUE(write_prometheus(model, query, text));
    const std::string receiver = R"({receiver="pyroscope-ingest http://receiver:4040")";
    EXPECT_THAT(text.text,
                HasSubstr("auger_shipping_intervals_total" + receiver + ",fate=\"written\"} 2\n"));
    EXPECT_THAT(text.text, HasSubstr("auger_shipping_waiting_samples" + receiver + "} 8\n"));
    StatusContext context;
    context.shipping = shipper->status();
    const auto json = nlohmann::json::parse(status_json(model, context))["shipping"];
    EXPECT_EQ(json["written"], (nlohmann::json{{"intervals", 2}, {"samples", 8}}));
    EXPECT_EQ(json["waiting"], json["written"]);
    EXPECT_EQ(json["problem"], "HTTP 503: bu\\x1bsy");
    ViewOptions options;
    options.width = 160;
    const std::string shown = to_text(status_view(model, options, context), ColourMode::none);
    EXPECT_THAT(shown, HasSubstr("intervals: 0 found + 2 written = 0 shipped + 0 refused + 0 given "
                                 "up + 2 waiting"));
    EXPECT_THAT(shown, HasSubstr("the receiver takes none now: HTTP 503: bu\\x1bsy"));
    context.shipping = {};
    EXPECT_FALSE(nlohmann::json::parse(status_json(model, context)).contains("shipping"));
}

// What is wrong, and where: the line, and what is below it.
std::string complaint(const std::string& line) {
    TestSession test;
    const std::string said = test.run("target 4711\n" + line);
    EXPECT_EQ(test.failure, Error::Kind::usage) << said;
    return said.substr(std::min(said.find("test.aug:2:"), said.size()));
}

TEST(ShippingGrammar, ComplaintsPointAtWhatIsWrong) {
    EXPECT_THAT(complaint("ship zipkin http://h"), HasSubstr("test.aug:2:6: error"));
    EXPECT_THAT(complaint("ship otlp"), HasSubstr("the receiver's URL"));
    EXPECT_THAT(complaint("ship otlp collector:4318"), HasSubstr("is no URL of HTTP"));
    EXPECT_EQ(complaint("ship otlp https://me:secret@host/x every 10s"),
              "test.aug:2:19: error: a password in a URL is read by others, as in ps\n"
              "    ship otlp https://me:secret@host/x every 10s\n"
              "                      ^~~~~~~~~\n"
              "  put it into a headers file, as Authorization: Basic ..., and name that: headers "
              "FILE\n");
    EXPECT_THAT(complaint("ship otlp http://:4318"), HasSubstr("names no host"));
    EXPECT_THAT(complaint("ship otlp http://h:port"),
                HasSubstr("test.aug:2:19: error: the URL names "
                          "no port"));
    EXPECT_THAT(complaint("ship otlp http://h:65536"), HasSubstr("names no port"));
    EXPECT_THAT(complaint("ship otlp http://[::1"), HasSubstr("names no host"));
    EXPECT_THAT(complaint("ship otlp http://h/?x=1"),
                HasSubstr("test.aug:2:20: error: a receiver's "
                          "URL ends with its path"));
    EXPECT_THAT(complaint("ship otlp \"http://h/a b\""), HasSubstr("no such character"));
    EXPECT_THAT(complaint("ship otlp http://h every 5"), HasSubstr("has no unit"));
    EXPECT_THAT(complaint("ship otlp http://h every 5ms"), HasSubstr("between 1s and 86400s"));
    EXPECT_THAT(complaint("ship otlp http://h keep 1s"), HasSubstr("between 60s and"));
    EXPECT_THAT(complaint("ship otlp http://h size 256MB"), HasSubstr("is not a size"));
    EXPECT_THAT(complaint("ship otlp http://h size 1K"), HasSubstr("between 1M and"));
    EXPECT_THAT(complaint("ship otlp http://h as"), HasSubstr("the service"));
    EXPECT_THAT(complaint("ship otlp http://h nicely"), HasSubstr("nicely"));
}

TEST(ShippingGrammar, SettingsComeBackAsTheyWereSaid) {
    const TemporaryFolder folder;
    TestSession test;
    const std::string spool = folder.path("spool");
    const std::string headers = folder.file("headers", "A: b\n");
    chmod(headers.c_str(), 0600);
    test.run("target 4711");
    const std::string line =
        "ship pyroscope http://127.0.0.1:1 every 15s as \"my shop\" headers \"" + headers +
        "\" spool \"" + spool + "\" keep 24h size 1G threads";
    const std::string said = test.run(line);
    EXPECT_EQ(test.failure, std::nullopt) << said;
    EXPECT_THAT(said, HasSubstr("shipping intervals of 15s to pyroscope http://127.0.0.1:1; they "
                                "wait in " +
                                spool + " for 24 h 00 min at most, and in 1G"));
    EXPECT_THAT(said, HasSubstr("sampling CPU time at 49 Hz"));
    const auto lines = spell_settings(test.session.settings(), command_table().settings());
    EXPECT_THAT(lines, Contains(HasSubstr("as \"my shop\"")));
    const Shipping before = test.session.settings().shipping;
    EXPECT_THAT(test.run("ship"), HasSubstr("intervals: 0 found + 0 written = 0 shipped"));
    EXPECT_THAT(test.run("ship off"), HasSubstr("no more intervals are shipped"));
    EXPECT_THAT(test.run("ship"), HasSubstr("nothing is shipped"));
    test.run("undo");
    EXPECT_EQ(test.session.settings().shipping, before);
    test.run("ship off");
    for (const std::string& saved : lines)
        if (saved.starts_with("ship"))
            test.run(saved);
    EXPECT_EQ(test.failure, std::nullopt);
    EXPECT_EQ(test.session.settings().shipping, before);
}

TEST(ShippingGrammar, AFileThatOthersReadIsRefused) {
    const TemporaryFolder folder;
    TestSession test;
    const std::string headers = folder.file("headers", "Authorization: Bearer secret\n");
    chmod(headers.c_str(), 0644);
    const std::string said = test.run("target 4711; ship otlp http://127.0.0.1:1 headers " +
                                      headers + " spool " + folder.path("spool"));
    EXPECT_EQ(test.failure, Error::Kind::failed);
    EXPECT_THAT(said, HasSubstr("others may read or change it"));
    EXPECT_THAT(said, Not(HasSubstr("secret")));
    EXPECT_FALSE(test.session.services().shipper().active());
}

} // namespace
} // namespace auger
