// What the view shows on request: switches, sizes, and which body the camera follows.
import { element, pretty } from './data.js';

const kEnlarged = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const kAmplitudes = [0, 0.1, 0.2, 0.5, 1, 1.5, 2, 3];
const kArrows = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];

// name, key, title; `when`: only if the data have it
const switches = [
  ['hinges', 'h', 'Hinges', ({ hinges }) => hinges.length > 0],
  ['trails', 'p', 'Paths of the mass centres', ({ times }) => times.length > 1],
  ['frames', 'x', 'Frames', () => true],
  ['names', 'n', 'Names of bodies', () => true],
  ['collisions', 'c', 'Collision shapes', ({ bodies, contacts }) => contacts?.length > 0 || bodies.some(({ collisions }) => collisions?.length > 0)],
  ['contacts', 'k', 'Contact points and forces', ({ contactForces }) => contactForces !== null],
  ['forces', 'm', 'Forces and moments at hinges', ({ hingeForces }) => hingeForces !== null],
];

function stepped(title, id, values, first, onChange) {
  const input = element('input', { type: 'range', id, min: 0, max: values.length - 1, step: 1, value: values.indexOf(first) });
  const output = element('output', {}, `\u00d7 ${first}`);
  input.addEventListener('input', () => {
    const value = values[Number(input.value)];
    output.textContent = `\u00d7 ${pretty(value)}`;
    onChange(value);
  });
  return element('label', { className: 'stepped' }, element('span', {}, title), input, output);
}

export class Menu {
  constructor(holder, legend) {
    this.holder = holder;
    this.legend = legend;
    this.boxes = new Map();
  }

  // `scene` must be loaded.
  build(data, scene) {
    this.scene = scene;
    this.boxes.clear();
    const rows = switches.filter(([, , , when]) => when(data)).map(([name, key, title]) => {
      const box = element('input', { type: 'checkbox', checked: scene.shown[name], id: `show-${name}` });
      box.addEventListener('change', () => this.set(name, box.checked));
      this.boxes.set(key, [name, box]);
      return element('label', {}, box, element('span', {}, title), element('kbd', {}, key.toUpperCase()));
    });
    if (data.rest)
      rows.push(stepped('Amplitude', 'enlarge', kAmplitudes, scene.enlarged, (x) => scene.setEnlarged(x)));
    else if (data.flexible.length > 0)
      rows.push(stepped('Deflections', 'enlarge', kEnlarged, scene.enlarged, (x) => this.enlarge(x)));
    if (data.contactForces || data.hingeForces)
      rows.push(stepped('Arrows', 'arrow-length', kArrows, scene.arrowFactor, (x) => {
        scene.setArrowFactor(x);
        this.showLegend();
      }));
    if (data.bodies.length > 0 && data.times.length > 1 && !data.rest) {
      const choose = element('select', { id: 'follow' }, element('option', { value: '-1' }, 'nothing'),
        ...data.bodies.flatMap(({ name, role }, i) => (role === 'modes' ? [] : [element('option', { value: String(i) }, name)])));
      choose.value = String(scene.followed);
      choose.addEventListener('change', () => scene.follow(Number(choose.value)));
      rows.push(element('label', { className: 'stepped' }, element('span', {}, 'Camera follows'), choose));
    }
    this.holder.replaceChildren(...rows);
    this.showLegend();
  }

  set(name, on) {
    this.scene.show(name, on);
    this.showLegend();
  }

  enlarge(factor) {
    this.scene.setEnlarged(factor);
    this.showLegend();
  }

  // True: the key is one of the switches.
  press(key) {
    const found = this.boxes.get(key);
    if (!found) return false;
    const [name, box] = found;
    box.checked = !box.checked;
    this.set(name, box.checked);
    return true;
  }

  showLegend() {
    const { data, enlarged, arrows, figures } = this.scene;
    const lines = arrows.legend().map(({ colour, text }) => {
      const swatch = element('i');
      swatch.style.background = colour;
      return element('div', {}, swatch, text);
    });
    if (!data.rest && enlarged !== 1) lines.push(element('div', {}, `deflections enlarged ${enlarged} times`));
    if (figures.length > 1)
      lines.push(element('div', {}, `solid: ${data.label}`), element('div', {}, `transparent: ${data.others.map(({ label }) => label).join(', ')}`));
    this.legend.replaceChildren(...lines);
    this.legend.hidden = lines.length === 0;
  }
}
