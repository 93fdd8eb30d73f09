// Counts words like the server: runs of letters and digits; `1,200` and `don't` are one word each.
const WORD = /[\p{L}\p{N}]+(?:['’\-.,][\p{L}\p{N}]+)*/gu;

export function countWords(text) {
  return text.match(WORD)?.length ?? 0;
}
