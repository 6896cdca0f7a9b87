// A picture of the array: each controller with what lies behind it, coloured by how busy it is.

import { useRef } from "preact/hooks";
import type { Part } from "./types";
import { useWidth } from "./use";

const LEAST_WIDTH = 250;
const GAP = 16;
const LINE = 17;
const PAD = 10;
const BAR = 8;
/** The width of a letter, rather more than less. */
const LETTER = 7.2;

const WARM = 0.5;
const HOT = 0.8;

/** Where a part stands, and how high its box is. */
interface Placed { part: Part; lines: string[]; x: number; y: number; width: number; height: number }

const percent = (share: number): string => `${(share * 100).toPrecision(3)} %`;

/** A text in lines that have room in a box. */
function wrapped(text: string, width: number): string[] {
  const most = Math.max(10, Math.floor(width / LETTER));
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1]!;
    if (last && last.length + 1 + word.length > most) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines;
}

function tone(share: number | null): string {
  if (share === null) return "none";
  return share >= HOT ? "hot" : share >= WARM ? "warm" : "cool";
}

/** The parts of each controller from the hosts down; what belongs to none comes last. */
function towers(parts: Part[]): Part[][] {
  const inside = (id: string): Part[] => parts.filter((part) => part.within === id && part.kind !== "ports");
  const below = (id: string): Part[] => inside(id).flatMap((part) => [part, ...below(part.id)]);
  const controllers = parts.filter((part) => part.kind === "controller");
  const made = controllers.map((controller) => [
    ...parts.filter((part) => part.kind === "ports" && part.within === controller.id),
    controller,
    ...below(controller.id),
  ]);
  const used = new Set(made.flat());
  const rest = parts.filter((part) => !used.has(part));
  return rest.length > 0 ? [...made, rest] : made;
}

function placed(parts: Part[], width: number): { boxes: Placed[]; height: number } {
  const all = towers(parts);
  const columns = Math.max(1, Math.min(all.length, Math.floor((width + GAP) / (LEAST_WIDTH + GAP))));
  const column = (width - GAP * (columns - 1)) / columns;
  const bottoms: number[] = Array.from({ length: columns }, () => 0);
  const boxes: Placed[] = [];
  all.forEach((tower, number) => {
    const at = number % columns;
    let y = bottoms[at]!;
    for (const part of tower) {
      const indent = part.within.startsWith("pool") ? 14 : 0;
      const lines = part.details.flatMap((detail) => wrapped(detail, column - indent - 2 * PAD));
      const height = PAD * 2 + LINE * (1 + lines.length) + (part.busy_fraction === null ? 0 : BAR + 4);
      boxes.push({ part, lines, x: at * (column + GAP) + indent, y, width: column - indent, height });
      y += height + GAP / 2;
    }
    bottoms[at] = y + GAP;
  });
  return { boxes, height: Math.max(1, ...bottoms) };
}

function Box({ box }: { box: Placed }) {
  const { part, lines, x, y, width, height } = box;
  const share = part.busy_fraction;
  const inner = width - 2 * PAD;
  const bar = y + height - PAD - BAR / 2;
  return (
    <g class={`part ${tone(share)}`}>
      <rect class="box" x={x + 0.5} y={y + 0.5} width={width - 1} height={height - 1} rx={7} />
      <text class="part-name" x={x + PAD} y={y + PAD + 12}>{part.name}</text>
      {share !== null && <text class="share" x={x + width - PAD} y={y + PAD + 12} text-anchor="end">{percent(share)}</text>}
      {lines.map((line, row) => <text key={row} class="part-detail" x={x + PAD} y={y + PAD + 12 + LINE * (row + 1)}>{line}</text>)}
      {share !== null && (
        <>
          <rect class="room" x={x + PAD} y={bar} width={inner} height={BAR / 2} rx={2} />
          <rect class="busy" x={x + PAD} y={bar} width={inner * Math.min(share, 1)} height={BAR / 2} rx={2} />
        </>
      )}
    </g>
  );
}

export function Diagram({ parts }: { parts: Part[] }) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const { boxes, height } = placed(parts, Math.max(width, 1));
  const known = parts.filter((part) => part.busy_fraction !== null);
  const text = known.map((part) => `${part.name}: ${percent(part.busy_fraction!)} ${part.measure}`).join("; ");
  return (
    <div ref={place} class="diagram">
      {width > 50 && (
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Parts of the array. ${text}`}>
          {boxes.map((box) => <Box key={box.part.id} box={box} />)}
        </svg>
      )}
      <p class="note key">
        <span class="cool">below 50 %</span> <span class="warm">50 % to 80 %</span> <span class="hot">80 % and above</span>
      </p>
      <details>
        <summary>In words</summary>
        <ul>{known.map((part) => <li key={part.id}>{part.name}: {percent(part.busy_fraction!)} {part.measure}</li>)}</ul>
      </details>
    </div>
  );
}
