// SPDX-License-Identifier: GPL-3.0-or-later
// A canvas as sharp as the screen, and colours of the page's style.

export function prepare(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth;
  canvas.style.height = `${height}px`;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "12px ui-monospace, monospace";
  pen.textBaseline = "middle";
  return [pen, width];
}

export const colour = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
