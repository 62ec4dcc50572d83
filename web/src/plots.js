// Plots of recorded columns over time: one for each unit among the chosen columns, with one cursor.
// Further runs are dashed curves of the same colour.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { element, pretty, valueAt } from './data.js';
import { palette } from './bodies.js';
import { axisTitle, firstChoice, plotOf } from './choice.js';

const kLeastHeight = 210;
const kMostHeight = 360;
const kLegend = 42;  // below each plot
const kDashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];  // by run

export class Plots {
  constructor(container, onTime) {
    this.onTime = onTime;
    this.time = 0;
    this.plots = [];
    this.filter = element('input', { type: 'search', placeholder: 'Filter columns, for example q.', id: 'filter' });
    this.list = element('div', { id: 'columns' });
    this.charts = element('div', { id: 'charts' });
    this.hover = element('div', { id: 'hover', hidden: true });
    container.append(element('div', { id: 'chooser' }, this.filter, this.list), this.charts, this.hover);
    this.filter.addEventListener('input', () => this.showList());
    new ResizeObserver(() => this.resize()).observe(this.charts);
  }

  load(data) {
    this.data = data;
    this.runs = [data, ...data.others];
    // All columns, those of further runs behind.
    const known = new Map();
    for (const run of this.runs) for (const column of run.columns) if (!known.has(column.name)) known.set(column.name, column);
    this.columns = [...known.values()];
    this.chosen = (this.chosen ?? []).filter((name) => known.has(name));
    if (this.chosen.length === 0) this.chosen = firstChoice(this.columns, data.settings?.outputs);
    this.showList();
    this.build();
  }

  // More rows of the same run.
  update(data) {
    this.data = data;
    this.runs = [data, ...data.others];
    for (const one of this.plots) {
      one.curves = this.curvesOf(one.names);
      one.plot.setData(table(one.curves));
    }
    this.setTime(this.time);
  }

  showList() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = this.columns.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
    this.list.replaceChildren(...shown.map(({ name, unit }) => {
      const box = element('input', { type: 'checkbox', checked: this.chosen.includes(name), name });
      box.addEventListener('change', () => this.choose(name, box.checked));
      return element('label', { title: name }, box, element('span', {}, name), element('small', {}, unit));
    }));
    if (shown.length === 0) this.list.append(element('p', { className: 'dim' }, 'No column has this in its name.'));
  }

  choose(name, on) {
    this.chosen = on ? [...this.chosen, name] : this.chosen.filter((other) => other !== name);
    this.showList();
    this.build();
  }

  build() {
    for (const { plot } of this.plots) plot.destroy();
    this.charts.replaceChildren();
    const groups = new Map();
    for (const name of this.chosen) {
      const column = this.columns.find((one) => one.name === name);
      const key = plotOf(column);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(column);
    }
    this.plots = [...groups.values()].map((columns) => this.plot(columns));
    if (this.plots.length === 0)
      this.charts.append(element('p', { className: 'dim' }, 'Choose columns above to plot them.'));
    this.resize();
    this.setTime(this.time);
  }

  // A curve for each column and each run that has it.
  curvesOf(names) {
    return names.flatMap((name, i) => this.runs.flatMap((run, r) => {
      const column = run.columns.find((one) => one.name === name);
      return column ? [{ name, run: r, column, times: run.plotTimes, colour: palette[i % palette.length] }] : [];
    }));
  }

  plot(columns) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--dim'), font: '11px system-ui', ticks: { stroke: colour('--line'), width: 1, size: 4 },
      grid: { stroke: colour('--line'), width: 1 }, gap: 4, labelFont: '11px system-ui', labelSize: 16, labelGap: 0,
    };
    const holder = element('div', { className: 'chart' });
    this.charts.append(holder);
    const names = columns.map(({ name }) => name);
    const curves = this.curvesOf(names);
    const numbers = (_, values) => {
      const size = Math.max(...values.map((v) => Math.abs(v ?? 0)));
      return values.map((v) => (v === null ? '' : pretty(v, 5, size)));
    };
    const one = { names, curves };
    const plot = new uPlot({
      width: Math.max(200, holder.clientWidth), height: kLeastHeight, pxAlign: 0,
      cursor: { sync: { key: 'catena' }, points: { size: 6 }, drag: { x: true, y: false } },
      legend: { show: false },
      scales: { x: { time: false } },
      axes: [{ ...axis, size: 24, values: numbers, label: 'time (s)' }, { ...axis, size: 54, values: numbers, label: axisTitle(columns) }],
      series: [{}, ...curves.map(({ name, run, colour: stroke }) => ({
        label: this.runs.length > 1 ? `${name} ${this.runs[run].label}` : name,
        stroke, width: 1.6, dash: kDashes[run], pxAlign: 0, points: { show: false }, spanGaps: this.runs.length > 1,
      }))],
      hooks: {
        draw: [(u) => this.drawMarks(u, colour('--accent'), colour('--mark'))],
        setCursor: [(u) => this.showHover(one, u)],
      },
    }, table(curves), holder);
    let downAt = 0;
    plot.over.addEventListener('pointerdown', (event) => { downAt = event.clientX; });
    plot.over.addEventListener('click', (event) => {
      if (Math.abs(event.clientX - downAt) < 3) this.onTime(plot.posToVal(plot.cursor.left, 'x'));
    });
    plot.over.addEventListener('pointerenter', () => { this.pointed = one; });
    plot.over.addEventListener('pointerleave', () => {
      this.pointed = null;
      this.hover.hidden = true;
    });
    one.values = curves.map(() => element('output'));
    holder.append(element('div', { className: 'legend' }, ...columns.map(({ name, unit }, i) => {
      const remove = element('button', { title: `Remove ${name}`, textContent: '\u00d7' });
      remove.addEventListener('click', () => this.choose(name, false));
      const outputs = one.values.filter((_, k) => curves[k].name === name);
      return element('span', {}, swatch(palette[i % palette.length]), name, ...outputs, element('small', {}, unit), remove);
    })));
    return Object.assign(one, { plot, columns });
  }

  // Time and values at the pointer.
  showHover(one, u) {
    const { left, top } = u.cursor;
    if (this.pointed !== one || left < 0) return;
    const time = u.posToVal(left, 'x');
    const size = largest(one.curves);
    const rows = one.curves.map(({ name, run, column, times, colour }) => element('div', {}, swatch(colour),
      element('span', {}, this.runs.length > 1 ? `${name} \u00b7 ${this.runs[run].label}` : name),
      element('output', {}, `${pretty(valueAt(times, column.values, time), 6, size)} ${column.unit}`)));
    this.hover.replaceChildren(element('div', { className: 'dim' }, `${pretty(time, 6)} s`), ...rows);
    this.hover.hidden = false;
    const page = this.hover.offsetParent.getBoundingClientRect();
    const over = u.over.getBoundingClientRect();
    const x = over.left - page.left + left;
    const right = x + 14 + this.hover.offsetWidth > page.width;
    this.hover.style.left = `${right ? Math.max(0, x - 14 - this.hover.offsetWidth) : x + 14}px`;
    this.hover.style.top = `${Math.min(over.top - page.top + top + 10, page.height - this.hover.offsetHeight - 4)}px`;
  }

  // The present time and the events.
  drawMarks(u, accent, mark) {
    const { ctx, bbox } = u;
    const line = (time, colour, dash, width) => {
      const x = Math.round(u.valToPos(time, 'x', true)) + 0.5;
      if (x < bbox.left || x > bbox.left + bbox.width) return;
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.setLineDash(dash);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    };
    ctx.save();
    for (const event of this.data.events.slice(0, 400)) line(event.time, mark, [3, 4], devicePixelRatio);
    line(this.time, accent, [], 1.5 * devicePixelRatio);
    ctx.restore();
  }

  setTime(time) {
    this.time = time;
    for (const { plot, curves, values } of this.plots) {
      plot.redraw(false, false);
      const size = largest(curves);
      curves.forEach(({ column, times }, i) => {
        values[i].textContent = pretty(valueAt(times, column.values, time), 5, size);
      });
    }
  }

  resize() {
    const { clientWidth: width, clientHeight: all } = this.charts;
    const height = Math.min(kMostHeight, Math.max(kLeastHeight, Math.floor(all / this.plots.length) - kLegend));
    if (width > 0) for (const { plot } of this.plots) plot.setSize({ width, height });
  }
}

// Of all numbers in a plot: what is tiny beside it is shown as 0.
const largest = (curves) => curves.reduce((most, { column }) => Math.max(most, column.size), 0);

function swatch(colour) {
  const made = element('i');
  made.style.background = colour;
  return made;
}

// One list of times for all curves, where runs have different ones.
function table(curves) {
  if (curves.every(({ times }) => times === curves[0].times)) return [curves[0].times, ...curves.map(({ column }) => column.values)];
  return uPlot.join(curves.map(({ times, column }) => [times, column.values]));
}
