// The pages beside the plots: audit, events, settings, and the sliders of a model.
import { element, pretty } from './data.js';

// "energy_drift" -> "energy drift"
const words = (key) => key.replaceAll('_', ' ');

function cell(value) {
  if (value === null) return '\u2013';
  if (typeof value === 'number') return pretty(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}

const isList = (value) => Array.isArray(value) && value.length > 0;
const isPlain = (value) => typeof value !== 'object' || value === null;

// Rows for an object, a section for each object in it, a table for a list of objects.
function sections(object, title) {
  const rows = [];
  const below = [];
  for (const [key, value] of Object.entries(object)) {
    if (isPlain(value)) rows.push([words(key), cell(value)]);
    else if (isList(value) && value.every(isPlain)) rows.push([words(key), value.map(cell).join(', ')]);
    else if (isList(value)) below.push(table(value, words(key)));
    else if (Object.keys(value).length > 0) below.push(...sections(value, words(key)));
  }
  const made = [];
  if (title && (rows.length > 0 || below.length > 0)) made.push(element('h3', {}, title));
  if (rows.length > 0)
    made.push(element('table', { className: 'pairs' }, ...rows.map(([key, value]) =>
      element('tr', {}, element('th', {}, key), element('td', {}, value)))));
  return [...made, ...below];
}

function table(list, title) {
  const keys = [...new Set(list.flatMap((item) => (isPlain(item) ? [] : Object.keys(item))))];
  const head = element('tr', {}, ...keys.map((key) => element('th', {}, words(key))));
  const rows = list.map((item) => element('tr', {}, ...keys.map((key) => {
    const value = item?.[key] ?? null;
    return element('td', {}, isPlain(value) ? cell(value) : JSON.stringify(value));
  })));
  return element('div', {}, element('h3', {}, title), element('table', { className: 'list' }, head, ...rows));
}

export function showAudit(page, data) {
  page.replaceChildren();
  if (!data.audit) {
    page.append(element('p', { className: 'dim' },
      data.status === 'running' ? 'The audit is written when the run ends.' : 'This run has no audit: it did not come to its end.'));
  } else page.append(...sections(data.audit, ''));
}

export function showEvents(page, data, onTime) {
  page.replaceChildren();
  if (data.events.length === 0) {
    page.append(element('p', { className: 'dim' }, 'Nothing happened: no limit, no stop, no switch.'));
    return;
  }
  const head = element('tr', {}, ...['time', 'kind', 'name', ''].map((title) => element('th', {}, title)));
  const rows = data.events.map((event) => {
    const go = element('button', { className: 'link', textContent: pretty(event.time) });
    go.addEventListener('click', () => onTime(event.time));
    return element('tr', {}, element('td', {}, go), element('td', {}, event.kind),
      element('td', {}, event.name), element('td', {}, event.detail));
  });
  page.append(element('table', { className: 'list' }, head, ...rows));
}

export function showSettings(page, data) {
  const about = {
    model: data.title, model_file: data.model_path, run: data.path, kind: data.kind,
    catena: data.version, rows: data.rows, columns: data.columns.length || undefined,
    bodies: data.bodies.length, hinges: data.hinges.length,
  };
  for (const key of Object.keys(about)) if (about[key] === '' || about[key] === undefined) delete about[key];
  page.replaceChildren(...sections(about, data.status === 'model' ? 'Model' : 'This run'), ...sections(data.settings ?? {}, 'Settings'));
  if (data.notes.length > 0)
    page.append(element('h3', {}, 'Notes'), ...data.notes.map((note) => element('p', { className: 'note' }, note)));
}

// One slider for each coordinate; onChange gets all of them.
export function showSliders(page, data, onChange) {
  const values = data.coordinates.map((coordinate) => coordinate.value);
  const inputs = [];
  const outputs = [];
  const rows = data.coordinates.map((coordinate, i) => {
    const input = element('input', {
      type: 'range', min: coordinate.lower, max: coordinate.upper, step: 'any', value: coordinate.value, name: coordinate.name,
    });
    const output = element('output', {}, pretty(coordinate.value, 4));
    inputs.push(input);
    outputs.push(output);
    input.addEventListener('input', () => {
      values[i] = Number(input.value);
      output.textContent = pretty(values[i], 4);
      onChange(values);
    });
    return element('tr', {}, element('th', {}, coordinate.name), element('td', {}, input), element('td', {}, output, ' ', element('small', {}, coordinate.unit)));
  });
  const reset = element('button', { textContent: 'As in the model' });
  reset.addEventListener('click', () => {
    data.coordinates.forEach((coordinate, i) => {
      values[i] = coordinate.value;
      inputs[i].value = coordinate.value;
      outputs[i].textContent = pretty(coordinate.value, 4);
    });
    onChange(values);
  });
  page.replaceChildren(element('table', { className: 'sliders' }, ...rows), reset);
}
