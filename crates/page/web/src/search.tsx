// How much flash does this load need, and how much load does this array carry?

import { useState } from "preact/hooks";
import { useJob } from "./job";
import { FoundView } from "./found";
import { ProgressBar } from "./progress";
import { setAll } from "./store";
import type { Described, Found } from "./types";

export function Search({ design }: { design: Described }) {
  const job = useJob<Found>();
  const [asked, setAsked] = useState("");
  const load = design.kind === "mail" ? "How many mailboxes?" : "How many users?";
  const ask = (find: string, words: string): void => {
    setAsked(words);
    job.start({ do: "find", toml: design.toml, find, axes: [] });
  };
  const take = (found: Found): void => void setAll(found.take);
  return (
    <section class="card" aria-label="Search">
      <h2>Search</h2>
      <div class="buttons">
        <button type="button" disabled={job.isRunning} onClick={() => ask("min-flash", "How much flash?")}>How much flash?</button>
        <button type="button" disabled={job.isRunning} onClick={() => ask("max-iops", load)}>{load}</button>
      </div>
      <p class="note">Each point is predicted for the whole measured phase, and begins as after days of its load.</p>
      <div role="status">{job.isRunning && <ProgressBar what={asked} progress={job.progress} cancel={job.cancel} />}</div>
      {job.fault && <p class="note error" role="alert">{job.fault.message} {job.fault.help}</p>}
      {job.answer && <FoundView found={job.answer} name={`${asked} ${design.title}`} take={take} />}
    </section>
  );
}
