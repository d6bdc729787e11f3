// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/flame_stream.h"

#include "views/model/flame_folding.h"
#include "views/model/refolded.h"

namespace auger {

class FlameStream::Implementation : public Refolded<Folding> {};

FlameStream::FlameStream() : implementation_(std::make_unique<Implementation>()) {}
FlameStream::~FlameStream() = default;
FlameStream::FlameStream(FlameStream&&) noexcept = default;
FlameStream& FlameStream::operator=(FlameStream&&) noexcept = default;

bool FlameStream::refresh(const Model& model, const FlameQuery& query, size_t budget) {
    return implementation_->refresh(model, query, budget);
}

const FlameTree& FlameStream::tree() const {
    static const FlameTree empty;
    return implementation_->shown() ? implementation_->shown()->tree() : empty;
}

const FlameQuery& FlameStream::query() const {
    static const FlameQuery none;
    return implementation_->shown() ? implementation_->shown()->query() : none;
}

uint64_t FlameStream::generation() const {
    return implementation_->generation();
}

size_t FlameStream::memory_bytes() const {
    return implementation_->memory_bytes();
}

} // namespace auger
