// What the tests of the page share: a real browser, pages from files and from the server.
// tools/test-web.sh sets CATENA, WRITE_RUN, RUNS and MODELS.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

export const { CATENA, WRITE_RUN, RUNS, MODELS } = process.env;
const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

const browser = await chromium.launch({
  executablePath,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
});

let failures = 0;
const children = [];  // programs to stop, whatever happens
export const start = (...args) => {
  children.push(spawn(...args));
  return children.at(-1);
};
const only = process.argv[2] ?? '';  // run only tests with this in their name
export async function test(name, body, { width = 1366, height = 768, colorScheme = 'light' } = {}) {
  if (!name.includes(only)) return;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  const page = await context.newPage();
  page.setDefaultTimeout(120000);  // machines may be busy
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !message.text().includes('GPU stall')) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!/^(file|data|blob|http:\/\/127\.0\.0\.1)/.test(request.url())) complaints.push(`asks for ${request.url()}`);
  });
  const started = Date.now();
  try {
    await body(page);
    assert.deepEqual(complaints, []);
    console.log(`pass  ${name}  (${Date.now() - started} ms)`);
  } catch (error) {
    failures += 1;
    console.log(`FAIL  ${name}\n${error.stack}`);
  }
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await context.close();
}

export const open = async (page, run) => {
  await page.goto(pathToFileURL(join(RUNS, `${run}.html`)).href);
  await until(page, () => window.catena?.data);
};
export const time = (page) => page.evaluate(() => window.catena.time);
export const setTime = (page, t) => page.evaluate((to) => window.catena.setTime(to), t);
export const position = (page, body) => page.evaluate((name) => window.catena.bodyPosition(name), body);
export const drawn = (page) => page.evaluate(() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(done));
}));
// Takes a picture of the view; answers how many of its numbers differ from those of the last one.
export const differing = (page) => page.evaluate(() => {
  const view = document.querySelector('#viewport canvas');
  const copy = document.createElement('canvas');
  copy.width = view.width;
  copy.height = view.height;
  const context = copy.getContext('2d');
  context.drawImage(view, 0, 0);
  const { data } = context.getImageData(0, 0, copy.width, copy.height);
  let count = 0;
  if (window.before) for (let i = 0; i < data.length; ++i) if (Math.abs(data[i] - window.before[i]) > 24) ++count;
  window.before = data;
  return count;
});
// Waits until a function of the page answers true. (Playwright's own way needs eval, which the
// server's content policy forbids.)
export const until = async (page, question, argument) => {
  const last = Date.now() + 120000;
  while (!await page.evaluate(question, argument)) {
    assert.ok(Date.now() < last, `in vain: ${question}`);
    await new Promise((done) => { setTimeout(done, 50); });
  }
};
export const near = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

export async function serve(...args) {
  const server = start(CATENA, ['view', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(server.stdout, 'data');
  const url = String(line).match(/http:\/\/127\.0\.0\.1:\d+\//)[0];
  return { url, stop: async () => {
    server.kill('SIGINT');
    const [code] = await once(server, 'exit');
    assert.equal(code, 0);
  } };
}
export const status = (url, headers) => new Promise((done, fail) => {
  http.get(url, { headers }, (answer) => {
    answer.resume();
    done(answer.statusCode);
  }).on('error', fail);
});

// At the end of all tests.
export async function finish() {
  await browser.close();
  if (failures === 0) return;
  console.log(`${failures} failed`);
  process.exit(1);
}
