// Package differ searches for input that a second implementation reads differently.
package differ

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/locket-dev/locket/crypto/length"
	"github.com/locket-dev/locket/sync/canonical"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
)

var (
	cases = flag.Int("cases", 2000, "how many are changed at random")
	seed  = flag.Uint64("seed", 1, "of chance")
)

// text is bytes, in JSON in hexadecimal.
type text []byte

func (t *text) UnmarshalText(b []byte) (err error) {
	*t, err = hex.DecodeString(string(b))
	return err
}

func load(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "sync", path))
	if err == nil {
		err = json.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// seeds are inputs from the vectors that both accept.
type seeds struct {
	*rand.Rand
	body struct{ Header, Plain text }
	logs struct {
		Deltas []struct{ Wire text }
		Log    []struct{ Seed, Entry, Wire text }
	}
	header envelope.Header
	pack   *zstd.Encoder
	reader func([]byte, any) error
	donors []any // parts of all of them, to insert elsewhere
}

func newSeeds(t *testing.T) *seeds {
	t.Helper()
	s := &seeds{Rand: rand.New(rand.NewPCG(*seed, 0)), reader: canonical.Reader(canonical.Limits{Levels: 32, Items: 1 << 16, Pairs: 1 << 16}).Unmarshal}
	load(t, "delta/testdata/body.json", &s.body)
	load(t, "envelope/testdata/vectors.json", &s.logs)
	dictionary, err := os.ReadFile(filepath.Join("..", "..", "sync", "delta", "dictionary.1"))
	if err == nil {
		s.pack, err = zstd.NewWriter(nil, zstd.WithEncoderDict(dictionary), zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true), zstd.WithEncoderConcurrency(1))
	}
	if err == nil {
		err = s.reader(s.body.Header, &s.header)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []text{s.body.Plain, s.logs.Log[0].Entry, s.logs.Log[2].Entry, s.logs.Log[len(s.logs.Log)-1].Entry} {
		s.gather(s.tree(t, b))
	}
	return s
}

func (s *seeds) tree(t *testing.T, b []byte) (v any) {
	t.Helper()
	if err := s.reader(b, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func (s *seeds) gather(v any) {
	s.donors = append(s.donors, v)
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			s.gather(x)
		}
	case map[any]any:
		for _, k := range keys(v) {
			s.gather(v[k])
		}
	}
}

// keys returns the numeric keys of v, ascending: what a seed draws must not depend on a map's
// order.
func keys(v map[any]any) (out []any) {
	for n := range uint64(32) {
		if _, ok := v[n]; ok {
			out = append(out, n)
		}
	}
	return out
}

// changed returns a value with one place changed.
func (s *seeds) changed(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 && s.IntN(8) > 0 {
			out, i := append([]any(nil), v...), s.IntN(len(v))
			out[i] = s.changed(v[i])
			return out
		}
	case map[any]any:
		if len(v) > 0 && s.IntN(6) > 0 {
			if keys := keys(v); len(keys) > 0 {
				out, k := maps.Clone(v), keys[s.IntN(len(keys))]
				out[k] = s.changed(v[k])
				return out
			}
		}
	}
	return s.other(v)
}

// other returns a replacement for a value.
func (s *seeds) other(v any) any {
	if s.IntN(5) == 0 {
		return s.donors[s.IntN(len(s.donors))]
	}
	switch v := v.(type) {
	case uint64:
		return []any{v + 1, v - 1, uint64(0), uint64(s.Uint32()), s.Uint64(), -1 - int64(v>>1), v << 1}[s.IntN(7)]
	case int64:
		return []any{v + 1, -v, int64(-1), -1 - s.Int64()}[s.IntN(4)]
	case string:
		return []any{"", v + " ", " " + v, strings.ToUpper(v), v + v, strings.Repeat("a", 1+s.IntN(5000)), v + "\u0301", "\x00", v[:len(v)/2]}[s.IntN(9)]
	case []byte:
		b := bytes.Clone(v)
		switch {
		case len(b) > 0 && s.IntN(2) == 0:
			b[s.IntN(len(b))] ^= 1 << s.IntN(8)
			return b
		case len(b) > 0 && s.IntN(2) == 0:
			return b[:s.IntN(len(b))]
		}
		return []any{append(b, 0), make([]byte, len(b)), []byte{}}[s.IntN(3)]
	case bool:
		return !v
	case []any:
		out := append([]any(nil), v...)
		switch n := len(out); {
		case n > 0 && s.IntN(2) == 0:
			i := s.IntN(n)
			return append(out[:i:i], out[i+1:]...)
		case n > 1 && s.IntN(2) == 0:
			i, j := s.IntN(n), s.IntN(n)
			out[i], out[j] = out[j], out[i]
			return out
		case n > 0:
			return append(out, out[s.IntN(n)])
		}
		return append(out, s.donors[s.IntN(len(s.donors))])
	case map[any]any:
		out := maps.Clone(v)
		k := uint64(s.IntN(16))
		if _, has := out[k]; has {
			delete(out, k)
		} else {
			out[k] = s.donors[s.IntN(len(s.donors))]
		}
		return out
	}
	return nil
}

// bytesOf encodes a value, rarely with a stray byte.
func (s *seeds) bytesOf(v any) []byte {
	b := canonical.Must(canonical.Encoding.Marshal(v))
	if s.IntN(12) == 0 && len(b) > 0 {
		i := s.IntN(len(b))
		switch s.IntN(3) {
		case 0:
			b[i] ^= 1 << s.IntN(8)
		case 1:
			b = append(b[:i:i], b[i+1:]...)
		case 2:
			b = append(b[:i:i], append([]byte{byte(s.Uint32())}, b[i:]...)...)
		}
	}
	return b
}

func (s *seeds) changes(v any) any {
	for range 1 + s.IntN(2) {
		v = s.changed(v)
	}
	return v
}

// one makes a case: its line for the reader, and Locket's verdict.
func (s *seeds) one(t *testing.T) (line string, verdict error) {
	t.Helper()
	switch s.IntN(5) {
	case 0: // the headers, signatures and bodies of deltas
		of := s.logs.Deltas[s.IntN(len(s.logs.Deltas))].Wire
		wire := s.tree(t, of).([]any)
		if s.IntN(5) > 0 {
			wire[0] = s.bytesOf(s.changes(s.tree(t, wire[0].([]byte))))
		} else {
			wire = append([]any(nil), wire...)
			wire[s.IntN(len(wire))] = s.other(wire[s.IntN(len(wire))])
		}
		b := s.bytesOf(wire)
		_, err := envelope.ParseDelta(b)
		return fmt.Sprintf("delta %x", b), err
	case 1: // an entry by itself
		of := s.logs.Log[s.IntN(len(s.logs.Log))]
		wire := s.tree(t, of.Wire).([]any)
		wire[0] = s.bytesOf(s.changes(s.tree(t, of.Entry)))
		b := s.bytesOf(wire)
		_, err := envelope.ParseEntry(b)
		return fmt.Sprintf("entry %x", b), err
	case 2: // an entry that is signed again, after the ones before it
		n := s.IntN(len(s.logs.Log))
		of := s.logs.Log[n]
		entry := canonical.Must(canonical.Encoding.Marshal(s.changes(s.tree(t, of.Entry))))
		sign := envelope.KeySigner(ed25519.NewKeyFromSeed(of.Seed))
		signature, err := sign(envelope.DomainLog, entry)
		if err != nil {
			t.Fatal(err)
		}
		var state envelope.State
		line := "log"
		for _, e := range s.logs.Log[:n] {
			parsed, err := envelope.ParseEntry(e.Wire)
			if err != nil || state.Append(parsed) != nil {
				t.Fatal(err)
			}
			line += fmt.Sprintf(" %x", []byte(e.Wire))
		}
		b := canonical.Must(canonical.Encoding.Marshal([]any{entry, signature}))
		parsed, err := envelope.ParseEntry(b)
		if err == nil {
			err = state.Append(parsed)
		}
		return line + fmt.Sprintf(" %x", b), err
	}
	// A body with one op, or several.
	top := s.tree(t, s.body.Plain).([]any)
	all := top[1].([]any)
	ops := s.changes(all)
	if s.IntN(4) > 0 {
		ops = []any{s.changes(all[s.IntN(len(all))])}
	}
	padded := s.padded(s.bytesOf([]any{top[0], ops}))
	if s.IntN(50) == 0 {
		padded[s.IntN(len(padded))] ^= 1 << s.IntN(8)
	}
	_, err := delta.Decode(&s.header, padded)
	return fmt.Sprintf("body %x %x", []byte(s.body.Header), padded), err
}

// padded returns a body's CBOR in the form that is sealed.
func (s *seeds) padded(plain []byte) []byte {
	frame := s.pack.EncodeAll(plain, nil)
	padded := make([]byte, length.Padded(int64(len(frame)+2)))
	padded[0] = 1
	padded[copy(padded[1:], frame)+1] = 0x80
	return padded
}

// batch is how many cases one process of the reader gets.
const batch = 2000

// asked returns the Python reader's answer to each line: "ok", or why it refuses it.
func asked(t *testing.T, lines []string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", filepath.Join("..", "reader", "verdicts.py"))
	cmd.Stdin, cmd.Stderr = strings.NewReader(strings.Join(lines, "\n")+"\n"), os.Stderr
	out, err := cmd.Output()
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(answers) != len(lines) {
		t.Fatalf("%v: %d answers to %d", err, len(answers), len(lines))
	}
	return answers
}

// A patch without keys, which by chance was found to be accepted by Locket only.
func TestEmptyPatch(t *testing.T) {
	s := newSeeds(t)
	var said map[any]any
	for _, op := range s.tree(t, s.body.Plain).([]any)[1].([]any) {
		if a, ok := op.(map[any]any)[uint64(1)].(map[any]any); ok {
			said = maps.Clone(a)
		}
	}
	delete(said, uint64(7)) // a proposal's candidate
	said[uint64(6)], said[uint64(8)] = uint64(2), map[any]any{}
	body := []any{s.header.Context(), []any{map[any]any{uint64(1): said}}}
	padded := s.padded(canonical.Must(canonical.Encoding.Marshal(body)))
	ops, err := delta.Decode(&s.header, padded)
	if err != nil || ops[0].Assertion.Patch == nil {
		t.Fatalf("%+v, %v", ops, err)
	}
	if answers := asked(t, []string{fmt.Sprintf("body %x %x", []byte(s.body.Header), padded)}); answers[0] != "ok" {
		t.Errorf("the reader says %q", answers[0])
	}
}

// Two implementations of one document accept and refuse the same random changes of deltas, entries,
// logs and bodies.
func TestImplementationsAgree(t *testing.T) {
	s := newSeeds(t)
	taken, refused, differ := map[string]int{}, map[string]int{}, 0
	for left := *cases; left > 0; left -= batch {
		lines, verdicts := make([]string, min(batch, left)), make([]error, min(batch, left))
		for i := range lines {
			lines[i], verdicts[i] = s.one(t)
		}
		answers := asked(t, lines)
		for i, answer := range answers {
			kind, _, _ := strings.Cut(lines[i], " ")
			switch theirs, ours := answer == "ok", verdicts[i] == nil; {
			case theirs && ours:
				taken[kind]++
			case !theirs && !ours && !strings.HasPrefix(answer, "broken"):
				refused[kind]++
			default:
				if differ++; differ <= 10 {
					t.Errorf("the reader says %q, Locket %v, of\n%s", answer, verdicts[i], lines[i])
				}
			}
		}
	}
	t.Logf("taken by both: %v; refused by both: %v; different: %d", taken, refused, differ)
	for _, kind := range []string{"delta", "entry", "log", "body"} {
		if taken[kind] == 0 || refused[kind] == 0 {
			t.Errorf("%s: %d were taken, %d refused: that shows nothing", kind, taken[kind], refused[kind])
		}
	}
}
