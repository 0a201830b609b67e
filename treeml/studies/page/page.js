(() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const { result, about, records, colors, tints, charts } = content;
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
  const predictionText = (leaf) => Array.isArray(leaf.predict)
    ? leaf.predict.map((value, place) => `${tree.outputs[place]} ${readable(value)}`).join(", ")
    : typeof leaf.predict !== "number" || tree.task === "classes" ? labelText(leaf.predict)
      : readable(leaf.predict) + Object.entries(leaf.slopes || {}).map(([column, slope]) => ` ${slope < 0 ? "-" : "+"} ${readable(Math.abs(slope))} * ${alongColumn(leaf, column)}`).join("");
  // A column of a linear leaf, or its distance from where it adds nothing.
  function alongColumn(leaf, column) {
    const center = (leaf.centers || {})[column];
    return center ? `(${column} ${center > 0 ? "-" : "+"} ${Math.abs(center)})` : column;
  }

  // The tree: every node with its position, rows and class counts

  const fields = {};
  const nodes = [];
  function gather(node, parent, way, depth) {
    const here = { node, parent, way, depth, number: nodes.length, folded: false, isLeaf: !node.test };
    nodes.push(here);
    if (here.isLeaf) {
      here.rows = node.rows || 0;
      here.counts = node.counts || [];
      here.sides = [];
    } else {
      here.sides = waysOut(node, fields).map((each) => gather(each.node, here, each, depth + 1));
      here.rows = here.sides.reduce((sum, side) => sum + side.rows, 0);
      here.counts = here.sides[0].counts.map((_, place) => here.sides.reduce((sum, side) => sum + side.counts[place], 0));
    }
    return here;
  }
  let root = null;
  let reached = new Set(), before = new Set(); // the path of the row, and the one before its last change
  function use(chosen) {
    tree = chosen;
    nodes.length = 0;
    reached = new Set();
    before = new Set();
    root = gather(tree.root, null, null, 0);
  }
  if (tree) {
    for (const each of forest ? forest.trees : [tree]) for (const field of each.columns) fields[field.name] ??= field;
    use(tree);
  }
  const columns = Object.values(fields);
  const titleOf = (here) => here.isLeaf ? predictionText(here.node) : here.node.test.column;
  const predictedName = () => (tree.task === "numbers" && tree.outputs.length === 1 ? tree.outputs[0] : tree.target);
  // The class with the largest share, if the leaf predicts one with a smaller share; by weight, as the tree counts.
  function overruled(here) {
    if (!here.isLeaf || tree.task !== "classes" || !here.rows) return "";
    const amounts = (here.node.weights?.length ? here.node.weights : here.counts).map(exactly);
    const own = tree.classes.findIndex((each) => JSON.stringify(each) === JSON.stringify(here.node.predict));
    const largest = Math.max(...amounts);
    return amounts.length && amounts[own] < largest ? labelText(tree.classes[amounts.indexOf(largest)]) : "";
  }
  function againstText(here) {
    const majority = overruled(here);
    return majority ? `against its majority ${majority}${here.node.because ? `, for ${here.node.because}` : ""}` : "";
  }
  function facts(here) {
    const words = `${here.rows.toLocaleString("en")} ${here.rows === 1 ? "row" : "rows"}` + (here.parent && root.rows ? ` (${percent(here.rows, root.rows)} of all)` : "");
    const against = againstText(here) ? `; ${againstText(here)}` : "";
    if (!here.counts.length || !here.rows) return words;
    const order = here.counts.map((count, place) => [count, place]).filter(([count]) => count).sort((a, b) => b[0] - a[0]);
    return `${words}: ${order.map(([count, place]) => `${labelText(tree.classes[place])} ${count.toLocaleString("en")} (${percent(count, here.rows)})`).join(", ")}${against}`;
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
    const share = high === low || here.node.slopes ? 0.5 : (here.node.predict - low) / (high - low);
    return `rgb(${[[0xf4, 0x7a], [0xf9, 0xb8], [0xfd, 0xde]].map(([pale, full]) => Math.round(pale + share * (full - pale))).join(",")})`;
  }

  const WIDE = 7.2, BOLD = 1.12; // width of a letter, and how much wider the bold ones of the first line are
  const short = (text, most) => text.length <= most ? text : text.slice(0, most - 1) + "…";
  let sideways = false, showsCharts = false;
  const chartOf = (here) => showsCharts ? (charts[forest ? forest.trees.indexOf(tree) : 0] || [])[here.number] : null;
  const latest = () => Math.max(0, ...nodes.flatMap((here) => (here.node.curve || []).map(([time]) => time))) || 1;
  function lines(here) {
    if (!here.isLeaf) return [short(titleOf(here), 44), ...(here.folded ? [`${here.rows.toLocaleString("en")} rows folded`] : [])];
    const said = [short(titleOf(here), 30), `${here.rows.toLocaleString("en")} ${here.rows === 1 ? "row" : "rows"}`];
    const majority = overruled(here);
    if (majority) said.push(`⚠ against its majority ${short(majority, 16)}`);
    if (majority && here.node.because) said.push(`for ${short(here.node.because, 36)}`);
    return said;
  }
  function measure(here) {
    here.lines = lines(here);
    here.condition = here.way ? short(here.way.short, 34) : "";
    here.conditionWidth = here.condition.length * 6.3 + 8;
    here.chart = chartOf(here);
    here.hasCurve = Boolean(here.node.curve?.length);
    here.width = Math.max(70, Math.max(...here.lines.map((line, place) => line.length * (place ? 1 : BOLD))) * WIDE + 22, here.hasCurve ? CURVE.width + 24 : 0, here.chart ? here.chart.width + 28 : 0);
    here.height = 18 * here.lines.length + 14 + (here.isLeaf && here.counts.length ? 12 : 0) + (here.hasCurve ? CURVE.height + CURVE.below + 4 : 0) + (here.chart ? here.chart.height + 12 : 0);
  }
  function render(focus) {
    if (!root) return;
    seenBelow(root).forEach(measure);
    const { seen, width, height } = placeTree(root, sideways);
    const picture = drawn("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "tree", "aria-label": "decision tree" });
    const below = seen.filter((here) => here.parent), edges = new Map(below.map((here) => [here, edgeOf(here, sideways)]));
    for (const here of below) {
      const on = reached.has(here.number) ? " on" : before.has(here.number) ? " was" : "";
      picture.append(drawn("path", { class: "edge" + on, d: edges.get(here).way }));
    }
    for (const here of below) {
      const { x, y } = edges.get(here), wide = here.conditionWidth;
      const word = drawn("text", { class: "answer" + (reached.has(here.number) ? " on" : ""), x, y, "text-anchor": "middle" });
      word.textContent = here.condition;
      picture.append(drawn("rect", { class: "behind", x: x - wide / 2, y: y - 12, width: wide, height: 16 }), word);
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
    const attributes = { class: "node" + (reached.has(here.number) ? " on" : "") + (overruled(here) ? " against" : ""), tabindex: here.parent ? -1 : 0, role: "treeitem", "data-node": here.number, "aria-label": `${here.way ? here.way.fact + ": " : ""}${titleOf(here)}. ${facts(here)}`, "aria-level": here.depth + 1 };
    if (!here.isLeaf) attributes["aria-expanded"] = String(!here.folded);
    const group = drawn("g", attributes);
    const left = here.x - here.width / 2;
    const hover = drawn("title");
    hover.textContent = `${here.way ? here.way.fact + "\n" : ""}${titleOf(here)}\n${facts(here)}`;
    const frame = drawn("rect", { class: "frame" + (here.isLeaf ? "" : " question"), x: left, y: here.y, width: here.width, height: here.height, rx: here.isLeaf ? 4 : 14 });
    if (here.isLeaf) frame.setAttribute("fill", color(here));
    group.append(hover, frame);
    here.lines.forEach((line, place) => {
      const text = drawn("text", { class: (here.isLeaf ? "says" : "asks") + (place > 1 ? " warns" : place ? "" : " names"), x: here.x, y: here.y + 21 + 18 * place, "text-anchor": "middle" });
      text.textContent = line;
      group.append(text);
    });
    if (here.isLeaf && here.counts.length && here.rows) {
      let start = left + 8;
      here.counts.forEach((count, place) => {
        const part = (here.width - 16) * count / here.rows;
        if (part) group.append(drawn("rect", { class: "share", x: start, y: here.y + here.height - 16, width: part, height: 9, fill: colors[place % colors.length] }));
        start += part;
      });
    }
    const inside = here.y + 18 * here.lines.length + 14;
    if (here.hasCurve) group.append(survivalCurve(here.node.curve, latest(), left + 12, inside, here.width - 24));
    if (here.chart) group.append(chartAt(here.chart, here.x - here.chart.width / 2, inside + (here.hasCurve ? CURVE.height + CURVE.below + 4 : 0)));
    return group;
  }
  function outlined(here) {
    const item = element("li");
    if (here.way) item.append(element("span", { class: "lead" }, here.way.fact));
    const button = element("button", { type: "button", "data-node": here.number, class: `item${here.isLeaf ? " leaf" : ""}${reached.has(here.number) ? " on" : ""}`, "aria-expanded": here.isLeaf ? undefined : String(!here.folded) },
      (here.isLeaf && predictedName() ? `${predictedName()} = ` : "") + titleOf(here) + (here.isLeaf ? "" : "?"), element("small", {}, facts(here)));
    if (here.isLeaf) button.style.background = color(here);
    item.append(button);
    if (here.sides.length && !here.folded) item.append(element("ul", {}, ...here.sides.map(outlined)));
    return item;
  }
  const nodeAt = (event) => { const found = event.target.closest("[data-node]"); return found ? nodes[Number(found.dataset.node)] : null; };
  function tell(here) { byId("details").textContent = here ? `${titleOf(here)}${here.isLeaf ? "." : "?"} ${facts(here)}` : ""; }
  function toggle(here, where) {
    if (!here.isLeaf) here.folded = !here.folded;
    render({ where, number: here.number });
    tell(here);
  }
  function moved(here, key) {
    const turned = { ArrowRight: "ArrowDown", ArrowLeft: "ArrowUp", ArrowDown: "ArrowRight", ArrowUp: "ArrowLeft" };
    const to = sideways ? turned[key] : key;
    if (to === "ArrowDown") return here.folded || here.isLeaf ? null : here.sides[0];
    if (to === "ArrowUp") return here.parent;
    const level = seenBelow(root).filter((each) => each.depth === here.depth).sort((a, b) => a.middle - b.middle);
    const at = level.indexOf(here);
    return to === "ArrowRight" ? level[at + 1] : to === "ArrowLeft" ? level[at - 1] : null;
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
    choice.addEventListener("change", () => { use(forest.trees[Number(choice.value)]); asker.show(); });
    byId("which-tree").append(element("label", { for: "which" }, "Tree shown"), choice);
    byId("which-tree").hidden = false;
    document.getElementById("tree").textContent = `The forest: ${forest.trees.length} ${forest.trees.length === 1 ? "tree" : "trees"}`;
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
    byId("sideways").addEventListener("click", () => { sideways = !sideways; byId("sideways").setAttribute("aria-pressed", String(sideways)); render(); });
    byId("charts").hidden = !charts.length;
    byId("charts").addEventListener("click", () => { showsCharts = !showsCharts; byId("charts").setAttribute("aria-pressed", String(showsCharts)); byId("charts-line").hidden = !showsCharts; render(); });
    byId("charts-line").textContent = content.charts_line;
    if (tree.task === "classes") {
      byId("legend").append(element("strong", {}, tree.target || ""), ...tree.classes.map((label, place) => {
        const swatch = element("span", { class: "swatch" });
        swatch.style.background = colors[place % colors.length];
        return element("span", {}, swatch, labelText(label));
      }));
    }
    if (tree.task !== "classes" && predictedName()) byId("legend").append(element("strong", {}, predictedName()));
    if (nodes.some((here) => here.node.curve?.length)) byId("legend").append(`curves: the share of the rows for which it has not happened yet, from time 0 to ${readable(latest())}`);
    if (forest) chooseTree();
    show("tree"); // before rendering, because the picture is fitted to the available width
    render();
  }

  // A row of the reader, question by question

  const asker = makeAsker({
    fields, trees: forest ? forest.trees : tree ? [tree] : [], weights, classes: tree ? tree.classes : [],
    said: (leaf) => forest ? labelText(tree.classes[leaf]) : predictionText(leaf),
    named: tree && predictedName(),
    tell(taken, earlier) {
      const pathOf = (ways) => {
        const path = root && ways.length ? [root] : [];
        for (const way of ways) if (path[path.length - 1].sides[way]) path.push(path[path.length - 1].sides[way]);
        return new Set(path.map((here) => here.number));
      };
      reached = pathOf(taken(tree));
      before = pathOf(earlier ? earlier(tree) : []);
      for (const number of reached) if (nodes[number].parent) nodes[number].parent.folded = false;
      render();
    },
    votes: (votes) => votes.map((vote, place) => `${labelText(tree.classes[place])} ${percent(Number((100 * share(vote)).toFixed(4)), 100)}`).join(", "),
  });
  if (tree && columns.length) {
    show("row");
    asker.show();
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
    const means = Object.entries(result.measures || {}).filter(([name]) => /^(mse|mean_absolute_error|mean .*)$/.test(name));
    for (const [name, value] of means) line.append(fact(name === "mse" ? "mean squared error" : name.replace(/_/g, " "), readable(value)));
    if (result.bound !== null && result.status === "feasible") line.append(fact("bound", readable(result.bound)));
    if (tree) line.append(fact("verified", result.verified ? "yes, recomputed from the rows" : "NO", result.verified ? "good" : "bad"));
    const proof = result.certificate;
    if (proof) {
      const what = { bound: " (a bound)", infeasible: " (no tree exists)" }[proof.claim] ?? "";
      const shown = fact("certified", `by ${proof.claims === 1 ? "1 claim" : `${proof.claims.toLocaleString("en")} claims`}${what}, checked in ${seconds(proof.checked.seconds)} s`, proof.claim === "bound" ? "" : "good");
      shown.title = proof.checked.why;
      line.append(shown);
    }
    line.append(fact("back-end", `${result.backend}, ${seconds(result.seconds)} s`));
    if (result.requirements && result.requirements.length) {
      const exact = about.requirements || [];
      byId("requirements").append(table(["requirement", "value and limit", "value", "exact value", "slack", "met"], result.requirements.map((each, place) =>
        [each.text || each.name, slackBar(each), readable(each.value), exact[place]?.value ?? "", readable(each.slack), element("span", { class: each.met ? "good" : "bad" }, each.met ? "yes" : "NO")])));
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
