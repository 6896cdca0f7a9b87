// The read-out under the pointer. Each chart carries its values; charts over time move together.
"use strict";
(() => {
  // The name space is taken from a drawing of the page, so that no address stands in the file.
  const space = document.querySelector(".plot > svg")?.namespaceURI;
  const svgElement = (name, attributes) => {
    const element = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const figureText = (value) => {
    const size = Math.abs(value);
    const digits = size >= 99.95 || size === 0 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
    if (size !== 0 && size < 0.01) return String(Number(value.toPrecision(2)));
    return value.toLocaleString("en-US", {
      minimumFractionDigits: digits, maximumFractionDigits: digits,
    });
  };
  const two = (number) => String(number).padStart(2, "0");
  const elapsedText = (seconds) => {
    const whole = Math.round(seconds);
    const hours = Math.floor(whole / 3600);
    const minutes = Math.floor((whole % 3600) / 60);
    if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
    return hours ? `${hours}:${two(minutes)}:${two(whole % 60)} h` : `${minutes}:${two(whole % 60)} min`;
  };
  const nines = (percentile) => -Math.log10(1 - Math.min(percentile, 99.99999999) / 100);
  const place = (axis, value) => {
    const clamp = (share) => Math.min(1, Math.max(0, share));
    switch (axis.kind) {
      case "log": {
        const [low, high] = [Math.log10(axis.low), Math.log10(axis.high)];
        return clamp((Math.log10(Math.max(value, axis.low)) - low) / (high - low));
      }
      case "percentile": return clamp(nines(value) / axis.high);
      case "category": return clamp((value + 0.5) / axis.high);
      default: return clamp((value - axis.low) / (axis.high - axis.low));
    }
  };
  const headText = (data, value) => {
    if (data.horizontal.kind === "elapsed") return `after ${elapsedText(value)}`;
    if (data.horizontal.kind === "percentile") return `${Number(value.toFixed(6))} % of the requests within`;
    if (data.horizontal.kind === "category") return data.names[value] ?? "";
    return `${figureText(value)} ${data.head}`;
  };

  const charts = [...document.querySelectorAll("figure.chart")].map((figure) => {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const [left, right, top, bottom] = data.frame;
    for (const series of data.series) {
      series.px = series.x.map((x) => left + place(data.horizontal, x) * (right - left));
      series.py = series.y.map((y) => y === null ? null : bottom - place(data.vertical, y) * (bottom - top));
    }
    const stops = [...new Set(data.series.flatMap((series) => series.px))].sort((a, b) => a - b);
    return {
      figure, data, stops, group: figure.dataset.group, drawing: figure.querySelector(".plot > svg"),
      cursor: figure.querySelector(".cursor"), readout: figure.querySelector(".readout"), at: null,
    };
  });

  // The index of the value nearest to `target` in an ordered list.
  const nearest = (list, target) => {
    let low = 0;
    let high = list.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (list[middle] <= target) low = middle; else high = middle;
    }
    return Math.abs(list[low] - target) <= Math.abs(list[high] - target) ? low : high;
  };

  const swatch = (tone) => {
    const drawing = svgElement("svg", { class: "swatch", viewBox: "0 0 18 8" });
    drawing.append(svgElement("path", { class: `line tone-${tone}`, d: "M0 4H18" }));
    return drawing;
  };
  const line = (parts, value) => {
    const row = document.createElement("div");
    const name = document.createElement("span");
    name.append(...parts);
    const figure = document.createElement("i");
    figure.textContent = value;
    row.append(name, figure);
    return row;
  };

  const hide = (chart) => {
    chart.cursor.replaceChildren();
    chart.readout.hidden = true;
    chart.at = null;
  };
  const show = (chart, x, withReadout) => {
    const { data } = chart;
    const [left, right, top, bottom] = data.frame;
    if (!chart.stops.length) return;
    chart.at = nearest(chart.stops, x);
    const stop = chart.stops[chart.at];
    chart.cursor.replaceChildren(svgElement("line", { x1: stop, x2: stop, y1: top, y2: bottom }));
    const head = document.createElement("b");
    chart.readout.replaceChildren(head);
    for (const series of data.series) {
      const index = nearest(series.px, stop);
      const near = Math.abs(series.px[index] - stop) < 8;
      if (!near || series.y[index] === null) continue;
      chart.cursor.append(svgElement("circle", {
        class: `tone-${series.tone}`, cx: series.px[index], cy: series.py[index], r: 3.6,
      }));
      if (!head.textContent) head.textContent = headText(data, series.x[index]);
      chart.readout.append(line([swatch(series.tone), series.name], `${figureText(series.y[index])} ${data.unit}`));
    }
    chart.readout.hidden = !withReadout;
    if (!withReadout) return;
    const scale = chart.drawing.clientWidth / chart.drawing.viewBox.baseVal.width;
    const width = chart.readout.offsetWidth;
    const onRight = stop * scale + 14 + width <= chart.drawing.clientWidth;
    const wanted = onRight ? stop * scale + 14 : stop * scale - 14 - width;
    const furthest = chart.drawing.clientWidth - width;
    chart.readout.style.left = `${Math.max(0, Math.min(wanted, furthest))}px`;
    chart.readout.style.top = `${(top + 4) * scale}px`;
  };
  const showGroup = (chart, x) => {
    const [left, right] = chart.data.frame;
    const { low, high } = chart.data.horizontal;
    for (const other of charts) {
      if (other === chart) show(other, x, true);
      else if (other.group !== chart.group) hide(other);
      else {
        const value = low + ((x - left) / (right - left)) * (high - low);
        show(other, left + place(other.data.horizontal, value) * (right - left), false);
      }
    }
  };

  for (const chart of charts) {
    const move = (event) => {
      const box = chart.drawing.getBoundingClientRect();
      showGroup(chart, ((event.clientX - box.left) / box.width) * chart.drawing.viewBox.baseVal.width);
    };
    const plot = chart.drawing.parentElement;
    plot.addEventListener("pointermove", move);
    plot.addEventListener("pointerdown", move);
    plot.addEventListener("pointerleave", () => charts.forEach(hide));
    chart.figure.addEventListener("blur", () => charts.forEach(hide));
    chart.figure.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step || !chart.stops.length) return;
      event.preventDefault();
      const next = chart.at === null ? 0 : chart.at + step;
      showGroup(chart, chart.stops[Math.min(chart.stops.length - 1, Math.max(0, next))]);
    });
  }
  document.body.dataset.charts = String(charts.length);
  document.body.dataset.ready = "true";
})();
