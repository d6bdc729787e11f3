// SPDX-License-Identifier: GPL-3.0-or-later
// MachineStream: one of several machines' streams that are taken in as one, from recordings of a
// session or from an agent. It gives what these define ids that are its own among all of them, one
// for the same in all its files, and moves its times to the common clock; what is one thing on all
// machines it hands to CommonStream, which they share. Changes with what machines, and files of a
// session, have in common.
#pragma once

#include "loader/recording/generations.h"
#include "loader/recording/origins.h"
#include "loader/recording/record_encoder.h"
#include "loader/reports/open_call.h"
#include "loader/stream/events.h"

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace auger {

// What several machines have in common: ids, probes, marks and values of equal text, the split and
// `only` in force, and the sum of their accounts.
class CommonStream {
  public:
    // Recordings' probes are the same ones by their text; an agent's by the number that the console
    // gave them.
    enum class Probes : uint8_t { by_text, by_number };
    // `sessions`: which are numbered from 0 on.
    explicit CommonStream(size_t sessions, Probes probes = Probes::by_text)
        : probes_are_(probes), ledgers_(sessions), splits_(sessions), onlys_(sessions) {}
    Probes probes_are() const { return probes_are_; }
    // Another pass: ids of probes, functions and marks stay, since what the first one learned names
    // them; all else is told anew.
    void begin_pass();

    // A file of the same path and build is one module on all machines, so that its functions are,
    // too; generated code is each process's own. True: it is new.
    std::pair<ModuleId, bool> module(const ModuleInfo&);
    // A machine's n-th probe of a text is the same one as another's n-th; or the one that was
    // announced. Nothing: it is none of ours.
    std::optional<ProbeId> probe(const ProbeInfo& info, size_t number);
    // By number: what all machines were asked for. What they say is in force is that, but for what
    // they alone know: functions, marks' bits, and since when.
    void announce(ProbeId number, const ProbeInfo& asked) {
        announced_.insert_or_assign(number, asked.id);
        asked_probes_.insert_or_assign(asked.id, asked);
    }
    void ask(const SplitInfo& split) { asked_split_ = split; }
    void ask(const OnlyInfo& only) { asked_only_ = only; }
    // Of what a machine says, as much as is believed. Nothing: it is not what was asked for.
    ProbeInfo believed(ProbeInfo) const;
    std::optional<SplitInfo> believed(SplitInfo) const;
    std::optional<OnlyInfo> believed(OnlyInfo) const;
    // A session's that is a relay's: the same for one name. Nothing when there are too many.
    std::optional<MachineId> relayed_machine(size_t session, const std::string& name);
    // What comes of the session from now on is of another agent, which counts from the beginning.
    void begin_anew(size_t session);
    // What all sessions say of a probe, when one says something new.
    ProbeInfo merged(size_t session, const ProbeInfo&);
    // Nothing when there is no bit left: then nobody knows of the mark.
    std::optional<uint32_t> mark_bit(ProbeId, const std::string& text);
    std::pair<LabelId, bool> label(const std::string& text); // true: it is new
    // What is in force: what was said last, unless it was an end. Facts are known since the first
    // machine watched them; MachineStream says of which calls they are not known yet.
    SplitInfo merged(size_t session, const SplitInfo&);
    OnlyInfo merged(size_t session, const OnlyInfo&);
    LedgerEvent merged(size_t session, const LedgerEvent&);
    // Another session of its machine follows: what was in force in it no longer is.
    void end_session(size_t session);

    uint32_t locations = 0, stacks = 0, threads = 0, specs = 0; // given ids

  private:
    LedgerEvent with_known_causes(LedgerEvent);

    const Probes probes_are_;
    uint32_t modules_ = 0; // given ids
    std::map<std::tuple<ModuleKind, std::string, std::string>, ModuleId> module_ids_;
    std::map<std::pair<std::string, size_t>, ProbeId> probes_;
    std::map<ProbeId, ProbeId> announced_; // by number
    std::map<ProbeId, ProbeInfo> asked_probes_;
    SplitInfo asked_split_;
    OnlyInfo asked_only_;
    std::map<ProbeId, std::map<size_t, ProbeInfo>> probe_parts_; // by session
    std::map<ProbeId, std::vector<SpecId>> former_specs_;        // of those that began anew
    std::map<std::string, uint32_t> mark_bits_;
    std::map<std::string, LabelId> labels_;
    LedgerEvent totals_;               // of all sessions, and of former agents
    std::vector<LedgerEvent> ledgers_; // the last ones, by session, as these
    std::vector<SplitInfo> splits_;
    std::vector<OnlyInfo> onlys_;
    std::map<std::pair<size_t, std::string>, MachineId> relayed_; // by session and name
    std::map<size_t, size_t> relayed_counts_;                     // by session
};

class MachineStream final : public EventSink {
  public:
    // `session`: its number in `common`. `shift_ns` is added to its times; nothing of it was before
    // `earliest_ns` of the common clock.
    MachineStream(CommonStream& common, size_t session, MachineId id, MachineInfo info,
                  int64_t shift_ns, uint64_t earliest_ns = 0)
        : common_(common), session_(session), id_(id), info_(std::move(info)), shift_ns_(shift_ns),
          earliest_ns_(earliest_ns) {}
    // Of the only machine; else notices say which it is.
    void set_alone() { alone_ = true; }

    // Another pass, as CommonStream's.
    void begin_pass();
    // Another file of the session: what it defines has ids of the file.
    void begin_file();
    size_t remembered() const {
        return known_locations_.size() + known_stacks_.size() + known_threads_.size() +
               told_frames_.size();
    }

    void deliver_to(EventSink& sink) { sink_ = &sink; }
    // Of a relay: of which of its hosts the threads and functions are that are defined next. They
    // are shown as what they are to it, behind its own name, so none can be taken for another's.
    // False: there is no such host, or too many of them.
    bool take_origins(const Origins& origins);
    uint64_t common_time(uint64_t time_ns) const;
    // The latest moment of its own that is no later than this one.
    uint64_t own_time(uint64_t common_ns) const;

    // That nothing more comes: of calls that were open nobody will hear.
    void drop_open_calls(uint64_t common_ns);
    // With ids of the common stream; nothing of what is not known.
    std::optional<OpenCall> common(const OpenCall&) const;
    ThreadNow common(const ThreadNow&) const;
    std::optional<SpecId> common(SpecId) const;
    // Taken by what is never forgotten: names, locations.
    size_t definition_bytes() const { return definition_bytes_; }

    void on_machine(MachineId, const MachineInfo&) override {} // told by tell_machine()
    void tell_machine() { sink_->on_machine(id_, info_); }
    void on_module(ModuleId, const ModuleInfo&) override;
    void on_location(LocationId, const Location&) override;
    void on_frames(LocationId, std::span<const Frame>) override;
    void on_stack(StackId, std::span<const LocationId>) override;
    void on_thread(ThreadId, const ThreadInfo&) override;
    void on_spec(SpecId, const SpecInfo&) override;
    void on_probe(const ProbeInfo&) override;
    void on_split(const SplitInfo&) override;
    void on_only(const OnlyInfo&) override;
    void on_label(LabelId, const std::string&) override;
    void on_sample(const SampleEvent&) override;
    void on_call_end(const CallEndEvent&) override;
    void on_slow_call(const SlowCallEvent&) override;
    void on_call_parts(const CallPartsEvent&) override;
    void on_stats(const StatsEvent&) override;
    void on_ledger(const LedgerEvent&) override;
    void on_notice(uint64_t time_ns, const std::string& text) override;
    void on_time(uint64_t time_ns) override;

  private:
    template <typename IdType>
    class Ids {
      public:
        void set(IdType recorded, IdType own) {
            if (recorded.index() >= own_.size())
                own_.resize(recorded.index() + 1, undefined);
            own_[recorded.index()] = own;
        }
        IdType of(IdType recorded) const {
            return recorded.index() < own_.size() ? own_[recorded.index()] : undefined;
        }
        bool knows(IdType recorded) const { return of(recorded) != undefined; }
        void clear() { own_.clear(); }

      private:
        static constexpr IdType undefined{UINT32_MAX};
        std::vector<IdType> own_;
    };
    static constexpr uint32_t no_bit = UINT32_MAX;
    // Of one kind of definitions: what was not used for as many others is forgotten, and told
    // again.
    static constexpr size_t most_remembered = size_t{1} << 18;

    // The id of what is equal to it, of this session; true: it is to be told.
    template <typename IdType>
    std::pair<IdType, bool> same(Generations<std::string, IdType>& known,
                                 const std::string& content, uint32_t& given);
    // Whether it was not told just so of late.
    template <typename Id, typename Put>
    bool is_news(Generations<Id, std::string>& told, Id of, Put put);
    MachineId next_origin();
    CallKey common_call(const CallKey&) const;
    CallEndEvent common_end(const CallEndEvent&) const;
    void common_calls(std::span<const CallKey>);
    uint32_t common_marks(uint32_t marks) const;
    bool knows_marks(const CallEndEvent&) const;
    std::optional<uint32_t> watch_mark(const MarkInfo&, ProbeId);
    void tell_spec(SpecId, SpecInfo);

    CommonStream& common_;
    size_t session_;
    EventSink* sink_ = nullptr;
    bool alone_ = false;
    MachineId id_;
    MachineInfo info_;
    int64_t shift_ns_;
    uint64_t earliest_ns_;
    size_t definition_bytes_ = 0;
    std::map<SpecId, int64_t> open_;            // calls, by common id
    std::map<MachineId, MachineId> relayed_;    // a relay's hosts, by its ids
    std::deque<MachineId> origins_;             // of what is defined next
    std::map<SpecId, MachineId> spec_machines_; // of functions that are on one of these
    // Of a file.
    Ids<ModuleId> modules_;
    Ids<LocationId> locations_;
    Ids<StackId> stacks_;
    Ids<ThreadId> threads_;
    Ids<LabelId> labels_;
    // Of a session: by what they are, and generated code's modules by number.
    Generations<std::string, LocationId> known_locations_;
    Generations<std::string, StackId> known_stacks_;
    Generations<std::string, ThreadId> known_threads_;
    std::map<ModuleId, ModuleId> jit_modules_;
    Ids<SpecId> specs_;
    std::set<SpecId> told_specs_;
    // What was told, as it would be recorded; of a probe and the rest by their ids, or 0.
    Generations<uint32_t, std::string> told_frames_, told_probes_, told_split_, told_only_;
    RecordEncoder encoder_; // reused
    std::map<ProbeId, ProbeId> probes_;
    std::map<std::string, size_t> probe_texts_;               // how many there were
    std::vector<std::pair<SpecId, SpecInfo>> nameless_specs_; // whose probe is yet to be defined
    std::array<uint32_t, most_marks> mark_bits_ = unknown_bits();
    std::optional<MarkInfo> branch_; // that is watched, in its own time
    std::vector<MarkInfo> lines_;    // likewise
    uint64_t label_since_ns_ = 0;    // likewise
    std::vector<LocationId> stack_;
    std::vector<CallKey> calls_;
    std::vector<CallPart> parts_; // likewise

    static std::array<uint32_t, most_marks> unknown_bits() {
        std::array<uint32_t, most_marks> bits{};
        bits.fill(no_bit);
        return bits;
    }
};

} // namespace auger
