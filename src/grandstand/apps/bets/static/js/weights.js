// Model builder: a slider for every weight and the running total.
const form = document.querySelector("form.builder");
const fields = [...form.querySelectorAll("[data-weight] input")];
const sum = form.querySelector("[data-sum]");

function value(field) {
  const number = Number(field.value.replace("%", "").trim());
  return Number.isFinite(number) ? Math.min(Math.max(number, 0), 100) : 0;
}

function updateTotal() {
  const total = Math.round(fields.reduce((total, field) => total + value(field), 0) * 100) / 100;
  sum.querySelector("output").textContent = String(total);
  sum.classList.toggle("tone-bad", Math.abs(total - 100) > 1);
}

for (const field of fields) {
  const slider = Object.assign(document.createElement("input"), { type: "range", min: "0", max: "100", step: "1", value: String(value(field)) });
  slider.setAttribute("aria-label", `${field.closest("[data-weight]").querySelector("label").textContent}: slider`);
  slider.addEventListener("input", () => { field.value = slider.value; updateTotal(); });
  field.addEventListener("input", () => { slider.value = String(value(field)); updateTotal(); });
  field.closest(".weight-number").before(slider);
}

form.querySelector("[data-scale]").addEventListener("click", (event) => {
  const total = fields.reduce((total, field) => total + value(field), 0);
  event.preventDefault();
  if (!total) return;
  const parts = fields.map((field) => Math.round((value(field) * 100) / total));
  parts[parts.indexOf(Math.max(...parts))] += 100 - parts.reduce((total, part) => total + part, 0);
  fields.forEach((field, index) => {
    field.value = String(parts[index]);
    field.dispatchEvent(new Event("input"));
  });
});
