// Adds to the chart of messages a second what recording tells of itself.
import { follow } from "../../js/live.js";

const chart = document.getElementById("pace");
if (chart) {
  follow("gatherer/ingest", null, {
    news: ({ frames_per_second: pace }) => chart.append("Messages", [[Date.now() / 1000, pace]]),
    whole: () => {},
  });
}
