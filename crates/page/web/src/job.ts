// Something that takes long: how far it is, what came of it, how it is ended.

import { useState } from "preact/hooks";
import { Cancelled, Lane } from "./model";
import { faultOf } from "./store";
import type { Fault, Progress } from "./types";

export interface Job<T> {
  isRunning: boolean;
  progress?: Progress;
  answer?: T;
  fault?: Fault;
  start(request: object): void;
  cancel(): void;
}

interface Shown<T> { isRunning: boolean; progress?: Progress; answer?: T; fault?: Fault }

export function useJob<T>(): Job<T> {
  const [lane] = useState(() => new Lane(true));
  const [shown, setShown] = useState<Shown<T>>({ isRunning: false });
  const start = (request: object): void => {
    setShown({ isRunning: true });
    lane.ask<T>(request, (progress) => setShown({ isRunning: true, progress })).then(
      (answer) => setShown({ isRunning: false, answer }),
      (error) => {
        if (!(error instanceof Cancelled)) setShown({ isRunning: false, fault: faultOf(error) });
      },
    );
  };
  const cancel = (): void => {
    lane.cancel();
    setShown({ isRunning: false });
  };
  return { ...shown, start, cancel };
}
