// The mechanism of one run: its objects, and where they are at a time. Deflections of flexible
// bodies (in a page of modes: all displacements) may be enlarged; what they carry moves along.
import * as THREE from 'three';
import { bodyObject, collisionObject, contactObject, hingeObject, linkObject, palette, supportObject } from './bodies.js';
import { between } from './data.js';
import { deformedPoints, flexibleObject } from './flexible.js';

export const kPose = 7;  // position, then quaternion x, y, z, w
const kGhost = 0.35;     // opacity of runs that lie over the first

export class Figure {
  constructor(data, size, report, { ghost = false } = {}) {
    this.data = data;
    this.ghost = ghost;
    this.enlarged = 1;
    this.group = new THREE.Group();
    this.bodies = data.bodies.map((body, i) => bodyObject(body, i, data.meshes, size, report));
    this.flexible = data.flexible.map((body) => {
      const object = flexibleObject(body, body.body, size);
      this.bodies[body.body].add(object);
      return object;
    });
    this.links = data.links.map((link) => linkObject(link, size));
    this.group.add(...this.bodies, ...this.links);
    if (!ghost) {
      for (const hinge of data.hinges) {
        const marker = hingeObject(hinge, size);
        marker.userData.shownBy = 'hinges';
        (hinge.child < 0 ? this.group : this.bodies[hinge.child]).add(marker);
      }
      data.bodies.forEach((body, i) => {
        for (const shape of body.collisions ?? []) {
          const object = collisionObject(shape, body.name, data.meshes, report);
          if (object) this.bodies[i].add(object);
        }
      });
      for (const contact of data.contacts ?? [])
        if (contact.body >= 0 && !(data.bodies[contact.body].collisions?.length > 0))
          this.bodies[contact.body].add(contactObject(contact, size));
      for (const point of data.ground_points) this.group.add(supportObject(point, new THREE.Vector3(...data.up), size));
    } else this.makeTransparent();
    this.raw = data.bodies.map(() => ({ position: new THREE.Vector3(), quaternion: new THREE.Quaternion() }));
    this.modal = new Float32Array(data.flexible.reduce((sum, body) => sum + body.modes, 0));
    this.rest = this.restPoses();
    this.order = this.outward();
  }

  makeTransparent() {
    this.group.traverse((part) => {
      if (!part.isMesh) return;
      part.material = Array.isArray(part.material) ? part.material.map((one) => one.clone()) : part.material.clone();
      for (const one of [part.material].flat()) Object.assign(one, { transparent: true, opacity: kGhost * one.opacity, depthWrite: false });
      part.castShadow = false;
      if (part.userData.body) part.userData.body += ` (${this.data.label})`;
    });
  }

  // By body, the pose in its carrier's frame from which displacements are enlarged, or null.
  restPoses() {
    const { data } = this;
    const rest = data.bodies.map(() => null);
    for (const { attachments, first, modes } of data.flexible)
      for (const { body: i, position, quaternion, shape } of attachments)
        rest[i] = { position: new THREE.Vector3(...position), quaternion: new THREE.Quaternion(...quaternion), shape, first, modes };
    if (data.rest) {
      const at = (i) => (i < 0 ? { position: new THREE.Vector3(), quaternion: new THREE.Quaternion() } : {
        position: new THREE.Vector3().fromArray(data.rest.poses, i * kPose),
        quaternion: new THREE.Quaternion().fromArray(data.rest.poses, i * kPose + 3),
      });
      data.bodies.forEach(({ carrier }, i) => { rest[i] = relative(at(carrier), at(i)); });
    }
    return rest;
  }

  // Bodies, carriers first.
  outward() {
    const order = [];
    const seen = new Set();
    const add = (i) => {
      if (i < 0 || seen.has(i)) return;
      seen.add(i);
      add(this.data.bodies[i].carrier ?? -1);
      order.push(i);
    };
    this.data.bodies.forEach((_, i) => add(i));
    return order;
  }

  pose(frame, body, position, rotation) {
    const at = (frame * this.data.bodies.length + body) * kPose;
    position.fromArray(this.data.poses, at);
    rotation.fromArray(this.data.poses, at + 3);
  }

  // Between two frames along a straight line and the short way round.
  placeAt(time) {
    const { data } = this;
    if (data.times.length === 0) return;
    const { i, j, f } = between(data.times, time);
    const position = new THREE.Vector3();
    const rotation = new THREE.Quaternion();
    this.raw.forEach((raw, body) => {
      this.pose(i, body, raw.position, raw.quaternion);
      if (f === 0) return;
      this.pose(j, body, position, rotation);
      raw.position.lerp(position, f);
      raw.quaternion.slerp(rotation, f);
    });
    const width = this.modal.length;
    for (let k = 0; k < width; ++k) {
      const [a, b] = [data.modal[i * width + k], data.modal[j * width + k]];
      this.modal[k] = a + f * (b - a);
    }
    this.show();
  }

  placeByPoses(poses, modal) {
    this.raw.forEach((raw, body) => {
      raw.position.fromArray(poses, body * kPose);
      raw.quaternion.fromArray(poses, body * kPose + 3);
    });
    this.modal.set(modal);
    this.show();
  }

  setEnlarged(factor) {
    this.enlarged = factor;
    this.show();
  }

  // Objects where the poses say, displacements enlarged.
  show() {
    for (const i of this.order) this.showBody(i);
    const { rest } = this.data;
    let modal = this.modal;
    if (rest) modal = modal.map((x, k) => rest.modal[k] + this.enlarged * (x - rest.modal[k]));
    for (const object of this.flexible) object.userData.bend(modal, rest ? 1 : this.enlarged);
    this.placeLinks();
  }

  showBody(i) {
    const object = this.bodies[i];
    const { position, quaternion } = this.raw[i];
    if (this.enlarged === 1) {
      object.position.copy(position);
      object.quaternion.copy(quaternion);
      return;
    }
    const carrier = this.data.bodies[i].carrier ?? -1;
    const ground = { position: new THREE.Vector3(), quaternion: new THREE.Quaternion() };
    const now = relative(carrier < 0 ? ground : this.raw[carrier], this.raw[i]);
    const from = this.rest[i];
    if (from) {
      if (from.shape) now.position.addScaledVector(this.firstOrder(from), this.enlarged - 1);
      else now.position.sub(from.position).multiplyScalar(this.enlarged).add(from.position);
      now.quaternion.copy(turned(from.quaternion, now.quaternion, this.enlarged));
    }
    const base = carrier < 0 ? ground : this.bodies[carrier];
    object.position.copy(now.position).applyQuaternion(base.quaternion).add(base.position);
    object.quaternion.copy(base.quaternion).multiply(now.quaternion);
  }

  // Displacement of an attachment, linear in the modal coordinates as that of the drawn points.
  firstOrder({ shape, first, modes }) {
    const u = [0, 0, 0];
    for (let k = 0; k < modes; ++k) for (let i = 0; i < 3; ++i) u[i] += shape[i][k] * this.modal[first + k];
    return new THREE.Vector3(...u);
  }

  placeLinks() {
    const place = (end) => this.groundPoint(end.body, end.point);
    this.data.links.forEach((link, i) => this.links[i].userData.place(place(link.a), place(link.b)));
  }

  // A point of a body as it is shown, in ground axes.
  groundPoint(body, point) {
    const p = new THREE.Vector3(...point);
    if (body < 0) return p;
    return p.applyQuaternion(this.bodies[body].quaternion).add(this.bodies[body].position);
  }

  // Paths of the mass centres.
  trails() {
    const { data } = this;
    if (data.times.length < 2) return [];
    const position = new THREE.Vector3();
    const rotation = new THREE.Quaternion();
    return data.bodies.flatMap((body, i) => {
      if (body.role === 'modes' || body.role === 'attachment') return [];
      const points = [];
      const own = new THREE.Vector3(...body.center_of_mass);
      for (let frame = 0; frame < data.times.length; ++frame) {
        this.pose(frame, i, position, rotation);
        points.push(own.clone().applyQuaternion(rotation).add(position));
      }
      return [new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({
        color: palette[i % palette.length], transparent: true, opacity: this.ghost ? kGhost : 0.75,
      }))];
    });
  }

  // Adds the points of all bodies at up to a hundred times to a box. Returns the size of the
  // mechanism itself, the largest of these times.
  addSweptPoints(swept) {
    const { data } = this;
    let own = 0;
    const points = data.bodies.map((body) => bodyPoints(body));
    const step = Math.max(1, Math.floor(data.times.length / 100));
    const position = new THREE.Vector3();
    const rotation = new THREE.Quaternion();
    const width = this.modal.length;
    for (let frame = 0; frame < data.times.length; frame += step) {
      const box = new THREE.Box3().setFromPoints(data.ground_points.map((p) => new THREE.Vector3(...p)));
      data.bodies.forEach((_, i) => {
        this.pose(frame, i, position, rotation);
        for (const p of points[i]) box.expandByPoint(p.clone().applyQuaternion(rotation).add(position));
      });
      const modal = data.modal.subarray(frame * width, (frame + 1) * width);
      for (const body of data.flexible) {
        const deformed = deformedPoints(body, modal, 1, new Float32Array(body.points.length));
        this.pose(frame, body.body, position, rotation);
        for (let p = 0; p < deformed.length; p += 3)
          box.expandByPoint(new THREE.Vector3().fromArray(deformed, p).applyQuaternion(rotation).add(position));
      }
      if (!box.isEmpty()) own = Math.max(own, box.getSize(new THREE.Vector3()).length());
      swept.union(box);
    }
    return own;
  }
}

// b in the frame of a.
function relative(a, b) {
  const back = a.quaternion.clone().invert();
  return {
    position: b.position.clone().sub(a.position).applyQuaternion(back),
    quaternion: back.multiply(b.quaternion),
  };
}

// From `rest` on by `factor` times the turn to `now`.
function turned(rest, now, factor) {
  const turn = rest.clone().invert().multiply(now);
  if (turn.w < 0) turn.set(-turn.x, -turn.y, -turn.z, -turn.w);
  const axis = new THREE.Vector3(turn.x, turn.y, turn.z);
  const sine = axis.length();
  if (sine < 1e-12) return rest.clone();
  const angle = 2 * Math.atan2(sine, turn.w) * factor;
  return rest.clone().multiply(new THREE.Quaternion().setFromAxisAngle(axis.divideScalar(sine), angle));
}

export function corners({ min, max }) {
  const points = [];
  for (const x of [min.x, max.x])
    for (const y of [min.y, max.y])
      for (const z of [min.z, max.z]) points.push(new THREE.Vector3(x, y, z));
  return points;
}

// The corners of what a body shows, in its own frame.
function bodyPoints(body) {
  const points = body.points.map((p) => new THREE.Vector3(...p));
  points.push(new THREE.Vector3(...body.center_of_mass));
  for (const visual of [...body.visuals, ...(body.collisions ?? [])]) {
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
