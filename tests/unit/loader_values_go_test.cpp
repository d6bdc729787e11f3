// SPDX-License-Identifier: GPL-3.0-or-later
// Arguments and results of Go's functions, by what the installed compiler says of a program: in
// registers and memory that are made up.
#include "loader/probes/code_messages.h"
#include "tests/unit/loader_values_calls.h"
#include "tests/unit/loader_values_program.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <optional>

namespace auger {
namespace {

using test::complaint;
using test::Machine;
using testing::ElementsAre;
using testing::HasSubstr;

// By Go's ABIInternal, in DWARF's numbers.
enum GoRegister : size_t { rax = 0, rbx = 3, rcx = 2, rdi = 5, rsi = 4, r8 = 8, r9 = 9, r10 = 10 };

class GoValues : public testing::Test {
  protected:
    void SetUp() override {
        const std::string path = std::string(AUGER_PROGRAMS_DIR "/go_values");
        if (!std::filesystem::exists(path))
            GTEST_SKIP() << "go is not installed (package golang-go)";
        program_.emplace(path);
        machine_.read = [this](uint64_t at, void* to, size_t size) {
            return memory_.read(at, to, size);
        };
    }
    ValueScope scope(const std::string& function) const {
        ValueScope scope = program_->scope(function);
        for (const ElfFunction& symbol : program_->file->functions())
            if (symbol.name == function)
                scope.address = symbol.address;
        return scope;
    }
    std::vector<std::string> shown(const std::string& function,
                                   const std::vector<std::string>& expressions) const {
        const CallProgram program = test::compiled(test::shows(expressions), scope(function));
        std::vector<std::string> texts;
        for (const CallValue& value : format_values(program, machine_.run(program.wire), {}))
            texts.push_back(value.text);
        return texts;
    }
    std::string refused(const std::string& function, const std::string& predicate) const {
        return complaint(compile_program(test::only_if(predicate), scope(function)));
    }

    std::optional<test::ValuesProgram> program_;
    test::Memory memory_;
    Machine machine_;
};

TEST_F(GoValues, OfArguments) {
    machine_.at_entry[rax] = 1000;
    machine_.at_entry[rbx] = 0x5000;
    machine_.at_entry[rcx] = 5;
    machine_.at_entry[rdi] = 0x6000;
    machine_.at_entry[rsi] = 3;
    machine_.at_entry[r9] = 1;
    machine_.at_entry[r10] = 0x7000;
    memory_.put_string(0x5000, "hello world");
    memory_.put_string(0x6000, "body of it");
    memory_.put(0x7000, std::array<uint64_t, 2>{17, 18});
    EXPECT_THAT(shown("main.mixed", {"n", "text", "str(body)", "odd", "at->y"}),
                ElementsAre("1000", "\"hello\"", "\"bod\"", "true", "18"));
    EXPECT_THAT(shown("main.mixed", {"arg0", "arg2", "text.len", "body.len"}),
                ElementsAre("1000", "5", "5", "3"));
}

TEST_F(GoValues, OfTextAreAsLongAsItIs) {
    const auto text = [&](uint64_t length) {
        machine_.at_entry[rcx] = length;
        return shown("main.mixed", {"text"}).at(0);
    };
    machine_.at_entry[rbx] = 0x5000;
    memory_.put_string(0x5000, std::string(100, 'x'));
    EXPECT_EQ(text(0), "\"\"");
    EXPECT_EQ(text(1), "\"x\"");
    EXPECT_EQ(text(62), "\"" + std::string(62, 'x') + "\"");
    EXPECT_EQ(text(64), "\"" + std::string(63, 'x') + "\"...");
    EXPECT_EQ(text(UINT64_MAX), "\"" + std::string(63, 'x') + "\"...");
    machine_.at_entry[rbx] = 0x9000;
    EXPECT_EQ(text(0), "\"\"");
    EXPECT_THAT(text(1), HasSubstr("unreadable"));
}

TEST_F(GoValues, OfResultsAreKnownAtTheEnd) {
    machine_.at_end[rax] = 7;
    machine_.at_end[rbx] = 0x5000;
    machine_.at_end[rcx] = 4;
    machine_.at_end[rdi] = static_cast<uint32_t>(-3);
    memory_.put_string(0x5000, "name and more");
    EXPECT_THAT(shown("main.named", {"ret", "length", "ret1", "text", "half", "ret2"}),
                ElementsAre("7", "7", "\"name\"", "\"name\"", "-3", "-3"));
    const CallProgram program =
        test::compiled(test::only_if("str(text) == \"name\" and half < 0"), scope("main.named"));
    EXPECT_TRUE(is_read_at_return(program));
    EXPECT_EQ(Machine::holds(program.wire, machine_.run(program.wire), WIRE_PREDICATE_ONLY), true);
}

TEST_F(GoValues, ThatThereAreNotAreRefused) {
    EXPECT_EQ(refused("main.nothing", "ret == 0"), "ret: main.nothing returns nothing");
    EXPECT_THAT(refused("main.onStack", "ret == 0"), HasSubstr("is not returned in registers"));
    EXPECT_THAT(refused("main.onStack", "ret1 == 0"), HasSubstr("floating-point"));
    EXPECT_EQ(refused("main.onStack", "ret2 == 0"), "compiled");
    EXPECT_THAT(refused("main.mixed", "arg9 == 0"), HasSubstr("is in none of the registers"));
    EXPECT_THAT(refused("main.mixed", "ret3 == 0"), HasSubstr("no parameter"));
    EXPECT_THAT(refused("main.mixed", "at.z == 0"), HasSubstr("no member"));
    EXPECT_EQ(refused("main.mixed", "body.cap == 0"), "body.cap: lies in a third register");
}

// What a confined process says.
TEST_F(GoValues, NonsenseIsNotBelieved) {
    const CallProgram sound = test::compiled(test::shows({"text", "n"}), scope("main.mixed"));
    const auto is_believed = [](const CallProgram& program) {
        return code_messages::program(
                   code_messages::program(code_messages::Program(std::optional(program))))
            .has_value();
    };
    ASSERT_TRUE(is_believed(sound));
    ASSERT_TRUE(sound.wire.fetch[1].flags & WIRE_FETCH_COUNTED);
    for (const auto& spoil : std::initializer_list<void (*)(wire_fetch&)>{
             [](wire_fetch& fetch) { fetch.length = 1; },
             [](wire_fetch& fetch) { fetch.length = WIRE_MAX_VALUES; },
             [](wire_fetch& fetch) { fetch.flags &= ~WIRE_FETCH_STRING; },
             [](wire_fetch& fetch) { fetch.flags |= WIRE_FETCH_AT_END; },
             [](wire_fetch& fetch) { fetch.base = WIRE_BASE_RECORD; }}) {
        CallProgram bad = sound;
        spoil(bad.wire.fetch[1]);
        EXPECT_FALSE(is_believed(bad));
    }
}

} // namespace
} // namespace auger
