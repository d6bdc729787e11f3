// SPDX-License-Identifier: GPL-3.0-or-later
// What cannot be asked of a function, with the place in the text; and what is shown of it when
// nobody asks.
#include "tests/unit/loader_matching_debug.h"
#include "tests/unit/loader_values_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <fstream>
#include <random>

namespace auger {
namespace {

using test::Machine;
using test::ValuesProgram;
using testing::ElementsAre;
using testing::HasSubstr;

// "the marked part: the reason (the hint)".
std::string complaint(const ProgramRequest& request, const ValueScope& scope) {
    auto result = compile_program(request, scope);
    if (result.ok())
        return "compiled";
    const Error& error = result.error();
    if (!error.at || error.at->offset + error.at->length > error.subject.size())
        return "not placed: " + error.message();
    return error.subject.substr(error.at->offset, error.at->length) + ": " + error.cause +
           (error.hint.empty() ? "" : " (" + error.hint + ")");
}
std::string shown(const std::string& expression, const ValueScope& scope) {
    ProgramRequest request;
    request.traces_slow = true;
    request.conditions.show = {expression};
    return complaint(request, scope);
}
std::string asked(const std::string& predicate, const ValueScope& scope) {
    ProgramRequest request;
    request.conditions.only_if = predicate;
    return complaint(request, scope);
}

std::vector<std::string> default_names(const ValueScope& scope) {
    ProgramRequest request;
    request.traces_slow = true;
    auto program = compile_program(request, scope);
    std::vector<std::string> names;
    if (program.ok() && *program)
        for (const ShownValue& value : (*program)->shown)
            names.push_back(value.name);
    return names;
}

class Complaints : public testing::TestWithParam<std::string> {};

TEST_P(Complaints, OfNamesAndMembers) {
    const ValuesProgram program(GetParam());
    const ValueScope members = program.scope("members");
    EXPECT_EQ(shown("reqq->length", members),
              "reqq: members has no parameter \"reqq\" (is \"req\" meant? there are req, indirect, "
              "count)");
    EXPECT_EQ(
        shown("req->lenght", members),
        "lenght: struct Request has no member \"lenght\" (is \"length\" meant? there are "
        "method, length, peer, own, color, number, bytes, bits, table, next, weight, done and "
        "4 more)");
    EXPECT_EQ(shown("req->peer->portt == 3", members),
              "req->peer->portt == 3: is a condition where a value is wanted");
    EXPECT_EQ(shown("count->length", members), "count: has no members: it is int");
    EXPECT_EQ(shown("*count", members), "count: is neither a pointer nor an array: it is int");
    EXPECT_EQ(shown("ambiguous->number", program.scope("ambiguous")),
              "number: struct Ambiguous is only declared, and its members are not known");
    EXPECT_THAT(shown("ret->x", members), HasSubstr("ret: has no members: it is long"));
}

TEST_P(Complaints, OfTypes) {
    const ValuesProgram program(GetParam());
    const ValueScope members = program.scope("members");
    EXPECT_EQ(
        shown("req->own", members),
        "req->own: is a struct Address (name one of its members: there are port, host, after)");
    EXPECT_EQ(shown("req->weight", members),
              "req->weight: is a floating-point number (double), which cannot be read");
    EXPECT_EQ(shown("req->table", members),
              "req->table: is an array (int[]) (name an element: items[0])");
    EXPECT_EQ(shown("req->table[4]", members), "req->table[4]: is beyond the array's 4 elements");
    EXPECT_EQ(shown("req->table[-1]", members), "req->table[-1]: is beyond the array's 4 elements");
    EXPECT_EQ(shown("str(count)", members), "count: is not a pointer (int)");
    EXPECT_EQ(shown("str(req)", members),
              "req: is a struct Request, which is not text (name one of its members)");
    EXPECT_EQ(shown("str(req->table)", members), "req->table: is an array (int[]), and no text");
    EXPECT_EQ(shown("str(indirect)", members),
              "indirect: is a pointer to struct Request *, which is not text");
    EXPECT_EQ(shown("req->next->next->next->next->next->next->length", members),
              "req->next->next->next->next->next->next->length: takes 7 steps through memory: 6 is "
              "the most");
    EXPECT_EQ(shown("req->next->next->next->next->next->length", members), "compiled");
    EXPECT_EQ(asked("req->method == \"GET\"", members),
              "\"GET\": is a string, and is compared with a number (write str(req->method))");
    EXPECT_EQ(asked("str(req->method) == 3", members),
              "3: is not a string, and is compared with one (a string is in quotes: \"GET\")");
    EXPECT_EQ(shown("x", program.scope("by_value")),
              "x: is a floating-point number, which cannot be read");
    EXPECT_EQ(shown("mixed.whole", program.scope("by_value")).substr(0, 7), "mixed: ");
    EXPECT_EQ(shown("ret", program.scope("nothing")), "ret: nothing returns nothing");
    EXPECT_EQ(shown("ret", program.scope("large_result")),
              "ret: is a struct Big (name one of its members: there are words)");
}

TEST_P(Complaints, OfCastsAndPointers) {
    const ValuesProgram program(GetParam());
    const ValueScope members = program.scope("members");
    EXPECT_EQ(
        shown("((struct Requst *)arg0)->length", members),
        "struct Requst *: the debug information has no type \"struct Requst\" (is \"Request\" "
        "meant?)");
    EXPECT_THAT(shown("((Request *)arg0)->lenght", members),
                HasSubstr("lenght: struct Request has no member \"lenght\" (is \"length\" meant?"));
    EXPECT_EQ(shown("(struct Request)arg0", members),
              "struct Request: is neither an integer nor a pointer: it is struct Request (a "
              "pointer to it "
              "is (struct Request *))");
    EXPECT_EQ(shown("(union Request *)arg0", members),
              "union Request *: the debug information has no type \"union Request\"");
    EXPECT_EQ(shown("((Ambiguous *)arg0)->number", members),
              "Ambiguous *: there are several types \"Ambiguous\", which differ");
    EXPECT_EQ(shown("((Opaque *)arg0)->secret", members), "compiled");
    const std::string name_one =
        "is a struct Request (name one of its members: there are method, length, peer, own, color, "
        "number, bytes, bits, table, next, weight, done and 4 more)";
    EXPECT_EQ(shown("*req", members), "*req: " + name_one);
    EXPECT_EQ(shown("req[count]", members), "req[count]: " + name_one);
    EXPECT_EQ(shown("req[count].length", members), "compiled");
    EXPECT_EQ(shown("&req->bits.level", members),
              "req->bits.level: is a bit-field, which has no address");
    EXPECT_EQ(shown("&count", members), "count: lies in registers, not in memory");
    EXPECT_EQ(shown("req->next - req", members), "compiled");
    EXPECT_EQ(shown("opaque + 1", program.scope("opaque")),
              "opaque: leads to something of no known size, so nothing can be added (cast it to "
              "count in bytes: (char *)POINTER + 8)");
    EXPECT_THAT(shown("str(req->length)", members), HasSubstr("(as one it is str((char *)...))"));
    EXPECT_EQ(asked("(enum Color)req->length == green", members), "compiled");
}

TEST_P(Complaints, OfConstants) {
    const ValuesProgram program(GetParam());
    const ValueScope numbers = program.scope("numbers");
    EXPECT_EQ(asked("d == 300", numbers),
              "300: is a number that the value never is (it is 0 to 255)");
    EXPECT_EQ(asked("b < 0", numbers), "compiled");
    EXPECT_EQ(asked("b == -1", numbers),
              "-1: is a number that the value never is (it is 0 to 4294967295)");
    EXPECT_EQ(asked("a == 0xffffffff", numbers), "compiled");
    EXPECT_EQ(asked("a == 4294967295", numbers),
              "4294967295: is a number that the value never is (it is -2147483648 to 2147483647)");
    EXPECT_EQ(asked("a < 0xffffffff", numbers),
              "0xffffffff: is a number that the value never is (it is -2147483648 to 2147483647)");
    EXPECT_EQ(asked("d & 0x100", numbers),
              "0x100: selects bits that the value does not have: it has 8");
    EXPECT_EQ(asked("req->bits.level > 31", program.scope("members")), "compiled");
    EXPECT_EQ(asked("req->bits.level > 32", program.scope("members")),
              "32: is a number that the value never is (it is 0 to 31)");
    const ValueScope colors = program.scope("enumerations");
    EXPECT_EQ(asked("color == green and blue != color and sign == minus", colors), "compiled");
    EXPECT_EQ(asked("color == purple", colors),
              "purple: enum Color has no \"purple\" (there are red, green, blue)");
    EXPECT_EQ(asked("ret == blue", colors), "compiled");
}

INSTANTIATE_TEST_SUITE_P(Programs, Complaints,
                         testing::Values("values_c_optimised", "values_c_plain",
                                         "values_c_stripped", "values_c_clang0"),
                         [](const auto& info) { return info.param; });

TEST(ValueTypes, Cpp) {
    const ValuesProgram program("values_cc_optimised");
    const ValueScope total = program.scope("total");
    EXPECT_EQ(shown("made", total), "made: total has no parameter \"made\" ("
                                    "there are this, factor, other)");
    EXPECT_EQ(shown("this->made", total), "made: is static, and lies in no object");
    EXPECT_EQ(shown("this->nothing", total).substr(0, 50),
              "nothing: class Item has no member \"nothing\" (there");
    EXPECT_EQ(asked("kind == Kind::book or kind == none", total), "compiled");
    EXPECT_THAT(shown("text", program.scope("references")), HasSubstr("as text it is str(...)"));
    EXPECT_EQ(shown("str(text)", program.scope("view")),
              "text: is a string_view, which is not text "
              "(a string_view does not end in a NUL)");
    EXPECT_THAT(default_names(total), ElementsAre("this", "factor", "ret"));
    EXPECT_THAT(default_names(program.scope("compare")), ElementsAre("kind", "ret"));
    // Strings are text, by reference and by value; other references are left out.
    EXPECT_THAT(default_names(program.scope("references")),
                ElementsAre("text", "copy", "last", "ret"));
}

TEST(ValueTypes, AClonesRemovedParameters) {
    const ValuesProgram program("values_c_optimised");
    const ValueScope changed = program.scope("changed");
    EXPECT_EQ(shown("kept", changed), "compiled");
    EXPECT_EQ(shown("always", changed),
              "always: was optimised out: it is nowhere when the function begins");
    EXPECT_EQ(shown("arg0", changed), "compiled"); // the register, whatever it holds
}

TEST(ValueTypes, WithoutDebugInformation) {
    const ValuesProgram program("values_c_bare");
    const ValueScope members = program.scope("members");
    EXPECT_THAT(shown("req->length", members),
                HasSubstr("req: the parameters of members are not known: it has no debug "
                          "information, and no separate debug file was found (by position they "
                          "work: arg0, str(arg1); or compile it with -g, or install"));
    EXPECT_EQ(shown("arg0->length", members),
              "arg0: is of a type that is not known, so that it has no members (with debug "
              "information, name its type: ((struct request *)arg0)->len)");
    EXPECT_THAT(shown("((struct Request *)arg0)->length", members),
                HasSubstr("struct Request *: there is no debug information that could know the "
                          "type \"struct Request\": it has no debug information"));
    EXPECT_EQ(shown("*(u32 *)(arg0 + 8)", members), "compiled");
    EXPECT_EQ(shown("str(arg0)", members), "compiled");
    EXPECT_TRUE(default_names(members).empty());
    // Nothing is asked, and nothing is known.
    ProgramRequest request;
    request.traces_slow = true;
    auto program_of_nothing = compile_program(request, members);
    ASSERT_TRUE(program_of_nothing.ok());
    EXPECT_FALSE(program_of_nothing->has_value());
}

TEST(ValueTypes, ShownByDefault) {
    const ValuesProgram program("values_c_optimised");
    // As many as there is room for, and the result.
    EXPECT_THAT(default_names(program.scope("numbers")),
                ElementsAre("a", "b", "c", "d", "e", "f", "g", "ret"));
    EXPECT_THAT(default_names(program.scope("members")),
                ElementsAre("req", "indirect", "count", "ret"));
    EXPECT_THAT(default_names(program.scope("nothing")), ElementsAre("a", "b"));
    EXPECT_THAT(default_names(program.scope("pair_result")), ElementsAre("a"));
}

TEST(ValueTypes, AsText) {
    const ValuesProgram program("values_c_optimised");
    ProgramRequest request;
    request.traces_slow = true;
    auto compiled = compile_program(request, program.scope("enumerations"));
    ASSERT_TRUE(compiled.ok());
    wire_values values{};
    values.readable = 0xff;
    const CallProgram& of = **compiled;
    std::vector<std::string> names;
    for (const ShownValue& shown : of.shown) {
        const std::map<std::string, uint64_t> known{
            {"color", 200}, {"sign", uint64_t(-3)}, {"letter", 'x'}, {"ret", 77}};
        if (known.contains(shown.name))
            values.value[shown.value] = known.at(shown.name);
    }
    std::strcpy(values.string[0], "a \"name\"");
    EXPECT_THAT(format_values(of, values, {}),
                ElementsAre(CallValue{"color", "blue (200)"}, CallValue{"sign", "minus (-3)"},
                            CallValue{"name", "\"a \"name\"\""}, CallValue{"letter", "120 'x'"},
                            CallValue{"ret", "77"}));
}

// Bytes of the debug information are overwritten at random: whatever comes of it, it ends.
TEST(ValueTypes, OfDamagedFiles) {
    std::mt19937_64 random(5);
    size_t compiled = 0;
    for (const char* name : {"values_c_optimised", "values_cc_plain", "values_cc_dwarf3"}) {
        const ValuesProgram whole(name);
        std::ifstream file(whole.path, std::ios::binary);
        const std::string original((std::istreambuf_iterator<char>(file)), {});
        const size_t debug = original.find("GCC: (Debian"); // .comment: .debug_* follow
        ASSERT_NE(debug, original.npos);
        for (int round = 0; round < 60; ++round) {
            std::string damaged = original;
            for (int i = 0; i < 1 << (round % 12); ++i)
                damaged[debug + random() % (damaged.size() - debug)] = static_cast<char>(random());
            UniqueFd fd(memfd_create("damaged", MFD_CLOEXEC));
            ASSERT_EQ(write(fd.get(), damaged.data(), damaged.size()),
                      static_cast<ssize_t>(damaged.size()));
            auto elf = ElfFile::open(std::move(fd), "damaged");
            if (!elf)
                continue;
            for (const char* function :
                 {"members", "by_value", "enumerations", "total", "references", "made_of"}) {
                ValueScope scope{function};
                scope.file = *elf;
                scope.debug = test::debug_of(*elf, "damaged");
                scope.address = whole.address_of(function);
                for (const char* text :
                     {"req->peer->port", "pair.fourth", "color", "this->inner.depth", "number",
                      "str(copy)", "str(text)", "third.first", "nobody", "ret.x", "arg0",
                      "((Pair *)arg0)->fourth", "req[count].table[count]"})
                    compiled += shown(text, scope) == "compiled";
                default_names(scope);
            }
        }
    }
    EXPECT_GT(compiled, 1000u); // or the damage left nothing to look at
}

} // namespace
} // namespace auger
