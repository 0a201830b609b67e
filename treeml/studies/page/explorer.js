(() => {
  const content = JSON.parse(byId("content").textContent);
  const { measures, nodes, trees, tests, predictions, leaves, columns, colors, importance } = content;
  const count = trees.test.length;
  const many = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
  const fact = (name, text, kind) => element("span", { class: "fact" + (kind ? " " + kind : "") }, element("b", {}, name), text);

  byId("headline").append(fact("trees", content.count), fact(content.goal || "goal", `best ${readable(content.best)}`),
    fact("list", content.complete ? "complete" : "not complete", content.complete ? "good" : "bad"));
  if (content.shown_of) byId("headline").append(fact("on this page", content.shown_of));
  byId("statement").textContent = content.statement;
  byId("notes").append(...content.notes.map((note) => element("li", {}, note)));
  if (!count) return;
  for (const name of ["scatter", "trees", "columns"]) byId(name + "-section").hidden = false;

  // Values: a code per tree, and the value of every code; null where a measure is undefined

  const valueOf = (measure, tree) => measure.table[measure.codes[tree]];
  let across = 0, up = Math.min(1, measures.length - 1);
  let selection = new Uint8Array(count).fill(1);
  let chosen = Array.from({ length: count }, (_, tree) => tree); // the selected trees, in the order of the set
  let reference = 0, pinned = false, first = 0;
  let dots = [], frame = null, box = null, waiting = false;

  // Which columns a tree uses: one bit per column, from the leaves up, since sides come before their split

  const words = Math.max(1, Math.ceil(columns.length / 32));
  const used = new Int32Array(nodes.test.length * words), usedByTree = new Int32Array(count * words);
  function gatherColumns(part, into) {
    for (let place = 0; place < part.test.length; place += 1) {
      const test = part.test[place];
      if (test < 0) continue;
      for (let word = 0; word < words; word += 1) into[place * words + word] = used[part.yes[place] * words + word] | used[part.no[place] * words + word];
      const column = tests[test][0];
      into[place * words + (column >> 5)] |= 1 << (column & 31);
    }
  }
  gatherColumns(nodes, used);
  gatherColumns(trees, usedByTree);
  const uses = (tree, column) => (usedByTree[tree * words + (column >> 5)] >>> (column & 31)) & 1;

  // The scatter: trees with equal values are one dot

  const canvas = byId("dots"), pen = canvas.getContext("2d");
  const EDGE = { left: 62, right: 18, top: 18, bottom: 44 };
  function gatherDots() {
    const [x, y] = [measures[across], measures[up]];
    const found = new Map();
    let without = 0;
    for (let tree = 0; tree < count; tree += 1) {
      const [a, b] = [x.codes[tree], y.codes[tree]];
      if (x.table[a] === null || y.table[b] === null) { without += 1; continue; }
      const key = a * y.table.length + b;
      const dot = found.get(key);
      if (dot) dot.trees.push(tree); else found.set(key, { x: x.table[a], y: y.table[b], trees: [tree] });
    }
    dots = [...found.values()].sort((a, b) => b.trees.length - a.trees.length); // small dots are drawn last, on top
    byId("undefined").hidden = !without;
    byId("undefined").textContent = without ? `${many(without, "tree")} ${without === 1 ? "is" : "are"} not drawn, because one of the two measures is undefined there.` : "";
  }
  function reach(values) {
    let low = Infinity, high = -Infinity;
    for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
    if (low > high) return [0, 1];
    const room = high > low ? (high - low) * 0.05 : Math.max(1, Math.abs(low)) * 0.05;
    return [low - room, high + room];
  }
  function ticks(low, high, most) {
    const rough = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
    const found = [];
    for (let number = Math.ceil(low / step); number * step <= high && found.length < 50; number += 1) found.push(number * step);
    return found;
  }
  function fit() {
    const size = canvas.getBoundingClientRect(), density = window.devicePixelRatio || 1;
    const [width, height] = [Math.max(200, size.width), Math.max(160, size.height)];
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    pen.setTransform(density, 0, 0, density, 0, 0);
    const [left, right] = reach(dots.map((dot) => dot.x)), [low, high] = reach(dots.map((dot) => dot.y));
    frame = { width, height, left, right, low, high,
      x: (value) => EDGE.left + (value - left) / (right - left) * (width - EDGE.left - EDGE.right),
      y: (value) => height - EDGE.bottom - (value - low) / (high - low) * (height - EDGE.top - EDGE.bottom) };
  }
  const size = (trees) => Math.min(16, 3 + 1.4 * Math.log2(trees));
  function circle(dot, trees, color) {
    pen.fillStyle = color;
    pen.beginPath();
    pen.arc(frame.x(dot.x), frame.y(dot.y), size(trees), 0, 2 * Math.PI);
    pen.fill();
  }
  function drawAxes(style) {
    const { width, height, left, right, low, high } = frame;
    pen.font = "12px system-ui, sans-serif";
    pen.fillStyle = style.soft;
    pen.strokeStyle = style.line;
    pen.lineWidth = 1;
    pen.textAlign = "center";
    for (const value of ticks(left, right, width / 110)) {
      pen.beginPath(); pen.moveTo(frame.x(value), EDGE.top); pen.lineTo(frame.x(value), height - EDGE.bottom); pen.stroke();
      pen.fillText(readable(value), frame.x(value), height - EDGE.bottom + 16);
    }
    pen.fillText(measures[across].name, (EDGE.left + width - EDGE.right) / 2, height - 8, width - EDGE.left - EDGE.right);
    pen.textAlign = "right";
    for (const value of ticks(low, high, height / 60)) {
      pen.beginPath(); pen.moveTo(EDGE.left, frame.y(value)); pen.lineTo(width - EDGE.right, frame.y(value)); pen.stroke();
      pen.fillText(readable(value), EDGE.left - 6, frame.y(value) + 4);
    }
    pen.textAlign = "left";
    pen.fillText(measures[up].name, 8, 12, width - 20);
  }
  function draw() {
    const computed = getComputedStyle(document.documentElement);
    const style = Object.fromEntries(["soft", "line", "accent", "text"].map((name) => [name, computed.getPropertyValue("--" + name).trim()]));
    pen.clearRect(0, 0, frame.width, frame.height);
    drawAxes(style);
    for (const dot of dots) {
      let inside = 0;
      for (const tree of dot.trees) inside += selection[tree];
      pen.globalAlpha = 0.4;
      if (inside < dot.trees.length) circle(dot, dot.trees.length, style.soft);
      pen.globalAlpha = 0.75;
      if (inside) circle(dot, inside, style.accent);
    }
    pen.globalAlpha = 1;
    const [x, y] = [valueOf(measures[across], reference), valueOf(measures[up], reference)];
    if (x !== null && y !== null) {
      pen.strokeStyle = style.text;
      pen.lineWidth = 2;
      pen.beginPath(); pen.arc(frame.x(x), frame.y(y), 10, 0, 2 * Math.PI); pen.stroke();
    }
    if (box) {
      pen.strokeStyle = style.accent;
      pen.lineWidth = 1.5;
      pen.strokeRect(...corners(box));
    }
    canvas.setAttribute("aria-label", `${many(dots.length, "dot")}: ${measures[across].name} against ${measures[up].name}`);
  }
  const corners = ({ from, to }) => [Math.min(from[0], to[0]), Math.min(from[1], to[1]), Math.abs(from[0] - to[0]), Math.abs(from[1] - to[1])];

  // Selecting

  function select(isWanted, within) {
    const next = new Uint8Array(count);
    for (let tree = 0; tree < count; tree += 1) next[tree] = (!within || within[tree]) && isWanted(tree) ? 1 : 0;
    selection = next;
    chosen = [];
    for (let tree = 0; tree < count; tree += 1) if (next[tree]) chosen.push(tree);
    first = 0;
    if (!pinned && chosen.length) reference = chosen[0];
    later();
  }
  const within = () => byId("narrow").checked ? selection : null;
  function selectDots(wanted, base) {
    const next = new Uint8Array(count);
    for (const dot of wanted) for (const tree of dot.trees) next[tree] = 1;
    select((tree) => next[tree], base);
  }
  function selectAll() {
    for (const input of byId("ranges").querySelectorAll("input[type=number]")) input.value = "";
    pinned = false;
    select(() => true, null);
  }
  function fillRanges() {
    for (const [name, measure] of [["across", measures[across]], ["up", measures[up]]]) {
      const values = chosen.map((tree) => valueOf(measure, tree)).filter((value) => value !== null);
      const ends = chosen.length < count && values.length ? values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]) : ["", ""];
      byId(name + "-from").value = ends[0];
      byId(name + "-to").value = ends[1];
    }
  }
  function selectRanges() {
    const limit = (id, open) => byId(id).value === "" ? open : Number(byId(id).value);
    const sides = [["across", measures[across]], ["up", measures[up]]].map(([name, measure]) => {
      const [low, high] = [limit(name + "-from", -Infinity), limit(name + "-to", Infinity)];
      const isOpen = low === -Infinity && high === Infinity;
      return measure.table.map((value) => isOpen || (value !== null && low <= value && value <= high)); // once per value
    });
    select((tree) => sides[0][measures[across].codes[tree]] && sides[1][measures[up].codes[tree]], within());
  }
  function frontOf() {
    const sign = (measure) => measure.maximize ? -1 : 1;
    const [a, b] = [sign(measures[across]), sign(measures[up])];
    const ordered = [...dots].sort((one, other) => a * (one.x - other.x) || b * (one.y - other.y));
    let best = Infinity;
    return ordered.filter((dot) => { const isBetter = b * dot.y < best; if (isBetter) best = b * dot.y; return isBetter; });
  }
  function nearest([x, y]) {
    let found = null, least = 20;
    for (const dot of dots) {
      const distance = Math.hypot(frame.x(dot.x) - x, frame.y(dot.y) - y) - size(dot.trees.length) / 2;
      if (distance < least) { least = distance; found = dot; }
    }
    return found;
  }
  const at = (event) => { const area = canvas.getBoundingClientRect(); return [event.clientX - area.left, event.clientY - area.top]; };
  let base = null; // the selection within which a drag selects
  function brush() {
    const [left, top, width, height] = corners(box);
    selectDots(dots.filter((dot) => {
      const [x, y] = [frame.x(dot.x), frame.y(dot.y)];
      return left <= x && x <= left + width && top <= y && y <= top + height;
    }), base);
  }
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    base = within();
    box = { from: at(event), to: at(event) };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (box) {
      box.to = at(event);
      if (isDrag()) brush();
      return;
    }
    const dot = nearest(at(event));
    byId("near").textContent = dot ? `${measures[across].name} ${readable(dot.x)}, ${measures[up].name} ${readable(dot.y)}: ${many(dot.trees.length, "tree")}` : "";
  });
  const isDrag = () => Math.hypot(box.from[0] - box.to[0], box.from[1] - box.to[1]) > 4;
  canvas.addEventListener("pointerup", (event) => {
    if (!box) return;
    box.to = at(event);
    if (isDrag()) {
      brush();
    } else {
      const dot = nearest(box.from);
      if (dot) selectDots([dot], base);
    }
    box = null;
    fillRanges();
    later();
  });
  canvas.addEventListener("pointercancel", () => { box = null; later(); });
  canvas.addEventListener("pointerleave", () => { byId("near").textContent = ""; });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") { box = null; selectAll(); } });

  // Trees side by side. A node is compared with the node at the same place in the reference.

  const opened = (part, place) => part.test[place] < 0 ? { leaf: leaves[part.yes[place]] }
    : { test: part.test[place], yes: opened(nodes, part.yes[place]), no: opened(nodes, part.no[place]) };
  const textOf = (node) => node.leaf ? predictions[node.leaf[0]].text : tests[node.test][1];
  function isolate(node) {
    node.inside = true;
    if (!node.leaf) { isolate(node.yes); isolate(node.no); }
  }
  // Marks what differs and returns the number of places. Two tests of one column differ in their values only, so
  // their sides are still compared; under a test of another column everything is new.
  function mark(node, other) {
    if (node.leaf && other.leaf) {
      if (node.leaf[0] === other.leaf[0]) return 0;
      node.instead = textOf(other);
      return 1;
    }
    if (node.leaf || other.leaf || tests[node.test][0] !== tests[other.test][0]) {
      node.instead = textOf(other);
      if (!node.leaf) { isolate(node.yes); isolate(node.no); }
      return 1;
    }
    let places = 0;
    if (node.test !== other.test) { node.instead = textOf(other); places = 1; }
    return places + mark(node.yes, other.yes) + mark(node.no, other.no);
  }
  const range = predictions.reduce(([low, high], each) => [Math.min(low, each.number ?? Infinity), Math.max(high, each.number ?? -Infinity)], [Infinity, -Infinity]);
  function color(prediction) {
    if (prediction.label >= 0) return colors[prediction.label % colors.length];
    if (prediction.number === null) return colors[colors.length - 1];
    const share = range[0] === range[1] ? 0.5 : (prediction.number - range[0]) / (range[1] - range[0]);
    return `rgb(${[[0xf4, 0x7a], [0xf9, 0xb8], [0xfd, 0xde]].map(([pale, full]) => Math.round(pale + share * (full - pale))).join(",")})`;
  }
  function nested(node, answer) {
    const state = node.instead !== undefined ? "changed" : node.inside ? "inside" : undefined;
    const line = element("span", { class: state, title: node.instead === undefined ? undefined : `instead of: ${node.instead}` });
    const item = element("li", {}, ...(answer ? [element("span", { class: "lead", role: "img", "aria-label": answer === "✓" ? "if so:" : "if not:" }, answer + " ")] : []), line);
    if (node.leaf) {
      const [prediction, rows, counts] = node.leaf;
      const says = element("span", { class: "says" }, predictions[prediction].text);
      says.style.background = color(predictions[prediction]);
      line.append(says);
      item.append(element("small", {}, ` ${many(rows, "row")}${counts.length ? ": " + counts.map((each) => each.toLocaleString("en")).join(" / ") : ""}`));
    } else {
      line.append(textOf(node) + "?");
      item.append(element("ul", {}, nested(node.yes, "✓"), nested(node.no, "✗")));
    }
    if (node.instead !== undefined) line.append(element("small", {}, ` instead of ${node.instead}`));
    return item;
  }
  function valueItem(measure, tree) {
    const [own, other] = [valueOf(measure, tree), valueOf(measure, reference)];
    const more = own === null || other === null ? "" : own - other;
    const text = `${measure.name} ${own === null ? "undefined" : readable(own)}`;
    return own === other ? element("li", {}, text) : element("li", { class: "other" }, text + (more === "" ? "" : ` (${more > 0 ? "+" : ""}${readable(more)})`));
  }
  function card(tree) {
    const root = opened(trees, tree);
    const places = tree === reference ? 0 : mark(root, opened(trees, reference));
    const made = element("article", { class: "card" + (tree === reference ? " reference" : ""), "data-tree": tree, "data-places": places },
      element("h3", {}, `tree ${tree}`), element("ul", { class: "values" }, ...measures.map((measure) => valueItem(measure, tree))));
    if (tree === reference) {
      made.append(element("p", { class: "hint" }, "the others are compared with this tree"));
    } else {
      const button = element("button", { type: "button" }, "Compare with this");
      button.addEventListener("click", () => { reference = tree; pinned = true; later(); });
      made.append(element("p", { class: "hint" }, `differs in ${many(places, "place")} `, button));
    }
    made.append(element("div", { class: "nested" }, element("ul", {}, nested(root, ""))));
    return made;
  }
  let shownCards = null;
  const atOnce = () => Number(byId("at-once").value);
  function showCards() {
    const others = chosen.filter((tree) => tree !== reference), room = atOnce() - 1;
    const now = others.slice(first, first + room);
    const wanted = chosen.length ? [reference, ...now] : [];
    if (wanted.join() !== shownCards) byId("cards").replaceChildren(...wanted.map(card)); // a drag rarely changes them
    shownCards = wanted.join();
    byId("earlier").disabled = first === 0;
    byId("later").disabled = first + room >= others.length;
    byId("which").textContent = others.length && now.length ? `${(first + 1).toLocaleString("en")} to ${(first + now.length).toLocaleString("en")} of ${many(others.length, "other tree")}` : "";
    byId("compared").textContent = chosen.length ? `Marked (\u2260): what differs from tree ${reference} at the same place. Numbers count from 0, as in trees[${reference}].` : "Nothing is selected.";
  }

  // The columns

  const listed = importance.filter((column) => column.share > 0);
  const hasReliance = listed.some((column) => column.least !== null);
  const cells = listed.map((column) => {
    const bar = element("span", { class: "bar chosen" }), text = element("span");
    const whole = element("span", { class: "bar" });
    whole.style.width = `${90 * column.share}px`;
    const buttons = ["with", "without"].map((word) => {
      const button = element("button", { type: "button", "aria-label": `select the trees ${word} ${column.name}` }, word);
      button.addEventListener("click", () => { select((tree) => Boolean(uses(tree, column.number)) === (word === "with"), within()); fillRanges(); });
      return button;
    });
    const row = element("tr", { "data-column": column.name }, element("td", { class: "name" }, column.name), element("td", {}, whole, percent(Math.round(column.share * count), count)), element("td", {}, bar, text),
      ...(hasReliance ? ["least", "most"] : []).map((end) => element("td", { class: "number" }, readable(column[end]))), element("td", {}, buttons[0], " ", buttons[1]));
    return { column, bar, text, row };
  });
  byId("columns").append(element("table", {}, element("thead", {}, element("tr", {}, ...["column", "used by", "of the selection", ...(hasReliance ? ["least reliance", "most reliance"] : []), "select trees"].map((word) => element("th", {}, word)))),
    element("tbody", {}, ...cells.map((cell) => cell.row))));
  byId("columns-hint").textContent = "The share of the trees that use a column." + (hasReliance ? " Reliance: by how much the cost of the predictions grows on average if every row gets the column's value of a row drawn at random; the least and the most over the trees." : "");
  const idle = importance.filter((column) => !column.share).map((column) => column.name);
  byId("unused").hidden = !idle.length;
  byId("unused").textContent = idle.length ? `Used by no tree: ${idle.join(", ")}` : "";
  function showColumns() {
    const totals = new Int32Array(32 * words);
    for (const tree of chosen) {
      for (let word = 0; word < words; word += 1) {
        for (let bits = usedByTree[tree * words + word]; bits; bits &= bits - 1) totals[32 * word + 31 - Math.clz32(bits & -bits)] += 1;
      }
    }
    for (const { column, bar, text } of cells) {
      bar.style.width = `${chosen.length ? 90 * totals[column.number] / chosen.length : 0}px`;
      text.textContent = chosen.length ? percent(totals[column.number], chosen.length) : "";
    }
  }

  // Everything follows the selection, once per frame

  function render() {
    waiting = false;
    draw();
    byId("selected").textContent = `${chosen.length.toLocaleString("en")} of ${many(count, "tree")} selected`;
    showCards();
    showColumns();
  }
  function later() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(render);
  }
  function newAxes() {
    byId("across-name").textContent = measures[across].name;
    byId("up-name").textContent = measures[up].name;
    gatherDots();
    fit();
    fillRanges();
    later();
  }
  for (const [name, start, use] of [["across", across, (place) => { across = place; }], ["up", up, (place) => { up = place; }]]) {
    byId(name).append(...measures.map((measure, place) => element("option", { value: place }, measure.name)));
    byId(name).value = String(start);
    byId(name).addEventListener("change", () => { use(Number(byId(name).value)); newAxes(); });
  }
  if (content.classes.length) {
    byId("legend").append(...content.classes.map((label, place) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = colors[place % colors.length];
      return element("span", {}, swatch, label);
    }));
  }
  byId("ranges").addEventListener("submit", (event) => { event.preventDefault(); selectRanges(); });
  byId("front").addEventListener("click", () => { selectDots(frontOf(), within()); fillRanges(); });
  byId("all").addEventListener("click", selectAll);
  byId("earlier").addEventListener("click", () => { first = Math.max(0, first - atOnce() + 1); later(); });
  byId("later").addEventListener("click", () => { first += atOnce() - 1; later(); });
  byId("at-once").addEventListener("change", () => { first = 0; later(); });
  const again = () => { fit(); draw(); };
  new ResizeObserver(again).observe(canvas);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", again);
  newAxes();
  render();
})();
