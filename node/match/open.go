package match

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/intersect"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/envelope"
)

// ErrName: the peer who asks does not have a name here yet.
var ErrName = fmt.Errorf("%w: give a name for the person who asks", memory.ErrInvalid)

// Look returns what a message asks, if it asks for a comparison that was not answered yet;
// nil: it does not, and needs no consent. Nothing changes.
func (m *Matcher) Look(ctx context.Context, text string) (out *serve.ComparisonAsked, err error) {
	err = m.in(ctx, func(d *keyring.Device, s *state) (bool, error) {
		one, _ := cutMessage(text) // a message that asks is the only one in its text
		msg, by, _, err := read(d, one, m.now())
		if err != nil || msg.Kind != asks || s.known(msg.ID, by) != nil {
			return false, err
		}
		out = &serve.ComparisonAsked{ID: idText(msg.ID), Words: share.Words(by), Ours: len(s.Interests)}
		return false, nil
	})
	return out, err
}

// Open processes a message of a peer. The text that it returns has to be passed on to the
// peer; it is empty if there is none. name becomes the name of a peer who asks. The same
// message again gives the same answer again; a different one in its place is [ErrLied]. A
// text may contain two messages, the count and which, as RepeatMessage returns them.
func (m *Matcher) Open(ctx context.Context, text, name string) (c serve.Comparison, reply string, err error) {
	first, second := cutMessage(text)
	c, reply, err = m.open(ctx, first, name, second != "")
	if err == nil && second != "" {
		c, reply, err = m.open(ctx, second, name, true)
	}
	return c, reply, err
}

// cutMessage returns what precedes the last message of a text, and that message; or the
// whole text, if it has only one.
func cutMessage(text string) (first, second string) {
	if i := strings.LastIndex(text, prefix); i > 0 && strings.TrimSpace(text[:i]) != "" {
		return text[:i], text[i:]
	}
	return text, ""
}

// open processes one message. more says that the same text contains another one.
func (m *Matcher) open(ctx context.Context, text, name string, more bool) (c serve.Comparison, reply string, err error) {
	err = m.in(ctx, func(d *keyring.Device, s *state) (bool, error) {
		now := m.now()
		msg, by, body, err := read(d, text, now)
		if err != nil {
			return false, err
		}
		if more && msg.Kind <= answers {
			return false, fmt.Errorf("%w: it is in one text with another message, but has to come alone", ErrMessage)
		}
		r := s.known(msg.ID, by)
		if r == nil {
			if msg.Kind != asks {
				return false, fmt.Errorf("the comparison of this message: %w", memory.ErrNotFound)
			}
			own, err := s.crossed(d, by)
			if err != nil {
				return false, err
			}
			if name = cmp.Or(name, own); name == "" {
				return false, ErrName
			}
			peer, err := envelope.ParseRequest(msg.Request)
			if err != nil {
				return false, err
			}
			r = &run{ID: msg.ID, Name: name, Peer: peer, Began: now}
			if err := s.begin(d, r, now); err != nil {
				return false, err
			}
		}
		err = r.handle(d, &msg, body, now)
		if c = r.toAPI(); err == nil && msg.Kind <= answers {
			reply = r.Sent[msg.Kind+1]
		}
		// What was found out about a liar is stored.
		return err == nil || errors.Is(err, ErrLied), err
	})
	return c, reply, err
}

// crossed handles the case that two people have asked each other. The request of the one
// with the lower key counts: the other's own comparison, whose answer can't be accepted any
// more, is dropped. It returns the wearer's name for the peer in that comparison.
func (s *state) crossed(d *keyring.Device, by []byte) (name string, err error) {
	i := slices.IndexFunc(s.Runs, func(r *run) bool { return r.Asked && r.Theirs == nil && r.Ended == "" && bytes.Equal(r.Peer.Key, by) })
	if i < 0 {
		return "", nil
	}
	r := s.Runs[i]
	if bytes.Compare(d.Key(), by) < 0 {
		return "", fmt.Errorf("%w: %s and you have asked each other: your comparison goes on once %s opens your message", memory.ErrInvalid, r.Name, r.Name)
	}
	s.Runs = slices.Delete(s.Runs, i, i+1)
	s.Begun = slices.DeleteFunc(s.Begun, func(a attempt) bool { return a.ID == r.ID && bytes.Equal(a.Peer, by) })
	return r.Name, nil
}

// known finds the comparison of a message by its id and sender.
func (s *state) known(id [16]byte, by []byte) *run {
	i := slices.IndexFunc(s.Runs, func(r *run) bool { return r.ID == id && bytes.Equal(r.Peer.Key, by) })
	if i < 0 {
		return nil
	}
	return s.Runs[i]
}

// hash returns the hash of a body.
func hash(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// on returns what a message of a kind must name as the message or messages that it answers.
func (r *run) on(kind uint) []byte {
	switch kind {
	case asks:
		return nil
	case answers:
		return hash(r.Bodies[0])
	}
	return hash(r.Bodies[0], r.Bodies[1])
}

// lied ends a comparison because the peer lied.
func (r *run) lied(what string) error {
	r.end(what)
	return fmt.Errorf("%w: %s %s; the comparison is over", ErrLied, r.Name, what)
}

// handle processes a message of the peer of r.
func (r *run) handle(d *keyring.Device, m *message, body []byte, now time.Time) error {
	if h, heard := r.Heard[m.Kind]; heard {
		if !bytes.Equal(h, hash(body)) {
			return r.lied("sent another message in the place of one that was answered")
		}
		return nil // the same message again
	}
	if err := r.alive(); err != nil {
		return err
	}
	fits := m.Kind == asks && !r.Asked || m.Kind == answers && r.Asked || m.Kind == counts && !r.Asked && r.Theirs != nil || m.Kind == tellsWhich && r.Count != nil
	if m.Kind == tellsWhich && !r.Asked && r.Theirs != nil && !fits {
		return fmt.Errorf("%w: the message with the count, which comes before it, is missing: ask %s to send both once more (locket match again)", ErrMessage, r.Name)
	}
	if !fits {
		return fmt.Errorf("%w: it is not the next message of the comparison with %s", ErrMessage, r.Name)
	}
	if !bytes.Equal(m.On, r.on(m.Kind)) {
		return r.lied("answers other offers than those that were made")
	}
	if r.Heard == nil {
		r.Heard = map[uint][]byte{}
	}
	r.Heard[m.Kind] = hash(body)
	switch m.Kind {
	case asks:
		r.Theirs, r.Bodies[0] = m.Offer, hash(body)
		if err := r.offer(); err != nil {
			return err
		}
		return r.count(d, answers, now)
	case answers:
		r.Theirs, r.Bodies[1] = m.Offer, hash(body)
		if err := r.counted(m.Count); err != nil {
			return err
		}
		return r.count(d, counts, now)
	case counts:
		return r.counted(m.Count)
	}
	return r.recordMatches(m.Which)
}

// offer makes the wearer's offer for this comparison.
func (r *run) offer() (err error) {
	var topics []string
	for _, o := range r.Offered {
		topics = append(topics, normal(o))
	}
	if r.Side, err = intersect.New(topics); err != nil {
		return err
	}
	o, err := r.Side.Offer()
	r.Mine = &o
	return err
}

// count answers the peer's polynomial, and adds the wearer's offer if it was not sent yet.
func (r *run) count(d *keyring.Device, kind uint, now time.Time) error {
	list, err := r.Side.CountFor(r.Theirs)
	if err != nil {
		return err
	}
	m := message{Kind: kind, Count: list}
	if kind == answers {
		m.Offer = r.Mine
	}
	return r.send(d, m, now)
}

func (r *run) counted(list [][]byte) error {
	n, err := r.Side.OpenCount(list)
	if err != nil {
		return r.lied("sent a count that is none")
	}
	if n > len(r.Offered) {
		return r.lied(fmt.Sprintf("counted %d interests in common, of the %d that were offered", n, len(r.Offered)))
	}
	r.Count = &n
	return nil
}

// recordMatches records the peer's message about which interests both have. The wearer sees them once
// both have told.
func (r *run) recordMatches(ev *intersect.Evaluation) error {
	both, err := r.Side.Common(r.Theirs, ev)
	switch {
	case errors.Is(err, intersect.ErrProof):
		return r.lied("answered with another key than was offered")
	case err != nil:
		return r.lied("sent an answer that is none")
	case len(both) != *r.Count:
		return r.lied(fmt.Sprintf("had the count say %d, and offered what has %d in common: one of the two was made of other interests", *r.Count, len(both)))
	}
	r.Told, r.Which = true, ev
	r.finish()
	return nil
}

// finish reveals which interests both have, once both have told, and drops all secrets.
func (r *run) finish() {
	if !r.Agreed || !r.Told || r.Side == nil {
		return
	}
	both, err := r.Side.Common(r.Theirs, r.Which)
	if err != nil {
		return // it was checked when it arrived
	}
	for _, o := range r.Offered {
		if slices.Contains(both, normal(o)) {
			r.Both = append(r.Both, o)
		}
	}
	r.end("both have said which")
}

// send makes the wearer's next message.
func (r *run) send(d *keyring.Device, m message, now time.Time) error {
	m.Version, m.ID, m.To, m.At, m.On = 1, r.ID, r.Peer.Key, now.Unix(), r.on(m.Kind)
	if m.Offer != nil {
		var err error
		if m.Request, err = envelope.SignRequest(envelope.Request{Key: d.Key(), Recipient: d.Recipient().String()}, d.Sign); err != nil {
			return err
		}
	}
	text, body, err := sealed(d, &m, &r.Peer)
	if err != nil {
		return err
	}
	if m.Kind <= answers {
		r.Bodies[m.Kind-1] = hash(body)
	}
	if r.Sent == nil {
		r.Sent = map[uint]string{}
	}
	r.Sent[m.Kind] = text
	return nil
}
