// The shapes of the bodies: the model's own visuals, or rods between the hinges of a body that has
// none.
import * as THREE from 'three';
import { STLLoader } from 'three/examples/jsm/loaders/STLLoader.js';
import { OBJLoader } from 'three/examples/jsm/loaders/OBJLoader.js';
import { ColladaLoader } from 'three/examples/jsm/loaders/ColladaLoader.js';
import { meshBytes } from './data.js';

export const palette = ['#4c78a8', '#f58518', '#54a24b', '#e45756', '#72b7b2', '#b279a2', '#d4a72c', '#9d755d'];

export function material(colour, opacity = 1) {
  return new THREE.MeshStandardMaterial({
    color: colour, roughness: 0.55, metalness: 0.1,
    transparent: opacity < 1, opacity, depthWrite: opacity >= 1,
  });
}

function rodBetween(a, b, radius, look) {
  const along = new THREE.Vector3().subVectors(b, a);
  const mesh = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, along.length(), 20), look);
  mesh.position.addVectors(a, b).multiplyScalar(0.5);
  mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
  return mesh;
}

function ball(at, radius, look) {
  const mesh = new THREE.Mesh(new THREE.SphereGeometry(radius, 24, 16), look);
  mesh.position.copy(at);
  return mesh;
}

// Nothing outside this page is ever loaded: textures of a mesh stay out.
const manager = new THREE.LoadingManager();
manager.setURLModifier(() => 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==');

// Many files have none, or zeros.
function hasNormals({ attributes: { normal } }) {
  return normal !== undefined && new THREE.Vector3().fromBufferAttribute(normal, 0).lengthSq() > 0.1;
}

function loadMesh(mesh, look) {
  const buffer = meshBytes(mesh);
  const text = () => new TextDecoder().decode(buffer);
  let object;
  if (mesh.format === 'stl') object = new THREE.Mesh(new STLLoader(manager).parse(buffer), look);
  else if (mesh.format === 'obj') object = new OBJLoader(manager).parse(text());
  // Coordinates as they stand, like other readers of robot models: the loader would turn z to y.
  else object = new ColladaLoader(manager).parse(text().replace('Z_UP', 'Y_UP'), '').scene;
  object.traverse((part) => {
    if (part.isMesh && mesh.format === 'obj') part.material = look;
    if (part.isMesh && !hasNormals(part.geometry)) part.geometry.computeVertexNormals();
    if (part.isLight || part.isCamera) part.visible = false;
  });
  return object;
}

function visualObject(visual, meshes, look) {
  const zAxis = (geometry) => geometry.rotateX(Math.PI / 2);  // three's cylinders lie along y
  switch (visual.shape) {
    case 'box': return new THREE.Mesh(new THREE.BoxGeometry(...visual.size), look);
    case 'sphere': return new THREE.Mesh(new THREE.SphereGeometry(visual.radius, 32, 20), look);
    case 'cylinder':
      return new THREE.Mesh(zAxis(new THREE.CylinderGeometry(visual.radius, visual.radius, visual.length, 36)), look);
    case 'capsule':
      return new THREE.Mesh(zAxis(new THREE.CapsuleGeometry(visual.radius, visual.length, 12, 28)), look);
    default: {
      if (visual.mesh === null) return null;
      const object = loadMesh(meshes[visual.mesh], look);
      const group = new THREE.Group();
      group.add(object);
      group.scale.set(...visual.size);
      return group;
    }
  }
}

// A group in the body's frame. `size` is the length of the whole mechanism.
export function bodyObject(body, index, meshes, size, report) {
  const group = new THREE.Group();
  const own = palette[index % palette.length];
  // A body that only collides is drawn by these shapes.
  for (const visual of body.visuals.length > 0 ? body.visuals : body.collisions ?? []) {
    const [r, g, b, opacity] = visual.colour ?? [0, 0, 0, 1];
    const colour = visual.coloured ? new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace) : new THREE.Color(own);
    let object = null;
    try {
      object = visualObject(visual, meshes, material(colour, opacity));
    } catch (problem) {
      report(`A mesh of ${body.name} cannot be drawn: ${problem.message}`);
    }
    if (!object) continue;
    const placed = new THREE.Group();
    placed.position.set(...visual.position);
    placed.quaternion.set(...visual.quaternion);
    placed.add(object);
    group.add(placed);
  }
  // Flexible bodies have an object of their own (flexible.js), their modes none.
  const role = body.role ?? 'rigid';
  if (group.children.length === 0 && role === 'rigid') drawFromHinges(group, body, index, size);
  group.traverse((part) => {
    if (part.isMesh) {
      part.castShadow = true;
      part.receiveShadow = true;
      part.userData.body = body.name;
    }
  });
  return group;
}

// A height field of the ground: heights along z on a grid from `origin`, two triangles a cell.
export function heightFieldObject({ origin, spacing, heights }, dark) {
  const [rows, columns] = [heights.length, heights[0].length];
  const points = heights.flatMap((row, j) => row.flatMap((z, i) => [origin[0] + i * spacing[0], origin[1] + j * spacing[1], z]));
  const faces = [];
  const lines = [];
  for (let j = 0; j < rows; ++j)
    for (let i = 0; i < columns; ++i) {
      const at = j * columns + i;
      if (i + 1 < columns) lines.push(at, at + 1);
      if (j + 1 < rows) lines.push(at, at + columns);
      if (i + 1 < columns && j + 1 < rows) faces.push(at, at + 1, at + columns, at + 1, at + columns + 1, at + columns);
    }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
  geometry.setIndex(faces);
  geometry.computeVertexNormals();
  const look = new THREE.MeshStandardMaterial({
    color: dark ? '#2b313b' : '#dfe3ea', roughness: 0.9, side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1,
  });
  const mesh = new THREE.Mesh(geometry, look);
  mesh.receiveShadow = true;
  mesh.userData.body = 'ground';
  const edges = new THREE.BufferGeometry();
  edges.setAttribute('position', geometry.attributes.position);
  edges.setIndex(lines);
  mesh.add(new THREE.LineSegments(edges, new THREE.LineBasicMaterial({ color: dark ? '#4a515e' : '#b9c0cb' })));
  return mesh;
}

// See-through, with its edges.
const collisionLook = () => new THREE.MeshBasicMaterial({ color: '#22c55e', transparent: true, opacity: 0.3, depthWrite: false });

// A contact of the settings where the body has no shapes: its sphere, point or rim.
export function contactObject({ name, center, radius, rim, rim_axis: axis }, size) {
  const thick = radius > 0 ? 1.02 * radius : 0.004 * size;
  const mesh = rim > 0 ? new THREE.Mesh(new THREE.TorusGeometry(rim, thick, 10, 48), collisionLook())
    : new THREE.Mesh(new THREE.SphereGeometry(thick, 24, 16), collisionLook());
  if (rim > 0) mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), new THREE.Vector3(...axis));
  mesh.position.set(...center);
  mesh.userData.body = `contact ${name}`;
  mesh.userData.shownBy = 'collisions';
  return mesh;
}

// A collision shape, in the body's frame.
export function collisionObject(shape, name, meshes, report) {
  const look = collisionLook();
  let object = null;
  try {
    object = visualObject(shape, meshes, look);
  } catch (problem) {
    report(`A collision shape of ${name} cannot be drawn: ${problem.message}`);
  }
  if (!object) return null;
  const parts = [];
  object.traverse((part) => { if (part.isMesh) parts.push(part); });
  for (const part of parts) {
    part.material = look;
    part.userData.body = `collision shape of ${name}`;
    part.add(new THREE.LineSegments(new THREE.EdgesGeometry(part.geometry, 25),
      new THREE.LineBasicMaterial({ color: '#15803d', transparent: true, opacity: 0.8 })));
  }
  const placed = new THREE.Group();
  placed.position.set(...shape.position);
  placed.quaternion.set(...shape.quaternion);
  placed.add(object);
  placed.userData.shownBy = 'collisions';
  return placed;
}

function drawFromHinges(group, body, index, size) {
  const radius = 0.011 * size;
  const look = material(palette[index % palette.length]);
  const points = body.points.map((p) => new THREE.Vector3(...p));
  const centre = new THREE.Vector3(...body.center_of_mass);
  const distinct = [];
  for (const p of points) if (distinct.every((q) => q.distanceTo(p) > 1e-6 * size)) distinct.push(p);
  const join = (a, b) => {
    if (a.distanceTo(b) > 1e-6 * size) group.add(rodBetween(a, b, radius, look));
  };
  if (distinct.length === 2) join(distinct[0], distinct[1]);
  else if (distinct.length === 3) distinct.forEach((p, i) => join(p, distinct[(i + 1) % 3]));
  else if (distinct.length > 3) distinct.forEach((p) => join(p, centre));
  else {  // one hinge or none: the centre of mass is the other end
    if (distinct.length === 1) join(distinct[0], centre);
    group.add(ball(centre, 2.2 * radius, look));
  }
  // Of different sizes, so that the balls of two bodies at one hinge do not flicker.
  for (const p of distinct) group.add(ball(p, (1.45 + 0.08 * (index % 3)) * radius, look));
}

// A marker at a hinge, in the frame of its child: a pin along its axis if it has one.
export function hingeObject(hinge, size) {
  const look = material('#e8e8ec');
  const radius = 0.0095 * size;
  let mesh;
  if (hinge.axis) {
    mesh = new THREE.Mesh(new THREE.CylinderGeometry(radius, radius, 6 * radius, 24), look);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), new THREE.Vector3(...hinge.axis).normalize());
  } else {
    mesh = new THREE.Mesh(new THREE.SphereGeometry(1.7 * radius, 24, 16), look);
  }
  mesh.position.set(...hinge.point);
  mesh.userData.body = `hinge ${hinge.name} (${hinge.type})`;
  mesh.castShadow = true;
  return mesh;
}

// Where the mechanism is held: a small cone below a hinge on the ground.
export function supportObject(point, up, size) {
  const height = 0.05 * size;
  const cone = new THREE.Mesh(new THREE.ConeGeometry(0.6 * height, height, 28), material('#7d828c'));
  cone.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), up);
  cone.position.set(...point).addScaledVector(up, -0.5 * height);
  cone.castShadow = true;
  cone.userData.body = 'world';
  return cone;
}

// A rod or a spring between points of two bodies; place() stretches it.
export function linkObject(link, size) {
  const spring = link.kind === 'spring';
  let geometry;
  if (spring) {
    class Coil extends THREE.Curve {
      getPoint(t, target = new THREE.Vector3()) {
        const turn = 2 * Math.PI * 9 * t;
        const wide = Math.min(1, 12 * t, 12 * (1 - t));
        return target.set(0.018 * size * wide * Math.cos(turn), t - 0.5, 0.018 * size * wide * Math.sin(turn));
      }
    }
    geometry = new THREE.TubeGeometry(new Coil(), 220, 0.0035 * size, 6);
  } else {
    geometry = new THREE.CylinderGeometry(0.006 * size, 0.006 * size, 1, 16);
  }
  const mesh = new THREE.Mesh(geometry, material(spring ? '#9aa0aa' : '#c0c4cc'));
  mesh.castShadow = true;
  mesh.userData.body = `${link.kind} ${link.name}`;
  mesh.userData.place = (a, b) => {
    const along = new THREE.Vector3().subVectors(b, a);
    mesh.position.addVectors(a, b).multiplyScalar(0.5);
    mesh.scale.set(1, Math.max(along.length(), 1e-9), 1);
    mesh.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.normalize());
  };
  return mesh;
}
