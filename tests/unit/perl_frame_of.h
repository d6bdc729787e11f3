// SPDX-License-Identifier: GPL-3.0-or-later
// A frame of Perl's in a process that is made up.
#pragma once

#include "bpf/unwind_table.h"
#include "loader/runtimes/perl/frame_reader.h"
#include "tests/unit/fake_memory.h"
#include "tests/unit/perl_marks.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <variant>

namespace auger {

class PerlFrameOf : public testing::Test {
  protected:
    static constexpr uint64_t page = 4096;
    static constexpr uint64_t name = 0x10000, package = 0x20000, file = 0x30000;
    FakeMemory memory;
    PerlFrameWords words;

    PerlFrameOf() {
        put_name(name, "total", 0x1111);
        put_name(package, "Orders", 0x2222);
        put_file("orders.pl");
        words = {WIRE_FRAME_PERL | name, package, WIRE_FRAME_PERL_PLACE | file, 0};
    }
    // A whole page, as memory is.
    void put_page(uint64_t at) {
        memory.pieces.erase(at);
        memory.put(at, page - 1, uint8_t{0});
    }
    void put_name(uint64_t at, std::string_view text, uint32_t hash, uint8_t flags = 0) {
        put_page(at);
        memory.put(at, WIRE_PERL_NAME_HASH, hash);
        memory.put(at, WIRE_PERL_NAME_LENGTH, static_cast<uint32_t>(text.size()));
        for (size_t i = 0; i < text.size(); i++)
            memory.put(at, WIRE_PERL_NAME_CHARACTERS + i, text[i]);
        memory.put(at, WIRE_PERL_NAME_CHARACTERS + text.size() + 1, flags);
    }
    void put_file(std::string_view text) {
        put_page(file);
        for (size_t i = 0; i < text.size(); i++)
            memory.put(file, i, text[i]);
        file_text = text;
    }
    uint64_t mark(uint64_t at) {
        uint64_t mark = 0;
        const std::string_view bytes(reinterpret_cast<const char*>(memory.pieces[at].data()),
                                     memory.pieces[at].size());
        std::memcpy(&mark, bytes.data(), sizeof mark);
        const std::string_view text = bytes.substr(WIRE_PERL_NAME_CHARACTERS);
        return perl_name_mark(mark, text.substr(0, text.find('\0')));
    }
    static constexpr uint64_t kind(wire_perl_frame frame) {
        return static_cast<uint64_t>(frame) << WIRE_PERL_FRAME_SHIFT;
    }
    // What a walk would say now, at a line.
    void know(uint32_t line = 42) {
        const bool has_name = (words.first & 0xffffff) == name,
                   has_file = words.place != (WIRE_FRAME_PERL_PLACE | WIRE_PERL_NONE);
        words.place_second =
            uint64_t{line} << 32 |
            wire_perl_cookie(has_name ? mark(name) : 0, words.second == package ? mark(package) : 0,
                             has_file ? perl_file_mark(file_text) : 0, line);
    }
    std::variant<PerlFrame, FunctionProblem> read() {
        memory.reads = 0;
        return read_perl_frame([this](uint64_t address, void* bytes,
                                      size_t size) { return memory.read(address, bytes, size); },
                               {195, 200}, words);
    }
    std::string text_of(const std::variant<PerlFrame, FunctionProblem>& answer) {
        if (const auto* const whole = std::get_if<PerlFrame>(&answer))
            return whole->name + " " + whole->file + ":" + std::to_string(whole->line);
        constexpr std::array problems = {"unreadable", "gone", "late"};
        return problems[static_cast<size_t>(std::get<FunctionProblem>(answer))];
    }
    std::string known(uint32_t line = 42) {
        know(line);
        return text_of(read());
    }

  private:
    std::string file_text;
};

} // namespace auger
