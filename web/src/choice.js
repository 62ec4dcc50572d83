// Which columns are plotted at first, and which share a plot.

const kMost = 6;  // of each kind

const isQuaternion = ({ name, unit }) => unit === '' && /\.q[wxyz]$/.test(name);
const isModal = ({ name }) => /^q\..*\.mode\d+$/.test(name);

// Columns with the same unit share a plot, but modal coordinates, deflections and contact forces
// stand alone.
export function plotOf(column) {
  const kind = isModal(column) ? 'modal' : ['deflection', 'contact'].find((word) => column.name.startsWith(`${word}.`)) ?? '';
  return `${kind} ${column.unit}`;
}

const pattern = (text) => new RegExp(`^${text.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`);

// What the user asked to record; else coordinates (no quaternions), deflections, velocities,
// energy.
export function firstChoice(columns, asked) {
  const real = columns.filter((column) => !isQuaternion(column));
  const some = (list) => {
    const counts = new Map();
    return list.filter((column) => {
      const kind = `${plotOf(column)} ${column.name.split('.')[0]}`;
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts.get(kind) <= kMost;
    });
  };
  const wanted = (asked ?? []).map(pattern);
  let chosen = some(real.filter(({ name }) => wanted.some((one) => one.test(name))));
  // Of a flexible body what it was asked for is hard to read without its deflections.
  if (chosen.length === 0) {
    const first = (prefix) => real.filter((column) => column.name.startsWith(prefix) && !isModal(column));
    const flexible = [...real.filter(({ name, size }) => name.startsWith('deflection.') && size > 0), ...real.filter(isModal)];
    chosen = some([...first('q.'), ...flexible, ...first('v.').filter(({ name }) => !/\.mode\d+$/.test(name)),
      ...real.filter(({ name, size }) => name.startsWith('contact.') && size > 0), ...first('energy.')]);
  }
  return (chosen.length > 0 ? chosen : columns.slice(0, kMost)).map(({ name }) => name);
}

// Name of the axis of a plot: what its columns have in common, and the unit.
export function axisTitle(columns) {
  const families = [...new Set(columns.map((column) => (isModal(column) ? 'modal coordinate' : column.name.split('.')[0])))];
  const names = { q: 'coordinate', v: 'velocity', a: 'acceleration' };
  const words = columns.length === 1 ? columns[0].name : families.map((family) => names[family] ?? family).join(', ');
  const { unit } = columns[0];
  return unit ? `${words} (${unit})` : words;
}
