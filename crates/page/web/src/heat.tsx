// Two settings against each other: one figure of every point, by colour and number.

import { useState } from "preact/hooks";
import type { Grid } from "./types";

const FIGURES: [string, string, string, number][] = [
  ["database_read_ms", "Database read latency, average", "ms", 1],
  ["database_read_p99_ms", "Database read latency, p99", "ms", 1],
  ["achieved_iops", "Achieved rate", "IOPS", 1],
  ["busiest_disk_fraction", "Busiest disk", "%", 100],
];
const STEPS = 5;

const digits = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

export function HeatMap({ grid }: { grid: Grid }) {
  const [figure, setFigure] = useState(FIGURES[0]![0]);
  const [down, across] = grid.axes;
  if (!down || !across || grid.axes.length !== 2 || down.values.length < 2 || across.values.length < 2) return null;
  const [, title, unit, factor] = FIGURES.find(([name]) => name === figure)!;
  const pointAt = (row: string, column: string) =>
    grid.points.find((point) => point.values[down.key] === row && point.values[across.key] === column);
  const valueOf = (point: (typeof grid.points)[number] | undefined): number | undefined => {
    const value = point?.[figure];
    return typeof value === "number" ? value * factor : undefined;
  };
  const values = grid.points.map(valueOf).filter((value): value is number => value !== undefined);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const step = (value: number): number => Math.min(STEPS - 1, Math.floor(((value - low) / (high - low || 1)) * STEPS));
  return (
    <figure class="heat">
      <figcaption>
        <label>Figure <select value={figure} onChange={(event) => setFigure(event.currentTarget.value)}>
          {FIGURES.map(([name, words]) => <option key={name} value={name}>{words}</option>)}
        </select></label>
      </figcaption>
      <div class="scroll" tabIndex={0} role="region" aria-label={`${title} by ${down.key} and ${across.key}`}>
        <table>
          <caption>{title}, {unit}: {down.key} (rows) by {across.key} (columns); a cross marks a point that does not pass</caption>
          <thead><tr><th scope="col">{down.key}</th>{across.values.map((value) => <th scope="col" class="number" key={value}>{value}</th>)}</tr></thead>
          <tbody>
            {down.values.map((row) => (
              <tr key={row}>
                <th scope="row">{row}</th>
                {across.values.map((column) => {
                  const point = pointAt(row, column);
                  const value = valueOf(point);
                  return (
                    <td key={column} class={value === undefined ? "number" : `number heat-${step(value)}`}>
                      {value === undefined ? "-" : digits.format(value)}{point?.verdict === "pass" ? "" : " \u2717"}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
