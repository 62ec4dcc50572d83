// Names and axes on request: of bodies, and of the model's frames.
import * as THREE from 'three';

const kTextHeight = 0.022;  // of the height of the picture, whatever the distance

function nameSprite(text, dark) {
  const canvas = document.createElement('canvas');
  const pixels = 40;
  const font = `500 ${pixels}px system-ui, "DejaVu Sans", sans-serif`;
  const measure = canvas.getContext('2d');
  measure.font = font;
  canvas.width = Math.ceil(measure.measureText(text).width) + 24;
  canvas.height = Math.ceil(1.5 * pixels);
  const context = canvas.getContext('2d');
  context.font = font;
  context.fillStyle = dark ? '#1c1f25cc' : '#ffffffcc';
  context.beginPath();
  context.roundRect(0, 0, canvas.width, canvas.height, 14);
  context.fill();
  context.fillStyle = dark ? '#e6e8ec' : '#1d2129';
  context.textBaseline = 'middle';
  context.fillText(text, 12, 0.52 * canvas.height);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  const sprite = new THREE.Sprite(new THREE.SpriteMaterial({
    map: texture, depthTest: false, sizeAttenuation: false, toneMapped: false,
  }));
  sprite.scale.set((kTextHeight * canvas.width) / canvas.height, kTextHeight, 1);
  sprite.center.set(0, 0);
  sprite.renderOrder = 10;
  sprite.userData.name = text;
  sprite.raycast = () => {};  // nothing to point at
  return sprite;
}

// x red, y green, z blue.
function axesObject(size) {
  const axes = new THREE.AxesHelper(0.09 * size);
  axes.setColors('#dc2626', '#16a34a', '#2563eb');
  axes.material.depthTest = false;
  axes.material.toneMapped = false;
  axes.renderOrder = 9;
  axes.raycast = () => {};
  return axes;
}

// Puts names and axes on the objects of a figure; `shownBy` says which switch shows them.
export function addLabels(figure, size, dark) {
  const { data, bodies, group } = figure;
  data.bodies.forEach((body, i) => {
    if (body.role === 'modes') return;
    const name = nameSprite(body.name, dark);
    if (body.role === 'rigid') name.position.set(...body.center_of_mass);
    name.userData.shownBy = 'names';
    const axes = axesObject(size);
    axes.userData.shownBy = 'frames';
    bodies[i].add(name, axes);
  });
  for (const frame of data.modelFrames) {
    const holder = new THREE.Group();
    holder.position.set(...frame.position);
    holder.quaternion.set(...frame.quaternion);
    holder.userData.shownBy = 'frames';
    holder.add(axesObject(size), nameSprite(frame.name, dark));
    (frame.body < 0 ? group : bodies[frame.body]).add(holder);
  }
  const ground = axesObject(size);
  ground.userData.shownBy = 'frames';
  group.add(ground);
}
