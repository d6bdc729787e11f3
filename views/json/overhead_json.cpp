// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/escape.h"
#include "views/json/json_parts.h"
#include "views/json/json_views.h"
#include "views/overhead_text.h"

namespace auger {

using namespace json_parts;

std::string overhead_json(const Model& model, const StatusContext& context) {
    const Overhead& overhead = model.ledger().overhead;
    Line line = start("overhead");
    line["limit"] = context.overhead_limit > 0 ? Line(context.overhead_limit) : Line(nullptr);
    line["begin"] = overhead.begin_ns;
    line["end"] = overhead.end_ns;
    line["target"] = overhead.target_ns;
    line["cost"] = overhead_cost(overhead);
    line["share"] = overhead_share(overhead, overhead_cost(overhead));
    line["causes"] = Line::array();
    for (const Overhead::Cause& cause : dearest_causes(overhead)) {
        const ProbeInfo* probe =
            cause.kind == Overhead::Cause::Kind::probe ? model.find_probe(cause.probe) : nullptr;
        line["causes"].push_back(
            {{"cause", overhead_kind(cause.kind)},
             {"probe",
              cause.kind == Overhead::Cause::Kind::probe ? Line(cause.probe.value) : Line(nullptr)},
             {"text", probe ? Line(escape_untrusted(probe->text)) : Line(nullptr)},
             {"events", cause.events},
             {"cost", cause.cost_ns},
             {"share", overhead_share(overhead, cause.cost_ns)},
             {"measured", is_measured(cause)}});
    }
    return finish(line);
}

} // namespace auger
