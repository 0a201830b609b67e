// Rows: tests in words, the way that a row takes, and what would have to change for another prediction.
// Predictions are those of Tree.predict and Forest.predict.
const MISSING = Symbol("missing");
const exactly = (value) => { const [above, below = 1] = String(value).split("/"); return Number(above) / Number(below); };
function labelText(label) {
  if (label !== null && typeof label === "object") return label.date || label.datetime.replace("T", " ");
  return label === null ? "None" : String(label);
}
const plainNumber = (value) => Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(Number(value.toPrecision(6)) === value ? 6 : 10)));
const mayMiss = (field) => Boolean(field && field.missing && field.fill === undefined);
function testText(test, answer, fields) {
  const values = (test.values || []).map((value) => typeof value === "number" ? plainNumber(value) : labelText(value));
  const missing = test.missing_yes ? " or is missing" : "";
  if (test.kind === "missing") return `${test.column} is ${answer ? "" : "not "}missing`;
  if (test.kind === "at most") return answer ? `${test.column} <= ${values[0]}${missing}` : `${test.column} > ${values[0]}${mayMiss(fields[test.column]) && !test.missing_yes ? " or is missing" : ""}`;
  const verb = test.kind === "among" ? "is among" : "is";
  return answer ? `${test.column} ${verb} ${values.join(", ")}${missing}` : `${test.column} ${verb.replace("is", "is not")} ${values.join(", ")}`;
}
const inChain = (node, column) => Boolean(node.test) && node.test.column === column && ["branch", "missing"].includes(node.test.kind);
// The ways out of a node: two for a question, and one for each branch of a chain of `branch` tests.
function waysOut(node, fields) {
  const column = node.test.column;
  const way = (below, fact) => ({ node: below, fact, short: fact.slice(column.length + 1).replace(/^<=/, "≤") });
  if (node.test.kind !== "branch") return [way(node.yes, testText(node.test, true, fields)), way(node.no, testText(node.test, false, fields))];
  const found = [], asked = new Set();
  let rest = node;
  for (; inChain(rest, column); rest = rest.no) {
    found.push(way(rest.yes, testText(rest.test, true, fields)));
    for (const value of rest.test.values || []) asked.add(labelText(value));
  }
  const others = (fields[column]?.levels || []).map(labelText).filter((level) => !asked.has(level));
  return [...found, way(rest, `${column} is ${others.length > 0 && others.length < 3 ? others.join(", ") : "other"}`)];
}

function readValue(field, text) {
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
function answersYes(test, field, value) {
  if (test.kind === "missing") return value === MISSING;
  if (value === MISSING) return Boolean(test.missing_yes);
  if (!field.levels) return test.kind === "at most" ? value <= test.values[0] : test.values.includes(value);
  const code = codeOf(field, value);
  if (code < 0) return false;
  if (test.kind !== "at most") return test.values.some((level) => codeOf(field, labelText(level)) === code);
  const last = codeOf(field, labelText(test.values[0]));
  return last >= 0 ? code <= last : Number(labelText(field.levels[code])) <= test.values[0];
}
// The ways that a row takes from the root, as far as its values are known, and the leaf or the column to ask for.
function walk(root, fields, values) {
  const ways = [], facts = [];
  let node = root;
  while (node.test) {
    const column = node.test.column;
    if (!values.has(column)) return { ways, facts, asks: column };
    const out = waysOut(node, fields);
    let place = 0;
    for (let rest = node; place < out.length - 1 && !answersYes(rest.test, fields[column], values.get(column)); rest = rest.no) place += 1;
    ways.push(place);
    facts.push(out[place].fact);
    node = out[place].node;
  }
  // A linear leaf adds multiples of columns to its number, and needs their values.
  const slopes = Object.entries(node.slopes || {}), unknown = slopes.find(([column]) => !values.has(column));
  if (unknown) return { ways, facts, asks: unknown[0] };
  if (!slopes.length) return { ways, facts, leaf: node };
  return { ways, facts, leaf: { ...node, slopes: undefined, predict: slopes.reduce((sum, [column, slope]) => sum + slope * (values.get(column) - ((node.centers || {})[column] || 0)), node.predict) } };
}
const isLinear = (node) => node.test ? isLinear(node.yes) || isLinear(node.no) : Boolean(node.slopes);

// What a tree or forest says about a row: a leaf or the number of a class, or the column to ask for next.
function judge(model, values) {
  if (!model.weights.length) {
    const { leaf, asks } = walk(model.trees[0].root, model.fields, values);
    return { asks, leaf, key: leaf && JSON.stringify(leaf.predict) };
  }
  const names = model.classes.map(labelText), votes = model.classes.map(() => 0n);
  let open = 0n, asks, heaviest = -1n;
  model.trees.forEach((tree, place) => {
    const found = walk(tree.root, model.fields, values);
    if (found.leaf) votes[names.indexOf(labelText(found.leaf.predict))] += model.weights[place];
    else {
      open += model.weights[place];
      if (model.weights[place] > heaviest) { heaviest = model.weights[place]; asks = found.asks; }
    }
  });
  let best = 0;
  votes.forEach((vote, place) => { if (vote > votes[best]) best = place; });
  // The open votes may all go to another class, and the first class wins ties.
  const isDecided = votes.every((vote, place) => place === best || votes[best] > vote + open || (votes[best] === vote + open && best < place));
  return isDecided ? { leaf: best, key: names[best], votes, open } : { asks, votes, open };
}

// What-if: values that no test of the model tells apart are one choice, and choices of numbers are intervals.

function testsOf(model, column) {
  const found = [], todo = model.trees.map((tree) => tree.root);
  while (todo.length) {
    const node = todo.pop();
    if (!node.test) continue;
    if (node.test.column === column) found.push(node.test);
    todo.push(node.yes, node.no);
  }
  return found;
}
const rangeText = (low, high) => low === -Infinity ? `at most ${plainNumber(high)}` : high === Infinity ? `more than ${plainNumber(low)}` : `more than ${plainNumber(low)} and at most ${plainNumber(high)}`;
// A short number inside an interval, near the end that is closer to the present value.
function numberIn(low, high, near) {
  if (near > high) return high;
  const digits = (String(low).split(".")[1] || "").length;
  for (let more = digits; more < digits + 15; more += 1) {
    const value = Number((low + 10 ** -more).toFixed(more));
    if (value > low && value <= high) return value;
  }
  return high;
}
// Every other choice of a column: {text, value}, the nearest first; neighbors for which `keyOf` is equal are one.
function choicesOf(model, column, values, keyOf) {
  const field = model.fields[column], now = values.get(column), tests = testsOf(model, column);
  const isNumber = !field.levels && typeof now === "number" && tests.every((test) => ["at most", "missing"].includes(test.kind));
  if (!isNumber) {
    const options = field.levels ? field.levels.map(labelText) : tests.filter((test) => test.kind !== "missing").flatMap((test) => test.values);
    return [...new Set(options)].filter((value) => value !== now).map((value) => ({ text: String(value), value, distance: 1, key: keyOf(value) }));
  }
  const cuts = [...new Set(tests.filter((test) => test.kind === "at most").map((test) => test.values[0]))].sort((a, b) => a - b);
  const merged = [];
  [...cuts, Infinity].forEach((high, place) => {
    const low = place ? cuts[place - 1] : -Infinity;
    const key = keyOf(high === Infinity ? numberIn(low, Infinity, low) : high);
    const last = merged[merged.length - 1];
    if (last && last.key === key) last.high = high; else merged.push({ low, high, key });
  });
  const distance = ({ low, high }) => now > high ? now - high : Math.max(0, low - now);
  return merged.filter(({ low, high }) => !(now > low && now <= high))
    .map((each) => ({ ...each, text: rangeText(each.low, each.high), value: numberIn(each.low, each.high, now), distance: distance(each) }))
    .sort((a, b) => a.distance - b.distance);
}
// For one column: the nearest value that alone changes the prediction, or null.
function changeOf(model, column, values) {
  const now = judge(model, values).key;
  const keyOf = (value) => judge(model, new Map(values).set(column, value)).key;
  const found = choicesOf(model, column, values, keyOf).find((choice) => choice.key !== undefined && choice.key !== now);
  return found ? { column, ...found } : null;
}
// Of a tree: the leaf with another prediction for which the fewest columns have to change; among equals, the fewest that
// were not asked yet, then the nearest numbers. A path asks separately for each column, so this is exact.
function smallestChange(model, values) {
  const now = judge(model, values).key;
  let best = null;
  const visit = (node, wanted) => {
    if (!node.test) {
      if (JSON.stringify(node.predict) !== now) consider(node, wanted);
      return;
    }
    for (const answer of [true, false]) visit(answer ? node.yes : node.no, [...wanted, [node.test, answer]]);
  };
  const consider = (leaf, wanted) => {
    const changes = [];
    let unknown = 0, distance = 0;
    for (const column of new Set(wanted.map(([test]) => test.column))) {
      const tests = wanted.filter(([test]) => test.column === column), field = model.fields[column];
      const holds = (value) => tests.every(([test, answer]) => answersYes(test, field, value) === answer);
      if (values.has(column) && holds(values.get(column))) continue;
      const found = valueFor(field, tests, holds, values.get(column));
      if (!found) return; // no value takes this path
      if (!values.has(column)) unknown += 1;
      else if (typeof values.get(column) === "number" && typeof found.value === "number") distance += Math.abs(found.value - values.get(column)) / (1 + Math.abs(values.get(column)));
      else distance += 1;
      changes.push({ column, ...found });
    }
    const cost = [changes.length, unknown, distance];
    const place = best ? cost.findIndex((part, place) => part !== best.cost[place]) : 0;
    if (!best || (place >= 0 && cost[place] < best.cost[place])) best = { leaf, changes, cost };
  };
  visit(model.trees[0].root, []);
  return best;
}
// A value that meets all tests of one column, near the present one; null if there is none.
function valueFor(field, tests, holds, now) {
  if (field.levels) {
    const level = field.levels.map(labelText).find(holds);
    return level !== undefined ? { text: level, value: level } : mayMiss(field) && holds(MISSING) ? { text: "missing", value: MISSING } : null;
  }
  let low = -Infinity, high = Infinity;
  for (const [test, answer] of tests) {
    if (test.kind !== "at most") continue;
    if (answer) high = Math.min(high, test.values[0]); else low = Math.max(low, test.values[0]);
  }
  const numbers = tests.flatMap(([test]) => test.values || []);
  const range = low < high && (low > -Infinity || high < Infinity) ? [numberIn(low, high, low === -Infinity ? Infinity : typeof now === "number" ? now : low)] : [];
  const value = [...range, ...numbers, ...numbers.map((each) => each + 1), 0].find(holds);
  if (value !== undefined) return { text: range.includes(value) ? rangeText(low, high) : plainNumber(value), value };
  return mayMiss(field) && holds(MISSING) ? { text: "missing", value: MISSING } : null;
}
