package delta

import (
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/canonical"
)

// MaxPerEvidence is how many assertions a worker may hang on one piece of
// evidence where its grant says nothing else.
const MaxPerEvidence = 16

// MaxChanges is how many assertions of a worker may correct, close or archive
// one memory.
const MaxChanges = 128

// Grant is what a worker was let in for. The zero value allows nothing.
type Grant struct {
	Types       []memory.Type `cbor:"1,keyasint,omitempty" json:"types,omitempty"`            // that it may propose and touch; vault is never one
	Transcribe  bool          `cbor:"2,keyasint,omitempty" json:"transcribe,omitempty"`       // may add utterances for recordings and photos
	PerEvidence int           `cbor:"3,keyasint,omitempty" json:"max_per_evidence,omitempty"` // 0: MaxPerEvidence
}

// Bytes is canonical CBOR, for [envelope.Member]'s Grant once it is sealed.
func (g Grant) Bytes() []byte { return canonical.Must(canonical.Encoding.Marshal(g)) }

// ParseGrant reads what [Grant.Bytes] gives.
func ParseGrant(b []byte) (Grant, error) {
	var g Grant
	if err := decoding.Unmarshal(b, &g); err != nil {
		return Grant{}, fmt.Errorf("grant: %w: %v", ErrForm, err)
	}
	for _, t := range g.Types {
		if !slices.Contains(memory.Types[:], t) {
			return Grant{}, fmt.Errorf("grant: %w: type %q", ErrForm, t)
		}
	}
	if g.PerEvidence < 0 || string(g.Bytes()) != string(b) {
		return Grant{}, fmt.Errorf("grant: %w: not in canonical form", ErrForm)
	}
	return g, nil
}

// Lookup is what a replica knows when a worker's op comes. What it answers
// grows, and is never taken back, but by an erasure: so replicas that know the
// same have taken the same, in whatever order it came. Utterances alone change:
// who keeps a replica asks again then of what quotes them.
type Lookup interface {
	// Proposed gives the types of a memory's proposals that were taken, none
	// where it is not known; gone, that it was erased.
	Proposed(id memory.ID) (types []memory.Type, gone bool)
	// Utterance gives what was said, earlier ops of the same delta included.
	Utterance(id memory.ID) (*memory.Utterance, bool)
	// Source reports whether the event is a recording or a photo that is known.
	Source(id memory.EventID) bool
	// Cited is how many assertions of author that came before the one of the
	// sequence number cite that evidence (its utterance, or its event where it
	// has none), those that were set aside included: so that every replica
	// counts alike.
	Cited(author memory.MemberID, e memory.Evidence, before uint64) int
	// Changed is how many assertions of author that came before the one of the
	// sequence number correct, close or archive that memory, counted as Cited.
	Changed(author memory.MemberID, id memory.ID, before uint64) int
}

// Verdict on a worker's op.
type Verdict uint8

const (
	Refused  Verdict = iota // breaks a rule, for good: set aside and shown
	Waiting                 // set aside and shown; ask again when what it needs comes
	Accepted                // applied
	// Misquoted: an utterance that it cites reads otherwise here. Set aside and
	// shown; ask again when that changes, which nobody has to wait for.
	Misquoted
)

var verdictNames = [...]string{"refused", "waiting", "accepted", "misquoted"}

// String is the verdict's word.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// Accept says what to do with an op of by, a member whose role is extractor, and
// why in words. It is a pure function: replicas that know the same answer the
// same. Refused is about the op itself; Waiting is about what can still come.
// Pins, ranks and corrections, which come and go, are not looked at: what a
// worker's word changes of a memory is for [reconcile.Derive] to say, which
// knows all that was said. Of what was erased nothing is looked at: whatever
// is said of it is absorbed.
//
// [reconcile.Derive]: https://pkg.go.dev/github.com/locket-dev/locket/memory/reconcile#Derive
func Accept(op *Op, by memory.MemberID, g Grant, known Lookup) (Verdict, string) {
	switch {
	case op.Assertion != nil:
		return acceptAssertion(op.Assertion, g, known)
	case op.Utterance != nil:
		return acceptUtterance(op.Utterance, by, g, known)
	case op.Forget != nil:
		return Refused, "a worker forgets nothing"
	case op.Report != nil:
		if _, err := op.Report.Told(); err != nil {
			return Refused, err.Error()
		}
		return Accepted, ""
	case op.Gone != nil:
		return Accepted, "" // package replica counts a worker's word for its own alone
	default:
		return Refused, "a worker adds no blobs"
	}
}

func acceptAssertion(a *memory.Assertion, g Grant, known Lookup) (Verdict, string) {
	if err := a.Validate(); err != nil {
		return Refused, err.Error()
	}
	if a.Rank != memory.RankCloud {
		return Refused, "a worker speaks with the lowest rank"
	}
	for _, d := range a.Seen {
		if d.Member != a.Dot.Member {
			return Refused, "a worker overrules nobody but itself"
		}
	}
	switch a.Act {
	case memory.ActPropose:
		if v, why := allowedType(a.Candidate.Type, g); v != Accepted {
			return v, why
		}
		if a.Candidate.Sensitivity < memory.Personal {
			return Refused, "a worker makes nothing public"
		}
		if _, gone := known.Proposed(a.Memory); gone {
			return Accepted, ""
		}
		return evidenced(a, a.Candidate.Evidence, g, known)
	case memory.ActReinforce:
		if v, why := pieces(a.Evidence); v != Accepted {
			return v, why
		}
		if v, why, gone := touches(a.Memory, g, known); v != Accepted || gone {
			return v, why
		}
		return evidenced(a, a.Evidence, g, known)
	case memory.ActCorrect, memory.ActClose:
		if v, why := changes(a.Patch); v != Accepted {
			return v, why
		}
		return mends(a, g, known)
	case memory.ActArchive:
		if a.Into.IsZero() {
			return Refused, "a worker archives nothing but into what says the same"
		}
		return mends(a, g, known)
	default:
		return Refused, fmt.Sprintf("a worker does not %s", a.Act)
	}
}

func allowedType(t memory.Type, g Grant) (Verdict, string) {
	if t == memory.Vault {
		return Refused, "a worker has nothing to do with the vault"
	}
	if !slices.Contains(g.Types, t) {
		return Refused, fmt.Sprintf("its grant has no %s memories", t)
	}
	return Accepted, ""
}

// touches is about a memory that another op names: somebody has proposed it,
// in a type of the grant.
func touches(id memory.ID, g Grant, known Lookup) (v Verdict, why string, gone bool) {
	types, gone := known.Proposed(id)
	if gone || slices.ContainsFunc(types, func(t memory.Type) bool { v, _ := allowedType(t, g); return v == Accepted }) {
		return Accepted, "", gone
	}
	return Waiting, "no memory " + id.String() + " of a type of its grant is known here", false
}

// changes is about what a patch may set.
func changes(p *memory.Patch) (Verdict, string) {
	switch {
	case p.Sensitivity != nil && *p.Sensitivity < memory.Personal:
		return Refused, "a worker makes nothing public"
	case p.Fields != nil && p.Fields.Vault != nil:
		return Refused, "a worker has nothing to do with the vault"
	}
	return Accepted, ""
}

// mends is about correct, close and archive, which need no evidence of their
// own: a worker may mend what workers said. One that has said a thing twice
// puts the one away into the other; a person takes that back with a restore.
func mends(a *memory.Assertion, g Grant, known Lookup) (Verdict, string) {
	if known.Changed(a.Dot.Member, a.Memory, a.Dot.Seq) >= MaxChanges {
		return Refused, fmt.Sprintf("it has changed that memory %d times already", MaxChanges)
	}
	return touchesAll(a, g, known)
}

func pieces(es []memory.Evidence) (Verdict, string) {
	if len(es) == 0 || len(es) > memory.MaxEvidence {
		return Refused, fmt.Sprintf("%d pieces of evidence, want 1 to %d", len(es), memory.MaxEvidence)
	}
	return Accepted, ""
}

// evidenced holds every piece of evidence to what is here.
func evidenced(a *memory.Assertion, es []memory.Evidence, g Grant, known Lookup) (Verdict, string) {
	if v, why := pieces(es); v != Accepted {
		return v, why
	}
	limit := g.PerEvidence
	if limit == 0 {
		limit = MaxPerEvidence
	}
	for i, e := range es {
		if v, why := found(e, known); v != Accepted {
			return v, fmt.Sprintf("evidence %d: %s", i+1, why)
		}
		if known.Cited(a.Dot.Member, e, a.Dot.Seq) >= limit {
			return Refused, fmt.Sprintf("evidence %d: cited %d times already", i+1, limit)
		}
	}
	return Accepted, ""
}

// Stands says what to do with an assertion of a worker that was taken, now that
// something else is known: what it quotes may read otherwise, and what it
// changes may be proposed no more. What is gone since, as a line that was erased
// or whose time was over, was there when it was asked for, and how it was
// counted does not change.
func Stands(a *memory.Assertion, g Grant, known Lookup) (Verdict, string) {
	var es []memory.Evidence // that Accept looks at
	switch a.Act {
	case memory.ActPropose:
		es = a.Candidate.Evidence
	case memory.ActReinforce:
		es = a.Evidence
	}
	for i, e := range es {
		if u, ok := known.Utterance(e.Utterance); ok {
			if v, why := quoted(e, u); v != Accepted {
				return v, fmt.Sprintf("evidence %d: %s", i+1, why)
			}
		}
	}
	if a.Act == memory.ActPropose {
		return Accepted, ""
	}
	return touchesAll(a, g, known)
}

func touchesAll(a *memory.Assertion, g Grant, known Lookup) (Verdict, string) {
	for _, id := range []memory.ID{a.Memory, a.Into} {
		if id.IsZero() {
			continue
		}
		if v, why, _ := touches(id, g, known); v != Accepted {
			return v, why
		}
	}
	return Accepted, ""
}

func found(e memory.Evidence, known Lookup) (Verdict, string) {
	if e.Utterance.IsZero() {
		switch {
		case e.Event.IsZero():
			return Refused, "cites neither utterance nor event"
		case !known.Source(e.Event):
			return Waiting, "no recording or photo " + e.Event.String() + " is known here"
		}
		return Accepted, ""
	}
	if e.Excerpt == "" {
		return Refused, "quotes nothing of the utterance"
	}
	u, ok := known.Utterance(e.Utterance)
	if !ok {
		return Waiting, "no utterance " + e.Utterance.String() + " is known here"
	}
	return quoted(e, u)
}

func quoted(e memory.Evidence, u *memory.Utterance) (Verdict, string) {
	switch {
	case !e.Event.IsZero() && e.Event != u.Event:
		return Misquoted, "the utterance is of another event"
	case !strings.Contains(u.Text, e.Excerpt):
		return Misquoted, "what it quotes is not in the utterance"
	}
	return Accepted, ""
}

func acceptUtterance(u *memory.Utterance, by memory.MemberID, g Grant, known Lookup) (Verdict, string) {
	switch {
	case !g.Transcribe:
		return Refused, "its grant has no transcription"
	case strings.TrimSpace(u.Text) == "" || u.Event.IsZero():
		return Refused, "an utterance has a text and an event"
	case !by.SaysLine(u.ID): // another's would stand in its place, or be thrown away for it
		return Refused, "the line's id is not one of its own"
	}
	if !known.Source(u.Event) {
		return Waiting, "no recording or photo " + u.Event.String() + " is known here"
	}
	return Accepted, ""
}
