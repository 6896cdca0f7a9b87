// One setting: a label, what may be typed, a slider where that helps, and what is wrong.

import { useEffect, useState } from "preact/hooks";
import { set } from "./store";
import type { Fault, Field } from "./types";
import { useStore } from "./use";

const LIVE_MS = 300;

interface Props { field: Field; change?: (value: string) => void; fault?: Fault }

export function FieldRow({ field }: { field: Field }) {
  const { faults } = useStore();
  const wrong = faults[field.path];
  const id = `field-${field.path}`;
  const change = (value: string): void => void set(field.path, value);
  const shown = wrong ? { ...field, value: wrong.value } : field;
  return (
    <div class={wrong ? "field wrong" : "field"}>
      <label for={id} title={field.meaning}>{field.label}</label>
      <Input id={id} field={shown} change={change} describedBy={`${id}-note`} isWrong={Boolean(wrong)} />
      {field.is_set && !wrong && (
        <button type="button" class="back" title="Back to the value of the profile or the array" aria-label={`Take back ${field.label}`} onClick={() => change("")}>
          &#8634;
        </button>
      )}
      <p id={`${id}-note`} class={wrong ? "note error" : "note"} role={wrong ? "alert" : undefined}>
        {wrong ? `${wrong.fault.message} ${wrong.fault.help}` : choiceMeaning(field)}
      </p>
    </div>
  );
}

/** What the chosen one of several means. */
function choiceMeaning(field: Field): string {
  if (field.kind !== "choice") return "";
  const chosen = field.choices.find((one) => one.name === field.value);
  return chosen && chosen.title !== chosen.name ? chosen.title : "";
}

interface InputProps extends Props { id: string; change: (value: string) => void; describedBy: string; isWrong: boolean }

function Input({ id, field, change, describedBy, isWrong }: InputProps) {
  const common = { id, "aria-describedby": describedBy, "aria-invalid": isWrong };
  if (field.kind === "choice") {
    return (
      <select {...common} value={field.value} onChange={(event) => change(event.currentTarget.value)}>
        {!field.choices.some((one) => one.name === field.value) && <option value={field.value}>{field.value || "(default)"}</option>}
        {field.choices.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
      </select>
    );
  }
  if (field.kind === "flag") {
    return <input {...common} type="checkbox" checked={field.value === "true"} onChange={(event) => change(String(event.currentTarget.checked))} />;
  }
  return <Typed common={common} field={field} change={change} />;
}

/** A text is sent when it is done; a number, too, when nothing more was typed for a while. */
function Typed({ common, field, change }: { common: object; field: Field; change: (value: string) => void }) {
  const [text, setText] = useState(field.value);
  const isNumber = field.kind === "whole" || field.kind === "number";
  useEffect(() => setText(field.value), [field.value]);
  useEffect(() => {
    if (!isNumber || text === field.value || text === "") return;
    const timer = setTimeout(() => change(text), LIVE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const done = (): void => {
    if (text !== field.value) change(text);
  };
  const value = Number(field.value);
  const hasSlider = field.kind === "whole" && field.path.endsWith("_count") && Number.isFinite(value);
  return (
    <span class="typed">
      <input
        {...common} type="text" inputMode={isNumber ? "decimal" : "text"} value={text} title={field.expected} autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)} onBlur={done}
        onKeyDown={(event) => event.key === "Enter" && done()}
      />
      {hasSlider && (
        <input
          type="range" min={field.low ?? 0} max={Math.max(24, value)} value={text} aria-label={`${field.label}, slider`}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      )}
    </span>
  );
}
