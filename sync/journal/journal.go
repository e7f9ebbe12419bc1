// Package journal is a replica's durable state over the store of a node or a
// worker.
//
// It uses these words besides those of package replica:
//
//   - A note is a small record of the exchange: the state, a log entry, a
//     problem, or the content of a delta.
//   - A manifest is the note that lists the content of one of our deltas. When
//     some of the content is erased, the manifest says which delta it was in.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// Journal implements replica.Journal and replica.BlobJournal. Its methods are safe for concurrent
// use as far as those of Store are.
type Journal struct {
	Space  memory.SpaceID
	Member memory.MemberID
	Store  *store.Store
	Vault  bool // whether secrets are sent, too
	// Envelopes says that the replica exchanges with an envelope store on this
	// device's own disk. The journal then also notes in which deltas of other
	// members a record is, so that their bodies can be removed when it is erased.
	Envelopes bool

	// Write changes memories in a transaction and then updates the index. nil
	// means Store.Update.
	Write func(ctx context.Context, fn func(*store.Tx) error) error
	// OnClock is called with the clock of each assertion that comes, and OnErased
	// with what another member erased. Both run within the transaction, and either
	// may be nil.
	OnClock  func(memory.Clock)
	OnErased func(store.Targets)

	source  atomic.Pointer[source]  // the last one that was looked up
	sources atomic.Pointer[sources] // all of one state of the store; nil: not needed yet, or any more
	where   whereChains
}

var _ replica.Journal = (*Journal)(nil)

func (j *Journal) note(parts ...string) string {
	name := "sync/" + j.Space.String()
	for _, p := range parts {
		name += "/" + p
	}
	return name
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// short returns a name of fixed length for a text of any length.
func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

func (j *Journal) write(ctx context.Context, fn func(*store.Tx) error) error {
	if j.Write == nil {
		return j.Store.Update(ctx, fn)
	}
	return j.Write(ctx, fn)
}

func (j *Journal) State(ctx context.Context) (s replica.State, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error { s, err = j.state(tx); return err })
	if err != nil {
		return s, err
	}
	if via := j.remoteID(); s.Via != via { // a cursor of one remote means nothing at another
		s.Via, s.Cursor, s.Ahead, s.Founded = via, 0, nil, false
	}
	return s, err
}

func (j *Journal) state(tx *store.Tx) (s replica.State, err error) {
	if s, _, err = j.loadState(tx); err != nil {
		return s, err
	}
	at, read, err := j.chains(tx)
	s.Chains, s.Read = replica.NewChains(at), replica.NewChains(read)
	return s, err
}

// loadState reads the state from its two records, without its chains. ok reports
// whether a state is stored.
func (j *Journal) loadState(tx *store.Tx) (s replica.State, ok bool, err error) {
	if ok, err = tx.Meta(j.note("state"), &s); err != nil {
		return s, ok, err
	}
	var b bodyState
	_, err = tx.Meta(j.note("bodies"), &b)
	s.MissingBodies, s.RemovedBodies, s.Parts = b.Missing, b.Removed, b.Parts
	return s, ok, err
}

func (j *Journal) remoteID() string {
	if j.Envelopes {
		return "shelf"
	}
	return ""
}

func (j *Journal) Save(ctx context.Context, s replica.State, entries ...[]byte) error {
	return j.Store.Update(ctx, func(tx *store.Tx) error {
		if len(entries) > 0 {
			var n uint64
			if _, err := tx.Meta(j.note("log"), &n); err != nil {
				return err
			}
			for _, e := range entries {
				n++
				if err := tx.PutMeta(j.note("log", number(n)), e); err != nil {
					return err
				}
			}
			if err := tx.PutMeta(j.note("log"), n); err != nil {
				return err
			}
		}
		return j.save(tx, s)
	})
}

// bodyState is the part of a state that is stored in a record named bodies. The
// other record may be nearly full, because it holds the delta that waits to be
// sent.
type bodyState struct {
	Missing map[string][]uint64 `json:"b,omitempty"`
	Removed map[string][]uint64 `json:"g,omitempty"`
	Parts   []envelope.Hash     `json:"p,omitempty"`
}

func (j *Journal) save(tx *store.Tx, s replica.State) error {
	b := bodyState{s.MissingBodies, s.RemovedBodies, s.Parts}
	s.MissingBodies, s.RemovedBodies, s.Parts = nil, nil, nil
	if err := errors.Join(tx.PutMeta(j.note("state"), s), j.putChains(tx, &s)); err != nil {
		return err
	}
	if len(b.Missing)+len(b.Removed)+len(b.Parts) > 0 {
		return tx.PutMeta(j.note("bodies"), b)
	}
	if ok, err := tx.Meta(j.note("bodies"), &bodyState{}); !ok || err != nil {
		return err
	}
	return tx.DeleteMeta(j.note("bodies"))
}

func (j *Journal) Entries(ctx context.Context) (out [][]byte, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		var n uint64
		if _, err := tx.Meta(j.note("log"), &n); err != nil {
			return err
		}
		for i := range n {
			var e []byte
			if ok, err := tx.Meta(j.note("log", number(i+1)), &e); err != nil || !ok {
				return errors.Join(err, memory.ErrDamaged)
			}
			out = append(out, e)
		}
		return nil
	})
	return out, err
}

func (j *Journal) op(tx *store.Tx, o *store.Outgoing) (*delta.Op, error) {
	switch {
	case o.Assertion != nil:
		if secret, err := isSecret(tx, o.Assertion); err != nil || secret && !j.Vault {
			return nil, err
		}
		return &delta.Op{Assertion: o.Assertion}, nil
	case o.Utterance != nil:
		o.Utterance.Space = j.Space
		return &delta.Op{Utterance: o.Utterance}, nil
	case o.Forget != nil:
		return &delta.Op{Forget: &delta.Forget{Memories: o.Forget.Memories, Utterances: o.Forget.Utterances, Events: o.Forget.Events}}, nil
	}
	return nil, nil
}

func isSecret(tx *store.Tx, a *memory.Assertion) (bool, error) {
	if a.Candidate != nil {
		return a.Candidate.Type == memory.Vault, nil
	}
	m, err := tx.Memory(a.Memory)
	if errors.Is(err, memory.ErrNotFound) {
		return false, nil
	}
	return err == nil && m.Type == memory.Vault, err
}

// maxProblems is how many problems are kept. When there are more, the oldest
// problem of the member with the most problems is removed. One member's faults
// then can't displace those of others.
const maxProblems = 200

// quarantined is the stored form of a problem.
type quarantined struct {
	Problem replica.Problem `json:"p"`
	Ident   string          `json:"i"` // equal for the same fault of the same thing
}

func (j *Journal) Quarantine(ctx context.Context, p replica.Problem) error {
	return j.Store.Update(ctx, func(tx *store.Tx) error { return j.quarantine(tx, p) })
}

func identOf(p *replica.Problem) string {
	place := ""
	if p.Place != nil {
		place = p.Place.String()
	}
	return short(number(p.Cursor) + "\x00" + p.Member.String() + "\x00" + place + "\x00" + strconv.Itoa(p.Op) + "\x00" + p.Reason)
}

func (j *Journal) quarantine(tx *store.Tx, p replica.Problem) error {
	list, err := j.quarantined(tx)
	if err != nil {
		return err
	}
	p.Reason = brief(p.Reason)
	ident := identOf(&p)
	if slices.ContainsFunc(list, func(a quarantined) bool { return a.Ident == ident }) {
		return nil
	}
	list = append(list, quarantined{p, ident})
	for len(list) > maxProblems {
		list = withoutOldest(list)
	}
	return tx.PutMeta(j.note("aside"), list)
}

func withoutOldest(list []quarantined) []quarantined {
	of, most := map[memory.MemberID]int{}, memory.MemberID{}
	for i := range list {
		m := list[i].Problem.Member
		if of[m]++; of[m] > of[most] {
			most = m
		}
	}
	i := slices.IndexFunc(list, func(a quarantined) bool { return a.Problem.Member == most })
	return slices.Delete(list, i, i+1)
}

func (j *Journal) quarantined(tx *store.Tx) (list []quarantined, err error) {
	_, err = tx.Meta(j.note("aside"), &list)
	return list, err
}

func (j *Journal) Problems(ctx context.Context) (out []replica.Problem, err error) {
	err = j.Store.View(ctx, func(tx *store.Tx) error {
		list, err := j.quarantined(tx)
		for _, a := range slices.Backward(list) {
			out = append(out, a.Problem)
		}
		return err
	})
	return out, err
}

func (j *Journal) Sent(ctx context.Context, sent replica.Entries, at envelope.Position, ops []delta.Op, s replica.State) error {
	steps := j.sentSteps(at, ops)
	for i := range ops {
		if u := ops[i].Utterance; u != nil { // it may have been redacted on this device since
			steps = append(steps, func(tx *store.Tx, page int) (bool, error) {
				if page == 1 {
					if more, err := j.withdrawOne(tx, u); err != nil || more {
						return more, err
					}
				}
				return false, j.withdrawMisquotes(tx, u.ID)
			})
		}
	}
	steps = append(steps, singleStep(func(tx *store.Tx) error {
		return errors.Join(tx.Sent(sent.Of...), j.save(tx, s))
	}))
	if err := runSteps(ctx, j.Store.Update, notePage, steps); err != nil || len(ops) == 0 {
		return err
	}
	if err := j.emptyDeltas(ctx); err != nil {
		return err
	}
	return j.retryWaiting(ctx) // a worker's op may wait for an op that was made here
}
