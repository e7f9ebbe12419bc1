package node

import (
	"context"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/extract"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/testdata/day"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// file returns a file of the fixed day.
func file(t *testing.T, name string) []byte {
	t.Helper()
	b, err := day.Files.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// comesEvent processes a wearable's event, as the pump would.
func comesEvent(t *testing.T, n *Node, ev memory.Event) {
	t.Helper()
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	out, err := o.process(t.Context(), ev)
	if err != nil {
		t.Fatal(err)
	}
	o.engines.Offer(out.Changes)
}

// sounds processes eleven seconds of speech.
func sounds(t *testing.T, n *Node, at time.Time) {
	t.Helper()
	comesEvent(t, n, memory.Event{ID: memory.EventID{Device: "pin", Boot: 2, Seq: uint64(at.UnixNano())}, Kind: memory.KindAudio, At: at, Received: at, Clock: memory.ClockWall,
		Codec: "wav", Data: audio.Speech(), Last: true})
}

// eventually waits for something that engines do in the background.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	for !ok() {
		if !wait.For(ctx, 20*time.Millisecond) {
			t.Fatalf("%s: never", what)
		}
	}
}

// engineOfKind returns the first engine of a kind.
func engineOfKind(t *testing.T, n *Node, kind string) serve.Engine {
	t.Helper()
	all, err := n.Engines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Kind == kind {
			return e
		}
	}
	return serve.Engine{}
}

func addEngine(t *testing.T, n *Node, kind, address string) serve.Engine {
	t.Helper()
	e, err := n.AddEngine(t.Context(), serve.AddEngineRequest{Kind: kind, Address: address})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// heardBy returns the lines that engines heard.
func heardBy(t *testing.T, n *Node) (out []memory.Utterance) {
	t.Helper()
	err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			if u.Source.Plugin == extract.EnginePlugin+"transcribe" {
				out = append(out, *u)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func says(text string) func([]byte) string { return func([]byte) string { return " " + text } }

func running(t *testing.T, change func(*config.Config)) *Node {
	t.Helper()
	n := newNode(t, change)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n
}
