// The pages beside the plots: audit, events, settings, modes, and the sliders of a model.
import { auditContent } from './audit.js';
import { element, pretty } from './data.js';

// Keys of this page in words. Names of the model and of the settings file stay as they are.
const titles = { model_file: 'model file', rtol: 'relative tolerance', atol: 'absolute tolerance' };
const words = (key) => titles[key] ?? key;

function cell(value) {
  if (value === null) return '\u2013';
  if (typeof value === 'number') return pretty(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return String(value);
}

const isList = (value) => Array.isArray(value) && value.length > 0;
const isPlain = (value) => typeof value !== 'object' || value === null;

const isNumbers = (value) => Array.isArray(value) && value.every(isPlain);
// Several things of one kind, by name: contacts, controllers.
const isMapOfRows = (value) => !Array.isArray(value) && Object.keys(value).length > 1
  && Object.values(value).every((row) => !isPlain(row) && !Array.isArray(row) && Object.values(row).every((x) => isPlain(x) || isNumbers(x)));

// Rows for an object, a section for each object in it, a table for a list of objects.
function sections(object, title) {
  const rows = [];
  const below = [];
  for (const [key, value] of Object.entries(object)) {
    if (isPlain(value)) rows.push([words(key), cell(value)]);
    else if (isList(value) && value.every(isPlain)) rows.push([words(key), value.map(cell).join(', ')]);
    else if (isList(value)) below.push(table(value, words(key)));
    else if (isMapOfRows(value)) below.push(table(Object.entries(value).map(([name, row]) => ({ name, ...row })), words(key)));
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
    return element('td', {}, isPlain(value) ? cell(value) : isNumbers(value) ? value.map(cell).join(', ') : JSON.stringify(value));
  })));
  return element('div', {}, element('h3', {}, title), element('table', { className: 'list' }, head, ...rows));
}

export function showAudit(page, data) {
  page.replaceChildren();
  const runs = [data, ...data.others];
  if (runs.every(({ audit }) => !audit)) {
    page.append(element('p', { className: 'dim' },
      data.status === 'running' ? 'The audit is written when the run ends.' : 'This run has no audit: it did not come to its end.'));
  } else page.append(...auditContent(runs));
}

// The events of all runs in order of time.
export function allEvents(data) {
  const runs = [data, ...data.others];
  return runs.flatMap((run, r) => run.events.map((event) => ({ ...event, run: r, label: run.label }))).sort((a, b) => a.time - b.time);
}

export const eventText = ({ kind, name, detail, time, label }) =>
  `${pretty(time)} s: ${kind} ${name}${detail ? `, ${detail}` : ''}${label ? ` (${label})` : ''}`;

// Lines end between words only: browsers would also divide -1e-10 at its hyphens.
const unbroken = (text) => text.split(' ').flatMap((word) => [element('span', { className: 'word' }, word), ' ']);

export function showEvents(page, data, onTime) {
  page.replaceChildren();
  const events = allEvents(data);
  if (events.length === 0) {
    page.append(element('p', { className: 'dim' }, 'Nothing happened: no limit, no stop, no switch.'));
    return;
  }
  const several = data.others.length > 0;
  const heads = ['time (s)', ...(several ? ['run'] : []), 'kind', 'name', 'what happened'];
  const head = element('tr', {}, ...heads.map((title) => element('th', {}, title)));
  const rows = events.map((event) => {
    const go = element('button', { className: 'link', textContent: pretty(event.time) });
    go.addEventListener('click', () => onTime(event.time));
    return element('tr', {}, element('td', {}, go), ...(several ? [element('td', {}, event.label)] : []),
      element('td', {}, event.kind), element('td', {}, event.name), element('td', {}, ...unbroken(event.detail)));
  });
  page.append(element('table', { className: 'events' }, head, ...rows));
}

// The modes of a mechanism; onChoose gets the index of the one that is clicked.
export function showModes(page, data, chosen, onChoose) {
  const heads = ['mode', 'rad/s', 'Hz', 'damping', 'what moves most'];
  const head = element('tr', {}, ...heads.map((title) => element('th', {}, title)));
  const rows = data.modes.map((mode, i) => {
    const go = element('button', { className: 'link', textContent: `mode ${mode.number}` });
    go.addEventListener('click', () => onChoose(i));
    const swings = mode.eigenvalue[1] !== 0;
    const most = mode.participants.map(({ name, size }) => `${name} ${pretty(size, 2)}`).join(', ');
    const row = element('tr', {}, element('td', {}, go),
      element('td', { className: 'number' }, swings ? pretty(mode.frequency, 5) : '\u2013'),
      element('td', { className: 'number' }, swings ? pretty(mode.frequency / (2 * Math.PI), 5) : '\u2013'),
      element('td', { className: 'number' }, swings ? pretty(mode.damping, 3, 1) : rate(mode.eigenvalue[0])), element('td', {}, most));
    row.classList.toggle('chosen', i === chosen);
    return row;
  });
  page.replaceChildren(element('p', {}, `About this state the mechanism is ${data.stability}. The swing is drawn without growth or decay, at an amplitude for the eye.`),
    element('table', { className: 'modes' }, head, ...rows));
}

const rate = (real) => (Math.abs(real) < 1e-9 ? 'drifts' : `${real > 0 ? 'grows' : 'decays'}, ${pretty(real, 4)} 1/s`);

// A height field has thousands of numbers.
function withoutHeights(settings) {
  const field = settings.ground?.height_field;
  if (!field?.heights) return settings;
  const heights = `${field.heights.length} rows of ${field.heights[0].length}`;
  return { ...settings, ground: { ...settings.ground, height_field: { ...field, heights } } };
}

export function showSettings(page, data) {
  const about = {
    model: data.title, model_file: data.model_path, run: data.path, kind: data.kind,
    catena: data.version, rows: data.rows, columns: data.columns.length || undefined,
    bodies: data.bodies.length, hinges: data.hinges.length,
  };
  for (const key of Object.keys(about)) if (about[key] === '' || about[key] === undefined) delete about[key];
  page.replaceChildren(...sections(about, data.status === 'model' ? 'Model' : 'This run'), ...sections(withoutHeights(data.settings ?? {}), 'Settings'));
  if (data.notes.length > 0)
    page.append(element('h3', {}, 'Notes'), ...data.notes.map((note) => element('p', { className: 'note' }, note)));
}

// One slider for each coordinate; onChange gets all of them. Returns a function that shows where
// the mechanism came to: its coordinates, and a problem or ''.
export function showSliders(page, data, onChange) {
  const values = data.coordinates.map((coordinate) => coordinate.value);
  const inputs = [];
  const outputs = [];
  const rows = data.coordinates.map((coordinate, i) => {
    const input = element('input', {
      type: 'range', min: coordinate.lower, max: coordinate.upper, step: 'any', value: coordinate.value, name: coordinate.name,
    });
    const output = element('output', {}, pretty(coordinate.value, 4, 1));
    inputs.push(input);
    outputs.push(output);
    input.addEventListener('input', () => {
      values[i] = Number(input.value);
      output.textContent = pretty(values[i], 4, 1);
      onChange(values);
    });
    return element('tr', {}, element('th', {}, coordinate.name), element('td', {}, input), element('td', {}, output, ' ', element('small', {}, coordinate.unit)));
  });
  const put = (wanted) => wanted.forEach((value, i) => {
    values[i] = value;
    inputs[i].value = value;
    outputs[i].textContent = pretty(value, 4, 1);
  });
  const reset = element('button', { textContent: 'As in the model' });
  reset.addEventListener('click', () => {
    put(data.coordinates.map(({ value }) => value));
    onChange(values);
  });
  const problem = element('p', { className: 'problem', id: 'slider-problem', hidden: true });
  page.replaceChildren(element('table', { className: 'sliders' }, ...rows), reset, problem);
  return (came, text) => {
    problem.hidden = text === '';
    problem.textContent = text;
    if (text !== '') put(came);
  };
}
