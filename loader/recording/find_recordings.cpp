// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/find_recordings.h"

#include "loader/process/file_series.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

namespace auger {
namespace {

constexpr std::string_view recording_extension = ".auger";

bool is_folder(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Links lead to recordings that are there by their own name. `folders` are those in it, where they
// are wanted.
Result<std::vector<std::string>> recordings_in(const std::string& folder,
                                               std::vector<std::string>* folders) {
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
    if (!listing)
        return system_error("replay", folder);
    std::vector<std::string> paths;
    while (const dirent* entry = readdir(listing.get())) {
        const std::string_view name = entry->d_name;
        const bool recording = name.ends_with(recording_extension);
        struct stat status {};
        if (!(recording || folders) ||
            fstatat(dirfd(listing.get()), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (recording && S_ISREG(status.st_mode))
            paths.push_back(fmt::format("{}/{}", folder, name));
        else if (folders && S_ISDIR(status.st_mode) && !name.starts_with('.'))
            folders->push_back(fmt::format("{}/{}", folder, name));
    }
    std::ranges::sort(paths);
    return paths;
}

// Of one recording; the wall clock's where it is known.
TimeRange wall_span(const RecordingHead& head) {
    return {head.boot_ns() + head.first_ns, head.boot_ns() + head.last_ns};
}

class Search {
  public:
    Search(std::span<const std::string> paths, const RecordedSelection& selection)
        : paths_(paths), selection_(selection) {}

    Result<FoundRecordings> run() {
        if (auto read = read_heads(); !read)
            return read.error();
        found_.files = heads_.size();
        found_.is_part = !selection_.all();
        if (auto selected = select(); !selected)
            return selected.error();
        group();
        return std::move(found_);
    }

  private:
    Result<void> read_heads();
    Result<void> select();
    Result<TimeRange> wanted_range() const;
    bool has_probe(const RecordingHead& head) const {
        return selection_.probe.empty() ||
               std::ranges::find(head.probes, selection_.probe) != head.probes.end();
    }
    void leave_out(const RecordingHead& head) {
        found_.left_out++;
        found_.bytes_read += head.bytes_read;
    }
    void group();
    void keep_in_order(FoundSession& session);
    // What was told of an index that is not there, when it would have been of use.
    void tell_problem(const RecordingHead& head);

    std::span<const std::string> paths_;
    const RecordedSelection& selection_;
    FoundRecordings found_;
    std::vector<RecordingHead> heads_;
    TimeRange range_; // by the wall clock
};

Result<void> Search::read_heads() {
    const HeadDetail detail = selection_.all() ? HeadDetail::beginning : HeadDetail::whole;
    for (const std::string& path : paths_) {
        if (!is_folder(path)) {
            auto head = read_head(path, detail);
            if (!head)
                return head.error();
            heads_.push_back(std::move(*head));
            continue;
        }
        std::vector<std::string> folders;
        auto members = recordings_in(path, &folders);
        if (!members)
            return members.error();
        std::ranges::sort(folders);
        for (const std::string& folder : folders)
            if (const auto more = recordings_in(folder, nullptr))
                members->insert(members->end(), more->begin(), more->end());
            else
                found_.problems.push_back(more.error().message());
        const size_t before = heads_.size();
        std::string first_problem;
        for (const std::string& member : *members) {
            auto head = read_head(member, detail);
            if (head) {
                heads_.push_back(std::move(*head));
                continue;
            }
            found_.problems.push_back(head.error().message());
            if (first_problem.empty())
                first_problem = head.error().message();
        }
        if (heads_.size() == before)
            return Error{"replay", path,
                         members->empty() ? "there is no recording (*.auger) in the folder"
                                          : "no recording in the folder can be read",
                         members->empty() ? "`record DIR every SPAN auger` writes them"
                                          : first_problem};
    }
    return {};
}

Result<TimeRange> Search::wanted_range() const {
    TimeRange whole{UINT64_MAX, 0};
    bool any = false;
    for (const RecordingHead& head : heads_) {
        if (!head.timed)
            continue;
        any = true;
        const TimeRange span = wall_span(head);
        whole = {std::min(whole.from_ns, span.from_ns), std::max(whole.to_ns, span.to_ns)};
        const bool needs_clock = (selection_.from && selection_.from->needs_wall_clock()) ||
                                 (selection_.to && selection_.to->needs_wall_clock());
        if (!head.boot_ns() && (needs_clock || heads_.size() > 1))
            return Error{"replay", head.path, "it does not say what the clock on the wall showed",
                         needs_clock ? "name times by its end or its beginning: -15m, +10m"
                                     : "open it alone"};
    }
    if (!any)
        return Error{"replay", heads_.front().path, "nothing happened in it", {}};
    const TimeRange range = resolve(selection_.from, selection_.to, whole);
    const auto moment = [&](uint64_t ns) {
        return heads_.front().boot_ns() ? time_stamp(ns)
                                        : fmt::format("{:.3f} s", static_cast<double>(ns) / 1e9);
    };
    if (range.from_ns > range.to_ns)
        return Error{
            "replay", "--from", "the range ends before it begins",
            fmt::format("it would be from {} to {}", moment(range.from_ns), moment(range.to_ns)),
            Error::Kind::usage};
    if (range.from_ns > whole.to_ns || range.to_ns < whole.from_ns)
        return Error{"replay", paths_.front(), "nothing was recorded in that time",
                     fmt::format("there is something from {} to {}", moment(whole.from_ns),
                                 moment(whole.to_ns))};
    return range;
}

void Search::tell_problem(const RecordingHead& head) {
    if (!head.made)
        return;
    const std::string text =
        fmt::format("recording {}: {}; it is read whole", head.path, head.problem);
    (head.problem.ends_with("damaged") ? found_.problems : found_.notes).push_back(text);
}

Result<void> Search::select() {
    if (selection_.from || selection_.to) {
        auto range = wanted_range();
        if (!range)
            return range.error();
        range_ = *range;
    }
    if (selection_.all())
        return {};
    std::vector<RecordingHead> wanted;
    for (RecordingHead& head : heads_) {
        tell_problem(head);
        const TimeRange span = wall_span(head);
        const bool overlaps = range_.whole() || (head.timed && span.from_ns <= range_.to_ns &&
                                                 span.to_ns >= range_.from_ns);
        if (overlaps && has_probe(head))
            wanted.push_back(std::move(head));
        else
            leave_out(head);
    }
    heads_ = std::move(wanted);
    if (heads_.empty() && selection_.probe.empty())
        return Error{"replay", paths_.front(), "nothing was recorded in that time", {}};
    if (heads_.empty())
        return Error{"replay", paths_.front(),
                     fmt::format("nothing happened to probe {} then", selection_.probe),
                     "without --probe all is read"};
    return {};
}

// Files that came twice, or of which what is in them is in others of the session, are not read.
void Search::keep_in_order(FoundSession& session) {
    if (session.files.size() > 1)
        for (RecordingHead& head : session.files)
            if (!head.whole && head.series.number == 0)
                if (auto whole = read_head(head.path, HeadDetail::whole))
                    head = std::move(*whole);
    std::ranges::sort(session.files, {}, [](const RecordingHead& head) {
        return std::tuple(head.first_ns, head.series.number, head.path);
    });
    std::vector<RecordingHead> kept;
    for (RecordingHead& head : session.files) {
        const auto same = std::ranges::find_if(kept, [&](const RecordingHead& other) {
            if (head.series.number && other.series.number)
                return head.series.number == other.series.number;
            return head.timed && other.timed && head.first_ns <= other.last_ns &&
                   other.first_ns <= head.last_ns;
        });
        if (same == kept.end()) {
            kept.push_back(std::move(head));
            continue;
        }
        found_.problems.push_back(fmt::format(
            "recording {}: what is in it is in {}, too: it is left out", head.path, same->path));
        leave_out(head);
    }
    session.files = std::move(kept);
}

void Search::group() {
    std::map<std::tuple<uint64_t, std::string, uint64_t>, size_t> sessions;
    for (RecordingHead& head : heads_) {
        size_t at = found_.sessions.size();
        if (head.series.session)
            at =
                sessions
                    .try_emplace({head.series.session, head.machine.name, head.machine.boot_ns}, at)
                    .first->second;
        if (at == found_.sessions.size())
            found_.sessions.emplace_back();
        found_.sessions[at].files.push_back(std::move(head));
    }
    for (FoundSession& session : found_.sessions) {
        keep_in_order(session);
        const uint64_t boot_ns = session.files.front().boot_ns();
        if (!range_.whole())
            session.range = {range_.from_ns - std::min(range_.from_ns, boot_ns),
                             range_.to_ns == UINT64_MAX
                                 ? UINT64_MAX
                                 : range_.to_ns - std::min(range_.to_ns, boot_ns)};
    }
}

} // namespace

Result<FoundRecordings> find_recordings(std::span<const std::string> paths,
                                        const RecordedSelection& selection) {
    return Search(paths, selection).run();
}

} // namespace auger
