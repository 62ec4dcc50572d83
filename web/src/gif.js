// Animated GIF (GIF89a): one palette of 256 colours for all pictures, by median cut, and LZW.

const kColours = 256;
const kBits = 5;  // of each colour component, for counting

// The palette of sampled pictures (RGBA bytes), as a flat list of red, green, blue.
export function makePalette(pictures) {
  const counts = new Map();
  for (const pixels of pictures)
    for (let i = 0; i < pixels.length; i += 4) {
      const key = cell(pixels[i], pixels[i + 1], pixels[i + 2]);
      const sums = counts.get(key) ?? [0, 0, 0, 0];
      sums[0] += pixels[i];
      sums[1] += pixels[i + 1];
      sums[2] += pixels[i + 2];
      sums[3] += 1;
      counts.set(key, sums);
    }
  const colours = [...counts.values()].map(([r, g, b, n]) => ({ rgb: [r / n, g / n, b / n], n }));
  let boxes = [makeBox(colours)];
  while (boxes.length < kColours) {
    // The box with the largest range, weighed by the root of its pixels, is divided at its median.
    const widest = boxes.reduce((best, box) => (box.weight > best.weight ? box : best));
    if (widest.weight <= 0) break;
    boxes = boxes.filter((box) => box !== widest);
    boxes.push(...divided(widest));
  }
  const palette = new Uint8Array(3 * kColours);
  boxes.forEach(({ colours: members }, i) => {
    const total = members.reduce((sum, { n }) => sum + n, 0);
    for (let c = 0; c < 3; ++c)
      palette[3 * i + c] = Math.round(members.reduce((sum, { rgb, n }) => sum + n * rgb[c], 0) / Math.max(total, 1));
  });
  return palette;
}

const cell = (r, g, b) => ((r >> (8 - kBits)) << (2 * kBits)) | ((g >> (8 - kBits)) << kBits) | (b >> (8 - kBits));

function makeBox(colours) {
  let axis = 0;
  let range = 0;
  for (let c = 0; c < 3; ++c) {
    let [low, high] = [Infinity, -Infinity];
    for (const { rgb } of colours) {
      if (rgb[c] < low) low = rgb[c];
      if (rgb[c] > high) high = rgb[c];
    }
    if (high - low > range) [axis, range] = [c, high - low];
  }
  const pixels = colours.reduce((sum, { n }) => sum + n, 0);
  return { colours, axis, weight: colours.length > 1 ? range * Math.sqrt(pixels) : 0 };
}

function divided({ colours, axis }) {
  const sorted = [...colours].sort((a, b) => a.rgb[axis] - b.rgb[axis]);
  const half = sorted.reduce((sum, { n }) => sum + n, 0) / 2;
  let at = 0;
  for (let sum = 0; at < sorted.length - 1 && sum < half; ++at) sum += sorted[at].n;
  at = Math.min(Math.max(at, 1), sorted.length - 1);
  return [makeBox(sorted.slice(0, at)), makeBox(sorted.slice(at))];
}

export class GifWriter {
  constructor(width, height, palette) {
    Object.assign(this, { width, height, palette });
    this.nearest = new Int16Array(1 << (3 * kBits)).fill(-1);
    this.parts = [];
    this.bytes([...'GIF89a'].map((c) => c.charCodeAt(0)));
    this.bytes([...short(width), ...short(height), 0xf7, 0, 0]);
    this.parts.push(palette);
    // Again and again.
    this.bytes([0x21, 0xff, 11, ...[...'NETSCAPE2.0'].map((c) => c.charCodeAt(0)), 3, 1, 0, 0, 0]);
  }

  bytes(list) { this.parts.push(Uint8Array.from(list)); }

  // `pixels`: RGBA; `delay` in hundredths of a second.
  add(pixels, delay) {
    this.bytes([0x21, 0xf9, 4, 4, ...short(delay), 0, 0]);
    this.bytes([0x2c, 0, 0, 0, 0, ...short(this.width), ...short(this.height), 0]);
    const indices = new Uint8Array(this.width * this.height);
    for (let i = 0; i < indices.length; ++i) indices[i] = this.index(pixels[4 * i], pixels[4 * i + 1], pixels[4 * i + 2]);
    this.parts.push(...blocks(compress(indices)));
  }

  index(r, g, b) {
    const key = cell(r, g, b);
    if (this.nearest[key] < 0) {
      let [best, least] = [0, Infinity];
      for (let i = 0; i < kColours; ++i) {
        const distance = (this.palette[3 * i] - r) ** 2 + (this.palette[3 * i + 1] - g) ** 2 + (this.palette[3 * i + 2] - b) ** 2;
        if (distance < least) [best, least] = [i, distance];
      }
      this.nearest[key] = best;
    }
    return this.nearest[key];
  }

  finish() {
    this.bytes([0x3b]);
    return new Blob(this.parts, { type: 'image/gif' });
  }
}

const short = (n) => [n & 255, (n >> 8) & 255];

// LZW with codes of 9 to 12 bits, as GIF wants it.
function compress(indices) {
  const kClear = 256;
  const kEnd = 257;
  const out = [];
  let [held, bits] = [0, 0];
  let width = 9;
  const put = (code) => {
    held |= code << bits;
    bits += width;
    while (bits >= 8) {
      out.push(held & 255);
      held >>>= 8;
      bits -= 8;
    }
  };
  let table = new Map();
  let next = kEnd + 1;
  put(kClear);
  let prefix = indices[0];
  for (let i = 1; i < indices.length; ++i) {
    const key = (prefix << 8) | indices[i];
    const known = table.get(key);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    put(prefix);
    if (next === 4096) {
      put(kClear);
      table = new Map();
      next = kEnd + 1;
      width = 9;
    } else {
      if (next === 1 << width) ++width;
      table.set(key, next++);
    }
    prefix = indices[i];
  }
  put(prefix);
  if (next === 1 << width && width < 12) ++width;
  put(kEnd);
  if (bits > 0) out.push(held & 255);
  return Uint8Array.from(out);
}

function blocks(data) {
  const parts = [Uint8Array.of(8)];
  for (let at = 0; at < data.length; at += 255) {
    const block = data.subarray(at, at + 255);
    parts.push(Uint8Array.of(block.length), block);
  }
  parts.push(Uint8Array.of(0));
  return parts;
}
