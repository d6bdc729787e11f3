// SPDX-License-Identifier: GPL-3.0-or-later
// Run by speedscope's page as its local profile, behind a line `const files = {name: base64, ...};`.
// Has the page import each file, then export it by its own button, and writes down what came out:
// {name: document in speedscope's format, or null where the import failed}.
(async () => {
  const until = async condition => {
    for (let i = 0; i < 20000; i++) {
      const found = condition();
      if (found) return found;
      await new Promise(done => setTimeout(done, 10));
    }
    return null;
  };
  const exportButton = () =>
    [...document.querySelectorAll("div")].find(one => /^\W*Export$/.test(one.textContent));
  const report = {};
  let exported = null;
  URL.createObjectURL = blob => { exported = blob; return "#"; };
  for (const [name, base64] of Object.entries(files)) {
    const before = document.title;
    speedscope.loadFileFromBase64(name, base64);
    report[name] = null;
    if (!await until(() => document.title !== before && exportButton())) continue;
    exported = null;
    exportButton().click();
    if (await until(() => exported)) report[name] = JSON.parse(await exported.text());
  }
  document.body.innerHTML = "<pre id=report></pre>";
  document.getElementById("report").textContent = JSON.stringify(report);
})();
