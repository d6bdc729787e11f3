// SPDX-License-Identifier: GPL-3.0-or-later
// auger-reader: reads files of targets for auger, in processes without rights.
#include "loader/http/confined_poster.h"
#include "loader/probes/code_readers.h"
#include "loader/reader/confined_program.h"
#include "loader/reader/services.h"
#include "loader/symbols/debuginfod.h"
#include "loader/symbols/dwarf_reader.h"
#include "loader/symbols/name_process.h"
#include "loader/symbols/unpack_memory.h"
#include "loader/unwind/table_reader.h"

int main(int argc, char** argv) {
    constexpr auger::ConfinedService services[] = {
        {auger::dwarf_service, auger::serve_dwarf, 10},
        {auger::table_service, auger::serve_tables},
        {auger::code_service, auger::serve_code},
        {auger::name_service, auger::serve_names, 0, auger::unpack_limit},
        {auger::debuginfod_service, auger::serve_debuginfod, 10, 0, true},
        {auger::http_service, auger::serve_http, 10, 0, true},
    };
    return auger::confined_program(argc, argv, services);
}
