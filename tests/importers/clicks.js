// SPDX-License-Identifier: GPL-3.0-or-later
// Put behind the page's own script: uses it with mouse and keyboard, and writes down what it shows.
{
  const report = {};
  const canvas = document.getElementById("flame");
  const weight = () => view.weights[zoomed];
  const shown = () => boxes.filter(box => !box.outside).map(box => name(box.node));
  const clickFrame = wanted => {
    const box = boxes.find(box => name(box.node) === wanted && !box.outside);
    const place = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent("click", {
      bubbles: true, clientX: place.left + box.x + box.w / 2, clientY: place.top + box.y + 3}));
  };
  const clickButton = text =>
    [...document.querySelectorAll("button")].find(button => button.textContent === text).click();

  report.whole = weight();
  report.losses = document.getElementById("losses").textContent;
  clickFrame("handle");
  report.handle = weight();
  report.under = shown();
  document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
  report.back = weight();
  const search = document.getElementById("search");
  search.value = "scan|idle";
  search.dispatchEvent(new Event("input"));
  report.found = document.getElementById("found").textContent;
  for (const one of ["slow", "fast", "outside"]) {
    clickButton(one);
    report[one] = weight();
  }
  clickButton("difference");
  report.difference = document.getElementById("span").textContent;
  report.pressed = [...document.querySelectorAll("button[aria-pressed=true]")].map(b => b.textContent);
  // The canvas has been drawn on: not one colour alone.
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  for (let i = 0; i < pixels.length; i += 4 * 97) colours.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  report.colours = colours.size;
  document.body.innerHTML = "<pre id=report></pre>";
  document.getElementById("report").textContent = JSON.stringify(report);
}
