// The model in workers. Each lane answers one request after the other; what goes on in one never holds up another.

import workerSource from "worker-source";
import type { Fault, Progress } from "./types";

export class Failure extends Error {
  constructor(readonly fault: Fault) {
    super(fault.message);
  }
}

/** Somebody cancelled the request, or another one took its place. */
export class Cancelled extends Error {}

async function unpacked(): Promise<WebAssembly.Module> {
  const element = document.getElementById("module")!;
  const packed = Uint8Array.from(atob(element.textContent!.trim()), (letter) => letter.charCodeAt(0));
  element.remove();
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

const module = unpacked();

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: Error): void;
  onProgress?: (progress: Progress) => void;
}

export class Lane {
  private worker: Worker | undefined;
  private waiting: Waiting | undefined;
  private panic = "";

  /** A lane of long requests takes a new worker for each: memory that was used is never given back. */
  constructor(private readonly isLong = false) {}

  /** The worker is begun beforehand, so that the first request need not wait for it. */
  async begin(): Promise<void> {
    if (this.worker) return;
    const compiled = await module;
    if (this.worker) return;
    const address = URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
    this.worker = new Worker(address);
    URL.revokeObjectURL(address);
    this.worker.onmessage = (event) => this.take(event.data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.take({ dead: event.message });
    };
    this.worker.postMessage({ module: compiled });
  }

  /** Asks, and cancels what was asked before. */
  async ask<T>(request: object, onProgress?: (progress: Progress) => void): Promise<T> {
    if (this.waiting) this.cancel();
    return new Promise<T>((resolve, reject) => {
      const waiting = { resolve: resolve as (answer: unknown) => void, reject, onProgress };
      this.waiting = waiting;
      this.begin().then(
        () => this.waiting === waiting && this.worker!.postMessage({ request: JSON.stringify(request) }),
        (error) => this.take({ dead: String(error) }),
      );
    });
  }

  /** Ends the worker in the middle of what it does. */
  cancel(): void {
    const waiting = this.waiting;
    if (!waiting) return;
    this.waiting = undefined;
    waiting.reject(new Cancelled());
    this.renew();
  }

  private renew(): void {
    this.worker?.terminate();
    this.worker = undefined;
    void this.begin();
  }

  private take(message: { progress?: Progress; panic?: string; answer?: string; dead?: string }): void {
    if (message.progress) {
      this.waiting?.onProgress?.(message.progress);
    } else if (message.panic !== undefined) {
      this.panic = message.panic;
    } else if (message.answer !== undefined) {
      const waiting = this.waiting;
      this.waiting = undefined;
      const { answer, fault } = JSON.parse(message.answer);
      if (fault) waiting?.reject(new Failure(fault));
      else waiting?.resolve(answer);
      if (this.isLong) this.renew();
    } else {
      this.replace(message.dead ?? "");
    }
  }

  /** A module that has panicked is not used again. */
  private replace(reason: string): void {
    const fault = {
      message: `The model has ended by a fault of the program: ${this.panic || reason}`,
      help: "It was started anew. Please report this with the design that caused it.",
    };
    this.panic = "";
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.reject(new Failure(fault));
    this.renew();
  }
}

/** Requests that take no time, answered in their order. */
export class Queue {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly lane: Lane) {}

  ask<T>(request: () => object): Promise<T> {
    const asked = this.last.then(() => this.lane.ask<T>(request()));
    this.last = asked.catch(() => undefined);
    return asked;
  }
}
