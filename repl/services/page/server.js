// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked of the endpoint, with the token that came with the page's URL. It is kept for this
// tab alone, and does not stay in the address, where it would be read, copied and remembered.

const kept = "auger token";

function takeToken() {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (given !== null) {
    sessionStorage.setItem(kept, given);
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  }
  return sessionStorage.getItem(kept);
}
export const token = takeToken();

export class Refusal extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function ask(path, signal) {
  const headers = token ? {Authorization: `Bearer ${token}`} : {};
  const answer = await fetch(path, {headers, signal, cache: "no-store", credentials: "omit", redirect: "error"});
  if (!answer.ok) throw new Refusal(answer.status, (await answer.text()).trim());
  return answer;
}

// "/flame", {class: "slow", window: ""} -> the object; what is empty is left out.
function address(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}
export async function object(path, parameters = {}) {
  return (await ask(address(path, parameters))).json();
}
// An object a line.
export async function objects(path, parameters = {}) {
  const text = await (await ask(address(path, parameters))).text();
  return text.split("\n").filter(Boolean).map(line => JSON.parse(line));
}

// The events, until the connection ends. An EventSource could not send the token.
export async function follow(onEvent, signal) {
  const answer = await ask("/events", signal);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  const mark = "data: ";
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const events = (rest + value).split("\n\n");
    rest = events.pop();
    for (const event of events)
      if (event.startsWith(mark)) onEvent(event.slice(mark.length));
  }
}
