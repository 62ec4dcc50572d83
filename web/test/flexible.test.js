// Flexible bodies and mode shapes in the page.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { spanningTree } from '../src/flexible.js';
import { drawn, near, open, position, RUNS, setTime, test, until } from './harness.js';

const tip = (page) => page.evaluate(() => window.catena.scene.figures[0].flexible[0].userData.tip());
const enlarge = async (page, steps) => {
  await page.locator('#enlarge').evaluate((input, value) => {
    input.value = value;
    input.dispatchEvent(new Event('input'));
  }, steps);
};

await test('a flexible body is drawn deformed', async (page) => {
  await open(page, 'boom');
  // The end of the tube is where the modal coordinates put the tip, in the frame of the body: to
  // second order, as shapes are linear.
  for (const t of [0.3, 0.7]) {
    await setTime(page, t);
    const end = await tip(page);
    const deflection = await page.evaluate((at) => {
      const { data } = window.catena;
      const i = data.plotTimes.findIndex((one) => Math.abs(one - at) < 1e-9);
      return ['x', 'y', 'z'].map((axis) => data.columns.find(({ name }) => name === `deflection.boom.tip.${axis}`).values[i]);
    }, t);
    assert.ok(Math.abs(deflection[1]) > 1e-3, `it bends: ${deflection}`);
    near(end[1], deflection[1], 0.01 * Math.abs(deflection[1]) + 1e-6);
    near(end[2], deflection[2], 1e-4);
    near(end[0], 2, 2 * deflection[1] ** 2 + 1e-6);
  }
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'boom.png') });
});

await test('deflections are enlarged by a slider, and what hangs there goes along', async (page) => {
  await open(page, 'boom');
  await setTime(page, 0.7);
  const before = await tip(page);
  // The load hangs on the tip: its place in the frame of the boom.
  const load = () => page.evaluate(() => {
    const { bodies, data } = window.catena.scene;
    const [boom, hung] = ['boom', 'load'].map((name) => bodies[data.bodies.findIndex((body) => body.name === name)]);
    return hung.position.clone().sub(boom.position).applyQuaternion(boom.quaternion.clone().invert()).toArray();
  });
  const carried = await load();
  near(carried[1], before[1], 0.01 * Math.abs(before[1]));
  await page.click('#show-menu summary');
  await enlarge(page, 3);  // 10 times
  assert.match(await page.textContent('#arrow-legend'), /deflections enlarged 10 times/);
  const after = await tip(page);
  near(after[1] / before[1], 10, 1e-4);
  near((await load())[1] / carried[1], 10, 1e-4);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'boom_enlarged.png') });
});

await test('modal coordinates and deflections are plotted', async (page) => {
  await open(page, 'boom');
  const plots = await page.evaluate(() => window.catena.plots.plots.map(({ columns }) => columns.map(({ name, unit }) => `${name} ${unit}`)));
  assert.ok(plots.some((names) => names.includes('deflection.boom.tip.y m')), JSON.stringify(plots));
  assert.ok(plots.some((names) => names.includes('q.boom.mode1 m') && !names.some((name) => name.startsWith('deflection'))));
});

await test('a page of modes swings', async (page) => {
  await open(page, 'boom_modes');
  assert.equal(await page.textContent('#status'), 'modes');
  assert.ok(await page.evaluate(() => window.catena.playing));
  // First bending frequency of the cantilever without its load would be 1.8751² sqrt(EI / ρA) / L²;
  // the page shows what the program printed.
  const rows = await page.locator('.modes tr').count();
  assert.equal(rows - 1, await page.evaluate(() => window.catena.data.modes.length));
  await page.evaluate(() => window.catena.setPlaying(false));
  const bending = await page.evaluate(() => window.catena.data.modes.findIndex(({ participants }) => participants[0].name.startsWith('boom.mode')));
  await page.locator('.modes button').nth(bending).click();
  assert.equal(await page.evaluate(() => window.catena.mode), bending);
  // Half a period later the tip is on the other side.
  await setTime(page, 0);
  const first = await tip(page);
  await setTime(page, 0.5);
  const second = await tip(page);
  const largest = Math.max(...first.slice(1).map(Math.abs));
  assert.ok(largest > 0.01, `it moves: ${first}`);
  for (const i of [1, 2]) near(second[i], -first[i], 1e-3 * largest);
  await setTime(page, 0);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'boom_modes.png') });
  // It goes round again and again.
  await page.evaluate(() => { window.catena.setTime(0.97); window.catena.setPlaying(true); });
  await until(page, () => window.catena.time < 0.5);
});

// Two links with springs: in phase, and out of phase.
await test('modes of a rigid mechanism, and their amplitude', async (page) => {
  await open(page, 'pendulum_modes');
  await page.evaluate(() => window.catena.setPlaying(false));
  const angles = () => page.evaluate(() => window.catena.data.bodies.map((_, i) => {
    const { quaternion: q } = window.catena.scene.bodies[i];
    return 2 * Math.atan2(q.z, q.w);
  }));
  for (const [mode, sign] of [[0, 1], [1, -1]]) {
    await page.evaluate((i) => window.catena.setMode(i), mode);
    await setTime(page, 0);
    const [upper, lower] = await angles();
    assert.ok(Math.abs(upper) > 0.02 && Math.sign(upper * (lower - upper)) === sign, `${upper} ${lower}`);
  }
  const once = await angles();
  await page.click('#show-menu summary');
  await enlarge(page, 6);  // twice
  const twice = await angles();
  near(twice[0] / once[0], 2, 1e-4);
  near((await position(page, 'lower'))[0], Math.sin(twice[0]), 1e-5);
});

// A T of points 1 apart: every rod joins neighbours.
await test('a body that is no beam is drawn between neighbouring points', async () => {
  const points = [[0, 0, 0], [3, 0, 0], [1, 0, 0], [2, 1, 0], [2, 0, 0], [2, -1, 0]];
  const edges = spanningTree(points.flat());
  assert.equal(edges.length, 5);
  for (const [a, b] of edges) near(Math.hypot(...points[a].map((x, i) => x - points[b][i])), 1, 1e-12);
  assert.equal(new Set(edges.flat()).size, 6);
});
