// The table behind a chart: the latest rows, for reading; all of them are in its CSV.
const MOST = 500;

export function tableOf(title, [heads, ...rows], written) {
  const table = document.createElement("table");
  table.createCaption().textContent = title;
  const head = table.createTHead().insertRow();
  for (const text of heads) {
    head.append(Object.assign(document.createElement("th"), { scope: "col", textContent: text }));
  }
  const body = table.createTBody();
  for (const [first, ...values] of rows.slice(-MOST).reverse()) {
    const row = body.insertRow();
    row.append(Object.assign(document.createElement("th"), { scope: "row", textContent: first }));
    for (const value of values) row.insertCell().textContent = written(value);
  }
  if (rows.length <= MOST) return [table];
  const note = document.createElement("p");
  note.className = "chart-none";
  note.textContent = `The latest ${MOST} of ${rows.length.toLocaleString("en")} rows; the CSV has all of them.`;
  return [table, note];
}
