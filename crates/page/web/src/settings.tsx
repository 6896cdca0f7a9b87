// Every setting of the workload and the array, found by a part of its name or meaning.

import { useEffect, useState } from "preact/hooks";
import { FieldRow } from "./field";
import { everySetting } from "./store";
import type { Field } from "./types";
import { useStore } from "./use";

const MOST_SHOWN = 12;

export function EverySetting() {
  const { design } = useStore();
  const [fields, setFields] = useState<Field[]>([]);
  const [sought, setSought] = useState("");
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (isOpen) everySetting<Field[]>().then(setFields, () => undefined);
  }, [isOpen, design?.toml]);
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ path, meaning }: Field): boolean => words.every((word) => `${path} ${meaning}`.toLowerCase().includes(word));
  const found = words.length > 0 ? fields.filter(fits) : fields.filter((field) => field.is_set);
  return (
    <section class="card">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Every setting</summary>
        <label for="sought">Part of a name or of a meaning</label>
        <input id="sought" type="search" autocomplete="off" value={sought} onInput={(event) => setSought(event.currentTarget.value)} />
        <p class="note" role="status">
          {words.length > 0 ? `${found.length} of ${fields.length} settings` : "These are the settings that the design itself says."}
          {found.length > MOST_SHOWN && `; the first ${MOST_SHOWN} are shown`}
        </p>
        {found.slice(0, MOST_SHOWN).map((field) => (
          <div key={field.path} class="setting">
            <FieldRow field={field} />
            <p class="note">{field.meaning} {field.expected && `Write ${field.expected}.`} {field.source}</p>
          </div>
        ))}
      </details>
    </section>
  );
}
