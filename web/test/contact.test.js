// Contact in the page: the ground where it is, collision shapes, contact forces, events.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { CATENA, drawn, MODELS, near, open, RUNS, setTime, test, time, until } from './harness.js';

const arrows = (page) => page.evaluate(() => window.catena.scene.arrows.list());

await test('the ground is where the contacts are', async (page) => {
  await open(page, 'landing');
  const [ground, ...more] = await page.evaluate(() => window.catena.scene.grounds);
  assert.equal(more.length, 0);
  near(ground.point[2], 0, 1e-12);
  assert.deepEqual(ground.normal, [0, 0, 1]);
  // A foot that stands touches it: the lowest point of its sphere, radius 0.025 at z = -0.25.
  await setTime(page, 5);
  const lowest = await page.evaluate(() => {
    const { figures, data } = window.catena.scene;
    const body = data.bodies.findIndex(({ name }) => name === 'front_left_shank');
    return figures[0].groundPoint(body, [0, 0, -0.25]).z - 0.025;
  });
  near(lowest, 0, 1e-5);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'landing.png') });
});

await test('a slope is drawn as it lies', async (page) => {
  await open(page, 'slope');
  const [ground] = await page.evaluate(() => window.catena.scene.grounds);
  // 0.2 rad about y through the origin.
  near(ground.normal[0], Math.sin(0.2), 1e-9);
  near(ground.normal[2], Math.cos(0.2), 1e-9);
  near(ground.point.reduce((sum, x, i) => sum + x * ground.normal[i], 0), 0, 1e-9);
  // The block slides: N = m g cos, and friction 0.1 N uphill.
  await setTime(page, 0.5);
  const [x, y, z] = await page.evaluate(() => ['x', 'y', 'z'].map((axis) => window.catena.data.columns
    .filter(({ name }) => name.startsWith('contact.') && name.endsWith(`.${axis}`))
    .reduce((sum, { values }) => sum + values[500], 0)));
  const normal = 3 * 9.81 * Math.cos(0.2);
  near(x, normal * (Math.sin(0.2) - 0.1 * Math.cos(0.2)), 1e-3);
  near(y, 0, 1e-3);
  near(z, normal * (Math.cos(0.2) + 0.1 * Math.sin(0.2)), 1e-3);
  assert.ok((await arrows(page)).length >= 2);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'slope.png') });
});

await test('a height field is drawn, and its numbers are not listed', async (page) => {
  await open(page, 'hills');
  const [corners, floors] = await page.evaluate(() => {
    let field = null;
    window.catena.scene.scene.traverse((part) => { if (part.userData.body === 'ground') field = part; });
    return [[...field.geometry.attributes.position.array], window.catena.scene.grounds.length];
  });
  // 0.5 m apart along x and 1 m along y, from (-1, -2).
  const expected = [-1, -2, 0, -0.5, -2, 0.1, 0, -2, 0, -1, -1, 0.2, -0.5, -1, -0.3, 0, -1, 0.1];
  assert.equal(corners.length, expected.length);
  corners.forEach((x, i) => near(x, expected[i], 1e-6));
  assert.equal(floors, 0);
  await page.click('#tab-settings');
  assert.match(await page.textContent('#page-settings'), /2 rows of 3/);
});

await test('contact forces carry the weight', async (page) => {
  await open(page, 'landing');
  await setTime(page, 0.1);
  assert.deepEqual(await arrows(page), [], 'none in flight');
  await setTime(page, 4);
  const shown = await arrows(page);
  assert.equal(shown.filter(({ kind }) => kind === 'contact').length, 4);
  for (const { at, text } of shown) {
    near(at[2], 0, 1e-5);
    assert.match(text, /contact force, (front|hind)_(left|right)_foot: [\d.]+ N/);
  }
  // Over whole oscillations the mean of the vertical forces is the weight.
  const { total_mass: mass } = JSON.parse(execFileSync(CATENA, ['info', join(MODELS, 'quadruped.yaml'), '--json']));
  const mean = await page.evaluate(() => {
    const { data } = window.catena;
    const columns = data.columns.filter(({ name }) => /^contact\..*\.z$/.test(name));
    const period = (2 * Math.PI) / 4;
    let [sum, count] = [0, 0];
    data.plotTimes.forEach((t, i) => {
      if (t < 1.5 || t > 1.5 + 2 * period) return;
      sum += columns.reduce((all, { values }) => all + values[i], 0);
      count += 1;
    });
    return sum / count;
  });
  near(mean / (9.81 * mass), 1, 0.01);
  const legend = await page.textContent('#arrow-legend');
  assert.match(legend, /contact force: 0\.\d+ m = [\d.]+ N/);
  await page.keyboard.press('k');
  assert.deepEqual(await arrows(page), []);
  assert.ok(!await page.isVisible('#arrow-legend'));
});

await test('collision shapes are shown on request', async (page) => {
  await open(page, 'slope');
  const visible = () => page.evaluate(() => {
    let count = 0;
    window.catena.scene.scene.traverse((part) => { if (part.userData.shownBy === 'collisions' && part.visible) ++count; });
    return count;
  });
  assert.equal(await visible(), 0);
  await page.click('#show-menu summary');
  await page.check('#show-collisions');
  assert.equal(await visible(), 1);
  // The box has the size of the model's collision shape.
  const size = await page.evaluate(() => {
    let found = null;
    window.catena.scene.scene.traverse((part) => {
      if (part.userData.body === 'collision shape of block') found = Object.values(part.geometry.parameters).slice(0, 3);
    });
    return found;
  });
  assert.deepEqual(size, [0.4, 0.3, 0.2]);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'slope_collision.png') });
});

await test('events are marked on the time line, with their text', async (page) => {
  await open(page, 'landing');
  const marks = page.locator('#marks i');
  assert.ok(await marks.count() > 0);
  await marks.first().hover();
  assert.ok(await page.isVisible('#hint'));
  assert.match(await page.textContent('#hint'), /0\.196\d* s: touch front_left_foot, normal velocity -1\.89/);
  await marks.first().click();
  near(await time(page), 0.19633, 1e-4);
  await page.mouse.move(10, 10);
  await until(page, () => document.querySelector('#hint').hidden);
});

await test('the table of events does not break words', async (page) => {
  await open(page, 'landing');
  await page.click('#tab-events');
  // Every word lies in one line box.
  const broken = await page.evaluate(() => {
    const found = [];
    for (const cell of document.querySelectorAll('#page-events td')) {
      const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const { data } = walk.currentNode;
        for (const match of data.matchAll(/\S+/g)) {
          const range = document.createRange();
          range.setStart(walk.currentNode, match.index);
          range.setEnd(walk.currentNode, match.index + match[0].length);
          if (range.getClientRects().length > 1) found.push(match[0]);
        }
      }
    }
    return found;
  });
  assert.deepEqual(broken, []);
  assert.ok(await page.locator('#page-events td').count() >= 16);
  assert.match(await page.textContent('#page-events'), /front_left_foot/);
}, { width: 1000 });
