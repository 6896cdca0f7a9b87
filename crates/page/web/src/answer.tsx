// What the prediction says: verdict, figures, what is busy, charts, tables.

import { ChartView } from "./chart";
import { Diagram } from "./diagram";
import { ProgressBar } from "./progress";
import { stopPredicting } from "./store";
import { TableView } from "./table";
import type { Chart, Predicted, Table } from "./types";
import { useStore } from "./use";

/** The charts that stand open; the others are folded. */
const FIRST_CHARTS = ["latency", "array-busy", "array-tiers", "array-warm"];
/** The tables that stand open. */
const FIRST_TABLES = ["Service levels", "Error bars of the calibration", "I/O by type", "Events"];

/** The verdict and the figures that people ask for first. */
export function Answer() {
  const { predicted, isStale, isPredicting, progress } = useStore();
  return (
    <section class={isStale ? "answer first stale" : "answer first"} aria-label="Answer" aria-busy={isPredicting}>
      {predicted ? (
        <>
          <Verdict predicted={predicted} />
          <Tiles predicted={predicted} />
        </>
      ) : <p class="begin">The first answer is being computed.</p>}
      <div class="status" role="status">
        {isPredicting && <ProgressBar what={isStale ? "First answer" : "Whole prediction"} progress={progress} cancel={stopPredicting} />}
      </div>
    </section>
  );
}

/** Everything else that the prediction says. */
export function Details() {
  const { predicted, isStale } = useStore();
  if (!predicted) return null;
  return (
    <div class={isStale ? "details stale" : "details"}>
      <section class="card">
        <h2>What is busy</h2>
        <p id="busiest">{predicted.busiest}</p>
        <Diagram parts={predicted.parts} />
      </section>
      <Charts charts={predicted.charts} />
      <Tables tables={predicted.tables} />
      <Remarks predicted={predicted} />
    </div>
  );
}

function Tiles({ predicted }: { predicted: Predicted }) {
  return (
    <ul class="tiles">
      {predicted.tiles.map(([name, value, unit, beside]) => (
        <li key={name}>
          <span class="name">{name}</span>
          <span class="value">{value}{unit && <span class="unit"> {unit}</span>}</span>
          <span class="beside">{beside}</span>
        </li>
      ))}
    </ul>
  );
}

function Verdict({ predicted }: { predicted: Predicted }) {
  const signs: { [tone: string]: string } = { pass: "M19 33l9 10 17-21", fail: "M22 22l20 20M42 22l-20 20" };
  return (
    <div class={`verdict ${predicted.tone}`} id="verdict">
      <svg class="sign" viewBox="0 0 64 64" aria-hidden="true">
        <circle cx="32" cy="32" r="28" />
        <path d={signs[predicted.tone] ?? "M24 26c0-11 17-11 17 0 0 7-9 7-9 13M32 47v.5"} />
      </svg>
      <div>
        <span class="word">{predicted.word}</span>
        <p class="sentence">{predicted.sentence}</p>
        {predicted.reason && <p>{predicted.reason}</p>}
        {predicted.first && <p class="short">{predicted.first} The whole prediction follows.</p>}
      </div>
    </div>
  );
}

function Charts({ charts }: { charts: Chart[] }) {
  const drawn = charts.filter((chart) => chart.horizontal === "time" || chart.horizontal === "percentile");
  const isFirst = (chart: Chart): boolean => FIRST_CHARTS.includes(chart.identity);
  const others = drawn.filter((chart) => !isFirst(chart));
  return (
    <section class="card">
      <h2>Over time</h2>
      <div class="charts">{drawn.filter(isFirst).map((chart) => <ChartView key={chart.identity} chart={chart} />)}</div>
      {others.length > 0 && (
        <details>
          <summary>More charts ({others.length})</summary>
          <div class="charts">{others.map((chart) => <ChartView key={chart.identity} chart={chart} />)}</div>
        </details>
      )}
    </section>
  );
}

function Tables({ tables }: { tables: Table[] }) {
  const isFirst = (table: Table): boolean => FIRST_TABLES.includes(table.title);
  return (
    <section class="card">
      <h2>Figures</h2>
      {tables.filter(isFirst).map((table) => <TableView key={table.title} table={table} />)}
      {tables.filter((table) => !isFirst(table)).map((table) => (
        <details key={table.title}>
          <summary>{table.title}</summary>
          <TableView table={table} isBare />
        </details>
      ))}
    </section>
  );
}

function Remarks({ predicted }: { predicted: Predicted }) {
  if (predicted.findings.length + predicted.notes.length === 0) return null;
  return (
    <section class="card">
      {predicted.findings.length > 0 && <h2>Findings</h2>}
      {predicted.findings.map(([title, text]) => <p key={title}><b>{title}</b> {text}</p>)}
      {predicted.notes.length > 0 && <h2>Notes on the figures</h2>}
      {predicted.notes.map((note) => <p key={note}>{note}</p>)}
    </section>
  );
}
