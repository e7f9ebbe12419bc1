// The whole graph as a picture: thousands of names and the lines between them, drawn by WebGL, with labels on a canvas above it. It is a script
// of its own, loaded when the whole graph is shown. The same script is the worker that computes the positions (see settle.ts).

import { settles } from "./settle";
import { lineColours, lines, pointColours, points, program } from "./shaders";
import { Words } from "./skywords";

/** A name as it is drawn. */
export interface Star {
  name: string;
  size: number; // its radius in px at scale 1
  hue: number; // 0 to 7; -1: no community
  shape: 0 | 1 | 2; // circle, square, diamond
  group: number; // names of one group start beside each other
}

/** A connection of two names, by their indexes, from one day (in days since 1970) until before another. */
export interface Line {
  a: number;
  b: number;
  from: number;
  to: number;
  faint: boolean;
}

/** What the next picture goes on from when the names change: the view, and two numbers for each name; NaN: it is new. */
export type Kept = { x: number; y: number; scale: number; held: boolean; at: Float32Array };

export interface Told {
  opened(i: number): void;
  settled(): void;
}

export class Sky {
  private readonly glass = document.createElement("canvas"); // the picture
  private readonly paper = document.createElement("canvas"); // its words
  private readonly gl: WebGLRenderingContext;
  private readonly at: Float32Array;
  private readonly ends: Float32Array;
  private readonly marks: Float32Array;
  private readonly dims: Float32Array;
  private readonly words: Words;
  private readonly made: { points: WebGLProgram; lines: WebGLProgram; of: Record<"at" | "size" | "hue" | "shape" | "dim" | "ends" | "life" | "marks", WebGLBuffer> };
  private readonly stop = new AbortController();
  private worker?: Worker;
  private colours = { ink: "", sheet: "", line: [0, 0, 0], accent: [0, 0, 0] };
  private scale = 1;
  private x = 0; // the point in the middle of the picture
  private y = 0;
  private width = 0;
  private height = 0;
  private held = false; // a person has moved the picture, so it is no longer fitted
  private day: number;
  private open = -1;
  private over = -1;
  private frame = 0;
  private last = 0; // when it was drawn
  private late = 0; // how many times in a row a full redraw was late
  private rest = 0; // the timer of the full redraw once nothing moves
  private stale = true; // the data has changed since it was drawn
  private sharp = false; // it was drawn at full resolution
  private named = false; // the labels on the canvas are up to date
  private of = { scale: 1, x: 0, y: 0 }; // the view that was last drawn
  private ofWords = this.of; // the view in which the labels were drawn

  /** It draws into a box, whose size is that of the picture. script is the address of this script, for the worker. */
  constructor(
    private readonly box: HTMLElement,
    script: () => string,
    private readonly stars: Star[],
    private readonly between: Line[],
    day: number,
    private readonly told: Told,
    private readonly from?: Kept,
  ) {
    this.day = day;
    const gl = this.glass.getContext("webgl", { alpha: true, antialias: false, premultipliedAlpha: true });
    if (!gl) throw new Error("no WebGL");
    this.gl = gl;
    for (const c of [this.glass, this.paper]) {
      c.setAttribute("aria-hidden", "true");
      box.append(c);
    }
    this.at = new Float32Array(2 * stars.length);
    this.ends = new Float32Array(4 * between.length);
    this.marks = new Float32Array(2 * between.length);
    this.dims = new Float32Array(stars.length);
    if (from) [this.x, this.y, this.scale, this.held] = [from.x, from.y, from.scale, from.held];
    this.at.set(from?.at.map((n) => n || 0) ?? []);
    this.words = new Words(stars);
    const buffer = () => gl.createBuffer()!;
    this.made = {
      points: program(gl, points, pointColours),
      lines: program(gl, lines, lineColours),
      of: { at: buffer(), size: buffer(), hue: buffer(), shape: buffer(), dim: buffer(), ends: buffer(), life: buffer(), marks: buffer() },
    };
    this.fill("size", Float32Array.from(stars, (s) => s.size));
    this.fill("shape", Float32Array.from(stars, (s) => s.shape));
    this.fill("life", Float32Array.from(between.flatMap((l) => [l.from, l.to, l.from, l.to])));
    this.paint();
    this.mark();
    this.listen();
    this.settle(script);
  }

  /** on shows the connections of a day. */
  on(day: number) {
    const is = (l: Line, day: number) => l.from <= day && day < l.to;
    if (this.between.some((l) => is(l, day) !== is(l, this.day))) this.stale = true;
    this.day = day;
    if (this.stale) this.draw();
  }

  /** choose opens a name, and with seek scrolls it into view if it is outside; -1: none. */
  choose(i: number, seek = true) {
    this.open = i;
    this.mark();
    if (i >= 0 && seek) {
      const [x, y] = this.where(i);
      if (x < 20 || y < 20 || x > this.width - 20 || y > this.height - 20) [this.x, this.y, this.held] = [this.at[2 * i], this.at[2 * i + 1], true];
    }
    this.draw();
  }

  /** zoom zooms around a point of the picture, in px, or around its middle. */
  zoom(by: number, x = this.width / 2, y = this.height / 2) {
    const [dx, dy] = [x - this.width / 2, y - this.height / 2];
    const scale = Math.min(20, Math.max(0.02, this.scale * by));
    this.x += dx / this.scale - dx / scale;
    this.y += dy / this.scale - dy / scale;
    this.scale = scale;
    this.held = true;
    this.draw();
  }

  /** move moves the picture, in px. */
  move(dx: number, dy: number) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.held = true;
    this.draw();
  }

  /** whole shows everything again. */
  whole() {
    this.held = false;
    this.fit();
    this.draw();
  }

  /** kept returns what the next picture begins with; its names are those of this one by their indexes, or -1. */
  kept(was: number[]): Kept {
    const at = Float32Array.from(was.flatMap((i) => (i < 0 ? [NaN, NaN] : [this.at[2 * i], this.at[2 * i + 1]])));
    return { x: this.x, y: this.y, scale: this.scale, held: this.held, at };
  }

  close() {
    this.stop.abort();
    this.worker?.terminate();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rest);
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
    this.glass.remove();
    this.paper.remove();
  }

  /** settle lets the worker compute the positions. Until then, names are placed by community. */
  private settle(script: () => string) {
    this.worker = new Worker(script(), { type: "module" });
    this.worker.onmessage = (e: MessageEvent<{ at: Float32Array; done: boolean }>) => {
      this.at.set(e.data.at);
      this.placed();
      if (e.data.done) this.told.settled();
    };
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.worker.postMessage({ groups: this.stars.map((s) => s.group), sizes: this.stars.map((s) => s.size), ties: this.between.map((l) => [l.a, l.b]), still, from: this.from?.at });
  }

  private placed() {
    this.fill("at", this.at);
    this.between.forEach((l, i) => this.ends.set([this.at[2 * l.a], this.at[2 * l.a + 1], this.at[2 * l.b], this.at[2 * l.b + 1]], 4 * i));
    this.fill("ends", this.ends);
    if (!this.held) this.fit();
    this.draw();
  }

  private fit() {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.at.length; i += 2) {
      left = Math.min(left, this.at[i]);
      right = Math.max(right, this.at[i]);
      top = Math.min(top, this.at[i + 1]);
      bottom = Math.max(bottom, this.at[i + 1]);
    }
    if (!(right >= left)) return;
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
    this.scale = Math.min(2, (this.width - 40) / (right - left + 1), (this.height - 40) / (bottom - top + 1));
  }

  private fill(name: keyof Sky["made"]["of"], data: Float32Array) {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.made.of[name]);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.DYNAMIC_DRAW);
    this.stale = true;
  }

  /** paint reads the colours of the theme. */
  private paint() {
    const style = getComputedStyle(document.documentElement);
    const of = (name: string) => style.getPropertyValue(name).trim();
    const parts = (name: string) => [1, 3, 5].map((i) => parseInt(of(name).slice(i, i + 2), 16) / 255);
    this.colours = { ink: of("--ink"), sheet: of("--sheet"), line: parts("--strong"), accent: parts("--accent") };
    const hues = [...Array(8).keys()].map((i) => parts("--h" + i));
    this.fill("hue", Float32Array.from(this.stars.flatMap((s) => hues[s.hue] ?? parts("--soft"))));
    this.draw();
  }

  /** mark highlights the connections of the open name. */
  private mark() {
    this.dims.fill(this.open < 0 ? 0 : 1);
    if (this.open >= 0) this.dims[this.open] = 0;
    this.between.forEach((l, i) => {
      const on = l.a === this.open || l.b === this.open;
      if (on) this.dims[l.a] = this.dims[l.b] = 0;
      this.marks.fill(on ? 2 : l.faint ? 0 : 1, 2 * i, 2 * i + 2);
    });
    this.fill("dim", this.dims);
    this.fill("marks", this.marks);
  }

  private where(i: number): [number, number] {
    return [(this.at[2 * i] - this.x) * this.scale + this.width / 2, (this.at[2 * i + 1] - this.y) * this.scale + this.height / 2];
  }

  /** grow is the size of signs relative to scale 1. */
  private get grow(): number {
    return Math.min(2.2, Math.max(0.35, Math.sqrt(this.scale)));
  }

  /** hit returns the name at a point of the picture, or -1. */
  private hit(x: number, y: number): number {
    let [best, least] = [-1, 12];
    for (let i = 0; i < this.stars.length; i++) {
      const [px, py] = this.where(i);
      const far = Math.hypot(px - x, py - y) - this.stars[i].size * this.grow;
      if (far < least) [best, least] = [i, far];
    }
    return best;
  }

  private listen() {
    const signal = this.stop.signal;
    const look = new ResizeObserver(() => {
      const dense = Math.min(2, devicePixelRatio || 1);
      [this.width, this.height] = [this.box.clientWidth, this.box.clientHeight];
      [this.paper.width, this.paper.height] = [Math.round(this.width * dense), Math.round(this.height * dense)];
      this.stale = true;
      if (!this.held) this.fit();
      this.draw();
    });
    look.observe(this.box);
    signal.addEventListener("abort", () => look.disconnect());
    const theme = new MutationObserver(() => this.paint());
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    signal.addEventListener("abort", () => theme.disconnect());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint(), { signal });
    const fingers = new Map<number, { x: number; y: number }>();
    let went = 0; // px moved since the first finger went down
    const place = (e: PointerEvent | WheelEvent) => {
      const r = this.box.getBoundingClientRect();
      return { x: e.clientX - r.left, y: e.clientY - r.top };
    };
    this.box.addEventListener("pointerdown", (e) => {
      if (fingers.size === 0) went = 0;
      fingers.set(e.pointerId, place(e));
      this.box.setPointerCapture(e.pointerId);
    }, { signal });
    this.box.addEventListener("pointermove", (e) => {
      const [now, was] = [place(e), fingers.get(e.pointerId)];
      if (!was) {
        const over = this.hit(now.x, now.y);
        if (over !== this.over) {
          this.over = over;
          this.named = false;
          this.box.classList.toggle("over-name", over >= 0);
          this.draw();
        }
        return;
      }
      went += Math.hypot(now.x - was.x, now.y - was.y);
      const other = [...fingers].find(([id]) => id !== e.pointerId)?.[1];
      if (other) {
        const [before, after] = [Math.hypot(was.x - other.x, was.y - other.y), Math.hypot(now.x - other.x, now.y - other.y)];
        if (before > 0) this.zoom(after / before, (now.x + other.x) / 2, (now.y + other.y) / 2);
      } else this.move(now.x - was.x, now.y - was.y);
      fingers.set(e.pointerId, now);
    }, { signal });
    this.box.addEventListener("pointerup", (e) => {
      const p = fingers.get(e.pointerId);
      if (p && fingers.size === 1 && went < 6) this.told.opened(this.hit(p.x, p.y));
      fingers.delete(e.pointerId);
    }, { signal });
    this.box.addEventListener("pointercancel", (e) => fingers.delete(e.pointerId), { signal });
    this.box.addEventListener("wheel", (e) => {
      e.preventDefault();
      const p = place(e);
      this.zoom(Math.exp(-Math.max(-80, Math.min(80, e.deltaY)) / 240), p.x, p.y);
    }, { signal, passive: false });
  }

  private draw() {
    if (!this.frame && !this.stop.signal.aborted) this.frame = requestAnimationFrame(() => ((this.frame = 0), this.now()));
  }

  /**
   * now draws the picture. If a full redraw takes too long, the last one is moved and stretched, as maps do, until nothing moves any
   * more; whatever has to be drawn in the meantime is drawn at a lower resolution.
   */
  private now() {
    if (!this.width || !this.height) return;
    const time = performance.now();
    const since = time - this.last;
    this.last = time;
    const quick = this.late < 3;
    const rests = this.rest === 0 && since > 100;
    const drawn = this.stale || ((quick || rests) && !this.exact()) || this.far();
    if (drawn) this.render(quick || rests);
    if (quick && since < 400) this.late = drawn && since > 22 ? this.late + 1 : 0;
    if (drawn || quick || rests || !this.named) this.write(); // labels cost more than the picture
    this.shift(this.glass, this.of);
    this.shift(this.paper, this.ofWords);
    clearTimeout(this.rest);
    this.rest = quick || rests ? 0 : window.setTimeout(() => ((this.rest = 0), this.draw()), 150);
  }

  /** shift moves and stretches a drawing from its view to the current one. */
  private shift(canvas: HTMLCanvasElement, of: Sky["of"]) {
    const by = this.scale / of.scale;
    const [left, top] = [(this.width / 2) * (1 - by) + (of.x - this.x) * this.scale, (this.height / 2) * (1 - by) + (of.y - this.y) * this.scale];
    canvas.style.transform = by === 1 && !left && !top ? "none" : `translate(${left}px, ${top}px) scale(${by})`;
  }

  /** exact reports whether the last drawing has the current view. */
  private exact(): boolean {
    return this.sharp && this.of.scale === this.scale && this.of.x === this.x && this.of.y === this.y;
  }

  /** far reports whether the last drawing is too far from the current view to be moved there. */
  private far(): boolean {
    const { of, scale, x, y } = this;
    return Math.abs(Math.log(scale / of.scale)) > 0.8 || Math.abs(x - of.x) * scale > this.width * 0.4 || Math.abs(y - of.y) * scale > this.height * 0.4;
  }

  private render(sharp: boolean) {
    const { gl, made, glass } = this;
    const dense = Math.min(2, devicePixelRatio || 1) * (sharp ? 1 : 0.5);
    const [w, h] = [Math.round(this.width * dense), Math.round(this.height * dense)];
    if (glass.width !== w || glass.height !== h) [glass.width, glass.height] = [w, h];
    gl.viewport(0, 0, w, h);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.use(made.lines, [["at", "ends", 2], ["life", "life", 2], ["mark", "marks", 1]]);
    gl.uniform1f(gl.getUniformLocation(made.lines, "day"), this.day);
    gl.uniform3fv(gl.getUniformLocation(made.lines, "colour"), this.colours.line);
    gl.uniform3fv(gl.getUniformLocation(made.lines, "accent"), this.colours.accent);
    gl.drawArrays(gl.LINES, 0, 2 * this.between.length);
    this.use(made.points, [["at", "at", 2], ["size", "size", 1], ["hue", "hue", 3], ["shape", "shape", 1], ["dim", "dim", 1]]);
    gl.uniform1f(gl.getUniformLocation(made.points, "grow"), this.grow * dense);
    gl.drawArrays(gl.POINTS, 0, this.stars.length);
    this.of = { scale: this.scale, x: this.x, y: this.y };
    [this.sharp, this.stale] = [sharp, false];
  }
  private use(p: WebGLProgram, from: [string, keyof Sky["made"]["of"], number][]) {
    const gl = this.gl;
    const [sx, sy] = [(2 * this.scale) / this.width, (-2 * this.scale) / this.height];
    gl.useProgram(p);
    gl.uniform4f(gl.getUniformLocation(p, "view"), sx, sy, -this.x * sx, -this.y * sy);
    for (const [name, buffer, n] of from) {
      const i = gl.getAttribLocation(p, name);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.made.of[buffer]);
      gl.enableVertexAttribArray(i);
      gl.vertexAttribPointer(i, n, gl.FLOAT, false, 0, 0);
    }
  }

  private write() {
    const { width, height, colours, dims } = this;
    const first = [this.open, this.over].filter((i) => i >= 0);
    this.words.write(this.paper, { width, height, colours, first, below: (i) => [...this.where(i), this.stars[i].size * this.grow], dim: (i) => !!dims[i] });
    [this.ofWords, this.named] = [{ scale: this.scale, x: this.x, y: this.y }, true];
  }
}

if (typeof document === "undefined") settles();
