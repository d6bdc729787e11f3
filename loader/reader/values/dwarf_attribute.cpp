// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/reader/values/dwarf_attribute.h"

#include <dwarf.h>

namespace auger {

std::optional<uint64_t> dwarf_number(Dwarf_Die die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (!die.addr || !dwarf_attr(&die, name, &attribute) ||
        dwarf_formudata(&attribute, &value) != 0)
        return std::nullopt;
    return value;
}

std::optional<int64_t> dwarf_signed_number(Dwarf_Die die, unsigned name) {
    Dwarf_Attribute attribute;
    if (!die.addr || !dwarf_attr(&die, name, &attribute))
        return std::nullopt;
    const unsigned form = dwarf_whatform(&attribute);
    // The other forms do not say whether they are signed; compilers choose them for what is not.
    if (form == DW_FORM_sdata || form == DW_FORM_implicit_const) {
        Dwarf_Sword value;
        if (dwarf_formsdata(&attribute, &value) != 0)
            return std::nullopt;
        return value;
    }
    Dwarf_Word value;
    if (dwarf_formudata(&attribute, &value) != 0)
        return std::nullopt;
    return static_cast<int64_t>(value);
}

bool dwarf_flag(Dwarf_Die die, unsigned name) {
    Dwarf_Attribute attribute;
    bool set = false;
    return die.addr && dwarf_attr(&die, name, &attribute) &&
           dwarf_formflag(&attribute, &set) == 0 && set;
}

std::string dwarf_name(Dwarf_Die die) {
    Dwarf_Attribute attribute;
    const char* text =
        die.addr ? dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_name, &attribute)) : nullptr;
    return text ? text : "";
}

} // namespace auger
