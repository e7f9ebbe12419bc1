// Reads 16 kHz PCM16 from standard input and writes 1 or 0 for each 20 ms: what
// WebRTC's detector, npm's webrtcvad_js in the folder of the first argument, says
// in the mode of the second. The build checks three samples that it is told, of
// which the last lies past a frame, and takes the process for its own program's.
'use strict';
const fs = require('fs');
const [dir, mode] = process.argv.slice(1);
const source = fs.readFileSync(dir + '/webrtc_vad.js', 'utf8');
const exit = process.exit;
process.exit = () => {};
const vad = new Function('Module', 'require', 'process', '__dirname', source + ';return Module')({}, require, process, dir);
process.exit = exit;
if (vad._setmode(Number(mode)) !== 0) throw new Error('mode ' + mode + ' refused');
const samples = 320, rate = 16000;
const at = vad._malloc(4096);
const pcm = fs.readFileSync(0);
let out = '';
for (let i = 0; i + 2 * samples <= pcm.length; i += 2 * samples) {
  vad.HEAPU8.fill(0, at, at + 4096);
  vad.HEAPU8.set(pcm.subarray(i, i + 2 * samples), at);
  const heap = vad.HEAP16, p = at >> 1;
  const v = vad._process_data(at, samples, rate, heap[p], heap[p + 100], heap[p + 2000]);
  if (v < 0) throw new Error('frame ' + i / (2 * samples) + ' refused');
  out += v ? '1' : '0';
}
process.stdout.write(out);
