package delta

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

// facts is what a replica knows.
type facts struct {
	proposed   map[memory.ID][]memory.Type
	gone       map[memory.ID]bool
	utterances map[memory.ID]*memory.Utterance
	sources    map[memory.EventID]time.Time // when it was made
	cited      int
	changed    int
	lines      int
}

func (s facts) Proposed(id memory.ID) ([]memory.Type, bool) { return s.proposed[id], s.gone[id] }
func (s facts) Utterance(id memory.ID) (*memory.Utterance, bool) {
	u, ok := s.utterances[id]
	return u, ok
}
func (s facts) Source(id memory.EventID) bool { return !s.sources[id].IsZero() }
func (s facts) Made(id memory.EventID, at time.Time) bool {
	return at.Sub(s.sources[id]).Abs() <= MaxApart
}
func (s facts) Lines(memory.MemberID, *memory.Utterance) int { return s.lines }
func (s facts) Cited(memory.MemberID, memory.Evidence, uint64) int {
	return s.cited
}
func (s facts) CountChanges(memory.MemberID, memory.ID, uint64) int { return s.changed }

var (
	workerID  = memory.MemberID{7}
	personID  = memory.MemberID{8}
	saidEvent = memory.EventID{Device: "pin", Boot: 1, Seq: 5}
	recording = memory.EventID{Device: "pin", Boot: 1, Seq: 6}
	made      = time.Date(2026, 9, 14, 9, 0, 0, 0, time.UTC)
	said      = memory.ID{0x10}
	heard     = workerID.LineID(memory.ID{8: 5})
	known     = memory.ID{0x20}
	secret    = memory.ID{0x22}
	erased    = memory.ID{0x23}
	episode   = memory.ID{0x24}
	twoKinds  = memory.ID{0x25}
)

func knownFacts() facts {
	s := facts{
		proposed:   map[memory.ID][]memory.Type{known: {memory.Semantic}, secret: {memory.Vault}, episode: {memory.Episodic}, twoKinds: {memory.Episodic, memory.Semantic}},
		gone:       map[memory.ID]bool{erased: true},
		utterances: map[memory.ID]*memory.Utterance{said: {ID: said, Event: saidEvent, Text: "I moved to Suzhou in May."}},
		sources:    map[memory.EventID]time.Time{recording: made},
	}
	return s
}

func aProposal() *memory.Assertion {
	return &memory.Assertion{Dot: memory.Dot{Member: workerID, Seq: 3}, Clock: memory.Clock{Wall: 1}, Rank: memory.RankCloud, Space: memory.SpaceID{1},
		Memory: memory.ID{0x30}, Act: memory.ActPropose, Candidate: &memory.Candidate{Type: memory.Semantic, Text: "Mei lives in Suzhou.",
			Owner: memory.Owner{User: "Mei"}, Sensitivity: memory.Personal,
			Evidence: []memory.Evidence{{Event: saidEvent, Utterance: said, At: time.UnixMilli(1), Excerpt: "moved to Suzhou"}}}}
}

func otherAct(act memory.Act, id memory.ID) *memory.Assertion {
	a := aProposal()
	a.Act, a.Memory, a.Candidate = act, id, nil
	return a
}

func putAway(id, into memory.ID) *memory.Assertion {
	a := otherAct(memory.ActArchive, id)
	a.Into = into
	return a
}

func aLine(at time.Time) Op {
	return Op{Utterance: &memory.Utterance{ID: heard, Event: recording, At: at, Text: "so"}}
}

func TestAccept(t *testing.T) {
	grant := Grant{Types: []memory.Type{memory.Semantic, memory.Vault}, Transcribe: true}
	evidence := aProposal().Candidate.Evidence
	closing := &memory.Patch{Validity: &memory.Validity{To: time.UnixMilli(5)}}
	var vectors []acceptVector
	for _, c := range []struct {
		name string
		op   Op
		set  func(*memory.Assertion, *facts, *Grant)
		want Verdict
		why  string
	}{
		{name: "a proposal", want: Accepted},
		{name: "rank of a device", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Rank = memory.RankDevice }, why: "lowest rank"},
		{name: "rank of a person", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Rank = memory.RankPerson }, why: "lowest rank"},
		{name: "overrules a person", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Seen = []memory.Dot{{Member: personID, Seq: 1}} }, why: "overrule only"},
		{name: "overrules itself", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Seen = []memory.Dot{{Member: workerID, Seq: 1}} }, want: Accepted},
		{name: "a type not granted", set: func(a *memory.Assertion, _ *facts, g *Grant) { g.Types = []memory.Type{memory.Episodic} }, why: "not include semantic"},
		{name: "the vault, even if granted", set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Candidate.Type, a.Candidate.Fields.Vault = memory.Vault, &memory.VaultFields{Label: "x", Sealed: []byte{1}}
		}, why: "vault"},
		{name: "no evidence", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Candidate.Evidence = nil }, why: "0 pieces"},
		{name: "too much evidence", set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Candidate.Evidence = make([]memory.Evidence, memory.MaxEvidence+1)
		}, why: "pieces"},
		{name: "evidence of nothing", set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Candidate.Evidence = []memory.Evidence{{Excerpt: "moved"}}
		}, why: "neither"},
		{name: "an utterance that isn't here", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Candidate.Evidence[0].Utterance = memory.ID{9} }, want: Waiting, why: "no utterance"},
		{name: "a recording", set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Candidate.Evidence = []memory.Evidence{{Event: recording, Excerpt: "heard"}}
		}, want: Accepted},
		{name: "a recording that isn't here", set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Candidate.Evidence = []memory.Evidence{{Event: saidEvent, Excerpt: "heard"}}
		}, want: Waiting, why: "no recording"},
		{name: "the utterance of another event", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Candidate.Evidence[0].Event = recording }, want: Misquoted, why: "another event"},
		{name: "quotes nothing", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Candidate.Evidence[0].Excerpt = "" }, why: "quotes nothing"},
		{name: "quotes what was not said", set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Candidate.Evidence[0].Excerpt = "moved to Berlin"
		}, want: Misquoted, why: "not in the utterance"},
		{name: "one good piece, one made up", set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Candidate.Evidence = append(a.Candidate.Evidence, memory.Evidence{Utterance: said, Excerpt: "never"})
		}, want: Misquoted, why: "evidence 2"},
		{name: "the sixteenth", set: func(_ *memory.Assertion, s *facts, _ *Grant) { s.cited = 15 }, want: Accepted},
		{name: "the seventeenth", set: func(_ *memory.Assertion, s *facts, _ *Grant) { s.cited = 16 }, why: "cited 16 times"},
		{name: "over its own grant's number", set: func(_ *memory.Assertion, s *facts, g *Grant) { s.cited, g.PerEvidence = 2, 2 }, why: "cited 2 times"},
		{name: "not valid", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Candidate.Text = "" }, why: "empty"},
		{name: "proposes what is public", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Candidate.Sensitivity = memory.Public }, why: "public"},
		{name: "proposes what was erased", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Memory = erased }, want: Accepted},
		{name: "proposes what was erased, citing what isn't here", set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Memory, a.Candidate.Evidence[0].Utterance = erased, memory.ID{9}
		}, want: Accepted},
		{name: "proposes what is known in another type", set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Memory = episode }, want: Accepted},

		{name: "reinforces", op: Op{Assertion: otherAct(memory.ActReinforce, known)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Evidence = evidence }, want: Accepted},
		{name: "reinforces without evidence", op: Op{Assertion: otherAct(memory.ActReinforce, known)}, why: "0 pieces"},
		{name: "reinforces what was erased without evidence", op: Op{Assertion: otherAct(memory.ActReinforce, erased)}, why: "0 pieces"},
		{name: "reinforces what isn't here", op: Op{Assertion: otherAct(memory.ActReinforce, memory.ID{0x77})}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Evidence = evidence }, want: Waiting, why: "is known here"},
		{name: "reinforces another type's", op: Op{Assertion: otherAct(memory.ActReinforce, episode)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Evidence = evidence }, want: Waiting, why: "of its grant"},
		{name: "reinforces what was never said", op: Op{Assertion: otherAct(memory.ActReinforce, known)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Evidence = []memory.Evidence{{Utterance: said, Excerpt: "never"}}
		}, want: Misquoted, why: "not in the utterance"},
		{name: "corrects", op: Op{Assertion: otherAct(memory.ActCorrect, known)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Patch = &memory.Patch{Text: new("x")} }, want: Accepted},
		{name: "corrects what isn't here", op: Op{Assertion: otherAct(memory.ActCorrect, memory.ID{0x77})}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Patch = &memory.Patch{Text: new("x")} }, want: Waiting, why: "is known here"},
		{name: "corrects another type's", op: Op{Assertion: otherAct(memory.ActCorrect, episode)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Patch = &memory.Patch{Text: new("x")} }, want: Waiting, why: "of its grant"},
		{name: "corrects what is of its type, too", op: Op{Assertion: otherAct(memory.ActCorrect, twoKinds)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Patch = &memory.Patch{Text: new("x")} }, want: Accepted},
		{name: "corrects what was erased", op: Op{Assertion: otherAct(memory.ActCorrect, erased)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Patch = &memory.Patch{Text: new("x")} }, want: Accepted},
		{name: "the 128th change", op: Op{Assertion: otherAct(memory.ActCorrect, known)}, set: func(a *memory.Assertion, s *facts, _ *Grant) {
			a.Patch, s.changed = &memory.Patch{Text: new("x")}, 127
		}, want: Accepted},
		{name: "the 129th change", op: Op{Assertion: otherAct(memory.ActCorrect, known)}, set: func(a *memory.Assertion, s *facts, _ *Grant) {
			a.Patch, s.changed = &memory.Patch{Text: new("x")}, 128
		}, why: "128 times"},
		{name: "makes it public", op: Op{Assertion: otherAct(memory.ActCorrect, known)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Patch = &memory.Patch{Sensitivity: new(memory.Public)}
		}, why: "public"},
		{name: "makes it secret", op: Op{Assertion: otherAct(memory.ActCorrect, known)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Patch = &memory.Patch{Sensitivity: new(memory.Secret)}
		}, want: Accepted},
		{name: "puts vault fields in", op: Op{Assertion: otherAct(memory.ActCorrect, known)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) {
			a.Patch = &memory.Patch{Fields: &memory.Fields{Vault: &memory.VaultFields{}}}
		}, why: "vault"},
		{name: "closes", op: Op{Assertion: otherAct(memory.ActClose, known)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Patch = closing }, want: Accepted},
		{name: "closes in the vault", op: Op{Assertion: otherAct(memory.ActClose, secret)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Patch = closing }, want: Waiting, why: "of its grant"},
		{name: "closes once too often", op: Op{Assertion: otherAct(memory.ActClose, known)}, set: func(a *memory.Assertion, s *facts, _ *Grant) { a.Patch, s.changed = closing, 128 }, why: "128 times"},
		{name: "pins", op: Op{Assertion: otherAct(memory.ActPin, known)}, why: "may not pin"},
		{name: "unpins", op: Op{Assertion: otherAct(memory.ActUnpin, known)}, why: "may not unpin"},
		{name: "archives", op: Op{Assertion: otherAct(memory.ActArchive, known)}, why: "may archive a memory only"},
		{name: "archives into another", op: Op{Assertion: putAway(known, twoKinds)}, want: Accepted},
		{name: "archives another type's", op: Op{Assertion: putAway(episode, known)}, want: Waiting, why: "of its grant"},
		{name: "archives into another type's", op: Op{Assertion: putAway(known, episode)}, want: Waiting, why: "of its grant"},
		{name: "archives into what was erased", op: Op{Assertion: putAway(known, erased)}, want: Accepted},
		{name: "archives what is of the vault", op: Op{Assertion: putAway(secret, known)}, want: Waiting, why: "of its grant"},
		{name: "archives once too often", op: Op{Assertion: putAway(known, twoKinds)}, set: func(_ *memory.Assertion, s *facts, _ *Grant) { s.changed = 128 }, why: "128 times"},
		{name: "archives into nothing known", op: Op{Assertion: putAway(known, memory.ID{99})}, want: Waiting, why: "is known here"},
		{name: "restores", op: Op{Assertion: otherAct(memory.ActRestore, known)}, why: "may not restore"},
		{name: "tags", op: Op{Assertion: otherAct(memory.ActTag, known)}, why: "may not tag"},
		{name: "untags", op: Op{Assertion: otherAct(memory.ActUntag, known)}, why: "may not untag"},
		{name: "erases as a worker", op: Op{Assertion: otherAct(memory.ActErase, known)}, why: "person"},
		{name: "erases as a person", op: Op{Assertion: otherAct(memory.ActErase, known)}, set: func(a *memory.Assertion, _ *facts, _ *Grant) { a.Rank = memory.RankPerson }, why: "lowest rank"},

		{name: "forgets", op: Op{Forget: &Forget{Memories: []memory.ID{known}}}, why: "may not forget"},
		{name: "adds a blob", op: Op{Blob: &Blob{}}, why: "may not add blobs"},
		{name: "transcribes", op: aLine(made), want: Accepted},
		{name: "transcribes without a grant", op: aLine(made), set: func(_ *memory.Assertion, _ *facts, g *Grant) { g.Transcribe = false }, why: "does not include transcription"},
		{name: "transcribes what isn't here", op: Op{Utterance: &memory.Utterance{ID: heard, Event: memory.EventID{Device: "x"}, At: made, Text: "so"}}, want: Waiting, why: "no recording"},
		{name: "transcribes silence", op: Op{Utterance: &memory.Utterance{ID: heard, Event: recording, At: made, Text: " "}}, why: "has a text"},
		{name: "hears a voice message", op: Op{Utterance: &memory.Utterance{ID: heard, Event: saidEvent, At: made, Text: "I moved to Berlin."}}, want: Waiting, why: "no recording"},
		{name: "rewrites what was said", op: Op{Utterance: &memory.Utterance{ID: said, Event: recording, At: made, Text: "I moved to Berlin."}}, why: "not one of its own"},
		{name: "rewrites what another worker heard", op: Op{Utterance: &memory.Utterance{ID: memory.MemberID{6}.LineID(heard), Event: recording, At: made, Text: "so", Redacted: 9}},
			why: "not one of its own"},
		{name: "transcribes at no time", op: aLine(time.Time{}), why: "a time"},
		{name: "transcribes a day later", op: aLine(made.Add(MaxApart)), want: Accepted},
		{name: "transcribes a day and more later", op: aLine(made.Add(MaxApart + time.Millisecond)), want: Waiting, why: "more than 24h"},
		{name: "transcribes a day and more before", op: aLine(made.Add(-MaxApart - time.Millisecond)), want: Waiting, why: "more than 24h"},
		{name: "transcribes in the year 9000", op: aLine(time.Date(9000, 1, 1, 0, 0, 0, 0, time.UTC)), want: Waiting, why: "9000-01-01T00:00:00Z is more than 24h"},
		{name: "the 256th line of a count", op: aLine(made), set: func(_ *memory.Assertion, s *facts, _ *Grant) { s.lines = 255 }, want: Accepted},
		{name: "the 257th line of a count", op: aLine(made), set: func(_ *memory.Assertion, s *facts, _ *Grant) { s.lines = 256 }, why: "256 lines of pin/1/6 already"},
		{name: "the 257th line of a count, of a recording that isn't here", op: Op{Utterance: &memory.Utterance{ID: heard, Event: saidEvent, At: made, Text: "so"}},
			set: func(_ *memory.Assertion, s *facts, _ *Grant) { s.lines = 256 }, why: "256 lines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, g, op := knownFacts(), grant, c.op
			if reflect.DeepEqual(op, Op{}) {
				op.Assertion = aProposal()
			}
			if c.set != nil {
				c.set(op.Assertion, &s, &g)
			}
			got, why := Accept(&op, workerID, g, s)
			if op.Report == nil { // whose form is that of JSON
				vectors = append(vectors, vectorOf(c.name, &op, g, &s, got))
			}
			if got != c.want || !strings.Contains(why, c.why) || (got == Accepted) != (why == "") {
				t.Errorf("%s: %q, want %s: %q", got, why, c.want, c.why)
			}
		})
	}
	if v, _ := Accept(&Op{Assertion: aProposal()}, workerID, Grant{}, knownFacts()); v == Accepted {
		t.Error("the zero grant allows something")
	}
	checkVectors(t, vectors)
}

func TestGrantBytes(t *testing.T) {
	for _, g := range []Grant{{}, {Types: []memory.Type{memory.Episodic, memory.Semantic}, Transcribe: true, PerEvidence: 4}} {
		got, err := ParseGrant(g.Bytes())
		if err != nil || string(got.Bytes()) != string(g.Bytes()) {
			t.Errorf("%+v: %+v, %v", g, got, err)
		}
	}
	for _, b := range []string{"", "\xa1\x02\xf4", "\xa1\x04\x01", "\xa1\x01\x81\x61x", "\xa1\x03\x20", "\xa0\x00"} {
		if _, err := ParseGrant([]byte(b)); err == nil {
			t.Errorf("took %x", b)
		}
	}
}
