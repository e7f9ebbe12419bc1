package journal

import (
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/envelope"
)

// lacksNames reports whether one of the withheld bodies, given by chain, may
// name a blob. A blob that a worker names does not count.
func (j *Journal) lacksNames(tx *store.Tx, bare map[string][]uint64) (bool, error) {
	if len(bare) == 0 {
		return false, nil
	}
	workers, err := j.letInAsWorkers(tx)
	if err != nil {
		return false, err
	}
	for chain := range bare {
		text, _, _ := strings.Cut(chain, "/")
		var m memory.MemberID
		if err := m.UnmarshalText([]byte(text)); err != nil || !workers[m] {
			return true, nil
		}
	}
	return false, nil
}

// letInAsWorkers returns the members that are or were extractors, according
// to the stored log. The entries were verified before they were stored.
func (j *Journal) letInAsWorkers(tx *store.Tx) (map[memory.MemberID]bool, error) {
	var n uint64
	if _, err := tx.Meta(j.note("log"), &n); err != nil {
		return nil, err
	}
	out := map[memory.MemberID]bool{}
	for i := range n {
		var b []byte
		if ok, err := tx.Meta(j.note("log", number(i+1)), &b); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		e, err := envelope.ParseEntry(b)
		if err != nil {
			return nil, err
		}
		if e.Member != nil && e.Member.Role == envelope.Extractor {
			out[e.Member.ID] = true
		}
	}
	return out, nil
}
