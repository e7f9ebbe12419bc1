// Runs beside the page, in the browser's sound thread: it gives the page what the microphone
// hears, in blocks of about 80 ms.
class Tap extends AudioWorkletProcessor {
  block = new Float32Array(Math.round(sampleRate * 0.08));
  full = 0;
  process([[input]]) {
    for (let from = 0; input && from < input.length; ) {
      const n = Math.min(input.length - from, this.block.length - this.full);
      this.block.set(input.subarray(from, from + n), this.full);
      from += n;
      this.full += n;
      if (this.full === this.block.length) {
        this.port.postMessage(this.block.slice());
        this.full = 0;
      }
    }
    return true;
  }
}
registerProcessor("locket-tap", Tap);
