// SPDX-License-Identifier: GPL-3.0-or-later
// Transaction: an edit of several steps that is whole or not at all. Each step says how it is taken
// back; what has no commit() behind it is taken back, last step first. What can only be done, and
// not be taken back, waits for the commit.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace auger {

class Transaction {
  public:
    Transaction() = default;
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction() {
        while (!undo_.empty()) {
            auto last = std::move(undo_.back());
            undo_.pop_back();
            last();
        }
    }

    void on_rollback(std::function<void()> undo) { undo_.push_back(std::move(undo)); }
    void on_commit(std::function<void()> finish) { finish_.push_back(std::move(finish)); }
    // The value gets back what it is now.
    template <typename T>
    void restore(T& value) {
        on_rollback([&value, before = value] { value = before; });
    }

    void commit() {
        undo_.clear();
        for (const auto& finish : std::exchange(finish_, {}))
            finish();
    }

  private:
    std::vector<std::function<void()>> undo_;
    std::vector<std::function<void()>> finish_; // in their order
};

} // namespace auger
