package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/membership"
)

// two are two running devices of one wearer that know each other.
func (b *syncBench) two(ctx context.Context, h *house) (first, second *node.Node, err error) {
	phrase, err := node.Init(h.settings("first"), node.InitOptions{KeyFile: true})
	if err != nil {
		return nil, nil, err
	}
	if first, err = h.device(ctx, "first", b.cache); err != nil {
		return nil, nil, err
	}
	if err := settled(ctx, first); err != nil { // the relay knows of the space
		return nil, nil, err
	}
	if second, err = h.recovered(ctx, "second", b.cache, phrase); err != nil {
		return nil, nil, err
	}
	for _, n := range []*node.Node{first, second} {
		if err := settled(ctx, n); err != nil {
			return nil, nil, err
		}
		if err := n.Start(ctx); err != nil {
			return nil, nil, err
		}
		h.close = append(h.close, func() error { return n.Stop(context.WithoutCancel(ctx)) })
	}
	return first, second, nil
}

// settled does rounds of sync until nothing waits.
func settled(ctx context.Context, n *node.Node) error {
	for {
		s, err := n.SyncNow(ctx)
		if err != nil {
			return err
		}
		if s.Error != "" {
			return errors.New(s.Error)
		}
		if s.Pending == 0 {
			return nil
		}
	}
}

// visible tells one device something, and asks the other device until it has it: one change at a
// time, while nothing else is being sent.
func (b *syncBench) visible(ctx context.Context) (out []result, err error) {
	h, err := newHouse(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	first, second, err := b.two(ctx, h)
	if err != nil {
		return nil, err
	}
	no := false
	var took []float64
	for i, f := range makeFacts(b.changes + 5) {
		r, err := first.Add(ctx, serve.AddRequest{Text: f.Candidate.Text, Infer: &no, At: time.Now()})
		began := time.Now() // this device has stored it now, and the caller knows
		if err != nil {
			return nil, err
		}
		if len(r.Changes) == 0 {
			continue // said before
		}
		if err := awaitMemory(ctx, second, r.Changes[0].Memory); err != nil {
			return nil, err
		}
		if i >= 5 { // the first ones open connections
			took = append(took, float64(time.Since(began))/float64(time.Millisecond))
		}
		if err := pause(ctx, 350*time.Millisecond); err != nil { // the next is the first after a silence
			return nil, err
		}
	}
	note := "kept on one device to found by id on the other, after a silence; two nodes and the relay in one process, asked every 0.5 ms"
	return []result{syncResult("visible_p50", len(took), percentile(took, 50), "ms", note), syncResult("visible_p99", len(took), percentile(took, 99), "ms", note)}, nil
}

// arrival is how long a change may take to arrive.
const arrival = time.Minute

func awaitMemory(ctx context.Context, n *node.Node, id memory.ID) error {
	ctx, stop := context.WithTimeoutCause(ctx, arrival, fmt.Errorf("%s did not come within %v", id, arrival))
	defer stop()
	for {
		_, err := n.Get(ctx, id)
		if err == nil || !errors.Is(err, memory.ErrNotFound) {
			return err
		}
		if err := pause(ctx, 500*time.Microsecond); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// quiet measures the cost of two listening devices while nothing happens.
func (b *syncBench) quiet(ctx context.Context) (out []result, err error) {
	h, err := newHouse(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	if _, _, err := b.two(ctx, h); err != nil {
		return nil, err
	}
	if err := pause(ctx, 2*time.Second); err != nil { // both listen
		return nil, err
	}
	bytes := func() int64 { return h.wire.received.Load() + h.wire.sent.Load() }
	fromBytes, fromWrites := bytes(), h.wire.writes.Load()
	if err := pause(ctx, b.idle); err != nil {
		return nil, err
	}
	scale := float64(time.Hour) / float64(b.idle) / 2 // devices
	note := fmt.Sprintf("of one device that listens, both ways, as TCP carries it; %v of two devices, scaled", b.idle)
	return []result{syncResult("idle_hour_bytes", 1, float64(bytes()-fromBytes)*scale, "B", note),
		syncResult("idle_hour_wakeups", 1, float64(h.wire.writes.Load()-fromWrites)*scale, "1/h", "how often the relay sent it something; "+fmt.Sprintf("%v of two devices, scaled", b.idle))}, nil
}

// rate lets a replica receive deltas of one memory each, and send memories.
func (b *syncBench) rate(ctx context.Context) (out []result, err error) {
	h, err := newHouse(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	from, err := h.newSolo("from", nil)
	if err != nil {
		return nil, err
	}
	if err := from.Sync(ctx); err != nil {
		return nil, err
	}
	d := keyring.NewDevice()
	if err := from.AddMember(ctx, membership.MemberOf(d, envelope.Owner), "to"); err != nil {
		return nil, err
	}
	genesis, err := membership.Genesis(from.ring.Locked)
	if err != nil {
		return nil, err
	}
	key, _ := from.ring.Epoch(from.ring.Space(), 1)
	join, err := membership.Joining(d, genesis, seal.Epochs{1: key})
	if err != nil {
		return nil, err
	}
	to, err := h.newSolo("to", join)
	if err != nil {
		return nil, err
	}
	if err := from.addFacts(ctx, makeFacts(b.deltas)); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := from.Sync(ctx); err != nil {
		return nil, err
	}
	sent := float64(b.deltas) / time.Since(began).Seconds()
	if err := to.Sync(ctx); err != nil {
		return nil, err
	}
	if err := b.singly(ctx, to, key); err != nil {
		return nil, err
	}
	began = time.Now()
	if err := from.Sync(ctx); err != nil {
		return nil, err
	}
	taken := float64(b.deltas) / time.Since(began).Seconds()
	return []result{
		syncResult("deltas_per_s", b.deltas, taken, "1/s", "pulled, checked, opened, and applied, each with one memory in a transaction of its own"),
		syncResult("memories_per_s_sent", b.deltas, sent, "1/s", "from the outbox to acknowledged, up to 400 in a delta")}, nil
}

// singly puts deltas of one memory each into the relay, as another incarnation of the member.
func (b *syncBench) singly(ctx context.Context, by *solo, key *seal.Key) error {
	entries, err := by.at.Log(ctx, 0)
	if err != nil {
		return err
	}
	log, err := envelope.VerifyLog(entries)
	if err != nil {
		return err
	}
	h := envelope.Header{Version: envelope.Version, Space: by.ring.Space(), Member: by.ring.Member(), Incarnation: 1, Head: log.Head(), Epoch: 1}
	var all []*envelope.Delta
	for i, f := range makeFacts(b.deltas) {
		f.Dot, f.Space, f.Memory = memory.Dot{Member: h.Member, Seq: uint64(i + 1)}, h.Space, memory.ID{1, byte(i >> 16), byte(i >> 8), byte(i)}
		h.Seq = uint64(i + 1)
		d, err := sealed(h, []delta.Op{{Assertion: &f}}, key, by.ring.DeviceSign)
		if err != nil {
			return err
		}
		h.Prev = d.Header.Hash()
		all = append(all, d)
	}
	_, err = by.at.Append(ctx, all)
	return err
}

// sealed returns a delta as it is sent to the relay.
func sealed(h envelope.Header, ops []delta.Op, key *seal.Key, sign envelope.Signer) (*envelope.Delta, error) {
	plain, err := delta.Encode(h, ops)
	if err != nil {
		return nil, err
	}
	body, err := seal.SealBody(key, plain)
	if err != nil {
		return nil, err
	}
	return envelope.Sign(h, body, sign)
}

// first lets a new device, which has only the recovery phrase, fetch everything.
func (b *syncBench) first(ctx context.Context) (out []result, err error) {
	h, err := newHouse(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	from, err := h.newSolo("from", nil)
	if err != nil {
		return nil, err
	}
	if err := from.addFacts(ctx, makeFacts(b.memories)); err != nil {
		return nil, err
	}
	if err := from.Sync(ctx); err != nil {
		return nil, err
	}
	received, sent := h.wire.received.Load(), h.wire.sent.Load()
	began := time.Now()
	n, err := h.recovered(ctx, "new", b.cache, from.phrase)
	if err != nil {
		return nil, err
	}
	if err := settled(ctx, n); err != nil {
		return nil, err
	}
	took := time.Since(began)
	stats, err := n.Status(ctx)
	if err != nil {
		return nil, err
	}
	have, want := 0, 0
	for _, k := range stats.Memories {
		have += k
	}
	err = from.store.View(ctx, func(tx *store.Tx) error {
		for _, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			want++
		}
		return nil
	})
	if err != nil || have != want {
		return nil, errors.Join(fmt.Errorf("the new device has %d memories of %d", have, want), err)
	}
	name := "first_sync_" + sizeLabel(b.memories)
	return []result{syncResult(name, b.memories, took.Seconds(), "s", "from the phrase alone to stored, derived and searchable"),
		syncResult(name+"_bytes", b.memories, float64(h.wire.received.Load()-received+h.wire.sent.Load()-sent), "B", "both ways, as TCP carried it")}, nil
}
