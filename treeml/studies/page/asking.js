// "Try a row": asks only what the path needs, one question at a time, and says what would change the prediction.
// `model`: fields, trees, weights (of a forest), classes; said(leaf) and votes(...) as text; tell(taken, earlier) draws.
function makeAsker(model) {
  const given = new Map(); // of each answered column: the text and the value
  let asked = null; // the column whose answer is being changed
  let earlier = null; // the answers before the last change
  const valuesOf = (answers) => new Map([...answers].map(([column, each]) => [column, each.value]));
  const taken = (answers) => (tree) => answers.size ? walk(tree.root, model.fields, valuesOf(answers)).ways : [];
  const answerText = (column) => given.get(column).text === "" ? "missing" : given.get(column).text;
  const subject = model.named ? `${model.named}: ` : "";

  function answer(column, text) {
    let value;
    try {
      value = readValue(model.fields[column], text);
    } catch (error) {
      byId("question-error").textContent = error.message;
      byId("answer")?.setAttribute("aria-invalid", "true");
      return;
    }
    earlier = given.has(column) ? new Map(given) : null;
    given.set(column, { text: text.trim(), value });
    asked = null;
    show(true);
  }
  function question(column) {
    const field = model.fields[column], now = given.get(column);
    const levels = (field.levels || []).map(labelText), few = levels.length > 0 && levels.length <= 8;
    const form = byId("question");
    form.replaceChildren(element("label", { for: "answer", id: "asks" }, `${column}?`));
    form.dataset.column = column;
    if (few) {
      form.append(element("div", { class: "choices", role: "group", "aria-labelledby": "asks" }, ...levels.map((level, place) => {
        const button = element("button", { type: "button", "data-level": level, id: place ? undefined : "answer", "aria-pressed": now ? String(now.text === level) : undefined }, level);
        button.addEventListener("click", () => answer(column, level));
        return button;
      })));
    } else {
      const input = element("input", { id: "answer", name: column, autocomplete: "off", inputmode: field.levels ? "text" : "decimal", list: levels.length ? "levels" : undefined, "aria-describedby": "question-error" });
      input.value = now ? now.text : "";
      form.append(input, element("datalist", { id: "levels" }, ...levels.map((level) => element("option", { value: level }))));
      form.append(element("button", { type: "submit" }, "Next"));
    }
    if (field.missing || field.fill !== undefined) {
      const button = element("button", { type: "button", id: "is-missing" }, "I don't know");
      button.addEventListener("click", () => answer(column, ""));
      form.append(button);
    }
    form.append(element("p", { id: "question-error", class: "bad", role: "alert" }));
  }
  function answered(column) {
    const button = element("button", { type: "button", "data-change": column, "aria-label": `change ${column}, now ${answerText(column)}` }, `${column} = ${answerText(column)}`, element("small", {}, "change"));
    button.addEventListener("click", () => { asked = column; show(true); });
    return element("li", {}, button);
  }
  function tryIt(changes) {
    const button = element("button", { type: "button", class: "try" }, "Try it");
    button.addEventListener("click", () => {
      earlier = new Map(given);
      for (const { column, value } of changes) given.set(column, { text: value === MISSING ? "" : String(value), value });
      asked = null;
      show(true);
    });
    return button;
  }
  function whatIf(values) {
    const found = model.weights.length ? null : smallestChange(model, values);
    const alone = [...given.keys()].map((column) => [column, changeOf(model, column, values)]);
    const becomes = (change) => model.weights.length ? change.key : model.said({ predict: JSON.parse(change.key) });
    byId("smallest").replaceChildren();
    if (found) {
      const parts = found.changes.map(({ column, text }) => `${column} ${text}` + (values.has(column) ? ` instead of ${answerText(column)}` : " (not asked yet)"));
      byId("smallest").append(`The smallest change for another prediction: ${parts.join(", and ")}. Then ${subject}`, element("strong", {}, model.said(found.leaf)), ". ", tryIt(found.changes));
    } else if (!model.weights.length) byId("smallest").append("Every row gets this prediction.");
    byId("alone").replaceChildren(...alone.map(([column, change]) => change
      ? element("li", {}, `${column} ${change.text}: `, element("strong", {}, becomes(change)), " ", tryIt([change]))
      : element("li", {}, `${column}: no other value alone changes it`)));
    byId("what-if").hidden = false;
  }
  function show(moveFocus = false) {
    const values = valuesOf(given), { asks, leaf, votes, open } = judge(model, values);
    const used = [...given.keys()];
    byId("what-if").hidden = true;
    byId("question").hidden = asked === null && asks === undefined;
    if (!byId("question").hidden) question(asked ?? asks); else byId("question").replaceChildren();
    byId("answers").replaceChildren(...used.map(answered));
    byId("again").hidden = !used.length;
    const shown = byId("prediction");
    shown.replaceChildren();
    if (leaf !== undefined) {
      const before = earlier && judge(model, valuesOf(earlier)).leaf;
      shown.append(subject, element("strong", {}, model.said(leaf)));
      if (before !== null && before !== undefined) shown.append(model.said(before) === model.said(leaf) ? ", as before" : `, and was ${model.said(before)} before`);
      if (votes) shown.append(element("small", {}, ` votes: ${model.votes(votes)}${open ? "; the rest cannot change it" : ""}`));
      if (!model.trees.some((tree) => isLinear(tree.root))) whatIf(values); // every change changes a linear leaf
    }
    byId("path").replaceChildren(...(model.weights.length || !used.length ? [] : walk(model.trees[0].root, model.fields, values).facts).map((fact) => element("li", {}, fact)));
    model.tell(taken(given), earlier && taken(earlier));
    if (moveFocus) (byId("answer") || byId("again")).focus();
  }
  byId("question").addEventListener("submit", (event) => { event.preventDefault(); if (byId("answer")?.name) answer(byId("answer").name, byId("answer").value); });
  byId("again").addEventListener("click", () => { given.clear(); earlier = asked = null; show(true); });
  return { show };
}
