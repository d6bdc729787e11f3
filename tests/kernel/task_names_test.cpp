// SPDX-License-Identifier: GPL-3.0-or-later
// How stacks name the tasks of CPython's event loops.
#include "bpf/unwind_table.h"
#include "loader/kernel/live_names.h"
#include "tests/support/kernel_test.h"
#include "views/model/model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace auger::test {
namespace {

// The words of a stack, of a function of 3.11 in our own memory.
class TaskNames : public KernelTest {
  protected:
    struct alignas(16) Object {
        char bytes[256] = {};
        void put(uint32_t offset, uint64_t word) {
            std::memcpy(bytes + offset, &word, sizeof word);
        }
        uint64_t address() const { return reinterpret_cast<uint64_t>(bytes); }
    };
    void SetUp() override {
        KernelTest::SetUp();
        const auto layout = python_layout(0x030b07f0, {});
        ASSERT_TRUE(layout.ok());
        text_.put(layout->objects.text_length, 6);
        text_.put(layout->objects.text_state, 1u << 2 | 1u << 5 | 1u << 6);
        std::strcpy(text_.bytes + layout->objects.text_ascii, "handle");
        lines_.put(layout->objects.bytes_length, 0);
        code_.put(layout->frames.code_line, 7);
        code_.put(layout->frames.code_file, text_.address());
        code_.put(layout->frames.code_name, text_.address());
        code_.put(layout->frames.code_lines, lines_.address());
        names_.python().set_layout(getpid(), 0, std::make_shared<const PythonLayout>(*layout));
    }
    // Of the stack in which this task runs, what its frames are called, leaf first.
    std::vector<std::string> stack_with(uint64_t task, uint32_t cookie) {
        const std::vector<uint64_t> words = {
            WIRE_FRAME_PYTHON | code_.address(),
            uint64_t{cookie},
            WIRE_FRAME_PYTHON | code_.address(),
            uint64_t{WIRE_PYTHON_TASK_FUNCTION} << 32 | cookie,
            WIRE_FRAME_PYTHON | task,
            uint64_t{WIRE_PYTHON_TASK_ADDRESS} << 32,
        };
        std::vector<std::string> frames;
        const StackId stack = names_.stack(getpid(), 1, {}, words);
        for (const LocationId location : model_.symbols().stack(stack))
            frames.emplace_back(
                model_.symbols().name(model_.symbols().frames(location).front().function));
        return frames;
    }
    uint32_t cookie() const { return wire_python_cookie(7, text_.address(), text_.address()); }

    Object text_, lines_, code_;
    Model model_;
    LiveNames names_{model_};
};

TEST_F(TaskNames, AreOfTheFunctionAndTheAddress) {
    EXPECT_THAT(stack_with(0x7f0010, cookie()),
                testing::ElementsAre("handle", "[task handle 0x7f0010]"));
    EXPECT_THAT(stack_with(0x7f0020, cookie()),
                testing::ElementsAre("handle", "[task handle 0x7f0020]"));
    // Another function is there by now.
    EXPECT_THAT(stack_with(0x7f0010, cookie() + 1),
                testing::ElementsAre("[python: gone before its name was read]", "[task 0x7f0010]"));
}

TEST_F(TaskNames, AreBounded) {
    for (uint64_t i = 1; i <= 10'000; i++)
        EXPECT_EQ(stack_with(i * 16, cookie()).back(), fmt::format("[task handle {:#x}]", i * 16));
    EXPECT_EQ(stack_with(10'001 * 16, cookie()).back(), "[task one of many others]");
    EXPECT_EQ(stack_with(10'002 * 16, cookie()).back(), "[task one of many others]");
    EXPECT_EQ(stack_with(16, cookie()).back(), "[task handle 0x10]");
}

} // namespace
} // namespace auger::test
