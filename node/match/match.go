// Package match lets two people find out what interests both have, without revealing the rest
// to each other: first how many, then, if both want, which.
//
// The words:
//
//   - An interest is one or more words that the wearer chose.
//   - A comparison compares the interests of two people, the wearer's and a peer's, as they were
//     when each of the two agreed. Package intersect has the computation.
//   - A message is what one person sends to the other, sealed to the other's key, as a line of text.
//     It is passed on by hand: by mail, or by any messenger. Nothing here needs a network or a node.
//
// The messages are, in this order: asks (an offer), answers (an offer, and the count), counts
// (the count), and which, one from each. From the second message on, each names the offers by
// their hash, so that neither can be replaced later.
package match

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/locket-dev/locket/crypto/intersect"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/internal/atomicfile"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
)

// These limit what can be found out by guessing: a comparison has at most [intersect.MaxSet]
// interests. With one key there is one comparison in a period, whoever began it, and with all
// keys together MostAtOnce. A comparison ends after a period.
const (
	Period     = 30 * 24 * time.Hour
	MostAtOnce = 10
)

var (
	// ErrTooSoon: a limit on comparisons is reached.
	ErrTooSoon = errors.New("too many comparisons")
	// ErrLied: what the peer sent contradicts an earlier message of the peer.
	ErrLied = errors.New("the answers contradict each other")
	// ErrEnded: the comparison has ended.
	ErrEnded = errors.New("the comparison has ended")
)

// Matcher has the interests and comparisons of a reader's key. Its methods are safe for
// concurrent use, also by several processes.
type Matcher struct {
	Dir string           // the reader's folder
	Now func() time.Time // nil: time.Now
}

// normal returns the form in which interests are compared: letters of one width and case, no
// invisible characters, and one space between words. Nothing is translated.
func normal(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, s)
	s = oneCase.Replace(strings.ToLower(norm.NFKC.String(s)))
	return strings.Join(strings.Fields(s), " ")
}

// oneCase maps lower-case letters that have the same upper case.
var oneCase = strings.NewReplacer("ß", "ss", "ς", "σ")

// interest checks an interest.
func interest(s string) (string, error) {
	if len(s) > 4*intersect.MaxElement {
		return "", fmt.Errorf("%w: an interest of %d bytes; %d are the most", memory.ErrInvalid, len(s), intersect.MaxElement)
	}
	s = strings.Join(strings.Fields(norm.NFC.String(s)), " ")
	n := normal(s)
	switch {
	case n == "" || len(n) > intersect.MaxElement || len(s) > intersect.MaxElement:
		return "", fmt.Errorf("%w: interest %.40q: %d bytes, want 1 to %d", memory.ErrInvalid, s, len(n), intersect.MaxElement)
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return "", fmt.Errorf("%w: interest %.40q is not a text", memory.ErrInvalid, s)
	}
	return s, nil
}

func (m *Matcher) now() time.Time {
	if m.Now != nil {
		return m.Now().UTC().Truncate(time.Second)
	}
	return time.Now().UTC().Truncate(time.Second)
}

// device returns the reader's key; the caller zeroes it.
func (m *Matcher) device() (*keyring.Device, error) {
	if err := atomicfile.MkdirAll(filepath.Join(m.Dir, folder)); err != nil {
		return nil, fmt.Errorf("interests: %w", err)
	}
	return (&share.Reader{Dir: m.Dir}).Device()
}

// Interests returns the wearer's interests, in the order in which they were chosen.
func (m *Matcher) Interests(ctx context.Context) (out []string, err error) {
	err = m.in(ctx, func(d *keyring.Device, s *state) (bool, error) {
		out = slices.Clone(s.Interests)
		return false, nil
	})
	return out, err
}

// Choose adds and removes interests. Comparisons that have begun continue with the earlier
// ones. memory.ErrInvalid names a word that can't be an interest, and memory.ErrNotFound one
// that is not chosen.
func (m *Matcher) Choose(ctx context.Context, add, remove []string) (out []string, err error) {
	err = m.in(ctx, func(d *keyring.Device, s *state) (bool, error) {
		is := func(what string) func(string) bool {
			return func(have string) bool { return normal(have) == normal(what) }
		}
		for _, r := range remove {
			i := slices.IndexFunc(s.Interests, is(r))
			if i < 0 {
				return false, fmt.Errorf("interest %.40q: %w", r, memory.ErrNotFound)
			}
			s.Interests = slices.Delete(s.Interests, i, i+1)
		}
		for _, a := range add {
			a, err := interest(a)
			if err != nil {
				return false, err
			}
			if !slices.ContainsFunc(s.Interests, is(a)) {
				s.Interests = append(s.Interests, a)
			}
		}
		if len(s.Interests) > intersect.MaxSet {
			return false, fmt.Errorf("%w: %d interests, %d are the most", memory.ErrInvalid, len(s.Interests), intersect.MaxSet)
		}
		out = slices.Clone(s.Interests)
		return true, nil
	})
	return out, err
}

// List returns the comparisons, the latest first.
func (m *Matcher) List(ctx context.Context) (out []serve.Comparison, err error) {
	err = m.in(ctx, func(d *keyring.Device, s *state) (bool, error) {
		for _, r := range slices.Backward(s.Runs) {
			out = append(out, r.toAPI())
		}
		return false, nil
	})
	return out, err
}

// Forget drops a comparison. It still counts towards the limit for this key.
func (m *Matcher) Forget(ctx context.Context, which string) error {
	return m.in(ctx, func(d *keyring.Device, s *state) (bool, error) {
		r, err := s.find(which)
		if err != nil {
			return false, err
		}
		s.Runs = slices.DeleteFunc(s.Runs, func(o *run) bool { return o == r })
		return true, nil
	})
}

// RepeatMessage returns the message that was sent last in a comparison. If the peer may have neither
// the count nor which, it returns both, each on a line; Open takes them together.
func (m *Matcher) RepeatMessage(ctx context.Context, which string) (c serve.Comparison, text string, err error) {
	err = m.in(ctx, func(d *keyring.Device, s *state) (bool, error) {
		r, err := s.find(which)
		if err != nil {
			return false, err
		}
		c = r.toAPI()
		if text = r.due(); text == "" {
			return false, fmt.Errorf("nothing was sent to %s yet: %w", r.Name, memory.ErrNotFound)
		}
		return false, nil
	})
	return c, text, err
}

// due returns what the peer may not have received yet.
func (r *run) due() string {
	count, which := r.Sent[counts], r.Sent[tellsWhich]
	switch {
	case which != "" && (count == "" || r.Told): // a peer who has sent which has the count
		return which
	case which != "":
		return count + "\n" + which
	}
	return cmp.Or(count, r.Sent[answers], r.Sent[asks])
}

// Ask begins a comparison with the owner of a key in the form that locket share key prints.
// The message lets them find out how many interests both have, if they let the wearer find
// that out, too.
func (m *Matcher) Ask(ctx context.Context, name, key string) (c serve.Comparison, text string, err error) {
	peer, err := envelope.ParseRequest(key)
	if err != nil {
		return c, "", fmt.Errorf("%w: key of %s: %v", memory.ErrInvalid, name, err)
	}
	err = m.in(ctx, func(d *keyring.Device, s *state) (bool, error) {
		r := &run{Name: name, Peer: peer, Began: m.now(), Asked: true}
		rand.Read(r.ID[:])
		if err := s.begin(d, r, m.now()); err != nil {
			return false, err
		}
		if err := r.offer(); err != nil {
			return false, err
		}
		if err := r.send(d, message{Kind: asks, Offer: r.Mine}, m.now()); err != nil {
			return false, err
		}
		c, text = r.toAPI(), r.Sent[asks]
		return true, nil
	})
	return c, text, err
}

// TellCommon tells the peer which interests both have. It needs both counts. If the peer has told
// before, the wearer learns them now.
func (m *Matcher) TellCommon(ctx context.Context, which string) (c serve.Comparison, text string, err error) {
	err = m.in(ctx, func(d *keyring.Device, s *state) (bool, error) {
		r, err := s.find(which)
		if err != nil {
			return false, err
		}
		if !r.Agreed {
			if err := r.alive(); err != nil {
				return false, err
			}
			if r.Count == nil {
				return false, fmt.Errorf("%w: how many interests %s and you have in common is not known yet", memory.ErrInvalid, r.Name)
			}
			ev, err := r.Side.CommonFor(r.Theirs)
			if err != nil {
				return false, err
			}
			if err := r.send(d, message{Kind: tellsWhich, Which: &ev}, m.now()); err != nil {
				return false, err
			}
			r.Agreed = true
			r.finish()
		}
		c, text = r.toAPI(), r.Sent[tellsWhich]
		return true, nil
	})
	return c, text, err
}

func idText(id [16]byte) string { return hex.EncodeToString(id[:]) }
