// SPDX-License-Identifier: GPL-3.0-or-later
#include "repl/services/interval_parts.h"

namespace auger {
namespace {

class PartsWriter {
  public:
    PartsWriter(const ReceiverProtocol& protocol, const Model& model, const ExportQuery& query)
        : protocol_(protocol), model_(model), query_(query) {}

    void add(uint64_t begin_ns, uint64_t end_ns) {
        query_.window = window_between(begin_ns, end_ns);
        StringSink body;
        const ProfileSize size = write_request_body(protocol_, model_, query_, body);
        if (size.samples == 0)
            return;
        const uint64_t half_ns = (end_ns - begin_ns) / 2;
        if (is_too_large(protocol_, size) && half_ns >= protocol_.least_part_ns) {
            add(begin_ns, begin_ns + half_ns);
            add(begin_ns + half_ns, end_ns);
            return;
        }
        parts_.push_back({begin_ns, end_ns, size.samples, std::move(body.text)});
        // What is missing in the interval is told once.
        query_.lost_before = model_.ledger().lost;
        query_.evicted = 0;
    }
    std::vector<IntervalPart> take() { return std::move(parts_); }

  private:
    const ReceiverProtocol& protocol_;
    const Model& model_;
    ExportQuery query_;
    std::vector<IntervalPart> parts_;
};

} // namespace

std::vector<IntervalPart> interval_parts(const ReceiverProtocol& protocol, const Model& model,
                                         const ExportQuery& query, uint64_t begin_ns,
                                         uint64_t end_ns) {
    PartsWriter writer(protocol, model, query);
    writer.add(begin_ns, end_ns);
    return writer.take();
}

} // namespace auger
