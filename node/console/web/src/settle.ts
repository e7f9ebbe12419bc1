// Runs in a worker: lays out a large graph by the forces of d3-force, whose quadtree (Barnes and Hut, 1986) takes n × log n
// steps a round.

import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationNodeDatum } from "d3-force";

interface Asked {
  groups: number[]; // of each name
  sizes: number[]; // their radius
  ties: [number, number][];
  still: boolean; // show no intermediate positions
  from?: Float32Array; // former positions; NaN: of a new name
}

const rounds = 160;

/** settles answers a request with positions, some rounds at a time; the last answer has done set. */
export function settles() {
  onmessage = (e: MessageEvent<Asked>) => {
    const { groups, sizes, ties, still, from } = e.data;
    const begin = from ? 0.1 : 1; // a picture that is known already moves little
    const in_ = new Map<number, number>(); // how many of a group are placed
    const nodes: SimulationNodeDatum[] = groups.map((g) => {
      const turn = 2.399963; // the golden angle: no two start in the same place
      const n = in_.get(g) ?? 0;
      in_.set(g, n + 1);
      const [r, s] = [60 * Math.sqrt(g + 1), 9 * Math.sqrt(n + 0.5)];
      return { x: r * Math.cos(g * turn) + s * Math.cos(n * turn), y: r * Math.sin(g * turn) + s * Math.sin(n * turn) };
    });
    from?.forEach((at, i) => isNaN(at) || (nodes[i >> 1][i % 2 ? "y" : "x"] = at));
    for (const [a, b] of from ? [...ties, ...ties.map(([a, b]) => [b, a])] : []) // a new name starts beside one that it is tied to
      if (isNaN(from![2 * a]) && !isNaN(from![2 * b])) [nodes[a].x, nodes[a].y] = [from![2 * b] + 10 + (a % 7), from![2 * b + 1] + 10 - (a % 5)];
    const tell = (done: boolean) => {
      const at = new Float32Array(2 * nodes.length);
      nodes.forEach((n, i) => at.set([n.x!, n.y!], 2 * i));
      postMessage({ at, done }, { transfer: [at.buffer] });
    };
    if (!still) tell(false);
    const forces = forceSimulation(nodes)
      .stop()
      .alpha(begin)
      .alphaDecay(1 - Math.pow(0.005, 1 / rounds))
      .force("tie", forceLink(ties.map(([source, target]) => ({ source, target }))).distance(30).strength(0.25))
      .force("apart", forceManyBody().strength(-40).theta(1.1))
      .force("room", forceCollide<SimulationNodeDatum>((n) => sizes[n.index!] + 2))
      .force("x", forceX(0).strength(0.05))
      .force("y", forceY(0).strength(0.05));
    for (let i = 0; i < rounds; i++) {
      forces.tick();
      if (!still && i % 4 === 3) tell(false);
    }
    tell(true);
  };
}
