// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/unwind_tables.h"

namespace auger {

const wire_unwind_rule* UnwindTables::find(uint64_t address) const {
    for (const UnwindTable& table : tables)
        if (const wire_unwind_rule* rule = table.find(address))
            return rule;
    return nullptr;
}

} // namespace auger
