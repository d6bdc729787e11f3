// SPDX-License-Identifier: GPL-3.0-or-later
// Functions in rows: where the time goes, and what slow calls do that fast ones do not.
import {object} from "./server.js";
import {count, duration, element, empty, percent, signed, table} from "./text.js";

const rows = 100;

export const top = {
  title: "Top functions",
  load: context => object("/top", {class: context.served, window: context.window, rows}),
  draw(panel, data) {
    if (!data.functions.length) return panel.replaceChildren(empty("no sample yet: at the console `sample 999`"));
    // Of a stack's time, each is once in the outermost function's total.
    const whole = Math.max(...data.functions.map(one => one.total.weight)) || 1;
    panel.replaceChildren(table([
      ["self", one => duration(one.self.weight)],
      ["total", one => duration(one.total.weight)],
      ["of the largest", one => percent(one.total.weight / whole)],
      ["samples", one => count(one.total.samples)],
      ["function", one => one.function, "name"],
      ["module", one => one.module, "name"],
    ], data.functions));
  },
};

const side = one => `${count(one.calls)} ${one.class} calls${one.estimated ? " (estimated)" : ""}, ${count(one.sampled_calls)} of them with samples`;

export const diff = {
  title: "Slow \u2212 fast",
  load: context => context.summary?.split?.threshold ? object("/diff", {window: context.window}) : null,
  draw(panel, data) {
    if (!data) return panel.replaceChildren(empty("nothing tells slow calls from fast ones: at the console `split FUNCTION > p95`"));
    if (!data.functions.length) return panel.replaceChildren(empty("neither slow nor fast calls have samples yet"));
    panel.replaceChildren(
      element("p", {className: "faint"}, `Time per call. ${side(data.first)}; ${side(data.second)}. \u00b1 is the 95 % confidence interval.`),
      table([
        ["difference", one => signed(one.difference)],
        ["\u00b1", one => one.margin === null ? "?" : duration(one.margin)],
        ["slow", one => duration(one.first)],
        ["fast", one => duration(one.second)],
        ["rest", one => signed(one.rest_difference)],
        ["", one => one.by_definition ? "by definition"
          : one.significant ? "significant"
          : `may be chance${one.calls_needed ? `: ${count(one.calls_needed)} more calls` : ""}`],
        ["function", one => one.function, "name"],
      ], data.functions, (line, one) => line.classList.toggle("maybe", !one.significant)));
  },
};
