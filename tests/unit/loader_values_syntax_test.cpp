// SPDX-License-Identifier: GPL-3.0-or-later
// What needs no call: the syntax, labels, and texts that nobody would write.
#include "loader/reader/values/compile_program.h"
#include "loader/values/expression.h"
#include "tests/unit/loader_values_requests.h"

#include <gtest/gtest.h>

#include <random>

namespace auger {
namespace {

using test::only_if;

CallProgram compiled(const std::string& label) {
    auto program = compile_program(test::split_by(label), {"f"});
    return program.ok() && *program ? **program : CallProgram();
}

TEST(Predicates, SyntaxAlone) {
    EXPECT_TRUE(check_predicate("req->header.length > 4096 and not (flags & 0x40)").ok());
    EXPECT_TRUE(check_expression("(*this).items[3]").ok());
    EXPECT_FALSE(check_expression("arg0 > 3").ok());
    EXPECT_FALSE(check_expression("7").ok());
    EXPECT_FALSE(check_expression("a b").ok());
    EXPECT_FALSE(check_predicate("").ok());
    EXPECT_FALSE(check_predicate("a->").ok());
    EXPECT_TRUE(check_predicate("a[b]").ok());
    EXPECT_FALSE(check_predicate("a[b").ok());
    EXPECT_FALSE(check_expression("4 * 1024").ok());
    for (const char* text :
         {"*(arg0 + 8)", "((struct request *)arg0)->len", "(ns::map<int, ns::set<u8>> *)arg0",
          "(const char *)p->name", "(unsigned long)x", "&p->items[i].name", "a - b << 2 | c & -d"})
        EXPECT_TRUE(check_expression(text).ok()) << text;
}

// Whether parentheses hold a type is told by what is in them and what follows.
TEST(Expressions, TypesInParentheses) {
    const auto kind_of = [](const char* text) {
        auto parsed = parse_expression(text);
        return parsed.ok() ? (*parsed)->kind : Expression::Kind::string;
    };
    for (const char* text :
         {"(u8)a", "(a)b", "(a *)b", "(a)(b)", "(struct a)-b", "(u8)*b", "(u8)-b", "(a<b, c> *)d",
          "(a<b<c>>)d", "(const a *const)b", "(a b c)d"})
        EXPECT_EQ(kind_of(text), Expression::Kind::cast) << text;
    for (const char* text : {"(a) - b", "(a) & b", "(a) * b", "((a)) * b", "(a + b) | c"})
        EXPECT_EQ(kind_of(text), Expression::Kind::arithmetic) << text;
    for (const char* text : {"(a < b)", "(a) < b", "(a) > (b)", "(a < 3 and b > 4) == c"})
        EXPECT_EQ(kind_of(text), Expression::Kind::comparison) << text;
    EXPECT_EQ(kind_of("(a and b)"), Expression::Kind::all);
    EXPECT_EQ(kind_of("(a < 3 or b > *c)"), Expression::Kind::any);
    EXPECT_EQ(kind_of("(a)->b"), Expression::Kind::member);
    EXPECT_EQ(kind_of("(a)[b]"), Expression::Kind::element);
    auto cast = parse_expression("(const struct  a * volatile *)b");
    ASSERT_TRUE(cast.ok());
    EXPECT_EQ((*cast)->type.text, "struct a");
    EXPECT_EQ((*cast)->type.pointers, 2u);
}

TEST(Labels, AsText) {
    const CallProgram program = compiled("str(arg0)");
    char text[WIRE_STRING] = "POST";
    EXPECT_EQ(format_label(program, WIRE_LABEL_STRING, 0x1000, {text, sizeof text}), "POST");
    EXPECT_EQ(format_label(program, WIRE_LABEL_STRING, 0x1000, ""), "\"\"");
    EXPECT_EQ(format_label(program, WIRE_LABEL_UNREADABLE, 0, ""), "unreadable");
    EXPECT_EQ(format_label(compiled("arg0"), WIRE_LABEL_NUMBER, uint64_t(-3), ""), "-3");
}

// Whatever the text, there is a program or a complaint with a place within the text.
TEST(Expressions, RandomTexts) {
    std::mt19937 random(42);
    const std::vector<std::string> words{
        "arg0", "arg6", "ret", "str(",  ")",    "(",     "and",
        "or",   "not",  "==",  "<",     ">=",   "&",     "&&",
        "!",    "-",    "->",  ".",     "x",    "[",     "]",
        "3",    "0x40", "'a'", "\"b",   "\"",   "*",     "true",
        "::",   " ",    "\\",  "\n",    "\xff", "arg1",  "!=",
        "||",   "null", "4k",  "errno", "'",    "0x",    "9999999999999999999999",
        "/",    "%",    "+",   "|",     "<<",   ">>",    "(u8)",
        "u32",  "*)",   "(a",  ",",     ">",    "struct"};
    size_t fine = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text;
        for (uint32_t length = random() % 12; length; --length) {
            text += words[random() % words.size()];
            if (random() % 3)
                text += ' ';
        }
        auto program = compile_program(only_if(text), {"f"});
        if (!program.ok()) {
            ASSERT_TRUE(program.error().at) << text;
            ASSERT_LE(program.error().at->offset + program.error().at->length,
                      program.error().subject.size())
                << text;
        }
        fine += program.ok() && !text.empty();
    }
    EXPECT_GT(fine, 20u);
}

} // namespace
} // namespace auger
