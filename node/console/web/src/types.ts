// The answers of the node's API, as far as the pages read them: see docs/openapi.yaml.

export type Kind = "core" | "episodic" | "semantic" | "procedural" | "resource" | "vault";

export interface Evidence {
  event?: string;
  utterance?: string;
  speaker?: string;
  at: string;
  excerpt?: string;
}

export interface Memory {
  id: string;
  type: Kind;
  text: string;
  state: "active" | "superseded" | "archived" | "erased";
  pinned?: boolean;
  learnt: string;
  true_from?: string;
  true_to?: string;
  evidence?: Evidence[];
  entities?: { name: string; kind?: string }[];
  tags?: string[];
  categories?: string[];
  confidence: number;
  sensitivity: string;
  source: { device?: string; plugin?: string; model?: string };
  slot?: { subject: string; attribute: string; value: string; many?: boolean };
  metadata?: Record<string, string>;
  heard: number;
  into?: string;
  repeats?: boolean;
  conflict?: { field: string; value: string }[];
  cold?: boolean;
  fields?: {
    episodic?: { event_type: string; details?: string; actor?: string; place?: string; started?: string; ended?: string };
    semantic?: { name?: string; details?: string; subject?: string; predicate?: string; object?: string };
    procedural?: { entry_type?: string; description?: string; steps?: string[] };
    resource?: { title: string; media_type: string; content?: string; blob?: string };
    vault?: { entry_type: string; label: string };
    core?: { block?: string; limit?: number };
  };
}

export interface Refusal {
  at: string;
  kind: string;
  reason: string;
  plugin?: string;
}

export interface Line {
  id: string;
  at: string;
  event: string;
  session: string;
  speaker?: string;
  lang?: string;
  text: string;
  place?: string;
  redacted?: number;
  memories?: string[];
  refusals?: Refusal[];
}

export interface Span {
  from: string;
  to?: string;
  why?: string; // of a pause: "said to NAME", "by a button of NAME", or nothing
}

export interface Day {
  date: string;
  zone: string;
  from: string;
  to: string;
  lines: Line[];
  more?: boolean;
  memories: Memory[];
  refusals: Refusal[];
  pauses: Span[];
  next?: string;
  before?: string;
}

export interface Days {
  zone: string;
  days: { date: string; lines: number }[];
  last?: string;
}

export interface Status {
  may?: string[]; // from another machine: the operations that the page may ask for there
  wearer: string;
  zone: string;
  locked: boolean;
  version: string;
  started?: string;
  vault_until?: string;
  consents?: number; // that wait for the wearer's answer
  pause: { paused: boolean; until?: string };
  broker: { embedded: boolean; url?: string; connected: boolean };
  memories: Partial<Record<Kind, number>>;
  utterances: number;
  devices: number;
  journal: { waiting: number; transcribe: number };
  disk: { used: number; free: number; reserve: number };
  plugins: { name: string; version: string; enabled: boolean; calls: number; faults: number; blocks?: boolean }[];
}

/** The owner of a memory that is not the wearer's own. */
export interface SharedBy {
  by: string;
  share: string;
  until?: string;
}

export interface Hit {
  id: string;
  text: string;
  at: string;
  score: number;
  parts: Record<string, number>;
  evidence?: Evidence[];
  said?: string;
  memory?: Memory;
  utterance?: { id: string; at: string; speaker?: string; text: string; place?: string };
  cold?: boolean;
  shared_by?: SharedBy;
  minor?: boolean; // it is barely related to the question
}

export interface Found {
  hits: Hit[];
  known: boolean;
  confidence: number;
  missing?: number;
}

export interface Item {
  id: string;
  cite: string;
  section: string;
  text: string;
  at?: string;
  evidence?: Evidence[];
}

export interface Answer {
  answer?: string;
  model?: string;
  topic?: string;
  known: boolean;
  confidence: number;
  cited: boolean;
  citations: Item[];
  evidence: Item[];
  trouble?: string;
}

export interface Change {
  seq: number;
  memory: string;
  event: string;
  old?: string;
  new?: string;
  other?: string;
  at: string;
  by: { device?: string; plugin?: string };
  reason: string;
}

export interface Related {
  id: string;
  text: string;
  at: string;
}

export interface Why {
  memory: Memory;
  verdict: string;
  reason: string;
  by: { device?: string; plugin?: string };
  evidence: Evidence[] | null;
  replaced?: Related[];
  into?: Related;
  history: Change[];
}

export interface ForgetAnswer {
  plan?: { memories: Related[]; utterances: Related[]; trimmed: Related[]; events: number };
  confirm?: string;
  result?: { memories: number; utterances: number; events: number };
}

/** A name in the graph, with all its spellings. */
export interface Entry {
  id: string;
  name: string;
  kind?: string;
  aliases: string[];
  memories: number;
  community?: string;
}

export interface Graph {
  meant: string[];
  entities: Entry[];
  relations: { memory: string; subject: string; predicate: string; object: string; text: string; state: Memory["state"]; true_from?: string; true_to?: string; unlearnt?: string }[];
  beside: { a: string; b: string; count: number }[];
  communities: { id: string; members: string[]; title?: string; summary?: string; memory?: string }[]; // some have a memory that summarises them
  more?: boolean;
}
