package journal

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/replica"
)

// A worker's assertion is valid only while its quotes are in the lines that it
// cites. When a line changes, for example by a redaction, an assertion that
// quotes the old text is withdrawn and waits. The result is the same as if the
// assertion had come after the change, so replicas that learn of both in
// different orders agree.

// workers maps each worker that ever sent something here to its last grant.
type workers map[string][]byte

func (j *Journal) workerGrants(tx *store.Tx) (h workers, err error) {
	ok, err := tx.Meta(j.note("hired"), &h)
	if err != nil || ok {
		return h, err
	}
	h = workers{} // a home that is older than this record
	prefix := j.note("cited") + "/"
	for name, err := range tx.MetaNames(prefix) {
		if err != nil {
			return nil, err
		}
		member, _, _ := strings.Cut(strings.TrimPrefix(name, prefix), "/")
		h[member] = nil
	}
	return h, tx.PutMeta(j.note("hired"), h)
}

// Workers returns the members that have sent something here as workers.
func (j *Journal) Workers(ctx context.Context) (map[memory.MemberID]bool, error) {
	out := map[memory.MemberID]bool{}
	err := j.write(ctx, func(tx *store.Tx) error {
		h, err := j.workerGrants(tx)
		for name := range h {
			var m memory.MemberID
			if err == nil {
				err = m.UnmarshalText([]byte(name))
			}
			out[m] = true
		}
		return err
	})
	return out, err
}

// addWorker records a worker and its grant. A nil grant keeps the recorded one.
func (j *Journal) addWorker(tx *store.Tx, m memory.MemberID, grant []byte) error {
	h, err := j.workerGrants(tx)
	if err != nil {
		return err
	}
	was, known := h[m.String()]
	if known && (grant == nil || string(was) == string(grant)) {
		return nil
	}
	if h == nil {
		h = workers{}
	}
	h[m.String()] = grant
	return tx.PutMeta(j.note("hired"), h)
}

// grant returns a worker's grant. If the worker is known only from a snapshot,
// every type but vault is allowed, because what the snapshot contains was within
// the grant.
func (h workers) grant(m string) delta.Grant {
	if g, err := delta.ParseGrant(h[m]); err == nil && h[m] != nil {
		return g
	}
	g := delta.Grant{Transcribe: true, PerEvidence: maxCited}
	for _, t := range memory.Types {
		if t != memory.Vault {
			g.Types = append(g.Types, t)
		}
	}
	return g
}

// withdrawMisquotes withdraws the workers' assertions whose quotes are not in the
// present text of an utterance.
func (j *Journal) withdrawMisquotes(tx *store.Tx, id memory.ID) error {
	h, err := j.workerGrants(tx)
	if err != nil {
		return err
	}
	as, err := j.citing(tx, id, h)
	for i := range as {
		if err == nil {
			err = j.recheck(tx, &as[i], h)
		}
	}
	return err
}

// citing returns the workers' assertions that are here and cite an utterance.
func (j *Journal) citing(tx *store.Tx, id memory.ID, h workers) (as []memory.Assertion, err error) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		var m memory.MemberID
		if err := m.UnmarshalText([]byte(name)); err != nil {
			return nil, fmt.Errorf("workers: %w: %v", memory.ErrDamaged, err)
		}
		var seqs []uint64
		if _, err := tx.Meta(j.note("cited", name, id.String()), &seqs); err != nil {
			return nil, err
		}
		for _, seq := range seqs {
			a, ok, err := tx.AssertionOf(memory.Dot{Member: m, Seq: seq})
			if err != nil {
				return nil, err
			}
			if ok {
				as = append(as, a)
			}
		}
	}
	once, err := j.dependentAssertions(tx, id, h)
	for _, a := range once {
		if !slices.ContainsFunc(as, func(b memory.Assertion) bool { return a.Dot == b.Dot }) {
			as = append(as, a)
		}
	}
	return as, err
}

// recheck checks a worker's accepted assertion against the present knowledge.
// If the assertion is a proposal and is withdrawn, recheck also checks what
// workers said about its memory.
func (j *Journal) recheck(tx *store.Tx, a *memory.Assertion, h workers) error {
	g := h.grant(a.Dot.Member.String())
	k := &lookup{j: j, tx: tx}
	v, why := delta.Recheck(a, g, k)
	if k.err != nil || v == delta.Accepted {
		return k.err
	}
	return j.withdrawAssertion(tx, a, v, why, h)
}

func (j *Journal) withdrawAssertion(tx *store.Tx, a *memory.Assertion, v delta.Verdict, why string, h workers) error {
	g := h.grant(a.Dot.Member.String())
	if err := tx.Retract(a); err != nil {
		return err
	}
	p := replica.Problem{At: a.Clock.Time(), Member: a.Dot.Member, Reason: fmt.Sprintf("its number %d: %s", a.Dot.Seq, why), Waits: v == delta.Waiting}
	var err error
	if v != delta.Refused {
		err = j.park(tx, p, &delta.Op{Assertion: a}, &g)
	} else {
		err = j.quarantine(tx, p)
	}
	if err != nil || a.Act != memory.ActPropose {
		return err
	}
	return j.recheckDependents(tx, a.Memory, a.Candidate.Type, h)
}

// recheckDependents checks again what workers said about a memory, or archived into it,
// after a proposal of type t was withdrawn.
func (j *Journal) recheckDependents(tx *store.Tx, id memory.ID, t memory.Type, h workers) error {
	as, err := tx.Assertions(id)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(as, func(a memory.Assertion) bool { return a.Act == memory.ActPropose && a.Candidate.Type == t }) {
		for a, err := range tx.AllAssertions() {
			if err != nil {
				return err
			}
			if a.Act == memory.ActArchive && a.Into == id {
				as = append(as, *a)
			}
		}
		if _, err := j.dependentAssertions(tx, id, h); err != nil { // the assertions on this device are among those checked above
			return err
		}
	}
	for i := range as {
		a := &as[i]
		if _, worker := h[a.Dot.Member.String()]; !worker || a.Act == memory.ActPropose {
			continue
		}
		if err := j.recheck(tx, a, h); err != nil {
			return err
		}
	}
	return nil
}
