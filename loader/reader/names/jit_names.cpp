// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/names/jit_names.h"

#include "loader/reader/names/demangle.h"

namespace auger {

AddressName JitNames::find(const AddressQuery& query) const {
    auto name = dump_.find(query.place);
    if (!name)
        name = map_.find(query.place);
    return name ? AddressName{demangle(*name), true}
                : AddressName{std::string(unknown_name), false};
}

} // namespace auger
