// The guided start: an array, a load, and the first question.

import { useEffect, useRef, useState } from "preact/hooks";
import { choose, state } from "./store";
import { useStore } from "./use";

/** How many of the workload's main settings are asked for. */
const MOST_ASKED = 3;

export function Guide({ close }: { close: () => void }) {
  const { lists, design } = useStore();
  const dialog = useRef<HTMLDialogElement>(null);
  const [array, setArray] = useState(design!.array || lists!.arrays[0]!.name);
  const [typed, setTyped] = useState<{ [path: string]: string }>({});
  const [fault, setFault] = useState("");
  useEffect(() => dialog.current!.showModal(), []);
  const asked = design!.fields.filter((field) => field.group === "workload").slice(0, MOST_ASKED);
  const take = async (workload: string): Promise<void> => {
    setTyped({});
    await choose({ workload });
  };
  const done = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await choose({ array, settings: Object.entries(typed) })) close();
    else setFault(`${state.fault?.message ?? ""} ${state.fault?.help ?? ""}`);
  };
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="guide-head">
      <form onSubmit={(event) => void done(event)}>
        <h2 id="guide-head">What is to be sized?</h2>
        <label for="guide-workload">The load is that of</label>
        <select id="guide-workload" value={design!.workload} onChange={(event) => void take(event.currentTarget.value)}>
          {!design!.workload && <option value="">a profile of your own</option>}
          {lists!.workloads.map((one) => <option key={one.name} value={one.name}>{one.title}</option>)}
        </select>
        {asked.map((field) => (
          <div key={field.path}>
            <label for={`guide-${field.path}`}>{field.label}</label>
            <input id={`guide-${field.path}`} type="text" autocomplete="off" value={typed[field.path] ?? field.value} title={field.expected}
              onInput={(event) => setTyped({ ...typed, [field.path]: event.currentTarget.value })} />
          </div>
        ))}
        <label for="guide-array">The array is</label>
        <select id="guide-array" value={array} onChange={(event) => setArray(event.currentTarget.value)}>
          {lists!.arrays.map((one) => <option key={one.name} value={one.name}>{one.title}</option>)}
        </select>
        {fault && <p class="note error" role="alert">{fault}</p>}
        <p class="note">The answer appears at once. Then change disks, RAID level or SSDs, or let the page search: How much flash?</p>
        <div class="buttons">
          <button type="submit">Predict</button>
          <button type="button" class="plain" onClick={close}>Close</button>
        </div>
      </form>
    </dialog>
  );
}
