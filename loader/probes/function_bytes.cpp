// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/probes/function_bytes.h"

#include "loader/code/code_extent.h"
#include "loader/symbols/own_functions.h"

namespace auger {
namespace {

constexpr uint64_t function_size_limit = uint64_t{8} << 20; // bytes; nobody writes larger ones

} // namespace

Result<void> confirm_function(const ProbeModule& module, const FunctionIndex::Function& function) {
    const FunctionIndex& index = *module.index;
    if (&index.symbols() == &index.file())
        return {};
    const uint64_t size = function.size_guessed ? 0 : function.size;
    return module.debug ? module.debug->own_functions().confirm(function.address, size)
                        : OwnFunctions(index.file()).confirm(function.address, size);
}

Result<std::vector<std::byte>> read_function(const ProbeModule& module,
                                             const FunctionIndex::Function& function) {
    if (function.size > function_size_limit)
        return Error{"read code", {}, "is larger than 8 MB", {}};
    if (auto confirmed = confirm_function(module, function); !confirmed)
        return confirmed.error();
    std::vector<std::byte> bytes = module.index->file().read_code(function.address, function.size);
    if (function.size_guessed) {
        const auto extent = code_extent({function.address, bytes});
        if (!extent)
            return extent.error();
        bytes.resize(*extent);
    }
    return bytes;
}

} // namespace auger
