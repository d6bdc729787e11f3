// SPDX-License-Identifier: GPL-3.0-or-later
// Puts the page together: events say that something is new, and what is shown is asked for again.
import {calls} from "./calls.js";
import {difference, Flame} from "./flame.js";
import {diff, top} from "./functions.js";
import {histogram} from "./histogram.js";
import {follow, object, Refusal, token} from "./server.js";
import {count, duration, element, empty, percent} from "./text.js";
import {classes} from "./tree.js";

const byId = id => document.getElementById(id);
const panels = {calls, diff, histogram, top};
// An answer costs auger a copy of itself: the page is at rest four times as long as they took.
const shortestRest = 1000, restShare = 4;
const mostClasses = 16;

const state = {
  summary: null, news: "", seen: "",   // the last event, and the one that what is shown is of
  chosen: "", panel: "calls", window: "",
  paused: false, loading: false, again: false, restUntil: 0,
};
const flame = new Flame(byId("flame"), showFlame);

// Classes of the split's durations are in the tree of all; others are asked for.
const isCombined = name => name !== "" && name !== difference && !classes.includes(name);
const context = () => ({
  summary: state.summary,
  window: state.window,
  combined: isCombined(state.chosen) ? state.chosen : "",
  served: state.chosen === difference ? "slow" : state.chosen,
  reload: load,
});

function showFlame() {
  byId("details").textContent = flame.details();
  const found = flame.found();
  byId("found").textContent = found === null ? "" : `${percent(found)} found`;
  byId("reset").disabled = flame.zoomed === flame.root;
  document.body.dataset.frames = flame.boxes.length;
}

function showEmptyFlame(data) {
  const {summary} = state;
  const text = data.stacks.length ? ""
    : !summary ? "no sample yet"
    : !summary.processes && !summary.samples ? "nothing is observed: at the console `target PID`"
    : !summary.samples && !summary.rate ? "nothing is sampled: at the console `sample 999`"
    : state.window || state.chosen ? "no sample of this class and window" : "no sample yet";
  byId("flame-empty").replaceChildren(...(text ? empty(text).childNodes : []));
  byId("flame-empty").hidden = !text;
  byId("flame").hidden = Boolean(text);
}

function classRows(data) {
  if (!data.split) return [];
  const rows = classes.map(name => ({name, samples: data.classes[name].samples})).filter(one => one.samples);
  if (data.classes.slow.samples && data.classes.fast.samples) rows.push({name: difference});
  for (const more of [data.branch, data.labels])
    for (const one of more?.classes ?? [])
      if (one.samples) rows.push({name: one.class, samples: one.samples});
  return rows.slice(0, mostClasses);
}

function showClasses(data) {
  const rows = classRows(data);
  const buttons = [{name: ""}, ...rows].map(({name, samples}) => {
    const text = (name || "all") + (samples ? ` ${count(samples)}` : "");
    const button = element("button", {className: classes.includes(name) ? name : "none",
                                      attributes: {"aria-pressed": String(name === state.chosen)}}, text);
    button.dataset.class = name;
    button.addEventListener("click", () => choose(name));
    return button;
  });
  // Not while one has the focus of the keyboard, unless it is another list.
  const focused = byId("classes").contains(document.activeElement) ? document.activeElement.dataset.class : null;
  byId("classes").replaceChildren(...buttons);
  if (focused !== null) buttons.find(button => button.dataset.class === focused)?.focus();
}

function choose(name) {
  const asked = isCombined(name) || isCombined(state.chosen);
  state.chosen = name;
  for (const button of byId("classes").children)
    button.setAttribute("aria-pressed", String(button.dataset.class === name));
  document.body.dataset.class = name || "all";
  if (!asked) flame.choose(name);
  load();
}

function showStatus() {
  const one = state.summary;
  const names = one.target.length ? one.target.join(", ") : "no target";
  byId("target").textContent = names;
  document.title = `${names} \u2013 auger`;
  const rate = one.rate ? `${count(one.rate)} Hz (${one.wall ? "wall-clock time" : "CPU time"}; ${count(one.rate_achieved)} achieved)` : "not sampling";
  const parts = [rate, `${count(one.samples)} samples`, `${count(one.calls)} calls`, `${count(one.slow_calls)} slow`,
                 `overhead ${percent(one.overhead)}`];
  const lost = element("span", {className: one.lost ? "warning" : ""}, `${count(one.lost)} lost`);
  byId("status").replaceChildren(parts.join(" \u00b7 "), " \u00b7 ", lost);
  const split = one.split && [`split ${one.split.probe}`, one.split.threshold?.ns ? `> ${duration(one.split.threshold.ns)}` : "",
                              one.split.branch ?? "", one.split.by ? `by ${one.split.by}` : ""].filter(Boolean).join(" ");
  byId("split").textContent = [split, one.only && `only ${one.only}`].filter(Boolean).join(" \u00b7 ");
}

function showTrouble(text) {
  byId("status").replaceChildren(element("span", {className: "warning"}, text));
}

async function loadOnce() {
  const seen = state.news, panel = state.panel, asked = context();
  const [data, rows] = await Promise.all([
    object("/flame", {class: asked.combined, window: asked.window}),
    panels[panel].load(asked),
  ]);
  state.seen = seen;
  showEmptyFlame(data);
  flame.shown = asked.combined ? "" : state.chosen;
  flame.show(data);
  showClasses(data);
  if (panel !== state.panel) return;
  drawPanel(rows);
  document.body.dataset.panel = panel;
}

// What has the keyboard keeps it; a list that somebody chooses from stays as it is.
function drawPanel(rows) {
  const panel = byId("panel"), focused = panel.contains(document.activeElement) ? document.activeElement : null;
  if (focused?.tagName === "SELECT") return;
  panels[state.panel].draw(panel, rows);
  if (focused?.dataset.key)
    [...panel.querySelectorAll("[data-key]")].find(one => one.dataset.key === focused.dataset.key)?.focus();
}

// What was chosen meanwhile is asked for once more.
async function load() {
  if (state.loading) { state.again = true; return; }
  state.loading = true;
  do {
    state.again = false;
    const begun = performance.now();
    try { await loadOnce(); }
    catch (failure) {
      if (!(failure instanceof Refusal)) { showTrouble("no connection to auger"); break; }
      // The class went with the split that it was of.
      if (state.chosen !== "" && failure.status === 400) { state.chosen = ""; state.again = true; }
      else showTrouble(failure.message);
    }
    state.restUntil = performance.now() + Math.max(shortestRest, restShare * (performance.now() - begun));
  } while (state.again);
  state.loading = false;
}

function onEvent(news) {
  state.news = news;
  state.summary = JSON.parse(news);
  document.body.dataset.connection = "live";
  showStatus();
  const isNew = state.news !== state.seen;
  if (isNew && !state.paused && !state.loading && performance.now() >= state.restUntil) load();
}

// A page that nobody sees holds no connection.
const untilVisible = () => new Promise(resolve => {
  if (!document.hidden) return resolve();
  document.addEventListener("visibilitychange", function seen() {
    if (document.hidden) return;
    document.removeEventListener("visibilitychange", seen);
    resolve();
  });
});
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

async function stayConnected() {
  for (;;) {
    await untilVisible();
    const leaving = new AbortController();
    const hide = () => { if (document.hidden) leaving.abort(); };
    document.addEventListener("visibilitychange", hide);
    try { await follow(onEvent, leaving.signal); }
    catch (failure) {
      if (failure instanceof Refusal) showTrouble(failure.message);
      if (failure.status === 401) { document.body.dataset.connection = "refused"; return; }
    }
    document.removeEventListener("visibilitychange", hide);
    if (leaving.signal.aborted) continue;
    document.body.dataset.connection = "lost";
    showTrouble("no connection to auger: it is tried again");
    await pause(2000);
  }
}

function openPanel(name) {
  state.panel = name;
  for (const tab of byId("tabs").children) tab.setAttribute("aria-selected", String(tab.dataset.panel === name));
  load();
}
function togglePause() {
  state.paused = !state.paused;
  byId("pause").setAttribute("aria-pressed", String(state.paused));
  if (!state.paused) load();
}

for (const [name, {title}] of Object.entries(panels)) {
  const tab = element("button", {attributes: {role: "tab", "aria-selected": String(name === state.panel)}}, title);
  tab.dataset.panel = name;
  tab.addEventListener("click", () => openPanel(name));
  byId("tabs").append(tab);
}
for (const path of ["/flame.html", "/debug/pprof/profile?seconds=10", "/metrics", "/status"]) {
  const secret = token ? `${path.includes("?") ? "&" : "?"}token=${encodeURIComponent(token)}` : "";
  byId("links").append(element("a", {attributes: {href: path + secret, rel: "noreferrer", target: "_blank"}}, path), " ");
}
byId("search").addEventListener("input", event => flame.search(event.target.value));
byId("reset").addEventListener("click", () => flame.reset());
byId("pause").addEventListener("click", togglePause);
byId("window").addEventListener("change", event => { state.window = event.target.value; load(); });
document.addEventListener("keydown", event => {
  const search = byId("search"), typing = document.activeElement === search;
  if (event.key === "Escape" && typing) search.blur();
  else if (event.key === "Escape") flame.reset();
  else if (event.key === "/" && !typing) search.focus();
  else if (event.key === " " && document.activeElement === document.body) togglePause();
  else return;
  event.preventDefault();
});
document.body.dataset.class = "all";
document.body.dataset.connection = "connecting";
load();
stayConnected();
