// SPDX-License-Identifier: GPL-3.0-or-later
// ModuleIndex: a module's functions, which are indexed when somebody first asks: most modules are
// never looked into. Copies share them. Used by one thread.
#pragma once

#include "loader/reader/elf/function_index.h"

#include <concepts>
#include <functional>
#include <memory>
#include <utility>

namespace auger {

class ModuleIndex {
  public:
    using Make = std::function<std::shared_ptr<const FunctionIndex>()>;

    template <typename Index>
    requires std::convertible_to<Index*, const FunctionIndex*>
    ModuleIndex(std::shared_ptr<Index> index)
        : state_(std::make_shared<State>(State{std::move(index), {}})) {}
    explicit ModuleIndex(Make make)
        : state_(std::make_shared<State>(State{nullptr, std::move(make)})) {}

    const std::shared_ptr<const FunctionIndex>& pointer() const {
        if (!state_->index)
            state_->index = state_->make();
        return state_->index;
    }
    const FunctionIndex& operator*() const { return *pointer(); }
    const FunctionIndex* operator->() const { return pointer().get(); }

  private:
    struct State {
        std::shared_ptr<const FunctionIndex> index;
        Make make;
    };
    std::shared_ptr<State> state_;
};

} // namespace auger
