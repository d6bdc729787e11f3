// SPDX-License-Identifier: GPL-3.0-or-later
// Base of every test that needs the kernel: without root it skips, and says so.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

namespace auger::test {

class KernelTest : public testing::Test {
  protected:
    void SetUp() override {
        if (geteuid() != 0)
            GTEST_SKIP() << "needs root: BPF programs are loaded";
    }
};

} // namespace auger::test
