// SPDX-License-Identifier: GPL-3.0-or-later
// Tests make their tables for unwinding themselves: those that another build has left in the user's
// cache would hide what this one does wrong.
#include "tests/support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace auger::test {
namespace {

class OwnCache : public testing::Environment {
  public:
    void SetUp() override {
        folder_ = std::make_unique<TemporaryFolder>();
        setenv("XDG_CACHE_HOME", folder_->path("cache").c_str(), 1);
    }
    void TearDown() override { folder_.reset(); }

  private:
    std::unique_ptr<TemporaryFolder> folder_;
};

[[maybe_unused]] const testing::Environment* const own_cache =
    testing::AddGlobalTestEnvironment(new OwnCache);

} // namespace
} // namespace auger::test
