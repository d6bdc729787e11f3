// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/function_bytes.h"

#include "loader/reader/code/code_extent.h"
#include "loader/reader/matching/own_functions.h"

namespace auger {
namespace {

// Bytes of the function as far as they are known; 0: where it ends has to be seen from its code. Of
// names from a separate debug file the mapped file has to confirm begin and size.
Result<uint64_t> known_size(const ProbeModule& module, const FunctionIndex::Function& function) {
    const FunctionIndex& index = *module.index;
    const uint64_t named = function.size_guessed ? 0 : function.size;
    if (&index.symbols() == &index.file())
        return named;
    const auto own = module.debug ? module.debug->own_functions().size_at(function.address)
                                  : OwnFunctions(index.file()).size_at(function.address);
    if (!own || *own == 0)
        return own;
    if (named > *own)
        return Error{"read code",
                     {},
                     "is longer in the separate debug file than in the file itself: the debug file "
                     "is of another program",
                     "remove the debug file"};
    return named;
}

} // namespace

Result<std::vector<std::byte>> read_function(const ProbeModule& module,
                                             const FunctionIndex::Function& function) {
    if (function.size > function_size_limit)
        return Error{"read code", {}, "is larger than 8 MB", {}};
    const auto known = known_size(module, function);
    if (!known)
        return known.error();
    std::vector<std::byte> bytes = module.index->file().read_code(function.address, function.size);
    if (*known == 0) {
        const auto extent = code_extent({function.address, bytes});
        if (!extent)
            return extent.error();
        bytes.resize(*extent);
    }
    return bytes;
}

} // namespace auger
