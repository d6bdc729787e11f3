// SPDX-License-Identifier: GPL-3.0-or-later
// PerlNames: Perl's subs, by the words that a walk has of its frames (bpf/wire/perl.h); and where a
// process has its code, by which frames find their places.
#pragma once

#include "loader/kernel/function_names.h"
#include "loader/runtimes/perl/frame_places.h"
#include "loader/runtimes/perl/frame_reader.h"
#include "loader/runtimes/perl/layout.h"

namespace auger {

struct PerlProcess {
    PerlCode code;
    PerlOps ops;
    friend bool operator==(const PerlProcess&, const PerlProcess&) = default;
};

struct PerlFunctions {
    using Layout = PerlProcess;
    using Function = PerlFrame;
    using Words = PerlFrameWords;
    using WordsHash = PerlFrameWordsHash;
    static constexpr const char* label = "perl";

    // A sub is known by where it is, too.
    static const PerlFrameWords& function_words(const PerlFrameWords& words) { return words; }
    static std::variant<PerlFrame, FunctionProblem>
    read(const ReadMemory& read, const PerlProcess& process, const PerlFrameWords& words) {
        return read_perl_frame(read, process.ops, words);
    }
    static FunctionName name(const PerlFrame& frame, const PerlFrameWords& words);
    static std::optional<PerlFrame> without_reading(const PerlFrameWords& words,
                                                    FunctionProblem problem) {
        return problem == FunctionProblem::late ? std::nullopt : perl_frame_without_place(words);
    }
    static size_t bytes_of(const PerlFrame& frame) {
        return frame.name.capacity() + frame.file.capacity();
    }
};

using PerlNames = FunctionNames<PerlFunctions>;

} // namespace auger
