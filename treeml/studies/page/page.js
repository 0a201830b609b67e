(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const { result, about, records, colors, tints } = content;
  const forest = result && result.forest ? result.forest : null;
  let tree = result && (forest ? forest.trees[0] : result.tree);
  const show = (id) => { byId(id + "-section").hidden = false; };

  // Values as text

  const list = (value) => (Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]).map(readable).join(", ");
  const seconds = (value) => value === null || value === undefined ? "" : value.toFixed(3);
  // A share of the objective, or the difference from the bound where that is larger than the objective.
  function gapText(each) {
    if (typeof each.gap !== "number") return "";
    if (each.gap <= 1) return (100 * each.gap).toFixed(2) + " %";
    const plain = typeof each.objective === "number" && typeof each.bound === "number";
    return plain ? "by " + number(Number(Math.abs(each.objective - each.bound).toPrecision(6))) : "over 100 %";
  }
  function labelText(label) {
    if (label !== null && typeof label === "object") return label.date || label.datetime.replace("T", " ");
    return label === null ? "None" : String(label);
  }
  const number = (value) => Number.isInteger(value) ? String(value) : Number(value.toPrecision(6)) === value ? String(Number(value.toPrecision(6))) : String(Number(value.toPrecision(10)));
  function testText(test, answer = true) {
    const values = (test.values || []).map((value) => typeof value === "number" ? number(value) : labelText(value));
    const missing = test.missing_yes ? " or is missing" : "";
    const field = fields[test.column];
    const mayMiss = field && field.missing && field.fill === undefined;
    if (test.kind === "missing") return `${test.column} is ${answer ? "" : "not "}missing`;
    if (test.kind === "at most") return answer ? `${test.column} <= ${values[0]}${missing}` : `${test.column} > ${values[0]}${mayMiss && !test.missing_yes ? " or is missing" : ""}`;
    const verb = test.kind === "among" ? "is among" : "is";
    return answer ? `${test.column} ${verb} ${values.join(", ")}${missing}` : `${test.column} ${verb.replace("is", "is not")} ${values.join(", ")}`;
  }
  const predictionText = (leaf) => Array.isArray(leaf.predict)
    ? leaf.predict.map((value, place) => `${tree.outputs[place]} ${readable(value)}`).join(", ")
    : typeof leaf.predict === "number" && tree.task !== "classes" ? readable(leaf.predict) : labelText(leaf.predict);

  // The tree: every node with its position, rows and class counts

  const fields = {};
  const nodes = [];
  function gather(node, parent, answer, depth) {
    const here = { node, parent, answer, depth, number: nodes.length, folded: false, isLeaf: !node.test };
    nodes.push(here);
    if (here.isLeaf) {
      here.rows = node.rows || 0;
      here.counts = node.counts || [];
      here.sides = [];
    } else {
      here.sides = [gather(node.yes, here, "yes", depth + 1), gather(node.no, here, "no", depth + 1)];
      here.rows = here.sides[0].rows + here.sides[1].rows;
      here.counts = here.sides[0].counts.map((count, place) => count + here.sides[1].counts[place]);
    }
    return here;
  }
  let root = null;
  let reached = new Set();
  function use(chosen) {
    tree = chosen;
    nodes.length = 0;
    reached = new Set();
    root = gather(tree.root, null, "", 0);
  }
  if (tree) {
    for (const each of forest ? forest.trees : [tree]) for (const field of each.columns) fields[field.name] ??= field;
    use(tree);
  }
  const columns = Object.values(fields);
  const titleOf = (here) => here.isLeaf ? predictionText(here.node) : testText(here.node.test);
  function facts(here) {
    const words = `${here.rows.toLocaleString("en")} ${here.rows === 1 ? "row" : "rows"}` + (here.parent && root.rows ? ` (${percent(here.rows, root.rows)} of all)` : "");
    if (!here.counts.length || !here.rows) return words;
    const order = here.counts.map((count, place) => [count, place]).filter(([count]) => count).sort((a, b) => b[0] - a[0]);
    return `${words}: ${order.map(([count, place]) => `${labelText(tree.classes[place])} ${count.toLocaleString("en")} (${percent(count, here.rows)})`).join(", ")}`;
  }
  function color(here) {
    if (tree.task === "classes") {
      const label = JSON.stringify(here.node.predict);
      return tints[tree.classes.findIndex((each) => JSON.stringify(each) === label) % tints.length];
    }
    const leaves = nodes.filter((each) => each.isLeaf);
    if (tree.task === "clusters") return tints[leaves.indexOf(here) % tints.length];
    const values = leaves.map((each) => each.node.predict);
    const low = Math.min(...values), high = Math.max(...values);
    const share = high === low ? 0.5 : (here.node.predict - low) / (high - low);
    return `rgb(${[0x9e, 0xca, 0xe9].map((full) => Math.round(255 - share * (255 - full))).join(",")})`;
  }

  const WIDE = 7.2, GAP = 20, HIGH = 92;
  const short = (text, most) => text.length <= most ? text : text.slice(0, most - 1) + "…";
  function lines(here) {
    if (!here.isLeaf) return [short(titleOf(here), 44), ...(here.folded ? [`${here.rows.toLocaleString("en")} rows folded`] : [])];
    return [short(titleOf(here), 30), `${here.rows.toLocaleString("en")} ${here.rows === 1 ? "row" : "rows"}`];
  }
  function visible() {
    const found = [], todo = root ? [root] : [];
    while (todo.length) {
      const here = todo.pop();
      found.push(here);
      if (!here.folded) todo.push(...[...here.sides].reverse());
    }
    return found;
  }
  function place(here, left) {
    here.lines = lines(here);
    here.width = Math.max(70, Math.max(...here.lines.map((line) => line.length)) * WIDE + 22);
    here.height = 18 * here.lines.length + 14 + (here.isLeaf && here.counts.length ? 10 : 0);
    here.y = GAP + here.depth * HIGH;
    const sides = here.folded ? [] : here.sides;
    if (!sides.length) { here.x = left + here.width / 2; return here.width; }
    const first = place(sides[0], left), second = place(sides[1], left + first + GAP);
    const strip = first + GAP + second;
    if (strip < here.width) {
      const more = (here.width - strip) / 2;
      const move = (each) => { each.x += more; if (!each.folded) each.sides.forEach(move); };
      sides.forEach(move);
    }
    const whole = Math.max(strip, here.width);
    here.x = Math.min(Math.max((sides[0].x + sides[1].x) / 2, left + here.width / 2), left + whole - here.width / 2);
    return whole;
  }
  function render(focus) {
    if (!root) return;
    const width = place(root, GAP) + 2 * GAP;
    const seen = visible();
    const height = Math.max(...seen.map((here) => here.y + here.height)) + GAP;
    const picture = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "tree", "aria-label": "decision tree" });
    for (const here of seen) {
      if (!here.parent) continue;
      const top = here.parent.y + here.parent.height, middle = (top + here.y) / 2;
      const on = reached.has(here.number) ? " on" : "";
      picture.append(drawn("path", { class: "edge" + on, d: `M ${here.parent.x} ${top} C ${here.parent.x} ${middle} ${here.x} ${middle} ${here.x} ${here.y}` }));
      const word = drawn("text", { class: "answer", x: here.x + (here.answer === "yes" ? -8 : 8), y: here.y - 7, "text-anchor": here.answer === "yes" ? "end" : "start" });
      word.textContent = here.answer;
      picture.append(word);
    }
    for (const here of seen) picture.append(box(here));
    byId("picture").replaceChildren(picture);
    // A tree that is slightly too wide is scaled down; a much wider one scrolls, so that it stays readable.
    const room = byId("picture").clientWidth;
    const scale = room ? Math.max(0.6, Math.min(1, room / width)) : 1;
    picture.setAttribute("width", width * scale);
    picture.setAttribute("height", height * scale);
    byId("outline").replaceChildren(element("ul", {}, outlined(root)));
    if (focus !== undefined) document.querySelector(`${focus.where} [data-node="${focus.number}"]`)?.focus();
  }
  function box(here) {
    const attributes = { class: "node" + (reached.has(here.number) ? " on" : ""), tabindex: here.parent ? -1 : 0, role: "treeitem", "data-node": here.number, "aria-label": `${here.answer ? here.answer + ": " : ""}${titleOf(here)}. ${facts(here)}`, "aria-level": here.depth + 1 };
    if (!here.isLeaf) attributes["aria-expanded"] = String(!here.folded);
    const group = drawn("g", attributes);
    const left = here.x - here.width / 2;
    const hover = drawn("title");
    hover.textContent = `${titleOf(here)}\n${facts(here)}`;
    const frame = drawn("rect", { class: "frame" + (here.isLeaf ? "" : " question"), x: left, y: here.y, width: here.width, height: here.height, rx: here.isLeaf ? 4 : 14 });
    if (here.isLeaf) frame.setAttribute("fill", color(here));
    group.append(hover, frame);
    here.lines.forEach((line, place) => {
      const text = drawn("text", { class: here.isLeaf ? "says" : "asks", x: here.x, y: here.y + 21 + 18 * place, "text-anchor": "middle", "font-weight": here.isLeaf && !place ? 700 : 400 });
      text.textContent = line;
      group.append(text);
    });
    if (here.isLeaf && here.counts.length && here.rows) {
      let start = left + 8;
      here.counts.forEach((count, place) => {
        const part = (here.width - 16) * count / here.rows;
        if (part) group.append(drawn("rect", { x: start, y: here.y + here.height - 14, width: part, height: 7, fill: colors[place % colors.length] }));
        start += part;
      });
    }
    return group;
  }
  function outlined(here) {
    const item = element("li");
    if (here.answer) item.append(element("span", { class: "lead" }, here.answer === "yes" ? "yes: " : "no: "));
    const button = element("button", { type: "button", "data-node": here.number, class: `item${here.isLeaf ? " leaf" : ""}${reached.has(here.number) ? " on" : ""}`, "aria-expanded": here.isLeaf ? undefined : String(!here.folded) },
      titleOf(here) + (here.isLeaf ? "" : "?"), element("small", {}, facts(here)));
    if (here.isLeaf) button.style.background = color(here);
    item.append(button);
    if (here.sides.length && !here.folded) item.append(element("ul", {}, ...here.sides.map(outlined)));
    return item;
  }
  const nodeAt = (event) => { const found = event.target.closest("[data-node]"); return found ? nodes[Number(found.dataset.node)] : null; };
  function tell(here) { byId("details").textContent = here ? `${titleOf(here)}${here.isLeaf ? "" : "?"} ${facts(here)}` : ""; }
  function toggle(here, where) {
    if (!here.isLeaf) here.folded = !here.folded;
    render({ where, number: here.number });
    tell(here);
  }
  function moved(here, key) {
    if (key === "ArrowDown") return here.folded || here.isLeaf ? null : here.sides[0];
    if (key === "ArrowUp") return here.parent;
    const level = visible().filter((each) => each.depth === here.depth).sort((a, b) => a.x - b.x);
    const at = level.indexOf(here);
    return key === "ArrowRight" ? level[at + 1] : key === "ArrowLeft" ? level[at - 1] : null;
  }
  // A forest: one of its trees is drawn, and all of them vote. Weights are fractions, and votes are counted exactly.

  function gcd(a, b) { return b ? gcd(b, a % b) : a; }
  function wholeWeights(texts) {
    const parts = texts.map((text) => text.split("/").map(BigInt));
    const scale = parts.reduce((so_far, [, below = 1n]) => so_far * below / gcd(so_far, below), 1n);
    return parts.map(([above, below = 1n]) => above * scale / below);
  }
  const weights = forest ? wholeWeights(forest.weights) : [];
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  const share = (part) => Number(part * 10000000n / total) / 10000000;
  function chooseTree() {
    const choice = element("select", { id: "which" }, ...forest.trees.map((_, place) =>
      element("option", { value: place }, `tree ${place + 1} of ${forest.trees.length}: ${readable(Number((100 * share(weights[place])).toPrecision(3)))} % of the votes`)));
    choice.addEventListener("change", () => { use(forest.trees[Number(choice.value)]); typed(); });
    byId("which-tree").append(element("label", { for: "which" }, "Tree shown"), choice);
    byId("which-tree").hidden = false;
    document.getElementById("tree").textContent = `The forest: ${forest.trees.length} ${forest.trees.length === 1 ? "tree" : "trees"}`;
  }
  function votesOf(values) {
    const votes = tree.classes.map(() => 0n);
    const names = tree.classes.map(labelText);
    forest.trees.forEach((each, place) => {
      let node = each.root;
      while (node.test) node = answers(node.test, values[node.test.column]) ? node.yes : node.no;
      votes[names.indexOf(labelText(node.predict))] += weights[place];
    });
    return votes;
  }
  function elected(votes) {
    let best = 0;
    votes.forEach((vote, place) => { if (vote > votes[best]) best = place; });
    return best;
  }

  if (root) {
    for (const where of ["#picture", "#outline"]) {
      const area = document.querySelector(where);
      area.addEventListener("click", (event) => { const here = nodeAt(event); if (here) toggle(here, where); });
      area.addEventListener("mouseover", (event) => { const here = nodeAt(event); if (here) tell(here); });
      area.addEventListener("focusin", (event) => { const here = nodeAt(event); if (here) tell(here); });
    }
    byId("picture").addEventListener("keydown", (event) => {
      const here = nodeAt(event);
      if (!here) return;
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); toggle(here, "#picture"); return; }
      if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
      const next = moved(here, event.key);
      if (next) document.querySelector(`#picture [data-node="${next.number}"]`).focus();
    });
    byId("unfold").addEventListener("click", () => { nodes.forEach((here) => { here.folded = false; }); render(); });
    byId("fold").addEventListener("click", () => { nodes.forEach((here) => { here.folded = !here.isLeaf && here.depth >= 2; }); render(); });
    if (tree.task === "classes") {
      byId("legend").append(...tree.classes.map((label, place) => {
        const swatch = element("span", { class: "swatch" });
        swatch.style.background = colors[place % colors.length];
        return element("span", {}, swatch, labelText(label));
      }));
    }
    if (forest) chooseTree();
    show("tree"); // before rendering, because the picture is fitted to the available width
    render();
  }

  // A row typed by the reader: the same predictions as Tree.predict

  const MISSING = Symbol("missing");
  function read(field, text) {
    let value = text.trim() === "" ? MISSING : text.trim();
    if (value === MISSING && field.fill !== undefined) value = field.levels ? labelText(field.fill) : field.fill;
    if (value === MISSING) {
      if (!field.missing) throw new Error(`${field.name} is missing; the training data had no missing values there, so the tree does not know where such a row goes`);
      return value;
    }
    if (field.levels) return value;
    const found = Number(value);
    if (Number.isNaN(found)) throw new Error(`${field.name} is not a number: ${value}`);
    return found;
  }
  function codeOf(field, text) {
    const known = field.levels.map(labelText);
    let code = known.indexOf(text);
    if (code < 0 && known.every((each) => ["0", "1", "false", "true"].includes(each))) {
      code = known.indexOf({ 0: "false", 1: "true", false: "0", true: "1" }[text] ?? "");
    }
    return code;
  }
  function answers(test, value) {
    if (test.kind === "missing") return value === MISSING;
    if (value === MISSING) return Boolean(test.missing_yes);
    const field = fields[test.column];
    if (!field.levels) return test.kind === "at most" ? value <= test.values[0] : test.values.includes(value);
    const code = codeOf(field, value);
    if (code < 0) return false;
    if (test.kind !== "at most") return test.values.some((level) => codeOf(field, labelText(level)) === code);
    const last = codeOf(field, labelText(test.values[0]));
    return last >= 0 ? code <= last : Number(labelText(field.levels[code])) <= test.values[0];
  }
  const readAll = (texts) => Object.fromEntries(columns.map((field) => [field.name, read(field, texts[field.name] ?? "")]));
  function route(values) {
    let here = root;
    const path = [root];
    while (!here.isLeaf) {
      here = here.sides[answers(here.node.test, values[here.node.test.column]) ? 0 : 1];
      path.push(here);
    }
    return path;
  }
  function typed() {
    const inputs = [...byId("row").querySelectorAll("input")];
    if (inputs.every((input) => input.value === "")) {
      reached = new Set();
      byId("prediction").textContent = "";
      byId("path").replaceChildren();
      render();
      return;
    }
    try {
      const values = readAll(Object.fromEntries(inputs.map((input) => [input.name, input.value])));
      const path = route(values);
      const leaf = path[path.length - 1];
      reached = new Set(path.map((here) => here.number));
      const votes = forest ? votesOf(values) : [];
      const said = forest ? labelText(tree.classes[elected(votes)]) : predictionText(leaf.node);
      byId("prediction").replaceChildren(tree.target ? `${tree.target}: ` : "", element("strong", {}, said));
      if (forest) byId("prediction").append(element("small", {}, " votes: " + votes.map((vote, place) => `${labelText(tree.classes[place])} ${percent(Number((100 * share(vote)).toFixed(4)), 100)}`).join(", ")));
      byId("prediction").className = "";
      byId("path").replaceChildren(...path.slice(1).map((here) => element("li", {}, testText(here.parent.node.test, here.answer === "yes"))));
      for (let here = leaf.parent; here; here = here.parent) here.folded = false;
    } catch (error) {
      reached = new Set();
      byId("prediction").textContent = error.message;
      byId("prediction").className = "bad";
      byId("path").replaceChildren();
    }
    render();
  }
  if (tree && columns.length) {
    for (const [place, field] of columns.entries()) {
      const input = element("input", { name: field.name, id: `column${place}`, autocomplete: "off", inputmode: field.levels ? "text" : "decimal", list: field.levels ? `levels${place}` : undefined, placeholder: field.missing || field.fill !== undefined ? "missing" : "" });
      const wrapped = element("div", {}, element("label", { for: `column${place}` }, field.name), input);
      if (field.levels) wrapped.append(element("datalist", { id: `levels${place}` }, ...field.levels.map((level) => element("option", { value: labelText(level) }))));
      byId("row").append(wrapped);
    }
    byId("row").addEventListener("input", typed);
    byId("row").addEventListener("submit", (event) => { event.preventDefault(); typed(); });
    show("row");
  }

  // Tables

  function table(headings, rows, caption) {
    const numeric = headings.map((_, place) => rows.length > 0 && rows.every((row) => /^(|[-\d.,/e+ %]+( MB)?)$/.test(String(row[place] ?? ""))));
    const cell = (name, value, place) => element(name, numeric[place] ? { class: "number" } : headings[place] === "reason" ? { class: "why" } : {}, value instanceof Node ? value : String(value ?? ""));
    const made = element("table", {}, element("thead", {}, element("tr", {}, ...headings.map((heading, place) => cell("th", heading, place)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((value, place) => cell("td", value, place))))));
    if (caption) made.prepend(element("caption", {}, caption));
    return made;
  }
  const fact = (name, value, look) => element("span", { class: "fact" }, element("b", {}, name), element("span", look ? { class: look } : {}, value));
  if (result) {
    const status = { optimal: "optimal, and proved", local: "locally optimal", feasible: "feasible, not proved optimal", infeasible: "infeasible: no tree meets the requirements", unknown: "unknown" }[result.status];
    const line = byId("headline");
    line.append(fact("status", status, ["optimal", "infeasible"].includes(result.status) ? "good" : ""));
    if (result.objective !== null) line.append(fact("objective", list(result.objective)));
    if (result.bound !== null && result.status === "feasible") line.append(fact("bound", readable(result.bound)));
    if (tree) line.append(fact("verified", result.verified ? "yes, recomputed from the rows" : "NO", result.verified ? "good" : "bad"));
    if (result.certificate) line.append(fact("certified", `by ${result.certificate.claims === 1 ? "1 claim" : `${result.certificate.claims} claims`}, checked in ${seconds(result.certificate.checked.seconds)} s`, "good"));
    line.append(fact("back-end", `${result.backend}, ${seconds(result.seconds)} s`));
    if (result.requirements && result.requirements.length) {
      const exact = about.requirements || [];
      byId("requirements").append(table(["requirement", "value", "exact value", "slack", "met"], result.requirements.map((each, place) =>
        [each.text || each.name, readable(each.value), exact[place]?.value ?? "", readable(each.slack), element("span", { class: each.met ? "good" : "bad" }, each.met ? "yes" : "NO")])));
      show("requirements");
    }
    const exactly = Object.fromEntries((about.goals || []).map((goal) => [goal.text.replace(/^(minimize|maximize) /, ""), goal.value]));
    if (Object.keys(result.measures || {}).length) {
      byId("measures").append(table(["measure", "value", "exact value"], Object.entries(result.measures).map(([name, value]) => [name, readable(value), exactly[name] ?? ""])));
      show("measures");
    }
    if (about.confusion) {
      const { classes, weights } = about.confusion;
      byId("confusion").append(table(["actual", ...classes.map((name) => `predicted ${name}`)], weights.map((row, place) => [classes[place], ...row.map(readable)]), "Confusion matrix"));
    }
    for (const step of result.plan || []) byId("plan").append(element("li", {}, step));
    for (const note of result.notes || []) byId("notes").append(element("li", {}, note));
    const limits = Object.entries(about.limits || {}).filter(([, value]) => value !== null);
    byId("versions").append(table(["setting", "value"], [...limits.map(([name, value]) => [name, readable(value)]), ...Object.entries(about.versions || {})], "Seed, limits and versions"));
    show("how");
  }
  if (about.spec) {
    show("spec");
    const params = Object.entries(about.params || {});
    if (params.length) byId("params").append(table(["param", "value"], params.map(([name, value]) => [name, readable(value)])));
  }
  if (about.data) {
    const { source, rows, columns, more_columns: more, target } = about.data;
    byId("data-line").textContent = `${source}: ${rows.toLocaleString("en")} rows, ${(columns.length + more).toLocaleString("en")} columns` + (target ? `; ${target} is predicted` : "");
    byId("columns").append(table(["column", "type", "missing", "values"], columns.map((column) => [column.name, column.type, column.missing || "",
      column.range ? `${readable(column.range[0])} to ${readable(column.range[2])}, median ${readable(column.range[1])}`
        : (column.levels || []).map(([name, count]) => `${name} (${count.toLocaleString("en")})`).join(", ") + (column.more_levels ? ` and ${column.more_levels} more` : "")]), more ? `and ${more} more columns` : undefined));
    show("data");
  }

  // The comparison of back-ends

  function plot(title, horizontal, vertical, series, logarithmic) {
    const width = 760, height = 320, left = 64, bottom = 44, top = 30;
    const points = series.flatMap((each) => each.points);
    const across = logarithmic ? (value) => Math.log10(Math.max(value, 1e-4)) : (value) => value;
    const xs = points.map(([x]) => across(x)), ys = points.map(([, y]) => y);
    let [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
    if (y0 === y1) { y0 -= 0.5; y1 += 0.5; }
    const px = (x) => left + (across(x) - x0) / (x1 - x0) * (width - left - 150), py = (y) => height - bottom - (y - y0) / (y1 - y0) * (height - bottom - top);
    const picture = drawn("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
    const write = (x, y, text, anchor = "middle", look = {}) => { const made = drawn("text", { x, y, "text-anchor": anchor, ...look }); made.textContent = text; picture.append(made); };
    picture.append(drawn("path", { class: "axis", fill: "none", d: `M ${left} ${top} V ${height - bottom} H ${width - 150}` }));
    write(left, 16, title, "start", { "font-weight": 600 });
    write((left + width - 150) / 2, height - 8, horizontal);
    write(left - 8, top + 4, readable(y1), "end");
    write(left - 8, height - bottom, readable(y0), "end");
    write(left, height - bottom + 16, readable(Number((logarithmic ? 10 ** x0 : x0).toPrecision(3))));
    write(width - 150, height - bottom + 16, readable(Number((logarithmic ? 10 ** x1 : x1).toPrecision(3))));
    series.forEach((each) => {
      const stroke = PALETTE[each.color % PALETTE.length];
      let way = "";
      each.points.forEach(([x, y], place) => { way += place ? (each.steps ? ` H ${px(x)} V ${py(y)}` : ` L ${px(x)} ${py(y)}`) : `M ${px(x)} ${py(y)}`; });
      picture.append(drawn("path", { d: way, fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": each.dashed ? "5 4" : "none" }));
      const [x, y] = each.points[each.points.length - 1];
      picture.append(drawn("circle", { cx: px(x), cy: py(y), r: 3.2, fill: stroke }));
      if (each.name) write(width - 140, top + 12 + 18 * each.color, each.name, "start", { style: `fill:${stroke}` });
    });
    void vertical;
    return picture;
  }
  const PALETTE = ["#2f7fd1", "#e07b00", "#2f9e44", "#c2418c", "#8a6fd1", "#c0392b", "#7d8590", "#b59b00"];
  if (records.length) {
    const several = ["spec", "data", "repeat"].filter((name) => new Set(records.map((each) => each[name])).size > 1);
    const headings = [...several, "back-end", "status", "objective", "bound", "gap", "first tree (s)", "best tree (s)", "proof (s)", "model built (s)", "memory", "verified", "reason"];
    byId("race").append(table(headings, records.map((each) => [...several.map((name) => each[name]), each.backend,
      each.refused ? "refused" : each.stop === "failed" ? element("span", { class: "bad" }, "failed") : each.status, list(each.objective), list(each.bound),
      gapText(each), seconds(each.first_tree_seconds), seconds(each.best_seconds), seconds(each.proof_seconds),
      seconds(each.build_seconds), each.peak_memory ? Math.round(each.peak_memory / 1e6) + " MB" : "", each.verified ? "yes" : "", each.because || ""])));
    const names = [...new Set(records.map((each) => each.backend))];
    if (new Set(records.map((each) => each.fingerprint)).size === 1) {
      const series = [];
      for (const each of records) {
        const values = (each.trace || []).filter((moment) => moment.objective).map((moment) => [moment.seconds, moment.objective[0]]);
        const end = each.seconds ?? 0;
        if (values.length) series.push({ name: each.repeat > 1 ? "" : each.backend, color: names.indexOf(each.backend), steps: true, points: [...values, [Math.max(end, values[values.length - 1][0]), values[values.length - 1][1]]] });
        const bounds = (each.trace || []).filter((moment) => typeof moment.bound === "number").map((moment) => [moment.seconds, moment.bound]);
        if (bounds.length) series.push({ name: "", color: names.indexOf(each.backend), steps: true, dashed: true, points: bounds });
      }
      const moments = new Set(series.flatMap((each) => each.points.map(([x]) => x)));
      if (moments.size > 1) byId("timeline").append(plot("Best tree over time (dashed: bound)", "seconds", "objective", series, true));
    } else {
      const series = names.map((name, place) => ({ name, color: place, steps: true, points: records.filter((each) => each.backend === name && each.proof_seconds)
        .map((each) => each.proof_seconds).sort((a, b) => a - b).map((value, number) => [value, number + 1]) })).filter((each) => each.points.length);
      if (series.length) byId("cactus").append(plot("Problems proved within a time", "seconds", "proved", series, true));
    }
    show("race");
  } else if (result && (result.trace || []).filter((moment) => moment.objective).length > 1) {
    const over = (value) => result.trace.filter((moment) => value(moment) !== null).map((moment) => [moment.seconds, forest ? -value(moment) : Math.abs(value(moment))]);
    const series = [{ name: forest ? "margin" : result.backend, color: 0, steps: true, points: over((moment) => moment.objective && moment.objective[0]) }];
    const bounds = forest ? over((moment) => moment.bound) : [];
    if (bounds.length) series.push({ name: "bound", color: 1, steps: true, dashed: true, points: bounds });
    byId("timeline").append(plot(forest ? "Margin and bound, round by round" : "Best tree over time", "seconds", "objective", series, true));
    byId("race-section").querySelector("h2").textContent = "Over time";
    show("race");
  }
})();
