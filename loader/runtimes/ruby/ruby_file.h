// SPDX-License-Identifier: GPL-3.0-or-later
// What a file says that holds Ruby, an executable or a library: made where it is read, and used
// elsewhere.
#pragma once

#include "loader/runtimes/loop_code.h"
#include "loader/values/thread_variable.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace auger {

struct RubyFile {
    uint32_t version = 0;                    // 0x030102: 3.1.2; 0: it does not say
    std::optional<ThreadVariable> context{}; // ruby_current_ec
    LoopCode loop;                           // rb_vm_exec(), as linked
    uint64_t symbols = 0;                    // ruby_global_symbols, as linked; 0: not known

    friend bool operator==(const RubyFile&, const RubyFile&) = default;
};

std::string encode_ruby_file(const RubyFile& file);
std::optional<RubyFile> decode_ruby_file(std::string_view bytes);

} // namespace auger
