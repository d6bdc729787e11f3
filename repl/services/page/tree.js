// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of `flame` as a tree, with what each class has of every frame.

export const classes = ["slow", "fast", "open", "outside"];

function node(name, parent) {
  return {name, parent, children: new Map(), weights: [0, 0, 0, 0], samples: [0, 0, 0, 0]};
}

function add(to, index, stack) {
  to.weights[index] += stack.weight;
  to.samples[index] += stack.samples;
}

export function treeOf(flame) {
  const root = node("all", null);
  for (const stack of flame.stacks) {
    const index = classes.indexOf(stack.class);
    let at = root;
    add(at, index, stack);
    for (const name of stack.stack) {
      let child = at.children.get(name);
      if (!child) at.children.set(name, child = node(name, at));
      at = child;
      add(at, index, stack);
    }
  }
  // By name, so that frames stay where they are while samples come.
  const open = [root];
  while (open.length) {
    const one = open.pop();
    one.children = new Map([...one.children].sort(([a], [b]) => a < b ? -1 : 1));
    open.push(...one.children.values());
  }
  return root;
}

// A frame is the same one in the next tree if the names that lead to it are.
export function pathOf(one) {
  const names = [];
  for (; one.parent; one = one.parent) names.unshift(one.name);
  return names;
}
export function nodeAt(root, names) {
  let at = root;
  for (const name of names) at = at?.children.get(name);
  return at ?? null;
}

// What of a list of four, by class, is shown: of one class, or of all together.
export function part(sums, shown) {
  const index = classes.indexOf(shown);
  return index < 0 ? sums[0] + sums[1] + sums[2] + sums[3] : sums[index];
}
