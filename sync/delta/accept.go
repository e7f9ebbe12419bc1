package delta

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/canonical"
)

// MaxPerEvidence is how many assertions of a worker may cite one piece of
// evidence, unless its grant says otherwise.
const MaxPerEvidence = 16

// MaxChanges is how many assertions of a worker may correct, close or archive
// one memory.
const MaxChanges = 128

// MaxLines is how many lines of a worker about one recording are counted
// together. There are [LineCounts] such counts, and a line's id says which is
// its own.
const (
	MaxLines   = 256
	LineCounts = 32
)

// MaxApart is the greatest time between a worker's line and its recording or photo.
const MaxApart = 24 * time.Hour

// Grant says what a worker may do. The zero value allows nothing.
type Grant struct {
	Types       []memory.Type `cbor:"1,keyasint,omitempty" json:"types,omitempty"`            // types that it may propose and change; never vault
	Transcribe  bool          `cbor:"2,keyasint,omitempty" json:"transcribe,omitempty"`       // may add utterances for recordings and photos
	PerEvidence int           `cbor:"3,keyasint,omitempty" json:"max_per_evidence,omitempty"` // 0: MaxPerEvidence
}

// Bytes returns the canonical CBOR. [envelope.Member] holds it, sealed, in
// Grant.
func (g Grant) Bytes() []byte { return canonical.Encode(g) }

// ParseGrant parses what [Grant.Bytes] returns.
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

// Lookup is what a replica knows when a worker's op comes. Its answers only
// grow: what it has reported stays true until it is erased. Therefore replicas
// with the same knowledge have accepted the same ops, in whatever order the ops
// came. Only the text of utterances can change. When it does, the replica asks
// again about the ops that quote it.
type Lookup interface {
	// Proposed returns the types of a memory's accepted proposals. It returns
	// none if the memory is unknown. gone reports that the memory was erased.
	Proposed(id memory.ID) (types []memory.Type, gone bool)
	// Utterance returns an utterance. It may come from an earlier op of the same
	// delta.
	Utterance(id memory.ID) (*memory.Utterance, bool)
	// Source reports whether the event is a known recording or photo.
	Source(id memory.EventID) bool
	// Made reports whether the event's recording or photo was made within [MaxApart] of a time,
	// according to a member that is not a worker.
	Made(id memory.EventID, at time.Time) bool
	// Cited counts the assertions of author with a sequence number before the
	// given one that cite the same evidence: the same utterance, or the same
	// event if the evidence names no utterance. Quarantined assertions count,
	// too, so that every replica counts the same.
	Cited(author memory.MemberID, e memory.Evidence, before uint64) int
	// CountChanges counts the assertions of author, with a sequence number before the
	// given one, that correct, close or archive a memory. Quarantined assertions
	// count as for Cited.
	CountChanges(author memory.MemberID, id memory.ID, before uint64) int
	// Lines counts the lines of author that came before this one, of the same
	// event and in the same count. Quarantined lines count, too, as in Cited.
	Lines(author memory.MemberID, u *memory.Utterance) int
}

// Verdict says what happens to a worker's op.
type Verdict uint8

const (
	Refused  Verdict = iota // the op breaks a rule and is quarantined for good
	Waiting                 // the op is quarantined, and checked again when what it needs comes
	Accepted                // applied
	// Misquoted: the text of an utterance that the op cites differs here. The op
	// is quarantined, and checked again when the text changes. Nothing waits for
	// this.
	Misquoted
)

var verdictNames = [...]string{"refused", "waiting", "accepted", "misquoted"}

// String returns the name of the verdict.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// Accept decides about an op of the member by, whose role is extractor, and
// gives the reason in words. It is a pure function: replicas that know the same
// decide the same. Refused depends on the op and on how much its author said
// before. Waiting depends on something that can still come. Accept does not look at pins, ranks and corrections,
// because they can be taken back; [reconcile.Derive], which knows every
// assertion, decides what a worker's assertion changes. Accept accepts every op
// about something erased, because such an op has no effect.
//
// [reconcile.Derive]:
// https://pkg.go.dev/github.com/locket-dev/locket/memory/reconcile#Derive
func Accept(op *Op, by memory.MemberID, g Grant, known Lookup) (Verdict, string) {
	switch {
	case op.Assertion != nil:
		return acceptAssertion(op.Assertion, g, known)
	case op.Utterance != nil:
		return acceptUtterance(op.Utterance, by, g, known)
	case op.Forget != nil:
		return Refused, "a worker may not forget anything"
	case op.Report != nil:
		if _, err := op.Report.Content(); err != nil {
			return Refused, err.Error()
		}
		return Accepted, ""
	case op.RemovedBodies != nil:
		return Accepted, "" // package replica counts a worker's announcement only for the worker's own bodies
	default:
		return Refused, "a worker may not add blobs"
	}
}

func acceptAssertion(a *memory.Assertion, g Grant, known Lookup) (Verdict, string) {
	if err := a.Validate(); err != nil {
		return Refused, err.Error()
	}
	if a.Rank != memory.RankCloud {
		return Refused, "a worker's claim has to have the lowest rank"
	}
	for _, d := range a.Seen {
		if d.Member != a.Dot.Member {
			return Refused, "a worker may overrule only its own claims"
		}
	}
	switch a.Act {
	case memory.ActPropose:
		if v, why := allowedType(a.Candidate.Type, g); v != Accepted {
			return v, why
		}
		if a.Candidate.Sensitivity < memory.Personal {
			return Refused, "a worker may not make a memory public"
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
			return Refused, "a worker may archive a memory only into one that says the same"
		}
		return mends(a, g, known)
	default:
		return Refused, fmt.Sprintf("a worker may not %s", a.Act)
	}
}

func allowedType(t memory.Type, g Grant) (Verdict, string) {
	if t == memory.Vault {
		return Refused, "a worker may not use the vault"
	}
	if !slices.Contains(g.Types, t) {
		return Refused, fmt.Sprintf("its grant does not include %s memories", t)
	}
	return Accepted, ""
}

// touches checks a memory that an op refers to: an accepted proposal of a type
// in the grant must exist.
func touches(id memory.ID, g Grant, known Lookup) (v Verdict, why string, gone bool) {
	types, gone := known.Proposed(id)
	if gone || slices.ContainsFunc(types, func(t memory.Type) bool { v, _ := allowedType(t, g); return v == Accepted }) {
		return Accepted, "", gone
	}
	return Waiting, "no memory " + id.String() + " of a type of its grant is known here", false
}

// changes checks what a patch sets.
func changes(p *memory.Patch) (Verdict, string) {
	switch {
	case p.Sensitivity != nil && *p.Sensitivity < memory.Personal:
		return Refused, "a worker may not make a memory public"
	case p.Fields != nil && p.Fields.Vault != nil:
		return Refused, "a worker may not use the vault"
	}
	return Accepted, ""
}

// mends checks correct, close and archive. They need no evidence. With an
// archive, a worker that said a thing twice merges one memory into the other. A
// person can undo this with a restore.
func mends(a *memory.Assertion, g Grant, known Lookup) (Verdict, string) {
	if known.CountChanges(a.Dot.Member, a.Memory, a.Dot.Seq) >= MaxChanges {
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

// evidenced checks every piece of evidence against what is known here.
func evidenced(a *memory.Assertion, es []memory.Evidence, g Grant, known Lookup) (Verdict, string) {
	if v, why := pieces(es); v != Accepted {
		return v, why
	}
	limit := cmp.Or(g.PerEvidence, MaxPerEvidence)
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

// Recheck decides about a worker's assertion that was accepted earlier, after the
// knowledge of this replica has changed: the text that the assertion quotes may
// differ now, and the memory that it changes may no longer be proposed. If a
// cited line is missing because it was erased or its retention ended, the
// assertion stays valid. The counts of citations are not checked again.
func Recheck(a *memory.Assertion, g Grant, known Lookup) (Verdict, string) {
	var es []memory.Evidence // evidence that Accept checks
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
		return Refused, "its grant does not include transcription"
	case strings.TrimSpace(u.Text) == "" || u.Event.IsZero() || u.At.IsZero():
		return Refused, "an utterance has a text, an event and a time"
	case !by.OwnsLine(u.ID): // otherwise it could replace another member's line, or be replaced by it
		return Refused, "the line's id is not one of its own"
	}
	if known.Lines(by, u) >= MaxLines {
		return Refused, fmt.Sprintf("it has said %d lines of %s already", MaxLines, u.Event)
	}
	if !known.Source(u.Event) {
		return Waiting, "no recording or photo " + u.Event.String() + " is known here"
	}
	if !known.Made(u.Event, u.At) {
		return Waiting, fmt.Sprintf("%s is more than %s from when %s was made", u.At.UTC().Format(time.RFC3339), MaxApart, u.Event)
	}
	return Accepted, ""
}
