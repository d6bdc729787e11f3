// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/process/file_series.h"

#include "loader/base/fd.h"
#include "loader/process/user_rights.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <memory>
#include <vector>

namespace auger {
namespace {

constexpr std::string_view stamp_form = "00000000T000000.000Z"; // 0: a digit

bool is_stamp(std::string_view text) {
    return text.size() == stamp_form.size() &&
           std::equal(text.begin(), text.end(), stamp_form.begin(), [](char c, char form) {
               return form == '0' ? c >= '0' && c <= '9' : c == form;
           });
}

Result<UniqueFd> open_folder_of_files(const std::string& path) {
    UniqueFd folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder)
        return system_error("open folder", path);
    return folder;
}

} // namespace

std::string time_stamp(uint64_t utc_ns) {
    const auto seconds = static_cast<time_t>(utc_ns / 1'000'000'000);
    tm utc{};
    gmtime_r(&seconds, &utc);
    return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                       utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                       utc_ns / 1'000'000 % 1'000);
}

std::string plain_name(std::string_view text, size_t longest, std::string_view further) {
    std::string name(text.substr(0, longest));
    for (char& c : name) {
        const bool harmless = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '.' ||
                              further.find(c) != std::string_view::npos;
        if (!harmless)
            c = '-';
    }
    return name;
}

Result<void> make_folder(const std::string& path) {
    const auto user = invoking_user();
    const UserRights rights(user);
    if (mkdir(path.c_str(), 0700) == 0)
        return {};
    struct stat status {};
    if (errno != EEXIST)
        return system_error("make folder", path, rights_hint(user));
    if (stat(path.c_str(), &status) < 0)
        return system_error("open folder", path);
    if (!S_ISDIR(status.st_mode))
        return Error{"write into", path, "it is not a directory", "name one"};
    return {};
}

Result<void> remove_old_files(const std::string& folder, std::string_view prefix,
                              std::span<const std::string> extensions, size_t keep) {
    const UserRights rights(invoking_user());
    auto opened = open_folder_of_files(folder);
    if (!opened)
        return opened.error();
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(fdopendir(dup(opened->get())), closedir);
    if (!listing)
        return system_error("list folder", folder);
    std::map<std::string, std::vector<std::string>> names; // by time
    while (const dirent* entry = readdir(listing.get())) {
        const std::string_view name = entry->d_name;
        if (!name.starts_with(prefix) || name.size() < prefix.size() + 1 + stamp_form.size() ||
            name[prefix.size()] != '_')
            continue;
        const std::string_view stamp = name.substr(prefix.size() + 1, stamp_form.size());
        const std::string_view extension = name.substr(prefix.size() + 1 + stamp_form.size());
        if (is_stamp(stamp) && std::ranges::find(extensions, extension) != extensions.end())
            names[std::string(stamp)].emplace_back(name);
    }
    while (names.size() > keep) {
        for (const std::string& name : names.begin()->second) {
            struct stat status {};
            if (fstatat(opened->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISREG(status.st_mode) && unlinkat(opened->get(), name.c_str(), 0) < 0 &&
                errno != ENOENT)
                return system_error("remove", folder + "/" + name);
        }
        names.erase(names.begin());
    }
    return {};
}

Result<void> replace_link(const std::string& folder, const std::string& link,
                          const std::string& name) {
    const UserRights rights(invoking_user());
    auto opened = open_folder_of_files(folder);
    if (!opened)
        return opened.error();
    const std::string path = folder + "/" + link;
    struct stat status {};
    if (fstatat(opened->get(), link.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISLNK(status.st_mode))
        return Error{"write", path, "it exists and is not a symbolic link",
                     "remove it, or use another folder"};
    const std::string temporary = "." + link + ".new";
    unlinkat(opened->get(), temporary.c_str(), 0); // of one that was killed
    if (symlinkat(name.c_str(), opened->get(), temporary.c_str()) < 0)
        return system_error("write", path);
    if (renameat(opened->get(), temporary.c_str(), opened->get(), link.c_str()) < 0)
        return system_error("write", path);
    return {};
}

} // namespace auger
