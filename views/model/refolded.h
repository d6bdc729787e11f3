// SPDX-License-Identifier: GPL-3.0-or-later
// Shows a T that follows the model, and makes another in slices where it cannot: when the question
// is another one, or the split was edited. Meanwhile the old one is shown as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace auger {

class Model;

// T is made of a model and a query, which query() gives back; refresh(budget) and can_follow() are
// as in ClassedSamples.
template <typename T>
class Refolded {
  public:
    // Returns whether work is left.
    template <typename Query>
    bool refresh(const Model& model, const Query& query, size_t budget) {
        if (shown_ && fits(*shown_, query))
            next_.reset(); // perhaps the question before was asked again
        else if (!next_ || !fits(*next_, query))
            next_ = std::make_unique<T>(model, query);
        if (!next_)
            return shown_->refresh(budget);
        if (next_->refresh(budget))
            return true;
        shown_ = std::move(next_);
        generation_++;
        return false;
    }

    const T* shown() const { return shown_.get(); } // null before the first one is whole
    uint64_t generation() const { return generation_; }
    size_t memory_bytes() const {
        return (shown_ ? shown_->memory_bytes() : 0) + (next_ ? next_->memory_bytes() : 0);
    }

  private:
    template <typename Query>
    static bool fits(const T& t, const Query& query) {
        return t.query() == query && t.can_follow();
    }

    std::unique_ptr<T> shown_, next_;
    uint64_t generation_ = 0;
};

} // namespace auger
