package share

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/consent"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/sync/envelope"
)

// ShareSpec describes a projection to be made.
type ShareSpec struct {
	Title    string
	Criteria Criteria
	Redact   Redaction
	To       []string // NAME=KEY or KEY, in the text form of a request to join
	Purpose  string   // what the reader needs it for; the policy is checked with it
	Expires  time.Time
	Confirm  string // digest of a preview; the share is made only if it still has that digest; empty: it is made in any case
	By       *Author
	// OnlyOriginals are memories that were offered before for the same criteria: only these are
	// considered, whatever the query finds now. Their copies are the same as then, as far as
	// they may still be shared. nil: the criteria choose.
	OnlyOriginals []memory.ID
	// BeforeSharing is called with the originals before any copy leaves; if it fails, nothing is
	// shared. May be nil.
	BeforeSharing func(ctx context.Context, of []memory.ID) error
}

// Preview is what a share would contain.
type Preview struct {
	Copies  []Copy         `json:"copies"`
	Parties []Party        `json:"parties"`
	Few     int            `json:"few,omitempty"`  // memories that match, but are about too few people
	Risks   []Risk         `json:"risks"`          // what the reader might find out nevertheless
	LeftOut int            `json:"left_out"`       // memories that match, but of which redaction leaves nothing
	Held    map[string]int `json:"held,omitempty"` // memories that match, but that the policy holds back, by reason
	Confirm string         `json:"confirm"`
	Form    string         `json:"-"` // of the redaction, as policy.Request.Form
	Waits   int            `json:"-"` // of those held back: how many may be shared if the wearer agrees
	// Holds reports whether a text contains redacted words; nil if nothing is sold.
	Holds func(string) bool `json:"-"`
}

// parties parses the readers of a request. requests are in the same order.
func parties(to []string, space memory.SpaceID, now time.Time) (ps []Party, requests []envelope.Request, err error) {
	for _, text := range to {
		name, key, named := strings.Cut(text, "=")
		if !named {
			name, key = "", text
		}
		r, err := envelope.ParseRequest(key)
		if err != nil && !named {
			return nil, nil, fmt.Errorf("%w: the reader's key %q: %v", memory.ErrInvalid, memory.Cut(key, 20), err)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%w: key of %q: %v", memory.ErrInvalid, name, err)
		}
		if _, err := seal.ParseRecipient(r.Recipient); err != nil {
			return nil, nil, fmt.Errorf("%w: key of %q: %v", memory.ErrInvalid, name, err)
		}
		if name = strings.TrimSpace(name); name == "" {
			name = "reader " + hex.EncodeToString(r.Key[:4])
		}
		if len(name) > memory.MaxName {
			return nil, nil, fmt.Errorf("%w: name of a reader: %d bytes, at most %d", memory.ErrInvalid, len(name), memory.MaxName)
		}
		if slices.ContainsFunc(requests, func(o envelope.Request) bool { return o.Key.Equal(r.Key) }) {
			return nil, nil, fmt.Errorf("%w: the key of %q occurs twice", memory.ErrInvalid, name)
		}
		ps = append(ps, Party{Name: name, Member: r.Member(space), Key: r.Key, Added: now})
		requests = append(requests, r)
	}
	if len(ps) == 0 {
		return nil, nil, fmt.Errorf("%w: to: nobody to share with", memory.ErrInvalid)
	}
	if len(ps) >= envelope.MaxMembers {
		return nil, nil, fmt.Errorf("%w: to: %d readers, at most %d", memory.ErrInvalid, len(ps), envelope.MaxMembers-1)
	}
	return ps, requests, nil
}

// Words returns five words with which two people can compare a key by telephone.
func Words(key []byte) string {
	return strings.Join(keyring.Words(key, 5), " ")
}

// Preview returns what would be shared, and with whom. It sends nothing.
func (s *Sharing) Preview(ctx context.Context, w ShareSpec) (Preview, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, _, err := s.preview(ctx, &w, seal.NewKey(), memory.SpaceID{})
	return p, err
}

func (s *Sharing) preview(ctx context.Context, w *ShareSpec, ids *seal.Key, space memory.SpaceID) (p Preview, requests []envelope.Request, err error) {
	now := s.c.Now().UTC().Truncate(time.Second)
	if err := w.Criteria.Check(); err != nil {
		return p, nil, err
	}
	if w.Redact.AtLeast < 0 || w.Redact.AtLeast > MaxCopies {
		return p, nil, fmt.Errorf("%w: at_least: %d, want 1 to %d", memory.ErrInvalid, w.Redact.AtLeast, MaxCopies)
	}
	if !w.Expires.IsZero() && !w.Expires.After(now) {
		return p, nil, fmt.Errorf("%w: expires: in the past", memory.ErrInvalid)
	}
	if len(w.Title) > memory.MaxName {
		return p, nil, fmt.Errorf("%w: title: %d bytes, at most %d", memory.ErrInvalid, len(w.Title), memory.MaxName)
	}
	if p.Parties, requests, err = parties(w.To, space, now); err != nil {
		return p, nil, err
	}
	made, err := s.copies(ctx, &Record{Criteria: w.Criteria, Redact: w.Redact, Purpose: w.Purpose, Expires: w.Expires, By: w.By}, p.Parties, ids)
	if err != nil {
		return p, nil, err
	}
	p.Copies, p.LeftOut, p.Held = made.copies, made.emptied, made.heldBack
	p.Few = made.tooFew
	if err := p.checkNotEmpty(w); err != nil {
		return p, nil, err
	}
	if p.Confirm, err = p.digest(); err != nil {
		return p, requests, err
	}
	records, err := s.c.Catalog.Records(ctx)
	p.Risks = risks(w, p.Copies, p.Parties, records)
	return p, requests, err
}

// checkNotEmpty returns the reason why there is nothing, if that is so.
func (p *Preview) checkNotEmpty(w *ShareSpec) error {
	switch {
	case len(p.Copies) > 0:
		return nil
	case p.Few > 0:
		return fmt.Errorf("%w: no statement that fits was made by at least %d people", ErrNothing, w.Redact.AtLeast)
	case len(p.Held) > 0:
		return fmt.Errorf("%w: your policy holds back what fits (%s)", ErrNothing, strings.Join(slices.Sorted(maps.Keys(p.Held)), ", "))
	}
	return ErrNothing
}

// digest returns the digest by which a preview is confirmed.
func (p *Preview) digest() (string, error) {
	// The digest covers what is shown, which has neither ids nor names in a space that does
	// not exist yet.
	shown, who := slices.Clone(p.Copies), slices.Clone(p.Parties)
	for i := range shown {
		shown[i].ID = memory.ID{}
		shown[i].Candidate.Expires = time.Time{}
	}
	for i := range who {
		who[i].Member, who[i].Added = memory.MemberID{}, time.Time{}
	}
	return digest(shown, who)
}

// copyResult is the result for the memories that match.
type copyResult struct {
	copies   []Copy
	emptied  int            // memories of which redaction leaves nothing
	tooFew   int            // memories that too few people stand behind
	heldBack map[string]int // memories that the policy holds back, by reason
	waiting  int            // of these, those about which the wearer is asked
	redactor *Redactor
	form     string // as policy.Request.Form
}

// pseudonymous returns the function that derives secrets for the pseudonyms of a share: from
// the sharing key, the criteria and the redaction. So a preview has the same pseudonyms as
// the share, and the same person has another pseudonym in a different share.
func (s *Sharing) pseudonymous(rec *Record) (func(string) [32]byte, error) {
	b, err := json.Marshal([]any{rec.Criteria, rec.Redact})
	if err != nil {
		return nil, fmt.Errorf("pseudonyms: %w", err)
	}
	return func(term string) [32]byte { return s.c.Key.MAC("pseudonym", b, []byte(term)) }, nil
}

// redactor makes the redactor of a share, including the words that are never shared.
func (s *Sharing) redactor(ctx context.Context, rec *Record, rules *rulebook.Rules) (*Redactor, *Redaction, error) {
	how := rec.Redact
	how.Words = append(slices.Clone(how.Words), rules.Never...)
	var v Vocabulary
	var err error
	if how.Names || how.Places || len(how.Roles) > 0 {
		if v, err = s.c.Source.Vocabulary(ctx); err != nil {
			return nil, nil, err
		}
		v.Names = append(v.Names, s.c.Wearer)
	}
	secret, err := s.pseudonymous(rec)
	if err != nil {
		return nil, nil, err
	}
	return NewRedactor(how, v, secret), &how, nil
}

// copies makes the copies of the memories that match and may be given to each of the parties.
func (s *Sharing) copies(ctx context.Context, rec *Record, to []Party, ids *seal.Key) (out copyResult, err error) {
	rules, err := s.c.Allow(ctx)
	if err != nil {
		return out, err
	}
	criteria := rec.Criteria
	if rec.By != nil {
		criteria.visible = s.c.Sees(rec.By, &rules)
	}
	if rec.onlyOriginals != nil {
		criteria.Query, criteria.Limit, criteria.onlyIDs = "", 0, rec.onlyOriginals
	}
	found, err := s.c.Source.Choose(ctx, criteria)
	if err != nil {
		return out, err
	}
	r, how, err := s.redactor(ctx, rec, &rules)
	if err != nil {
		return out, err
	}
	out.redactor = r
	asks := policy.Reader
	switch rec.Kind {
	case bundle:
		asks = policy.Buyer
	case community:
		asks = policy.Community
	}
	action := policy.ActionOf(asks)
	if rec.answers {
		action = policy.SellAnswers
	}
	out.heldBack = map[string]int{}
	var asked []consent.Held
	form, redacted, err := consent.Form(&rec.Redact)
	if err != nil {
		return out, err
	}
	q := policy.Request{Action: action, Kind: asks, Purpose: rec.Purpose, Form: form, Now: s.c.Now()}
	var of []*memory.Memory
	for i := range found {
		m := &found[i]
		if !criteria.Fits(m) || m.Expired(q.Now) {
			continue
		}
		if why, waits := checkPolicy(&rules, q, to, m); why != "" {
			out.heldBack[why]++
			asked = append(asked, waits...)
			out.waiting += min(1, len(waits))
			continue
		}
		cp, ok, err := copyOf(m, r, how, earlier(rec.Expires, m.Ends()), ids)
		if err != nil {
			return out, err
		}
		if !ok {
			out.emptied++
			continue
		}
		out.copies = append(out.copies, cp)
		of = append(of, m)
	}
	out.keepCommon(how.AtLeast, of)
	for i := range asked {
		asked[i].Redacted = redacted
	}
	out.form = form
	return out, s.askWearer(ctx, asked, rec.Space.IsZero())
}

// earlier returns the earlier of two times; zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// askWearer asks the wearer about what rules hold back. again counts it once more.
func (s *Sharing) askWearer(ctx context.Context, held []consent.Held, again bool) error {
	if s.c.Ask == nil {
		return nil
	}
	return s.c.Ask(ctx, held, again)
}

// Redact returns memories as the redaction of a question would show them; with an empty text:
// nothing is left of that memory.
func (s *Sharing) Redact(ctx context.Context, redacted []byte, of []memory.Memory) ([]memory.Candidate, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rec Record
	if err := json.Unmarshal(redacted, &rec.Redact); err != nil {
		return nil, fmt.Errorf("redaction: %w", err)
	}
	rules, err := s.c.Allow(ctx)
	if err != nil {
		return nil, err
	}
	r, how, err := s.redactor(ctx, &rec, &rules)
	if err != nil {
		return nil, err
	}
	ids := seal.NewKey()
	defer ids.Zero()
	out := make([]memory.Candidate, len(of))
	for i := range of {
		cp, ok, err := copyOf(&of[i], r, how, time.Time{}, ids)
		if err != nil {
			return nil, err
		}
		if ok {
			out[i] = cp.Candidate
		}
	}
	return out, nil
}

// keepCommon keeps each statement only once, and only if memories about at least k different
// people say it. of are the originals of the copies.
func (out *copyResult) keepCommon(k int, of []*memory.Memory) {
	if k <= 1 {
		return
	}
	people := map[string]map[string]bool{}
	key := func(c *Copy) string { return string(c.Candidate.Type) + "\n" + memory.Normal(c.Candidate.Text) }
	for i := range out.copies {
		s := key(&out.copies[i])
		if people[s] == nil {
			people[s] = map[string]bool{}
		}
		for _, e := range of[i].Entities {
			if e.Kind == "person" {
				people[s][string(fold(e.Name))] = true
			}
		}
	}
	said := map[string]bool{}
	out.copies = slices.DeleteFunc(out.copies, func(c Copy) bool {
		s := key(&c)
		few := len(people[s]) < k
		if few {
			out.tooFew++
		}
		again := said[s]
		said[s] = true
		return few || again
	})
}

// checkPolicy returns why a memory may not be given to all of the parties, or "" if it may, and what
// the wearer has to be asked.
func checkPolicy(rules *rulebook.Rules, q policy.Request, to []Party, m *memory.Memory) (why string, waits []consent.Held) {
	it := policy.ItemOf(m)
	for _, p := range to {
		q.Name, q.Key = p.Name, policy.KeyOf(p.Key)
		d := rules.Decide(&q, &it)
		switch {
		case d.Asks:
			waits = append(waits, consent.Held{By: q, Rules: d.Rules, Memory: m.ID})
			why = d.Why()
		case !d.Allow:
			return d.Why(), nil
		}
	}
	return why, waits
}
