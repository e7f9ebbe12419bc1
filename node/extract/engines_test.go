package extract

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// If an engine hears a secret in two turns of one recording, neither half is
// written: not in a line, and not in what was made from the first. If the
// recording's mark can't be written, nothing is.
func TestSplitSecretInOneRecording(t *testing.T) {
	secrets := &script{id: "secrets", first: true, kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		j := strings.Index(ev.Text, "77-88")
		if j < 0 || len(ev.Before) == 0 {
			return abi.Output{}, nil
		}
		i := strings.Index(ev.Before[len(ev.Before)-1].Text, "55-66")
		return abi.Output{Redactions: []abi.Redaction{{Span: abi.Span{Turn: -1, Start: i, End: i + 5}, Kind: "code"}, {Span: abi.Span{Start: j, End: j + 5}, Kind: "code"}}}, nil
	}}
	facts := &script{id: "facts", kinds: "text", answer: func(ev *abi.Event) (abi.Output, error) {
		return remember("Ana said: "+ev.Text, abi.Span{Start: 0, End: len(ev.Text)}), nil
	}}
	b := newBench(t, secrets, facts)
	m := &memory.Memory{ID: memory.ID{7}, Candidate: memory.Candidate{Evidence: []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: 900}}}, TrueFrom: time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)}}
	said := []Spoken{{Speaker: "A", Text: "first comes 55-66"}, {From: 2 * time.Second, Speaker: "A", Text: "and then 77-88"}}
	words := func(mark func(*store.Tx) error) error {
		_, err := b.x.KeepWords(t.Context(), b.w, m, memory.Source{Plugin: "engine/transcribe", Model: "ears"}, said, mark)
		return err
	}
	if err := words(func(*store.Tx) error { return memory.ErrNotFound }); !errors.Is(err, memory.ErrNotFound) || strings.Contains(b.everything(), "first comes") {
		t.Errorf("%v\n%s", err, b.everything())
	}
	if err := words(func(*store.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if all := b.everything(); strings.Contains(all, "55-66") || strings.Contains(all, "77-88") || !strings.Contains(all, "first comes [code]") || !strings.Contains(all, "and then [code]") {
		t.Errorf("%s", all)
	}
}
