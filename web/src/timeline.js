// Events as marks above the slider of the time. Marks that would overlap are one; pointing at it
// tells what happened.
import { element } from './data.js';
import { eventText } from './panels.js';

const kApart = 0.006;  // of the whole time line
const kTexts = 6;      // in one hint

const colours = {
  touch: '#0f9d58', impact: '#0f9d58', lift: '#2563c9', release: '#2563c9', stick: '#9333ea', slip: '#d97706',
  limit: '#dc2626', stop: '#dc2626', user: '#0891b2',
};

export function showMarks(holder, hint, events, start, end, onTime) {
  const span = end - start;
  const groups = [];
  for (const event of events) {
    const at = span > 0 ? (event.time - start) / span : 0;
    const last = groups.at(-1);
    if (last && at - last.at < kApart) last.events.push(event);
    else groups.push({ at, events: [event] });
  }
  holder.replaceChildren(...groups.map((group) => {
    const lines = group.events.slice(0, kTexts).map(eventText);
    if (group.events.length > kTexts) lines.push(`and ${group.events.length - kTexts} more`);
    const mark = element('i', { ariaLabel: lines.join('\n') });
    mark.dataset.text = lines.join('\n');
    mark.style.left = `${100 * group.at}%`;
    mark.style.background = colours[group.events[0].kind] ?? '';
    mark.addEventListener('pointerenter', () => {
      hint.textContent = mark.dataset.text;
      hint.hidden = false;
      const around = hint.offsetParent.getBoundingClientRect();
      const box = mark.getBoundingClientRect();
      hint.style.left = `${Math.max(4, Math.min(box.left - around.left - hint.offsetWidth / 2, around.width - hint.offsetWidth - 4))}px`;
    });
    mark.addEventListener('pointerleave', () => { hint.hidden = true; });
    mark.addEventListener('click', () => onTime(group.events[0].time));
    return mark;
  }));
}
