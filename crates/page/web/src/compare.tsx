// Up to four designs side by side.

import { ChartView } from "./chart";
import { save } from "./files";
import { useJob } from "./job";
import { ProgressBar } from "./progress";
import { forget, keep, MOST_KEPT, show } from "./store";
import { TableView } from "./table";
import type { Compared, Described, Kept } from "./types";
import { useStore } from "./use";

/** A name that no other design has. */
function nameOf(design: Described, kept: Kept[]): string {
  const name = design.array || design.title;
  const taken = (tried: string): boolean => kept.some((one) => one.name === tried);
  let number = 2;
  if (!taken(name)) return name;
  while (taken(`${name} (${number})`)) number += 1;
  return `${name} (${number})`;
}

export function Compare({ design }: { design: Described }) {
  const { kept } = useStore();
  const job = useJob<Compared>();
  const start = (): void => job.start({ do: "compare", designs: kept.map(({ name, toml }) => [name, toml]) });
  return (
    <section class="card" aria-label="Comparison">
      <h2>Compare</h2>
      <div class="buttons">
        <button type="button" disabled={kept.length >= MOST_KEPT} onClick={() => keep(nameOf(design, kept))}>Keep this design</button>
        <button type="button" disabled={kept.length < 2 || job.isRunning} onClick={start}>Compare the kept designs</button>
      </div>
      {kept.length === 0 ? <p class="note">Keep two to four designs to have them side by side.</p> : (
        <ul class="kept">
          {kept.map(({ name, toml }, index) => (
            <li key={name}>
              <button type="button" class="plain" title="Show this design" onClick={() => void show(toml)}>{name}</button>
              <button type="button" class="back" aria-label={`Remove ${name}`} onClick={() => forget(index)}>&#215;</button>
            </li>
          ))}
        </ul>
      )}
      <div role="status">{job.isRunning && <ProgressBar what="Comparison" progress={job.progress} cancel={job.cancel} />}</div>
      {job.fault && <p class="note error" role="alert">{job.fault.message} {job.fault.help}</p>}
      {job.answer && (
        <>
          {job.answer.unlike.map((sentence) => <p class="caution" key={sentence}>{sentence}</p>)}
          {job.answer.tables.map((table) => <TableView key={table.title} table={table} />)}
          <div class="charts">
            {job.answer.charts.filter((chart) => chart.horizontal === "time").slice(0, 2).map((chart) => <ChartView key={chart.identity} chart={chart} />)}
          </div>
          <div class="buttons"><button type="button" onClick={() => save("comparison.html", "text/html", job.answer!.html)}>Save the report of the comparison</button></div>
        </>
      )}
    </section>
  );
}
