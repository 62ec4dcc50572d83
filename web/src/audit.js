// The audit in words: every figure with its unit and a verdict, for one run or several.
import { element, pretty } from './data.js';

// key, title, unit, good up to, usable up to, what it is
const figures = [
  ['energy_drift', 'energy drift', '', 1e-6, 1e-3, 'energy that no element accounts for, of the energy that moves'],
  ['energy_error', 'energy error', 'J', null, null, 'the same, absolute'],
  ['energy_scale', 'energy that moves', 'J', null, null, 'what the drift is measured by'],
  ['initial_energy', 'energy at the start', 'J', null, null, ''],
  ['final_energy', 'energy at the end', 'J', null, null, ''],
  ['linear_momentum_drift', 'linear momentum drift', '', 1e-6, 1e-3, 'of the largest that this energy allows'],
  ['angular_momentum_drift', 'angular momentum drift', '', 1e-6, 1e-3, 'likewise, about the mass centre'],
  ['closure_residual', 'loops and contacts open by', 'rad, or of their size', 1e-8, 1e-5, 'largest gap of closed loops and active constraints'],
  ['contact.residual', 'laws of contact missed by', 'of the load', 1e-6, 1e-3, 'time-stepping: contact and friction'],
  ['contact.penetration', 'penetration', 'm', 1e-4, 1e-3, 'time-stepping: before it is corrected'],
  ['contact.creep', 'creep', 'm/s', 1e-5, 1e-3, 'time-stepping: slip of contacts that stick'],
  ['contact.restored', 'energy restored', 'J', null, null, 'time-stepping: missed by the steps and put back'],
];

// Of each flexible body, how far it came to the limits of its model.
const flexibleFigures = [
  ['deflection', 'deflection', 'of its length', 0.1, 0.2, 'the model holds for about a tenth'],
  ['rate', 'rate of turn', 'of its first frequency', 1, 3, 'angular velocity over the first natural frequency'],
];
const figuresOf = (audits) => [...figures, ...[...new Set(audits.flatMap(({ flexible }) => Object.keys(flexible ?? {})))].flatMap((body) =>
  flexibleFigures.map(([key, title, ...rest]) => [['flexible', body, key], `${body}: ${title}`, ...rest]))];

const notConserved = new Set(['linear_momentum_drift', 'angular_momentum_drift']);

// Names of bodies have dots: a list of keys, or keys with dots between them.
const read = (audit, key) => (Array.isArray(key) ? key : key.split('.')).reduce((at, part) => at?.[part], audit);

function judge(value, good, usable) {
  if (good === null || typeof value !== 'number') return '';
  if (!(value <= usable)) return 'poor';
  return value <= good ? 'good' : 'fair';
}

const texts = {
  good: 'Good: the figures below are what a careful simulation gives.',
  fair: 'Fair: usable for pictures and estimates; a tighter tolerance or a shorter step is better.',
  poor: 'Poor: do not rely on this run before the cause is found (tolerance, step, contradictory constraints).',
};

export function verdict(audit) {
  const all = figuresOf([audit]).map(([key, , , good, usable]) => judge(read(audit, key), good, usable));
  return ['poor', 'fair', 'good'].find((word) => all.includes(word)) ?? '';
}

// `runs`: with `audit` and, of several, `label`.
export function auditContent(runs) {
  // Of old runs the figures are not in a part of their own.
  const audits = runs.map(({ audit }) => audit?.audit ?? audit ?? {});
  const made = audits.map((audit, i) => {
    const word = verdict(audit);
    const text = word ? texts[word] : 'No verdict: this run has no figures to judge.';
    return element('p', { className: `verdict ${word}` }, runs.length > 1 ? `${runs[i].label}: ${text}` : text);
  });
  const head = runs.length > 1
    ? [element('tr', {}, ...['', ...runs.map(({ label }) => label), '', ''].map((title) => element('th', {}, title)))] : [];
  const rows = figuresOf(audits).filter(([key]) => audits.some((audit) => read(audit, key) !== undefined)).map(([key, title, unit, good, usable, about]) => {
    const values = audits.map((audit) => read(audit, key));
    const words = values.map((value) => judge(value, good, usable));
    const cells = values.map((value) => element('td', { className: 'number' },
      value === null && notConserved.has(key) ? 'not conserved here' : pretty(value ?? null, 4)));
    const worst = ['poor', 'fair', 'good'].find((word) => words.includes(word)) ?? '';
    return element('tr', { title: about }, element('th', {}, title), ...cells, element('td', { className: 'dim' }, unit),
      element('td', { className: `verdict ${worst}`, title: good === null ? '' : `good up to ${pretty(good)}, fair up to ${pretty(usable)}` }, worst));
  });
  made.push(element('table', { className: 'audit' }, ...head, ...rows));
  return [...made, ...workTable(runs, audits), ...stepsTable(runs)];
}

// Work of each element; those without any are left out.
function workTable(runs, audits) {
  const works = runs.map(({ audit }) => (Array.isArray(audit?.work)
    ? Object.fromEntries(audit.work.map(({ element: name, work }) => [name, work])) : audit?.work ?? {}));
  const scale = Math.max(...audits.map((audit) => audit.energy_scale ?? 0));
  const isZero = (x) => x === undefined || Math.abs(x) <= 1e-13 * scale;
  const names = [...new Set(works.flatMap(Object.keys))].filter((name) => works.some((work) => !isZero(work[name])));
  if (names.length === 0) return [];
  return [element('h3', {}, 'Work done by'), element('table', { className: 'audit', id: 'work' }, ...names.map((name) =>
    element('tr', {}, element('th', {}, name), ...works.map((work) => element('td', { className: 'number' }, pretty(work[name], 5, scale))),
      element('td', { className: 'dim' }, 'J'), element('td'))))];
}

const stepTitles = {
  accepted: ['steps', ''], rejected: ['rejected', ''], evaluations: ['evaluations of the equations', ''], restarts: ['restarts', ''],
  smallest: ['smallest step', 's'], largest: ['largest step', 's'], stiff_since: ['stiff since', 's'],
};

function stepsTable(runs) {
  const all = runs.map(({ audit }) => audit?.steps ?? {});
  const keys = Object.keys(stepTitles).filter((key) => all.some((steps) => typeof steps[key] === 'number'));
  if (keys.length === 0) return [];
  return [element('h3', {}, 'Integration'), element('table', { className: 'audit' }, ...keys.map((key) =>
    element('tr', {}, element('th', {}, stepTitles[key][0]), ...all.map((steps) => element('td', { className: 'number' }, pretty(steps[key], 4))),
      element('td', { className: 'dim' }, stepTitles[key][1]), element('td'))))];
}
