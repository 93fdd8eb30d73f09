// Ages that grow while one looks at them.
const STEPS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

// The largest unit only: one looks at an age, one does not reckon with it.
function duration(seconds) {
  const rounded = Math.round(seconds);
  const [size, unit] = STEPS.find(([length]) => rounded >= length) ?? STEPS.at(-1);
  return `${Math.floor(rounded / size)}\u00a0${unit}`;
}

function age(moment, now) {
  const seconds = (now - moment) / 1000;
  if (Math.abs(seconds) < 1) return "now";
  return seconds > 0 ? `${duration(seconds)} ago` : `in ${duration(-seconds)}`;
}

function tick() {
  if (document.hidden) return;
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const text = age(Date.parse(time.dateTime), now);
    if (time.textContent !== text) time.textContent = text;
  }
}

setInterval(tick, 5000);
document.addEventListener("visibilitychange", tick);
