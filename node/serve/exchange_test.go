package serve_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/archive"
	"github.com/locket-dev/locket/node/serve"
)

// lines writes an archive as the lines that are sent.
func lines(t *testing.T, c *serve.Client) (out [][]byte, signer string) {
	t.Helper()
	for r, err := range c.Export(t.Context(), serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, append(b, '\n'))
		if r.Kind == archive.KindSignature {
			var s archive.Signature
			if err := json.Unmarshal(r.Data, &s); err != nil {
				t.Fatal(err)
			}
			signer = archive.Words(s.Key)
		}
	}
	return out, signer
}

func exportImport(t *testing.T, from, to *serve.Client) {
	ctx := t.Context()
	for _, text := range []string{"Ann likes tea", "The bike is blue"} {
		added(t, from, plain(text))
	}
	all, signer := lines(t, from)
	if signer == "" {
		t.Fatal("an export has no signature")
	}
	send := func(lines [][]byte, opt serve.ImportOptions) (serve.ImportResult, error) {
		return to.Import(ctx, bytes.NewReader(bytes.Join(lines, nil)), opt)
	}
	n := len(all)
	forged := slices.Clone(all)
	for i := range forged {
		forged[i] = bytes.ReplaceAll(forged[i], []byte("Ann likes tea"), []byte("Ann likes gin"))
	}
	trust := serve.ImportOptions{Signer: signer}
	for name, c := range map[string]struct {
		lines [][]byte
		opt   serve.ImportOptions
		want  error
	}{
		"cut off": {all[:n-2], trust, memory.ErrInvalid}, "without its middle": {append(slices.Clone(all[:1]), all[n-2:]...), trust, memory.ErrInvalid},
		"forged": {forged, trust, memory.ErrInvalid}, "of another": {all, serve.ImportOptions{}, serve.ErrSigner},
		"of another than was said": {all, serve.ImportOptions{Signer: "alpha bravo coral delta eagle"}, serve.ErrSigner},
		"without a signature":      {all[:n-1], trust, serve.ErrSigner}, "twice": {append(slices.Clone(all), all...), trust, memory.ErrInvalid},
	} {
		if _, err := send(c.lines, c.opt); !errors.Is(err, c.want) {
			t.Fatalf("%s: %v, want %v", name, err, c.want)
		}
		if page, err := to.List(ctx, serve.ListQuery{}); err != nil || len(page.Memories) > 0 {
			t.Fatalf("%s: something was taken: %d, %v", name, len(page.Memories), err)
		}
	}
	if _, err := send(all, trust); err != nil {
		t.Fatal(err)
	}
	again, err := send(all[:n-1], serve.ImportOptions{Unsigned: true})
	if err != nil || again.Taken != 0 || again.Skipped == 0 || again.Refused != 0 {
		t.Fatalf("imported again: %+v, %v", again, err)
	}
	a, err := from.List(ctx, serve.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range a.Memories {
		got, err := to.Get(ctx, m.ID.String())
		if err != nil || got.Text != m.Text {
			t.Fatalf("%+v became %+v, %v", m, got, err)
		}
	}
	for _, err := range from.Export(ctx, serve.ExportOptions{Secrets: true}) {
		want(t, err, serve.ErrVaultLocked)
	}
}
