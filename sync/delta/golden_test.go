package delta_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

var update = flag.Bool("update", false, "write testdata/body.json anew; sealed and padded stay what they were otherwise")

type vector struct {
	Header   string     `json:"header"`
	Ops      []delta.Op `json:"ops"`
	Plain    string     `json:"plain"`
	Padded   string     `json:"padded"`
	EpochKey string     `json:"epoch_key"`
	Sealed   string     `json:"sealed"`
}

func goldenOps() []delta.Op {
	h := testHeader()
	at := time.Date(2026, 9, 14, 9, 30, 0, 0, time.UTC)
	ev := memory.EventID{Device: "pin", Boot: 1 << 60, Seq: 41}
	said := memory.ID{0xaa, 1}
	src := memory.Source{Device: "pin", Plugin: "facts", Version: "1.0.0"}
	text, value := "Mei lives in Kunshan.", "Kunshan"
	id := memory.ID{0xbb, 2}
	base := memory.Assertion{Dot: memory.Dot{Member: h.Member, Seq: 7}, Clock: memory.Clock{Wall: at.UnixMilli() + 250, Logical: 3}, Rank: memory.RankDevice,
		Space: h.Space, Memory: id, Source: src}
	propose, correct, untag, erase := base, base, base, base
	propose.Act = memory.ActPropose
	propose.Candidate = &memory.Candidate{Type: memory.Semantic, Text: "Mei lives in Suzhou.", Lang: "en", Owner: memory.Owner{User: "Mei"},
		Slot: &memory.Slot{Subject: "user", Attribute: "home", Value: "Suzhou"}, Fields: memory.Fields{Semantic: &memory.SemanticFields{Subject: "Mei", Predicate: "home", Object: "Suzhou"}},
		Entities: []memory.Entity{{Name: "Suzhou", Kind: "place"}}, Tags: []string{"home"}, Metadata: memory.Metadata{"b": "2", "a": "1"},
		Evidence: []memory.Evidence{{Event: ev, Utterance: said, Speaker: "Mei", At: at, Excerpt: "I moved to Suzhou", Start: 6, End: 23}},
		Source:   src, Confidence: 0.92, Sensitivity: memory.Personal, TrueFrom: at.Add(-24*time.Hour + 1500*time.Nanosecond)}
	correct.Dot.Seq, correct.Rank, correct.Act, correct.Source = 8, memory.RankPerson, memory.ActCorrect, memory.Source{Plugin: "person"}
	correct.Patch = &memory.Patch{Text: &text, Value: &value, Validity: &memory.Validity{From: at}}
	correct.Reason = "misheard"
	untag.Dot.Seq, untag.Act, untag.Tags, untag.Seen = 9, memory.ActUntag, []string{"home"}, []memory.Dot{{Member: h.Member, Seq: 7}, {Member: memory.MemberID{9}, Seq: 1}}
	erase.Dot.Seq, erase.Rank, erase.Act, erase.Source = 12, memory.RankPerson, memory.ActErase, memory.Source{}
	ops := []delta.Op{
		{Utterance: &memory.Utterance{ID: said, Space: h.Space, Event: ev, Session: "s1", At: at, Zone: "Asia/Shanghai", Speaker: "Mei", Lang: "en",
			Text: "Well, I moved to Suzhou.", Source: memory.Source{Device: "pin"}, Place: "Home", Redacted: 1, Received: at.Add(90*time.Second + 2*time.Microsecond)}},
		{Assertion: &propose}, {Assertion: &correct}, {Assertion: &untag}, {Assertion: &erase},
		{Forget: &delta.Forget{Memories: []memory.ID{id}, Utterances: []memory.ID{said}, Events: []memory.EventID{ev}}},
		{RemovedBodies: []delta.Place{{Member: memory.MemberID{1}, Position: envelope.Position{Incarnation: 7, Seq: 1}}, {Member: memory.MemberID{1}, Position: envelope.Position{Incarnation: 7, Seq: 3}}}},
		{Blob: &delta.Blob{Name: "photo", Sealed: randomLike("blob"), Size: 1040, MediaType: "image/jpeg", Key: bytes.Repeat([]byte{5}, 32), Event: ev, Plain: 1000}},
		{Report: &delta.Report{Number: 3, Text: `{"at":"2026-09-14T09:31:00Z","work":[{"kind":"read","waiting":1,"done":2,"parked":0}]}`}},
	}
	return append(ops, goldenTypes(base, at)...)
}

// goldenTypes has what the first ops lack: the other types of memory, acts and patches, and numbers
// that are not multiples of a thousandth.
func goldenTypes(base memory.Assertion, at time.Time) (ops []delta.Op) {
	seq := uint64(12)
	say := func(act memory.Act, edit func(*memory.Assertion)) {
		a := base
		seq++
		a.Dot.Seq, a.Act, a.Rank, a.Memory, a.Clock = seq, act, memory.RankPerson, memory.ID{0xcc, byte(seq)}, memory.Clock{Wall: at.UnixMilli() - int64(seq)}
		edit(&a)
		ops = append(ops, delta.Op{Assertion: &a})
	}
	propose := func(kind memory.Type, f memory.Fields, edit func(*memory.Candidate)) {
		say(memory.ActPropose, func(a *memory.Assertion) {
			a.Candidate = &memory.Candidate{Type: kind, Text: "Of type " + string(kind), Owner: memory.Owner{User: "Mei", Agent: "planner", Run: "7"}, Fields: f,
				Source: a.Source, Confidence: 1}
			edit(a.Candidate)
		})
	}
	propose(memory.Core, memory.Fields{Core: &memory.CoreFields{Block: "human", Limit: 2000}}, func(c *memory.Candidate) { c.Source = memory.Source{} })
	propose(memory.Episodic, memory.Fields{Episodic: &memory.EpisodicFields{EventType: "visit", Details: "long", Actor: "Mei", Place: "Lyon", Started: at, Ended: at.Add(time.Hour)}},
		func(c *memory.Candidate) {
			c.TrueFrom, c.TrueTo, c.Expires = at, at.Add(time.Hour), at.Add(24*time.Hour)
		})
	propose(memory.Procedural, memory.Fields{Procedural: &memory.ProceduralFields{EntryType: "guide", Description: "tea", Steps: []string{"Boil the water.", "Wait."}}},
		func(c *memory.Candidate) { c.Source = memory.Source{Plugin: "howto", Model: "m"} })
	propose(memory.Resource, memory.Fields{Resource: &memory.ResourceFields{Title: "A page", MediaType: "text/markdown", Content: "# A page", Blob: "page", Hash: "00ff00ff00ff00ff", Sharpness: 0.3333}},
		func(c *memory.Candidate) { c.Links = []memory.Link{{Relation: "of", To: "Mei"}} })
	propose(memory.Vault, memory.Fields{Vault: &memory.VaultFields{EntryType: "pin", Label: "door", Sealed: []byte("sealed")}}, func(c *memory.Candidate) { c.Sensitivity = memory.Secret })
	propose(memory.Semantic, memory.Fields{}, func(c *memory.Candidate) {
		c.Slot, c.Negates, c.Confidence = &memory.Slot{Subject: "user", Attribute: "likes", Value: "tea", Many: true}, true, 1.0/3
	})
	say(memory.ActReinforce, func(a *memory.Assertion) {
		a.Evidence = []memory.Evidence{{Event: memory.EventID{Device: "pin", Seq: 1}, Excerpt: "tea", Start: 4, End: 9}, {Event: memory.EventID{Device: "pin", Boot: 1}}}
	})
	say(memory.ActCorrect, func(a *memory.Assertion) {
		secret := memory.Secret
		a.Patch = &memory.Patch{Fields: &memory.Fields{}, Metadata: &memory.Metadata{}, Sensitivity: &secret}
	})
	say(memory.ActClose, func(a *memory.Assertion) { a.Patch = &memory.Patch{Validity: &memory.Validity{To: at}} })
	say(memory.ActArchive, func(a *memory.Assertion) { a.Into = memory.ID{0xdd} })
	say(memory.ActWithdraw, func(a *memory.Assertion) { a.Seen = []memory.Dot{{Member: memory.MemberID{9}, Seq: 1}} })
	for _, act := range []memory.Act{memory.ActPin, memory.ActUnpin, memory.ActRestore} {
		say(act, func(*memory.Assertion) {})
	}
	say(memory.ActTag, func(a *memory.Assertion) { a.Tags = []string{"tea", "茶"} })
	return ops
}

func TestGolden(t *testing.T) {
	const path = "testdata/body.json"
	h := testHeader()
	epoch := sha256.Sum256([]byte("locket test epoch"))
	key, err := seal.KeyFromBytes(epoch[:])
	if err != nil {
		t.Fatal(err)
	}
	plain, err := delta.Plain(h, goldenOps())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		padded, err := delta.Encode(h, goldenOps())
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := seal.SealBody(key, padded)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.MarshalIndent(vector{hex.EncodeToString(h.Bytes()), goldenOps(), hex.EncodeToString(plain), hex.EncodeToString(padded),
			hex.EncodeToString(epoch[:]), hex.EncodeToString(sealed)}, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v vector
	if err := json.Unmarshal(file, &v); err != nil {
		t.Fatal(err)
	}
	if v.Plain != hex.EncodeToString(plain) || v.Header != hex.EncodeToString(h.Bytes()) {
		t.Error("what is encoded today is not what was encoded")
	}
	sealed, err := hex.DecodeString(v.Sealed)
	if err != nil {
		t.Fatal(err)
	}
	padded, err := seal.OpenBody(key, sealed)
	if err != nil || hex.EncodeToString(padded) != v.Padded {
		t.Fatalf("sealed: %v", err)
	}
	ops, err := delta.Decode(&h, padded)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(ops)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(v.Ops)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("decoded\n%s\nwant\n%s", got, want)
	}
	again, err := delta.Plain(h, v.Ops)
	if err != nil || !bytes.Equal(again, plain) {
		t.Errorf("the file's ops encode otherwise: %v", err)
	}
}

// The dictionary in the tree must be the one with which bodies were sealed.
func TestDictionaryIsUnchanged(t *testing.T) {
	b, err := os.ReadFile("dictionary.1")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("dictionary.1.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if got := sha256.Sum256(b); !strings.HasPrefix(string(sum), hex.EncodeToString(got[:])+"  ") {
		t.Errorf("dictionary.1 is %x", got)
	}
}
