package worker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm"
	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/plugins"
)

// scanner finds secrets in an engine's answer, with the same extractor as the
// node. No answer leaves the worker before it was scanned.
type scanner struct {
	host    *wasm.Host
	secrets *wasm.Plugin
}

// newScanner starts the secrets extractor. share says that others use the cache, too.
func newScanner(ctx context.Context, cache string, share bool) (*scanner, error) {
	bundles, err := plugins.All()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(bundles, func(b plugins.Bundle) bool { return b.Manifest.ID == "secrets" })
	if i < 0 {
		return nil, fmt.Errorf("the secrets extractor is not among the built-in plugins")
	}
	key, err := wasm.CacheKey(cache + ".key")
	if err != nil {
		return nil, err
	}
	host, err := wasm.NewHost(ctx, wasm.Options{CacheDir: cache, CacheKey: key, Share: share})
	if err != nil {
		return nil, fmt.Errorf("start the secrets extractor: %w", err)
	}
	p, err := host.LoadFrom(ctx, bundles[i].Open, bundles[i].Manifest, nil)
	if err != nil {
		host.Close(ctx)
		return nil, fmt.Errorf("start the secrets extractor: %w", err)
	}
	return &scanner{host, p}, nil
}

// scan returns the text without its secrets, and how many there were. before
// are earlier lines, the oldest first, because the words that announce a secret
// may be in them.
func (s *scanner) scan(ctx context.Context, id string, at time.Time, text string, before []abi.Turn) (clean string, found int, err error) {
	if len(before) > abi.MaxBefore {
		before = before[len(before)-abi.MaxBefore:]
	}
	ev := abi.Event{ID: id, Kind: "text", At: at.UnixMilli(), Zone: "UTC", Text: text, Before: before}
	out, _, err := s.secrets.Extract(ctx, &ev)
	if err != nil {
		return "", 0, fmt.Errorf("look for secrets: %w", err)
	}
	spans := slices.DeleteFunc(out.Redactions, func(r abi.Redaction) bool { return r.Span.Turn != 0 })
	slices.SortFunc(spans, func(a, b abi.Redaction) int { return a.Span.Start - b.Span.Start })
	var b strings.Builder
	done := 0
	for _, r := range spans {
		if r.Span.End <= done {
			continue
		}
		if r.Span.Start >= done { // not the tail of an overlapping one
			kind := cmp.Or(r.Kind, "secret")
			b.WriteString(text[done:r.Span.Start] + "[" + kind + "]")
		}
		done = r.Span.End
		found++
	}
	return b.String() + text[done:], found, nil
}

// turnsOf turns utterances into turns.
func turnsOf(us []memory.Utterance) []abi.Turn {
	out := make([]abi.Turn, len(us))
	for i, u := range us {
		out[i] = abi.Turn{ID: u.ID.String(), At: u.At.UnixMilli(), Speaker: u.Speaker, Text: u.Text}
	}
	return out
}
