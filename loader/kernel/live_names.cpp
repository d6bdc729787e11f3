// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/live_names.h"

#include "bpf/unwind_table.h"
#include "loader/process/container.h"
#include "loader/process/proc_info.h"
#include "loader/runtimes/frame_words.h"
#include "loader/runtimes/python/frame_places.h"
#include "loader/symbols/syscall_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace auger {

namespace {
// More are forgotten and, should they still be there, looked at again.
constexpr size_t most_known_processes = 50'000;
// Further threads that wake others share a name: any program may have any number of them.
constexpr size_t most_wakers = 10'000;
// Likewise labels of goroutines, of which there may be one for each request.
constexpr size_t most_go_labels = 10'000;
constexpr size_t most_notes = 100;

// In the order of wire_unwind_stop.
std::string_view stack_cut_cause(uint64_t cause) {
    constexpr std::array<std::string_view, WIRE_STOPS> causes = {
        "whole",
        "deeper than can be kept",
        "unknown mapping",
        "unwind table not ready",
        "no call frame information",
        "unreadable stack",
        "unsupported rule",
        "damaged stack",
        "held up too long",
        "no sample was expected of this wait",
        "callers of a virtual thread are in the heap",
    };
    return cause < causes.size() ? causes[cause] : "unknown cause";
}

// Of frames in place of native ones a first word alone may be a frame, as HotSpot's interpreter is.
bool is_boundary(uint64_t word) {
    return word == WIRE_FRAME_PYTHON || word == WIRE_FRAME_PHP || word == WIRE_FRAME_RUBY ||
           word == WIRE_FRAME_PERL;
}

} // namespace

LiveNames::LiveNames(EventSink& sink, RetentionOf retention, SymbolizerOptions options)
    : sink_(sink), mappings_(modules_), symbolizer_(modules_, std::move(options)),
      interner_(sink, std::move(retention)) {}

namespace {

std::string name_of_wait(uint64_t number) {
    if (number == LiveNames::no_syscall)
        return "fault";
    if (number == LiveNames::queued_goroutine)
        return "queued";
    if (number == LiveNames::parked_task)
        return "parked";
    if (number >= LiveNames::first_parked_goroutine)
        return fmt::format("parked: {}",
                           park_reason_names[number - LiveNames::first_parked_goroutine]);
    return syscall_name(number);
}

} // namespace

void LiveNames::tell_modules() {
    for (; modules_told_ < modules_.size(); modules_told_++) {
        ModuleId id{static_cast<uint32_t>(modules_told_)};
        sink_.on_module(id, modules_.info(id));
    }
}

// No location is told before its module.
LocationId LiveNames::locate(const Location& location) {
    tell_modules();
    return interner_.location(location);
}

LocationId LiveNames::intern(const Location& location) {
    size_t before = interner_.locations();
    LocationId id = locate(location);
    if (interner_.locations() != before && location.module == syscall_module) {
        // Nothing to look up. Brackets, as for other frames that are no functions.
        Frame frame;
        frame.function = "[" + name_of_wait(location.address) + "]";
        sink_.on_frames(id, {&frame, 1});
    } else if (interner_.locations() != before) {
        Resolution resolution = symbolizer_.request(location);
        sink_.on_frames(id, *resolution.frames);
        if (resolution.detail != Detail::full)
            waiting_.push_back({id, resolution.detail});
    }
    return id;
}

void LiveNames::know_process(pid_t pid, uint64_t time_ns) {
    // Under `-a`, or when an event was lost. A process that is gone stays unknown.
    if (!mappings_.knows(pid))
        (void)mappings_.scan(pid, time_ns);
}

StackId LiveNames::stack(pid_t pid, uint64_t time_ns, std::span<const uint64_t> kernel_frames,
                         std::span<const uint64_t> user_frames, bool user_leaf_is_return) {
    know_process(pid, time_ns);
    stack_.clear();
    for (size_t i = 0; i < kernel_frames.size(); i++)
        stack_.push_back(intern({kernel_module, kernel_frames[i], i > 0}));
    append_user_frames(pid, time_ns, user_frames, user_leaf_is_return);
    return interner_.stack(stack_);
}

LocationId LiveNames::intern_waker(const Waker& waker) {
    Frame frame;
    frame.function = waker.pid ? fmt::format("[woken by {}]", waker.comm) : "[woken by interrupt]";
    if (wakers_.size() >= most_wakers && !wakers_.contains(frame.function))
        frame.function = "[woken by (other names)]";
    const auto [found, fresh] = wakers_.emplace(frame.function, wakers_.size());
    const LocationId id = locate({waker_module, found->second, false});
    if (fresh)
        sink_.on_frames(id, {&frame, 1});
    return id;
}

LocationId LiveNames::intern_cut(uint64_t cause) {
    const size_t before = interner_.locations();
    const LocationId id = locate({cut_module, cause, false});
    if (interner_.locations() != before) {
        Frame frame;
        frame.function = fmt::format("[stack cut: {}]", stack_cut_cause(cause));
        sink_.on_frames(id, {&frame, 1});
    }
    return id;
}

LocationId LiveNames::intern_go_label(const std::string& label) {
    Frame frame;
    frame.function = fmt::format("[golabel {}]", label);
    if (labels_.size() >= most_go_labels && !labels_.contains(frame.function))
        frame.function = "[golabel (others)]";
    const auto [found, fresh] = labels_.emplace(frame.function, labels_.size());
    const LocationId id = locate({go_label_module, found->second, false});
    if (fresh)
        sink_.on_frames(id, {&frame, 1});
    return id;
}

LocationId LiveNames::intern_named(pid_t pid, ModuleKind kind, const std::string& file,
                                   uint64_t address, std::span<const Frame> frames) {
    const Location location{modules_.runtime_module(kind, file), address, false};
    if (interner_.knows(location))
        return locate(location);
    uint64_t bytes = sizeof(Location);
    for (const Frame& frame : frames)
        bytes += sizeof(Frame) + frame.function.size() + frame.file.size();
    if (!named_room_.take(pid, bytes))
        return intern_further(kind);
    const LocationId id = locate(location);
    sink_.on_frames(id, frames);
    return id;
}

// In place of functions of whose user too much is kept already.
LocationId LiveNames::intern_further(ModuleKind kind) {
    const Location location{modules_.runtime_module(kind, "[further functions]"), 0, false};
    const bool is_new = !interner_.knows(location);
    const LocationId id = locate(location);
    if (is_new) {
        Frame frame;
        frame.function = "[further functions]";
        sink_.on_frames(id, {&frame, 1});
    }
    return id;
}

// A frame of V8's, or the two words about its code that stand before it.
void LiveNames::append_v8_words(pid_t pid, uint64_t first, uint64_t second) {
    if ((first & WIRE_FRAME_KIND) == WIRE_FRAME_V8_CODE) {
        v8_frame_.code = first;
        v8_frame_.code_second = second;
        return;
    }
    V8FrameWords words = std::exchange(v8_frame_, {});
    words.first = first;
    words.second = second;
    for (const V8Names::Name& name : v8_.names(pid, words))
        stack_.push_back(
            intern_named(pid, ModuleKind::js, name.file, name.address, {&name.frame, 1}));
}

// A frame of Ruby's, or the two words about the method around its code that stand before it.
void LiveNames::append_ruby_words(pid_t pid, uint64_t time_ns, uint64_t first, uint64_t second) {
    if ((first & WIRE_FRAME_KIND) == WIRE_FRAME_RUBY_OWNER) {
        ruby_frame_.owner = first;
        ruby_frame_.owner_second = second;
        return;
    }
    RubyFrameWords words = std::exchange(ruby_frame_, {});
    words.first = first;
    words.second = second;
    const RubyNames::Name& name = ruby_.name(lineage(pid, time_ns), words);
    stack_.push_back(
        intern_named(pid, ModuleKind::ruby, name.file, name.address, {&name.frame, 1}));
}

// What a frame of Perl's executes, or where: that follows.
void LiveNames::append_perl_words(pid_t pid, uint64_t time_ns, uint64_t first, uint64_t second) {
    if ((first & WIRE_FRAME_KIND) == WIRE_FRAME_PERL) {
        perl_frame_ = {first, second};
        return;
    }
    PerlFrameWords words = std::exchange(perl_frame_, {});
    if (!words.first)
        return;
    words.place = first;
    words.place_second = second;
    const PerlNames::Name& name = perl_.name(lineage(pid, time_ns), words);
    stack_.push_back(
        intern_named(pid, ModuleKind::perl, name.file, name.address, {&name.frame, 1}));
}

void LiveNames::append_runtime_words(pid_t pid, uint64_t time_ns, uint64_t first, uint64_t second) {
    if ((first & WIRE_FRAME_KIND) == WIRE_FRAME_PYTHON) {
        append_python_words(pid, time_ns, first, second);
        return;
    }
    if (const uint64_t kind = first & WIRE_FRAME_KIND;
        kind == WIRE_FRAME_V8 || kind == WIRE_FRAME_V8_CODE) {
        append_v8_words(pid, first, second);
        return;
    }
    if (is_ruby_word(first)) {
        append_ruby_words(pid, time_ns, first, second);
        return;
    }
    if ((first & WIRE_FRAME_KIND) == WIRE_FRAME_PHP) {
        const PhpNames::Name& name = php_.name(lineage(pid, time_ns), {first, second});
        stack_.push_back(
            intern_named(pid, ModuleKind::php, name.file, name.address, {&name.frame, 1}));
        return;
    }
    if (is_perl_word(first)) {
        append_perl_words(pid, time_ns, first, second);
        return;
    }
    const HotspotNames::Name& name = hotspot_.name(pid, first, second);
    stack_.push_back(intern_named(pid, ModuleKind::java, "[java]", name.address, name.frames));
}

StackId LiveNames::waiting_stack(pid_t pid, uint64_t time_ns, uint64_t syscall,
                                 std::span<const uint64_t> user_frames,
                                 const std::optional<Waker>& waker) {
    know_process(pid, time_ns);
    stack_.clear();
    if (waker) {
        if (waker->pid)
            know_process(waker->pid, time_ns);
        is_waker_ = true;
        append_user_frames(waker->pid, time_ns, waker->frames, false);
        is_waker_ = false;
        std::ranges::reverse(stack_);
        stack_.push_back(intern_waker(*waker));
    }
    stack_.push_back(intern({syscall_module, syscall, false}));
    append_user_frames(pid, time_ns, user_frames, false);
    return interner_.stack(stack_);
}

std::vector<LocationId> LiveNames::present_stack(pid_t pid, uint64_t time_ns,
                                                 std::optional<uint64_t> syscall,
                                                 std::span<const uint64_t> user_frames) {
    know_process(pid, time_ns);
    stack_.clear();
    if (syscall)
        stack_.push_back(intern({syscall_module, *syscall, false}));
    append_user_frames(pid, time_ns, user_frames, false);
    return stack_;
}

std::span<const pid_t> LiveNames::lineage(pid_t pid, uint64_t time_ns) {
    if (lineage_.empty())
        lineage_ = mappings_.lineage(pid, time_ns);
    return lineage_;
}

std::span<const uint64_t> LiveNames::placed_frames(pid_t pid, uint64_t time_ns,
                                                   std::span<const uint64_t> user_frames,
                                                   bool leaf_is_return) {
    const size_t first = find_pair(user_frames, [](uint64_t word) {
        return is_ruby_word(word) || is_perl_word(word) || is_python_word(word);
    });
    if (first == user_frames.size())
        return user_frames;
    if (is_python_word(user_frames[first])) {
        const PythonProcess* const python = python_.layout(lineage(pid, time_ns));
        if (!python || python->layout->frames.boundary != WIRE_PYTHON_EACH)
            return user_frames;
        placed_ = place_python_frames(user_frames, python->loop(), leaf_is_return);
    } else if (is_ruby_word(user_frames[first])) {
        const RubyProcess* const ruby = ruby_.layout(lineage(pid, time_ns));
        if (!ruby)
            return user_frames;
        placed_ = place_ruby_frames(user_frames, ruby->loop, leaf_is_return);
    } else {
        const PerlProcess* const perl = perl_.layout(lineage(pid, time_ns));
        if (!perl)
            return user_frames;
        placed_ = place_perl_frames(user_frames, perl->code, leaf_is_return);
    }
    return placed_;
}

// A waker's is not what the stack is about, and may not be whole.
void LiveNames::append_go_label() {
    if (go_label_.empty()) // that of most frames
        return;
    if (const std::string label = go_label_.take(); !label.empty() && !is_waker_)
        stack_.push_back(intern_go_label(label));
}

void LiveNames::append_user_frames(pid_t pid, uint64_t time_ns,
                                   std::span<const uint64_t> user_frames, bool leaf_is_return) {
    lineage_.clear();
    v8_frame_ = {};
    ruby_frame_ = {};
    perl_frame_ = {};
    go_label_ = {};
    user_frames = placed_frames(pid, time_ns, user_frames, leaf_is_return);
    for (size_t i = 0; i < user_frames.size(); i++) {
        const uint64_t word = user_frames[i];
        const bool is_pair = !(word & WIRE_STACK_CUT) && word & WIRE_FRAME_RUNTIME;
        if (is_pair && GoLabelWords::is_one(word)) {
            if (++i < user_frames.size())
                go_label_.add(word, user_frames[i]);
            continue;
        }
        append_go_label();
        if (word & WIRE_STACK_CUT) {
            stack_.push_back(intern_cut(word & ~WIRE_STACK_CUT));
            continue;
        }
        if (is_pair) {
            // A frame of a runtime has two words; one without an address is a boundary, of a stack
            // that was cut.
            if (++i < user_frames.size() && !is_boundary(word))
                append_runtime_words(pid, time_ns, word, user_frames[i]);
            continue;
        }
        const bool is_return = (i > 0 && !(word & WIRE_FRAME_EXACT)) || leaf_is_return;
        stack_.push_back(
            intern(mappings_.locate(pid, word & ~WIRE_FRAME_EXACT, time_ns, is_return)));
    }
    append_go_label();
}

StackId LiveNames::stack_under(const Location& leaf, pid_t pid, uint64_t time_ns,
                               std::span<const uint64_t> user_frames) {
    know_process(pid, time_ns);
    stack_.clear();
    stack_.push_back(intern(leaf));
    append_user_frames(pid, time_ns, user_frames, true);
    return interner_.stack(stack_);
}

// A process is known by the name of its main thread, which may never be seen itself.
ThreadId LiveNames::thread(uint32_t pid, uint32_t tid, std::string_view comm) {
    if (known_processes_.size() >= most_known_processes && !known_processes_.contains(pid))
        known_processes_.clear();
    auto [found, is_new] = known_processes_.try_emplace(pid);
    Process& process = found->second;
    // Pids are reused, and what starts a container moves into its group before it executes it.
    const uint64_t began = mappings_.image_began(static_cast<pid_t>(pid));
    if (is_new || process.image_began != began) {
        process.image_began = began;
        // Of one that is gone by now it is the one that it had.
        if (auto path = cgroup_path_of(static_cast<pid_t>(pid)); path && *path != process.cgroup) {
            process.cgroup = *std::move(path);
            process.container_id.clear();
            process.container = {};
            if (auto container = outermost_container(process.cgroup)) {
                process.container_id = std::move(container->id);
                process.container.name = std::move(container->name);
            }
        }
        const auto stat = read_stat(static_cast<pid_t>(pid));
        process.kernel = stat && stat->kernel;
    }
    // Files may be written only when the container runs.
    if (!process.container_id.empty() && !process.container.known())
        process.container = containers_.names(process.container_id);
    // Asked for each time, so that it stays for as long as one of its threads does.
    if (pid != tid && (is_new || process.has_name) && !interner_.last_thread(pid, pid)) {
        const auto name = comm_of(static_cast<pid_t>(pid));
        process.has_name = name.ok();
        if (name)
            interner_.thread(pid, pid, *name, process.cgroup, process.container, process.kernel);
    }
    process.has_name |= pid == tid;
    return interner_.thread(pid, tid, comm, process.cgroup, process.container, process.kernel);
}

ThreadId LiveNames::thread(uint32_t pid, uint32_t tid) {
    auto known = interner_.last_thread(pid, tid);
    return known ? *known : thread(pid, tid, "");
}

ModuleId LiveNames::find_module(uint64_t device, uint64_t inode) const {
    return modules_.find_file(device, inode);
}

// Sweeps follow each other: those who wait longest must not wait for new ones to stop coming.
void LiveNames::deliver(const TimeSlice& slice) {
    do {
        if (sweep_at_ >= waiting_.size() && !begin_sweep())
            return;
        if (sweep_at_ < waiting_.size())
            deliver_one();
    } while (!slice.over());
}

bool LiveNames::begin_sweep() {
    const uint64_t generation = symbolizer_.generation();
    if (generation == generation_)
        return false;
    generation_ = generation;
    sweep_at_ = 0;
    for (const ModuleId module : symbolizer_.take_outdated())
        mappings_.renew_jit(module);
    return true;
}

void LiveNames::deliver_one() {
    Waiting& entry = waiting_[sweep_at_];
    const Resolution resolution = symbolizer_.known(interner_.location_of(entry.location));
    if (resolution.detail != entry.told) {
        sink_.on_frames(entry.location, *resolution.frames);
        entry.told = resolution.detail;
    }
    if (resolution.detail == Detail::full) {
        entry = waiting_.back();
        waiting_.pop_back();
    } else {
        sweep_at_++;
    }
}

void LiveNames::settle(std::chrono::nanoseconds timeout) {
    symbolizer_.read_on();
    symbolizer_.wait_idle(std::chrono::steady_clock::now() + timeout);
    deliver(TimeSlice::endless());
}

SymbolProgress LiveNames::progress() const {
    SymbolProgress progress;
    progress.pending = symbolizer_.waiting();
    for (const ModuleProgress& module : symbolizer_.progress())
        progress.modules.push_back(progress_text(module));
    progress.bytes = interner_.memory_bytes() + python_.memory_bytes() +
                     task_names_.memory_bytes() + hotspot_.memory_bytes() + v8_.memory_bytes() +
                     php_.memory_bytes() + ruby_.memory_bytes() + perl_.memory_bytes();
    return progress;
}

std::vector<std::string> LiveNames::notes() const {
    const std::vector<ModuleReport> reports = symbolizer_.reports();
    std::vector<std::string> notes;
    if (named_room_.refused())
        notes.push_back(fmt::format("{} frames are shown as [further functions]: of one user's "
                                    "programs no more functions of languages are kept",
                                    named_room_.refused()));
    size_t more = 0;
    // That a stripped file has none is no news.
    for (const bool ordinary : {false, true})
        for (const ModuleReport& report : reports) {
            if (report.note.empty() || (report.note == "no symbols") != ordinary)
                continue;
            if (notes.size() < most_notes)
                notes.push_back(report.name + ": " + report.note);
            else
                more++;
        }
    if (more)
        notes.push_back(fmt::format("and {} more", more));
    return notes;
}

} // namespace auger
