// What fails and is repaired, and when.

import { useEffect, useState } from "preact/hooks";
import { setEvents } from "./store";
import type { Described } from "./types";
import { useStore } from "./use";

export function Events({ design }: { design: Described }) {
  const { faults } = useStore();
  const wrong = faults["event"];
  const [lines, setLines] = useState(design.events);
  useEffect(() => setLines(design.events), [design.events]);
  const done = (): void => {
    if (lines !== design.events || wrong) void setEvents(lines);
  };
  return (
    <section class="card">
      <details open={Boolean(design.events || wrong)}>
        <summary>Failures in time</summary>
        <label for="events">One event a line: time, event, number</label>
        <textarea
          id="events" rows={4} spellcheck={false} placeholder={"30s disk-fail 3\n1m disk-slow 5 x20 for 20s"} value={lines}
          aria-describedby="events-note" aria-invalid={Boolean(wrong)} onInput={(event) => setLines(event.currentTarget.value)} onBlur={done}
        />
        <button type="button" onClick={done}>Apply the events</button>
        <p id="events-note" class={wrong ? "note error" : "note"} role={wrong ? "alert" : undefined}>
          {wrong ? `${wrong.fault.message} ${wrong.fault.help}` : "Times count from the beginning of the measured phase."}
        </p>
      </details>
    </section>
  );
}
