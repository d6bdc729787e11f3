// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/flame_stream.h"

namespace auger {

class FlameStream::Folding {
  public:
    FlameQuery query;
    FlameTree tree;
};

FlameStream::FlameStream() : shown_(std::make_unique<Folding>()) {}
FlameStream::~FlameStream() = default;
FlameStream::FlameStream(FlameStream&&) noexcept = default;
FlameStream& FlameStream::operator=(FlameStream&&) noexcept = default;

bool FlameStream::refresh(const Model& model, const FlameQuery& query, size_t) {
    shown_->query = query;
    shown_->tree = fold(model, query.window, query.filter, query.by);
    generation_++;
    return false;
}

const FlameTree& FlameStream::tree() const {
    return shown_->tree;
}
const FlameQuery& FlameStream::query() const {
    return shown_->query;
}
uint64_t FlameStream::generation() const {
    return generation_;
}
size_t FlameStream::memory_bytes() const {
    return shown_->tree.memory_bytes();
}

} // namespace auger
