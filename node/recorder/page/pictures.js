// Pictures of the camera or the screen: one at a time, left out where nothing has changed.

const longSide = 1600; // pixels
const mostBytes = 700_000; // a message takes 716,800
const small = 16; // pixels of a side, by which pictures are compared
const alike = 3; // of 255, by how much they differ on average

/** Pictures takes pictures of a stream every so many seconds. tell is given each JPEG. */
export class Pictures {
  quiet = false; // paused
  #before; // the last picture that was given, small

  constructor(video, { tell, ended }) {
    this.video = video;
    this.hooks = { tell, ended };
  }

  async start(stream, seconds) {
    this.stream = stream;
    stream.getVideoTracks()[0].onended = () => this.hooks.ended();
    this.video.srcObject = stream;
    await this.video.play();
    this.every(seconds);
    await this.take();
  }

  every(seconds) {
    clearInterval(this.timer);
    this.timer = setInterval(() => void this.take().catch(() => {}), 1000 * seconds); // another follows
  }

  stop() {
    clearInterval(this.timer);
    for (const t of this.stream?.getTracks() ?? []) {
      t.onended = null;
      t.stop();
    }
    this.video.srcObject = null;
  }

  /** take gives a picture; unless it is wanted, not one that shows what the last one did. */
  async take(wanted = false) {
    const { videoWidth: w, videoHeight: h } = this.video;
    if (this.quiet || !w || this.stream.getVideoTracks()[0].muted) return;
    const at = Date.now();
    const now = draw(this.video, small, small);
    const sketch = now.getContext("2d").getImageData(0, 0, small, small).data;
    if (!wanted && this.#before && sketch.reduce((sum, x, i) => sum + Math.abs(x - this.#before[i]), 0) / sketch.length < alike) return;
    this.#before = sketch;
    for (let scale = Math.min(1, longSide / Math.max(w, h)), n = 0; n < 4; n++, scale *= 0.7) {
      const blob = await new Promise((yes) => draw(this.video, w * scale, h * scale).toBlob(yes, "image/jpeg", 0.8));
      if (blob && blob.size <= mostBytes) return this.hooks.tell({ at, codec: "jpeg", data: new Uint8Array(await blob.arrayBuffer()) });
    }
  }
}

function draw(video, w, h) {
  const c = document.createElement("canvas");
  c.width = Math.round(w);
  c.height = Math.round(h);
  c.getContext("2d").drawImage(video, 0, 0, c.width, c.height);
  return c;
}
