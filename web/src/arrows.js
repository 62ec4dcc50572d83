// Arrows of forces and moments at a time: of contacts on their bodies, and at hinges. Lengths are
// proportional; scale() tells how, for the legend.
import * as THREE from 'three';
import { between, niceBelow, pretty } from './data.js';

const kLongest = 0.28;   // of the mechanism's size, for the force below
const kUsual = 0.98;     // of all forces of the run are not larger than it
const kMost = 0.6;       // of the size: arrows of impacts end there
const kContact = 7;      // numbers: which, point, force
const kHinge = 6;        // force, moment

export const arrowKinds = {
  contact: { colour: '#0f9d58', unit: 'N', title: 'contact force' },
  force: { colour: '#c026d3', unit: 'N', title: 'force at a hinge' },
  moment: { colour: '#ea580c', unit: 'N m', title: 'moment at a hinge' },
};

// One arrow along y, of length 1 before place().
function arrowObject(kind, size) {
  // Seen through the bodies they act on.
  const look = new THREE.MeshStandardMaterial({ color: arrowKinds[kind].colour, roughness: 0.5, depthTest: false, transparent: true, opacity: 0.9 });
  const group = new THREE.Group();
  const thick = 0.0055 * size;
  const shaft = new THREE.Mesh(new THREE.CylinderGeometry(thick, thick, 1, 12), look);
  const heads = (kind === 'moment' ? [0, 1] : [0]).map(() =>
    new THREE.Mesh(new THREE.ConeGeometry(2.6 * thick, 7 * thick, 16), look));
  group.add(shaft, ...heads);
  if (kind === 'contact') group.add(new THREE.Mesh(new THREE.SphereGeometry(1.9 * thick, 16, 10), look));
  group.traverse((part) => { part.renderOrder = 5; });
  const up = new THREE.Vector3(0, 1, 0);
  group.userData.place = (at, vector, length, name) => {
    group.visible = length > 0;
    if (length === 0) return;
    group.position.copy(at);
    group.quaternion.setFromUnitVectors(up, vector.clone().normalize());
    const head = Math.min(7 * thick, 0.5 * length);
    heads.forEach((cone, i) => {
      cone.scale.setScalar(head / (7 * thick));
      cone.position.y = length - (0.5 + 0.75 * i) * head;
    });
    shaft.scale.y = Math.max(length - head, 1e-9);
    shaft.position.y = 0.5 * (length - head);
    const text = `${arrowKinds[kind].title}, ${name}: ${pretty(vector.length(), 4)} ${arrowKinds[kind].unit}`;
    group.traverse((part) => { part.userData.body = text; });
  };
  return group;
}

// The size that nearly all of these vectors do not pass.
function usual(values, stride, offset) {
  const sizes = [];
  for (let i = offset; i + 2 < values.length; i += stride) {
    const size = Math.hypot(values[i], values[i + 1], values[i + 2]);
    if (size > 0 && Number.isFinite(size)) sizes.push(size);
  }
  sizes.sort((a, b) => a - b);
  return sizes.length > 0 ? sizes[Math.min(sizes.length - 1, Math.floor(kUsual * sizes.length))] : 0;
}

export class Arrows {
  constructor(figure, size) {
    this.figure = figure;
    this.size = size;
    this.factor = 1;
    this.group = new THREE.Group();
    this.pools = { contact: [], force: [], moment: [] };
    this.shown = { contact: true, force: false, moment: false };
    this.setData(figure.data);
  }

  // Also when rows of a run that goes on have come.
  setData(data) {
    this.data = data;
    const { contactForces: contacts, hingeForces: hinges } = data;
    this.usual = {
      contact: contacts ? usual(contacts.values, kContact, 4) : 0,
      force: hinges ? usual(hinges.values, kHinge, 0) : 0,
      moment: hinges ? usual(hinges.values, kHinge, 3) : 0,
    };
  }

  has(kind) { return this.usual[kind] > 0; }

  // Metres for a newton or newton metre.
  scale(kind) { return this.usual[kind] > 0 ? (this.factor * kLongest * this.size) / this.usual[kind] : 0; }

  // "contact force, 0.1 m = 50 N" of the kinds that are shown.
  legend() {
    return Object.entries(arrowKinds).filter(([kind]) => this.has(kind) && this.shown[kind]).map(([kind, { colour, unit, title }]) => {
      const length = niceBelow(0.2 * this.size);
      return { colour, text: `${title}: ${pretty(length, 3)} m = ${pretty(length / this.scale(kind), 3)} ${unit}` };
    });
  }

  placeAt(time) {
    this.used = { contact: 0, force: 0, moment: 0 };
    const at = between(this.data.times, time);
    if (this.data.times.length > 0) {
      if (this.shown.contact && this.data.contactForces) this.placeContacts(at);
      if ((this.shown.force || this.shown.moment) && this.data.hingeForces) this.placeHinges(at);
    }
    for (const [kind, pool] of Object.entries(this.pools))
      pool.forEach((arrow, i) => { if (i >= this.used[kind]) arrow.visible = false; });
  }

  put(kind, point, vector, name) {
    const pool = this.pools[kind];
    const i = this.used[kind]++;
    if (i >= pool.length) {
      pool.push(arrowObject(kind, this.size));
      this.group.add(pool[i]);
    }
    const length = Math.min(vector.length() * this.scale(kind), kMost * this.size);
    pool[i].userData.place(point, vector, Number.isFinite(length) ? length : 0, name);
  }

  placeContacts({ i, j, f }) {
    const { starts, values } = this.data.contactForces;
    const next = new Map();
    if (f > 0) for (let k = starts[j]; k < starts[j + 1]; ++k) next.set(values[k * kContact], k * kContact);
    const [point, vector, other] = [0, 1, 2].map(() => new THREE.Vector3());
    for (let k = starts[i]; k < starts[i + 1]; ++k) {
      const at = k * kContact;
      point.fromArray(values, at + 1);
      vector.fromArray(values, at + 4);
      const later = next.get(values[at]);
      if (later !== undefined) {
        point.lerp(other.fromArray(values, later + 1), f);
        vector.lerp(other.fromArray(values, later + 4), f);
      }
      this.put('contact', point, vector, this.data.contacts[values[at]].name);
    }
  }

  placeHinges({ i, j, f }) {
    const { places, values } = this.data.hingeForces;
    const [vector, other] = [0, 1].map(() => new THREE.Vector3());
    places.forEach(({ name, body, point }, k) => {
      const at = this.figure.groundPoint(body, point);
      ['force', 'moment'].forEach((kind, part) => {
        if (!this.shown[kind] || !this.has(kind)) return;
        vector.fromArray(values, (i * places.length + k) * kHinge + 3 * part);
        vector.lerp(other.fromArray(values, (j * places.length + k) * kHinge + 3 * part), f);
        if (vector.lengthSq() > 0) this.put(kind, at, vector, name);
      });
    });
  }

  // What is drawn now: kind, base, vector.
  list() {
    return Object.entries(this.pools).flatMap(([kind, pool]) => pool.filter((arrow) => arrow.visible)
      .map((arrow) => ({ kind, at: arrow.position.toArray(), text: arrow.userData.body })));
  }
}
