// Flexible bodies: a beam as a tube or bar along its deformed axis, any other body as rods between
// its points. bend() moves the points by the modal coordinates.
import * as THREE from 'three';
import { material, palette } from './bodies.js';

const kRing = 16;  // corners of a round section

// Displaced points of a body, in its frame, with deflections enlarged.
export function deformedPoints(body, modal, enlarged, target) {
  const { points, shapes, modes, first } = body;
  const count = points.length / 3;
  for (let p = 0; p < count; ++p) {
    for (let i = 0; i < 3; ++i) {
      let u = 0;
      for (let k = 0; k < modes; ++k) u += shapes[(3 * p + i) * modes + k] * modal[first + k];
      target[3 * p + i] = points[3 * p + i] + enlarged * u;
    }
  }
  return target;
}

function tag(object, body) {
  object.userData.body = body.name;
  object.castShadow = true;
  object.receiveShadow = true;
  return object;
}

// Half the section at each point, linear from start to end.
function sections(body, size) {
  const count = body.points.length / 3;
  const thin = 0.008 * size;
  const start = body.section?.half ?? [thin, thin];
  const end = body.end_section?.half ?? start;
  return Array.from({ length: count }, (_, p) => {
    const f = count > 1 ? p / (count - 1) : 0;
    return [0, 1].map((i) => Math.max(start[i] + f * (end[i] - start[i]), 0.003 * size));
  });
}

function beamObject(body, index, size) {
  const count = body.points.length / 3;
  const round = body.section?.round ?? true;
  const corners = round
    ? Array.from({ length: kRing }, (_, k) => [Math.cos((2 * Math.PI * k) / kRing), Math.sin((2 * Math.PI * k) / kRing)])
    : [[1, 1], [-1, 1], [-1, -1], [1, -1]];
  const ring = corners.length;
  const position = new THREE.BufferAttribute(new Float32Array(3 * (count * ring + 2)), 3);
  const faces = [];
  for (let p = 0; p + 1 < count; ++p)
    for (let k = 0; k < ring; ++k) {
      const [a, b] = [p * ring + k, p * ring + ((k + 1) % ring)];
      faces.push(a, b, a + ring, b, b + ring, a + ring);
    }
  for (let k = 0; k < ring; ++k) {
    const next = (k + 1) % ring;
    faces.push(count * ring, next, k, count * ring + 1, (count - 1) * ring + k, (count - 1) * ring + next);
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', position);
  geometry.setIndex(faces);
  const look = material(palette[index % palette.length]);
  look.flatShading = !round;
  const mesh = tag(new THREE.Mesh(geometry, look), body);
  mesh.frustumCulled = false;
  const halves = sections(body, size);
  const sideways = new THREE.Vector3(0, 1, 0);
  if (body.axes) sideways.applyQuaternion(new THREE.Quaternion(...body.axes));
  const deformed = new Float32Array(body.points.length);
  const [at, along, y, z] = [0, 1, 2, 3].map(() => new THREE.Vector3());
  const point = (p, target) => target.fromArray(deformed, 3 * Math.min(Math.max(p, 0), count - 1));
  mesh.userData.bend = (modal, enlarged) => {
    deformedPoints(body, modal, enlarged, deformed);
    for (let p = 0; p < count; ++p) {
      along.copy(point(p + 1, y)).sub(point(p - 1, z)).normalize();
      z.crossVectors(along, sideways).normalize();
      y.crossVectors(z, along);
      const [hy, hz] = halves[p];
      corners.forEach(([cy, cz], k) => {
        point(p, at).addScaledVector(y, cy * hy).addScaledVector(z, cz * hz);
        position.setXYZ(p * ring + k, at.x, at.y, at.z);
      });
    }
    for (const [place, p] of [[count * ring, 0], [count * ring + 1, count - 1]]) {
      point(p, at);
      position.setXYZ(place, at.x, at.y, at.z);
    }
    position.needsUpdate = true;
    geometry.computeVertexNormals();
  };
  mesh.userData.tip = () => point(count - 1, new THREE.Vector3()).toArray();
  return mesh;
}

const kMostPoints = 1500;  // for which neighbours are looked for

// Pairs of points that join all of them by the least length (Prim's algorithm, O(n²)).
export function spanningTree(points) {
  const count = points.length / 3;
  if (count > kMostPoints) return Array.from({ length: count - 1 }, (_, p) => [p, p + 1]);
  const distance = (p, q) => Math.hypot(points[3 * p] - points[3 * q], points[3 * p + 1] - points[3 * q + 1], points[3 * p + 2] - points[3 * q + 2]);
  const near = Array.from({ length: count }, (_, p) => ({ to: 0, length: distance(0, p) }));
  const left = new Set(near.keys());
  left.delete(0);
  const edges = [];
  while (left.size > 0) {
    let next = -1;
    for (const p of left) if (next < 0 || near[p].length < near[next].length) next = p;
    left.delete(next);
    edges.push([near[next].to, next]);
    for (const p of left) {
      const length = distance(next, p);
      if (length < near[p].length) near[p] = { to: next, length };
    }
  }
  return edges;
}

function rodsObject(body, index, size) {
  const group = new THREE.Group();
  const look = material(palette[index % palette.length]);
  const edges = spanningTree(body.points);
  const rods = edges.map(() => tag(new THREE.Mesh(new THREE.CylinderGeometry(0.007 * size, 0.007 * size, 1, 12), look), body));
  if (rods.length > 0) group.add(...rods);
  const deformed = new Float32Array(body.points.length);
  const [a, b, along] = [0, 1, 2].map(() => new THREE.Vector3());
  group.userData.bend = (modal, enlarged) => {
    deformedPoints(body, modal, enlarged, deformed);
    rods.forEach((rod, i) => {
      a.fromArray(deformed, 3 * edges[i][0]);
      b.fromArray(deformed, 3 * edges[i][1]);
      along.subVectors(b, a);
      rod.position.addVectors(a, b).multiplyScalar(0.5);
      rod.scale.set(1, Math.max(along.length(), 1e-9), 1);
      rod.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
    });
  };
  group.userData.tip = () => [...deformed.slice(-3)];
  return group;
}

// In the frame of the body.
export function flexibleObject(body, index, size) {
  return body.beam ? beamObject(body, index, size) : rodsObject(body, index, size);
}
