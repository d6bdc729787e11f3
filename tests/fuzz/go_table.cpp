// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz_targets.h"

#include "bpf/unwind_table.h"
#include "loader/reader/elf/go_lines.h"
#include "loader/reader/elf/go_table.h"
#include "loader/reader/runtimes/read_go.h"
#include "loader/reader/tables/go_runtime.h"
#include "loader/runtimes/go/label_words.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace auger::test {
namespace {

// All that is relied on: functions in order, without overlaps, and rows within them.
void check(const GoTable& table) {
    uint64_t end = 0;
    for (const GoFunction& function : table.functions()) {
        if (function.begin < end || function.end <= function.begin || function.name.empty() ||
            table.containing(function.begin) != &function)
            std::abort();
        end = function.end;
    }
    constexpr size_t most = 64; // all of them may have the longest program
    for (size_t i = 0; i < std::min(table.functions().size(), most); i++) {
        const GoFunction& function = table.functions()[i];
        uint64_t least = function.begin;
        for (const GoStackRow& row : table.stack_rows(function)) {
            if (row.address < least || row.address >= function.end)
                std::abort();
            least = row.address;
        }
        (void)table.named(function.name);
    }
}

// The trees are in the same bytes.
void check_lines(const GoTable& table, std::span<const std::byte> content) {
    constexpr uint64_t loaded_at = 0x10000;
    GoInlineTrees trees(table, [content](uint64_t address, size_t size) {
        const uint64_t at = std::min<uint64_t>(address - loaded_at, content.size());
        const auto bytes = content.subspan(at, std::min(size, content.size() - at));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    });
    const uint64_t places[] = {0, loaded_at};
    trees.locate(places);
    const GoLines lines(table, trees);
    constexpr size_t most = 4, addresses = 5; // each may take two million steps
    for (size_t i = 0; i < std::min(table.functions().size(), most); i++) {
        const GoFunction& function = table.functions()[i];
        for (size_t k = 0; k < addresses; k++) {
            const uint64_t address =
                function.begin + (function.end - function.begin - 1) / (addresses - 1) * k;
            const std::vector<SourceFrame> chain = lines.frames(address);
            if (!table.layout().has_lines() && chain.empty())
                continue;
            // The function itself is the outermost, and what is inlined has a name.
            if (chain.empty() || chain.back().inlined || chain.back().function != function.name ||
                std::ranges::any_of(chain, [&](const SourceFrame& frame) {
                    return frame.function.empty() || frame.inlined == (&frame == &chain.back());
                }))
                std::abort();
        }
        for (const GoInlineTrees::Call& call : trees.calls(function))
            if (call.function.empty() || call.from < function.begin || call.from >= function.end)
                std::abort();
    }
}

// Of labels: where they are, what their words say, and what is sent of them.
void check_labels(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const auto offset = go_labels_offset(bytes); offset && (*offset == 0 || *offset % 8 != 0))
        std::abort();
    if (const auto version = go_version(bytes))
        (void)go_labels_form(*version);
    (void)go_labels_form(text);
    if (const auto file = decode_go_file(text);
        file && decode_go_file(encode_go_file(*file)) != file)
        std::abort();
    GoLabelWords words;
    for (size_t at = 0; at + 2 * sizeof(uint64_t) <= bytes.size(); at += 2 * sizeof(uint64_t)) {
        uint64_t pair[2];
        std::memcpy(pair, bytes.data() + at, sizeof pair);
        words.add(WIRE_FRAME_GO_LABEL | pair[0] % 32, pair[1]);
    }
    (void)words.take();
}

} // namespace

void fuzz_go_table(const uint8_t* data, size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    check_labels(bytes);
    const size_t found = GoTable::find(bytes);
    if (found > size)
        std::abort();
    for (const auto content : {bytes, bytes.subspan(found)})
        if (const auto table = GoTable::read(content, 0x401000)) {
            check(*table);
            check_lines(*table, content);
        }
}

} // namespace auger::test
