package api

import "sync"

// holder says for whom something is counted: a request's account and member, if
// a member signed it, and the address from which it came.
type holder struct{ account, member, address string }

// shares divides a resource so that nobody can take all of it. If there is a
// total, an account or an address may hold a third of what the others leave,
// and a member half of what the other members of its account leave of that. So
// a newcomer always gets something, however many came before. If there is no
// total, each account and address may hold the same amount. It is safe for
// concurrent use.
type shares struct {
	total     int64
	perHolder int64 // limit for each, if total is 0

	mu   sync.Mutex
	all  int64
	held map[string]int64 // by account, member and address, whose keys never collide
}

// reserve reserves n for h. It returns false, and reserves nothing, if that is more than h may have.
func (s *shares) reserve(h holder, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range [...]string{h.account, h.address} {
		if k != "" && s.held[k]+n > s.maxFor(k) {
			return false
		}
	}
	if h.member != "" {
		others := s.held[h.account] - s.held[h.member]
		if s.held[h.member]+n > (s.maxFor(h.account)-others)/2 {
			return false
		}
	}
	s.add(h, n)
	return true
}

// maxFor returns how much a holder may have, given what all others have.
func (s *shares) maxFor(k string) int64 {
	if s.total == 0 {
		return s.perHolder
	}
	return (s.total - (s.all - s.held[k])) / 3
}

// release gives back n that take reserved for h.
func (s *shares) release(h holder, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(h, -n)
}

func (s *shares) add(h holder, n int64) {
	if s.held == nil {
		s.held = map[string]int64{}
	}
	s.all += n
	for _, k := range [...]string{h.account, h.member, h.address} {
		if k == "" {
			continue
		}
		if s.held[k] += n; s.held[k] == 0 {
			delete(s.held, k)
		}
	}
}

// sum returns how much is held in all.
func (s *shares) sum() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// These limit the bytes of bodies that are held at a time.
const (
	maxBodies     = 56 << 20 // for members
	maxStrangers  = 8 << 20  // for callers without a key here, and for removed members
	firstReserved = 16 << 10 // reserved at first, before more has come
)

// pools counts bytes of members, and separately those of all others.
type pools struct{ known, strangers shares }

func newPools(known, strangers int64) pools {
	return pools{known: shares{total: known}, strangers: shares{total: strangers}}
}

func (p *pools) sharesOf(h holder) *shares {
	if h.account == "" {
		return &p.strangers
	}
	return &p.known
}

// These limit the bytes of answers that wait to be written, of those that are
// larger than a connection takes at once. A blob that is read from a file or a
// bucket counts as one piece.
const (
	maxAnswers         = 128 << 20 // to members
	maxStrangerAnswers = 32 << 20  // to others, including a market's
)
