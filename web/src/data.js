// The data of the page (README.md describes the format): decoding, interpolation, numbers as text.

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) out[i] = raw.charCodeAt(i);
  return out;
}

export const meshBytes = (mesh) => bytes(mesh.data).buffer;
const doubles = (text) => new Float64Array(bytes(text).buffer);
export const floats = (text) => new Float32Array(bytes(text ?? '').buffer);
const integers = (text) => new Int32Array(bytes(text).buffer);

// `meshes`: those of a run that has them already.
export function decode(raw, meshes = null) {
  const data = { ...raw, meshes: raw.meshes ?? meshes ?? [] };
  data.times = doubles(raw.frames.times);
  data.poses = floats(raw.frames.poses);
  data.modal = floats(raw.frames.modal);
  data.rest = raw.rest ? { poses: floats(raw.rest.poses), modal: floats(raw.rest.modal) } : null;
  data.contactForces = raw.frames.contacts ? decodeContacts(raw.frames.contacts) : null;
  data.hingeForces = raw.frames.forces
    ? { places: raw.frames.forces.places, values: floats(raw.frames.forces.values) } : null;
  data.flexible = (raw.flexible ?? []).map((body) => ({
    ...body, points: floats(body.points), shapes: floats(body.shapes),
  }));
  data.planes = raw.planes ?? [];
  data.modelFrames = raw.model_frames ?? [];
  data.plotTimes = raw.series ? doubles(raw.series.times) : new Float64Array();
  data.columns = (raw.series?.columns ?? []).map((column) => {
    const values = doubles(column.values);
    return { ...column, values, size: values.reduce((most, x) => (Math.abs(x) > most ? Math.abs(x) : most), 0) };
  });
  data.start = data.times[0] ?? 0;
  data.end = data.times[data.times.length - 1] ?? 0;
  data.others = (raw.others ?? []).map((other) => decode(other, data.meshes));
  for (const other of data.others) {
    data.start = Math.min(data.start, other.start);
    data.end = Math.max(data.end, other.end);
  }
  if (data.others.length > 0) nameRuns([data, ...data.others]);
  return data;
}

// Contacts that push, by frame: `starts` in units of seven numbers.
function decodeContacts({ counts, values }) {
  const starts = [0];
  for (const count of integers(counts)) starts.push(starts.at(-1) + count);
  return { starts, values: floats(values) };
}

// By file name, or by path where that is the same.
function nameRuns(runs) {
  const short = runs.map(({ path }) => path.split('/').at(-1));
  runs.forEach((run, i) => {
    run.label = short.indexOf(short[i]) === short.lastIndexOf(short[i]) ? short[i] : run.path;
    if (runs.slice(0, i).some(({ label }) => label === run.label)) run.label += ` (${i + 1})`;
  });
}

// Index of the last entry that is not after `time` (0 if all are).
export function indexAt(times, time) {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Two entries around a time, and how far it is from the first to the second.
export function between(times, time) {
  const i = indexAt(times, time);
  const j = Math.min(i + 1, times.length - 1);
  const gap = times[j] - times[i];
  return { i, j, f: gap > 0 ? Math.min(1, Math.max(0, (time - times[i]) / gap)) : 0 };
}

// The value of a column at a time, between the recorded ones by a straight line. Undefined outside.
export function valueAt(times, values, time) {
  if (times.length === 0 || time < times[0] || time > times[times.length - 1]) return undefined;
  const { i, j, f } = between(times, time);
  return f === 0 ? values[i] : values[i] + f * (values[j] - values[i]);
}

const kNoise = 1e-12;  // below this part of `scale` a number is rounding

// As a person would write it, with `digits` digits. `scale`: the size of the numbers it belongs to.
export function pretty(value, digits = 6, scale = 0) {
  if (value === undefined || value === null) return '\u2013';
  if (typeof value !== 'number') return String(value);
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size <= kNoise * scale) return '0';
  if (size >= 1e-4 && size < 1e6) return String(Number(value.toPrecision(digits)));
  return value.toExponential(Math.max(0, digits - 3)).replace('e+', 'e').replace(/\.?0+e/, 'e');
}

// The largest of 1, 2, 5 times a power of ten that is not above x.
export function niceBelow(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [5, 2, 1].find((m) => m * power <= x * (1 + 1e-12)) * power;
}

export function element(tag, properties = {}, ...children) {
  const { dataset, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  if (dataset) Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}
