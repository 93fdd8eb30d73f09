// What every page loads: each part is a custom element that enhances what the server rendered.
import "./theme.js";
import "./ages.js";
import "./find.js";
import "./toasts.js";
import "./live-state.js";
import "./live-part.js";
import "./live-progress.js";
import "./data-table.js";
import "./order-ladder.js";
import "./quiet-post.js";
import "./chart/element.js";
