// What a search or a sweep found.

import { save } from "./files";
import { HeatMap } from "./heat";
import { TableView } from "./table";
import type { Found } from "./types";

interface Props { found: Found; name: string; take?: (found: Found) => void }

export function FoundView({ found, name, take }: Props) {
  return (
    <div class="found">
      <div class={`verdict small ${found.tone}`}>
        <div>
          <span class="word">{name}</span>
          {found.sentences.map((sentence) => <p key={sentence}>{sentence}</p>)}
        </div>
      </div>
      <HeatMap grid={found.grid} />
      {found.table && <TableView table={found.table} />}
      <div class="buttons">
        {take && found.take.length > 0 && <button type="button" onClick={() => take(found)}>Take this into the design</button>}
        <button type="button" onClick={() => save("sweep.html", "text/html", found.html)}>Save the report of these points</button>
      </div>
    </div>
  );
}
