// What the view shows on request: forces and moments, frames, names, the camera that follows,
// pictures; sliders of closed mechanisms.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drawn, MODELS, near, open, RUNS, serve, setTime, test, until } from './harness.js';

const shownNow = (page, what) => page.evaluate((name) => {
  let count = 0;
  window.catena.scene.scene.traverse((part) => { if (part.userData.shownBy === name && part.visible) ++count; });
  return count;
}, what);

await test('frames and names on request', async (page) => {
  await open(page, 'pendulum');
  assert.equal(await shownNow(page, 'names'), 0);
  await page.keyboard.press('n');
  assert.equal(await shownNow(page, 'names'), 2);
  const names = await page.evaluate(() => {
    const found = [];
    window.catena.scene.scene.traverse((part) => { if (part.userData.shownBy === 'names') found.push(part.userData.name); });
    return found;
  });
  assert.deepEqual(names, ['upper', 'lower']);
  await page.keyboard.press('x');
  assert.ok(await shownNow(page, 'frames') >= 3);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'names.png') });
});

// A pendulum at rest: the bearing carries the weight of both links, m g up.
await test('forces and moments at hinges as arrows', async (page) => {
  await open(page, 'bearings');
  const list = () => page.evaluate(() => window.catena.scene.arrows.list());
  assert.deepEqual(await list(), []);
  await page.keyboard.press('m');
  const forces = (await list()).filter(({ kind }) => kind === 'force');
  assert.equal(forces.length, 2);
  const [shoulder, elbow] = await page.evaluate(() => ['shoulder', 'elbow'].map((hinge) =>
    window.catena.data.columns.find(({ name }) => name === `force.${hinge}.y`).values[0]));
  assert.ok(shoulder > elbow && elbow > 0);
  // They begin at their hinges: the shoulder at the origin, the elbow 1 m below.
  near(Math.hypot(...forces[0].at), 0, 1e-6);
  near(forces[1].at[1], -1, 1e-6);
  assert.match(await page.textContent('#arrow-legend'), /force at a hinge: [\d.]+ m = [\d.]+ N/);
});

await test('the camera follows a body', async (page) => {
  await open(page, 'landing');
  await page.click('#show-menu summary');
  await page.selectOption('#follow', { label: 'trunk' });
  const target = () => page.evaluate(() => window.catena.scene.controls.target.toArray());
  const trunk = () => page.evaluate(() => window.catena.bodyPosition('trunk'));
  await setTime(page, 0);
  const [from, fromBody] = [await target(), await trunk()];
  await setTime(page, 1.2);
  const [to, toBody] = [await target(), await trunk()];
  assert.ok(Math.hypot(...toBody.map((x, i) => x - fromBody[i])) > 0.1);
  to.forEach((x, i) => near(x - from[i], toBody[i] - fromBody[i], 1e-3));
});

await test('a picture is saved', async (page) => {
  await open(page, 'pendulum');
  await drawn(page);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#png-button')]);
  assert.equal(download.suggestedFilename(), 'double_pendulum.png');
  const bytes = readFileSync(await download.path());
  assert.deepEqual([...bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  const box = await page.locator('#viewport').boundingBox();
  assert.equal(bytes.readUInt32BE(16), Math.round(box.width));
});

// The browser's own decoder reads the GIF: all frames, with the colours of the view, and motion.
await test('the animation is saved as a GIF', async (page) => {
  await open(page, 'bearings');
  await open(page, 'pendulum_short');
  await drawn(page);
  const [download] = await Promise.all([page.waitForEvent('download', { timeout: 240000 }), page.click('#gif-button')]);
  assert.equal(download.suggestedFilename(), 'double_pendulum.gif');
  const data = readFileSync(await download.path()).toString('base64');
  const [count, distance, moved] = await page.evaluate(async (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const decoder = new ImageDecoder({ data: bytes, type: 'image/gif' });
    await decoder.tracks.ready;
    await decoder.completed;
    const pixels = async (frameIndex) => {
      const { image } = await decoder.decode({ frameIndex });
      const canvas = new OffscreenCanvas(image.displayWidth, image.displayHeight);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, canvas.width, canvas.height);
    };
    const frames = decoder.tracks.selectedTrack.frameCount;
    const [first, last] = [await pixels(0), await pixels(frames - 1)];
    window.catena.setTime(window.catena.data.start);
    window.catena.scene.draw();
    const view = document.querySelector('#viewport canvas');
    const copy = new OffscreenCanvas(first.width, first.height);
    const context = copy.getContext('2d');
    context.drawImage(view, 0, 0, first.width, first.height);
    const seen = context.getImageData(0, 0, first.width, first.height).data;
    const mean = (a, b) => a.reduce((sum, x, i) => sum + Math.abs(x - b[i]), 0) / a.length;
    return [frames, mean(first.data, seen), mean(first.data, last.data)];
  }, data);
  assert.ok(count >= 10, `${count} frames`);
  assert.ok(distance < 2.5, `colours differ by ${distance} of 255`);
  assert.ok(moved > distance, `${moved}`);
});

// Crank 1, coupler 4.8, rocker 2, ground 4: the rocker follows the crank.
await test('a closed mechanism is moved by its independent coordinates', async (page) => {
  const { url, stop } = await serve(join(MODELS, 'four_bar.yaml'), '--independent', 'A');
  await page.goto(url);
  await until(page, () => window.catena?.data);
  assert.equal(await page.locator('.sliders tr').count(), 1);
  const slider = page.locator('.sliders input');
  assert.equal(await slider.getAttribute('name'), 'A');
  const ends = () => page.evaluate(() => {
    const end = (name, length) => {
      const { bodies, data } = window.catena.scene;
      const { position: p, quaternion: q } = bodies[data.bodies.findIndex((body) => body.name === name)];
      const angle = 2 * Math.atan2(q.z, q.w);
      return [p.x + length * Math.cos(angle), p.y + length * Math.sin(angle)];
    };
    return [end('crank', 1), end('coupler', 4.8), end('rocker', 2)];
  });
  for (const angle of [0.4, -1.9, 2.8]) {
    await slider.fill(String(angle));
    await until(page, (wanted) => {
      const { bodies, data } = window.catena.scene;
      const { quaternion: q } = bodies[data.bodies.findIndex((body) => body.name === 'crank')];
      return Math.abs(Math.sin(2 * Math.atan2(q.z, q.w)) - Math.sin(wanted)) < 1e-5;
    }, angle);
    const [, coupler, rocker] = await ends();
    near(coupler[0], rocker[0], 1e-5);
    near(coupler[1], rocker[1], 1e-5);
  }
  assert.ok(!await page.isVisible('#slider-problem'));
  await stop();
});

await test('a slider that the loops do not allow stops and says so', async (page) => {
  const { url, stop } = await serve(join(MODELS, 'four_bar.yaml'), '--independent', 'D');
  await page.goto(url);
  await until(page, () => window.catena?.data);
  const slider = page.locator('.sliders input');
  const wanted = await slider.evaluate(({ value }) => (Number(value) > 0 ? -3 : 3));
  await slider.fill(String(wanted));
  await until(page, () => !document.querySelector('#slider-problem').hidden);
  assert.match(await page.textContent('#slider-problem'), /loops cannot be closed|another assembly/);
  assert.ok(Math.abs(await slider.evaluate(({ value }) => Number(value)) - wanted) > 0.1);
  await stop();
});
