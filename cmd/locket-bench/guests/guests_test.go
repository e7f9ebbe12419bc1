package guests

import (
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cmd/locket-bench/guests/work"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/measure"
)

// The guest in C accepts exactly the texts that the host's decoder accepts. It reads eight bytes at
// a time, so the test puts bad bytes at every place.
func TestCTexts(t *testing.T) {
	module, err := Build(t.Context(), C, filepath.Join(t.TempDir(), "guest"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := measure.Open(t.Context(), module, true)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	r := rand.New(rand.NewPCG(1, 1))
	parts := []string{"a", "é", "明", "😀", "\x80", "\xc2", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff", "\xf0\x9f\x98"}
	bad := 0
	for range 3000 {
		text := strings.Repeat("x", r.IntN(20))
		for range r.IntN(3) {
			text += parts[r.IntN(len(parts))] + strings.Repeat("y", r.IntN(20))
		}
		input := abi.AppendEvent(nil, &abi.Event{ID: "pin/1/1", Kind: "text", At: 1, Text: text})
		var e abi.Event
		want := abi.DecodeEvent(input, &e)
		answer, failed, err := g.Call(input)
		if err != nil {
			t.Fatal(err)
		}
		if failed != (want != nil) {
			t.Fatalf("%q: the host says %v, the guest refuses: %t", text, want, failed)
		}
		if failed {
			bad++
			continue
		}
		var out abi.Output
		if err := abi.DecodeOutput(answer, abi.Limits{}, &out); err != nil || len(out.Candidates) != 1 || out.Candidates[0].Text != text {
			t.Fatalf("%q: %+v, %v", text, out, err)
		}
	}
	if bad < 500 || bad > 2500 {
		t.Errorf("%d of 3000 texts are bad: they don't test much", bad)
	}
}

func TestBuildSaysWhatIsMissing(t *testing.T) {
	t.Setenv("RUSTC", "no-such-compiler")
	if _, err := Build(t.Context(), Rust, filepath.Join(t.TempDir(), "r")); err == nil || !strings.Contains(err.Error(), "rustc is missing") {
		t.Errorf("without a compiler: %v", err)
	}
	if _, err := Build(t.Context(), "cobol", filepath.Join(t.TempDir(), "c")); err == nil {
		t.Error("cobol is built")
	}
	var exit *exec.ExitError
	if _, err := Build(t.Context(), Rust, filepath.Join(t.TempDir(), "again")); !errors.As(err, &exit) {
		t.Errorf("the build's own end is lost: %v", err)
	}
}

func TestWork(t *testing.T) {
	words, hash := work.Tokenise("Tom's car is RED, 明天 red")
	if again, other := work.Tokenise("red 明天 red, is car s tom"); words != 7 || again != words || hash != other {
		t.Errorf("%d words %x, in another order %d words %x", words, hash, again, other)
	}
	pcm := make([]byte, 2*320*10)
	for i := range pcm {
		pcm[i] = 1
		if i >= len(pcm)/2 && i%2 == 1 {
			pcm[i] = 20
		}
	}
	if n := work.Voice(pcm); n != 5 {
		t.Errorf("%d frames with a voice, want 5", n)
	}
	gray := make([]byte, 64*64)
	for i := range gray {
		if i%64 >= 32 {
			gray[i] = 200
		}
	}
	if h := work.Hash(gray, 64, 64); h != 0xf0f0f0f0f0f0f0f0 {
		t.Errorf("right half bright: %x", h)
	}
}
