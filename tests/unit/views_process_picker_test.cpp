// SPDX-License-Identifier: GPL-3.0-or-later
// Choosing a process: what is typed filters, Tab changes the order, the cursor stays on its
// process.
#include "views/screen/process_picker.h"

#include <gmock/gmock.h>

namespace auger {
namespace {

using testing::HasSubstr;
using testing::Not;
using Outcome = ProcessPicker::Outcome;

class ProcessPickerTest : public testing::Test {
  protected:
    void SetUp() override {
        picker_.update({{10, "www-data", "nginx", "nginx: worker process", 1, 0.25, 12'000},
                        {20, "root", "sshd", "/usr/sbin/sshd -D", 1, 0, 1},
                        {30, "shop", "java", "java -jar shop\x1b[2J.jar", 48, 1.5, 900}});
    }
    Outcome press(Key::Code code) { return picker_.press({.code = code}); }
    Outcome type(std::string_view text) {
        Outcome outcome = Outcome::choosing;
        for (const char c : text)
            outcome = picker_.press({.code = Key::Code::character, .character = char32_t(c)});
        return outcome;
    }
    std::string drawn(size_t width = 100, size_t height = 20) {
        return to_text(picker_.draw(width, height));
    }
    pid_t chosen() const { return picker_.chosen() ? picker_.chosen()->pid : 0; }

    ProcessPicker picker_;
};

TEST_F(ProcessPickerTest, WhoTakesMostIsFirst) {
    EXPECT_EQ(chosen(), 30);
    EXPECT_THAT(drawn(), HasSubstr("      30  shop        150.0      900       48  java  "));
    EXPECT_THAT(drawn(), HasSubstr("java -jar shop\\x1b[2J.jar")) << "escaped";
    press(Key::Code::tab);
    EXPECT_EQ(chosen(), 10) << "by waits";
    EXPECT_EQ(press(Key::Code::enter), Outcome::chosen);
}

TEST_F(ProcessPickerTest, WhatIsTypedFilters) {
    EXPECT_EQ(type("SHOP"), Outcome::choosing);
    EXPECT_EQ(chosen(), 30);
    EXPECT_THAT(drawn(), HasSubstr("1 of 3 processes: SHOP"));
    EXPECT_THAT(drawn(), Not(HasSubstr("nginx")));
    type("x");
    EXPECT_EQ(chosen(), 0);
    EXPECT_EQ(press(Key::Code::enter), Outcome::choosing) << "there is none";
    EXPECT_EQ(press(Key::Code::escape), Outcome::choosing);
    EXPECT_THAT(drawn(), HasSubstr("3 processes; type to filter them"));
    EXPECT_EQ(press(Key::Code::escape), Outcome::left);
    type("20");
    EXPECT_EQ(chosen(), 20) << "by pid";
    press(Key::Code::backspace);
    type("worker");
    EXPECT_EQ(chosen(), 0) << "2worker";
}

TEST_F(ProcessPickerTest, TheCursorStaysOnItsProcess) {
    press(Key::Code::down);
    EXPECT_EQ(chosen(), 10);
    picker_.update({{5, "root", "init", "/sbin/init", 1, 3, 1},
                    {10, "www-data", "nginx", "nginx: worker process", 1, 0, 12'000},
                    {30, "shop", "java", "java", 48, 1.5, 900}});
    EXPECT_EQ(chosen(), 10);
}

TEST_F(ProcessPickerTest, FitsInAnyTerminal) {
    for (size_t width = 1; width < 120; width += 7)
        for (size_t height = 1; height < 12; height++)
            EXPECT_LE(picker_.draw(width, height).height(), std::max<size_t>(height, 3));
}

} // namespace
} // namespace auger
