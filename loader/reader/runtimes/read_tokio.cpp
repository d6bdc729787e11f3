// SPDX-License-Identifier: GPL-3.0-or-later
// Before it polls a task tokio notes its number in a thread-local variable, CONTEXT, as tokio::task
// ::id() tells it. Where in there is the compiler's to choose, and no symbol tells; the function
// that stores it does.
#include "loader/reader/runtimes/read_tokio.h"

#include "loader/reader/code/thread_stores.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace auger {
namespace {

constexpr size_t task_setter_limit = 1024;        // bytes of its code
constexpr size_t names_limit = size_t{256} << 20; // bytes
constexpr uint8_t word = 8;                       // bytes

// As both of Rust's manglings have them. The second is called by the first, or inlined there.
constexpr std::string_view crate = "5tokio", guard = "11TaskIdGuard5enter",
                           context = "19set_current_task_id";

bool is_task_setter(std::string_view mangled) {
    return mangled.starts_with("_") && mangled.find(crate) != mangled.npos &&
           (mangled.find(guard) != mangled.npos || mangled.find(context) != mangled.npos);
}

// Of nearly every file this is all that is read. A library's variables are elsewhere.
bool may_have_setter(const ElfFile& file) {
    if (!file.entry() || !file.has_symbols())
        return false;
    const auto bytes = file.read_section(".strtab", names_limit);
    const std::string_view names(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return names.find(guard) != names.npos || names.find(context) != names.npos;
}

} // namespace

wire_tokio_task tokio_task_of(const CodePart& setter) {
    using Value = ThreadStore::Value;
    const std::vector<ThreadStore> stores = thread_stores(setter);
    // Of those of a word with that value; nothing when there are several.
    const auto place_of = [&](auto matches, bool& is_unique) {
        int32_t place = 0;
        for (const ThreadStore& store : stores) {
            if (store.size != word || !matches(store))
                continue;
            if (store.offset < std::numeric_limits<int32_t>::min() || store.offset >= 0 ||
                (place && place != store.offset))
                is_unique = false;
            place = static_cast<int32_t>(store.offset);
        }
        return place;
    };
    bool is_unique = true;
    const auto is = [](Value value) {
        return [value](const ThreadStore& store) { return store.value == value; };
    };
    const int32_t first = place_of(is(Value::first_argument), is_unique);
    const int32_t second = place_of(is(Value::second_argument), is_unique);
    const int32_t one = place_of(
        [](const ThreadStore& store) {
            return store.value == Value::constant && store.constant == 1;
        },
        is_unique);
    if (!is_unique || !first || (second && one))
        return {};
    return second ? wire_tokio_task{second, first} : wire_tokio_task{first, one};
}

std::optional<TokioFile> read_tokio(const ElfFile& file) {
    std::optional<TokioFile> found;
    if (!may_have_setter(file))
        return found;
    for (const ElfFunction& function : file.functions()) {
        if (!is_task_setter(function.name))
            continue;
        const std::vector<std::byte> code =
            file.read_code(function.address, std::min<uint64_t>(function.size, task_setter_limit));
        const TokioFile told{tokio_task_of({function.address, code})};
        if (!found || !found->task.id)
            found = told;
        else if (told.task.id && told != *found)
            return TokioFile{}; // two of tokio's in one program
    }
    return found;
}

} // namespace auger
