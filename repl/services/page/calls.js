// SPDX-License-Identifier: GPL-3.0-or-later
// The slow calls, the newest first, and one of them opened: its stack, arguments and waits.
import {objects} from "./server.js";
import {duration, element, empty, table} from "./text.js";

const rows = 200;
const nameOf = call => `${call.probe} ${call.pid} ${call.tid} ${call.start}`;

let opened = null;  // stays open when the list has others

const columns = [
  ["duration", call => duration(call.duration)],
  ["function", call => call.probe, "name"],
  ["thread", call => `${call.comm} ${call.tid}`, "name"],
  ["CPU", call => call.cpu === null ? "" : duration(call.cpu)],
  ["blocked", call => call.blocked === null ? "" : duration(call.blocked)],
  ["class", call => call.class ?? ""],
];

function list(pairs) {
  return element("dl", {}, pairs.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {className: "mono"}, value)]));
}

function waitsOf(call) {
  if (call.blocked === null) return "not known: at the console `sample wall`";
  const longest = call.longest_wait ? `; the longest ${duration(call.longest_wait.blocked)} in ${call.longest_wait.what}` : "";
  return `${duration(call.cpu)} on the CPU, ${duration(call.blocked)} blocked, ${duration(call.runnable)} runnable${longest}`;
}

function valuesOf(call) {
  const values = Object.entries(call.values)
    .map(([name, value]) => [name, value ?? `not read: ${call.unreadable[name]}`]);
  return values.length ? list(values) : element("p", {className: "faint"}, "none were read");
}

function details(call) {
  const frames = call.stack.map((name, i) =>
    element("li", {}, [name, call.source[i] ? element("span", {className: "faint"}, `  ${call.source[i]}`) : ""]));
  return element("aside", {className: "call", attributes: {id: "call"}}, [
    element("h2", {}, `${call.probe}: ${duration(call.duration)}`),
    ...(call.tail ? [element("p", {className: "faint"}, call.tail)] : []),
    list([["thread", `${call.comm}, ${call.pid}/${call.tid}${call.machine ? ` on ${call.machine}` : ""}`],
          ["slow from", duration(call.threshold)],
          ["class", call.class ?? "no split"],
          ["end", call.unwound ? "unwound, without a return" : "returned"]]),
    element("h2", {}, "Waits"), element("p", {}, waitsOf(call)),
    element("h2", {}, "Values"), valuesOf(call),
    element("h2", {}, "Stack"), element("ol", {className: "stack"}, frames),
  ]);
}

export const calls = {
  title: "Slow calls",
  load: context => objects("/calls", {class: context.combined, window: context.window, rows}),
  draw(panel, list) {
    if (!list.length && !opened) return panel.replaceChildren(empty("no slow call was traced: at the console `slow FUNCTION > 10ms`"));
    list = [...list].reverse();
    const right = element("div", {}, opened ? details(opened) : element("p", {className: "empty"}, "Choose a call to see its stack, arguments and waits."));
    const left = table(columns, list, (line, call) => {
      const open = () => {
        opened = opened && nameOf(opened) === nameOf(call) ? null : call;
        this.draw(panel, [...list].reverse());
      };
      line.tabIndex = 0;
      line.dataset.key = nameOf(call);
      line.setAttribute("aria-selected", String(opened !== null && nameOf(opened) === nameOf(call)));
      line.addEventListener("click", open);
      line.addEventListener("keydown", event => { if (event.key === "Enter") open(); });
    });
    panel.replaceChildren(element("div", {className: "calls"}, [left, right]));
  },
};
