// The labels of the whole graph: the names of the largest signs that do not cover each other.

const most = 36; // labels at a time

/** The current view. */
export interface Scene {
  width: number; // px
  height: number;
  colours: { ink: string; sheet: string };
  first: number[]; // names that are labelled even if they cover others
  below(i: number): [x: number, y: number, radius: number]; // the position of a name's sign, in px
  dim(i: number): boolean;
}

export class Words {
  private readonly bySize: number[];
  private readonly halves: number[]; // half the width of each name, in px

  constructor(private readonly of: { name: string; size: number }[]) {
    this.bySize = of.map((_, i) => i).sort((a, b) => of[b].size - of[a].size);
    this.halves = of.map((s) => [...s.name].reduce((w, l) => w + (l > "\u2e80" ? 6 : 3.4), 4));
  }

  /** write clears the canvas and writes the labels below their signs. */
  write(paper: HTMLCanvasElement, { width, height, colours, first, below, dim }: Scene) {
    const c = paper.getContext("2d")!;
    const dense = paper.width / width;
    c.setTransform(dense, 0, 0, dense, 0, 0);
    c.clearRect(0, 0, width, height);
    c.font = "12px system-ui, sans-serif";
    c.textAlign = "center";
    c.lineWidth = 4;
    c.lineJoin = "round";
    c.strokeStyle = colours.sheet;
    c.fillStyle = colours.ink;
    const taken: [left: number, right: number, y: number][] = [];
    const put = (i: number, always: boolean) => {
      const [x, sign, radius] = below(i);
      const y = sign + radius + 13;
      if (x < 0 || y < 12 || x > width || y > height) return;
      const half = this.halves[i];
      if (!always && taken.some(([l, r, t]) => x - half < r && l < x + half && Math.abs(t - y) < 15)) return;
      taken.push([x - half, x + half, y]);
      c.strokeText(this.of[i].name, x, y);
      c.fillText(this.of[i].name, x, y);
    };
    for (const i of first) put(i, true);
    for (const i of this.bySize) {
      if (taken.length >= most) break;
      if (!dim(i)) put(i, false);
    }
  }
}
