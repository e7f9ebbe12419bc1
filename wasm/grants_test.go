package wasm

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"crypto/sha256"

	"github.com/locket-dev/locket/wasm/abi"
)

func candidate(f func(c *abi.Candidate)) *abi.Output {
	c := abi.Candidate{Type: "semantic", Text: "It is so.", Confidence: 0.5, Sensitivity: "personal",
		Spans: []abi.Span{{Start: 0, End: 5}}}
	f(&c)
	return &abi.Output{Candidates: []abi.Candidate{c}}
}

// TestThreatLyingPlugin: anything that was not granted makes the host refuse the entire answer, and
// name the place; with the grant it passes.
func TestThreatLyingPlugin(t *testing.T) {
	vault := func(c *abi.Candidate) { c.Type, c.Secret, c.Label = "vault", "hunter2", "wifi" }
	for _, c := range []struct {
		grant Capability
		out   *abi.Output
		place string
	}{
		{CapVault, candidate(vault), "output.candidates[0].type"},
		{CapState, &abi.Output{State: []byte("x")}, "output.state"},
		{CapRedact, &abi.Output{Redactions: []abi.Redaction{{Span: abi.Span{Start: 0, End: 5}, Kind: "password"}}}, "output.redactions[0]"},
		{CapDerive, &abi.Output{Derived: []abi.Derived{{Kind: "utterance", From: -16000}}}, "output.derived[0]"},
	} {
		t.Run(string(c.grant), func(t *testing.T) {
			h := newHost(t, Options{})
			a := answering(abi.AppendOutput(nil, c.out))
			_, _, err := ask(t, h, a, testManifest())
			var e *abi.Error
			if !errors.Is(err, ErrOutput) || !errors.As(err, &e) || e.Code != abi.CodeGrant || e.Place != c.place {
				t.Errorf("without the grant: %v", err)
			}
			m, e2 := testManifest(c.grant), someText()
			if c.grant == CapDerive { // no utterance can be derived from a text
				m.Kinds, e2.Kind = []string{"audio"}, "audio"
			}
			out, u, err := mustLoad(t, h, a, m).Extract(context.Background(), e2)
			if err != nil || out.Empty() || len(u.Dropped) > 0 {
				t.Errorf("with the grant: %+v, %+v, %v", out, u, err)
			}
		})
	}
	secret := candidate(func(c *abi.Candidate) { c.Secret = "hunter2" })
	if _, _, err := ask(t, newHost(t, Options{}), answering(abi.AppendOutput(nil, secret)), testManifest(CapVault)); !errors.Is(err, ErrOutput) {
		t.Errorf("a secret outside of the vault: %v", err)
	}
	core := candidate(func(c *abi.Candidate) { c.Type = "core" })
	if _, _, err := ask(t, newHost(t, Options{}), answering(abi.AppendOutput(nil, core)), testManifest()); !errors.Is(err, ErrOutput) {
		t.Errorf("a type that it may not propose: %v", err)
	}
}

// TestDerivedKinds: utterances are derived from sound, and texts from utterances; nothing is
// derived from its own kind, or leads back to it.
func TestDerivedKinds(t *testing.T) {
	for _, from := range eventKinds {
		for _, to := range append([]string{""}, eventKinds...) {
			m := testManifest(CapDerive)
			m.Kinds = []string{from}
			a := answering(abi.AppendOutput(nil, &abi.Output{Derived: []abi.Derived{{Kind: to, Text: "x"}}}))
			e := someText()
			e.Kind = from
			_, _, err := mustLoad(t, newHost(t, Options{}), a, m).Extract(context.Background(), e)
			want := from == "audio" && to == "utterance" || from == "utterance" && to == "text"
			var refused *abi.Error
			if want != (err == nil) || !want && (!errors.As(err, &refused) || refused.Code != abi.CodeUnknown) {
				t.Errorf("%s gives %q: %v", from, to, err)
			}
		}
	}
}

// TestInvalidCandidateIsDropped: an invalid candidate is left out; the one beside it stays.
func TestInvalidCandidateIsDropped(t *testing.T) {
	good := candidate(func(*abi.Candidate) {}).Candidates[0]
	for name, spoil := range map[string]func(c *abi.Candidate){
		"type":        func(c *abi.Candidate) { c.Type = "gossip" },
		"text":        func(c *abi.Candidate) { c.Text = "" },
		"confidence":  func(c *abi.Candidate) { c.Confidence = 1.5 },
		"sensitivity": func(c *abi.Candidate) { c.Sensitivity = "cosmic" },
		"spans[0]":    func(c *abi.Candidate) { c.Spans[0].End = 12 },
		"spans[1]":    func(c *abi.Candidate) { c.Spans = append(c.Spans, abi.Span{Turn: -1, End: 1}) },
		"spans[2]":    func(c *abi.Candidate) { c.Spans = append(c.Spans, c.Spans[0], abi.Span{Turn: 1, End: 1}) },
		"true_to":     func(c *abi.Candidate) { c.TrueFrom, c.TrueTo = 2, 1 },
		"ended":       func(c *abi.Candidate) { c.Started, c.Ended = 2, 1 },
		"a time":      func(c *abi.Candidate) { c.Expires = 1 << 60 },
		"slot":        func(c *abi.Candidate) { c.Slot = &abi.Slot{Subject: "user"} },
	} {
		t.Run(name, func(t *testing.T) {
			out := candidate(spoil)
			out.Candidates = append(out.Candidates, good)
			got, u, err := ask(t, newHost(t, Options{}), answering(abi.AppendOutput(nil, out)), testManifest())
			if err != nil || len(got.Candidates) != 1 || got.Candidates[0].Text != good.Text || got.Candidates[0].Confidence != 0.5 {
				t.Errorf("%+v, %v", got, err)
			}
			if len(u.Dropped) != 1 || u.Dropped[0].Index != 0 || !strings.Contains(u.Dropped[0].Reason.Error(), name) {
				t.Errorf("dropped: %+v", u.Dropped)
			}
		})
	}
}

// TestEvidenceSpans: evidence has to lie in a text that the plugin was given, and between characters.
func TestEvidenceSpans(t *testing.T) {
	e := &abi.Event{Text: "né中", Before: []abi.Turn{{Text: "first"}, {Text: "second"}}} // n, é 1–3, 中 3–6
	for s, want := range map[abi.Span]bool{
		{Turn: 0, Start: 0, End: 6}: true, {Turn: 0, Start: 3, End: 6}: true, {Turn: 0, Start: 2, End: 3}: false,
		{Turn: 0, Start: 3, End: 5}: false, {Turn: 0, Start: 0, End: 7}: false, {Turn: 0, Start: -1, End: 1}: false,
		{Turn: 0, Start: 3, End: 1}: false, {Turn: -1, Start: 0, End: 6}: true, {Turn: -2, Start: 0, End: 6}: false,
		{Turn: -2, Start: 0, End: 5}: true, {Turn: -3, Start: 0, End: 1}: false, {Turn: 1, Start: 0, End: 1}: false,
		{Turn: -1 << 31, Start: 0, End: 1}: false,
	} {
		if got := spanIn(e, s); got != want {
			t.Errorf("%+v: %v", s, got)
		}
	}
	for place, out := range map[string]*abi.Output{
		"output.redactions[0].span": {Redactions: []abi.Redaction{{Span: abi.Span{Start: 5, End: 99}, Kind: "x"}}},
		"output.refusals[0].span":   {Refusals: []abi.Refusal{{Span: abi.Span{Turn: -1, End: 1}}}},
	} {
		_, _, err := ask(t, newHost(t, Options{}), answering(abi.AppendOutput(nil, out)), testManifest(CapRedact))
		var e *abi.Error
		if !errors.As(err, &e) || e.Place != place {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// TestInputWithoutUngrantedFields: the plugin's input has nothing that was not granted.
func TestInputWithoutUngrantedFields(t *testing.T) {
	e := someText()
	e.Before, e.State, e.RGB, e.Gray = []abi.Turn{{Text: "before"}}, []byte("state"), []byte("rgb"), []byte("gray")
	for _, c := range []struct {
		caps                []Capability
		context, state, rgb bool
	}{{nil, false, false, false}, {[]Capability{CapContext}, true, false, false},
		{[]Capability{CapState, CapRGB}, false, true, true}} {
		h := newHost(t, Options{})
		p := mustLoad(t, h, new(asm).plugin(i64c(0)), testManifest(c.caps...))
		_, u, err := p.Extract(context.Background(), e)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := p.idle[0].module.Memory().Read(inputAt, uint32(u.In))
		var got abi.Event
		if err := abi.DecodeEvent(b, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Before) > 0 != c.context || len(got.State) > 0 != c.state || len(got.RGB) > 0 != c.rgb || string(got.Gray) != "gray" || got.Text != e.Text {
			t.Errorf("%v: %+v", c.caps, got)
		}
	}
}

const goodManifest = `id = "acme/notes"
version = "1.2.3"
abi = 1
title = "Notes"
licence = "MIT"
kinds = ["text"]
types = ["semantic", "vault"]
capabilities = ["vault", "log"]
stage = 40

[limits]
memory_mib = 32
fuel = 1000
`

func TestManifest(t *testing.T) {
	m, err := ParseManifest([]byte(goodManifest))
	if err != nil || m.Limits.MemoryMiB != 32 || !m.Has(CapVault) || m.Has(CapState) || !m.Takes("text") {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, c := range []struct{ old, new, says string }{
		{`stage = 40`, `stag = 40`, `line 9: unknown key "stag"`},
		{`fuel = 1000`, `full = 1000`, `line 13: unknown key "limits.full"`},
		{`stage = 40`, `stage = "x"`, `line 9`},
		{`stage = 40`, `stage = 101`, `stage 101`},
		{`stage = 40`, `times = "mine"`, `times "mine"`},
		{`"acme/notes"`, `"../notes"`, `id "../notes"`},
		{`"1.2.3"`, `"latest"`, `version`},
		// A version that semver can't order is refused, because any other would be newer.
		{`"1.2.3"`, `"1.2.3-a..b"`, `version`},
		{`"1.2.3"`, `"1.2.3-"`, `version`},
		{`"1.2.3"`, `"1.2.3-rc.01"`, `version`},
		{`"1.2.3"`, `"1.2.3-` + strings.Repeat("r", 33) + `"`, `version`},
		{`abi = 1`, `abi = 2`, `abi 2`},
		{`["text"]`, `[]`, `no events`},
		{`["text"]`, `["gossip"]`, `"gossip" is not known: there are [text `},
		{`"semantic"`, `"gossip"`, `"gossip" is not known`},
		{`"log"`, `"network"`, `"network" is not known`},
		{`"log"`, `"vault"`, `twice`},
		{`"vault", "log"`, `"log"`, `vault goes together`},
		{`"semantic", "vault"`, `"semantic"`, `vault goes together`},
		{`memory_mib = 32`, `memory_mib = 65`, `memory_mib 65`},
		{`fuel = 1000`, `fuel = -1`, `fuel -1`},
		{`stage = 40`, `sha256 = "00"`, `sha256`},
		{`title = "Notes"`, "title = \"\\u001b[2Jgone\"", `title "\x1b[2Jgone"`},
		{`title = "Notes"`, "title = \"evil\\u202egnp.exe\"", `title "evil\u202egnp.exe"`},
		{`title = "Notes"`, `title = "` + strings.Repeat("t", 121) + `"`, `at most 120 bytes`},
		{`stage = 40`, `publisher = "` + strings.Repeat("0", 64) + `"`, `has to name its module`},
	} {
		text := strings.Replace(goodManifest, c.old, c.new, 1)
		if _, err := ParseManifest([]byte(text)); !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v", c.new, err)
		}
	}
	if _, err := ParseManifest(make([]byte, MaxManifest+1)); !errors.Is(err, ErrManifest) {
		t.Errorf("a large one: %v", err)
	}
}

func TestHash(t *testing.T) {
	module := new(asm).plugin(i64c(0)).bytes()
	m := testManifest()
	m.SHA256 = fmt.Sprintf("%x", sha256.Sum256(module))
	h := newHost(t, Options{})
	if _, err := h.Load(context.Background(), module, m); err != nil {
		t.Error(err)
	}
	if _, err := h.Load(context.Background(), new(asm).plugin(i64c(0), []byte{0x01}).bytes(), m); !errors.Is(err, ErrHash) {
		t.Errorf("another module: %v", err)
	}
}

func TestSignature(t *testing.T) {
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	module := new(asm).plugin(i64c(0)).bytes()
	text := strings.Replace(goodManifest, "[limits]", fmt.Sprintf("sha256 = %q\npublisher = %q\n[limits]",
		fmt.Sprintf("%x", sha256.Sum256(module)), hex.EncodeToString(pub)), 1)
	text = strings.Replace(text, "fuel = 1000", "", 1)
	sig, err := SignManifest([]byte(text), key)
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t, Options{})
	load := func(text string, sig []byte) error {
		m, err := ParseManifest([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if sig != nil {
			if err := m.Verify(sig); err != nil {
				return err
			}
		}
		_, err = h.Load(context.Background(), module, m)
		return err
	}
	if err := load(text, sig); err != nil {
		t.Error(err)
	}
	if err := load(text, nil); !errors.Is(err, ErrSignature) {
		t.Errorf("unchecked: %v", err)
	}
	if err := load(strings.Replace(text, "stage = 40", "stage = 41", 1), sig); !errors.Is(err, ErrSignature) {
		t.Errorf("changed after signing: %v", err)
	}
	if err := load(text, ed25519.Sign(other, signed([]byte(text)))); !errors.Is(err, ErrSignature) {
		t.Errorf("another key: %v", err)
	}
	if err := load(text, ed25519.Sign(key, []byte(text))); !errors.Is(err, ErrSignature) {
		t.Errorf("another domain: %v", err)
	}
	if _, err := SignManifest([]byte(text), other); !errors.Is(err, ErrSignature) {
		t.Errorf("signed for another: %v", err)
	}
	// A change in memory does not survive the check.
	m, err := ParseManifest([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m.Capabilities = append(m.Capabilities, CapState)
	if err := m.Verify(sig); err != nil || m.Has(CapState) {
		t.Errorf("%v; %v", err, m.Capabilities)
	}
}
