// Runs the WebAssembly module: one request at a time, each as JSON text.

interface Exports {
  memory: WebAssembly.Memory;
  buffer(length: number): number;
  run(): number;
  answer_address(): number;
}

const post = (message: unknown): void => (self as unknown as { postMessage(message: unknown): void }).postMessage(message);
let instance: Promise<Exports> | undefined;

function textAt(memory: WebAssembly.Memory, address: number, length: number): string {
  return new TextDecoder().decode(new Uint8Array(memory.buffer, address, length));
}

async function begun(module: WebAssembly.Module): Promise<Exports> {
  const memory = (): WebAssembly.Memory => exports.memory;
  const imports = {
    page: {
      progress: (address: number, length: number) => post({ progress: JSON.parse(textAt(memory(), address, length)) }),
      panic: (address: number, length: number) => post({ panic: textAt(memory(), address, length) }),
    },
  };
  const made = await WebAssembly.instantiate(module, imports);
  const exports = made.exports as unknown as Exports;
  return exports;
}

self.onmessage = async (event: MessageEvent) => {
  if (event.data.module) {
    instance = begun(event.data.module);
    return;
  }
  try {
    const exports = await instance!;
    const request = new TextEncoder().encode(event.data.request);
    const address = exports.buffer(request.length);
    new Uint8Array(exports.memory.buffer, address, request.length).set(request);
    const length = exports.run();
    post({ answer: textAt(exports.memory, exports.answer_address(), length) });
  } catch (error) {
    // The text of a panic came before.
    post({ dead: String(error) });
  }
};
