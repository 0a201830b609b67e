// Where the boxes of a tree stand, with its root at the top or at the left, and what is drawn inside them.
const BETWEEN = 20, DROP = 54, BEND = 46, CURVE = { width: 150, height: 52, below: 14 };
// The boxes that are seen: parents before their sides.
function seenBelow(root) {
  const found = [], todo = root ? [root] : [];
  while (todo.length) {
    const here = todo.pop();
    found.push(here);
    if (!here.folded) todo.push(...[...here.sides].reverse());
  }
  return found;
}
// Each box gets x (its center) and y (its top). A box is measured before: width, height, conditionWidth.
function placeTree(root, sideways) {
  const own = (here) => sideways ? here.height : Math.max(here.width, here.conditionWidth);
  // Each subtree gets a strip of its own across the levels, so no boxes overlap.
  function across(here, start) {
    const sides = here.folded ? [] : here.sides, size = own(here);
    if (!sides.length) { here.middle = start + size / 2; return size; }
    let strip = 0;
    for (const side of sides) strip += across(side, start + strip + (strip ? BETWEEN : 0)) + (strip ? BETWEEN : 0);
    if (strip < size) {
      const more = (size - strip) / 2, move = (each) => { each.middle += more; if (!each.folded) each.sides.forEach(move); };
      sides.forEach(move);
    }
    const whole = Math.max(strip, size), between = (sides[0].middle + sides[sides.length - 1].middle) / 2;
    here.middle = Math.min(Math.max(between, start + size / 2), start + whole - size / 2);
    return whole;
  }
  const strip = across(root, BETWEEN), seen = seenBelow(root), largest = [], leads = [];
  for (const here of seen) {
    largest[here.depth] = Math.max(largest[here.depth] ?? 0, sideways ? here.width : here.height);
    leads[here.depth] = Math.max(leads[here.depth] ?? 0, sideways ? BEND + here.conditionWidth : DROP);
  }
  const starts = [BETWEEN];
  for (let level = 1; level < largest.length; level += 1) starts.push(starts[level - 1] + largest[level - 1] + leads[level]);
  for (const here of seen) {
    here.x = sideways ? starts[here.depth] + here.width / 2 : here.middle;
    here.y = sideways ? here.middle - here.height / 2 : starts[here.depth];
  }
  const along = Math.max(...seen.map((here) => starts[here.depth] + (sideways ? here.width : here.height))) + BETWEEN;
  return sideways ? { seen, width: along, height: strip + 2 * BETWEEN } : { seen, width: strip + 2 * BETWEEN, height: along };
}
// The edge from the parent of a box, and the middle and base line of its condition.
function edgeOf(here, sideways) {
  const { parent } = here;
  if (!sideways) {
    const top = parent.y + parent.height, middle = (top + here.y - 22) / 2;
    return { way: `M ${parent.x} ${top} C ${parent.x} ${middle} ${here.x} ${middle} ${here.x} ${here.y - 22} V ${here.y}`, x: here.x, y: here.y - 9 };
  }
  const start = parent.x + parent.width / 2, from = parent.y + parent.height / 2;
  const end = here.x - here.width / 2, to = here.y + here.height / 2;
  const line = end - here.conditionWidth - 8, middle = (start + line) / 2;
  return { way: `M ${start} ${from} C ${middle} ${from} ${middle} ${to} ${line} ${to} H ${end}`, x: end - 6 - here.conditionWidth / 2, y: to + 4 };
}
// The curve of Kaplan and Meier: the share that is left, from 1 at time 0, until the latest time of the tree.
function survivalCurve(points, latest, left, top, width) {
  const { height } = CURVE, made = drawn("g", { class: "survival" });
  made.append(drawn("rect", { x: left, y: top, width, height, class: "ground" }));
  let way = `M ${left} ${top}`;
  for (const [time, share] of points) way += ` H ${left + width * time / latest} V ${top + height * (1 - share)}`;
  made.append(drawn("path", { d: way, class: "left" }));
  for (const [text, x, anchor] of [["0", left, "start"], [readable(latest), left + width, "end"]]) {
    const label = drawn("text", { x, y: top + height + 11, "text-anchor": anchor });
    label.textContent = text;
    made.append(label);
  }
  return made;
}
// A chart of the rows at a node, which the writer of the page drew at 0, 0.
function chartAt(chart, left, top) {
  const made = drawn("g", { class: "chart", transform: `translate(${left} ${top})` });
  made.innerHTML = chart.drawing;
  made.prepend(drawn("rect", { x: -8, y: -6, width: chart.width + 16, height: chart.height + 8, rx: 3, class: "ground" }));
  return made;
}
