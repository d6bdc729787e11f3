// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/model/slow_call_query.h"

namespace auger {

ProbeId probe_of(const Model& model, const SlowCall& call) {
    SpecId spec = call.end.call.spec;
    return spec.index() < model.specs().size() ? model.specs()[spec.index()].probe : ProbeId{};
}

std::vector<const SlowCall*> find_slow_calls(const Model& model, const Window& window,
                                             std::optional<ProbeId> probe) {
    std::vector<const SlowCall*> found;
    for (const SlowCall& call : model.slow_calls()) {
        bool in_window = window.kind != Window::Kind::last ||
                         window.weight(call.end.time_ns, model.now_ns()) > 0;
        if (in_window && (!probe || probe_of(model, call) == *probe))
            found.push_back(&call);
    }
    return found;
}

} // namespace auger
