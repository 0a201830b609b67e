// Plots and bars of the page, drawn as SVG.
const PALETTE = ["#2f7fd1", "#e07b00", "#2f9e44", "#c2418c", "#8a6fd1", "#c0392b", "#7d8590", "#b59b00"];
// Round numbers within a range: 1, 2, 5 times a power of ten; on a logarithmic axis also its powers.
function ticksOf(low, high, most) {
  const rough = (high - low) / Math.max(1, most), power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let place = Math.ceil(low / step - 1e-9); place * step <= high + step * 1e-9 && found.length < 50; place += 1) found.push(Number((place * step).toPrecision(12)));
  return found;
}
function logTicksOf(low, high, most) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) for (const factor of [1, 2, 5]) found.push(Number((factor * 10 ** power).toPrecision(3)));
  const inside = found.filter((value) => value >= low * 0.999 && value <= high * 1.001);
  const decades = inside.filter((value) => Number.isInteger(Math.log10(value)));
  const chosen = inside.length <= most ? inside : decades;
  return chosen.length > 1 ? chosen : ticksOf(low, high, 4);
}
function plot(title, horizontal, vertical, series, logarithmic) {
  const width = 760, height = 320, bottom = 46, top = 48, right = 170;
  const points = series.flatMap((each) => each.points);
  let [x0, x1, y0, y1] = [0, 1].flatMap((axis) => { const values = points.map((point) => point[axis]); return [Math.min(...values), Math.max(...values)]; });
  // Times of a few microseconds, or of one size, need no logarithm.
  const isLog = logarithmic && x1 > 3 * Math.max(x0, 1e-4);
  if (isLog) x0 = Math.max(x0, 1e-4);
  if (x0 === x1) { x0 -= Math.abs(x0) / 2 || 0.5; x1 += Math.abs(x1) / 2 || 0.5; }
  const air = y0 === y1 ? Math.abs(y0) * 0.1 || 0.5 : (y1 - y0) * 0.06;
  [y0, y1] = [y0 - air, y1 + air];
  const yTicks = ticksOf(y0, y1, 5);
  const left = 22 + 7.2 * Math.max(...yTicks.map((value) => readable(value).length), 3);
  const across = isLog ? (value) => Math.log10(Math.max(value, x0)) : (value) => value;
  const px = (x) => left + (across(x) - across(x0)) / (across(x1) - across(x0)) * (width - left - right), py = (y) => height - bottom - (y - y0) / (y1 - y0) * (height - bottom - top);
  const picture = drawn("svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: ${vertical} against ${horizontal}` });
  const write = (x, y, text, anchor = "middle", look = {}) => { const made = drawn("text", { x, y, "text-anchor": anchor, ...look }); made.textContent = text; picture.append(made); };
  for (const value of yTicks) {
    picture.append(drawn("path", { class: "grid", d: `M ${left} ${py(value)} H ${width - right}` }));
    write(left - 8, py(value) + 4, readable(value), "end", { class: "tick" });
  }
  for (const value of isLog ? logTicksOf(x0, x1, 8) : ticksOf(x0, x1, 6)) {
    picture.append(drawn("path", { class: "grid", d: `M ${px(value)} ${top} V ${height - bottom}` }));
    write(px(value), height - bottom + 16, readable(value), "middle", { class: "tick" });
  }
  picture.append(drawn("path", { class: "axis", fill: "none", d: `M ${left} ${top} V ${height - bottom} H ${width - right}` }));
  write(8, 16, title, "start", { "font-weight": 600 });
  write(8, 36, vertical, "start", { class: "names" });
  write((left + width - right) / 2, height - 8, horizontal + (isLog ? " (logarithmic)" : ""), "middle", { class: "names" });
  const named = new Map();
  series.forEach((each) => {
    const stroke = PALETTE[each.color % PALETTE.length];
    let way = "";
    each.points.forEach(([x, y], place) => { way += place ? (each.steps ? ` H ${px(x)} V ${py(y)}` : ` L ${px(x)} ${py(y)}`) : `M ${px(x)} ${py(y)}`; });
    picture.append(drawn("path", { d: way, fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": each.dashed ? "5 4" : "none" }));
    const [x, y] = each.points[each.points.length - 1];
    picture.append(drawn("circle", { cx: px(x), cy: py(y), r: 3.2, fill: stroke }));
    if (each.name && !named.has(each.name)) named.set(each.name, stroke);
  });
  [...named].forEach(([name, stroke], place) => {
    picture.append(drawn("path", { d: `M ${width - right + 12} ${top + 8 + 18 * place} h 16`, stroke, "stroke-width": 3 }));
    write(width - right + 34, top + 12 + 18 * place, name.length > 19 ? name.slice(0, 18) + "…" : name, "start", { class: "series" });
  });
  return picture;
}
// A requirement as a bar: the value, the limit as a line, and the slack between them.
function slackBar(each) {
  if (typeof each.value !== "number" || typeof each.limit !== "number") return "undefined";
  const width = 190, height = 22, edge = 6;
  const low = Math.min(0, each.value, each.limit), high = Math.max(0, each.value, each.limit);
  const far = high + (high - low || 1) * 0.12;
  const px = (value) => edge + (value - low) / (far - low) * (width - 2 * edge);
  const said = `${readable(each.value)}, limit ${each.sense} ${readable(each.limit)}, slack ${readable(each.slack)}`;
  const picture = drawn("svg", { class: "slack", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said });
  const hover = drawn("title");
  hover.textContent = said;
  const between = [px(each.value), px(each.limit)].sort((a, b) => a - b);
  picture.append(hover,
    drawn("rect", { class: "track", x: edge, y: 6, width: width - 2 * edge, height: 10 }),
    drawn("rect", { class: each.met ? "room" : "lack", x: between[0], y: 6, width: between[1] - between[0], height: 10 }),
    drawn("rect", { class: each.met ? "value" : "value broken", x: Math.min(px(0), px(each.value)), y: 8, width: Math.max(1.5, Math.abs(px(each.value) - px(0))), height: 6 }),
    drawn("path", { class: "limit", d: `M ${px(each.limit)} 1 V 21` }));
  return picture;
}
