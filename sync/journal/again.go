package journal

import (
	"fmt"
	"strings"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/replica"
)

// Again has the exchange begin anew, as on a device that was just let in: from
// the first delta, in an incarnation of its own, so that what this member sent
// itself is taken again too. How far the relay was known to reach is kept (see
// [Ledger.Before]); a log of which entries are lost is read anew.
func (l *Ledger) Again(tx *store.Tx) error {
	s, ok, err := l.kept(tx)
	if err != nil {
		return err
	}
	if ok {
		high := s.Cursor
		for c := range s.Ahead {
			high = max(high, c)
		}
		if err := tx.PutMeta(l.note("before"), high); err != nil {
			return err
		}
		// What lies at the relay of a snapshot that is not made yet is to go still.
		if err := l.save(tx, replica.State{Founded: s.Founded, Parts: s.Parts}); err != nil {
			return err
		}
	}
	if err := l.dropChains(tx); err != nil {
		return err
	}
	var n uint64
	if _, err := tx.Meta(l.note("log"), &n); err != nil {
		return err
	}
	for i := range n {
		var e []byte
		ok, err := tx.Meta(l.note("log", number(i+1)), &e)
		if err != nil {
			return err
		}
		if !ok {
			return tx.PutMeta(l.note("log"), uint64(0))
		}
	}
	return nil
}

// Reached is how far each chain had come, by MEMBER-INCARNATION, 16 hexadecimal
// characters each; this member's own among them.
func (l *Ledger) Reached(tx *store.Tx) (map[string]uint64, error) {
	s, err := l.state(tx)
	if err != nil {
		return nil, err
	}
	out := map[string]uint64{}
	for chain, last := range s.Chains.All() {
		out[strings.Replace(chain, "/", "-", 1)] = last.Seq
	}
	if s.Own.Seq > 0 {
		out[fmt.Sprintf("%s-%016x", l.Member, s.Incarnation)] = s.Own.Seq
	}
	return out, nil
}

// AgainElsewhere is Again where what the exchange was with is another from now on: how
// far that reached says nothing of this one.
func (l *Ledger) AgainElsewhere(tx *store.Tx) error {
	if err := l.Again(tx); err != nil {
		return err
	}
	return tx.DeleteMeta(l.note("before"))
}

// Before is how far the relay reached when the exchange began anew, 0 where it
// never did. A relay that ends before it holds back what it had.
func (l *Ledger) Before(tx *store.Tx) (cursor uint64, err error) {
	_, err = tx.Meta(l.note("before"), &cursor)
	return cursor, err
}
