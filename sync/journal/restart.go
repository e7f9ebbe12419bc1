package journal

import (
	"fmt"
	"strings"

	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/replica"
)

// Restart makes the exchange begin again as on a new device: from the first
// delta, and in a new incarnation, so that this member also takes again what it
// sent itself. The cursor that the relay had reached is kept (see
// [Journal.PreviousCursor]). If log entries are lost, the log is read again, too.
func (j *Journal) Restart(tx *store.Tx) error {
	s, ok, err := j.loadState(tx)
	if err != nil {
		return err
	}
	if ok {
		high := s.Cursor
		for c := range s.Ahead {
			high = max(high, c)
		}
		if err := tx.PutMeta(j.note("before"), high); err != nil {
			return err
		}
		// Parts of an unfinished snapshot that lie at the relay still have to
		// be deleted.
		if err := j.save(tx, replica.State{Founded: s.Founded, Parts: s.Parts}); err != nil {
			return err
		}
	}
	if err := j.dropChains(tx); err != nil {
		return err
	}
	var n uint64
	if _, err := tx.Meta(j.note("log"), &n); err != nil {
		return err
	}
	for i := range n {
		var e []byte
		ok, err := tx.Meta(j.note("log", number(i+1)), &e)
		if err != nil {
			return err
		}
		if !ok {
			return tx.PutMeta(j.note("log"), uint64(0))
		}
	}
	return nil
}

// ChainEnds returns how far each chain had been taken, including this member's
// own chain. A key is MEMBER-INCARNATION, 16 hexadecimal digits each.
func (j *Journal) ChainEnds(tx *store.Tx) (map[string]uint64, error) {
	s, err := j.state(tx)
	if err != nil {
		return nil, err
	}
	out := map[string]uint64{}
	for chain, last := range s.Chains.All() {
		out[strings.Replace(chain, "/", "-", 1)] = last.Seq
	}
	if s.Own.Seq > 0 {
		out[fmt.Sprintf("%s-%016x", j.Member, s.Incarnation)] = s.Own.Seq
	}
	return out, nil
}

// RestartElsewhere is Restart for an exchange with another remote. It also drops
// the old cursor, which means nothing at the new remote.
func (j *Journal) RestartElsewhere(tx *store.Tx) error {
	if err := j.Restart(tx); err != nil {
		return err
	}
	return tx.DeleteMeta(j.note("before"))
}

// PreviousCursor returns the cursor that the relay had reached when the exchange began
// again, or 0. A relay whose last cursor is smaller withholds deltas.
func (j *Journal) PreviousCursor(tx *store.Tx) (cursor uint64, err error) {
	_, err = tx.Meta(j.note("before"), &cursor)
	return cursor, err
}
