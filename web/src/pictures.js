// The view as a file: a PNG picture, or the animation as a GIF.
import { element } from './data.js';
import { GifWriter, makePalette } from './gif.js';

const kWidest = 640;      // pixels of a GIF
const kMostFrames = 150;
const kPerSecond = 20;
const kSamples = 5;       // pictures that the palette is made of

function save(blob, name) {
  const url = URL.createObjectURL(blob);
  element('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

export const fileName = (title, ending) => `${title.replace(/[^\p{L}\p{N}._-]+/gu, '_') || 'catena'}.${ending}`;

export async function savePng(scene, name) {
  scene.dirty = true;
  scene.draw();
  const blob = await new Promise((done) => { scene.renderer.domElement.toBlob(done, 'image/png'); });
  save(blob, name);
}

// From start to end at the speed of the page. `show(t)` draws; `progress` gets parts of 1 and says
// whether to go on. Null if it was stopped.
export async function makeGif(scene, { start, end, speed, show, progress }) {
  const canvas = scene.renderer.domElement;
  const factor = Math.min(1, kWidest / canvas.width);
  const copy = document.createElement('canvas');
  copy.width = Math.round(factor * canvas.width);
  copy.height = Math.round(factor * canvas.height);
  const context = copy.getContext('2d', { willReadFrequently: true });
  const picture = (t) => {
    show(t);
    scene.dirty = true;
    scene.draw();
    context.drawImage(canvas, 0, 0, copy.width, copy.height);
    return context.getImageData(0, 0, copy.width, copy.height).data;
  };
  const seconds = (end - start) / speed;
  const count = Math.max(2, Math.min(kMostFrames, Math.round(seconds * kPerSecond)));
  const delay = Math.max(2, Math.round((100 * seconds) / count));
  const at = (i) => start + ((end - start) * i) / (count - 1);
  const samples = [];
  for (let i = 0; i < kSamples; ++i) samples.push(picture(at(Math.round((i * (count - 1)) / (kSamples - 1)))));
  const gif = new GifWriter(copy.width, copy.height, makePalette(samples));
  for (let i = 0; i < count; ++i) {
    gif.add(picture(at(i)), delay);
    if (!progress((i + 1) / count)) return null;
    await new Promise((done) => { setTimeout(done, 0); });
  }
  return gif.finish();
}

export async function saveGif(scene, name, options) {
  const blob = await makeGif(scene, options);
  if (blob) save(blob, name);
}
