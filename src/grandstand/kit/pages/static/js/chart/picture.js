// A chart as PNG: its shapes are drawn on a canvas, so that no image has to be loaded.
const SCALE = 2;
const HEAD = 40;
const EDGE = 16;

function paint(pen, node) {
  const style = getComputedStyle(node);
  pen.globalAlpha = Number(style.opacity);
  if (node.localName === "text") {
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    pen.fillStyle = style.fill;
    pen.textAlign = { middle: "center", end: "right" }[style.textAnchor] ?? "left";
    pen.fillText(node.textContent, Number(node.getAttribute("x")), Number(node.getAttribute("y")));
    return;
  }
  const shape = new Path2D(node.getAttribute("d"));
  if (style.fill !== "none") {
    pen.fillStyle = style.fill;
    pen.fill(shape);
  }
  if (style.stroke !== "none") {
    pen.strokeStyle = style.stroke;
    pen.lineWidth = parseFloat(style.strokeWidth);
    pen.lineCap = style.strokeLinecap;
    pen.lineJoin = style.strokeLinejoin;
    pen.stroke(shape);
  }
}

export function picture(svg, title, keys) {
  const { width, height } = svg.viewBox.baseVal;
  const canvas = document.createElement("canvas");
  canvas.width = (width + 2 * EDGE) * SCALE;
  canvas.height = (height + HEAD + 2 * EDGE) * SCALE;
  const pen = canvas.getContext("2d");
  const page = getComputedStyle(svg.closest("chart-plot"));
  pen.scale(SCALE, SCALE);
  pen.fillStyle = page.backgroundColor;
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = page.color;
  pen.font = `600 15px ${getComputedStyle(document.querySelector("h1") ?? document.body).fontFamily}`;
  pen.fillText(title, EDGE, EDGE + 14);
  pen.font = `12px ${page.fontFamily}`;
  let at = EDGE;
  for (const key of keys) {
    pen.fillStyle = getComputedStyle(key).getPropertyValue("--tone") && getComputedStyle(key, "::before").backgroundColor;
    pen.fillRect(at, EDGE + 26, 12, 3);
    pen.fillStyle = page.color;
    pen.fillText(key.textContent, at + 17, EDGE + 31);
    at += pen.measureText(key.textContent).width + 34;
  }
  pen.translate(EDGE, EDGE + HEAD);
  for (const node of svg.querySelectorAll("path, text")) {
    if (!node.closest("[data-cursor]")) paint(pen, node);
  }
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
