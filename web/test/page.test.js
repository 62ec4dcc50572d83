// The report page of a run, from a file and from the server.
import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  differing, drawn, MODELS, near, open, position, RUNS, serve, setTime, start, status, test, time, until, WRITE_RUN,
} from './harness.js';

await test('a page from a file shows the run', async (page) => {
  await open(page, 'pendulum');
  assert.equal(await page.textContent('#title'), 'double_pendulum');
  assert.equal(await page.textContent('#status'), 'complete');
  assert.match(await page.textContent('#subtitle'), /1001 rows/);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'pendulum_1366.png') });
});

await test('the animation moves, and where the kinematics says', async (page) => {
  await open(page, 'pendulum');
  await setTime(page, 0);
  await drawn(page);
  await differing(page);
  await setTime(page, 1.5);
  await drawn(page);
  assert.ok(await differing(page) > 500, 'the picture should change');
  // The lower link hangs at (sin, -cos) of the shoulder's angle, 1 m from the origin.
  for (const t of [0, 1.5, 7.25]) {
    await setTime(page, t);
    const [x, y] = await position(page, 'lower');
    const angle = await page.evaluate((at) => {
      const { data } = window.catena;
      const i = data.plotTimes.findIndex((one) => Math.abs(one - at) < 1e-9);
      return data.columns.find((column) => column.name === 'q.shoulder').values[i];
    }, t);
    near(x, Math.sin(angle), 1e-5);
    near(y, -Math.cos(angle), 1e-5);
  }
});

await test('it plays, pauses, and the keys work', async (page) => {
  await open(page, 'pendulum');
  await page.keyboard.press('Space');
  await until(page, () => window.catena.time > 0.05);
  await page.keyboard.press('Space');
  const stopped = await time(page);
  await page.waitForTimeout(200);
  assert.equal(await time(page), stopped);
  await page.keyboard.press('Home');
  assert.equal(await time(page), 0);
  await page.keyboard.press('ArrowRight');
  near(await time(page), 0.01, 1e-12);
  await page.keyboard.press('Shift+ArrowRight');
  near(await time(page), 0.11, 1e-12);
  await page.keyboard.press('ArrowLeft');
  near(await time(page), 0.1, 1e-12);
  await page.keyboard.press('End');
  assert.equal(await time(page), 10);
  const speed = await page.evaluate(() => window.catena.speed);
  await page.keyboard.press('+');
  assert.ok(await page.evaluate(() => window.catena.speed) > speed);
  await page.keyboard.press('-');
  assert.equal(await page.evaluate(() => window.catena.speed), speed);
  await page.keyboard.press('?');
  assert.ok(await page.isVisible('#help'));
});

await test('the mouse turns the view, and the slider moves the time', async (page) => {
  await open(page, 'pendulum');
  await drawn(page);
  await differing(page);
  const box = await page.locator('#viewport').boundingBox();
  await page.mouse.move(box.x + 200, box.y + 200);
  await page.mouse.down();
  await page.mouse.move(box.x + 320, box.y + 240, { steps: 4 });
  await page.mouse.up();
  await drawn(page);
  assert.ok(await differing(page) > 500);
  const slider = await page.locator('#slider').boundingBox();
  await page.mouse.click(slider.x + slider.width / 2, slider.y + slider.height / 2);
  near(await time(page), 5, 0.2);
});

await test('the plots show the recorded values', async (page) => {
  await open(page, 'pendulum');
  const shown = await page.evaluate(() => window.catena.plots.plots.flatMap(({ plot }) =>
    plot.series.slice(1).map((series, i) => [series.label, plot.data[i + 1].length])));
  assert.deepEqual(shown.map(([name]) => name),
    ['q.shoulder', 'q.elbow', 'v.shoulder', 'v.elbow', 'energy.kinetic', 'energy.potential', 'energy.total']);
  for (const [, length] of shown) assert.equal(length, 1001);
  // Kinetic and potential energy make the total, and that stays what it was.
  const sums = await page.evaluate(() => {
    const values = (name) => window.catena.data.columns.find((column) => column.name === name).values;
    const [k, p, e] = ['energy.kinetic', 'energy.potential', 'energy.total'].map(values);
    return [Math.max(...e.map((one, i) => Math.abs(one - k[i] - p[i]))), Math.max(...e) - Math.min(...e)];
  });
  near(sums[0], 0, 1e-12);
  near(sums[1], 0, 1e-6);
  // A click in a plot moves the time; the legend tells the value there.
  const over = await page.locator('.u-over').first().boundingBox();
  await page.mouse.click(over.x + over.width * 0.4, over.y + over.height / 2);
  near(await time(page), 4, 0.05);
  const legend = Number(await page.locator('.legend output').first().textContent());
  const exact = await page.evaluate(() => {
    const { data, time: t } = window.catena;
    const i = Math.floor(t / 0.01);
    const { values } = data.columns.find((column) => column.name === 'q.shoulder');
    return [values[i], values[i + 1]];
  });
  assert.ok(legend >= Math.min(...exact) - 1e-3 && legend <= Math.max(...exact) + 1e-3, `${legend} ${exact}`);
});

await test('columns are chosen by name', async (page) => {
  await open(page, 'pendulum');
  await page.fill('#filter', 'v. elb');
  assert.deepEqual(await page.locator('#columns label span').allTextContents(), ['v.elbow']);
  await page.locator('#columns input').first().uncheck();
  await page.fill('#filter', 'nothing like it');
  assert.match(await page.textContent('#columns'), /No column/);
  const labels = await page.evaluate(() => window.catena.plots.plots.flatMap(({ columns }) => columns.map((c) => c.name)));
  assert.ok(!labels.includes('v.elbow') && labels.includes('v.shoulder'));
});

await test('audit, events and settings', async (page) => {
  await open(page, 'pendulum');
  await page.click('#tab-audit');
  assert.match(await page.textContent('#page-audit'), /energy drift/);
  await page.click('#tab-settings');
  assert.match(await page.textContent('#page-settings'), /rk4/);
  await page.click('#tab-events');
  assert.match(await page.textContent('#page-events'), /hangs straight down/);
  const event = page.locator('#page-events button.link').first();
  const at = Number(await event.textContent());
  await event.click();
  near(await time(page), at, 1e-9);
  assert.ok(await page.locator('#marks i').count() > 0);
});

await test('closed loops look right without visuals', async (page) => {
  await open(page, 'bare');
  // The coupler's far end and the rocker's meet, 4.8 m and 2 m from their hinges.
  for (const t of [0, 1, 3, 5]) {
    await setTime(page, t);
    const [x, y, cx, cy] = await page.evaluate(() => {
      const end = (name, length) => {
        const { data, time: at } = window.catena;
        const i = data.bodies.findIndex((body) => body.name === name);
        const frame = data.times.findIndex((one) => one >= at - 1e-12);
        const [px, py, , , , qz, qw] = data.poses.slice((frame * data.bodies.length + i) * 7);
        const angle = 2 * Math.atan2(qz, qw);
        return [px + length * Math.cos(angle), py + length * Math.sin(angle)];
      };
      return [...end('coupler', 4.8), ...end('rocker', 2)];
    });
    near(x, cx, 1e-5);
    near(y, cy, 1e-5);
  }
  await page.keyboard.press('h');
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'bare_1366.png') });
});

await test('dark and large', async (page) => {
  await open(page, 'four_bar');
  await setTime(page, 2);
  await page.keyboard.press('p');
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'four_bar_dark_1920.png') });
  await page.keyboard.press('t');
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
}, { width: 1920, height: 1080, colorScheme: 'dark' });

await test('a million rows are thinned out, but no peak is lost', async (page) => {
  await open(page, 'million');
  const [points, peak, frames] = await page.evaluate(() => {
    const { data } = window.catena;
    const { values } = data.columns.find((column) => column.name === 'v.pivot');
    return [values.length, Math.max(...values), data.times.length];
  });
  assert.ok(points <= 8000 && frames <= 3000, `${points} ${frames}`);
  assert.equal(peak, 77);
  await page.click('#tab-settings');
  assert.match(await page.textContent('#page-settings'), /least and the greatest of every 250 rows/);
});

// ---- from the server
await test('a run that goes on is followed', async (page) => {
  const run = join(RUNS, 'slow.h5');
  rmSync(run, { force: true });
  const writer = start(WRITE_RUN, ['slow', MODELS, run], { stdio: 'ignore' });
  while (!existsSync(run)) await new Promise((done) => { setTimeout(done, 20); });
  const { url, stop } = await serve(run);
  await page.goto(url);
  await until(page, () => window.catena?.data.status === 'running');
  const rows = await page.evaluate(() => window.catena.data.rows);
  await until(page, (before) => window.catena.data.rows > before + 50, rows);
  writer.kill('SIGKILL');
  await until(page, () => window.catena.data.status === 'interrupted');
  assert.equal(await page.textContent('#status'), 'interrupted');
  await stop();
});

await test('only pages of this server are answered', async () => {
  const { url, stop } = await serve(join(RUNS, 'pendulum.h5'));
  assert.equal(await status(url, {}), 200);
  assert.equal(await status(`${url}data`, { Origin: url.slice(0, -1) }), 200);
  assert.equal(await status(`${url}data`, { Origin: 'http://evil.example' }), 403);
  assert.equal(await status(`${url}data`, { Origin: 'null' }), 403);
  assert.equal(await status(url, { Host: 'evil.example' }), 403);
  assert.equal(await status(url, { Host: `evil.example:${new URL(url).port}` }), 403);
  assert.equal(await status(`${url}etc/passwd`, {}), 404);
  await stop();
});

await test('a model has sliders that move it', async (page) => {
  const { url, stop } = await serve(join(MODELS, 'arm6.yaml'));
  await page.goto(url);
  await until(page, () => window.catena?.data);
  const before = await position(page, 'flange');
  await page.locator('.sliders input').nth(1).fill('0.5');
  await until(page, (was) => Math.hypot(...window.catena.bodyPosition('flange').map((x, i) => x - was[i])) > 0.05, before);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'arm6.png') });
  await stop();
});

// A tetrahedron has four triangles, whatever the format; a mesh that is not there has a note.
await test('meshes are part of the page', async (page) => {
  const corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const faces = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
  writeFileSync(join(RUNS, 'mesh.stl'), `solid t\n${faces.map((face) => `facet normal 0 0 0\nouter loop\n${
    face.map((i) => `vertex ${corners[i].join(' ')}`).join('\n')}\nendloop\nendfacet`).join('\n')}\nendsolid t\n`);
  writeFileSync(join(RUNS, 'mesh.obj'), `${corners.map((p) => `v ${p.join(' ')}`).join('\n')}\n${
    faces.map((face) => `f ${face.map((i) => i + 1).join(' ')}`).join('\n')}\n`);
  writeFileSync(join(RUNS, 'mesh.dae'), `<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="1"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh><source id="p"><float_array id="pa" count="12">${corners.flat().join(' ')}</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices><triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>${faces.flat().join(' ')}</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>`);
  const kinds = ['stl', 'obj', 'dae', 'ply'];
  writeFileSync(join(RUNS, 'meshes.yaml'), `catena: 1\nbodies:\n${kinds.map((kind) =>
    `  ${kind}: {mass: 1, inertia: [1, 1, 1], visuals: [{shape: mesh, mesh: mesh.${kind}}]}\n`).join('')}hinges:\n${kinds.map((kind, i) =>
    `  h_${kind}: {type: revolute, parent: world, child: ${kind}, at: [${2 * i}, 0, 0]}\n`).join('')}`);
  const { url, stop } = await serve(join(RUNS, 'meshes.yaml'));
  await page.goto(url);
  await until(page, () => window.catena?.data);
  for (const kind of ['stl', 'obj', 'dae'])
    assert.equal(await page.evaluate((name) => window.catena.triangles(name), kind), 4, kind);
  await page.click('#tab-settings');
  assert.match(await page.textContent('#page-settings'), /mesh.ply' was not found/);
  await drawn(page);
  await page.screenshot({ path: join(RUNS, 'meshes.png') });
  await stop();
});
