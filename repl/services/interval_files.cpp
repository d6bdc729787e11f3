// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/interval_files.h"

#include "loader/process/file_series.h"
#include "views/exports/file_sink.h"

#include <fmt/format.h>

namespace auger {
namespace {

constexpr const char* prefix = "profile";
constexpr const char* last_link = "last_profile";

std::string extension_of(const ExportFormat& format) {
    return std::string(format.extensions.substr(0, format.extensions.find(' ')));
}

std::vector<std::string> all_extensions() {
    std::vector<std::string> extensions;
    for (const ExportFormat& format : export_formats())
        extensions.push_back(extension_of(format));
    return extensions;
}

Result<void> write_file(const Model& model, const ExportQuery& query, const ExportFormat& format,
                        const std::string& path) {
    auto file = OutputFile::create(path);
    if (!file)
        return file.error();
    OutputFileSink sink(*file);
    if (auto written = format.write(model, query, sink); !written)
        return written.error();
    return file->commit();
}

Result<void> write_files(const Model& model, const IntervalFiles& files,
                         const IntervalWriter::Interval& interval) {
    const std::string name = fmt::format("{}_{}", prefix, time_stamp(interval.utc_ns));
    for (const ExportFormat* format : files.formats) {
        const std::string file = name + extension_of(*format);
        if (auto written = write_file(model, interval.query, *format, files.folder + "/" + file);
            !written)
            return written;
        if (auto linked = replace_link(files.folder, last_link + extension_of(*format), file);
            !linked)
            return linked;
    }
    return remove_old_files(files.folder, prefix, all_extensions(), files.keep);
}

} // namespace

Result<IntervalWriter::Write> interval_files_writer(const Model& model,
                                                    const IntervalFiles& files) {
    if (auto made = make_folder(files.folder); !made)
        return made.error();
    return IntervalWriter::Write([&model, files](const IntervalWriter::Interval& interval) {
        return [&model, files, interval](int) { return write_files(model, files, interval); };
    });
}

} // namespace auger
