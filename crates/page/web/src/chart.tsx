// A chart of the reports, drawn by uPlot, with a text that says what it shows.

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { Chart, Series } from "./types";
import { useWidth } from "./use";

const HEIGHT = 220;
const DASH = [6, 4];

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Lowest, highest and mean value of each line, and the limits. */
function described(chart: Chart): string {
  const line = ({ name, points }: Series): string => {
    const values = points.map((point) => point[1]).filter((value): value is number => value !== null);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return `${name}: ${digits.format(low)} to ${digits.format(high)} ${chart.unit}` +
      (chart.horizontal === "time" ? `, mean of the points ${digits.format(mean)} ${chart.unit}` : "");
  };
  const limits = chart.limits.map(({ label, value }) => `${label}: ${digits.format(value)} ${chart.unit}`);
  return [...chart.series.map(line), ...limits].join("; ") + ".";
}

/** Percentiles are spread by their nines. */
const nines = (percentile: number): number => -Math.log10(Math.max(1 - percentile / 100, 1e-9));
const ofNines = (place: number): number => 100 * (1 - 10 ** -place);

function data(chart: Chart): uPlot.AlignedData {
  const place = chart.horizontal === "percentile" ? nines : (value: number): number => value;
  const places = [...new Set(chart.series.flatMap(({ points }) => points.map(([at]) => place(at))))].sort((a, b) => a - b);
  const row = new Map(places.map((at, index) => [at, index]));
  const lines = chart.series.map(({ points }) => {
    const values: (number | null | undefined)[] = places.map(() => undefined);
    for (const [at, value] of points) values[row.get(place(at))!] = value;
    return values;
  });
  const limits = chart.limits.map(({ value }) => places.map(() => value));
  return [places, ...lines, ...limits] as uPlot.AlignedData;
}

/** Shades what is not the measured phase, and marks events. */
function marks(chart: Chart): uPlot.Plugin {
  const draw = (plot: uPlot): void => {
    const { ctx, bbox } = plot;
    const x = (value: number): number => plot.valToPos(value, "x", true);
    const clipped = (value: number): number => Math.min(Math.max(x(value), bbox.left), bbox.left + bbox.width);
    ctx.save();
    ctx.fillStyle = colour("--band");
    for (const band of chart.bands.filter((band) => !band.is_measured)) {
      ctx.fillRect(clipped(band.from), bbox.top, clipped(band.to) - clipped(band.from), bbox.height);
    }
    ctx.fillStyle = colour("--fail");
    for (const [at] of chart.events) ctx.fillRect(x(at) - 1, bbox.top, 2, bbox.height);
    ctx.restore();
  };
  return { hooks: { drawClear: draw } };
}

function options(chart: Chart, width: number): uPlot.Options {
  const isTime = chart.horizontal === "time";
  const axis = { stroke: colour("--quiet"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--grid"), width: 1 } };
  const number = (_: uPlot, value: number | null): string => (value === null || value === undefined ? "" : `${digits.format(value)} ${chart.unit}`);
  const top = Math.max(0, ...chart.series.flatMap(({ points }) => points.map((point) => point[1] ?? 0)));
  // Limits far above the lines would press these to the ground.
  const limits = chart.limits.filter(({ value }) => value <= top * 4);
  const highest = Math.max(top, ...limits.map(({ value }) => value)) * 1.05 || 1;
  return {
    width,
    height: HEIGHT,
    scales: {
      x: { time: false },
      y: isTime ? { range: [0, highest] } : { distr: 3 },
    },
    axes: [
      { ...axis, values: (_, values) => values.map((value) => (isTime ? `${digits.format(value)} s` : `${digits.format(ofNines(value))} %`)) },
      { ...axis, size: 62, values: (_, values) => values.map((value) => (value === null ? "" : digits.format(value))) },
    ],
    series: [
      { label: isTime ? "time" : "percentile", value: (_, value) => (value === null || value === undefined ? "" : isTime ? `${digits.format(value)} s` : `${ofNines(value).toPrecision(5)} %`) },
      ...chart.series.map((line) => ({
        label: line.name, stroke: colour(`--tone-${(line.tone % 8) + 1}`), width: 2, spanGaps: true, value: number,
        dash: line.mark === "dashed" ? DASH : undefined, points: { show: line.mark === "dots" },
        paths: line.mark === "dots" ? (): null => null : undefined,
      })),
      ...chart.limits.map((limit) => ({ label: limit.label, stroke: colour("--limit"), width: 1, dash: [2, 3], value: number, points: { show: false } })),
    ],
    plugins: [marks(chart)],
    cursor: { drag: { x: false, y: false } },
  } as uPlot.Options;
}

function useTheme(): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const change = (): void => setCount((before) => before + 1);
    addEventListener("theme", change);
    return () => removeEventListener("theme", change);
  }, []);
  return count;
}

export function ChartView({ chart }: { chart: Chart }) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const theme = useTheme();
  const text = described(chart);
  useEffect(() => {
    if (width < 50) return;
    const plot = new uPlot(options(chart, width), data(chart), place.current!);
    return () => plot.destroy();
  }, [chart, width, theme]);
  return (
    <figure class="chart">
      <figcaption><b>{chart.title}</b>{chart.unit && <small>, {chart.unit}</small>} {chart.note}</figcaption>
      <div class="plot" ref={place} role="img" aria-label={`${chart.title}. ${text}`} />
      <details>
        <summary>In words</summary>
        <p class="note">{text}</p>
        {chart.events.map(([at, label]) => <p class="note" key={`${at} ${label}`}>{digits.format(at)} s: {label}</p>)}
      </details>
    </figure>
  );
}
