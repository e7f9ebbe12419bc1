// Package pending collects wake-ups until they are sent. A wake-up that comes
// several times before that is sent once.
package pending

import (
	"context"
	"encoding/hex"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/internal/retry"
)

// most is how many wake-ups can wait, about 60 bytes each. Further ones are
// dropped.
const most = 1 << 16

// Set is a set of wake-ups. It is safe for concurrent use.
type Set struct {
	mu    sync.Mutex
	of    map[relay.Wake]struct{}
	ready chan struct{}
}

// New returns an empty set.
func New() *Set { return &Set{of: map[relay.Wake]struct{}{}, ready: make(chan struct{}, 1)} }

// Add adds a wake-up.
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

// Take removes all wake-ups from the set and returns them.
func (s *Set) Take() []relay.Wake {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Collect(maps.Keys(s.of))
	clear(s.of)
	return out
}

// Send gives send a message of the wake-ups that are added, until ctx is done. from is
// the sender's name in it. Wake-ups of a message that failed go back into the set, and
// are sent after a second at first, and a minute at most.
func (s *Set) Send(ctx context.Context, from string, send func(text string) error) {
	pace := retry.Backoff{First: time.Second, Most: time.Minute}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.ready:
		}
		for some := s.Take(); len(some) > 0; {
			n := min(len(some), PerMessage)
			if send(encode(from, some[:n])) != nil {
				for _, w := range some {
					s.Add(w)
				}
				pace.Wait(ctx)
				break
			}
			pace.Reset()
			some = some[n:]
		}
	}
}

// ErrForm: the text is not a message of wake-ups.
var ErrForm = errors.New("not a message of wake-ups")

// PerMessage is the greatest number of wake-ups in one message, since
// PostgreSQL takes at most 8,000 bytes.
const PerMessage = 200

// encode returns the wire form of wake-ups, separated by commas: first the
// sender, then for each wake-up 's' for a space or 'm' for a mailbox, and 32
// hexadecimal characters.
func encode(from string, some []relay.Wake) string {
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

// Decode parses the wire form.
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
