// SPDX-License-Identifier: GPL-3.0-or-later
// The durations of one timed function's calls, logarithmic both ways.
import {colour, prepare} from "./pen.js";
import {object} from "./server.js";
import {count, duration, element, empty} from "./text.js";

const height = 190, bottom = 165, top = 8, margin = 14;

let chosen = null;  // a probe's number

function draw(canvas, histogram, threshold) {
  const [pen, width] = prepare(canvas, height);
  const last = histogram.buckets.at(-1);
  const low = Math.log(Math.max(1, histogram.buckets[0][0])), high = Math.log(Math.max(2, last[1]));
  const x = ns => margin + (width - 2 * margin) * (Math.log(Math.max(1, ns)) - low) / ((high - low) || 1);
  const most = Math.max(...histogram.buckets.map(([, , calls]) => calls));
  for (const [from, to, calls] of histogram.buckets) {
    const tall = Math.max(1, (bottom - top) * Math.log1p(calls) / Math.log1p(most));
    pen.fillStyle = colour(threshold && from >= threshold ? "slow" : "accent");
    pen.fillRect(x(from), bottom - tall, Math.max(1, x(to) - x(from) - 0.5), tall);
  }
  pen.fillStyle = colour("text");
  pen.textAlign = "center";
  // As many marks of a decade as there is room for.
  let free = 0;
  for (let ns = 10 ** Math.floor(low / Math.LN10); ns <= last[1]; ns *= 10) {
    const at = x(ns);
    if (at < Math.max(free, margin + 20) || at > width - margin - 20) continue;
    pen.fillRect(at, bottom, 1, 4);
    pen.fillText(duration(ns), at, bottom + 14);
    free = at + 70;
  }
  if (threshold && threshold >= histogram.buckets[0][0] && threshold <= last[1]) {
    pen.fillStyle = colour("slow");
    pen.fillRect(x(threshold), 0, 2, bottom);
  }
}

export const histogram = {
  title: "Histogram",
  async load(context) {
    const probes = context.summary?.probes ?? [];
    const split = probes.find(probe => probe.spec === context.summary.split?.probe);
    const probe = probes.find(one => one.id === chosen) ?? split ?? probes[0];
    if (!probe) return null;
    const threshold = probe === split ? context.summary.split.threshold : probe.slow;
    return {probe, probes, threshold: threshold?.ns ?? null,
            histogram: await object("/hist", {probe: probe.id, window: context.window}), reload: context.reload};
  },
  draw(panel, shown) {
    if (!shown) return panel.replaceChildren(empty("nothing is timed: at the console `time FUNCTION`"));
    const {probe, probes, threshold, histogram: data} = shown;
    const choice = element("select", {attributes: {"aria-label": "Function"}}, probes.map(one => {
      const option = element("option", {attributes: {value: one.id}}, one.spec);
      option.selected = one.id === probe.id;
      return option;
    }));
    choice.addEventListener("change", () => { chosen = Number(choice.value); choice.blur(); shown.reload(); });
    const figures = [`${count(data.count)} calls`, `${count(data.open)} open`];
    if (data.buckets.length)
      for (const name of ["min", "p50", "p95", "p99", "p999", "max"]) figures.push(`${name} ${duration(data[name])}`);
    if (threshold) figures.push(`slow from ${duration(threshold)}`);
    const canvas = element("canvas", {attributes: {"aria-label": "Histogram of durations"}});
    panel.replaceChildren(element("p", {className: "bar"}, [choice, figures.join(" \u00b7 ")]), canvas,
                          ...(data.tail ? [element("p", {className: "faint"}, data.tail)] : []));
    if (data.buckets.length) draw(canvas, data, threshold);
    else canvas.replaceWith(empty(data.p50 === null ? "a place has no duration: it is counted" : "no call has returned yet"));
  },
};
