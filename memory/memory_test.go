package memory

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestIDs(t *testing.T) {
	ev := EventID{Device: "pin", Boot: 3, Seq: 17}
	id := DeriveID([]byte("key"), ev, "facts", "home")
	if id != DeriveID([]byte("key"), ev, "facts", "home") {
		t.Error("the same event gives another id")
	}
	for name, other := range map[string]ID{
		"key": DeriveID([]byte("kez"), ev, "facts", "home"), "event": DeriveID([]byte("key"), EventID{"pin", 3, 18}, "facts", "home"),
		"plugin": DeriveID([]byte("key"), ev, "fact", "shome"), "fingerprint": DeriveID([]byte("key"), ev, "facts", "homes"),
	} {
		if other == id {
			t.Errorf("another %s gives the same id", name)
		}
	}
	if back, err := ParseID(strings.ToUpper(id.String())); err != nil || back != id {
		t.Errorf("%s came back as %s, %v", id, back, err)
	}
	for _, bad := range []string{"", "abc", id.String() + "0", strings.Repeat("u", 26), strings.Repeat("z", 26)} {
		if _, err := ParseID(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if back, err := ParseEventID(ev.String()); err != nil || back != ev {
		t.Errorf("%s came back as %s, %v", ev, back, err)
	}
	for _, bad := range []string{"", "pin", "pin/1", "/1/2", "pin/-1/2", "pin/1/x", "pin/1/2/3"} {
		if _, err := ParseEventID(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	var m MemberID
	if err := m.UnmarshalText([]byte("0123456789abcdef")); err != nil || m.String() != "0123456789abcdef" {
		t.Errorf("member: %s, %v", m, err)
	}
	b, err := json.Marshal(Evidence{At: time.Unix(0, 0).UTC()})
	if err != nil || strings.Contains(string(b), "event") {
		t.Errorf("evidence without an event: %s, %v", b, err)
	}
}

func TestNormal(t *testing.T) {
	for in, want := range map[string]string{"  Don't  STOP! ": "dont stop", "我搬到上海了。": "我搬到上海了", "a-b_c": "a b c", "…": "", "Café 9": "café 9"} {
		if got := Normal(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A clock only grows, and follows other clocks unless they are far ahead.
func TestTicker(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	c := Ticker{Now: func() time.Time { return now }}
	a, b := c.Tick(), c.Tick()
	if a.Compare(b) >= 0 {
		t.Errorf("%v then %v", a, b)
	}
	now = now.Add(-time.Hour) // the wall clock was put back
	if d := c.Tick(); b.Compare(d) >= 0 {
		t.Errorf("%v then %v", b, d)
	}
	near := Clock{Wall: 1_000_000 + 1000}
	now = time.UnixMilli(1_000_000)
	c.Observe(near)
	if d := c.Tick(); near.Compare(d) >= 0 {
		t.Errorf("%v was seen, then %v", near, d)
	}
	far := Clock{Wall: now.Add(MaxAhead + time.Second).UnixMilli()}
	c.Observe(far)
	if d := c.Tick(); d.Compare(far) >= 0 {
		t.Errorf("a clock that is far ahead was adopted: %v", d)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	good := func() Candidate {
		return Candidate{Type: Semantic, Text: "Ana lives in Lisbon", Owner: Owner{User: "ana"}, Confidence: .5, Slot: &Slot{Subject: "user", Attribute: "home", Value: "Lisbon"}}
	}
	c := good()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(*Candidate){
		"text":                func(c *Candidate) { c.Text = "" },
		"text: not UTF-8":     func(c *Candidate) { c.Text = "\xff" },
		"text: 65537":         func(c *Candidate) { c.Text = strings.Repeat("x", MaxText+1) },
		"owner.user":          func(c *Candidate) { c.Owner.User = "" },
		"confidence":          func(c *Candidate) { c.Confidence = math.NaN() },
		"sensitivity":         func(c *Candidate) { c.Sensitivity = 9 },
		"true_to":             func(c *Candidate) { c.TrueFrom, c.TrueTo = time.Unix(2, 0), time.Unix(1, 0) },
		"true_from: the year": func(c *Candidate) { c.TrueFrom = time.Date(-974, 1, 1, 0, 0, 0, 0, time.UTC) },
		"expires: the year":   func(c *Candidate) { c.Expires = time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -36000)) },
		"evidence[0].at: the": func(c *Candidate) {
			c.Evidence = []Evidence{{At: time.Date(0, 1, 1, 0, 0, 0, 0, time.FixedZone("", 36000))}}
		},
		"fields.episodic.started": func(c *Candidate) {
			c.Type, c.Fields.Episodic = Episodic, &EpisodicFields{Started: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}
		},
		"slot: subject":           func(c *Candidate) { c.Slot.Attribute = "?" },
		"slot.value":              func(c *Candidate) { c.Slot.Value = "" },
		"evidence[0].excerpt":     func(c *Candidate) { c.Evidence = []Evidence{{Excerpt: strings.Repeat("x", MaxExcerpt+1)}} },
		"tags[1]":                 func(c *Candidate) { c.Tags = []string{"a", strings.Repeat("x", MaxName+1)} },
		"type":                    func(c *Candidate) { c.Type = "gossip" },
		"fields.vault":            func(c *Candidate) { c.Fields.Vault = &VaultFields{} },
		"fields.procedural.steps": func(c *Candidate) { c.Type, c.Fields.Procedural = Procedural, &ProceduralFields{} },
		"fields.core":             func(c *Candidate) { c.Type = Core },
		"fields.resource":         func(c *Candidate) { c.Type = Resource },
	} {
		c := good()
		spoil(&c)
		if err := c.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	far := Assertion{Dot: Dot{Seq: 1}, Rank: RankDevice, Space: SpaceID{1}, Memory: ID{1}, Act: ActClose, Patch: &Patch{Validity: &Validity{To: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)}}}
	if err := far.Validate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("an end that can't be written down: %v", err)
	}
	erase := Assertion{Dot: Dot{Seq: 1}, Rank: RankDevice, Space: SpaceID{1}, Memory: ID{1}, Act: ActErase}
	if err := erase.Validate(); !errors.Is(err, ErrInvalid) {
		t.Errorf("a machine erases: %v", err)
	}
}

func TestGapReason(t *testing.T) {
	for _, c := range []struct {
		missing *Range
		why     string
		says    string
	}{
		{nil, "", "the device lost messages"},
		{nil, "flat: 12 %", "the device lost messages: flat: 12 %"},
		{&Range{6, 12}, "", "the device lost messages 6 to 12"},
		{&Range{6, 12}, "out of range", "the device lost messages 6 to 12: out of range"},
	} {
		says := GapReason(c.missing, c.why)
		missing, why, ok := ReadGap(says)
		if says != c.says || !ok || why != c.why || (missing == nil) != (c.missing == nil) || missing != nil && *missing != *c.missing {
			t.Errorf("%q, read as %v %q %v", says, missing, why, ok)
		}
	}
	if _, _, ok := ReadGap("2.0 s of a voice that nobody enrolled or named were not kept"); ok {
		t.Error("what was left out is no loss")
	}
}

// A memory without a beginning of its own is not true before it happened or was said.
func TestTrueAt(t *testing.T) {
	said := time.Date(2026, 9, 14, 13, 0, 0, 0, time.UTC)
	day := 24 * time.Hour
	for _, c := range []struct {
		from, started, to, asked time.Time
		want                     bool
	}{
		{asked: said.Add(-day)},
		{asked: said.Add(day), want: true},
		{started: said.Add(3 * day), asked: said.Add(-day)}, // nobody had planned it
		{started: said.Add(3 * day), asked: said.Add(day), want: true},
		{started: said.Add(-3 * day), asked: said.Add(-day), want: true}, // it had happened
		{started: said.Add(-3 * day), asked: said.Add(-4 * day)},
		{to: said.Add(day), asked: said.Add(2 * day)},
		{from: said.Add(-9 * day), asked: said.Add(-5 * day), want: true},
	} {
		m := Memory{Candidate: Candidate{Type: Episodic, TrueFrom: c.from, TrueTo: c.to, Evidence: []Evidence{{At: said}}, Fields: Fields{Episodic: &EpisodicFields{Started: c.started}}}}
		if got := m.TrueAt(c.asked); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
