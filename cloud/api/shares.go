package api

import "sync"

// holder is whose something is: a request's account and member, where it was
// signed by one who belongs, and the address that it came from.
type holder struct{ account, member, address string }

// shares divides something so that nobody takes it all. Of a total, an account,
// or an address, may hold a third of what the others leave, and a member half of
// what the others of its account leave of that: whoever comes last finds
// something, however many came before. Where there is no total, each account and
// address may hold the same. Safe for concurrent use.
type shares struct {
	total int64
	each  int64 // where total is 0

	mu   sync.Mutex
	all  int64
	held map[string]int64 // by account, member and address; none are alike
}

// take gives h so many more, or nothing.
func (s *shares) take(h holder, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range [...]string{h.account, h.address} {
		if k != "" && s.held[k]+n > s.most(k) {
			return false
		}
	}
	if h.member != "" {
		others := s.held[h.account] - s.held[h.member]
		if s.held[h.member]+n > (s.most(h.account)-others)/2 {
			return false
		}
	}
	s.add(h, n)
	return true
}

// most is what a holder may have, beside all others.
func (s *shares) most(k string) int64 {
	if s.total == 0 {
		return s.each
	}
	return (s.total - (s.all - s.held[k])) / 3
}

// give takes back.
func (s *shares) give(h holder, n int64) {
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

// held is how much there is, of all.
func (s *shares) sum() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// Bytes of bodies that are held at a time.
const (
	maxBodies    = 56 << 20 // of those who belong
	maxStrangers = 8 << 20  // of those without a key here, and of members who were removed
	firstPiece   = 16 << 10 // held before more has come
)

// bodies are the bytes of requests that are under way, as far as they came.
type bodies struct{ known, strangers shares }

func newBodies() bodies {
	return bodies{known: shares{total: maxBodies}, strangers: shares{total: maxStrangers}}
}

func (b *bodies) of(h holder) *shares {
	if h.account == "" {
		return &b.strangers
	}
	return &b.known
}
