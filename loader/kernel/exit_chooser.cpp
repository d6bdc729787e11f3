// SPDX-License-Identifier: GPL-3.0-or-later
#include "loader/kernel/exit_chooser.h"

#include "loader/kernel/place_group.h"
#include "loader/process/proc_info.h"

#include <fmt/format.h>

namespace auger {

ExitChooser::Choice ExitChooser::choose(const PlaceMatch& match, const TargetModule& module,
                                        const TargetView& view, WayOut way_out,
                                        const UnwindProof& proof) const {
    bool session = way_ == AttachWay::multi && features_.uprobe_session;
    ExitWay return_probe = session ? ExitWay::session : ExitWay::return_probe;
    if (match.in_go)
        return {ExitWay::go, ""};
    // A call site's probes sit in the caller and have nothing to do with the callee's exits.
    if (match.kind == PlaceKind::call_site)
        return {ExitWay::instructions, ""};
    switch (way_out) {
    case WayOut::cheap:
    case WayOut::ret:
        return {ExitWay::instructions, ""};
    case WayOut::trampoline:
        return {return_probe,
                features_.stacks_under_return
                    ? ""
                    : "it was asked for; on this kernel stacks show it in place of the "
                      "function's caller"};
    case WayOut::automatic:
        break;
    }
    if (!match.no_return_probe.empty())
        return {ExitWay::instructions, match.no_return_probe};
    if (!features_.stacks_under_return)
        return {ExitWay::instructions, "this kernel breaks stacks under return probes"};
    if (!proof.proven)
        return {ExitWay::instructions, proof.reason};
    // A session's entry tells the kernel for each call whether its return is wanted.
    if (!session && !PlaceGroup::is_per_process(module, view))
        return {ExitWay::instructions,
                "return probes would be in all processes that run the file, of which nothing is "
                "known"};
    if (!module.main_program && !proof.other_programs.empty())
        return {ExitWay::instructions,
                proof.other_programs + ", which starts programs that may use this library, too"};
    return {return_probe, "nothing that the target maps can unwind or swap stacks"};
}

UnwindProof ExitChooser::prove(const TargetView& view) const {
    if (view.everything)
        return {false, "every process is observed, and what they will map is not known"};
    if (view.by_name)
        return {false, "processes that will come under the name may map what is not known yet"};
    // What it needs says the file; what it will map, the environment of its start.
    if (!view.started)
        return {false, "what the program will map is not known before it runs"};
    // Such filters know nothing of it, and refuse it: the program ends, or goes on at its
    // function's value.
    if (features_.returns_by_system_call)
        for (const pid_t pid : view.pids)
            if (filters_system_calls(pid))
                return {false,
                        fmt::format("process {} filters its system calls (seccomp), of which "
                                    "a return probe makes one on this kernel",
                                    pid)};
    return catalogue_.prove_no_unwinding_in(view.pids);
}

} // namespace auger
