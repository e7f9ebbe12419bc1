package relay

import "github.com/locket-dev/locket/sync/envelope"

// RemovedPerMinute is how often a member that was removed may ask: it has no
// part in what the account may.
const RemovedPerMinute = 60

// paces are how often callers may ask. An account's requests are its members'
// together, and none can use them up alone: an owner has three quarters of
// them, another member a quarter, all of those half. The root has as many of
// its own: whatever a member does, it can be removed.
type paces struct {
	account *Pace // told to other relays on the same store; the others are this one's own
	root    *Pace
	owner   *Pace
	other   *Pace
	others  *Pace // of an account together
	removed *Pace
}

func newPaces(c Config) paces {
	of := func(part, whole int64) *Pace {
		n := c.Quota.PerMinute
		if n > 0 {
			n = max(1, n*part/whole)
		}
		return &Pace{PerMinute: n, Now: c.Now}
	}
	return paces{account: of(1, 1), root: of(1, 1), owner: of(3, 4), other: of(1, 4), others: of(1, 2),
		removed: &Pace{PerMinute: RemovedPerMinute, Now: c.Now}}
}

// admit counts a request, first where it is least.
func (p *paces) admit(c Caller) error {
	account := string(c.Account[:])
	member := string(c.Space[:]) + string(c.Member[:])
	type take struct {
		pace *Pace
		key  string
	}
	var all []take
	switch {
	case c.Removed:
		all = []take{{p.removed, member}}
	case c.Root:
		all = []take{{p.root, account}}
	case c.Role == envelope.Owner:
		all = []take{{p.owner, member}, {p.account, account}}
	default:
		all = []take{{p.other, member}, {p.others, account}, {p.account, account}}
	}
	for _, t := range all {
		if wait, ok := t.pace.Take(t.key); !ok {
			return &QuotaError{What: "requests a minute", Limit: t.pace.PerMinute, Wait: wait}
		}
	}
	return nil
}
