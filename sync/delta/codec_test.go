package delta

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/locket-dev/locket/crypto/length"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/canonical"
	"github.com/locket-dev/locket/sync/envelope"
)

func aHeader() envelope.Header {
	return envelope.Header{Version: envelope.Version, Space: memory.SpaceID{1}, Member: memory.MemberID{2}, Incarnation: 3, Seq: 4,
		Prev: envelope.Hash{5}, Head: envelope.Hash{6}, Epoch: 7}
}

// anOp generates any allowed op, with each of its fields set or not.
func anOp(t *rapid.T) Op {
	h := aHeader()
	switch rapid.IntRange(0, 5).Draw(t, "sort") {
	case 0:
		return Op{Utterance: &memory.Utterance{ID: anID(t), Space: h.Space, Event: anEvent(t), Session: text(t, "session"), At: aTime(t), Zone: text(t, "zone"),
			Speaker: text(t, "speaker"), Lang: text(t, "lang"), Text: text(t, "text"), Place: text(t, "place"), Source: aSource(t), Redacted: rapid.IntRange(0, 9).Draw(t, "redacted"), Received: aTime(t)}}
	case 1:
		return Op{Forget: &Forget{Memories: []memory.ID{anID(t)}, Utterances: rapid.SliceOfN(rapid.Custom(anID), 1, 3).Draw(t, "utterances"),
			Events: []memory.EventID{{Device: "pin", Boot: math.MaxUint64, Seq: 1}}, Blobs: []string{text(t, "blob")}}}
	case 2:
		return Op{Blob: &Blob{Name: "b" + text(t, "name"), Sealed: envelope.Hash{1, 2}, Size: rapid.Uint64Range(1, maxSealed).Draw(t, "size"), MediaType: text(t, "media"),
			Key: bytes.Repeat([]byte{9}, 32), Event: anEvent(t), Memory: anID(t)}}
	default:
		return Op{Assertion: anAssertion(t)}
	}
}

func anAssertion(t *rapid.T) *memory.Assertion {
	h := aHeader()
	a := &memory.Assertion{Dot: memory.Dot{Member: h.Member, Seq: rapid.Uint64Min(1).Draw(t, "seq")},
		Clock: memory.Clock{Wall: rapid.Int64().Draw(t, "wall"), Logical: rapid.Uint32().Draw(t, "logical")}, Space: h.Space, Memory: anID(t),
		Rank: memory.Rank(rapid.IntRange(1, 3).Draw(t, "rank")), Act: rapid.SampledFrom(acts[1:]).Draw(t, "act"), Source: aSource(t), Reason: text(t, "reason")}
	if rapid.Bool().Draw(t, "seen") {
		a.Seen = []memory.Dot{{Member: h.Member, Seq: 1}, {Member: memory.MemberID{9}, Seq: 2}}
	}
	switch a.Act {
	case memory.ActPropose:
		a.Candidate = aCandidate(t)
		if rapid.Bool().Draw(t, "own source") {
			a.Candidate.Source = a.Source
		}
	case memory.ActCorrect, memory.ActClose:
		a.Patch = aPatch(t)
	case memory.ActReinforce:
		a.Evidence = evidences(t)
	case memory.ActTag, memory.ActUntag:
		a.Tags = []string{text(t, "tag")}
	case memory.ActWithdraw:
		a.Seen = []memory.Dot{{Member: a.Dot.Member, Seq: 1}}
	case memory.ActArchive:
		if rapid.Bool().Draw(t, "merged") {
			a.Into = memory.ID{9, 9}
		}
	case memory.ActErase:
		a.Rank = memory.RankPerson
	}
	return a
}

func aPatch(t *rapid.T) *memory.Patch {
	p := &memory.Patch{Validity: &memory.Validity{From: aTime(t), To: aTime(t)}}
	if rapid.Bool().Draw(t, "all") {
		s, f, m := memory.Sensitivity(rapid.IntRange(0, 3).Draw(t, "sensitivity")), memory.Fields{}, memory.Metadata{"k": text(t, "v")}
		v, w := text(t, "text"), text(t, "value")
		if rapid.Bool().Draw(t, "fields") {
			f = fieldsOf(t, memory.Episodic)
		}
		p.Text, p.Value, p.Fields, p.Metadata, p.Sensitivity = &v, &w, &f, &m, &s
	}
	return p
}

func aCandidate(t *rapid.T) *memory.Candidate {
	c := &memory.Candidate{Type: rapid.SampledFrom(memory.Types[:]).Draw(t, "type"), Text: "T" + text(t, "text"), Lang: text(t, "lang"),
		Owner: memory.Owner{User: "Mei", Agent: text(t, "agent"), Run: text(t, "run")}, Negates: rapid.Bool().Draw(t, "negates"),
		Evidence: evidences(t), Source: aSource(t), Confidence: rapid.Float64Range(0, 1).Draw(t, "confidence"),
		Sensitivity: memory.Sensitivity(rapid.IntRange(0, 3).Draw(t, "sensitivity")), TrueFrom: aTime(t), Expires: aTime(t)}
	if rapid.Bool().Draw(t, "round") {
		c.Confidence = float64(rapid.IntRange(0, 1000).Draw(t, "thousandths")) / 1000
	}
	if rapid.Bool().Draw(t, "slot") {
		c.Slot = &memory.Slot{Subject: "user", Attribute: "home", Value: "V" + text(t, "value"), Many: rapid.Bool().Draw(t, "many")}
		c.Entities, c.Links = []memory.Entity{{Name: text(t, "name"), Kind: "person"}}, []memory.Link{{Relation: "about", To: text(t, "to")}}
		c.Tags, c.Metadata = []string{"a", text(t, "tag")}, memory.Metadata{"z": "1", "a": "2"}
	}
	c.Fields = fieldsOf(t, c.Type)
	return c
}

func fieldsOf(t *rapid.T, of memory.Type) memory.Fields {
	switch of {
	case memory.Core:
		return memory.Fields{Core: &memory.CoreFields{Block: "human", Limit: rapid.IntRange(1, 9999).Draw(t, "limit")}}
	case memory.Episodic:
		started, ended := aTime(t), aTime(t)
		if ended.Before(started) {
			started, ended = ended, started
		}
		return memory.Fields{Episodic: &memory.EpisodicFields{EventType: text(t, "event"), Details: text(t, "details"), Actor: text(t, "actor"), Place: text(t, "place"), Started: started, Ended: ended}}
	case memory.Semantic:
		return memory.Fields{Semantic: &memory.SemanticFields{Name: text(t, "name"), Details: text(t, "details"), Subject: text(t, "s"), Predicate: text(t, "p"), Object: "O" + text(t, "o")}}
	case memory.Procedural:
		return memory.Fields{Procedural: &memory.ProceduralFields{EntryType: "guide", Description: text(t, "d"), Steps: []string{"one", "S" + text(t, "step")}}}
	case memory.Resource:
		return memory.Fields{Resource: &memory.ResourceFields{Title: text(t, "title"), MediaType: "image/png", Content: text(t, "content"), Blob: text(t, "blob"), Hash: "0011", Sharpness: rapid.Float64().Draw(t, "sharpness")}}
	default:
		return memory.Fields{Vault: &memory.VaultFields{EntryType: "pin", Label: "door", Sealed: []byte("sealed")}}
	}
}

func evidences(t *rapid.T) []memory.Evidence {
	start := rapid.IntRange(-5, 300).Draw(t, "start")
	quote := text(t, "excerpt")
	return []memory.Evidence{{Event: anEvent(t), Utterance: anID(t), Speaker: text(t, "speaker"), At: aTime(t), Excerpt: quote, Start: start, End: start + len(quote)},
		{Event: anEvent(t), Excerpt: quote, End: rapid.IntRange(0, 9).Draw(t, "end")}}
}

func text(t *rapid.T, name string) string { return rapid.StringN(0, 12, 60).Draw(t, name) }

func anID(t *rapid.T) memory.ID {
	return memory.ID(rapid.SliceOfN(rapid.ByteRange(1, 255), 16, 16).Draw(t, "id"))
}

func anEvent(t *rapid.T) memory.EventID {
	return memory.EventID{Device: rapid.SampledFrom([]string{"pin", "glasses"}).Draw(t, "device"), Boot: rapid.Uint64().Draw(t, "boot"), Seq: rapid.Uint64().Draw(t, "seq")}
}

func aSource(t *rapid.T) memory.Source {
	if rapid.Bool().Draw(t, "no source") {
		return memory.Source{}
	}
	return memory.Source{Device: "pin", Plugin: text(t, "plugin"), Version: "1.0.0", Model: text(t, "model")}
}

func aTime(t *rapid.T) time.Time {
	switch rapid.IntRange(0, 3).Draw(t, "time") {
	case 0:
		return time.Time{}
	case 1:
		return time.Unix(rapid.Int64Range(-62135596799, 1<<36).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")).UTC()
	default:
		return time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "ms")).UTC()
	}
}

func TestOpsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(anOp), 1, 8).Draw(t, "ops")
		h := aHeader()
		b, err := Encode(h, want)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < padFloor || length.Padded(int64(len(b))) != int64(len(b)) {
			t.Fatalf("%d bytes are no padded length", len(b))
		}
		h.BodyHash, h.BodySize = envelope.Hash{1}, 99 // known only after sealing
		got, err := Decode(&h, b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("came back otherwise:\n%+v\n%+v", got, want)
		}
	})
}

func TestBodyOfAnotherHeader(t *testing.T) {
	h := aHeader()
	b, err := Encode(h, []Op{{Forget: &Forget{Blobs: []string{"x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*envelope.Header){
		"space": func(h *envelope.Header) { h.Space[0]++ }, "member": func(h *envelope.Header) { h.Member[0]++ },
		"incarnation": func(h *envelope.Header) { h.Incarnation++ }, "seq": func(h *envelope.Header) { h.Seq++ },
		"prev": func(h *envelope.Header) { h.Prev[0]++ }, "head": func(h *envelope.Header) { h.Head[0]++ }, "epoch": func(h *envelope.Header) { h.Epoch++ },
	} {
		other := aHeader()
		change(&other)
		if _, err := Decode(&other, b); !errors.Is(err, ErrContext) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	h := aHeader()
	good := memory.Assertion{Dot: memory.Dot{Member: h.Member, Seq: 1}, Rank: 1, Space: h.Space, Memory: memory.ID{1}, Act: memory.ActPin}
	with := func(f func(*memory.Assertion)) Op { a := good; f(&a); return Op{Assertion: &a} }
	for name, ops := range map[string][]Op{
		"no ops":            nil,
		"too many":          make([]Op, MaxOps+1),
		"an empty op":       {{}},
		"two in one":        {{Assertion: &good, Forget: &Forget{Blobs: []string{"x"}}}},
		"another's dot":     {with(func(a *memory.Assertion) { a.Dot.Member[0]++ })},
		"another space":     {with(func(a *memory.Assertion) { a.Space[0]++ })},
		"not valid":         {with(func(a *memory.Assertion) { a.Rank = 9 })},
		"pin and candidate": {with(func(a *memory.Assertion) { a.Candidate = &memory.Candidate{} })},
		"forget nothing":    {{Forget: &Forget{}}},
		"nothing is gone":   {{RemovedBodies: []Place{}}},
		"gone, twice":       {{RemovedBodies: []Place{{workerID, envelope.Position{Seq: 1}}, {workerID, envelope.Position{Seq: 1}}}}},
		"gone, of nobody":   {{RemovedBodies: []Place{{Position: envelope.Position{Seq: 1}}}}},
		"gone, at no place": {{RemovedBodies: []Place{{Member: workerID}}}},
		"forget too many":   {{Forget: &Forget{Memories: make([]memory.ID, MaxForget+1)}}},
		"blob without key":  {{Blob: &Blob{Name: "x", Size: 1, Sealed: envelope.Hash{1}}}},
		"utterance's space": {{Utterance: &memory.Utterance{ID: memory.ID{1}, Text: "x"}}},
		"long utterance":    {{Utterance: &memory.Utterance{ID: memory.ID{1}, Space: h.Space, Text: strings.Repeat("x", memory.MaxText+1)}}},
		"long speaker":      {{Utterance: &memory.Utterance{ID: memory.ID{1}, Space: h.Space, Speaker: strings.Repeat("x", memory.MaxName+1)}}},
		"long excerpt": {with(func(a *memory.Assertion) {
			a.Evidence = []memory.Evidence{{Excerpt: strings.Repeat("x", memory.MaxExcerpt+1)}}
		})},
		"too large": {with(func(a *memory.Assertion) { a.Reason = strings.Repeat("x", MaxPlain) })},
	} {
		if _, err := Encode(h, ops); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// body pads and compresses CBOR that Encode would not make.
func body(t testing.TB, v any) []byte {
	t.Helper()
	raw, ok := v.([]byte)
	if !ok {
		raw = must(canonical.Encoding.Marshal(v))
	}
	return pad(compress(raw))
}

func TestDecodeRefuses(t *testing.T) {
	h := aHeader()
	ctx := h.Context()
	good, err := Encode(h, []Op{{Forget: &Forget{Blobs: []string{"x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	frame, _ := unpad(good)
	change := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(good)) }
	plain := must(canonical.Encoding.Marshal(wireBody{Context: ctx, Ops: []wireOp{{Forget: &wireForget{Blobs: []string{"x"}}}}}))
	with := func(ops ...any) any { return []any{ctx, ops} }
	aMap := func(kv ...any) map[int]any {
		m := map[int]any{}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i].(int)] = kv[i+1]
		}
		return m
	}
	bare := must(zstd.NewWriter(nil, zstd.WithEncoderCRC(false))).EncodeAll(plain, nil)
	for name, b := range map[string][]byte{
		"nothing":               {},
		"zeros":                 make([]byte, 256),
		"format 2":              change(func(b []byte) []byte { b[0] = 2; return b }),
		"shorter":               good[:255],
		"longer":                append(bytes.Clone(good), make([]byte, 16)...),
		"padding not zero":      change(func(b []byte) []byte { b[len(b)-1] = 1; return b }),
		"no mark":               change(func(b []byte) []byte { b[len(frame)+1] = 0; return b }),
		"not a frame":           pad([]byte("no frame at all")),
		"no frame":              pad(nil),
		"no dictionary":         pad(bare),
		"two frames":            pad(append(bytes.Clone(frame), frame...)),
		"skippable":             pad([]byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0}),
		"too large":             make([]byte, MaxPadded+1),
		"no CBOR":               body(t, []byte("hello")),
		"CBOR and more":         body(t, append(bytes.Clone(plain), 0)),
		"long integer":          body(t, append(append(bytes.Clone(plain[:35]), 0x98, 1), plain[36:]...)),
		"no ops":                body(t, with()),
		"an op of nothing":      body(t, with(aMap())),
		"an unknown op":         body(t, with(aMap(5, aMap()))),
		"two ops in one":        body(t, with(aMap(3, aMap(4, []string{"x"}), 4, aMap()))),
		"null op":               body(t, with(nil)),
		"act 13":                body(t, with(aMap(1, aMap(1, 1, 2, 0, 4, 1, 5, memory.ID{1}, 6, 13)))),
		"act 0":                 body(t, with(aMap(1, aMap(1, 1, 2, 0, 4, 1, 5, memory.ID{1}, 6, 0)))),
		"short id":              body(t, with(aMap(1, aMap(1, 1, 2, 0, 4, 1, 5, []byte{1}, 6, 5)))),
		"seq 0":                 body(t, with(aMap(1, aMap(1, 0, 2, 0, 4, 1, 5, memory.ID{1}, 6, 5)))),
		"candidate type 7":      body(t, with(aMap(1, aMap(1, 1, 2, 0, 4, 1, 5, memory.ID{1}, 6, 1, 7, aMap(1, 7, 2, "x", 4, "u", 16, 0, 17, 0))))),
		"confidence as float":   body(t, with(aMap(1, aMap(1, 1, 2, 0, 4, 1, 5, memory.ID{1}, 6, 1, 7, aMap(1, 1, 2, "x", 4, "u", 16, 0.5, 17, 0))))),
		"confidence over 1":     body(t, with(aMap(1, aMap(1, 1, 2, 0, 4, 1, 5, memory.ID{1}, 6, 1, 7, aMap(1, 3, 2, "x", 4, "u", 16, 1001, 17, 0))))),
		"a time of three":       body(t, with(aMap(2, aMap(1, memory.ID{1}, 4, []int{1, 2, 3}, 8, "x")))),
		"a time with no ns":     body(t, with(aMap(2, aMap(1, memory.ID{1}, 4, []int{1, 0}, 8, "x")))),
		"a time with 1 ms":      body(t, with(aMap(2, aMap(1, memory.ID{1}, 4, []int{1, 1_000_000}, 8, "x")))),
		"not UTF-8":             body(t, with(aMap(2, aMap(1, memory.ID{1}, 8, string([]byte{0xff}))))),
		"patch.sensitivity 4":   body(t, with(aMap(1, aMap(1, 1, 2, 0, 4, 1, 5, memory.ID{1}, 6, 3, 8, aMap(5, 4))))),
		"nested without end":    body(t, bytes.Repeat([]byte{0x81}, 1000)),
		"an array without end":  body(t, append([]byte{0x82}, 0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)),
		"a string without end":  body(t, append([]byte{0x82}, 0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)),
		"more ops than allowed": body(t, with(make([]any, MaxOps+1)...)),
	} {
		if got, err := Decode(&h, b); !errors.Is(err, ErrForm) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := Decode(&h, body(t, plain)); err != nil {
		t.Errorf("the pattern of the others: %v", err)
	}
}

// A frame that claims to be small or large and decompresses to gigabytes must
// not take more memory than is allowed.
func TestDecodeBomb(t *testing.T) {
	h := aHeader()
	w := must(zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true)))
	honest := w.EncodeAll(make([]byte, 256<<20), nil)
	if len(honest) > MaxPadded {
		t.Fatalf("%d bytes are no bomb", len(honest))
	}
	at := 4 + 1 + 1 // after the magic, descriptor and dictionary id comes the content's size, 4 bytes
	lying := bytes.Clone(honest)
	copy(lying[at:], []byte{0, 1, 0, 0})
	for name, frame := range map[string][]byte{"honest": honest, "lying": lying} {
		allocated := testing.Benchmark(func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(&h, pad(frame)); !errors.Is(err, ErrForm) {
					b.Fatalf("%s: %v", name, err)
				}
			}
		}).AllocedBytesPerOp()
		if allocated > 4*MaxPlain {
			t.Errorf("%s: took %d bytes", name, allocated)
		}
	}
	if err := func() error { var hd zstd.Header; return hd.Decode(honest) }(); err != nil {
		t.Fatal(err)
	}
}

func FuzzDecode(f *testing.F) {
	h := aHeader()
	good, err := Encode(h, []Op{{Forget: &Forget{Blobs: []string{"x"}}}, {Utterance: &memory.Utterance{ID: memory.ID{1}, Space: h.Space, Text: "hello"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(must(unpad(good)), true)
	f.Add(must(decompress(must(unpad(good)))), false)
	f.Fuzz(func(t *testing.T, b []byte, isFrame bool) {
		if !isFrame {
			b = compress(b)
		}
		ops, err := Decode(&h, pad(b))
		if err != nil {
			return
		}
		if _, err := Encode(h, ops); err != nil {
			t.Fatalf("what was decoded does not encode: %v", err)
		}
	})
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
