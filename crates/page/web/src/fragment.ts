// The state of the page in the address: compressed, in base64url.

import type { Kept } from "./types";

export interface State { toml: string; kept: Kept[] }

async function piped(bytes: Uint8Array<ArrayBuffer>, through: CompressionStream | DecompressionStream): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(through as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export async function written(state: State): Promise<string> {
  const text = JSON.stringify(state);
  const packed = await piped(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const letters = Array.from(packed, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The state of an address; nothing when it has none that can be read. */
export async function read(fragment: string): Promise<State | undefined> {
  try {
    const letters = atob(fragment.replace(/^#/, "").replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const text = new TextDecoder().decode(await piped(bytes, new DecompressionStream("deflate-raw")));
    const state = JSON.parse(text);
    return typeof state.toml === "string" && Array.isArray(state.kept) ? state : undefined;
  } catch {
    return undefined;
  }
}
