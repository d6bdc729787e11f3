// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/go_calls.h"

#include "loader/code/function_code.h"
#include "loader/elf/go_table.h"
#include "loader/unwind/go_runtime.h"

#include <bpf/bpf.h>

#include <cerrno>

namespace auger {

Result<void> enter_go_runtime(const Programs& programs, uint64_t cookie, const ElfFile& file) {
    const auto runtime = read_go_runtime(file);
    if (!runtime)
        return Error{"time Go functions", file.name(),
                     "where this version of Go's runtime keeps its goroutines is not known",
                     "calls cannot be told apart without: goroutines change threads"};
    uint32_t spec = cookie & WIRE_COOKIE_SPEC_MASK;
    if (bpf_map_update_elem(programs.map_fd(MapKind::go_runtimes), &spec, &*runtime, BPF_ANY) < 0)
        return system_error("time Go functions", file.name(), "", errno);
    return {};
}

void add_goroutine_ends(AttachmentRequest& request, const ElfFile& file) {
    const GoTable* table = file.go_table();
    const GoFunction* end = table ? table->named("runtime.goexit0") : nullptr;
    if (!end)
        return;
    const std::vector<std::byte> code = file.read_code(end->begin, end->end - end->begin);
    const auto analysed =
        analyse_function({end->begin, code}, {}, [&](uint64_t address, size_t size) {
            return file.read_code(address, size);
        });
    if (!analysed || !analysed->argument_entry)
        return;
    if (const auto offset = file.offset_of_address(analysed->argument_entry->address))
        request.ends.add(*offset, 0);
}

} // namespace auger
