// SPDX-License-Identifier: GPL-3.0-or-later
// The flame of a live view: a tree that is kept up to date instead of folded anew. New samples go
// in, old ones leave, samples change class when their call ends or a following threshold moves,
// frames move when their names come. What cannot be followed (another question, an edited split or
// `only`) is folded anew in slices beside the tree that is shown, which is then replaced.
#pragma once

#include "views/model/fold.h"

#include <memory>

namespace auger {

struct FlameQuery {
    Window window;
    ClassFilter filter;
    GroupBy by = GroupBy::process;
    FrameChoice frames = FrameChoice::all;
    friend bool operator==(const FlameQuery&, const FlameQuery&) = default;
};

class FlameStream {
  public:
    // Steps of one refresh: about a millisecond.
    static constexpr size_t step = 5'000;

    FlameStream();
    ~FlameStream();
    FlameStream(FlameStream&&) noexcept;
    FlameStream& operator=(FlameStream&&) noexcept;

    // Takes in what came to the model since the last time; the same model every time. Returns
    // whether work is left: then tree() is not yet what fold() would give now.
    bool refresh(const Model&, const FlameQuery&, size_t budget = step);

    const FlameTree& tree() const; // empty until the first one is whole
    // What tree() answers: while another question is being folded, still the one before.
    const FlameQuery& query() const;
    // Grows when tree() was replaced, and with it the numbers of all nodes. In between a node keeps
    // its number as long as it holds a sample. FlamePath names a frame in any tree.
    uint64_t generation() const;
    size_t memory_bytes() const;

  private:
    class Folding;
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

} // namespace auger
