import type { Progress } from "./types";

interface Props { what: string; progress?: Progress; cancel: () => void }

/** What goes on, how far it is, and a button that ends it. */
export function ProgressBar({ what, progress, cancel }: Props) {
  const fraction = progress?.fraction ?? undefined;
  return (
    <div class="progress">
      <span>{what}{progress ? `: ${progress.what}` : ""}</span>
      <progress value={fraction} max={1} aria-label={what} />
      <button type="button" class="plain" onClick={cancel}>Cancel</button>
    </div>
  );
}
