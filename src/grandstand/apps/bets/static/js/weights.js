// The builder of models: a slider beside every weight, and their sum as it changes.
const form = document.querySelector("form.builder");
const fields = [...form.querySelectorAll("[data-weight] input")];
const sum = form.querySelector("[data-sum]");

function value(field) {
  const found = Number(field.value.replace("%", "").trim());
  return Number.isFinite(found) ? Math.min(Math.max(found, 0), 100) : 0;
}

function tell() {
  const total = Math.round(fields.reduce((held, field) => held + value(field), 0) * 100) / 100;
  sum.querySelector("output").textContent = String(total);
  sum.classList.toggle("tone-bad", Math.abs(total - 100) > 1);
}

for (const field of fields) {
  const slider = Object.assign(document.createElement("input"), { type: "range", min: "0", max: "100", step: "1", value: String(value(field)) });
  slider.setAttribute("aria-label", `${field.closest("[data-weight]").querySelector("label").textContent}: slider`);
  slider.addEventListener("input", () => { field.value = slider.value; tell(); });
  field.addEventListener("input", () => { slider.value = String(value(field)); tell(); });
  field.closest(".weight-number").before(slider);
}

form.querySelector("[data-scale]").addEventListener("click", (event) => {
  const total = fields.reduce((held, field) => held + value(field), 0);
  event.preventDefault();
  if (!total) return;
  const parts = fields.map((field) => Math.round((value(field) * 100) / total));
  parts[parts.indexOf(Math.max(...parts))] += 100 - parts.reduce((held, part) => held + part, 0);
  fields.forEach((field, at) => {
    field.value = String(parts[at]);
    field.dispatchEvent(new Event("input"));
  });
});
