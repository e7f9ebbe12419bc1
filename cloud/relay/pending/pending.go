// Package pending holds wake-ups until they are sent: each once, however often
// it comes meanwhile.
package pending

import (
	"encoding/hex"
	"errors"
	"strings"
	"sync"

	"github.com/locket-dev/locket/cloud/relay"
)

// most is how many wait at a time, each about 60 bytes; what is beyond is lost.
const most = 1 << 16

// Set is one. Safe for concurrent use.
type Set struct {
	mu    sync.Mutex
	of    map[relay.Wake]struct{}
	ready chan struct{}
}

// New gives an empty one.
func New() *Set { return &Set{of: map[relay.Wake]struct{}{}, ready: make(chan struct{}, 1)} }

// Add adds one.
func (s *Set) Add(w relay.Wake) {
	s.mu.Lock()
	if len(s.of) < most {
		s.of[w] = struct{}{}
	}
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// Ready gives a value when there may be some.
func (s *Set) Ready() <-chan struct{} { return s.ready }

// Take takes out all.
func (s *Set) Take() []relay.Wake {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]relay.Wake, 0, len(s.of))
	for w := range s.of {
		out = append(out, w)
	}
	clear(s.of)
	return out
}

// ErrForm is a message that is none.
var ErrForm = errors.New("not a message of wake-ups")

// PerMessage is how many fit into a message: PostgreSQL takes 8,000 bytes.
const PerMessage = 200

// Encode gives the wire form of wake-ups: who sends them, and for each 's' for
// a space or 'm' for a mailbox and 32 hexadecimal characters, commas between.
func Encode(from string, some []relay.Wake) string {
	var b strings.Builder
	b.WriteString(from)
	for _, w := range some {
		if w.Mailbox {
			b.WriteString(",m")
		} else {
			b.WriteString(",s")
		}
		b.WriteString(hex.EncodeToString(w.ID[:]))
	}
	return b.String()
}

// Decode reads it.
func Decode(text string) (from string, some []relay.Wake, err error) {
	from, rest, more := strings.Cut(text, ",")
	for more {
		var one string
		one, rest, more = strings.Cut(rest, ",")
		if len(one) != 33 || one[0] != 's' && one[0] != 'm' {
			return "", nil, ErrForm
		}
		w := relay.Wake{Mailbox: one[0] == 'm'}
		if _, err := hex.Decode(w.ID[:], []byte(one[1:])); err != nil {
			return "", nil, ErrForm
		}
		some = append(some, w)
	}
	return from, some, nil
}
