// SPDX-License-Identifier: GPL-3.0-or-later
// Figures as people read them, and elements of text. What a target has named is only ever text: it
// goes into textContent, and nowhere else.

const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

export function duration(ns) {
  if (ns === null || ns === undefined) return "?";
  const [size, unit] = units.find(([size]) => Math.abs(ns) >= size) || units[3];
  const value = ns / size;
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${unit}`;
}

export const signed = ns => (ns > 0 ? "+" : "") + duration(ns);
export const count = number => number === null ? "?" : Math.round(number).toLocaleString("en");
export const percent = share => `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;

// `content`: text, elements, or a list of both.
export function element(tag, {className = "", attributes = {}} = {}, content = []) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...[content].flat());
  return made;
}

// `columns`: [title, row => text or elements, class]; `each`: what a row's element is given.
export function table(columns, rows, each = () => {}) {
  const head = element("tr", {}, columns.map(([title, , className]) => element("th", {className}, title)));
  const body = rows.map(row => {
    const line = element("tr", {}, columns.map(([, cell, className]) => element("td", {className}, cell(row))));
    each(line, row);
    return line;
  });
  return element("div", {className: "scroll"},
    element("table", {}, [element("thead", {}, head), element("tbody", {}, body)]));
}

// What is to be done at the console for there to be something: "nothing is timed: ... `time F`".
export function empty(text) {
  const parts = text.split("`").map((part, i) => i % 2 ? element("code", {}, part) : part);
  return element("p", {className: "empty"}, parts);
}
