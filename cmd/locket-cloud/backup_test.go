package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/httpsig"
	"github.com/locket-dev/locket/sync/remote"
)

// A serving relay is backed up to a file, and another relay restored from the file serves the same.
// From a changed file nothing is restored.
func TestBackupAndRestore(t *testing.T) {
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "relay.backup")
	h := storetest.NewHousehold(t, "kept")
	p := start(t, "--data", data, "--open")
	as := func(p *process, who *storetest.Person) *remote.Space {
		t.Helper()
		r, err := remote.New(p.url, remote.Option{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Close)
		return r.Space(h.Space, who.ID, httpsig.KeySigner(who.Key))
	}
	for _, e := range h.Entries {
		if err := as(p, h.Owner).AppendLog(t.Context(), e, ""); err != nil {
			t.Fatal(err)
		}
	}
	sent := []*envelope.Delta{h.Delta(h.Owner, "one"), h.Delta(h.Owner, "two")}
	if _, err := as(p, h.Owner).Append(t.Context(), sent); err != nil {
		t.Fatal(err)
	}
	id, err := as(p, h.Owner).PutBlob(t.Context(), strings.NewReader("a blob"))
	if err != nil {
		t.Fatal(err)
	}
	command := func(want int, says string, args ...string) {
		t.Helper()
		var out bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &out, &out); code != want || !strings.Contains(out.String(), says) {
			t.Fatalf("%s: %d: %s", args, code, out.String())
		}
	}
	command(exitDone, `"deltas":2,"blobs":1`, "backup", "--json", "--data", data, file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	stop(t, p)
	command(exitDone, "complete: 1 accounts, 1 spaces, 3 log entries, 2 deltas, 1 blobs", "restore", "--verify", file)
	other := filepath.Join(dir, "other")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(file+".changed", b, 0o600); err != nil {
		t.Fatal(err)
	}
	command(exitFailed, "restore", "restore", "--data", other, file+".changed")
	if _, err := os.Stat(other); err == nil {
		t.Fatal("something was made of a changed file")
	}
	command(exitUsage, "--data", "restore", file)
	command(exitFailed, "no such file", "backup", "--data", filepath.Join(dir, "absent"), file)
	command(exitDone, "restored", "restore", "--data", other, file)
	p = start(t, "--data", other, "--open")
	got, _, err := as(p, h.Reader).Pull(t.Context(), 0, 9, 0)
	if err != nil || len(got) != 2 || !bytes.Equal(got[1].Bytes(), sent[1].Bytes()) {
		t.Fatal(got, err)
	}
	if n, err := as(p, h.Reader).GetBlob(t.Context(), id, scratch(t), 100); err != nil || n != 6 {
		t.Fatal(n, err)
	}
	stop(t, p)
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Fatal(left)
	}
}

func stop(t *testing.T, p *process) {
	t.Helper()
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
