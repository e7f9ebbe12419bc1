package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/embedded"
)

// Codes that are added to the file are valid without a restart. A missing file is an error, and the
// codes that were read before stay valid.
func TestInvitationsAddedWhileServing(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "invites")
	store, err := embedded.Open(t.Context(), filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	i := &inviteFile{path: path, store: store, log: slog.New(slog.DiscardHandler)}
	has := func(codes ...string) {
		t.Helper()
		now, err := embedded.OpenSnapshot(t.Context(), filepath.Join(dir, "data"))
		if err != nil {
			t.Fatal(err)
		}
		defer now.Close()
		got, err := now.Invites(t.Context())
		if err != nil || len(got) != len(codes) {
			t.Fatalf("%d invitations, %v, want %q", len(got), err, codes)
		}
		for _, code := range codes {
			found := false
			for _, g := range got {
				found = found || g.Hash == relay.InviteHash(code)
			}
			if !found {
				t.Errorf("%s is missing", code)
			}
		}
	}
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	write := func(text string) {
		t.Helper()
		at = at.Add(time.Second)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	look := func(well bool) {
		t.Helper()
		if err := i.look(t.Context()); (err == nil) != well {
			t.Fatal(err)
		}
	}
	look(false)
	write("# family\n\none\n")
	look(true)
	has("one")
	write("one\ntwo\n")
	look(true)
	has("one", "two")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	look(false)
	has("one", "two")
}
