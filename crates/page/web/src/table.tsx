// A table of the reports.

import type { Cell, Table } from "./types";

function Data({ cell, numeric, isName }: { cell: Cell; numeric: boolean; isName: boolean }) {
  const names = [numeric ? "number" : "", cell.tone, cell.notable ? "notable" : ""].filter(Boolean).join(" ");
  return isName ? <th scope="row" class={names}>{cell.text}</th> : <td class={names}>{cell.text}</td>;
}

export function TableView({ table, isBare }: { table: Table; isBare?: boolean }) {
  const row = (cells: Cell[], key: number | string) => (
    <tr key={key}>
      {cells.map((cell, at) => <Data key={at} cell={cell} numeric={table.columns[at]!.numeric} isName={at < Math.max(table.names, 1)} />)}
    </tr>
  );
  return (
    <>
      {!isBare && <h3>{table.title}</h3>}
      <div class="scroll" tabIndex={0} role="region" aria-label={table.title}>
        <table>
          <thead>
            <tr>
              {table.columns.map((column, at) => (
                <th key={at} scope="col" class={column.numeric ? "number" : ""}>
                  {[column.group, column.head].filter(Boolean).join(", ")}
                  {column.unit && <small> {column.unit}</small>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{table.rows.map(row)}</tbody>
          {table.sums.length > 0 && <tfoot>{row(table.sums, "sums")}</tfoot>}
        </table>
      </div>
    </>
  );
}
