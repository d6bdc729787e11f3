// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/matching/module_calls.h"

#include "loader/reader/matching/function_bytes.h"

#include <algorithm>
#include <cstring>

namespace auger {

const ModuleCalls::Calls& ModuleCalls::in(const FunctionIndex::Function& function) {
    auto [at, added] = calls_.try_emplace(function.address, std::vector<CallInstruction>());
    if (added) {
        const ElfFile& file = module_.index->file();
        const auto bytes = read_function(module_, function);
        if (!bytes)
            at->second = bytes.error();
        else
            at->second = find_calls({function.address, *bytes}, [&](uint64_t address, size_t size) {
                return file.read_code(address, size);
            });
    }
    return at->second;
}

bool ModuleCalls::may_call(const FunctionIndex::Function& function,
                           const WantedCallee& wanted) const {
    const std::vector<std::byte> bytes = module_.index->file().read_code(
        function.address, std::min(function.size, function_size_limit));
    for (size_t at = 0; at + 5 <= bytes.size(); ++at) {
        const auto first = static_cast<uint8_t>(bytes[at]);
        const auto second = static_cast<uint8_t>(bytes[at + 1]);
        CallInstruction call{};
        size_t displacement = at + 1;
        if (first == 0xe8 || first == 0xe9) {
            call.kind = CallInstruction::Target::code;
        } else if (first == 0xff && (second == 0x15 || second == 0x25)) {
            call.kind = CallInstruction::Target::slot;
            displacement = at + 2;
        } else {
            continue;
        }
        int32_t relative;
        if (displacement + sizeof relative > bytes.size())
            break;
        std::memcpy(&relative, bytes.data() + displacement, sizeof relative);
        call.target = function.address + displacement + sizeof relative +
                      static_cast<uint64_t>(int64_t{relative});
        if (!wanted.fitting_name(callees_.of(call), number_).empty())
            return true;
    }
    return false;
}

} // namespace auger
