// SPDX-License-Identifier: GPL-3.0-or-later
// The file is touched with the user's rights: what is made belongs to the user, and a link that the
// user laid leads nowhere that the user could not go anyway.
#include "repl/session/history_file.h"

#include "loader/base/fd.h"
#include "loader/process/state_folder.h"
#include "loader/process/user_rights.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace auger {
namespace {

constexpr size_t size_limit = 4 << 20; // bytes; a larger file is not ours

Result<std::vector<std::string>> read_lines(const std::string& path) {
    std::vector<std::string> lines;
    const UniqueFd fd(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!fd && errno == ENOENT)
        return lines;
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0)
        return system_error("read history", path);
    if (!S_ISREG(status.st_mode) || static_cast<size_t>(status.st_size) > size_limit)
        return Error{"read history", path, "no file of lines", "", Error::Kind::failed};
    std::string text(static_cast<size_t>(status.st_size), '\0');
    size_t at = 0;
    while (at < text.size()) {
        const ssize_t got = ::read(fd.get(), text.data() + at, text.size() - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return system_error("read history", path);
        if (got == 0)
            break;
        at += static_cast<size_t>(got);
    }
    text.resize(at);
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        if (end > begin)
            lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

Result<void> write_lines(const std::string& path, const std::vector<std::string>& lines,
                         size_t first) {
    std::string text;
    for (size_t i = first; i < lines.size(); ++i)
        text += lines[i] + "\n";
    std::string temporary = path + ".XXXXXX"; // mkostemp makes it with mode 0600
    const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!fd)
        return system_error("write history", path);
    const ssize_t written = ::write(fd.get(), text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size()) ||
        ::rename(temporary.c_str(), path.c_str()) != 0) {
        Error error = system_error(
            "write history", path, "",
            written >= 0 && written < static_cast<ssize_t>(text.size()) ? ENOSPC : errno);
        ::unlink(temporary.c_str());
        return error;
    }
    return {};
}

} // namespace

Result<HistoryFile> HistoryFile::of_user() {
    auto folder = state_folder();
    if (!folder)
        return folder.error();
    return HistoryFile(*folder + "/history", invoking_user());
}

Result<std::vector<std::string>> HistoryFile::load() const {
    const UserRights rights(user_);
    return read_lines(path_);
}

Result<void> HistoryFile::append(const std::vector<std::string>& lines) const {
    if (lines.empty())
        return {};
    const UserRights rights(user_);
    if (auto made = make_folders_above(path_); !made)
        return made;
    auto all = read_lines(path_);
    if (!all)
        return all.error();
    all->insert(all->end(), lines.begin(), lines.end());
    return write_lines(path_, *all, all->size() > max_lines ? all->size() - max_lines : 0);
}

} // namespace auger
