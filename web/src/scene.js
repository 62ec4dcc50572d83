// The three-dimensional view: camera, light and ground around the bodies of bodies.js, and their
// poses at a time.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { bodyObject, hingeObject, linkObject, palette, supportObject } from './bodies.js';
import { indexAt } from './data.js';

const kPose = 7;  // position, then quaternion x, y, z, w

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
    this.showHinges = false;
    this.showTrails = false;
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

  // More rows of the same run.
  update(data) {
    this.data = data;
    this.trails.clear();
    this.addTrails();
    this.placeAt(Math.min(this.time, data.end));
  }

  // All objects anew. The camera stays where it is when that is done again.
  load(data) {
    const again = this.data !== undefined;
    this.data = data;
    this.up = new THREE.Vector3(...data.up);
    this.box = this.sweptBox();
    this.size = Math.max(this.box.getSize(new THREE.Vector3()).length(), 1e-6);
    for (const child of [...this.scene.children]) this.scene.remove(child);
    this.bodies = data.bodies.map((body, i) => bodyObject(body, i, data.meshes, this.size, this.report));
    this.hinges = new THREE.Group();
    data.hinges.forEach((hinge) => {
      const marker = hingeObject(hinge, this.size);
      const parent = hinge.child < 0 ? this.hinges : this.bodies[hinge.child];
      marker.userData.marker = true;
      marker.visible = this.showHinges;
      parent.add(marker);
    });
    this.links = data.links.map((link) => linkObject(link, this.size));
    this.scene.add(...this.bodies, ...this.links, this.hinges);
    for (const point of data.ground_points) this.scene.add(supportObject(point, this.up, this.size));
    this.trails = new THREE.Group();
    this.trails.visible = this.showTrails;
    this.scene.add(this.trails);
    this.addTrails();
    this.placeAt(Math.min(this.time ?? data.start, data.end));
    for (const body of this.bodies) this.box.union(new THREE.Box3().setFromObject(body));  // meshes too
    this.size = this.box.getSize(new THREE.Vector3()).length();
    this.addSurroundings();
    if (!again) this.fit();
  }

  // The box around all points of all bodies at up to a hundred times.
  sweptBox() {
    const { data } = this;
    const box = new THREE.Box3();
    for (const p of data.ground_points) box.expandByPoint(new THREE.Vector3(...p));
    const points = data.bodies.map((body) => bodyPoints(body));
    const step = Math.max(1, Math.floor(data.times.length / 100));
    const position = new THREE.Vector3();
    const rotation = new THREE.Quaternion();
    for (let frame = 0; frame < data.times.length; frame += step)
      data.bodies.forEach((_, i) => {
        this.pose(frame, i, position, rotation);
        for (const p of points[i]) box.expandByPoint(p.clone().applyQuaternion(rotation).add(position));
      });
    if (box.isEmpty()) box.expandByPoint(new THREE.Vector3(0, 0, 0));
    if (box.getSize(new THREE.Vector3()).length() < 1e-9) box.expandByScalar(0.5);
    return box;
  }

  pose(frame, body, position, rotation) {
    const at = (frame * this.data.bodies.length + body) * kPose;
    position.fromArray(this.data.poses, at);
    rotation.fromArray(this.data.poses, at + 3);
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

    // The ground lies below everything the mechanism touches.
    const height = Math.min(...corners(box).map((p) => p.dot(up))) - 0.04 * size;
    const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), up);
    const place = (object) => {
      object.quaternion.premultiply(turn);
      object.position.copy(centre).projectOnPlane(up).addScaledVector(up, height);
      scene.add(object);
    };
    const cell = niceBelow(size / 6);
    place(grid(cell, 20, dark ? '#3a404b' : '#cdd2da'));
    const shade = new THREE.Mesh(new THREE.PlaneGeometry(cell * 40, cell * 40).rotateX(-Math.PI / 2),
      new THREE.ShadowMaterial({ opacity: dark ? 0.4 : 0.16, depthWrite: false }));
    shade.renderOrder = -1;  // below the lines of the grid, which lie in the same plane
    shade.receiveShadow = true;
    place(shade);
    scene.fog = new THREE.Fog(scene.background, 4 * size, 9 * size);
  }

  background() {
    this.scene.background = new THREE.Color(getComputedStyle(document.documentElement).getPropertyValue('--stage').trim());
  }

  addTrails() {
    const { data } = this;
    if (data.times.length < 2) return;
    const position = new THREE.Vector3();
    const rotation = new THREE.Quaternion();
    data.bodies.forEach((body, i) => {
      const points = [];
      const own = new THREE.Vector3(...body.center_of_mass);
      for (let frame = 0; frame < data.times.length; ++frame) {
        this.pose(frame, i, position, rotation);
        points.push(own.clone().applyQuaternion(rotation).add(position));
      }
      const line = new THREE.Line(new THREE.BufferGeometry().setFromPoints(points),
        new THREE.LineBasicMaterial({ color: palette[i % palette.length], transparent: true, opacity: 0.75 }));
      this.trails.add(line);
    });
  }

  // Looks at everything, along the thinnest side of a flat mechanism.
  fit() {
    const { box, up, size, camera } = this;
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
    camera.near = 0.01 * size;
    camera.far = 40 * size;
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
    this.controls.minDistance = 0.05 * size;
    this.controls.maxDistance = 12 * size;
    this.controls.addEventListener('change', () => { this.dirty = true; });
    this.controls.update();
    this.dirty = true;
  }

  // Bodies at a time: between two frames along a straight line and the short way round.
  placeAt(time) {
    const { data } = this;
    this.time = time;
    if (data.times.length === 0) return;
    const i = indexAt(data.times, time);
    const j = Math.min(i + 1, data.times.length - 1);
    const gap = data.times[j] - data.times[i];
    const f = gap > 0 ? Math.min(1, Math.max(0, (time - data.times[i]) / gap)) : 0;
    const position = new THREE.Vector3();
    const rotation = new THREE.Quaternion();
    this.bodies.forEach((object, body) => {
      this.pose(i, body, object.position, object.quaternion);
      if (f === 0) return;
      this.pose(j, body, position, rotation);
      object.position.lerp(position, f);
      object.quaternion.slerp(rotation, f);
    });
    this.placeLinks();
    this.dirty = true;
  }

  // Bodies where a list of numbers says, one pose after the other.
  placeByPoses(poses) {
    this.bodies.forEach((object, body) => {
      object.position.fromArray(poses, body * kPose);
      object.quaternion.fromArray(poses, body * kPose + 3);
    });
    this.placeLinks();
    this.dirty = true;
  }

  placeLinks() {
    const place = (end) => {
      const p = new THREE.Vector3(...end.point);
      if (end.body < 0) return p;
      const body = this.bodies[end.body];
      return p.applyQuaternion(body.quaternion).add(body.position);
    };
    this.data.links.forEach((link, i) => this.links[i].userData.place(place(link.a), place(link.b)));
  }

  setHinges(show) {
    this.showHinges = show;
    this.scene.traverse((part) => { if (part.userData.marker) part.visible = show; });
    this.dirty = true;
  }

  setTrails(show) {
    this.showTrails = show;
    this.trails.visible = show;
    this.dirty = true;
  }

  // What is under the pointer, by name.
  nameAt(x, y) {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(2 * x - 1, 1 - 2 * y), this.camera);
    const hit = ray.intersectObjects(this.scene.children, true)
      .find(({ object }) => object.userData.body && object.visible);
    return hit?.object.userData.body ?? '';
  }

  draw() {
    if (!this.dirty) return;
    this.dirty = false;
    this.renderer.render(this.scene, this.camera);
  }
}

function corners({ min, max }) {
  const points = [];
  for (const x of [min.x, max.x])
    for (const y of [min.y, max.y])
      for (const z of [min.z, max.z]) points.push(new THREE.Vector3(x, y, z));
  return points;
}

export const matchesDark = () => document.documentElement.dataset.theme === 'dark';

// The corners of what a body shows, in its own frame.
function bodyPoints(body) {
  const points = body.points.map((p) => new THREE.Vector3(...p));
  points.push(new THREE.Vector3(...body.center_of_mass));
  for (const visual of body.visuals) {
    const half = visual.shape === 'box' ? visual.size.map((s) => 0.5 * s)
      : visual.shape === 'mesh' ? [0, 0, 0]
        : [visual.radius, visual.radius, visual.shape === 'sphere' ? visual.radius
          : 0.5 * visual.length + (visual.shape === 'capsule' ? visual.radius : 0)];
    const turn = new THREE.Quaternion(...visual.quaternion);
    const box = new THREE.Box3(new THREE.Vector3(...half).negate(), new THREE.Vector3(...half));
    for (const corner of corners(box))
      points.push(corner.applyQuaternion(turn).add(new THREE.Vector3(...visual.position)));
  }
  return points;
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

// The largest of 1, 2, 5 times a power of ten that is not above x.
function niceBelow(x) {
  const power = 10 ** Math.floor(Math.log10(x));
  return [5, 2, 1].find((m) => m * power <= x) * power;
}
