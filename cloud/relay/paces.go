package relay

import "github.com/locket-dev/locket/sync/envelope"

// RemovedPerMinute is how many requests a minute a removed member may make.
// They do not count for the account.
const RemovedPerMinute = 60

// paces limit how many requests callers may make. The members of an account
// share its requests, but none of them can use them up alone: an owner may
// use three quarters, another member a quarter, and all members that are not
// owners together half. The root has as many of its own, so that it can
// always remove a member.
type paces struct {
	account *Pace // shared with other relays on the same store; the other limits are local
	root    *Pace
	owner   *Pace
	other   *Pace
	others  *Pace // for each account: all members that are not owners
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

// admit counts a request, beginning with the narrowest limit.
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
