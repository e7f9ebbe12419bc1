// The microphone: 16 kHz, one channel, as Opus where the browser encodes it, else as µ-law,
// in pieces of two seconds.

const pieceTime = 2000; // ms
const holeTime = 2000; // ms without sound that are told as a gap

/** Sound is the microphone while it is on. tell is given each piece, lost each hole, level the
 * loudness from 0 to 1, and ended is called when the browser takes the microphone away. */
export class Sound {
  quiet = false; // paused: what is heard is thrown away
  #last = 0; // when sound came last, in ms since 1970; 0: none yet
  #count = 0; // samples that went to the encoder
  #anchor = 0; // when sample 0 was, in ms since 1970
  #piece; // {at, parts, ms}
  #index = 0;

  constructor(hooks) {
    this.hooks = hooks;
  }

  async start() {
    this.stream = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1, echoCancellation: false, noiseSuppression: true, autoGainControl: true } });
    try {
      this.stream.getAudioTracks()[0].onended = () => this.hooks.ended();
      try {
        this.context = new AudioContext({ sampleRate: 16000 });
        this.source = this.context.createMediaStreamSource(this.stream);
      } catch {
        await this.context?.close();
        this.context = new AudioContext(); // a browser that does not convert
        this.source = this.context.createMediaStreamSource(this.stream);
      }
      this.rate = this.context.sampleRate;
      await this.context.audioWorklet.addModule("tap.js");
      this.tap = new AudioWorkletNode(this.context, "locket-tap", { outputChannelCount: [1] });
      const config = { codec: "opus", sampleRate: this.rate, numberOfChannels: 1, bitrate: 24000 };
      if (self.AudioEncoder && (await AudioEncoder.isConfigSupported(config).catch(() => ({}))).supported) {
        this.encoder = new AudioEncoder({ output: (chunk) => this.#packet(chunk), error: (e) => this.hooks.ended(e) });
        this.encoder.configure(config);
      }
      this.tap.port.onmessage = (e) => this.#block(e.data);
      this.source.connect(this.tap).connect(this.context.destination); // silence: it has the browser run it
      await this.context.resume();
    } catch (e) {
      await this.stop();
      throw e;
    }
  }

  async stop() {
    if (this.tap) this.tap.port.onmessage = null;
    for (const t of this.stream?.getTracks() ?? []) {
      t.onended = null;
      t.stop();
    }
    await this.#finish();
    if (this.encoder?.state === "configured") this.encoder.close();
    await this.context?.close();
  }

  /** again has a browser go on that stopped it, as after a call. */
  again() {
    if (this.context?.state !== "running") void this.context?.resume().catch(() => {}); // it says so by its silence
  }

  /** silentFor is how many ms ago sound came last. */
  silentFor() {
    return this.#last ? Date.now() - this.#last : 0;
  }

  async #block(samples) {
    const now = Date.now();
    const ms = (samples.length / this.rate) * 1000;
    const hole = this.#last && now - ms - this.#last;
    this.#last = now;
    if (this.quiet) {
      this.hooks.level(0);
      if (this.#piece) await this.#finish();
      return;
    }
    if (hole > holeTime) {
      await this.#finish();
      this.hooks.lost(hole);
    }
    this.hooks.level(Math.min(1, 4 * Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length)));
    this.#anchor = now - ms - (this.#count / this.rate) * 1000;
    if (!this.encoder) this.#add(mulaw(samples, this.rate), now - ms, ms);
    else if (this.encoder.state === "configured") {
      const data = new AudioData({ format: "f32-planar", sampleRate: this.rate, numberOfFrames: samples.length, numberOfChannels: 1, timestamp: (this.#count / this.rate) * 1e6, data: samples });
      this.encoder.encode(data);
      data.close();
    }
    this.#count += samples.length;
  }

  #packet(chunk) {
    const b = new Uint8Array(2 + chunk.byteLength);
    b[0] = chunk.byteLength >> 8;
    b[1] = chunk.byteLength & 255;
    chunk.copyTo(b.subarray(2));
    this.#add(b, this.#anchor + chunk.timestamp / 1000, (chunk.duration ?? 20000) / 1000);
  }

  #add(bytes, at, ms) {
    this.#piece ??= { at, parts: [], ms: 0 };
    this.#piece.parts.push(bytes);
    this.#piece.ms += ms;
    if (this.#piece.ms >= pieceTime) this.#send(false);
  }

  #send(last) {
    const p = this.#piece;
    this.#piece = undefined;
    if (!p) return;
    const data = new Uint8Array(p.parts.reduce((n, b) => n + b.length, 0));
    let to = 0;
    for (const b of p.parts) {
      data.set(b, to);
      to += b.length;
    }
    const coded = this.encoder ? { codec: "opus", rate: 16000 } : { codec: "ulaw", rate: this.rate % 16000 ? this.rate : 16000 };
    this.hooks.tell({ at: Math.round(p.at), ...coded, data, index: this.#index++, ...(last && { last }) });
    if (last) this.#index = 0;
  }

  /** finish ends a recording. */
  async #finish() {
    if (this.encoder?.state === "configured") await this.encoder.flush().catch(() => {}); // what it can't give is lost
    this.#send(true);
  }
}

/** mulaw gives G.711 µ-law, at 16 kHz where the rate is a multiple of it. */
function mulaw(samples, rate) {
  const step = rate % 16000 ? 1 : rate / 16000;
  const out = new Uint8Array(Math.floor(samples.length / step));
  for (let i = 0; i < out.length; i++) {
    let x = 0;
    for (let k = 0; k < step; k++) x += samples[i * step + k];
    let s = Math.round((x / step) * 32768);
    const sign = s < 0 ? 0x80 : 0;
    s = Math.min(Math.abs(s), 32635) + 132;
    const e = 24 - Math.clz32(s);
    out[i] = ~(sign | (e << 4) | ((s >> (e + 3)) & 15));
  }
  return out;
}
