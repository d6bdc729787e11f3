// SPDX-License-Identifier: GPL-3.0-or-later
// Pointers followed and counted with, and what is computed, against what the program itself says.
#include "tests/kernel/program.h"
#include "tests/kernel/session.h"

#include <gmock/gmock.h>

namespace auger::test {
namespace {

class Pointers : public KernelTest {
  protected:
    // The slow calls of `visit` that show the expressions, and the program's account in `account_`.
    const std::vector<StreamLog::SlowCall>& calls_that_show(std::vector<std::string> expressions) {
        program_ = std::make_unique<Program>("pointers",
                                             std::vector<std::string>{"--calls", "48", "--wait"});
        program_->wait_ready();
        session_ = std::make_unique<Session>();
        session_->observe(program_->pid());
        CallConditions conditions;
        conditions.show_default = false;
        conditions.show = std::move(expressions);
        session_->time("visit", every_call, conditions);
        program_->go();
        session_->pump_to_end();
        account_ = program_->account();
        return session_->log.slow_calls;
    }
    // Each as it is for the call's index.
    void expect_true(const std::vector<std::string>& expressions) {
        std::vector<std::string> shown = expressions;
        shown.push_back("index");
        const auto& calls = calls_that_show(shown);
        ASSERT_EQ(calls.size(), 48u);
        for (const StreamLog::SlowCall& call : calls) {
            for (const auto& [name, value] : call.values)
                ASSERT_TRUE(value.readable) << name << ' ' << value.text;
            const nlohmann::json& truth =
                account_["visits"][std::stoul(session_->log.value(call, "index"))];
            for (const std::string& expression : expressions) {
                const nlohmann::json& wanted = truth.at(expression);
                const std::string text = session_->log.value(call, expression);
                if (wanted.is_string()) {
                    EXPECT_EQ(text, '"' + wanted.get<std::string>() + '"') << expression;
                } else {
                    EXPECT_EQ(std::stoll(text, nullptr, 0), wanted.get<int64_t>()) << expression;
                }
            }
        }
    }

    std::unique_ptr<Program> program_;
    std::unique_ptr<Session> session_;
    nlohmann::json account_;
};

TEST_F(Pointers, ElementsAtAnIndexThatIsAValue) {
    expect_true({"items[index].id", "items[index].parts[2].amount",
                 "items[index].next->parts[1].code", "items[index].word.bytes[1]"});
    expect_true({"order[index]->id", "order[index][-1 + 1].word.whole", "(&items[index])->id"});
    expect_true({"items->parts[index & 1].amount", "((int32_t*)middle)[index - 4]"});
}

TEST_F(Pointers, PointersToPointersAndNegativeOffsets) {
    expect_true({"(*order)->id", "(**order).parts[2].code", "(*(order + 2))->next->id",
                 "*(&items[7].parts[1].amount - 2)", "*(int32_t*)(middle - 8)",
                 "((int32_t*)middle)[-3]", "*(uint16_t*)((char*)(items + 2) + 24)"});
    expect_true({"*((int32_t*)middle + index)"});
}

TEST_F(Pointers, Strings) {
    expect_true({"str(items[index].name)", "str(order[index]->name)"});
    expect_true({"str((*order)->name + 1)", "str(*(char**)((char*)order[1] + 8))"});
}

TEST_F(Pointers, Arithmetic) {
    expect_true({"index * 3 - 1", "7 - index", "1 << index"});
    expect_true({"(uint8_t)items[index].id", "items[index].word.whole >> 8 & 0xff"});
    expect_true({"(char*)order[index] - (char*)items"});
}

// A null pointer is followed, and so is what an unreadable value is computed of.
TEST_F(Pointers, WhatCannotBeReadIsSaid) {
    const auto& calls =
        calls_that_show({"*(u64 *)(index - index)", "*(*(u64 **)(arg3 - arg3) + index)",
                         "str((char *)(arg3 - arg3))"});
    ASSERT_EQ(calls.size(), 48u);
    for (const StreamLog::SlowCall& call : calls) {
        EXPECT_THAT(session_->log.value(call, "*(u64 *)(index - index)"),
                    testing::StartsWith("unreadable"));
        EXPECT_THAT(session_->log.value(call, "*(*(u64 **)(arg3 - arg3) + index)"),
                    testing::StartsWith("unreadable"));
        EXPECT_EQ(session_->log.value(call, "str((char *)(arg3 - arg3))"), "null");
    }
}

TEST_F(Pointers, APredicateKeepsExactlyTheCallsForWhichItHolds) {
    Program program("pointers", {"--calls", "400", "--wait"});
    program.wait_ready();
    Session session;
    session.observe(program.pid());
    CallConditions conditions;
    conditions.only_if =
        "items[index].parts[2].amount < -25 and items[index].word.bytes[1] & 6 == 6";
    const ProbeId probe = session.time("visit", {}, conditions);
    program.go();
    session.pump_to_end();
    const nlohmann::json account = program.account();
    const Calls calls = session.calls(probe);
    EXPECT_EQ(calls.entries, account["visited"].get<uint64_t>());
    EXPECT_EQ(calls.returns, account["chosen"].get<uint64_t>());
    EXPECT_GT(calls.returns, 0u);
    EXPECT_EQ(calls.filtered, calls.entries - calls.returns);
}

} // namespace
} // namespace auger::test
