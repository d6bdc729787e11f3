// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked of stacks, by names as people write them: classes and `only`.
#include "tests/support/durations.h"
#include "tests/unit/synthetic_stream.h"
#include "views/canvas.h"
#include "views/model/account.h"
#include "views/model/fold.h"
#include "views/model/slow_call_query.h"
#include "views/model/stack_condition.h"
#include "views/text/views.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::HasSubstr;

ClassFilter in(const std::string& function, bool others = false) {
    ClassFilter filter;
    filter.in = StackChoice{function, others};
    return filter;
}

double samples(const Model& model, const ClassFilter& filter) {
    double count = 0;
    for (const ClassSums& sums : sum_stacks(model, Classifier(model), {}, filter))
        count += sums.sum().samples;
    return count;
}

class NamedFunctions : public testing::Test {
  protected:
    NamedFunctions() {
        model_.on_module(ModuleId{0}, {ModuleKind::file, "/usr/lib/libc.so.6", ""});
        model_.on_module(ModuleId{1}, {ModuleKind::python, "[python]", ""});
        model_.on_module(ModuleId{2}, {ModuleKind::java, "[java]", ""});
        model_.on_module(ModuleId{3}, {ModuleKind::jit, "[jit]", ""});
        model_.on_module(ModuleId{4}, {ModuleKind::ruby, "[ruby]", ""});
        model_.on_module(ModuleId{5}, {ModuleKind::perl, "orders.pl", ""});
    }
    bool names(const std::string& text, uint32_t module, const Frame& frame) {
        const LocationId location{locations_++};
        model_.on_location(location, {ModuleId{module}, 16 * location.value, false});
        model_.on_frames(location, {&frame, 1});
        const SymbolTables& symbols = model_.symbols();
        return NamedFunction(text).is(symbols, symbols.found_frames(location)[0]);
    }
    Model model_{100};
    uint32_t locations_ = 0;
};

TEST_F(NamedFunctions, AreOfFiles) {
    const Frame recv{"ns::recv(int)", "", 0, false};
    for (const char* text :
         {"recv", "ns::recv", "ns::recv(int)", "libc.so.6:recv", "/usr/lib/libc.so.6:ns::recv"})
        EXPECT_TRUE(names(text, 0, recv)) << text;
    for (const char* text : {"rec", "s::recv", "libm.so.6:recv", "py:recv", ""})
        EXPECT_FALSE(names(text, 0, recv)) << text;
}

TEST_F(NamedFunctions, AreOfModulesAndClasses) {
    const Frame get{"Handler.get", "/srv/shop/app.py", 12, false};
    for (const char* text : {"get", "Handler.get", "py:get", "py:Handler.get", "py:app.Handler.get",
                             "py:shop.app.Handler.get", "app.Handler.get"})
        EXPECT_TRUE(names(text, 1, get)) << text;
    for (const char* text : {"et", "py:pp.Handler.get", "py:app.get", "java:get", "py:other.get"})
        EXPECT_FALSE(names(text, 1, get)) << text;
    EXPECT_TRUE(names("py:json.loads", 1, {"loads", "/usr/lib/json/__init__.py", 1, false}));
    EXPECT_FALSE(names("py:__init__.loads", 1, {"loads", "/usr/lib/json/__init__.py", 1, false}));

    const Frame place{"com.shop.Orders.place", "com/shop/Orders.java", 3, false};
    for (const char* text : {"place", "java:Orders.place", "com.shop.Orders.place"})
        EXPECT_TRUE(names(text, 2, place)) << text;
    EXPECT_FALSE(names("java:rders.place", 2, place));

    const Frame total{"Shop::Orders#total", "/srv/shop/orders.rb", 7, false};
    for (const char* text :
         {"total", "rb:total", "rb:Orders#total", "rb:Shop::Orders#total", "Shop::Orders#total"})
        EXPECT_TRUE(names(text, 4, total)) << text;
    for (const char* text : {"rb:otal", "rb:ders#total", "py:total", "rb:Shop.total", "js:total"})
        EXPECT_FALSE(names(text, 4, total)) << text;
    EXPECT_TRUE(names("rb:Till.pay", 4, {"Shop::Till.pay", "/srv/shop/till.rb", 1, false}));

    const Frame sub{"Orders::Till::total", "orders.pl", 7, false};
    for (const char* text : {"total", "Till::total", "Orders::Till::total", "perl:total",
                             "perl:Till::total", "perl:Orders::Till::total", "orders.pl:total"})
        EXPECT_TRUE(names(text, 5, sub)) << text;
    for (const char* text : {"perl:otal", "perl:ill::total", "php:total", "others.pl:total"})
        EXPECT_FALSE(names(text, 5, sub)) << text;
    EXPECT_TRUE(names("perl:(eval)", 5, {"(eval)", "orders.pl", 7, false}));
}

TEST_F(NamedFunctions, AreOfGeneratedCode) {
    const Frame script{"JS:*onRequest /srv/app.js:12:3", "", 0, false};
    EXPECT_TRUE(names("js:app.onRequest", 3, script));
    EXPECT_TRUE(names("onRequest", 3, script));
    EXPECT_FALSE(names("py:onRequest", 3, script));
    EXPECT_TRUE(names("py:app.do_GET", 3, {"py::do_GET:/srv/app.py", "", 0, false}));
    EXPECT_FALSE(names("js:do_GET", 3, {"py::do_GET:/srv/app.py", "", 0, false}));
}

TEST(Languages, StandBeforeAColon) {
    for (const char* text : {"py:f", "java:A.f", "js:f", "php:f", "rb:A#f", "perl:A::f"})
        EXPECT_TRUE(NamedFunction::has_language(text)) << text;
    for (const char* text : {"py", "py:", "py::f", ":f", "libc:f", "f"})
        EXPECT_FALSE(NamedFunction::has_language(text)) << text;
}

// Three samples: main > handle > parse, main > handle, main > p:get > parse; and one slow call in
// each of the first and the last.
class StackConditions : public testing::Test {
  protected:
    StackConditions() {
        const SpecId recv = stream_.probe(1, "recv");
        uint64_t now = 10 * ms;
        for (const auto& path : std::vector<std::vector<std::string>>{
                 {"main", "handle", "parse"}, {"main", "handle"}, {"main", "p:get", "parse"}}) {
            stream_.sample(now += ms, 1, stream_.stack(path));
            if (path.size() < 3)
                continue;
            SlowCallEvent slow;
            const CallKey call = stream_.call(recv, now);
            slow.end.time_ns = now + ms;
            slow.end.duration_ns = ms;
            slow.end.thread = stream_.thread(1);
            slow.end.call = call;
            slow.stack = stream_.stack(path);
            model_.on_slow_call(slow);
        }
    }
    void keep(std::vector<std::string> functions, std::vector<Clause> clauses) {
        model_.keep_stacks({std::move(functions), std::move(clauses)});
    }
    size_t slow_calls(const ClassFilter& filter) {
        return find_slow_calls(model_, Classifier(model_), {}, std::nullopt, filter).size();
    }
    Model model_{100};
    SyntheticStream stream_{model_};
};

TEST_F(StackConditions, OfAClass) {
    EXPECT_EQ(samples(model_, in("parse")), 2);
    EXPECT_EQ(samples(model_, in("parse", true)), 1);
    EXPECT_EQ(samples(model_, in("py:get")), 1);
    EXPECT_EQ(samples(model_, in("py:get", true)), 2);
    EXPECT_EQ(slow_calls(in("handle")), 1u);
    EXPECT_EQ(slow_calls(in("parse")), 2u);
    EXPECT_EQ(fold(model_, {}, in("handle"), GroupBy::process).total().samples, 2);
}

TEST_F(StackConditions, OfAFunctionThatWasNeverSampled) {
    const auto lacking = lacking_part(model_, in("py:app.pars"));
    ASSERT_TRUE(lacking);
    EXPECT_THAT(lacking->message(), HasSubstr("no function \"py:app.pars\" was sampled"));
    EXPECT_THAT(lacking->hint, HasSubstr("there are parse"));
    EXPECT_THAT(lacking_part(model_, in("zzz"))->hint, HasSubstr("\"top\" lists"));
    EXPECT_TRUE(lacking_part(model_, in("zzz", true)));
    EXPECT_FALSE(lacking_part(model_, in("parse")));
}

TEST_F(StackConditions, OfWhatIsKept) {
    keep({"parse", "handle"}, {{{0, 1}, {}}});
    EXPECT_EQ(samples(model_, {}), 1);
    EXPECT_EQ(slow_calls({}), 1u);
    EXPECT_EQ(count_left_out(model_, Classifier(model_), {}, std::nullopt), 1u);
    EXPECT_THAT(to_text(flame_view(model_, {})),
                HasSubstr("2 samples are left out by `only`: by what is on their stacks."));
    keep({"parse", "handle"}, {{{0}, {1}}, {{1}, {0}}});
    EXPECT_EQ(samples(model_, {}), 2);
    EXPECT_EQ(samples(model_, in("parse")), 1);
    EXPECT_EQ(make_account(model_).left_out, 1u);
    keep({}, {});
    EXPECT_EQ(samples(model_, {}), 3);
}

// By what it was found with, and by what a rule makes of it.
TEST_F(StackConditions, AreOfNamesBeforeRulesAndBehindThem) {
    model_.set_rules(*Rules::compile(
        {{Rule::Kind::rewrite_frame, "parse", "scan"}, {Rule::Kind::drop_frame, "^handle$", {}}}));
    EXPECT_EQ(samples(model_, in("parse")), 2);
    EXPECT_EQ(samples(model_, in("scan")), 2);
    EXPECT_EQ(samples(model_, in("handle")), 2);
}

// A test that has looked at a location looks again when its names come.
TEST_F(StackConditions, FollowNames) {
    const StackTest test(model_.symbols(), {{"later"}, {{{0}, {}}}});
    const StackId stack = stream_.stack({"main", "parse"});
    EXPECT_FALSE(test(stack));
    EXPECT_FALSE(test.names_any());
    const Frame later{"later", "", 0, false};
    static_cast<EventSink&>(model_).on_frames(stream_.location("parse"), {&later, 1});
    EXPECT_TRUE(test(stack));
    EXPECT_TRUE(test.names_any());
}

} // namespace
} // namespace auger
