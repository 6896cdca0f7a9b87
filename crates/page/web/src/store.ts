// What the page knows, and what changes it. Components read `state` and are drawn anew after each change.

import * as fragment from "./fragment";
import { Cancelled, Failure, Lane, Queue } from "./model";
import type { Described, Fault, Kept, Lists, Predicted, Progress } from "./types";

export const MOST_KEPT = 4;
const WAIT_MS = 120;

export interface State {
  lists?: Lists;
  design?: Described;
  /** What is wrong with the value that was typed into a field, by its path. */
  faults: { [path: string]: { fault: Fault; value: string } };
  /** What is wrong with anything else. */
  fault?: Fault;
  predicted?: Predicted;
  /** Whether what is shown is of an earlier design. */
  isStale: boolean;
  progress?: Progress;
  isPredicting: boolean;
  kept: Kept[];
}

export let state: State = { faults: {}, isStale: false, isPredicting: false, kept: [] };
const listeners = new Set<() => void>();

export function listen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function update(change: Partial<State>): void {
  state = { ...state, ...change };
  listeners.forEach((listener) => listener());
}

const forms = new Queue(new Lane());
const predictions = new Lane(true);
let timer = 0;

export const faultOf = (error: unknown): Fault =>
  error instanceof Failure ? error.fault : { message: String(error), help: "" };

/** Asks for the design after a change; what is wrong is shown beside the field of `path`, or at the top. */
async function change(request: (toml: string) => object, path?: string, value = ""): Promise<boolean> {
  try {
    const before = state.design?.toml;
    const design = await forms.ask<Described>(() => request(state.design?.toml ?? state.lists!.design));
    const faults = { ...state.faults };
    if (path) delete faults[path];
    update({ design, faults: path ? faults : {}, fault: undefined });
    if (design.toml !== before) renew();
    return true;
  } catch (error) {
    const fault = faultOf(error);
    if (path) update({ faults: { ...state.faults, [path]: { fault, value } } });
    else update({ fault });
    return false;
  }
}

export const set = (path: string, value: string): Promise<boolean> =>
  change((toml) => ({ do: "set", toml, settings: [[path, value]] }), path, value);

export const setAll = (settings: [string, string][]): Promise<boolean> =>
  change((toml) => ({ do: "set", toml, settings }));

export interface Choice { workload?: string; array?: string; settings?: [string, string][] }

export const choose = (choice: Choice): Promise<boolean> =>
  change((toml) => ({ do: "choose", toml, workload: null, array: null, settings: [], ...choice }));

export const setEvents = (lines: string): Promise<boolean> =>
  change((toml) => ({ do: "events", toml, lines }), "event", lines);

export const open = (text: string): Promise<boolean> => change((toml) => ({ do: "open", toml, text }));

export const show = (toml: string): Promise<boolean> => change(() => ({ do: "describe", toml }));

export const everySetting = <T>(): Promise<T> => forms.ask<T>(() => ({ do: "settings", toml: state.design!.toml }));

export const dismiss = (): void => update({ fault: undefined });

/** Predicts what has changed, a moment after the last change. */
function renew(): void {
  predictions.cancel();
  update({ isStale: true, isPredicting: true, progress: undefined });
  clearTimeout(timer);
  timer = window.setTimeout(() => void predict(), WAIT_MS);
  void remember();
}

async function predict(): Promise<void> {
  const toml = state.design!.toml;
  const onProgress = (progress: Progress): void => update({ progress });
  try {
    for (const first of [true, false]) {
      const predicted = await predictions.ask<Predicted>({ do: "predict", toml, first }, onProgress);
      update({ predicted, isStale: false, progress: undefined });
      // What cannot be shortened is whole at once.
      if (!predicted.first) break;
    }
    update({ isPredicting: false });
  } catch (error) {
    if (error instanceof Cancelled) return;
    update({ fault: faultOf(error), isPredicting: false, progress: undefined });
  }
}

export function stopPredicting(): void {
  predictions.cancel();
  update({ isPredicting: false, progress: undefined });
}

async function remember(): Promise<void> {
  if (!state.design) return;
  const text = await fragment.written({ toml: state.design.toml, kept: state.kept });
  history.replaceState(null, "", `#${text}`);
}

export function keep(name: string): void {
  const kept = [...state.kept, { name, toml: state.design!.toml }].slice(-MOST_KEPT);
  update({ kept });
  void remember();
}

export function forget(index: number): void {
  update({ kept: state.kept.filter((_, number) => number !== index) });
  void remember();
}

async function follow(): Promise<boolean> {
  if (!location.hash) return false;
  const read = await fragment.read(location.hash);
  if (!read) {
    const message = "The address holds no design that can be read.";
    update({ fault: { message, help: "Copy the whole address, or open the design as a file." } });
    return false;
  }
  update({ kept: read.kept });
  return show(read.toml);
}

export async function begin(): Promise<void> {
  window.addEventListener("hashchange", () => void follow());
  void predictions.begin();
  try {
    update({ lists: await forms.ask<Lists>(() => ({ do: "lists" })) });
  } catch (error) {
    update({ fault: faultOf(error) });
    return;
  }
  if (!(await follow())) {
    const fault = state.fault;
    await show(state.lists!.design);
    if (fault) update({ fault });
  }
}
