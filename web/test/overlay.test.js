// Two runs in one page; audit, plots and names.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { drawn, near, open, RUNS, setTime, test } from './harness.js';

await test('two runs lie over each other', async (page) => {
  await open(page, 'both');
  assert.equal(await page.textContent('#subtitle'), 'pendulum.h5 and high.h5');
  // Both mechanisms, each where its own run says.
  await setTime(page, 1.5);
  const ends = await page.evaluate(() => window.catena.scene.figures.map(({ bodies }) => bodies[1].position.toArray()));
  const angles = await page.evaluate(() => [window.catena.data, ...window.catena.data.others].map(({ columns, plotTimes }) =>
    columns.find(({ name }) => name === 'q.shoulder').values[plotTimes.findIndex((t) => Math.abs(t - 1.5) < 1e-9)]));
  angles.forEach((angle, i) => {
    near(ends[i][0], Math.sin(angle), 1e-5);
    near(ends[i][1], -Math.cos(angle), 1e-5);
  });
  assert.ok(Math.hypot(ends[0][0] - ends[1][0], ends[0][1] - ends[1][1]) > 0.1, 'they differ');
  // A curve of each, the second dashed.
  const series = await page.evaluate(() => window.catena.plots.plots[0].plot.series.slice(1).map(({ label, dash }) => [label, dash.length > 0]));
  assert.deepEqual(series.slice(0, 2), [['q.shoulder pendulum.h5', false], ['q.shoulder high.h5', true]]);
  const values = await page.locator('.legend span').first().locator('output').allTextContents();
  near(Number(values[0]), angles[0], 1e-3);
  near(Number(values[1]), angles[1], 1e-3);
  await page.click('#tab-audit');
  assert.deepEqual(await page.locator('.audit').first().locator('th').allTextContents().then((all) => all.slice(1, 3)), ['pendulum.h5', 'high.h5']);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'both.png') });
});

await test('the audit has units and a verdict, and no work of zero', async (page) => {
  await open(page, 'landing');
  await page.click('#tab-audit');
  assert.match(await page.locator('p.verdict').textContent(), /^Good/);
  const rows = await page.locator('.audit').first().locator('tr').evaluateAll((all) => all.map((row) => [...row.cells].map(({ textContent }) => textContent)));
  const row = (title) => rows.find(([first]) => first === title);
  assert.deepEqual(row('penetration').slice(2), ['m', 'good']);
  assert.equal(row('energy at the start')[2], 'J');
  assert.equal(row('linear momentum drift')[1], 'not conserved here');
  const work = await page.locator('#work tr').allTextContents();
  assert.ok(work.some((text) => text.startsWith('controller front_left_knee-9.8')), 'true names, with their work');
  assert.ok(work.every((text) => !/impacts/.test(text)), 'nothing hits a stop here');
  await page.click('#tab-settings');
  assert.match(await page.textContent('#page-settings'), /front_left_knee/);
  assert.doesNotMatch(await page.textContent('#page-settings'), /front left/);
});

await test('a run that lost its energy gets a poor verdict', async (page) => {
  await open(page, 'lossy');
  await page.click('#tab-audit');
  assert.match(await page.locator('p.verdict').textContent(), /^Poor/);
});

await test('a flexible body near the limits of its model makes the verdict fair', async (page) => {
  await open(page, 'hills');
  await page.click('#tab-audit');
  assert.match(await page.locator('p.verdict').textContent(), /^Fair/);
  const row = await page.locator('.audit tr', { hasText: 'arm.boom: deflection' }).locator('td').allTextContents();
  assert.deepEqual(row, ['0.15', 'of its length', 'fair']);
});

await test('what was asked for is plotted at first, and no quaternions', async (page) => {
  const chosen = () => page.evaluate(() => window.catena.plots.chosen);
  await open(page, 'landing');
  const first = await chosen();
  assert.ok(first.includes('q.base.z') && first.includes('q.front_left_knee'), String(first));
  assert.ok(first.every((name) => !/\.q[wxyz]$/.test(name)), String(first));
  await open(page, 'slope');  // simulated with --outputs energy.kinetic,contact.*
  assert.ok((await chosen()).every((name) => name === 'energy.kinetic' || name.startsWith('contact.')), String(await chosen()));
});

await test('plots have axes with units, and tell numbers where the pointer is', async (page) => {
  await open(page, 'pendulum');
  const labels = await page.evaluate(() => window.catena.plots.plots.map(({ plot }) => plot.axes.map(({ label }) => label)));
  assert.deepEqual(labels.slice(0, 2), [['time (s)', 'coordinate (rad)'], ['time (s)', 'velocity (rad/s)']]);
  const over = await page.locator('.u-over').first().boundingBox();
  await page.mouse.move(over.x + 0.25 * over.width, over.y + 0.5 * over.height);
  assert.ok(await page.isVisible('#hover'));
  const text = await page.locator('#hover div').allTextContents();
  const t = parseFloat(text[0]);
  near(t, 2.5, 0.1);
  const exact = await page.evaluate((at) => {
    const { columns, plotTimes } = window.catena.data;
    const i = plotTimes.findIndex((one) => one >= at);
    return columns.find(({ name }) => name === 'q.shoulder').values[i];
  }, t);
  near(parseFloat(text[1].replace('q.shoulder', '')), exact, 0.05);
  assert.match(text[1], / rad$/);
  await page.mouse.move(5, 5);
  assert.ok(!await page.isVisible('#hover'));
});

await test('rounding is shown as 0', async (page) => {
  await open(page, 'landing');
  await setTime(page, 1);
  // The quadruped is symmetric: it does not move sideways but for 1e-18 m.
  const y = await page.locator('.legend span', { hasText: 'q.base.y' }).locator('output').textContent();
  assert.equal(y, '0');
});
