// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/recording/replay_survey.h"

#include "loader/stream/tee.h"

#include <utility>

namespace auger {
namespace {

// Null: nobody asked for names.
Result<std::unique_ptr<OfflineNames>> open_names(const ReplayOptions& options) {
    if (options.sysroot.empty())
        return std::unique_ptr<OfflineNames>();
    std::shared_ptr<ConfinedProcesses> readers = options.readers;
    if (!readers) {
        auto started = ConfinedProcesses::start(reader_program());
        if (!started)
            return started.error();
        readers = *std::move(started);
    }
    auto modules = SysrootModules::open(options.sysroot, readers);
    if (!modules)
        return modules.error();
    return std::make_unique<OfflineNames>(std::move(*modules), readers);
}

} // namespace

Result<ReplaySurvey> survey_recordings(std::span<const std::string> paths,
                                       const ReplayOptions& options) {
    auto recordings = MergedRecordings::open(paths, options.selection);
    if (!recordings)
        return recordings.error();
    auto names = open_names(options);
    if (!names)
        return names.error();
    ReplaySurvey survey{std::move(*recordings), {}, {}, {}, std::move(*names)};
    Tee sinks;
    sinks.add(survey.summary);
    if (survey.names)
        sinks.add(*survey.names);
    // Locations have the same ids in both passes only when both read the same.
    survey.recordings.rewind(survey.names ? MergedRecordings::Pass::events
                                          : MergedRecordings::Pass::definitions);
    survey.recordings.deliver(sinks);
    if (survey.names)
        survey.names->begin_delivery();
    survey.span = survey.recordings.span();
    survey.damage = survey.recordings.damage_text();
    if (!survey.damage.empty() && !survey.span.timed)
        return Error{"replay", survey.recordings.name(), std::move(survey.damage),
                     "nothing could be read"};
    survey.recordings.rewind(MergedRecordings::Pass::events);
    return survey;
}

} // namespace auger
