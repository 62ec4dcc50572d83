// Plots of recorded columns over time: one for each unit among the chosen columns, with one cursor.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { element, pretty, valueAt } from './data.js';
import { palette } from './bodies.js';

const kLeastHeight = 190;
const kMostHeight = 360;
const kLegend = 42;  // below each plot
const kMostAtFirst = 6;

export class Plots {
  constructor(container, onTime) {
    this.onTime = onTime;
    this.time = 0;
    this.plots = [];
    this.filter = element('input', { type: 'search', placeholder: 'Filter columns, for example q.', id: 'filter' });
    this.list = element('div', { id: 'columns' });
    this.charts = element('div', { id: 'charts' });
    container.append(element('div', { id: 'chooser' }, this.filter, this.list), this.charts);
    this.filter.addEventListener('input', () => this.showList());
    new ResizeObserver(() => this.resize()).observe(this.charts);
  }

  load(data) {
    const names = data.columns.map((column) => column.name);
    this.data = data;
    this.chosen = (this.chosen ?? []).filter((name) => names.includes(name));
    if (this.chosen.length === 0) {
      const first = (prefix) => names.filter((name) => name.startsWith(prefix)).slice(0, kMostAtFirst);
      this.chosen = [...first('q.'), ...first('v.'), ...first('energy.')];
      if (this.chosen.length === 0) this.chosen = names.slice(0, kMostAtFirst);
    }
    this.showList();
    this.build();
  }

  // More rows of the same run.
  update(data) {
    this.data = data;
    for (const one of this.plots) {
      one.columns = one.columns.map(({ name }) => data.columns.find((column) => column.name === name));
      one.plot.setData([data.plotTimes, ...one.columns.map((column) => column.values)]);
    }
    this.setTime(this.time);
  }

  showList() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = this.data.columns.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
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
    const units = new Map();
    for (const name of this.chosen) {
      const column = this.data.columns.find((one) => one.name === name);
      if (!units.has(column.unit)) units.set(column.unit, []);
      units.get(column.unit).push(column);
    }
    this.plots = [...units].map(([unit, columns]) => this.plotOf(unit, columns));
    if (this.plots.length === 0)
      this.charts.append(element('p', { className: 'dim' }, 'Choose columns above to plot them.'));
    this.resize();
    this.setTime(this.time);
  }

  plotOf(unit, columns) {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = {
      stroke: colour('--dim'), font: '11px system-ui', ticks: { stroke: colour('--line'), width: 1, size: 4 },
      grid: { stroke: colour('--line'), width: 1 }, gap: 4,
    };
    const holder = element('div', { className: 'chart' });
    this.charts.append(holder);
    const colours = columns.map((_, i) => palette[i % palette.length]);
    const plot = new uPlot({
      width: Math.max(200, holder.clientWidth), height: kLeastHeight, pxAlign: 0,
      cursor: { sync: { key: 'catena' }, points: { size: 6 }, drag: { x: true, y: false } },
      legend: { show: false },
      scales: { x: { time: false } },
      axes: [{ ...axis, size: 26 }, { ...axis, size: 58, values: (_, values) => values.map((v) => (v === null ? '' : pretty(v, 5))) }],
      series: [{}, ...columns.map((column, i) => ({ label: column.name, stroke: colours[i], width: 1.6, pxAlign: 0, points: { show: false } }))],
      hooks: { draw: [(u) => this.drawMarks(u, colour('--accent'), colour('--mark'))] },
    }, [this.data.plotTimes, ...columns.map((column) => column.values)], holder);
    let downAt = 0;
    plot.over.addEventListener('pointerdown', (event) => { downAt = event.clientX; });
    plot.over.addEventListener('click', (event) => {
      if (Math.abs(event.clientX - downAt) < 3) this.onTime(plot.posToVal(plot.cursor.left, 'x'));
    });
    const values = columns.map(() => element('output'));
    holder.append(element('div', { className: 'legend' }, ...columns.map((column, i) => {
      const remove = element('button', { title: `Remove ${column.name}`, textContent: '\u00d7' });
      remove.addEventListener('click', () => this.choose(column.name, false));
      const swatch = element('i');
      swatch.style.background = colours[i];
      return element('span', {}, swatch, column.name, values[i], element('small', {}, unit), remove);
    })));
    return { plot, columns, values };
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
    for (const { plot, columns, values } of this.plots) {
      plot.redraw(false, false);
      columns.forEach((column, i) => {
        values[i].textContent = pretty(valueAt(this.data.plotTimes, column.values, time), 5);
      });
    }
  }

  resize() {
    const { clientWidth: width, clientHeight: all } = this.charts;
    const height = Math.min(kMostHeight, Math.max(kLeastHeight, Math.floor(all / this.plots.length) - kLegend));
    if (width > 0) for (const { plot } of this.plots) plot.setSize({ width, height });
  }
}
