// The design: workload, array, and their main settings.

import { FieldRow } from "./field";
import { choose, set } from "./store";
import type { Described, Field, Lists, Named } from "./types";

interface ChooserProps { id: string; label: string; value: string; list: Named[]; other: string; change: (name: string) => void }

function Chooser({ id, label, value, list, other, change }: ChooserProps) {
  const chosen = list.find((one) => one.name === value);
  return (
    <div class="field chooser">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => change(event.currentTarget.value)}>
        {!chosen && <option value="">{other}</option>}
        {list.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
      </select>
      <p class="note">{chosen?.title ?? ""}</p>
    </div>
  );
}

const inGroups = (fields: Field[]): [string, Field[]][] => {
  const groups = new Map<string, Field[]>();
  for (const field of fields) groups.set(field.group, [...(groups.get(field.group) ?? []), field]);
  return [...groups];
};

const HEADS: { [group: string]: string } = { array: "Controllers and cache" };

export function Form({ lists, design }: { lists: Lists; design: Described }) {
  const groups = inGroups(design.fields);
  const ofWorkload = groups.find(([group]) => group === "workload")?.[1] ?? [];
  const ofArray = groups.filter(([group]) => group !== "workload");
  return (
    <>
      <section class="card">
        <h2>Workload</h2>
        <Chooser id="workload" label="Profile" value={design.workload} list={lists.workloads} other="one of your own" change={(workload) => void choose({ workload })} />
        {ofWorkload.map((field) => <FieldRow key={field.path} field={field} />)}
      </section>
      <section class="card">
        <h2>Array</h2>
        <Chooser id="array" label="Bundled array" value={design.array} list={lists.arrays} other="one of your own" change={(array) => void choose({ array })} />
        {!design.array && <p class="note">{design.title}</p>}
        <label class="check">
          <input type="checkbox" checked={design.settled} onChange={(event) => void set("settled", event.currentTarget.checked ? "true" : "")} />
          Begin as after days of this load: tiers full, read caches warm
        </label>
        {ofArray.map(([group, fields]) => (
          <fieldset key={group}>
            <legend>{HEADS[group] ?? group}</legend>
            {fields.map((field) => <FieldRow key={field.path} field={field} />)}
          </fieldset>
        ))}
      </section>
    </>
  );
}
