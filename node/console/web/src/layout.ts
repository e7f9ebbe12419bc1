// The positions of the names in a graph: connected names are close together, and no label covers another.

/** A box to place: half the width and height of a name with its label, in px. */
export interface Box {
  w: number;
  h: number;
}

export interface Point {
  x: number;
  y: number;
}

const rounds = 260;

/**
 * place gives each box a point within width and height, in px. The same input gives the same result. The method is that of Fruchterman and
 * Reingold (1991), with a pull to the middle so that parts without a line between them stay near. It takes rounds × boxes² steps.
 */
export function place(boxes: Box[], lines: [number, number][], width: number, height: number): Point[] {
  const n = boxes.length;
  const k = 0.7 * Math.sqrt((width * height) / Math.max(1, n));
  const at: Point[] = boxes.map((_, i) => {
    const turn = i * 2.399963; // the golden angle: no two start in the same place
    const r = Math.sqrt((i + 0.5) / n) * 0.45;
    return { x: width * (0.5 + r * Math.cos(turn)), y: height * (0.5 + r * Math.sin(turn)) };
  });
  const pull = (n * k * k) / (0.16 * width * width); // balances the repulsion of all others at this distance from the middle
  const move: Point[] = boxes.map(() => ({ x: 0, y: 0 }));
  for (let round = 0; round < rounds; round++) {
    for (const m of move) m.x = m.y = 0;
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < i; j++) {
        const dx = at[i].x - at[j].x || 0.1;
        const dy = at[i].y - at[j].y || 0.1;
        const f = (k * k) / (dx * dx + dy * dy);
        move[i].x += dx * f;
        move[i].y += dy * f;
        move[j].x -= dx * f;
        move[j].y -= dy * f;
      }
      move[i].x += (width / 2 - at[i].x) * pull;
      move[i].y += (height / 2 - at[i].y) * pull * (width / height);
    }
    for (const [a, b] of lines) {
      const dx = at[a].x - at[b].x;
      const dy = at[a].y - at[b].y;
      const f = Math.hypot(dx, dy) / k;
      move[a].x -= dx * f;
      move[a].y -= dy * f;
      move[b].x += dx * f;
      move[b].y += dy * f;
    }
    const most = 0.12 * Math.min(width, height) * (1 - round / rounds);
    at.forEach((p, i) => {
      const far = Math.hypot(move[i].x, move[i].y) || 1;
      p.x += (move[i].x / far) * Math.min(far, most);
      p.y += (move[i].y / far) * Math.min(far, most);
    });
  }
  fit(at, boxes, width, height);
  apart(at, boxes, width, height);
  return at;
}

/** fit stretches the layout to the available space, a small one by at most half. */
function fit(at: Point[], boxes: Box[], width: number, height: number) {
  for (const [axis, size, half] of [["x", width, "w"], ["y", height, "h"]] as const) {
    const low = Math.min(...at.map((p) => p[axis]));
    const span = Math.max(...at.map((p) => p[axis])) - low;
    const edge = Math.min(size / 2, Math.max(...boxes.map((b) => b[half])) + 4);
    const by = Math.min(1.5, (size - 2 * edge) / Math.max(1, span));
    for (const p of at) p[axis] = size / 2 + (p[axis] - low - span / 2) * by;
  }
}

/** apart pushes overlapping boxes apart along the shorter way, and keeps all boxes within the available space. */
function apart(at: Point[], boxes: Box[], width: number, height: number) {
  for (let round = 0; round < 80; round++) {
    let moved = false;
    for (let i = 0; i < at.length; i++) {
      for (let j = 0; j < i; j++) {
        const dx = at[i].x - at[j].x;
        const dy = at[i].y - at[j].y;
        const x = boxes[i].w + boxes[j].w - Math.abs(dx);
        const y = boxes[i].h + boxes[j].h - Math.abs(dy);
        if (x <= 0 || y <= 0) continue;
        moved = true;
        const axis = x < y ? "x" : "y";
        const by = (Math.min(x, y) / 2 + 0.5) * ((axis === "x" ? dx : dy) < 0 ? -1 : 1);
        at[i][axis] += by;
        at[j][axis] -= by;
      }
    }
    at.forEach((p, i) => {
      p.x = Math.min(width - boxes[i].w, Math.max(boxes[i].w, p.x));
      p.y = Math.min(height - boxes[i].h, Math.max(boxes[i].h, p.y));
    });
    if (!moved) return;
  }
}
