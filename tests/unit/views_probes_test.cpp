// SPDX-License-Identifier: GPL-3.0-or-later
// What `probes` says of each probe beside its calls: how their ends are seen, and what it costs.
#include "tests/unit/synthetic_stream.h"
#include "views/json/json_views.h"
#include "views/model/model.h"
#include "views/text/views.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;

class ProbesView : public testing::Test {
  protected:
    std::string text() const { return to_text(probes_view(model_, {})); }
    nlohmann::json json(size_t line) const {
        return nlohmann::json::parse(probes_json(model_).at(line));
    }

    Model model_;
    SyntheticStream stream_{model_};
};

TEST_F(ProbesView, SaysHowEndsAreSeenNow) {
    const SpecId spec = stream_.probe(1, "handle");
    EXPECT_THAT(text(), HasSubstr("service+0x1000 ret\n"));
    model_.on_exit_changed(spec, ObservedExit::parse("ret (2 of 3 cheap)"));
    EXPECT_THAT(text(), HasSubstr("service+0x1000 ret (2 of 3 cheap)\n"));
    EXPECT_EQ(json(0)["kind"], "ret (2 of 3 cheap)");
    model_.on_exit_changed(SpecId{7}, ObservedExit::parse("trampoline")); // nobody's
    model_.on_exit_changed(spec, ObservedExit::parse("trampoline"));
    EXPECT_EQ(json(0)["kind"], "trampoline");
}

// In half a second of which the target ran 200 ms.
TEST_F(ProbesView, SaysWhatAProbeCosts) {
    stream_.probe(1, "handle");
    stream_.probe(2, "recv");
    EXPECT_THAT(text(), Not(HasSubstr("CPU time")));
    EXPECT_TRUE(json(0)["overhead"].is_null());
    Overhead overhead{1'000'000'000, 1'500'000'000, 200'000'000};
    overhead.causes = {{Overhead::Cause::Kind::samples, {}, 50, 1'000'000},
                       {Overhead::Cause::Kind::probe, ProbeId{2}, 10'000, 11'000'000},
                       {Overhead::Cause::Kind::probe, ProbeId{1}, 0, 0}};
    stream_.ledger(1'500'000'000, 0, 0, overhead);
    EXPECT_THAT(text(), HasSubstr("recv              timed\n"
                                  "      5.5 % of the target's CPU time: 20,000 a second of about "
                                  "1.10 us each\n"));
    EXPECT_TRUE(json(0)["overhead"].is_null());
    const nlohmann::json cost = json(1)["overhead"];
    EXPECT_EQ(cost["events"], 10'000);
    EXPECT_EQ(cost["cost"], 11'000'000);
    EXPECT_DOUBLE_EQ(cost["share"].get<double>(), 0.055);
}

TEST(ObservedExit, IsItsTextAgain) {
    for (const char* const text :
         {"ret", "ret (cheap)", "ret (1 of 2 cheap)", "trampoline", "call site", "ret, in callers",
          "ret, in callers; jumps to a, b", "ret, without its tail; jumps to c",
          "ret, in callees; jumps to d", "span", "span point", "count", "something else", "ret (",
          "ret ()", "ret (cheap"})
        EXPECT_EQ(ObservedExit::parse(text).text(), text);
    EXPECT_EQ(ObservedExit::parse("ret (cheap)").kind(), ObservedExit::Kind::exit_instructions);
    EXPECT_EQ(ObservedExit::parse("ret (cheap)").jumps_to(), "");
    EXPECT_EQ(ObservedExit::parse("ret, in callers; jumps to a, b").jumps_to(), "a, b");
    EXPECT_EQ(ObservedExit::parse("ret ()").kind(), ObservedExit::Kind::other);
    EXPECT_EQ(ObservedExit::parse("trampoline (cheap)").kind(), ObservedExit::Kind::other);
}

} // namespace
} // namespace auger
