// What the answers of the model hold; crates/page/src has their meaning.

export interface Fault { message: string; help: string }
export interface Progress { what: string; fraction: number | null }
export interface Named { name: string; title: string }
export interface Lists { version: string; workloads: Named[]; arrays: Named[]; design: string }

export interface Field {
  path: string; label: string; group: string; value: string; is_set: boolean;
  meaning: string; source: string; expected: string;
  kind: "flag" | "choice" | "whole" | "number" | "text";
  low: number | null; high: number | null; choices: Named[];
}

export interface Described {
  toml: string; kind: string; workload: string; array: string; title: string; question: string;
  fields: Field[]; events: string; settled: boolean; plan: string; notes: string[];
}

export interface Column { group: string; head: string; unit: string; numeric: boolean }
export interface Cell { text: string; tone: string; notable: boolean }
export interface Table { title: string; columns: Column[]; names: number; rows: Cell[][]; sums: Cell[] }

export interface Series { name: string; tone: number; mark: "line" | "dashed" | "dots"; points: [number, number | null][] }
export interface Chart {
  identity: string; title: string; unit: string; horizontal: string; labels: string[]; note: string;
  series: Series[]; limits: { label: string; value: number }[];
  bands: { label: string; from: number; to: number; is_measured: boolean }[]; events: [number, string][];
}

export interface Part {
  id: string; kind: "ports" | "controller" | "link" | "pool" | "group"; name: string; details: string[];
  within: string; busy_fraction: number | null; measure: string;
}

export interface Predicted {
  toml: string; first: string; word: string; tone: string; sentence: string; reason: string;
  tiles: [string, string, string, string][]; findings: [string, string][]; tables: Table[]; charts: Chart[];
  parts: Part[]; busiest: string; notes: string[]; result: object;
}

export interface Found {
  tone: string; sentences: string[]; take: [string, string][]; table: Table | null; html: string;
  grid: Grid;
}

export interface Grid {
  axes: { key: string; values: string[] }[];
  points: (GridPoint & { [figure: string]: unknown })[];
}

export interface GridPoint { name: string; values: { [key: string]: string }; verdict: string | null }
export interface Compared { tables: Table[]; unlike: string[]; charts: Chart[]; html: string }
export interface Kept { name: string; toml: string }
