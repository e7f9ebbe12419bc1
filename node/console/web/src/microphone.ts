// Half a minute of speech as WAV, recorded by the browser's microphone or read from a file.

const rate = 16000; // samples a second, as Locket hears

/** wavOf makes a WAV file, 16 bits and one channel, of anything that the browser can play. */
export async function wavOf(sound: Blob): Promise<Uint8Array> {
  const context = new OfflineAudioContext(1, 1, rate); // which decodes to its own rate
  const heard = await context.decodeAudioData(await sound.arrayBuffer());
  const channels = Array.from({ length: heard.numberOfChannels }, (_, i) => heard.getChannelData(i));
  const out = new DataView(new ArrayBuffer(44 + 2 * heard.length));
  const text = (at: number, s: string) => [...s].forEach((c, i) => out.setUint8(at + i, c.charCodeAt(0)));
  text(0, "RIFF");
  out.setUint32(4, 36 + 2 * heard.length, true);
  text(8, "WAVEfmt ");
  out.setUint32(16, 16, true);
  out.setUint16(20, 1, true);
  out.setUint16(22, 1, true);
  out.setUint32(24, rate, true);
  out.setUint32(28, 2 * rate, true);
  out.setUint16(32, 2, true);
  out.setUint16(34, 16, true);
  text(36, "data");
  out.setUint32(40, 2 * heard.length, true);
  for (let i = 0; i < heard.length; i++) {
    const v = channels.reduce((sum, c) => sum + c[i], 0) / channels.length;
    out.setInt16(44 + 2 * i, Math.round(Math.max(-1, Math.min(1, v)) * 32767), true);
  }
  return new Uint8Array(out.buffer);
}

/** base64 encodes bytes for JSON. */
export function base64(bytes: Uint8Array): string {
  let out = "";
  for (let i = 0; i < bytes.length; i += 30000) out += btoa(String.fromCharCode(...bytes.subarray(i, i + 30000))); // 30,000 is a multiple of 3
  return out;
}

/** record records from the microphone until it is stopped, then returns the recording. */
export async function record(): Promise<{ stop: () => Promise<Blob>; drop: () => void }> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: false, noiseSuppression: false, autoGainControl: false } });
  const recorder = new MediaRecorder(stream);
  const parts: Blob[] = [];
  recorder.ondataavailable = (e) => parts.push(e.data);
  recorder.start();
  const off = () => stream.getTracks().forEach((track) => track.stop());
  return {
    stop: () =>
      new Promise((done) => {
        recorder.onstop = () => (off(), done(new Blob(parts, { type: recorder.mimeType })));
        recorder.stop();
      }),
    drop: off,
  };
}
