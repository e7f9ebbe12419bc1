package servetest

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// trapping is silent, but for a call: that traps.
var trapping = bytes.Replace(silent, []byte("\x0a\x11\x03\x04\x00\x41\x01\x0b\x05\x00\x41\x80\x20\x0b\x04\x00\x42\x00\x0b"),
	[]byte("\x0a\x10\x03\x04\x00\x41\x01\x0b\x05\x00\x41\x80\x20\x0b\x03\x00\x00\x0b"), 1)

// Trapping is a package of a plugin that takes words away, and fails on each
// text.
func Trapping() serve.InstallPluginRequest {
	r := Silent("1.0.0", "capabilities = [\"redact\"]\n")
	r.Module, r.Agreed = trapping, append(r.Agreed, "may redact")
	return r
}

// blind says whether somebody else's plugin takes words away: this node runs
// none, and takes each for one that fails.
func (n *Node) blind() bool {
	return slices.ContainsFunc(n.s.Held, func(h held) bool {
		return h.Plugin.State == serve.PluginRuns && slices.Contains(h.Plugin.Capabilities, "redact")
	})
}

// setAside keeps a text that nobody has read.
func (n *Node) setAside(r serve.AddRequest, at time.Time) serve.AddResult {
	ref := memory.Refusal{At: at.UTC(), Kind: "unscanned", Reason: "the plugin that looks for secrets failed: the line is set aside, sealed, and nothing was made of it"}
	n.s.Refused, n.s.Aside = append(n.s.Refused, ref), append(n.s.Aside, r)
	return serve.AddResult{Changes: []memory.Change{}, Refusals: []memory.Refusal{ref}}
}

// Rescan implements serve.Refuser.
func (n *Node) Rescan(ctx context.Context) (serve.Rescanned, error) {
	res := serve.Rescanned{Changes: []memory.Change{}}
	done, err := n.open(ctx)
	if err != nil {
		return res, err
	}
	texts := n.s.Aside
	res.Texts = len(texts)
	if n.blind() {
		res.Left, texts = len(texts), nil
	} else {
		n.s.Aside = nil
	}
	done()
	for _, r := range texts {
		r.Key = "" // it is known by then
		got, err := n.Add(ctx, r)
		if err != nil {
			return res, err
		}
		res.Changes = append(res.Changes, got.Changes...)
	}
	return res, nil
}

// rescanned: what was set aside unread is tried again, as often as one likes,
// and is remembered once.
func rescanned(t *testing.T, c *serve.Client, _ Subject) {
	ctx := t.Context()
	tried := func(texts, left int) (changes int) {
		t.Helper()
		got, err := c.Rescan(ctx)
		if err != nil || got.Texts != texts || got.Left != left {
			t.Fatalf("%+v, %v; want %d texts, %d left", got, err, texts, left)
		}
		return len(got.Changes)
	}
	tried(0, 0)
	p, err := c.InstallPlugin(ctx, Trapping())
	if err != nil {
		t.Fatal(err)
	}
	said, err := c.Add(ctx, serve.AddRequest{Text: "My dentist is Dr Novak."})
	if err != nil || len(said.Changes) > 0 || !slices.ContainsFunc(said.Refusals, func(r memory.Refusal) bool { return r.Kind == "unscanned" }) {
		t.Fatalf("%+v, %v", said, err)
	}
	if tried(1, 1) != 0 {
		t.Error("something changed")
	}
	if _, err := c.RemovePlugin(ctx, p.ID); err != nil {
		t.Fatal(err)
	}
	if tried(1, 0) == 0 {
		t.Error("nothing was remembered")
	}
	tried(0, 0)
}
