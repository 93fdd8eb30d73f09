// Appends the message rate to its chart.
import { follow } from "../../js/live.js";

const chart = document.getElementById("rate");
if (chart) {
  follow("gatherer/status", null, {
    update: ({ frames_per_second: rate }) => chart.append("Messages", [[Date.now() / 1000, rate]]),
    refetch: () => {},
  });
}
