package translog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func seed(n byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, 32)) }

var (
	operator = must(LogSigner("market.example/log", seed(1)))
	witness  = must(Cosigner("witness.example/w", seed(2), func() time.Time { return time.Unix(1795330956, 0) }))
	opKey    = must(Key(VerifierKey(operator)))
	wKey     = must(Key(VerifierKey(witness)))

	// golden was written by github.com/transparency-dev/formats v0.1.1, with the keys of these
	// seeds.
	golden = must(os.ReadFile("testdata/cosigned.txt"))
	third  = Checkpoint{"market.example/log", 3, tlog.Hash(bytes.Repeat([]byte{7}, 32))}
)

func TestFormat(t *testing.T) {
	s, err := Open(golden, opKey, wKey)
	if err != nil || s.Checkpoint != third || !s.Cosigned[KeyID{wKey.Name(), wKey.KeyHash()}].Equal(time.Unix(1795330956, 0)) || s.RequireWitnesses(1) != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	own := must(Sign(third, operator))
	both := must(note.Sign(must(note.Open(own, note.VerifierList(opKey))), witness))
	if !bytes.Equal(both, golden) {
		t.Errorf("wrote\n%s\nwant\n%s", both, golden)
	}
	if VerifierKey(operator) != "market.example/log+764783b5+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c" {
		t.Error(VerifierKey(operator))
	}
	raw := must(Entry{Kind: TakenDown, Subject: "l1", Digest: Digest([]byte("x")), At: 5, Reason: "copied"}.Encode())
	want := "a60101026a74616b656e20646f776e03626c310458202d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881050506" + "66636f70696564"
	if hex.EncodeToString(raw) != want {
		t.Errorf("wrote %x, want %s", raw, want)
	}
}

// Two witnesses with the same name are distinguished.
func TestWitnessesOfOneName(t *testing.T) {
	other := must(Cosigner("witness.example/w", seed(3), nil))
	n := must(note.Open(golden, note.VerifierList(opKey, wKey)))
	both := must(note.Sign(n, other))
	s, err := Open(both, opKey, wKey, must(Key(VerifierKey(other))))
	if err != nil || len(s.Cosigned) != 2 || s.RequireWitnesses(2) != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// If a witness can't say which forks it found, its checkpoint is still compared.
func TestCheckpointOfASilentWitness(t *testing.T) {
	other := third
	other.Root = tlog.Hash(bytes.Repeat([]byte{8}, 32))
	shown, seen := must(Open(must(Sign(other, operator)), opKey)), golden
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("origin") != opKey.Name() || r.URL.Path != WitnessPath+"/seen" {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(seen)
	}))
	defer s.Close()
	_, err := Compare(t.Context(), s.Client(), s.URL, opKey, shown, nil)
	if f, is := errors.AsType[*Fork](err); !is || f.Check(opKey) != nil {
		t.Errorf("another history: %v", err)
	}
	seen = shown.Note
	if got, err := Compare(t.Context(), s.Client(), s.URL, opKey, shown, nil); got == nil || got.Size != 3 || err == nil {
		t.Errorf("the same: %v, %v", got, err)
	}
}

func TestRefused(t *testing.T) {
	sign := func(text string) []byte { return must(note.Sign(&note.Note{Text: text}, operator)) }
	const root = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n"
	for name, msg := range map[string][]byte{
		"nothing":       nil,
		"too long":      append(bytes.Clone(golden), bytes.Repeat([]byte("x"), MaxCheckpoint)...),
		"a witness's":   must(note.Sign(&note.Note{Text: third.text()}, witness)),
		"another log's": sign("other.example/log\n3\n" + root),
		"no root":       sign("market.example/log\n3\n"),
		"no size":       sign("market.example/log\nx\n" + root),
		"below zero":    sign("market.example/log\n-1\n" + root),
		"too large":     sign("market.example/log\n4611686018427387905\n" + root),
		"two forms":     sign("market.example/log\n03\n" + root),
		"short root":    sign("market.example/log\n3\nBwcH\n"),
		"empty":         sign("market.example/log\n0\n" + root),
	} {
		if _, err := Open(msg, opKey, wKey); !errors.Is(err, ErrCheckpoint) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(sign("market.example/log\n3\n"+root+"what extensions say\n"), opKey); err != nil {
		t.Error(err)
	}
	for _, k := range []string{"", "a", "a+b+c", VerifierKey(witness)[1:], VerifierKey(operator) + "A", "a b+00000000+BIE5dw6ofRdfVqNUZsNMfszLjYqRtO43ol32D1uPybOU"} {
		if _, err := Key(k); err == nil {
			t.Errorf("the key %q was taken", k)
		}
	}
	for _, name := range []string{"", "a b", "a+b", "a\n"} {
		if _, err := LogSigner(name, seed(1)); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
}

// Every changed byte of a cosigned checkpoint is detected.
func TestEveryByte(t *testing.T) {
	for i := range golden {
		for bit := range 8 {
			msg := bytes.Clone(golden)
			msg[i] ^= 1 << bit
			s, err := Open(msg, opKey, wKey)
			if err != nil || s.Checkpoint == third && len(s.Cosigned) == 0 { // a witness with a changed name is an unknown one
				continue
			}
			if spare := bytes.HasPrefix(msg[i+1:], []byte("==\n")); !spare || s.Checkpoint != third { // 4 bits of base64 without meaning
				t.Fatalf("byte %d: %+v", i, s)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(golden)
	f.Fuzz(func(t *testing.T, msg []byte) {
		if s, err := Open(msg, opKey, wKey); err == nil && s.Checkpoint != third {
			t.Errorf("signed by nobody: %q", msg)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add(must(Entry{Kind: Receipt, Subject: "o1", Digest: Digest(nil), At: 7}.Encode()))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if e, err := DecodeEntry(raw); err == nil {
			if again, err := e.Encode(); err != nil || !bytes.Equal(again, raw) {
				t.Errorf("%x became %x, %v", raw, again, err)
			}
		}
	})
}

// If a relay refuses a part of the log only because requests come too fast, it is read a second
// later; a refusal for an hour is returned at once.
func TestRateLimitedLogIsRetried(t *testing.T) {
	for after, want := range map[string]int{"1": 3, "3600": 1} {
		synctest.Test(t, func(t *testing.T) {
			requests := 0
			c := &Client{URL: "https://relay.test/log", HTTP: &http.Client{Transport: answers(func(w http.ResponseWriter, _ *http.Request) {
				if requests++; requests < 3 {
					w.Header().Set("Retry-After", after)
					w.WriteHeader(http.StatusTooManyRequests)
				}
			})}}
			if _, err := c.get(t.Context(), "/checkpoint"); requests != want || (err == nil) != (want == 3) {
				t.Errorf("Retry-After %s: %d requests, %v", after, requests, err)
			}
		})
	}
}

// answers is a relay without a network.
type answers func(http.ResponseWriter, *http.Request)

func (f answers) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f(w, r)
	return w.Result(), nil
}
