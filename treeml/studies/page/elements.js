"use strict";
// What all pages share: making elements, and numbers as text.
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== null) made.setAttribute(key, value);
  for (const child of children) made.append(child);
  return made;
}
function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  for (const child of children) made.append(child);
  return made;
}
const readable = (value) => value === null || value === undefined ? "" : typeof value !== "number" ? String(value)
  : Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(Number(value.toPrecision(6)));
function percent(part, whole) {
  const share = 100 * part / whole;
  if (Number.isInteger(share)) return share + "%";
  return share > 99.9 ? ">99.9%" : share < 0.1 ? "<0.1%" : share.toFixed(1) + "%";
}
