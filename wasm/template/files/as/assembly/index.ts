// The exports of the contract. What the plugin does is in extract.ts.
import { Event, Output, OK, VERSION, head, read } from "./locket";
import { extract } from "./extract";

const MAX_INPUT: u32 = 4 << 20;
const REFUSED: u8[] = [0xa2, 1, 0, 2, 0x67, 0x72, 0x65, 0x66, 0x75, 0x73, 0x65, 0x64];

let input = new ArrayBuffer(64 << 10);
let answer: u8[] = [];

export function locket_abi(): i32 {
  return VERSION;
}

export function locket_alloc(n: u32): usize {
  if (n > MAX_INPUT) return 0;
  if (<u32>input.byteLength < n) input = new ArrayBuffer(n);
  return changetype<usize>(input);
}

export function locket_extract(ptr: usize, n: u32): u64 {
  const e = new Event();
  let code = read(ptr, n, e);
  const o = new Output(e.text);
  if (code == OK) code = extract(e, o);
  if (code != OK) {
    answer = REFUSED.slice();
    answer[2] = <u8>code; // under 24
    return at(answer) | 0x80000000;
  }
  if (o.count == 0) return 0;
  answer = [0xa2, 0, 1, 1];
  head(answer, 4, o.count);
  for (let i = 0; i < o.b.length; i++) answer.push(o.b[i]);
  return at(answer);
}

function at(b: u8[]): u64 {
  return (<u64>b.dataStart << 32) | <u64>b.length;
}
