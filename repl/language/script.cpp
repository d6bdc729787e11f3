// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/language/script.h"

#include "loader/base/fd.h"
#include "loader/process/user_rights.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

namespace auger {
namespace {

// With the invoking user's rights. Standard input needs none: it is read as whoever opened it
// could, which a pipe of root's for one (`sudo sh -c '... | auger -f /dev/stdin'`) could not be by
// opening it anew. Other descriptors of this process are auger's own.
UniqueFd open_script(const std::string& path, const std::optional<InvokingUser>& user) {
    const UserRights rights(user);
    // Pipes are welcome here (`-f <(...)`): the path is the user's own word, not the target's.
    // Neither opening nor reading one may wait for a writer where no signal ends that.
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (fd || errno != EACCES)
        return fd;
    if (path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0")
        fd.reset(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    return fd;
}

} // namespace

std::vector<ScriptLine> script_lines(const std::string& name, std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    std::vector<ScriptLine> lines;
    for (size_t number = 1; !text.empty(); ++number) {
        const size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        lines.push_back({name, number, std::string(line)});
    }
    return lines;
}

Result<std::string> read_script(const std::string& path, int wake_fd,
                                const std::function<bool()>& ended) {
    const auto user = invoking_user();
    const UniqueFd fd = open_script(path, user);
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0)
        return system_error("read commands from", path,
                            errno == EACCES ? rights_hint(user, "read") : "");
    if (S_ISDIR(status.st_mode))
        return Error{"read commands from", path, "it is a directory", "", Error::Kind::failed};
    std::string text;
    char buffer[65536];
    while (true) {
        pollfd ready[] = {{fd.get(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
        if (::poll(ready, 2, -1) < 0 && errno != EINTR)
            return system_error("read commands from", path);
        if (ended())
            return Error{"read commands from", path, "interrupted", "", Error::Kind::failed};
        if (ready[0].revents == 0)
            continue;
        const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return system_error("read commands from", path);
        if (got == 0)
            return text;
        text.append(buffer, static_cast<size_t>(got));
        if (text.size() > script_limit)
            return Error{"read commands from", path,
                         fmt::format("it is larger than {} MB", script_limit >> 20),
                         "is this a file of commands?", Error::Kind::failed};
    }
}

} // namespace auger
