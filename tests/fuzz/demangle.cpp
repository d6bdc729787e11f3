// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "loader/reader/names/demangle.h"

#include <cstdlib>

namespace auger::test {

void fuzz_demangle(const uint8_t* data, size_t size) {
    const std::string_view name(reinterpret_cast<const char*>(data), size);
    for (const std::string& text : {demangle(name), demangle_without_parameters(name)})
        if (text.size() > demangle_output_limit && text != name)
            std::abort();
}

} // namespace auger::test
