// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/kernel/php_chains.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace auger::test {

namespace {

constexpr ChainRules php_rules = {
    ModuleKind::php,
    "php",
    [](const std::string& function) { return function == "hrtime" || function == "getrusage"; },
    // Where C code begins to call a function, or has called it, its native frames are of another
    // one than PHP's; a fiber's stack ends where the fiber begins.
    [](const std::string& phase) {
        return phase != "calls from C" && phase != "fiber" && phase != "resumed fiber";
    },
    [](const std::string& phase) { return phase == "fiber" || phase == "resumed fiber"; },
};

} // namespace

std::vector<InterpreterMode> php_modes() {
    const std::string debian = "/usr/bin/php8.2";
    std::vector<InterpreterMode> modes = {{"Debian", debian, {}},
                                          {"Opcache", debian, {"-d", "opcache.enable_cli=1"}}};
    std::ranges::move(modes_of_variable("AUGER_PHPS"), std::back_inserter(modes));
    return modes;
}

PhpStack look_at_php(Session& session, StackId stack) {
    return look_at_chain(session, stack, php_rules);
}

Agreement compare_php(const PhpStack& seen, const PythonStretch& truth) {
    return compare_chain(seen, truth, php_rules);
}

bool is_innermost_part_of_php(PhpStack seen, const PythonStretch& truth) {
    return is_innermost_part_of_chain(std::move(seen), truth, php_rules);
}

} // namespace auger::test
