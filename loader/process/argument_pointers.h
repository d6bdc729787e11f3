// SPDX-License-Identifier: GPL-3.0-or-later
// Texts as execve() takes them. Hardly ever changes.
#pragma once

#include <string>
#include <vector>

namespace auger {

// Pointers to the texts, which must outlive them, and a null pointer.
inline std::vector<char*> argument_pointers(std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts)
        list.push_back(text.data());
    list.push_back(nullptr);
    return list;
}

} // namespace auger
