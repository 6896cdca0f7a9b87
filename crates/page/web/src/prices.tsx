// What the array costs for each figure, where a price is typed in.

import { useState } from "preact/hooks";
import type { Predicted } from "./types";

interface Throughput { throughput: { achieved_iops: number }; totals: { size_end_bytes: number } }

const money = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

export function Prices({ predicted }: { predicted: Predicted }) {
  const [text, setText] = useState("");
  const price = Number(text.replaceAll(",", ""));
  const { throughput, totals } = predicted.result as unknown as Throughput;
  const isPrice = text.trim() !== "" && Number.isFinite(price) && price > 0;
  return (
    <section class="card">
      <h2>Price</h2>
      <div class="prices">
      <label for="price">Price of the array, in any currency</label>
      <input id="price" type="text" inputMode="decimal" autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <span role="status">
        {isPrice && `${money.format(price / throughput.achieved_iops)} for each IOPS achieved; ${money.format(price / (totals.size_end_bytes / 1e12))} for each TB of databases`}
        {text.trim() !== "" && !isPrice && "A number above 0 is meant."}
      </span>
      </div>
    </section>
  );
}
