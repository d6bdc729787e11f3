// SPDX-License-Identifier: GPL-3.0-or-later
// The flame graph: root at the top, width is time. A frame's colour is its module's; the edge below
// it shows which classes its time is of.
import {classes, nodeAt, part, pathOf, treeOf} from "./tree.js";
import {colour, prepare} from "./pen.js";
import {count, duration, percent} from "./text.js";

const row = 20, edge = 3;
const fills = ["#d7af87", "#87afd7", "#d7d7af", "#af87af", "#5fafaf", "#d78787"];
const label = "#c6c6c6", match = "#ffff5f";

// Slow against fast ones: the width is slow calls', the colour says of which the share is larger.
export const difference = "difference";

export class Flame {
  constructor(canvas, onChange) {
    this.canvas = canvas;
    this.onChange = onChange;
    this.root = treeOf({stacks: []});
    this.modules = new Map();
    this.shown = "";       // class: all
    this.split = false;
    this.zoomed = this.root;
    this.marked = null;    // by mouse or keys
    this.pattern = null;
    this.boxes = [];
    canvas.addEventListener("click", event => this.zoom(this.nodeUnder(event)));
    canvas.addEventListener("mousemove", event => this.mark(this.nodeUnder(event)));
    canvas.addEventListener("mouseleave", () => this.mark(null));
    canvas.addEventListener("keydown", event => this.key(event));
    new ResizeObserver(() => { if (canvas.clientWidth !== this.width) this.draw(); }).observe(canvas);
  }

  show(flame) {
    this.root = treeOf(flame);
    this.split = flame.split !== null;
    this.modules = new Map();
    for (const {function: name, module} of flame.functions) {
      const known = this.modules.get(name);
      this.modules.set(name, known && known !== module ? `${known}, ${module}` : module);
    }
    this.zoomed = nodeAt(this.root, pathOf(this.zoomed)) ?? this.root;
    this.marked = this.marked && nodeAt(this.root, pathOf(this.marked));
    this.draw();
  }
  choose(shown) {
    this.shown = shown;
    if (!this.weight(this.zoomed)) this.zoomed = this.root;
    this.draw();
  }
  zoom(node) {
    if (!node) return;
    this.zoomed = node;
    this.draw();
  }
  reset() { this.zoom(this.root); }
  search(text) {
    try { this.pattern = text ? new RegExp(text, "i") : null; }
    catch { this.pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"); }
    this.draw();
  }

  get widths() { return this.shown === difference ? "slow" : this.shown; }
  weight(node) { return part(node.weights, this.widths); }
  share(node, shown = this.widths) {
    const whole = part(this.root.weights, shown);
    return whole > 0 ? part(node.weights, shown) / whole : 0;
  }
  // Of what is shown: time in frames that match, each once.
  found() {
    if (!this.pattern) return null;
    let sum = 0;
    const open = [this.zoomed];
    while (open.length) {
      const node = open.pop();
      if (this.matches(node)) sum += this.weight(node);
      else open.push(...node.children.values());
    }
    return sum / (this.weight(this.zoomed) || 1);
  }
  matches(node) { return this.pattern !== null && node.parent !== null && this.pattern.test(node.name); }

  details() {
    const node = this.marked ?? this.zoomed;
    const parts = [node.name, `${count(part(node.samples, this.widths))} samples`, duration(this.weight(node)),
                   `${percent(this.share(node))} of ${this.widths || "all"}`];
    if (this.shown === difference) parts.push(`${percent(this.share(node, "fast"))} of fast`);
    else if (this.split && !this.shown)
      classes.forEach((one, i) => { if (node.weights[i]) parts.push(`${one} ${duration(node.weights[i])}`); });
    if (this.modules.has(node.name)) parts.push(this.modules.get(node.name));
    return parts.join(" \u00b7 ");
  }

  mark(node) {
    if (node === this.marked) return;
    this.marked = node;
    this.canvas.title = node ? node.name : "";
    this.onChange();
  }
  key(event) {
    const node = this.marked ?? this.zoomed;
    const shown = one => [...one.children.values()].filter(child => this.weight(child) > 0);
    const beside = step => {
      const row = node.parent ? shown(node.parent) : [node];
      return row[row.indexOf(node) + step] ?? node;
    };
    const widest = () => shown(node).sort((a, b) => this.weight(b) - this.weight(a))[0] ?? node;
    const moves = {ArrowUp: () => node.parent ?? node, ArrowDown: widest,
                   ArrowLeft: () => beside(-1), ArrowRight: () => beside(1)};
    if (event.key in moves) this.mark(moves[event.key]());
    else if (event.key === "Enter") this.zoom(node);
    else return;
    event.preventDefault();
    this.draw();
  }
  nodeUnder(event) {
    const place = this.canvas.getBoundingClientRect();
    const x = event.clientX - place.left, y = event.clientY - place.top;
    return this.boxes.find(box => x >= box.x && x < box.x + box.w && y >= box.y && y < box.y + row)?.node ?? null;
  }

  // What is narrower than a third of a pixel is left out.
  layout(width) {
    const outside = [];
    for (let node = this.zoomed.parent; node; node = node.parent) outside.unshift(node);
    this.boxes = outside.map((node, depth) => ({node, x: 0, y: depth * row, w: width, outside: true}));
    const scale = width / (this.weight(this.zoomed) || 1);
    const open = [[this.zoomed, 0, outside.length]];
    while (open.length) {
      const [node, x, depth] = open.pop();
      const w = this.weight(node) * scale;
      if (w < 0.34) continue;
      this.boxes.push({node, x, y: depth * row, w, outside: false});
      let at = x;
      for (const child of node.children.values()) {
        open.push([child, at, depth + 1]);
        at += this.weight(child) * scale;
      }
    }
    return this.boxes.reduce((deepest, box) => Math.max(deepest, box.y + row), row);
  }
  fill(node) {
    if (this.matches(node)) return match;
    if (this.shown === difference) {
      const more = this.share(node, "slow") - this.share(node, "fast");
      const strength = Math.min(1, Math.sqrt(Math.abs(more)) * 1.4);
      return `hsl(${more > 0 ? 24 : 210} ${Math.round(15 + 75 * strength)}% ${Math.round(86 - 26 * strength)}%)`;
    }
    const module = this.modules.get(node.name);
    if (module === undefined || !node.parent) return label;
    let hash = 0;
    for (const one of module) hash = Math.imul(hash, 31) + one.codePointAt(0) | 0;
    return fills[(hash >>> 0) % fills.length];
  }
  draw() {
    this.width = this.canvas.clientWidth;
    const [pen] = prepare(this.canvas, this.layout(this.width));
    const letter = pen.measureText("m").width;
    const edges = this.split && !this.shown ? classes.map(colour) : null;
    for (const box of this.boxes) {
      const w = Math.max(box.w - (box.w > 3 ? 1 : 0), 0.34);
      pen.globalAlpha = box.outside ? 0.55 : 1;
      pen.fillStyle = this.fill(box.node);
      pen.fillRect(box.x, box.y, w, row - 1);
      if (edges) this.drawEdge(pen, box, w, edges);
      if (box.node === this.marked) {
        pen.strokeStyle = colour("accent");
        pen.lineWidth = 2;
        pen.strokeRect(box.x + 1, box.y + 1, Math.max(w - 2, 1), row - 3);
      }
      const room = Math.floor((box.w - 8) / letter);
      if (room < 3) continue;
      const name = box.node.name;
      pen.fillStyle = "#111";
      pen.fillText(name.length <= room ? name : `${name.slice(0, room - 1)}\u2026`, box.x + 4, box.y + row / 2 - 1);
    }
    pen.globalAlpha = 1;
    this.onChange();
  }
  drawEdge(pen, box, width, edges) {
    const whole = part(box.node.weights, "");
    let x = box.x;
    edges.forEach((fill, i) => {
      const w = whole > 0 ? width * box.node.weights[i] / whole : 0;
      pen.fillStyle = fill;
      pen.fillRect(x, box.y + row - 1 - edge, w, edge);
      x += w;
    });
  }
}
