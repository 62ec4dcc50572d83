// The three-dimensional view: camera, light and ground around the figures of one or several runs.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { Arrows } from './arrows.js';
import { heightFieldObject } from './bodies.js';
import { niceBelow } from './data.js';
import { corners, Figure } from './figure.js';
import { addLabels } from './labels.js';

const kLeastOwn = 0.03;  // size of a mechanism, of its way
const kMostCells = 90;   // of the ground, from its middle

export const matchesDark = () => document.documentElement.dataset.theme === 'dark';

export class Scene {
  constructor(container, report) {
    this.container = container;
    this.report = report;
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.15;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    container.prepend(this.renderer.domElement);
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 1000);
    this.scene = new THREE.Scene();
    this.controls = null;
    // What is shown on request, by `shownBy` of the objects.
    this.shown = { hinges: false, trails: false, frames: false, names: false, collisions: false,
      contacts: true, forces: false };
    this.enlarged = 1;
    this.arrowFactor = 1;
    this.followed = -1;
    this.dirty = true;
    new ResizeObserver(() => this.resize()).observe(container);
    this.resize();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.container;
    if (width === 0 || height === 0) return;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  get bodies() { return this.figures[0].bodies; }

  // More rows of the same run.
  update(data) {
    this.data = data;
    this.figures[0].data = data;
    this.arrows.setData(data);
    this.trails.clear();
    this.addTrails();
    this.placeAt(Math.min(this.time, data.end));
  }

  // All objects anew. The camera stays where it is when that is done again.
  load(data) {
    const again = this.data !== undefined;
    this.data = data;
    this.up = new THREE.Vector3(...data.up);
    for (const child of [...this.scene.children]) this.scene.remove(child);
    this.box = this.sweptBox([data, ...data.others]);
    this.size = Math.max(this.box.getSize(new THREE.Vector3()).length(), 1e-6);
    // Of the mechanism, not of its way: what is drawn at it has this size.
    this.own = Math.min(Math.max(this.own, kLeastOwn * this.size), this.size);
    this.figures = [data, ...data.others].map((run, i) => new Figure(run, this.own, this.report, { ghost: i > 0 }));
    this.scene.add(...this.figures.map(({ group }) => group));
    addLabels(this.figures[0], this.own, matchesDark());
    this.trails = new THREE.Group();
    this.trails.userData.shownBy = 'trails';
    this.addTrails();
    this.arrows = new Arrows(this.figures[0], this.own);
    this.arrows.factor = this.arrowFactor;
    this.scene.add(this.trails, this.arrows.group);
    this.setEnlarged(this.enlarged);
    this.placeAt(Math.min(this.time ?? data.start, data.end));
    for (const figure of this.figures)
      for (const body of figure.bodies) this.box.union(visibleBox(body));  // meshes too
    this.size = this.box.getSize(new THREE.Vector3()).length();
    this.addSurroundings();
    for (const [what, on] of Object.entries(this.shown)) this.show(what, on);
    if (!again) this.fit();
  }

  // The box around all points of all bodies at up to a hundred times. Finds `own` too.
  sweptBox(runs) {
    const box = new THREE.Box3();
    this.own = 0;
    for (const run of runs) {
      const figure = new Figure({ ...run, links: [], meshes: [], hinges: [] }, 1, () => {}, { ghost: true });
      this.own = Math.max(this.own, figure.addSweptPoints(box));
    }
    if (box.isEmpty()) box.expandByPoint(new THREE.Vector3(0, 0, 0));
    if (box.getSize(new THREE.Vector3()).length() < 1e-9) box.expandByScalar(0.5);
    return box;
  }

  addSurroundings() {
    const dark = matchesDark();
    const { scene, up, size, box } = this;
    this.background();
    const sky = new THREE.HemisphereLight('#ffffff', dark ? '#30343c' : '#b8bcc6', dark ? 1.3 : 1.7);
    sky.position.copy(up);
    const sun = new THREE.DirectionalLight('#ffffff', dark ? 2.2 : 2.5);
    const centre = box.getCenter(new THREE.Vector3());
    const side = new THREE.Vector3(0.5, 0.35, 0.6).projectOnPlane(up).normalize();
    sun.position.copy(centre).addScaledVector(up, 1.6 * size).addScaledVector(side, 0.9 * size);
    sun.target.position.copy(centre);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    sun.shadow.bias = -0.0004;
    sun.shadow.normalBias = 0.002 * size;
    sun.shadow.radius = 4;
    Object.assign(sun.shadow.camera, { left: -size, right: size, top: size, bottom: -size, near: 0.01 * size, far: 5 * size });
    scene.add(sky, sun, sun.target);
    this.addGround(centre, dark);
    scene.fog = new THREE.Fog(scene.background, 4 * size, 9 * size);
  }

  // The planes that contacts touch and the height field, where they are; without any, a floor below
  // everything.
  addGround(centre, dark) {
    const { size, own, up, box, data } = this;
    this.grounds = [];
    const add = (parent, point, normal, near = false) => {
      const group = new THREE.Group();
      group.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
      group.position.copy(point);
      const cell = niceBelow(Math.max(Math.min(size, 4 * own) / 6, (1.5 * size) / kMostCells));
      const reach = near ? 3 : Math.max(20, Math.ceil((1.5 * size) / cell));
      group.add(grid(cell, reach, dark ? '#3a404b' : '#cdd2da'));
      const shade = new THREE.Mesh(new THREE.PlaneGeometry(2 * cell * reach, 2 * cell * reach).rotateX(-Math.PI / 2),
        new THREE.ShadowMaterial({ opacity: dark ? 0.4 : 0.16, depthWrite: false }));
      shade.renderOrder = -1;  // below the lines of the grid, which lie in the same plane
      shade.receiveShadow = true;
      group.add(shade);
      parent.add(group);
      this.grounds.push({ point: point.toArray(), normal: normal.toArray() });
    };
    for (const plane of data.planes) {
      const normal = new THREE.Vector3(...plane.normal);
      const point = new THREE.Vector3(...plane.point);
      if (plane.body >= 0) add(this.figures[0].bodies[plane.body], point, normal, true);
      // Under the middle of what moves.
      else add(this.scene, centre.clone().addScaledVector(normal, point.clone().sub(centre).dot(normal)), normal);
    }
    const field = data.settings?.ground?.height_field;
    if (field?.heights) this.scene.add(heightFieldObject(field, dark));
    if (data.planes.length > 0 || field?.heights) return;
    const height = Math.min(...corners(box).map((p) => p.dot(up))) - 0.04 * size;
    add(this.scene, centre.clone().projectOnPlane(up).addScaledVector(up, height), up);
  }

  background() {
    this.scene.background = new THREE.Color(getComputedStyle(document.documentElement).getPropertyValue('--stage').trim());
  }

  addTrails() {
    for (const figure of this.figures) for (const line of figure.trails()) this.trails.add(line);
  }

  // Looks at everything, along the thinnest side of a flat mechanism.
  fit(box = this.box) {
    const { up, camera } = this;
    const size = Math.max(box.getSize(new THREE.Vector3()).length(), 1e-6);
    const extent = box.getSize(new THREE.Vector3());
    const flat = ['x', 'y', 'z'].find((axis) => extent[axis] < 0.12 * size && Math.abs(up[axis]) < 0.5);
    const away = new THREE.Vector3();
    if (flat) away[flat] = flat === 'y' ? -1 : 1;
    else away.set(1, -1.5, 1.2).projectOnPlane(up);
    away.normalize();
    const aside = new THREE.Vector3().crossVectors(up, away);
    const direction = away.addScaledVector(up, flat ? 0.22 : 0.45).addScaledVector(aside, flat ? 0.3 : 0).normalize();
    const centre = box.getCenter(new THREE.Vector3());
    camera.up.copy(up);
    camera.near = 0.005 * this.size;
    camera.far = 40 * this.size;
    // The distance at which all corners of the box are inside the picture.
    const forward = direction.clone().negate();
    const right = new THREE.Vector3().crossVectors(forward, up).normalize();
    const top = new THREE.Vector3().crossVectors(right, forward);
    const tall = Math.tan(THREE.MathUtils.degToRad(camera.fov / 2));
    let distance = 0.5 * size;
    for (const corner of corners(box)) {
      const p = corner.sub(centre);
      const need = Math.max(Math.abs(p.dot(top)) / tall, Math.abs(p.dot(right)) / (tall * camera.aspect));
      distance = Math.max(distance, need * 1.12 + p.dot(direction));
    }
    camera.position.copy(centre).addScaledVector(direction, distance);
    camera.updateProjectionMatrix();
    this.controls?.dispose();
    this.controls = new OrbitControls(camera, this.renderer.domElement);
    this.controls.target.copy(centre);
    this.controls.minDistance = 0.02 * this.size;
    this.controls.maxDistance = 12 * this.size;
    this.controls.addEventListener('change', () => { this.dirty = true; });
    this.controls.update();
    this.dirty = true;
  }

  placeAt(time) {
    this.time = time;
    for (const figure of this.figures) figure.placeAt(time);
    this.arrows.placeAt(time);
    this.keepUp();
    this.dirty = true;
  }

  // Bodies where a list of numbers says, one pose after the other.
  placeByPoses(poses, modal) {
    this.figures[0].placeByPoses(poses, modal);
    this.keepUp();
    this.dirty = true;
  }

  // Deflections are drawn so many times as large.
  setEnlarged(factor) {
    this.enlarged = factor;
    for (const figure of this.figures) figure.setEnlarged(factor);
    this.arrows?.placeAt(this.time ?? this.data.start);
    this.dirty = true;
  }

  setArrowFactor(factor) {
    this.arrowFactor = factor;
    this.arrows.factor = factor;
    this.arrows.placeAt(this.time);
    this.dirty = true;
  }

  show(what, on) {
    this.shown[what] = on;
    this.scene.traverse((part) => { if (part.userData.shownBy === what) part.visible = on; });
    Object.assign(this.arrows.shown, { contact: this.shown.contacts, force: this.shown.forces, moment: this.shown.forces });
    this.arrows.placeAt(this.time ?? this.data.start);
    this.dirty = true;
  }

  // The camera goes along with a body (-1: with none).
  follow(body) {
    this.followed = body;
    this.last = null;
    if (body < 0) return;
    const box = new THREE.Box3();
    for (const one of this.bodies) box.union(visibleBox(one));
    const distance = this.camera.position.distanceTo(this.controls.target);
    const near = Math.min(distance, 2.2 * box.getSize(new THREE.Vector3()).length());
    const direction = this.camera.position.clone().sub(this.controls.target).normalize();
    this.controls.target.copy(this.followedPoint());
    this.camera.position.copy(this.controls.target).addScaledVector(direction, near);
    this.controls.update();
    this.keepUp();
    this.dirty = true;
  }

  followedPoint() {
    return this.figures[0].groundPoint(this.followed, this.data.bodies[this.followed].center_of_mass);
  }

  keepUp() {
    if (this.followed < 0 || !this.controls) return;
    const now = this.followedPoint();
    if (this.last) {
      const way = now.clone().sub(this.last);
      this.camera.position.add(way);
      this.controls.target.add(way);
      this.controls.update();
    }
    this.last = now;
  }

  // What is under the pointer, by name.
  nameAt(x, y) {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * x - 1, 1 - 2 * y), this.camera);
    const seen = (object) => !object || (object.visible && seen(object.parent));
    const hit = ray.intersectObjects(this.scene.children, true)
      .find(({ object }) => object.userData.body && seen(object));
    return hit?.object.userData.body ?? '';
  }

  draw() {
    if (!this.dirty) return;
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
  }
}

// Around what is drawn of a body, without names, axes and collision shapes.
function visibleBox(body) {
  const box = new THREE.Box3();
  body.updateWorldMatrix(true, false);
  for (const child of body.children) if (!child.userData.shownBy) box.expandByObject(child);
  return box;
}

// Lines of a square grid, cell by cell: a line that passes the camera is not drawn everywhere.
function grid(cell, reach, colour) {
  const points = [];
  for (let i = -reach; i <= reach; ++i)
    for (let j = -reach; j < reach; ++j)
      points.push(new THREE.Vector3(i, 0, j), new THREE.Vector3(i, 0, j + 1),
        new THREE.Vector3(j, 0, i), new THREE.Vector3(j + 1, 0, i));
  const lines = new THREE.LineSegments(new THREE.BufferGeometry().setFromPoints(points),
    new THREE.LineBasicMaterial({ color: colour, transparent: true, opacity: 0.8 }));
  lines.scale.setScalar(cell);
  return lines;
}
