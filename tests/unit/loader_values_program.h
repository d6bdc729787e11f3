// SPDX-License-Identifier: GPL-3.0-or-later
// One of the fixture programs of the tests of values.
#pragma once

#include "loader/process/safe_open.h"
#include "loader/reader/names/demangle.h"
#include "loader/reader/values/compile_program.h"
#include "tests/unit/loader_matching_debug.h"
#include "tests/unit/loader_values_machine.h"

#include <cstring>
#include <map>
#include <string>

namespace auger::test {

struct ValuesProgram {
    std::string path;
    std::shared_ptr<const ElfFile> file;
    std::shared_ptr<ModuleDebug> debug;

    explicit ValuesProgram(const std::string& name)
        : path(name.starts_with('/') ? name : std::string(AUGER_VALUES_DIR) + "/" + name),
          file(*ElfFile::open(std::move(*open_regular(path)), path)), debug(debug_of(file, path)) {}

    // By its last name; 0: there is none.
    uint64_t address_of(const std::string& function) const {
        const auto& separate = debug->debug_file();
        for (const ElfFunction& symbol : (separate ? *separate : *file).functions()) {
            std::string name =
                demangle_without_parameters(symbol.name.substr(0, symbol.name.find('.')));
            name = name.substr(0, name.find_first_of("<["));
            if (name == function || name.ends_with("::" + function))
                return symbol.address;
        }
        return 0;
    }
    ValueScope scope(const std::string& function, const std::vector<pid_t>& pids = {}) const {
        ValueScope scope{function};
        scope.file = file;
        scope.debug = debug;
        scope.address = address_of(function);
        scope.error_number = errno_of(pids);
        return scope;
    }
};

} // namespace auger::test
