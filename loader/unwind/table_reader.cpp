// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/unwind/table_reader.h"

#include "loader/elf/bounded_reading.h"
#include "loader/process/file_content.h"
#include "loader/unwind/table_messages.h"
#include "loader/unwind/unwind_file.h"

#include <algorithm>

namespace auger {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t open_answer_limit = 4 << 10;
// Of tables: a row and its part of the index take less than eight bytes a byte of code or of call
// frame information.
constexpr uint64_t answer_base = 2 << 20, answer_factor = 8, answer_limit = 768 << 20;
constexpr int most_attempts = 2;

// One conversation. Every failure says of what.
class Conversation {
  public:
    // `size`: of what the file has.
    Conversation(ConfinedProcess process, const std::string& name, const FileContent& content,
                 uint64_t size, const GoOn& go_on)
        : process_(std::move(process)), name_(name), content_(content), size_(size),
          end_(Clock::now() + table_patience(size)), go_on_(go_on) {}

    Result<UnwindTables> tables(int file, const UnwindCache* cache);
    bool died() const { return died_; }

  private:
    Error failed(std::string cause) const {
        return {"read call frame information", name_, std::move(cause), {}};
    }
    Result<std::string> ask(std::string_view request, std::span<const int> descriptors,
                            size_t limit);

    ConfinedProcess process_;
    const std::string& name_;
    const FileContent content_;
    const uint64_t size_;
    const Clock::time_point end_;
    const GoOn& go_on_;
    bool died_ = false;
};

Result<std::string> Conversation::ask(std::string_view request, std::span<const int> descriptors,
                                      size_t limit) {
    bool given_up = false;
    const auto go_on = [&] {
        given_up = Clock::now() >= end_ || (go_on_ && !go_on_());
        return !given_up;
    };
    if (send_message(process_.socket(), request, descriptors, go_on))
        if (auto answer = receive_message(process_.socket(), limit, go_on))
            return std::move(answer->bytes);
    died_ = !given_up;
    return failed(given_up ? "it takes too long" : "its reader crashed or was killed");
}

Result<UnwindTables> Conversation::tables(int file, const UnwindCache* cache) {
    const auto nonsense = [&] { return failed("its reader sent an invalid answer"); };
    const int descriptors[] = {file};
    const auto first = ask(std::string_view(name_).substr(0, table_messages::name_limit),
                           descriptors, open_answer_limit);
    if (!first)
        return first.error();
    const auto opened = table_messages::opened(*first);
    if (!opened)
        return nonsense();
    if (!opened->problem.empty())
        return failed(opened->problem);
    const auto known = cache ? cache->load(opened->build_id) : std::vector<std::byte>();
    const auto second = ask({reinterpret_cast<const char*>(known.data()), known.size()}, {},
                            std::min(answer_limit, answer_base + answer_factor * size_));
    if (!second)
        return second.error();
    const auto answer = table_messages::tables(*second);
    if (!answer)
        return nonsense();
    if (!answer->problem.empty())
        return failed(answer->problem);
    auto tables = decode_unwind_file(answer->cached ? Bytes(known) : answer->file);
    if (!tables)
        return nonsense();
    tables->python = answer->python;
    tables->asyncio = answer->asyncio;
    tables->hotspot = answer->hotspot;
    tables->v8 = answer->v8;
    tables->php = answer->php;
    tables->ruby = answer->ruby;
    tables->perl = answer->perl;
    tables->go = answer->go;
    tables->tokio = answer->tokio;
    // Of two contents, one before and one while it was read, nothing is kept.
    const auto content = FileContent::of(file);
    if (cache && !answer->cached && content && *content == content_ && !content_.just_changed())
        cache->store(opened->build_id, answer->file);
    return *std::move(tables);
}

} // namespace

std::chrono::milliseconds table_patience(uint64_t file_bytes) {
    return std::chrono::seconds(10) + std::chrono::milliseconds(100 * (file_bytes >> 20));
}

Result<UnwindTables> read_unwind_tables(ConfinedProcesses& processes, int file,
                                        const std::string& name, const UnwindCache* cache,
                                        const GoOn& go_on, bool* died) {
    const auto content = FileContent::of(file);
    if (!content)
        return content.error();
    // Holes take no time to read, and would give a file all the time that it wants.
    const uint64_t size = std::min(content->size, real_size(file));
    for (int attempt = 1;; attempt++) {
        auto process = processes.make(table_service);
        if (!process)
            return process.error();
        Conversation conversation(*std::move(process), name, *content, size, go_on);
        auto tables = conversation.tables(file, cache);
        if (!tables && conversation.died() && attempt < most_attempts)
            continue;
        if (died)
            *died = !tables && conversation.died();
        return tables;
    }
}

} // namespace auger
