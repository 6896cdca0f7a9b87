// One setting or two with several values: every combination.

import { useState } from "preact/hooks";
import { FoundView } from "./found";
import { useJob } from "./job";
import { ProgressBar } from "./progress";
import type { Described, Found } from "./types";

interface AxisProps { number: number; design: Described; path: string; values: string; change: (path: string, values: string) => void }

/** The name of a setting in the language of `--sweep`. */
const axisName = (path: string): string => (path === "run.held_rate" ? "rate" : path === "run.duration" ? "duration" : path);

function AxisRow({ number, design, path, values, change }: AxisProps) {
  const id = `axis-${number}`;
  return (
    <div class="axis">
      <label for={id}>Setting {number}</label>
      <select id={id} value={path} onChange={(event) => change(event.currentTarget.value, values)}>
        <option value="">{number === 1 ? "choose one" : "none"}</option>
        <option value="array">Array</option>
        {design.fields.map((field) => <option key={field.path} value={field.path}>{field.label} ({field.group})</option>)}
      </select>
      <label for={`${id}-values`}>Values</label>
      <input id={`${id}-values`} type="text" autocomplete="off" placeholder="8,12,16 or 8..24:4" value={values} onInput={(event) => change(path, event.currentTarget.value)} />
    </div>
  );
}

export function Sweep({ design }: { design: Described }) {
  const job = useJob<Found>();
  const [axes, setAxes] = useState<[string, string][]>([["", ""], ["", ""]]);
  const set = (at: number) => (path: string, values: string): void => setAxes(axes.map((axis, number) => (number === at ? [path, values] : axis)));
  const chosen = axes.filter(([path]) => path !== "");
  const start = (): void => job.start({ do: "sweep", toml: design.toml, axes: chosen.map(([path, values]) => `${axisName(path)}=${values}`) });
  return (
    <section class="card" aria-label="Sweep">
      <details>
        <summary>What if: a sweep of one setting or two</summary>
        {axes.map(([path, values], at) => <AxisRow key={at} number={at + 1} design={design} path={path} values={values} change={set(at)} />)}
        <div class="buttons"><button type="button" disabled={chosen.length === 0 || job.isRunning} onClick={start}>Predict every combination</button></div>
        <div role="status">{job.isRunning && <ProgressBar what="Sweep" progress={job.progress} cancel={job.cancel} />}</div>
        {job.fault && <p class="note error" role="alert">{job.fault.message} {job.fault.help}</p>}
        {job.answer && <FoundView found={job.answer} name="Sweep" />}
      </details>
    </section>
  );
}
