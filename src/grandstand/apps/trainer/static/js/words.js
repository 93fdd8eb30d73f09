// Counts words as the server does: runs of letters and digits, `1,200` and `don't` as one.
const WORD = /[\p{L}\p{N}]+(?:['’\-.,][\p{L}\p{N}]+)*/gu;

export function words(text) {
  return text.match(WORD)?.length ?? 0;
}
