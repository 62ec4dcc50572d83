// The data of the page (README.md describes the format): decoding, interpolation, numbers as text.

function bytes(text) {
  const raw = atob(text);
  const out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) out[i] = raw.charCodeAt(i);
  return out;
}

export const meshBytes = (mesh) => bytes(mesh.data).buffer;
const doubles = (text) => new Float64Array(bytes(text).buffer);
const floats = (text) => new Float32Array(bytes(text).buffer);

export function decode(raw) {
  const data = { ...raw };
  data.times = doubles(raw.frames.times);
  data.poses = floats(raw.frames.poses);
  data.plotTimes = raw.series ? doubles(raw.series.times) : new Float64Array();
  data.columns = (raw.series?.columns ?? []).map((column) => ({ ...column, values: doubles(column.values) }));
  data.start = data.times[0] ?? 0;
  data.end = data.times[data.times.length - 1] ?? 0;
  return data;
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

// The value of a column at a time, between the recorded ones by a straight line.
export function valueAt(times, values, time) {
  const i = indexAt(times, time);
  if (i + 1 >= times.length || time <= times[i]) return values[i];
  const f = (time - times[i]) / (times[i + 1] - times[i]);
  return values[i] + f * (values[i + 1] - values[i]);
}

// As a person would write it, with `digits` digits.
export function pretty(value, digits = 6) {
  if (typeof value !== 'number') return String(value);
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e6) return String(Number(value.toPrecision(digits)));
  return value.toExponential(Math.max(0, digits - 3)).replace('e+', 'e');
}

export function element(tag, properties = {}, ...children) {
  const { dataset, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  if (dataset) Object.assign(made.dataset, dataset);
  made.append(...children);
  return made;
}
