// Files in and out: the design as TOML, the report, files that are dropped or opened.

import { useEffect, useState } from "preact/hooks";
import { Cancelled, Lane } from "./model";
import { faultOf, open, state, update } from "./store";
import type { Described } from "./types";
import { useStore } from "./use";

const MOST_BYTES = 1 << 20;
const reports = new Lane(true);

export function save(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function take(file: File | undefined): Promise<void> {
  if (!file) return;
  if (file.size > MOST_BYTES) {
    update({ fault: { message: `${file.name} is longer than any design.`, help: "Open a TOML file." } });
    return;
  }
  await open(await file.text());
}

/** Files may be dropped anywhere on the page. */
export function useDrop(): void {
  useEffect(() => {
    const over = (event: DragEvent): void => event.preventDefault();
    const drop = (event: DragEvent): void => {
      event.preventDefault();
      void take(event.dataTransfer?.files[0]);
    };
    addEventListener("dragover", over);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("drop", drop);
    };
  }, []);
}

export function Files({ design }: { design: Described }) {
  const { predicted, isPredicting } = useStore();
  const [isWriting, setWriting] = useState(false);
  const report = async (): Promise<void> => {
    setWriting(true);
    try {
      const { html } = await reports.ask<{ html: string }>({ do: "report", toml: state.design!.toml });
      save("report.html", "text/html", html);
    } catch (error) {
      if (!(error instanceof Cancelled)) update({ fault: faultOf(error) });
    }
    setWriting(false);
  };
  return (
    <section class="card">
      <h2>Files</h2>
      <div class="buttons">
        <button type="button" onClick={() => save("design.toml", "application/toml", design.toml)}>Save the design</button>
        <label class="button">
          Open a TOML file
          <input id="open" type="file" accept=".toml,text/plain" onChange={(event) => {
            const input = event.currentTarget;
            void take(input.files?.[0]).then(() => { input.value = ""; });
          }} />
        </label>
        <button type="button" disabled={isPredicting || !predicted} onClick={() => save("result.json", "application/json", JSON.stringify(predicted!.result, null, 2))}>
          Save the result
        </button>
        <button type="button" disabled={isWriting} onClick={() => void report()}>{isWriting ? "The report is being made" : "Save the report"}</button>
      </div>
      <p class="note">
        A design, a profile or the description of an array, also one that was calibrated, can be dropped anywhere on the page.
        The saved design gives the same figures on the command line: <code>proofload predict design.toml</code>
      </p>
      <details>
        <summary>The design as TOML</summary>
        <pre tabIndex={0}>{design.toml}</pre>
      </details>
      <details>
        <summary>The plan in words</summary>
        <pre tabIndex={0}>{design.plan}</pre>
      </details>
    </section>
  );
}
