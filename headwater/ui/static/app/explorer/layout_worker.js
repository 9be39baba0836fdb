// The layout in a thread of its own: a module worker. It answers each message with the layout of
// its graph as plain lists, and with the `key` of the message.
import { layout } from "./layout.js";

self.addEventListener("message", ({ data }) => {
  const { boxes, links, previous = [], anchor = null, columnGap = 0, key = null } = data;
  const { places, ...rest } = layout(boxes, links, { previous: new Map(previous), anchor, columnGap });
  self.postMessage({ ...rest, places: [...places], key });
});
