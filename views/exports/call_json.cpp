// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/exports/call_json.h"

#include "views/escape.h"
#include "views/exports/json_stream.h"
#include "views/json/call_records.h"
#include "views/model/slow_call_query.h"

namespace auger {

namespace {

using namespace json_parts;

// One object whose last field is a list, an object a line.
class Document {
  public:
    Document(const Model& model, const ExportQuery& query, const char* format, const char* list,
             ByteSink& out)
        : out_(out), json_(out) {
        Line head = {{"schema", 1}, {"format", format}};
        head["losses"] = export_losses(model, query);
        head["rules"] = export_rules(model);
        head["window"] = window_line(query.window);
        head["split"] = split_line(model);
        head["only"] = text_or_null(model.only().text);
        head["class"] = escape_untrusted(to_string(query.filter));
        json_.begin_object();
        for (const auto& [name, value] : head.items()) {
            json_.key(name);
            json_.value(value);
        }
        json_.new_line();
        json_.key(list);
        json_.begin_list();
    }
    void add(const Line& record) {
        json_.new_line();
        json_.value(record);
    }
    void end() {
        json_.new_line();
        json_.end_list();
        json_.end_object();
        out_.write("\n");
    }

  private:
    ByteSink& out_;
    JsonStream json_;
};

} // namespace

Result<uint64_t> write_calls_json(const Model& model, const ExportQuery& query, ByteSink& out) {
    const Classifier classify(model);
    const auto calls = find_slow_calls(model, classify, query.window, {}, query.filter);
    Document document(model, query, "calls-json", "calls", out);
    for (const SlowCall* call : calls) {
        Line record;
        put_slow_call(record, model, classify, *call);
        document.add(record);
    }
    document.end();
    return calls.size();
}

Result<uint64_t> write_histograms_json(const Model& model, const ExportQuery& query,
                                       ByteSink& out) {
    Document document(model, query, "histogram-json", "histograms", out);
    uint64_t buckets = 0;
    for (const auto& [id, probe] : model.probes()) {
        if (probe.deleted)
            continue;
        Line record;
        put_histogram(record, model, probe, query.window);
        buckets += record["buckets"].size();
        document.add(record);
    }
    document.end();
    return buckets;
}

} // namespace auger
