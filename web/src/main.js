// Puts the page together: data, view, plots, panels, time, keys.
import './style.css';
import { decode, element, floats, indexAt, pretty } from './data.js';
import { Menu } from './menu.js';
import { allEvents, showAudit, showEvents, showModes, showSettings, showSliders } from './panels.js';
import { fileName, makeGif, saveGif, savePng } from './pictures.js';
import { Plots } from './plots.js';
import { Scene } from './scene.js';
import { showMarks } from './timeline.js';

const kSpeeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];
const kPollEvery = 1000;  // ms, while a run goes on

const byId = (id) => document.getElementById(id);
let data = null;
let time = 0;
let playing = false;
let speed = 1;

function report(text) {
  const message = byId('message');
  message.hidden = false;
  message.append(element('p', {}, text));
}

// ---- theme
const wantsDark = matchMedia('(prefers-color-scheme: dark)');
function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  if (data) loadViews();
}
document.documentElement.dataset.theme = wantsDark.matches ? 'dark' : 'light';
const isDark = () => document.documentElement.dataset.theme === 'dark';
wantsDark.addEventListener('change', (event) => setTheme(event.matches));

// ---- pages
const pages = {};
function addPage(name, title) {
  const tab = element('button', { role: 'tab', textContent: title, id: `tab-${name}` });
  const page = element('div', { role: 'tabpanel', id: `page-${name}`, hidden: true });
  tab.addEventListener('click', () => showPage(name));
  byId('tabs').append(tab);
  byId('pages').append(page);
  pages[name] = { tab, page };
  return page;
}
function showPage(name) {
  for (const [other, { tab, page }] of Object.entries(pages)) {
    page.hidden = other !== name;
    tab.setAttribute('aria-selected', String(other === name));
  }
  if (name === 'plots') plots?.resize();
}

// ---- time
let scene = null;
let plots = null;
let menu = null;
let mode = 0;  // in a page of modes
function setTime(wanted) {
  time = Math.min(Math.max(wanted, data.start), data.end);
  scene?.placeAt(time);
  plots?.setTime(time);
  const span = data.end - data.start;
  byId('slider').value = span > 0 ? (time - data.start) / span : 0;
  byId('clock').textContent = data.modes ? `phase ${Math.round(360 * time)}\u00b0`
    : `${time.toFixed(decimals(span))} / ${data.end.toFixed(decimals(span))} s`;
}
const decimals = (span) => (span > 0 ? Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(span)))) : 0);

function setPlaying(on) {
  playing = on && data.end > data.start;
  if (playing && time >= data.end) setTime(data.start);
  byId('play-button').classList.toggle('playing', playing);
}
function setSpeed(value) {
  speed = value;
  byId('speed').value = String(value);
}
function changeSpeed(by) {
  const i = kSpeeds.indexOf(speed) + by;
  setSpeed(kSpeeds[Math.min(Math.max(i, 0), kSpeeds.length - 1)]);
}
function step(frames) {
  setPlaying(false);
  const i = indexAt(data.times, time);
  const between = time > data.times[i] && frames < 0 ? 1 : 0;  // from between two frames back to the first
  setTime(data.times[Math.min(Math.max(i + frames + between, 0), data.times.length - 1)] ?? 0);
}

let before = 0;
function tick(now) {
  if (playing) {
    const next = time + (speed * Math.min(now - before, 100)) / 1000;
    setTime(data.modes && next >= data.end ? data.start + ((next - data.start) % (data.end - data.start)) : next);
    if (next >= data.end && !data.modes) {
      if (data.status === 'running') setTime(data.end);
      else setPlaying(false);
    }
  }
  before = now;
  scene?.draw();
  requestAnimationFrame(tick);
}

// ---- everything that depends on the data
const statusTexts = { complete: 'complete', interrupted: 'interrupted', running: 'running', model: 'model', modes: 'modes' };
function load(raw) {
  const more = data !== null;  // rows of a run that goes on
  const following = more && time >= data.end;
  data = decode(raw, data?.meshes);
  document.title = `${data.title} - Catena`;
  byId('title').textContent = data.title;
  byId('subtitle').textContent = subtitle();
  byId('status').textContent = statusTexts[data.status] ?? data.status;
  byId('status').className = `chip ${data.status}`;
  byId('transport').hidden = data.status === 'model';
  byId('gif-button').hidden = data.status === 'model';
  showMarks(byId('marks'), byId('hint'), allEvents(data), data.start, data.end, setTime);
  if (more) {
    scene?.update(data);
    plots?.update(data);
    loadPages();
  } else loadViews();
  setTime(following ? data.end : time);
}

function subtitle() {
  if (data.modes) return data.model_path;
  if (data.status === 'model') return data.model_path;
  if (data.others.length > 0) return [data, ...data.others].map(({ label }) => label).join(' and ');
  return `${data.rows} rows \u00b7 ${pretty(data.end - data.start, 5)} s`;
}

function loadViews() {
  if (data.modes) takeMode(mode);
  scene?.load(data);
  if (scene) menu.build(data, scene);
  plots?.load(data);
  loadPages();
}

function loadPages() {
  if (pages.audit) showAudit(pages.audit.page, data);
  if (pages.events) {
    showEvents(pages.events.page, data, setTime);
    const count = allEvents(data).length;
    pages.events.tab.textContent = count > 0 ? `Events (${count})` : 'Events';
  }
  if (pages.modes) showModes(pages.modes.page, data, mode, setMode);
  if (pages.settings) showSettings(pages.settings.page, data);
}

// ---- modes: each has frames of its own
function takeMode(index) {
  mode = index;
  const { frames } = data.modes[index];
  data.poses = floats(frames.poses);
  data.modal = floats(frames.modal);
}
function setMode(index) {
  takeMode(index);
  showModes(pages.modes.page, data, mode, setMode);
  setTime(time);
}

// ---- from the server: a run that goes on, a model that is moved
async function follow() {
  try {
    const state = await (await fetch(`state?rows=${data.rows}`)).json();
    if (state.rows !== data.rows || state.status !== data.status) load(await (await fetch('data?meshes=no')).json());
  } catch {
    return;  // the server has ended
  }
  if (data.status === 'running') setTimeout(follow, kPollEvery);
}

let moving = false;
let wanted = null;
let cameTo = null;  // tells the sliders
async function move(values) {
  wanted = [...values];
  if (moving) return;
  moving = true;
  while (wanted) {
    const sent = wanted;
    wanted = null;
    try {
      const answer = await (await fetch(`pose?q=${sent.join(',')}`)).json();
      scene?.placeByPoses(floats(answer.poses), floats(answer.modal));
      if (!wanted) cameTo(answer.values, answer.problem);
    } catch {
      report('The server does not answer any more.');
    }
  }
  moving = false;
}

// ---- keys and mouse
const keys = {
  ' ': () => setPlaying(!playing),
  ArrowRight: (event) => step(event.shiftKey ? 10 : 1),
  ArrowLeft: (event) => step(event.shiftKey ? -10 : -1),
  Home: () => setTime(data.start),
  End: () => setTime(data.end),
  '+': () => changeSpeed(1),
  '=': () => changeSpeed(1),
  '-': () => changeSpeed(-1),
  f: () => scene?.fit(),
  s: () => savePicture(),
  t: () => setTheme(!isDark()),
  '?': () => byId('help').showModal(),
};

// ---- pictures
const savePicture = () => scene && savePng(scene, fileName(data.title, 'png'));
const gifOptions = () => {
  const back = time;
  return {
    start: data.start, end: data.end, speed: data.modes ? 0.5 : speed, show: setTime,
    progress: (part) => {
      byId('gif-button').textContent = part < 1 ? `${Math.round(100 * part)} %` : 'GIF';
      if (part === 1 || stopGif) setTime(back);
      return !stopGif;
    },
  };
};
let stopGif = true;  // none is being made
async function animate() {
  if (!scene) return;
  if (!stopGif) {
    stopGif = true;
    return;
  }
  stopGif = false;
  setPlaying(false);
  await saveGif(scene, fileName(data.title, 'gif'), gifOptions());
  stopGif = true;
  byId('gif-button').textContent = 'GIF';
}

document.addEventListener('keydown', (event) => {
  const typing = event.target.matches('input[type=search], select') || byId('help').open;
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (menu?.press(event.key.toLowerCase())) {
    event.preventDefault();
    return;
  }
  const action = keys[event.key] ?? keys[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action(event);
});
document.addEventListener('pointerdown', (event) => {
  if (!byId('show-menu').contains(event.target)) byId('show-menu').open = false;
});
byId('play-button').addEventListener('click', () => setPlaying(!playing));
byId('start-button').addEventListener('click', () => setTime(data.start));
byId('end-button').addEventListener('click', () => setTime(data.end));
byId('slider').addEventListener('input', (event) => {
  setTime(data.start + Number(event.target.value) * (data.end - data.start));
});
byId('fit-button').addEventListener('click', keys.f);
byId('png-button').addEventListener('click', keys.s);
byId('gif-button').addEventListener('click', animate);
byId('theme-button').addEventListener('click', keys.t);
byId('help-button').addEventListener('click', keys['?']);
for (const value of kSpeeds) byId('speed').append(element('option', { value: String(value) }, `${value}\u00d7`));
byId('speed').addEventListener('change', (event) => {
  setSpeed(Number(event.target.value));
  event.target.blur();
});
byId('viewport').addEventListener('pointermove', (event) => {
  const tip = byId('tooltip');
  const area = byId('viewport').getBoundingClientRect();
  const x = event.clientX - area.left;
  const y = event.clientY - area.top;
  tip.textContent = event.buttons === 0 && scene ? scene.nameAt(x / area.width, y / area.height) : '';
  tip.hidden = tip.textContent === '';
  tip.style.left = `${x + 14}px`;
  tip.style.top = `${y + 10}px`;
});
byId('viewport').addEventListener('pointerleave', () => { byId('tooltip').hidden = true; });

// ---- start
function start() {
  const raw = JSON.parse(byId('report-data').textContent);
  if (typeof raw === 'string') {
    report('This is the empty template of a report. `catena report RUN -o report.html` fills it.');
    return;
  }
  try {
    scene = new Scene(byId('viewport'), report);
    menu = new Menu(byId('show-list'), byId('arrow-legend'));
  } catch (problem) {
    report(`There is no animation: this browser has no WebGL (${problem.message}).`);
  }
  if (raw.modes) {
    addPage('modes', 'Modes');
  } else if (raw.status === 'model') {
    if (raw.coordinates?.length > 0) addPage('sliders', 'Coordinates');
  } else {
    plots = new Plots(addPage('plots', 'Plots'), setTime);
    addPage('audit', 'Audit');
    addPage('events', 'Events');
  }
  addPage('settings', raw.status === 'model' || raw.modes ? 'Model' : 'Settings');
  time = decode(raw).start;
  load(raw);
  if (pages.sliders) cameTo = showSliders(pages.sliders.page, data, move);
  showPage(Object.keys(pages)[0]);
  // At first a run takes at most about twenty seconds, and at least two.
  const span = Math.max(data.end - data.start, 1e-9);
  setSpeed(span > 20 ? kSpeeds.find((s) => span / s <= 20) ?? 100 : [...kSpeeds].reverse().find((s) => s <= 1 && span / s >= 2) ?? kSpeeds[0]);
  if (data.modes) {
    setSpeed(0.5);
    setPlaying(true);
  }
  requestAnimationFrame(tick);
  if (data.status === 'running') setTimeout(follow, kPollEvery);
}
start();

// For scripts and tests.
const objectOf = (name) => scene.bodies[data.bodies.findIndex((body) => body.name === name)];
window.catena = {
  get data() { return data; },
  get time() { return time; },
  get playing() { return playing; },
  get speed() { return speed; },
  get plots() { return plots; },
  get scene() { return scene; },
  get mode() { return mode; },
  setTime, setPlaying, setMode,
  gif: () => makeGif(scene, { ...gifOptions(), progress: () => true }),
  bodyPosition: (name) => objectOf(name).position.toArray(),
  triangles: (name) => {
    let count = 0;
    objectOf(name).traverse(({ isMesh, visible, geometry }) => {
      if (isMesh && visible) count += (geometry.index ?? geometry.attributes.position).count / 3;
    });
    return count;
  },
};
