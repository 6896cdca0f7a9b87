import { useEffect, useState } from "preact/hooks";
import { Answer, Details } from "./answer";
import { Compare } from "./compare";
import { Events } from "./events";
import { Files, useDrop } from "./files";
import { Form } from "./form";
import { Guide } from "./guide";
import { Prices } from "./prices";
import { Search } from "./search";
import { EverySetting } from "./settings";
import { dismiss } from "./store";
import { Sweep } from "./sweep";
import { ThemeSwitch } from "./theme";
import { useStore } from "./use";

export function App() {
  const { lists, design, fault, predicted } = useStore();
  const [isGuided, setGuided] = useState(false);
  useDrop();
  useEffect(() => {
    document.title = design ? `${design.title} - Proofload predictor` : "Proofload predictor";
  }, [design?.title]);
  return (
    <>
      <header class="top">
        <h1>Proofload predictor</h1>
        <p>Will this storage carry the load, and how much flash does it need? Everything is computed in this page; nothing leaves the browser.</p>
        <nav aria-label="Page">
          <button type="button" class="plain" onClick={() => setGuided(true)} disabled={!design}>Guided start</button>
          <ThemeSwitch />
        </nav>
      </header>
      {fault && (
        <div class="fault" role="alert">
          <p><b>{fault.message}</b> {fault.help}</p>
          <button type="button" class="plain" onClick={dismiss}>Close</button>
        </div>
      )}
      {isGuided && design && <Guide close={() => setGuided(false)} />}
      {lists && design ? (
        <main>
          <aside class="design" aria-label="Design">
            <Form lists={lists} design={design} />
            <Events design={design} />
            <EverySetting />
            <Files design={design} />
          </aside>
          <Answer />
          <div class="results">
            <div class="questions">
              <Search design={design} />
              <Compare design={design} />
            </div>
            <Details />
            <Sweep design={design} />
            {predicted && <Prices predicted={predicted} />}
          </div>
        </main>
      ) : (
        !fault && <p class="begin">The model is being started.</p>
      )}
      <footer>
        {lists && `Proofload ${lists.version}. `}
        Predictions of a model: its array descriptions say beside each number where it comes from. Results are not
        comparable with those of Exchange, Jetstress or TPC-E.
      </footer>
    </>
  );
}
