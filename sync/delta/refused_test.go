package delta

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/crypto/length"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/canonical"
)

var updateRefused = flag.Bool("update-refused", false, "write testdata/refused.json anew")

// refusedFile is testdata/refused.json, described in testdata/README.md.
type refusedFile struct {
	Header   string        `json:"header"`
	EpochKey string        `json:"epoch_key"`
	Refused  []refusedBody `json:"refused"`
}

type refusedBody struct {
	Name   string `json:"name"`
	Layer  string `json:"layer"`  // the layer of Bytes: sealed, padded or plain
	Bytes  []run  `json:"bytes"`  // one after another
	Reason string `json:"reason"` // seal, padding, frame, body, context
}

// run is a number of bytes in hexadecimal, repeated so many times.
type run struct {
	Hex   string `json:"hex"`
	Times int    `json:"times,omitempty"` // 0: once
}

// runs writes repetitions of 1 to 8 bytes as runs.
func runs(b []byte) (out []run) {
	plain := 0
	for at := 0; at < len(b); {
		period, times := 0, 0
		for p := 1; p <= 8 && period == 0; p++ {
			n := 1
			for at+(n+1)*p <= len(b) && bytes.Equal(b[at:at+p], b[at+n*p:at+(n+1)*p]) {
				n++
			}
			if n*p >= 256 {
				period, times = p, n
			}
		}
		if period == 0 {
			at++
			continue
		}
		if plain < at {
			out = append(out, run{Hex: hex.EncodeToString(b[plain:at])})
		}
		out = append(out, run{hex.EncodeToString(b[at : at+period]), times})
		at += period * times
		plain = at
	}
	if plain < len(b) || len(b) == 0 {
		out = append(out, run{Hex: hex.EncodeToString(b[plain:])})
	}
	return out
}

func (r *refusedBody) bytes(t testing.TB) (out []byte) {
	for _, part := range r.Bytes {
		b, err := hex.DecodeString(part.Hex)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, bytes.Repeat(b, max(part.Times, 1))...)
	}
	return out
}

// tree is a CBOR map by its keys.
type tree map[int]any

// with returns a copy of a tree with some keys changed; nil removes a key.
func (m tree) with(kv ...any) tree {
	out := maps.Clone(m)
	for i := 0; i < len(kv); i += 2 {
		if out[kv[i].(int)] = kv[i+1]; kv[i+1] == nil {
			delete(out, kv[i].(int))
		}
	}
	return out
}

// badOps returns ops that break one rule each, by the rule.
func badOps() map[string]any {
	h := aHeader()
	id, zero := memory.ID{1}, memory.ID{}
	long := func(n int) string { return strings.Repeat("x", n) }
	candidate := tree{1: 3, 2: "Mei lives in Suzhou.", 4: "Mei", 16: 900, 17: 1}
	pin := tree{1: 1, 2: 0, 4: 3, 5: id, 6: 5}
	propose := pin.with(6, 1, 7, candidate)
	utterance := tree{1: id, 8: "hello"}
	blob := tree{1: "photo", 2: [32]byte{1}, 3: 1234, 5: bytes.Repeat([]byte{5}, 32)}
	act := func(kv ...any) any { return tree{1: pin.with(kv...)} }
	cand := func(kv ...any) any { return tree{1: propose.with(7, candidate.with(kv...))} }
	fields := func(kind, of int, f tree) any { return cand(1, kind, 9, tree{of: f}) }
	said := func(kv ...any) any { return tree{2: utterance.with(kv...)} }
	stored := func(kv ...any) any { return tree{4: blob.with(kv...)} }
	many := map[string]string{}
	for i := range 65 {
		many[string(rune('a'+i%26))+string(rune('a'+i/26))] = "v"
	}
	return map[string]any{
		"an op of nothing": tree{}, "an op of an unknown kind": tree{5: tree{}}, "two ops in one": tree{2: utterance, 4: blob}, "null for an op": nil,
		"an unknown key": act(99, 1), "seq 0": act(1, 0), "no rank": act(4, nil), "rank 0": act(4, 0), "rank 4": act(4, 4),
		"a memory of zeros": act(5, zero), "an id of 8 bytes": act(5, []byte("8 bytes.")), "act 0": act(6, 0), "act 13": act(6, 13),
		"a logical clock of 0, present": act(3, 0), "a logical clock over 32 bits": act(3, uint64(1)<<32), "no tags, present": act(6, 9, 10, []string{}),
		"no source, present": act(12, tree{}), "an empty reason, present": act(13, ""), "into of zeros, present": act(6, 7, 14, zero),
		"the author seen by its id": act(11, []any{[]any{h.Member, 1}}), "into where nothing is archived": act(14, memory.ID{2}), "archived into itself": act(6, 7, 14, id),
		"a candidate that is not proposed": act(7, candidate), "a proposal without a candidate": act(6, 1), "a correction without a patch": act(6, 3),
		"a close without validity": act(6, 4, 8, tree{1: "x"}), "an erasure by a device": act(4, 2, 6, 11), "a withdrawal of nothing": act(6, 12),
		"a patch to sensitivity 4": act(6, 3, 8, tree{5: 4}), "an excerpt of 513 bytes": act(6, 2, 9, []any{tree{5: long(513)}}),
		"an event of nothing, present":        act(6, 2, 9, []any{tree{1: []any{"", 0, 0}}}),
		"an end that follows from the start":  act(6, 2, 9, []any{tree{5: "abc", 6: 1, 7: 4}}),
		"type 0":                              cand(1, 0),
		"type 7":                              cand(1, 7),
		"no text":                             cand(2, ""),
		"a text of 65,537 bytes":              cand(2, long(65537)),
		"no user":                             cand(4, ""),
		"a slot without a subject":            cand(7, tree{1: "-", 2: "home", 3: "Suzhou"}),
		"a slot without a value":              cand(7, tree{1: "user", 2: "home"}),
		"fields of no type, present":          cand(9, tree{}),
		"fields of another type":              cand(9, tree{1: tree{1: "human", 2: 2000}}),
		"a tag of 129 bytes":                  cand(12, []string{long(129)}),
		"65 keys of metadata":                 cand(13, many),
		"metadata under an empty key":         cand(13, map[string]string{"": "x"}),
		"a key of metadata of 129 bytes":      cand(13, map[string]string{long(129): "x"}),
		"metadata of 4,097 bytes":             cand(13, map[string]string{"k": long(4097)}),
		"the assertion's source again":        tree{1: propose.with(12, tree{2: "facts"}, 7, candidate.with(15, tree{2: "facts"}))},
		"confidence over 1":                   cand(16, 1001),
		"confidence under 0":                  cand(16, -0.5),
		"thousandths as a float":              cand(16, 0.5),
		"sensitivity 4":                       cand(17, 4),
		"true to before true from":            cand(18, 1000, 19, 0),
		"a moment of three":                   cand(18, []int{1, 2, 3}),
		"a moment with no nanoseconds":        cand(18, []int{1, 0}),
		"a moment with a million nanoseconds": cand(18, []int{1, 1_000_000}),
		"core without fields":                 cand(1, 1),
		"core without a block":                fields(1, 1, tree{1: " ", 2: 2000}),
		"core with a limit of 0":              fields(1, 1, tree{1: "human", 2: 0}),
		"core with a limit over 65,536":       fields(1, 1, tree{1: "human", 2: 65537}),
		"an end before the beginning":         fields(2, 2, tree{5: 1000, 6: 0}),
		"a subject of 65,537 bytes":           fields(3, 3, tree{3: long(65537)}),
		"a predicate without an object":       fields(3, 3, tree{4: "home"}),
		"a procedure without steps":           fields(4, 4, tree{2: "x"}),
		"an empty step":                       fields(4, 4, tree{3: []string{" "}}),
		"a media type without a slash":        fields(5, 5, tree{2: "text", 6: 0}),
		"a vault without a secret":            fields(6, 6, tree{2: "door", 3: []byte{}}),
		"257 steps":                           fields(4, 4, tree{3: slices.Repeat([]string{"step"}, 257)}),
		"a resource of 524,289 bytes":         fields(5, 5, tree{2: "text/plain", 3: long(524289), 6: 0}),
		"a vault without a label":             fields(6, 6, tree{2: "", 3: []byte("sealed")}),
		"an utterance of 65,537 bytes":        said(8, long(65537)), "an utterance without an id": said(1, zero), "a speaker of 129 bytes": said(6, long(129)),
		"fewer than no secrets": said(11, -1), "forget nothing": tree{3: tree{}}, "forget 4,097 events": tree{3: tree{3: slices.Repeat([]any{[]any{"pin", 1, 1}}, 4097)}},
		"a blob without a name": stored(1, ""), "a blob of a name of 129 bytes": stored(1, long(129)), "a blob of no bytes": stored(3, 0),
		"a blob that is not padded as it says": stored(8, 1217), "a blob of more in plain than sealed": stored(8, 1300), "a blob of 0 bytes in plain, present": stored(8, 0),
		"a blob of 2^63 sealed bytes": stored(3, uint64(1)<<63),
		"a blob of 2^40 bytes":        stored(3, length.Stream(1<<40+1<<35), 8, 1<<40+1),
		"a blob whose hash is zeros":  stored(2, [32]byte{}), "a blob's hash of 31 bytes": stored(2, make([]byte, 31)), "a blob's key of 31 bytes": stored(5, make([]byte, 31)),
	}
}

// badPlain returns CBOR that breaks a rule of the body around its ops, or a rule of CBOR.
func badPlain() map[string][]byte {
	h := aHeader()
	ctx := h.Context()
	good := must(canonical.Encoding.Marshal([]any{ctx, []any{tree{3: tree{4: []string{"x"}}}}}))
	op := func(raw string) []byte { // in place of the only op
		return append(bytes.Clone(good[:36]), must(hex.DecodeString(raw))...)
	}
	deep := strings.Repeat("81", 11) + "01"
	return map[string][]byte{
		"no CBOR": []byte("hello"), "CBOR, and a byte more": append(bytes.Clone(good), 0), "CBOR, cut by a byte": good[:len(good)-1],
		"a map around it": must(canonical.Encoding.Marshal(tree{1: ctx, 2: []any{}})), "an array of three": must(canonical.Encoding.Marshal([]any{ctx, []any{tree{3: tree{4: []string{"x"}}}}, 1})),
		"no ops": must(canonical.Encoding.Marshal([]any{ctx, []any{}})), "4,097 ops": must(canonical.Encoding.Marshal([]any{ctx, slices.Repeat([]any{tree{3: tree{4: []string{"x"}}}}, 4097)})),
		"a length in two bytes": append(append(bytes.Clone(good[:35]), 0x98, 1), good[36:]...), "an array of no stated length": append(append(bytes.Clone(good[:35]), 0x9f), append(bytes.Clone(good[36:]), 0xff)...),
		"a key in two bytes": op("a11803a1048161" + "78"), "keys out of order": op("a103a204816178018150" + strings.Repeat("01", 16)),
		"a key twice": op("a103a2048161780481617a"), "a tag": op("a103a104c0816178"), "text that is not UTF-8": op("a103a1048161ff"),
		"nested 13 deep": op("a10" + "3a104" + deep),
	}
}

// badPadded returns padded frames that break a rule of padding or of the frame.
func badPadded() (padding, frames map[string][]run) {
	h := aHeader()
	plain := must(canonical.Encoding.Marshal([]any{h.Context(), []any{tree{3: tree{4: []string{"x"}}}}}))
	frame := compress(plain)
	good := pad(frame)
	end := len(frame) + 1 // offset of the mark
	change := func(at int, to byte) []byte { b := bytes.Clone(good); b[at] = to; return b }
	padding = map[string][]run{
		"nothing": runs(nil), "all zeros": {{"00", 256}}, "format 2": runs(change(0, 2)), "no mark": runs(change(end, 0)), "a last byte that is not zero": runs(change(255, 1)),
		"a byte less": runs(good[:255]), "a byte more": runs(append(bytes.Clone(good), 0)), "longer than it needs to be": runs(append(bytes.Clone(good), make([]byte, 16)...)),
		"over the limit": {{Hex: hex.EncodeToString(good)}, {"00", MaxPadded + 1 - len(good)}},
	}
	edit := func(at int, to ...byte) []byte { b := bytes.Clone(frame); copy(b[at:], to); return b }
	blocks := frame[7:] // after the magic, descriptor, dictionary and a size of one byte
	made := map[string][]byte{
		"not a frame": []byte("no frame at all"), "nothing for a frame": nil, "no dictionary": must(zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))).EncodeAll(plain, nil),
		"dictionary 2": edit(5, 2), "a size that is too small": edit(6, byte(len(plain)-1)), "a size that is too large": edit(6, byte(len(plain)+1)),
		"no size":          append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x01, 0x60, 1}, blocks...),
		"a size over 4 MB": append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa1, 1, 1, 0, 0x40, 0}, blocks...),
		"a checksum":       must(zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary), zstd.WithSingleSegment(true))).EncodeAll(plain, nil),
		"two frames":       append(bytes.Clone(frame), frame...), "a skippable frame behind it": append(bytes.Clone(frame), 0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7),
		"a skippable frame alone": {0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 7}, "a frame that is cut": frame[:len(frame)-1],
	}
	frames = map[string][]run{}
	for name, f := range made {
		frames[name] = runs(pad(f))
	}
	return padding, frames
}

// badSealed returns age files that are not sealed as a body is.
func badSealed(t *testing.T, key *seal.Key) map[string][]byte {
	h := aHeader()
	padded := body(t, []any{h.Context(), []any{tree{3: tree{4: []string{"x"}}}}})
	good := must(seal.SealBody(key, padded))
	at := func(i int) []byte { b := bytes.Clone(good); b[i] ^= 1; return b }
	stanza := bytes.Index(good, []byte("-> locket\n"))
	mac := bytes.Index(good, []byte("--- "))
	other := must(seal.KeyFromBytes(bytes.Repeat([]byte{9}, 32)))
	second := append(append(bytes.Clone(good[:mac]), []byte("-> other\nAAAA\n")...), good[mac:]...)
	named := bytes.Replace(good, []byte("-> locket\n"), []byte("-> locket 1\n"), 1)
	return map[string][]byte{
		"another epoch's key": must(seal.SealBody(other, padded)), "to a recipient": must(seal.SealTo(seal.IdentityFromSeed(other).Recipient(), padded)),
		"one bit of the version": at(20), "one bit of the stanza's name": at(stanza + 4), "one bit of the stanza's body": at(stanza + 12), "one bit of the MAC": at(mac + 6),
		"one bit of the nonce": at(mac + 50), "one bit of the chunk": at(len(good) - 40), "one bit of the tag": at(len(good) - 1), "cut by a byte": good[:len(good)-1],
		"a byte more": append(bytes.Clone(good), 0), "another stanza beside it": second, "a stanza with an argument": named, "armored": []byte("-----BEGIN AGE ENCRYPTED FILE-----\n"),
	}
}

func makeRefused(t *testing.T) refusedFile {
	h := aHeader()
	secret := sha256.Sum256([]byte("locket test epoch"))
	key := must(seal.KeyFromBytes(secret[:]))
	f := refusedFile{Header: hex.EncodeToString(h.Bytes()), EpochKey: hex.EncodeToString(secret[:])}
	add := func(layer, reason string, all map[string][]run) {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			f.Refused = append(f.Refused, refusedBody{name, layer, all[name], reason})
		}
	}
	raw := func(all map[string][]byte) map[string][]run {
		out := map[string][]run{}
		for name, b := range all {
			out[name] = runs(b)
		}
		return out
	}
	ctx := h.Context()
	ops := map[string][]byte{}
	for name, op := range badOps() {
		ops[name] = must(canonical.Encoding.Marshal([]any{ctx, []any{op}}))
	}
	elsewhere := h
	elsewhere.Seq++
	add("sealed", "seal", raw(badSealed(t, key)))
	padding, frames := badPadded()
	add("padded", "padding", padding)
	add("padded", "frame", frames)
	add("plain", "body", raw(badPlain()))
	add("plain", "body", raw(ops))
	add("plain", "context", raw(map[string][]byte{"sealed for the next header": must(canonical.Encoding.Marshal([]any{elsewhere.Context(), []any{tree{3: tree{4: []string{"x"}}}}}))}))
	return f
}

// Each rule of FORMAT.md that refuses something must have a vector that it
// refuses.
func TestRefusedVectors(t *testing.T) {
	const path = "testdata/refused.json"
	if *updateRefused {
		b, err := json.MarshalIndent(makeRefused(t), "", " ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f refusedFile
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	h := aHeader()
	key := must(seal.KeyFromBytes(must(hex.DecodeString(f.EpochKey))))
	reasons := map[string]error{"seal": seal.ErrOpen, "padding": ErrForm, "frame": ErrForm, "body": ErrForm, "context": ErrContext}
	for _, r := range f.Refused {
		b := r.bytes(t)
		switch r.Layer {
		case "sealed":
			_, err = seal.OpenBody(key, b)
		case "plain":
			_, err = Decode(&h, body(t, b))
		default:
			_, err = Decode(&h, b)
		}
		if !errors.Is(err, reasons[r.Reason]) {
			t.Errorf("%s (%s): %v, want %s", r.Name, r.Layer, err, r.Reason)
		}
	}
	if made := makeRefused(t); len(made.Refused) != len(f.Refused) {
		t.Errorf("the file has %d vectors, %d are made today", len(f.Refused), len(made.Refused))
	}
	// The ops from which the others differ are accepted.
	for _, op := range []any{tree{1: tree{1: 1, 2: 0, 4: 3, 5: memory.ID{1}, 6: 5}}, tree{2: tree{1: memory.ID{1}, 8: "hello"}}, tree{4: tree{1: "photo", 2: [32]byte{1}, 3: 1234, 5: bytes.Repeat([]byte{5}, 32)}},
		tree{1: tree{1: 1, 2: 0, 4: 3, 5: memory.ID{1}, 6: 1, 7: tree{1: 3, 2: "Mei lives in Suzhou.", 4: "Mei", 16: 900, 17: 1}}}} {
		if _, err := Decode(&h, body(t, []any{h.Context(), []any{op}})); err != nil {
			t.Errorf("the pattern of the others: %v", err)
		}
	}
}
