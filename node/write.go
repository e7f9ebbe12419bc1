package node

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/dream"
	"github.com/locket-dev/locket/node/serve"
)

// maxAhead is how far a time that somebody gives may lie ahead, as for devices.
const maxAhead = 24 * time.Hour

// apiDevice names this node as the source of what a person typed.
const apiDevice = "api"

// Add implements serve.Writer.
func (n *Node) Add(ctx context.Context, r serve.AddRequest) (res serve.AddResult, err error) {
	o, release, err := n.use()
	if err != nil {
		return res, err
	}
	defer release()
	at := r.At
	now := time.Now()
	if at.IsZero() {
		at = now
	}
	if at.After(now.Add(maxAhead)) {
		return res, fmt.Errorf("%w: at: %s is in the future", memory.ErrInvalid, at.Format(time.RFC3339))
	}
	if err := r.Metadata.Validate(); err != nil {
		return res, err
	}
	event := memory.EventID{Device: apiDevice, Boot: uint64(n.started.UnixNano()), Seq: randomSeq()}
	if r.Key != "" {
		event = keyedEvent(r.Key)
	}
	if r.Infers() {
		ev := memory.Event{ID: event, Kind: memory.KindText, At: at, Clock: memory.ClockWall, Zone: zoneName(n.zone), Received: time.Now(),
			Text: r.Text, Speaker: r.Speaker, Lang: r.Lang, Metadata: r.Metadata, Agent: r.Agent, Run: r.Run}
		if ev.Speaker == "" {
			ev.Speaker = n.cfg.Wearer
		}
		lock := o.engine.Hold()
		defer lock.Release()
		out, err := o.extract.Process(ctx, lock, ev)
		return serve.AddResult{Changes: serve.Some(out.Changes), Refusals: serve.Some(out.Refusals), Redacted: out.Redacted, Repeated: out.Repeated}, err
	}
	c := memory.Candidate{Type: r.Type, Text: r.Text, Lang: r.Lang, Owner: memory.Owner{User: config.Owner, Agent: r.Agent, Run: r.Run},
		Slot: r.Slot, Fields: r.Fields, Tags: r.Tags, Metadata: r.Metadata, Confidence: 1, Sensitivity: memory.Personal, Expires: r.Expires,
		Source:   memory.Source{Device: apiDevice, Plugin: "person"},
		Evidence: []memory.Evidence{{Event: event, Speaker: n.cfg.Wearer, At: at, Excerpt: excerpt(r.Text)}}}
	if c.Type == "" {
		c.Type = memory.Semantic
	}
	if c.Type == memory.Vault {
		return res, fmt.Errorf("%w: type: a secret is added by saying it, with infer", memory.ErrInvalid)
	}
	if c.Type == memory.Core && c.Fields.Core == nil {
		c.Fields.Core = &memory.CoreFields{Block: "human", Limit: memory.CoreLimit}
	}
	if r.Sensitivity != nil {
		c.Sensitivity = *r.Sensitivity
	}
	if err := c.Validate(); err != nil {
		return res, err
	}
	if err := o.noSecret(ctx, "text", (&memory.Memory{Candidate: c}).AllText()); err != nil {
		return res, err
	}
	id := o.ring.MemoryID(event, "person", c.Fingerprint())
	res.Changes, err = o.engine.Assert(ctx, func(tx *store.Tx) ([]memory.Assertion, error) {
		switch _, err := tx.Memory(id); {
		case err == nil: // there, or erased
			res.Repeated = true
			return nil, nil
		case !errors.Is(err, memory.ErrNotFound):
			return nil, err
		}
		return []memory.Assertion{{Memory: id, Act: memory.ActPropose, Candidate: &c, Source: c.Source}}, nil
	})
	res.Changes, res.Refusals = serve.Some(res.Changes), []memory.Refusal{}
	return res, err
}

// keyedEvent is the event of what a caller has a name for.
func keyedEvent(key string) memory.EventID {
	sum := sha256.Sum256([]byte("locket/v1 key\x00" + key))
	return memory.EventID{Device: apiDevice, Boot: binary.BigEndian.Uint64(sum[:8]) >> 1, Seq: binary.BigEndian.Uint64(sum[8:16]) >> 1}
}

func randomSeq() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.BigEndian.Uint64(b[:]) >> 1
}

func zoneName(z *time.Location) string {
	if z == time.Local {
		return ""
	}
	return z.String()
}

// change says something of one memory and gives what it is then.
func (n *Node) change(ctx context.Context, id memory.ID, as ...memory.Assertion) (memory.Memory, error) {
	o, release, err := n.use()
	if err != nil {
		return memory.Memory{}, err
	}
	defer release()
	if err := o.warm(ctx, id); err != nil {
		return memory.Memory{}, err
	}
	for i := range as {
		as[i].Memory = id
	}
	_, err = o.engine.Assert(ctx, func(tx *store.Tx) ([]memory.Assertion, error) {
		_, err := engine.Live(tx, id)
		return as, err
	})
	if err != nil {
		return memory.Memory{}, err
	}
	var m memory.Memory
	err = o.store.View(ctx, func(tx *store.Tx) error {
		m, err = engine.Live(tx, id)
		return err
	})
	return m, err
}

// noSecret refuses a text as a person wrote it that holds a secret: as it
// stands, it would be found, shown and synced.
func (o *session) noSecret(ctx context.Context, field, text string) error {
	lock := o.engine.Hold() // as plugins change under it, and one is asked at a time
	defer lock.Release()
	found, err := o.extract.HoldsSecret(ctx, text)
	if err == nil && found {
		err = fmt.Errorf("%w: %s: it holds a secret: add it with infer, and the secret goes to the vault", memory.ErrInvalid, field)
	}
	return err
}

// Pin implements serve.Writer.
func (n *Node) Pin(ctx context.Context, id memory.ID, pinned bool) (memory.Memory, error) {
	act := memory.ActUnpin
	if pinned {
		act = memory.ActPin
	}
	return n.change(ctx, id, memory.Assertion{Act: act})
}

// Delete implements serve.Writer.
func (n *Node) Delete(ctx context.Context, id memory.ID) error {
	o, release, err := n.use()
	if err != nil {
		return err
	}
	ids := []memory.ID{id}
	err = o.store.View(ctx, func(tx *store.Tx) error {
		if _, is, err := tx.Cold(id); err != nil || is {
			return err // no other is made of what is cold
		}
		if _, err := engine.Live(tx, id); err != nil {
			return err
		}
		made, err := dream.MadeOf(tx, id)
		ids = append(ids, made...)
		return err
	})
	if err == nil {
		_, err = n.forgetIn(ctx, o, forgetOrder{Memories: ids})
	}
	release()
	if err != nil {
		return err
	}
	return n.purge(ctx, nil)
}
